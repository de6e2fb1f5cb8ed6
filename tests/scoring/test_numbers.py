from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.errors import OptionError
from localscore.results import ScoreResult
from localscore.scoring import context_precision, context_recall, context_relevance, faithfulness
from localscore.scoring.numbers import mean, round_half_up, scaled
from tests.scoring import reference
from tests.scoring.strategies import many, scales

Scoring = Callable[..., ScoreResult]


def relevance(yes: list[bool], **options: Any) -> ScoreResult:
    return context_relevance(["high" if y else "none" for y in yes], yes, [], **options)


every_metric = pytest.mark.parametrize(
    "metric", [relevance, context_recall, faithfulness, context_precision], ids=lambda metric: metric.__name__
)


@pytest.mark.parametrize(
    ("x", "rounded"),
    [
        (0.125, 0.13),
        (0.375, 0.38),
        (0.005, 0.01),
        (0.00499, 0.0),
        (1.005, 1.01),  # the nearest float is below it
        (0.994999, 0.99),
        (62.125, 62.13),
        (0.0, 0.0),
        (1.0, 1.0),
    ],
)
def test_halves_are_rounded_up(x: float, rounded: float) -> None:
    assert round_half_up(x) == rounded


@many
@given(st.floats(0, 1e306))
def test_rounding_is_the_formula_of_the_contract_to_the_last_digit(x: float) -> None:
    assert round_half_up(x) == reference.half_up_in_floats(x)


@many
@given(st.floats(allow_nan=False), scales)
def test_a_scaled_number_stays_between_zero_and_the_scale(unit: float, scale: float) -> None:
    assert all(0 <= number <= scale for number in scaled(unit, scale))


@many
@given(st.lists(st.floats(0, 1), min_size=1).flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(xs))))
def test_a_mean_is_the_same_in_any_order(orders: tuple[list[float], list[float]]) -> None:
    assert mean(orders[0]) == mean(orders[1])


@every_metric
@pytest.mark.parametrize("verdicts", [[], [True]], ids=["nothing", "something"])
@pytest.mark.parametrize(
    "scale",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        -1,
        -1e-9,
        True,
        "1",
        None,
        pytest.param(10**400, id="1e400"),
    ],
)
def test_a_scale_must_be_a_finite_number_of_0_or_more(
    metric: Scoring, verdicts: list[bool], scale: object
) -> None:
    with pytest.raises(OptionError, match="scale"):
        metric(verdicts, scale=scale)


@every_metric
@pytest.mark.parametrize("verdicts", [[], [True], [False]])
def test_a_scale_of_0_gives_0_everywhere(metric: Scoring, verdicts: list[bool]) -> None:
    result = metric(verdicts, scale=0)
    scorable = result.status != "not_scorable"
    assert (result.score, result.value) == ((0, 0) if scorable else (None, None))


@every_metric
@pytest.mark.parametrize("scale", [0, 0.001, 0.125, 0.999, 1, 3, 1000, 1234567.89])
def test_the_reason_states_the_scale_and_the_score(metric: Scoring, scale: float) -> None:
    result = metric([True], scale=scale)
    stated = re.search(r"× (\S+) = (\S+)\.( |$)", result.reason)
    assert stated is not None
    assert (float(stated[1]), float(stated[2])) == (scale, result.score)
