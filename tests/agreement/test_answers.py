from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from localscore.agreement.answers import answer, key, load_answers
from localscore.errors import ContextTooLong, JudgeBroke, OutputTruncated, RunError
from localscore.judges.scripted import ScriptedJudge
from localscore.labelled import Labelled
from localscore.results import Judgment
from tests.agreement.examples import said
from tests.conftest import scripted

if TYPE_CHECKING:
    from localscore.judges.huggingface import HuggingFaceJudge

ITEMS = {
    "relevance": Labelled("relevance", "1", "low", "Who ran?", ("Ann ran.",)),
    "attribution": Labelled("attribution", "2", True, "Ann ran.", ("It was Ann who ran.", "Bob slept.")),
    "usage": Labelled("usage", "3", False, "Who ran?", ("Bob slept.",), "Ann."),
    "sufficiency": Labelled(
        "sufficiency", "4", False, "When did Ann run?", ("Ann ran.",), missing=("the day of the run",)
    ),
    "claims": Labelled("claims", "5", ("Ann ran.",), "Ann ran. Bob slept. It rained. Cats purr. Dogs bark."),
}


@pytest.mark.parametrize(
    ("kind", "verdict", "questions"),
    [
        ("relevance", "high", ["relevance"]),
        ("attribution", True, ["attribution"]),
        ("usage", True, ["usage"]),
        ("sufficiency", True, ["sufficiency"]),
        ("claims", ("Ann opened the bridge.", "It opened in 1931."), ["claims", "claims"]),
    ],
)
def test_each_kind_is_asked_and_answered(kind: str, verdict: Any, questions: list[str]) -> None:
    judge, item = scripted(), ITEMS[kind]
    found = answer(item, judge, 0.25)
    assert (found.kind, found.id, found.gold, found.verdict) == (kind, item.id, item.gold, verdict)
    assert (found.cause, found.overlap, found.key) == (None, 0.25, key(item))
    assert [inquiry.question for inquiry in judge.asked] == questions
    assert bool(found.probabilities) == (kind != "claims")


def test_what_is_missing_is_asked_where_people_named_it_and_the_judge_finds_too_little() -> None:
    judge = scripted(sufficiency={"sufficient": False}, missing_context={"missing": ["the day", "the DAY"]})
    found = answer(ITEMS["sufficiency"], judge, 0.0)
    assert (found.verdict, found.missing) == (False, ("the day",))
    assert found.gold_missing == ("the day of the run",)
    unnamed = Labelled("sufficiency", "6", False, "When did Ann run?", ("Ann ran.",))
    answer(unnamed, judge, 0.0)
    assert [inquiry.question for inquiry in judge.asked] == ["sufficiency", "missing_context", "sufficiency"]


def test_a_verdict_that_could_not_be_had_has_a_cause_and_no_verdict() -> None:
    def too_long(inquiry: Any) -> Any:
        raise ContextTooLong("2 tokens too many \ud800")

    found = answer(ITEMS["relevance"], ScriptedJudge(too_long), 0.5)
    assert (found.verdict, found.probabilities) == (None, {})
    assert found.cause is not None
    assert (found.cause.code, found.cause.message) == ("context_too_long", "2 tokens too many ?")


def test_a_verdict_that_is_none_of_the_legal_ones_is_a_failure() -> None:
    found = answer(ITEMS["relevance"], ScriptedJudge(lambda _: Judgment(verdict={"level": "huge"})), 0.5)
    assert found.cause is not None
    assert found.cause.code == "schema_violation"


def test_claims_that_were_cut_get_more_room_once() -> None:
    rooms = []

    def cut(inquiry: Any) -> Any:
        rooms.append(inquiry.room)
        if len(rooms) == 1:
            raise OutputTruncated("cut")
        return {"claims": ["Ann ran."]}

    item = Labelled("claims", "1", ("Ann ran.",), "Ann ran.")
    assert answer(item, ScriptedJudge(cut), ()).verdict == ("Ann ran.",)
    assert rooms == [rooms[0], 4 * rooms[0]]


def test_a_judge_that_breaks_ends_it_all() -> None:
    class Broken(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            raise RuntimeError("no more")

    with pytest.raises(JudgeBroke, match="RuntimeError: no more"):
        answer(ITEMS["relevance"], Broken(lambda _: ""), 0.5)


def test_answers_are_read_as_they_were_written(tmp_path: Path) -> None:
    kept = [said("relevance", 1, "low", "high"), said("claims", 2, ("Ann ran.",), (), overlap=("Ann ran.",))]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(one.model_dump_json() + "\n" for one in kept) + '{"kind": "rel')
    assert load_answers(path) == kept
    path.write_text(kept[0].model_dump_json() + "\n{}\n")
    with pytest.raises(RunError, match=r"answers.jsonl:2 is no answer: kind Field required"):
        load_answers(path)


@pytest.mark.judge
@pytest.mark.parametrize("kind", ["relevance", "attribution", "usage", "sufficiency"])
def test_a_real_judge_answers_closed_questions(small_judge: HuggingFaceJudge, kind: str) -> None:
    found = answer(ITEMS[kind], small_judge, 0.5)
    assert found.verdict is not None
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-3)
    assert found.seconds


@pytest.mark.judge
def test_a_text_that_is_longer_than_the_window_is_a_failure(small_judge: HuggingFaceJudge) -> None:
    item = Labelled("relevance", "1", "low", "Who ran?", ("Ann ran and ran. " * 4000,))
    found = answer(item, small_judge, 0.5)
    assert found.cause is not None
    assert found.cause.code == "context_too_long"
