"""What is longer than the judge's window is asked in parts, and nothing of it is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore import engine
from localscore.errors import ContextTooLong, OutputTruncated
from localscore.inquiries import Inquiry
from localscore.judges.scripted import ScriptedJudge
from localscore.metrics import ContextRecall, ContextRelevance
from localscore.metrics.parts import halved_group, whole_group
from localscore.replay import exchanges
from localscore.results import SampleResult
from localscore.texts import halves, sentences
from tests.conftest import sample

WINDOW = 3_000
NEEDLE = "The ferry to Sula leaves at nine."
FILLER = " ".join(f"Remark {n} tells of the weather on a day in spring." for n in range(180))
LONG = f"{FILLER} {NEEDLE}"


class SmallWindow(ScriptedJudge):
    """A judge that refuses what is longer than its window and finds the needle where it is shown."""

    def __init__(self, window: int = WINDOW) -> None:
        super().__init__(self._said)
        self.window = window

    def _said(self, inquiry: Inquiry[Any]) -> dict[str, Any]:
        if len(inquiry.prompt) > self.window:
            raise ContextTooLong(f"The prompt needs {len(inquiry.prompt)}; the window holds {self.window}.")
        texts = inquiry.texts
        shown = NEEDLE in texts.get("context", "") + texts.get("contexts", "")
        lines = [line for line in texts.get("contexts", "").splitlines() if line.startswith("[")]
        said: dict[str, dict[str, Any]] = {
            "relevance": {"level": "high" if shown else "none"},
            "usage": {"used": shown and "at nine" in texts.get("answer", "")},
            "sufficiency": {"sufficient": shown},
            "attribution": {"supported": shown},
            "evidence": {"sentence": next((n for n, line in enumerate(lines, 1) if NEEDLE in line), 1)},
            "claims": {"claims": sentences(texts.get("text", ""))[:16]},
            "missing_context": {"missing": ["the hour"]},
        }
        return said[inquiry.question]


def result(judge: ScriptedJudge, **changes: Any) -> SampleResult:
    one = sample(**({"query": "When does the ferry leave?", "answer": "It leaves at nine."} | changes))
    [found] = engine.run([one], [ContextRelevance(), ContextRecall()], judge)
    return found


def test_a_needle_at_the_end_of_a_text_of_three_windows_is_found() -> None:
    assert len(LONG) > 3 * WINDOW
    found = result(SmallWindow(), contexts=(LONG, "Bananas."), ground_truth=NEEDLE)
    assert [context.level for context in found.contexts] == ["high", "none"]
    assert [context.used for context in found.contexts] == [True, False]
    assert found.contexts[0].pieces > 3
    assert found.contexts[1].pieces == 1
    assert found.sufficiency is not None
    assert found.sufficiency.sufficient
    assert found.scores["context_recall"].score == 1
    assert found.claims[0].evidence is not None
    assert (found.claims[0].evidence.context, found.claims[0].evidence.quote) == (0, NEEDLE)


def test_the_row_records_what_was_refused_and_each_piece_that_was_asked() -> None:
    judge = SmallWindow()
    found = result(judge, contexts=(LONG,), ground_truth=NEEDLE)
    asked = {inquiry.key: inquiry for inquiry in judge.asked}
    assert {one.code for one in found.refused} == {"context_too_long"}
    assert {one.key for one in found.refused} | {one.key for one in found.judgments} == set(asked)
    read = [asked[one.key].texts["context"] for one in found.judgments if one.question == "relevance"]
    assert len(read) == found.contexts[0].pieces
    for sentence in sentences(LONG):
        assert any(sentence in piece for piece in read)
    line = found.model_dump_json()
    assert SampleResult.model_validate_json(line).model_dump_json() == line


def test_a_kept_row_can_be_explained_without_a_judge() -> None:
    found = result(SmallWindow(), contexts=(LONG,), ground_truth=NEEDLE)
    told = exchanges(found, [ContextRelevance(), ContextRecall()])
    assert {one.judgment.key for one in told if one.judgment} == {one.key for one in found.judgments}
    assert {one.inquiry.key for one in told if not one.judgment} == {one.key for one in found.refused}


def test_many_contexts_that_do_not_fit_together_are_asked_in_groups() -> None:
    contexts = tuple(f"Remark {n} tells of the weather. " * 8 for n in range(40))
    judge = SmallWindow()
    found = result(judge, contexts=(*contexts[:33], NEEDLE, *contexts[33:]), ground_truth=NEEDLE)
    assert [context.level for context in found.contexts].index("high") == 33
    assert all(context.pieces == 1 for context in found.contexts)
    assert found.claims[0].evidence is not None
    assert found.claims[0].evidence.context == 33
    assert found.sufficiency is not None
    assert found.sufficiency.sufficient


def test_the_order_of_contexts_changes_nothing_though_they_are_asked_in_groups() -> None:
    contexts = tuple(f"Remark {n} tells of the weather. " * 8 for n in range(40))
    one, other = SmallWindow(), SmallWindow()
    result(one, contexts=contexts)
    result(other, contexts=contexts[::-1])
    assert {inquiry.key for inquiry in one.asked} == {inquiry.key for inquiry in other.asked}


def test_an_answer_of_three_windows_is_asked_in_parts() -> None:
    answer = f"{FILLER} It leaves at nine."
    found = result(SmallWindow(), contexts=(NEEDLE,), answer=answer)
    assert (found.contexts[0].used, found.contexts[0].pieces) == (True, 1)
    assert found.scores["context_relevance"].score == 1


def test_a_ground_truth_of_three_windows_gives_each_claim_once() -> None:
    found = result(SmallWindow(), ground_truth=LONG)
    assert [claim.text for claim in found.claims] == list(sentences(LONG))


def test_what_is_missing_is_what_the_group_that_lacks_least_lacks() -> None:
    class Lacking(SmallWindow):
        def _said(self, inquiry: Inquiry[Any]) -> dict[str, Any]:
            said = super()._said(inquiry)
            if inquiry.question == "missing_context" and "Remark 7 " not in inquiry.texts["contexts"]:
                return {"missing": ["the hour", "the harbour"]}
            return said

    contexts = tuple(f"Remark {n} tells of the weather. " * 8 for n in range(40))
    assert result(Lacking(), contexts=contexts).missing == ("the hour",)


def test_a_query_that_does_not_fit_is_a_failure_with_its_cause() -> None:
    judge = SmallWindow()
    found = result(judge, query="When? " * 2_000, contexts=(LONG,))
    cause = found.scores["context_relevance"].cause
    assert cause is not None
    assert cause.code == "context_too_long"
    assert found.scores["context_recall"].score is not None
    assert len(judge.asked) < 1_000


def test_claims_that_come_to_no_end_are_asked_in_smaller_groups() -> None:
    def said(inquiry: Inquiry[Any]) -> Any:
        if inquiry.question != "claims":
            return {"attribution": {"supported": True}, "evidence": {"sentence": 1}}[inquiry.question]
        if len(sentences(inquiry.texts["text"])) > 1:
            raise OutputTruncated(f"The limit of {inquiry.room} tokens was reached.")
        return {"claims": [inquiry.texts["text"]]}

    shelves = " ".join(f"The shelf with number {n} holds bolts of size {n}." for n in range(1, 61))
    one = sample(ground_truth=shelves)
    [found] = engine.run([one], [ContextRecall()], ScriptedJudge(said))
    assert [claim.text for claim in found.claims] == list(sentences(shelves))
    assert found.scores["context_recall"].score == 1


def test_what_fits_is_asked_as_ever() -> None:
    judge = SmallWindow(window=10**9)
    found = result(judge, contexts=(LONG,), ground_truth=NEEDLE)
    assert found.refused == ()
    assert len(judge.asked) == len(found.judgments)


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "橋は1931年に完成しました。" * 40,
        "no borders at all " * 50,
        "x" * 500,
        "One long sentence without any end " * 20 + ". Short. Short.",
        "a\n" * 200,
    ],
    ids=["prose", "Japanese", "words", "one word", "uneven", "lines"],
)
@pytest.mark.parametrize("overlap", [True, False])
def test_halves_are_verbatim_smaller_and_lose_nothing(text: str, overlap: bool) -> None:
    first, second = halves(text, overlap=overlap)
    whole = text.strip()
    assert whole.startswith(first)
    assert whole.endswith(second)
    assert max(len(first), len(second)) < len(whole)
    between = whole[len(first) : len(whole) - len(second)]
    assert between.strip() == ""


def test_halves_share_a_sentence() -> None:
    first, second = halves(LONG)
    assert sentences(first)[-1] == sentences(second)[0]


@given(st.text(min_size=80, max_size=2_000))
def test_any_text_can_be_halved_until_it_is_short(text: str) -> None:
    waiting = [text]
    while waiting:
        one = waiting.pop()
        parts = halves(one)
        assert all(part in one and len(part) < len(one) for part in parts)
        assert parts or len(one.strip()) < 80
        waiting += parts if len(parts) and len(one) > 400 else ()


@given(st.lists(st.text("ab .", max_size=200), min_size=1, max_size=9))
def test_a_group_is_halved_without_loss(contexts: list[str]) -> None:
    group = whole_group(contexts)
    parts = halved_group(group)
    if len(contexts) > 1:
        assert parts[0] + parts[1] == group
        assert all(parts)


def test_a_results_line_without_refusals_can_still_be_read() -> None:
    line = json.loads(result(SmallWindow()).model_dump_json())
    del line["refused"]
    assert SampleResult.model_validate(line | {"sample": line["sample"]}).refused == ()
