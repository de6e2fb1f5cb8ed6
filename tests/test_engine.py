from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from localscore import engine, inquiries
from localscore.errors import JudgeBroke, JudgeFailed, OptionError, OutputTruncated, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.metrics import ContextRecall, ContextRelevance, Metric
from localscore.results import Judgment, SampleResult
from localscore.samples import Sample
from tests.conftest import VERDICTS, sample, scripted

BOTH = (ContextRelevance(), ContextRecall())


def run(samples: Sequence[Sample], judge: ScriptedJudge, **options: Any) -> list[SampleResult]:
    return list(engine.run(samples, BOTH, judge, **options))


def test_results_come_in_the_order_of_the_samples() -> None:
    samples = [sample(id=str(i), contexts=("c",) * i) for i in range(6)]
    assert [r.id for r in run(samples, scripted(), in_flight=4)] == ["0", "1", "2", "3", "4", "5"]


def test_the_same_text_twice_is_judged_once() -> None:
    judge = scripted()
    [result, again] = run([sample(id="a", contexts=("Ann ran.", "Ann ran.")), sample(id="b")], judge)
    keys = [inquiry.key for inquiry in judge.asked]
    assert len(keys) == len(set(keys))
    assert result.contexts[0].level == result.contexts[1].level
    assert again.scores["context_recall"].score == 1.0


def test_what_was_judged_for_one_sample_is_not_asked_again_for_another() -> None:
    judge = scripted()
    run([sample(id="a")], judge)
    once = len(judge.asked)
    judge.asked.clear()
    run([sample(id="a"), sample(id="b")], judge)
    assert len(judge.asked) == once


@pytest.mark.parametrize("in_flight", [2, 5, 50])
def test_how_many_are_in_flight_changes_nothing(in_flight: int) -> None:
    samples = [sample(id=str(i), query=f"Who opened bridge {i % 3}?") for i in range(9)]
    levels = {f"Who opened bridge {i}?": level for i, level in enumerate(["high", "low", "none"])}

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "relevance":
            return {"level": levels[inquiry.texts["query"]]}
        return VERDICTS[inquiry.question]

    judge = ScriptedJudge(answer)
    alone = [r.model_dump_json() for r in run(samples, judge, in_flight=1)]
    assert [r.model_dump_json() for r in run(samples, judge, in_flight=in_flight)] == alone


def test_inquiries_with_the_same_beginning_are_asked_side_by_side() -> None:
    judge = scripted()
    run([sample(id="a"), sample(id="b", query="Who?")], judge, in_flight=2)
    first_round = [i.chunks for i in judge.asked if i.question in ("relevance", "usage")]
    for depth in (1, 2, 3):
        beginnings = [chunks[:depth] for chunks in first_round]
        runs = [b for n, b in enumerate(beginnings) if n == 0 or beginnings[n - 1] != b]
        assert len(runs) == len(set(runs))


def test_a_failed_verdict_fails_its_score_alone() -> None:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "relevance" and "Bananas" in inquiry.prompt:
            return "not JSON"
        return VERDICTS[inquiry.question]

    samples = [sample(id="bad"), sample(id="good", contexts=("Ann opened it.",))]
    bad, good = run(samples, ScriptedJudge(answer))
    failed = bad.scores["context_relevance"]
    assert (failed.score, failed.value, failed.status, failed.band) == (None, None, "failed", None)
    assert failed.cause is not None
    assert failed.cause.code == "unparsable_output"
    assert bad.scores["context_recall"].score == 1.0
    assert good.scores["context_relevance"].score == 1.0


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Sure, here you go -> {claims: ['pump'", "unparsable_output"),
        ('{"result": []}', "schema_violation"),
        ('{"claims": "one"}', "schema_violation"),
        ('{"claims": ["ab"], "note": "x"}', "schema_violation"),
    ],
)
def test_what_is_not_the_verdict_has_a_cause_of_its_own(output: str, code: str) -> None:
    [result] = run([sample()], scripted(claims=output))
    cause = result.scores["context_recall"].cause
    assert cause is not None
    assert cause.code == code


@pytest.mark.parametrize(
    "question", ["relevance", "usage", "sufficiency", "claims", "attribution", "evidence"]
)
def test_a_judgment_that_is_not_the_verdict_asked_for_is_a_failure(question: str) -> None:
    [result] = run([sample()], scripted(**{question: Judgment(verdict={"level": "huge"})}))
    codes = [score.cause.code for score in result.scores.values() if score.cause]
    assert codes == ["schema_violation"]


def test_a_judge_without_probabilities_is_taken_at_its_word() -> None:
    judge = ScriptedJudge(lambda i: Judgment(verdict=VERDICTS[i.question]))
    [result] = run([sample()], judge)
    assert [(s.score, s.expected, s.confidence) for s in result.scores.values()] == [(1.0, 1.0, 1.0)] * 2


