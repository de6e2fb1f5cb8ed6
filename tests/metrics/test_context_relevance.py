from __future__ import annotations

from typing import Any

import pytest

from localscore import engine
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.metrics import ContextRelevance
from localscore.results import Judgment, SampleResult
from localscore.scoring import Penalties
from tests.conftest import VERDICTS, sample, scripted


def scored(judge: ScriptedJudge, metric: ContextRelevance | None = None, **changes: Any) -> SampleResult:
    [result] = engine.run([sample(**changes)], [metric or ContextRelevance()], judge)
    return result


def questions(judge: ScriptedJudge) -> list[str]:
    return [inquiry.question for inquiry in judge.asked]


@pytest.mark.parametrize("count", [1, 2, 50])
def test_there_is_one_verdict_per_context(count: int) -> None:
    result = scored(scripted(), contexts=tuple(f"Fact {i}." for i in range(count)))
    assert [c.index for c in result.contexts] == list(range(count))


def test_a_context_is_judged_without_sight_of_the_others() -> None:
    judge = scripted()
    scored(judge, contexts=("Ann ran.", "Bob swam."))
    for inquiry in judge.asked:
        if inquiry.question in ("relevance", "usage"):
            assert ("Ann ran." in inquiry.prompt) != ("Bob swam." in inquiry.prompt)


def test_the_answer_does_not_influence_the_level() -> None:
    one, other = scripted(), scripted()
    scored(one, answer="Ann.")
    scored(other, answer="Bob, of course.")
    level_prompts = [[i.prompt for i in judge.asked if i.question == "relevance"] for judge in (one, other)]
    assert level_prompts[0] == level_prompts[1]


def test_missing_items_are_asked_for_only_when_the_contexts_do_not_suffice() -> None:
    enough, lacking = scripted(), scripted(sufficiency={"sufficient": False})
    assert scored(enough).missing == ()
    assert "missing_context" not in questions(enough)
    assert scored(lacking).missing == ("the price",)
    assert questions(lacking).index("missing_context") > questions(lacking).index("sufficiency")


def test_reordering_contexts_reorders_the_verdicts_and_changes_nothing_else() -> None:
    def answer(inquiry: Any) -> Answer:
        off_topic = inquiry.question == "relevance" and "Bananas" in inquiry.prompt
        return {"level": "none"} if off_topic else VERDICTS[inquiry.question]

    contexts = sample().contexts
    one = scored(ScriptedJudge(answer), contexts=contexts)
    other = scored(ScriptedJudge(answer), contexts=contexts[::-1])
    assert [c.level for c in one.contexts] == [c.level for c in other.contexts][::-1] == ["high", "none"]
    assert one.scores["context_relevance"].value == other.scores["context_relevance"].value


def test_no_contexts_is_the_full_score_by_rule_and_no_question() -> None:
    judge = scripted()
    result = scored(judge, ContextRelevance(scale=10), contexts=()).scores["context_relevance"]
    assert (result.score, result.status, judge.asked) == (10.0, "no_context", [])


def test_a_blank_context_is_irrelevant_without_being_asked_about() -> None:
    judge = scripted()
    result = scored(judge, contexts=("Ann ran.", " \n", ""))
    assert [(c.level, c.used) for c in result.contexts] == [("high", True), ("none", False), ("none", False)]
    assert result.scores["context_relevance"].value == pytest.approx(1 / 3)
    assert questions(judge).count("relevance") == 1


def test_a_blank_answer_uses_nothing_without_being_asked_about() -> None:
    judge = scripted()
    result = scored(judge, answer=" ")
    assert [c.used for c in result.contexts] == [False, False]
    assert "usage" not in questions(judge)


def test_an_echo_of_the_instructions_is_no_missing_item() -> None:
    judge = scripted(
        sufficiency={"sufficient": False}, missing_context={"missing": ["...", "price", "Price"]}
    )
    assert scored(judge).missing == ("price",)


def test_probabilities_are_kept_and_give_expectation_and_confidence() -> None:
    def answer(inquiry: Any) -> Answer:
        if inquiry.question == "relevance":
            return Judgment(
                verdict={"level": "high"}, probabilities={"high": 0.6, "medium": 0.0, "low": 0.4, "none": 0.0}
            )
        if inquiry.question == "usage":
            return Judgment(verdict={"used": True}, probabilities={"true": 0.5, "false": 0.5})
        return VERDICTS[inquiry.question]

    result = scored(ScriptedJudge(answer), contexts=("Ann ran.",))
    assert result.contexts[0].probabilities["level"]["low"] == 0.4
    score = result.scores["context_relevance"]
    # 0.6 × 1 + 0.4 × 0.3, less 0.6 × 0.5 × 0.1; the verdicts given had 0.6 and 0.5
    assert (score.score, score.expected, score.confidence) == (1.0, 0.69, 0.55)


def test_penalties_are_those_of_the_metric() -> None:
    metric = ContextRelevance(penalties=Penalties(unused_high_relevance_context=0.25))
    result = scored(scripted(usage={"used": False}), metric)
    assert result.scores["context_relevance"].score == 0.5
