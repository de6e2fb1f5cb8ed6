from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.errors import JudgeBroke, OutputTruncated, ScoreFailed, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.results import Judgment
from tests.conftest import VERDICTS

ROWS = [
    {
        "id": str(n),
        "query": f"Who is number {n}?",
        "contexts": [f"Ann is {n}."],
        "answer": "Ann.",
        "ground_truth": f"Ann {n}.",
    }
    for n in range(20)
]


def test_a_judge_that_takes_its_time_fails_nothing() -> None:
    def slow(inquiry: Inquiry[Any]) -> Answer:
        time.sleep(0.01)
        return VERDICTS[inquiry.question]

    run = ls.score(ROWS, judge=ScriptedJudge(slow))
    assert run.failed == 0


class Breaking(ScriptedJudge):
    """Breaks at the first question about row 13, as a device does, until it is mended."""

    mended = False

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        if not self.mended and any("number 13" in inquiry.prompt for inquiry in inquiries):
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return super().decide(inquiries)


def test_what_was_scored_before_a_judge_broke_is_kept_and_carried_on(tmp_path: Path) -> None:
    judge = Breaking(lambda inquiry: VERDICTS[inquiry.question])
    with pytest.raises(JudgeBroke, match="CUDA error") as caught:
        ls.score(ROWS, judge=judge, out=tmp_path / "run")
    assert "same command" in caught.value.hint
    assert len((tmp_path / "run" / "results.jsonl").read_bytes().splitlines()) == 13
    judge.mended = True
    ls.score(ROWS, judge=judge, out=tmp_path / "run")
    ls.score(ROWS, judge=judge, out=tmp_path / "clean")
    for name in ("results.jsonl", "summary.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "clean" / name).read_bytes()


def test_a_run_may_end_with_the_first_failure_and_keeps_what_was_finished(tmp_path: Path) -> None:
    def failing(inquiry: Inquiry[Any]) -> Answer:
        return '{"result": []}' if "number 3" in inquiry.prompt else VERDICTS[inquiry.question]

    judge = ScriptedJudge(failing)
    with pytest.raises(ScoreFailed, match=r"Sample '3' has no score of context_relevance: .*level"):
        ls.score(ROWS, judge=judge, out=tmp_path / "run", fail_fast=True)
    assert len((tmp_path / "run" / "results.jsonl").read_bytes().splitlines()) == 4
    assert ls.score(ROWS, judge=judge).failed == 1


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "null",
        "[]",
        '"high"',
        '{"level": "high"} {"level": "high"}',
        '{"level": NaN}',
        "high",
        "ⓗigh",
        "{}" * 999,
    ],
)
def test_garbage_never_becomes_a_number(said: str) -> None:
    judge = ScriptedJudge(lambda inquiry: said)
    run = ls.score(ROWS[:2], judge=judge)
    for result in run.results:
        for score in result.scores.values():
            assert (score.score, score.value, score.status) == (None, None, "failed")
            assert score.cause is not None
            assert score.cause.message
    assert run.summary["context_recall"].mean is None


def test_no_storm_of_questions_follows_a_judge_that_always_fails() -> None:
    judge = ScriptedJudge(lambda inquiry: (_ for _ in ()).throw(OutputTruncated("cut")))
    ls.score(ROWS[:1], judge=judge)
    assert len(judge.asked) <= 2 * len({inquiry.key for inquiry in judge.asked})
