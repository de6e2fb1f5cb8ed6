from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localscore.errors import OutputTruncated
from localscore.results import SampleResult, ScoreResult
from localscore.scoring import (
    context_recall,
    context_relevance,
    faithfulness,
    no_ground_truth,
    nothing_retrieved,
)
from localscore.summary import summarise
from tests.conftest import sample

FAILED = ScoreResult.failed(OutputTruncated("The limit was reached."))


def result(**scores: ScoreResult) -> SampleResult:
    return SampleResult(id="1", scores=scores, sample=sample())


def test_without_results_there_is_nothing_to_summarise() -> None:
    assert summarise([]) == {}


@pytest.mark.parametrize(
    ("scores", "mean", "scored", "failed", "statuses", "bands"),
    [
        (
            [context_recall([True]), context_recall([True, False])],
            0.75,
            2,
            0,
            {"scored": 2},
            {"excellent": 1, "fair": 1},
        ),
        (
            [context_recall([True]), no_ground_truth(), nothing_retrieved(), context_recall([])],
            0.25,
            4,
            0,
            {"no_claims": 1, "no_context": 1, "no_ground_truth": 1, "scored": 1},
            {"excellent": 1},
        ),
        (
            [context_relevance([], [], []), context_relevance(["low"], [True], [])],
            0.65,
            2,
            0,
            {"no_context": 1, "scored": 1},
            {"poor": 1},
        ),
        (
            [FAILED, faithfulness([]), faithfulness([True, False])],
            0.5,
            1,
            1,
            {"failed": 1, "not_scorable": 1, "scored": 1},
            {"fair": 1},
        ),
        ([FAILED, FAILED], None, 0, 2, {"failed": 2}, {}),
    ],
    ids=["scored", "scored by rule", "no contexts", "without a score", "all failed"],
)
def test_every_score_counts_in_the_mean_and_every_status_is_counted(
    *,
    scores: list[ScoreResult],
    mean: float | None,
    scored: int,
    failed: int,
    statuses: dict[str, int],
    bands: dict[str, int],
) -> None:
    summary = summarise(result(metric=score) for score in scores)
    assert {name: one.model_dump() for name, one in summary.items()} == {
        "metric": {"mean": mean, "scored": scored, "failed": failed, "statuses": statuses, "bands": bands}
    }


def test_each_metric_has_its_own_numbers() -> None:
    summary = summarise([result(a=context_recall([True]), b=FAILED), result(a=context_recall([False]))])
    assert {name: (one.mean, one.scored, one.failed) for name, one in summary.items()} == {
        "a": (0.5, 2, 0),
        "b": (None, 0, 1),
    }


shares = st.integers(1, 9).map(lambda n: context_recall([True] + [False] * n))
several = st.lists(shares | st.just(FAILED) | st.just(no_ground_truth()), max_size=12)


@settings(max_examples=200, deadline=None)
@given(several.flatmap(lambda scores: st.tuples(st.just(scores), st.permutations(scores))))
def test_the_order_of_results_changes_nothing(orders: tuple[list[ScoreResult], list[ScoreResult]]) -> None:
    one, other = (summarise(result(metric=score) for score in scores) for scores in orders)
    assert one == other
