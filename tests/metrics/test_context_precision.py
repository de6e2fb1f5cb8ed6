from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges.scripted import ScriptedJudge
from localscore.results import Judgment
from localscore.scoring import context_precision
from tests.conftest import VERDICTS

ROW = {
    "id": "1",
    "query": "Who ran?",
    "contexts": ["Bob swam.", "Ann ran.", "Ann ran fast."],
    "ground_truth": "Ann.",
}


def useful(inquiry: Inquiry[Any]) -> Any:
    if inquiry.question == "usage":
        return {"used": "Ann" in inquiry.texts["context"]}
    return VERDICTS[inquiry.question]


def scored(row: dict[str, Any], *metrics: ls.Metric, judge: ScriptedJudge | None = None) -> Any:
    [result] = ls.score([row], judge=judge or ScriptedJudge(useful), metrics=[*metrics]).results
    return result


def test_the_ranks_of_contexts_that_matter_decide() -> None:
    result = scored(ROW, ls.ContextPrecision())
    assert result.scores["context_precision"].score == 0.58
    assert [context.relevant for context in result.ranked] == [False, True, True]
    assert (
        scored(ROW | {"contexts": ROW["contexts"][::-1]}, ls.ContextPrecision())
        .scores["context_precision"]
        .score
        == 1
    )


def test_the_ground_truth_is_compared_and_the_answer_only_where_there_is_none() -> None:
    judge = ScriptedJudge(useful)
    scored(ROW | {"answer": "Bob."}, ls.ContextPrecision(), judge=judge)
    assert {inquiry.texts["answer"] for inquiry in judge.asked} == {"Ann."}
    judge = ScriptedJudge(useful)
    scored(ROW | {"answer": "Bob.", "ground_truth": " "}, ls.ContextPrecision(), judge=judge)
    assert {inquiry.texts["answer"] for inquiry in judge.asked} == {"Bob."}


def test_what_relevance_has_asked_is_not_asked_again() -> None:
    row = ROW | {"answer": "Ann.", "ground_truth": None}
    alone, both = ScriptedJudge(useful), ScriptedJudge(useful)
    scored(row, ls.ContextRelevance(), judge=alone)
    scored(row, ls.ContextRelevance(), ls.ContextPrecision(), judge=both)
    assert len(both.asked) == len(alone.asked)


@pytest.mark.parametrize(
    ("changes", "status", "score"),
    [
        ({"contexts": []}, "no_context", 0.0),
        ({"ground_truth": ""}, "not_scorable", None),
        ({"contexts": ["", " "]}, "scored", 0.0),
    ],
)
def test_where_there_is_nothing_to_ask_nothing_is(
    changes: dict[str, Any], status: str, score: float | None
) -> None:
    judge = ScriptedJudge(useful)
    found = scored(ROW | changes, ls.ContextPrecision(), judge=judge).scores["context_precision"]
    assert (found.status, found.score, judge.asked) == (status, score, [])


def by_enumeration(probabilities: list[float]) -> float:
    """The mean of average precision over everything that may be so."""
    total = 0.0
    for flags in itertools.product([True, False], repeat=len(probabilities)):
        chance = 1.0
        for flag, p in zip(flags, probabilities, strict=True):
            chance *= p if flag else 1 - p
        total += chance * (context_precision(flags).value or 0.0)
    return total


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_the_expected_value_is_the_mean_over_all_that_may_be(probabilities: list[float]) -> None:
    found = context_precision([p > 0.5 for p in probabilities], probabilities=probabilities)
    assert found.expected == pytest.approx(by_enumeration(probabilities), abs=1e-3)


def test_probabilities_are_kept_and_the_run_can_be_scored_again() -> None:
    def unsure(inquiry: Inquiry[Any]) -> Any:
        if inquiry.question == "usage":
            return Judgment(verdict=useful(inquiry), probabilities={"true": 0.75, "false": 0.25})
        return VERDICTS[inquiry.question]

    run = ls.score([ROW], judge=ScriptedJudge(unsure), metrics=[ls.ContextPrecision()])
    found = run.results[0].scores["context_precision"]
    assert found.confidence is not None
    assert 0 < (found.expected or 0) < 1
    assert (
        ls.rescore(run, metrics=[ls.ContextPrecision(scale=10)]).results[0].scores["context_precision"].score
        == 5.83
    )