def test_whatever_a_judge_raises_becomes_a_cause() -> None:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        raise ZeroDivisionError("broken")

    [result] = run([sample()], ScriptedJudge(answer))
    causes = [score.cause for score in result.scores.values()]
    assert [c.code for c in causes if c is not None] == [JudgeFailed.code] * 2
    assert "broken" in str(causes[0])


def test_a_cut_verdict_is_asked_again_with_more_room_once() -> None:
    rooms: list[int] = []

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "claims":
            rooms.append(inquiry.room)
            if len(rooms) == 1:
                raise OutputTruncated("cut")
        return VERDICTS[inquiry.question]

    [result] = run([sample()], ScriptedJudge(answer))
    assert result.scores["context_recall"].score == 1.0
    assert rooms == [rooms[0], engine.MORE_ROOM * rooms[0]]


def test_a_verdict_cut_twice_is_a_failure_of_that_name() -> None:
    asked: list[str] = []

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "claims":
            asked.append(inquiry.key)
            raise OutputTruncated("The limit of 64 tokens was reached.")
        return VERDICTS[inquiry.question]

    [result] = run([sample()], ScriptedJudge(answer))
    cause = result.scores["context_recall"].cause
    assert cause is not None
    assert (cause.code, len(asked)) == ("output_truncated", 2)


def test_too_few_answers_are_a_count_mismatch() -> None:
    class Forgetful(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
            return super().decide(inquiries[:1])

    [result] = run([sample()], Forgetful(lambda i: VERDICTS[i.question]))
    codes = {score.cause.code for score in result.scores.values() if score.cause}
    assert codes == {"verdict_count_mismatch"}


def test_too_many_answers_are_a_count_mismatch_and_never_shift_the_others() -> None:
    class Stuttering(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
            for answer in super().decide(inquiries):
                yield answer
                yield answer

    [result] = run([sample()], Stuttering(lambda i: VERDICTS[i.question]))
    causes = [score.cause for score in result.scores.values()]
    assert all(cause is not None and cause.code == "verdict_count_mismatch" for cause in causes)
    assert "10 verdicts; expected 5" in str(causes[0])


def test_an_answer_of_another_kind_is_a_failure() -> None:
    class Talking(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Any]:
            return iter(["yes"] * len(inquiries))

    [result] = run([sample()], Talking(lambda i: VERDICTS[i.question]))
    assert {score.cause.code for score in result.scores.values() if score.cause} == {"judge_failed"}


def test_a_judge_that_raises_ends_the_run_with_what_is_finished() -> None:
    class Dying(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
            if any("bridge 2" in inquiry.prompt for inquiry in inquiries):
                raise RuntimeError("CUDA error")
            return super().decide(inquiries)

    results = engine.run(
        [sample(id=str(i), query=f"Who opened bridge {i}?") for i in range(4)],
        BOTH,
        Dying(lambda i: VERDICTS[i.question]),
    )
    assert [next(results).id, next(results).id] == ["0", "1"]
    with pytest.raises(JudgeBroke, match="RuntimeError: CUDA error"):
        next(results)


@pytest.mark.parametrize(
    ("probabilities", "code"),
    [
        ({"true": float("nan"), "false": 0.5}, "not_a_number"),
        ({"yes": 1.0}, "schema_violation"),
        ({"true": 1.0}, "schema_violation"),
        ({"true": 5.0, "false": -4.0}, "schema_violation"),
    ],
)
def test_probabilities_that_are_none_fail_the_score(probabilities: dict[str, float], code: str) -> None:
    answer = Judgment(verdict={"supported": True}, probabilities=probabilities)
    [result] = run([sample()], scripted(attribution=answer))
    cause = result.scores["context_recall"].cause
    assert cause is not None
    assert cause.code == code


@dataclass(frozen=True)
class Forgetful(Metric):
    name: ClassVar[str] = "forgetful"

    def plan(self, sample: Sample) -> Any:
        yield from ()


def test_a_plan_that_forgets_to_return_a_score_is_told_so() -> None:
    with pytest.raises(OptionError, match="returned None; expected a ScoreResult"):
        list(engine.run([sample()], [Forgetful()], scripted()))


def test_a_listener_hears_of_every_verdict_and_sample() -> None:
    heard: list[tuple[int, int]] = []
    judge = scripted()
    list(engine.run([sample()], BOTH, judge, listener=lambda p: heard.append((p.samples, p.verdicts))))
    assert heard[-1] == (1, len(judge.asked))
    assert [v for _, v in heard[:-1]] == list(range(1, len(judge.asked) + 1))


def test_every_judgment_is_kept_with_the_key_of_its_inquiry() -> None:
    judge = scripted()
    [result] = run([sample()], judge)
    assert {j.key for j in result.judgments} == {i.key for i in judge.asked}
    assert {j.question for j in result.judgments} == {i.question for i in judge.asked}


def test_memory_of_judgments_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "REMEMBERED", 5)
    answers = engine._Answers(scripted(), None, engine.Progress())
    for i in range(40):
        answers.get([inquiries.relevance("q", f"context {i}")])
    assert len(answers.known) <= 6
