from __future__ import annotations

from typing import Any

import pytest

from localscore import engine
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.metrics import ContextRecall
from localscore.results import SampleResult
from tests.conftest import VERDICTS, sample, scripted


def scored(judge: ScriptedJudge, **changes: Any) -> SampleResult:
    [result] = engine.run([sample(**changes)], [ContextRecall()], judge)
    return result


def test_the_answer_influences_neither_score_nor_prompts() -> None:
    one, other = scripted(), scripted()
    results = [scored(one, answer="Ann."), scored(other, answer="It is red. It was bought in May.")]
    assert [i.prompt for i in one.asked] == [i.prompt for i in other.asked]
    assert results[0].scores == results[1].scores


@pytest.mark.parametrize("truth", [None, "", " \n "])
def test_without_a_ground_truth_the_score_is_0_by_rule_and_nothing_is_asked(truth: str | None) -> None:
    judge = scripted()
    result = scored(judge, ground_truth=truth).scores["context_recall"]
    assert (result.score, result.status, judge.asked) == (0.0, "no_ground_truth", [])


def test_without_contexts_the_score_is_0_and_nothing_is_asked() -> None:
    judge = scripted()
    result = scored(judge, contexts=()).scores["context_recall"]
    assert (result.score, result.status, judge.asked) == (0.0, "no_context", [])


def test_without_claims_the_score_is_0_with_that_status() -> None:
    result = scored(scripted(claims={"claims": []})).scores["context_recall"]
    assert (result.score, result.status) == (0.0, "no_claims")


def test_evidence_is_a_sentence_of_the_context_it_names() -> None:
    contexts = ("Bananas are yellow.  They are sweet.", "The bridge is red. Ann opened the bridge in 1931.")
    result = scored(scripted(evidence={"sentence": 4}), contexts=contexts)
    for claim in result.claims:
        assert claim.evidence is not None
        assert (claim.evidence.context, claim.evidence.quote) == (1, "Ann opened the bridge in 1931.")
        assert claim.evidence.quote in contexts[claim.evidence.context]


def test_the_order_of_the_contexts_decides_nothing() -> None:
    contexts = ("The bridge is red.", "Ann opened the bridge.", "Bananas are yellow.")
    one, other = scripted(evidence={"sentence": 3}), scripted(evidence={"sentence": 3})
    results = [scored(one, contexts=contexts), scored(other, contexts=contexts[::-1])]
    assert [i.key for i in one.asked] == [i.key for i in other.asked]
    quotes = [result.claims[0].evidence for result in results]
    assert [(q.context, q.quote) for q in quotes if q is not None] == [
        (0, "The bridge is red."),
        (2, "The bridge is red."),
    ]


def test_evidence_is_told_of_supported_claims_only() -> None:
    def answer(inquiry: Any) -> Answer:
        if inquiry.question == "attribution":
            return {"supported": "1931" in inquiry.texts["claim"]}
        return VERDICTS[inquiry.question]

    judge = ScriptedJudge(answer)
    result = scored(judge)
    assert [(c.supported, c.evidence is not None) for c in result.claims] == [(False, False), (True, True)]
    assert result.scores["context_recall"].score == 0.5


def test_an_evidence_number_beyond_the_last_sentence_is_a_failure() -> None:
    result = scored(scripted(evidence={"sentence": 3})).scores["context_recall"]
    assert result.cause is not None
    assert result.cause.code == "schema_violation"


def test_claims_said_twice_count_once() -> None:
    result = scored(scripted(claims={"claims": ["Ann ran.", "ann ran.", "...", "Bob swam."]}))
    assert [c.text for c in result.claims] == ["Ann ran.", "Bob swam."]


def test_a_long_ground_truth_is_asked_for_piece_by_piece() -> None:
    def answer(inquiry: Any) -> Answer:
        if inquiry.question == "claims":
            return {
                "claims": [f"{part.strip()}." for part in inquiry.texts["text"].split(".") if part.strip()]
            }
        return VERDICTS[inquiry.question]

    facts = [f"Shelf {i} holds bolts." for i in range(1, 61)]
    result = scored(ScriptedJudge(answer), ground_truth=" ".join(facts))
    assert [c.text for c in result.claims] == facts
    assert result.scores["context_recall"].score == 1.0


def test_blank_contexts_support_nothing_and_are_not_asked_about() -> None:
    judge = scripted()
    result = scored(judge, contexts=("", " "))
    assert [c.supported for c in result.claims] == [False, False]
    assert {i.question for i in judge.asked} == {"claims"}
