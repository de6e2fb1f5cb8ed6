from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.scoring import context_precision
from tests.scoring import reference
from tests.scoring.strategies import many, scales, yes_or_no


@pytest.mark.parametrize(
    ("relevant", "scale", "score"),
    [
        ("n y y", 1, 0.58),
        ("y n y", 1, 0.83),
        ("y n y", 10, 8.33),
        ("y y y", 3, 3.0),
        ("n n n y", 1, 0.25),
        ("n n", 1, 0.0),
    ],
)
def test_golden_values(relevant: str, scale: float, score: float) -> None:
    result = context_precision([yes == "y" for yes in relevant.split()], scale=scale)
    assert (result.score, result.status) == (score, "scored")


def test_no_contexts_are_0_and_say_so() -> None:
    result = context_precision([])
    assert (result.score, result.value, result.status, result.band) == (0, 0, "no_context", None)
    assert "no contexts" in result.reason


@pytest.mark.parametrize("scale", [1, 10, 3, 0])
@pytest.mark.parametrize(
    ("relevant", "band"),
    [
        ([True], "excellent"),
        ([True, False, False, False, True], "good"),
        ([False, True], "fair"),
        ([False, False, True], "poor"),
        ([False], "none"),
    ],
)
def test_bands_grow_with_the_scale(relevant: list[bool], band: str, scale: float) -> None:
    assert context_precision(relevant, scale=scale).band == band


@many
@given(yes_or_no, scales)
def test_the_score_stays_between_zero_and_the_scale(relevant: list[bool], scale: float) -> None:
    result = context_precision(relevant, scale=scale)
    assert result.score is not None
    assert result.value is not None
    assert 0 <= result.score <= scale
    assert 0 <= result.value <= scale


@many
@given(yes_or_no)
def test_agrees_with_the_formula_in_exact_fractions(relevant: list[bool]) -> None:
    result = context_precision(relevant)
    exact = reference.average_precision(relevant)
    assert result.value == pytest.approx(float(exact), abs=1e-12)
    assert result.score == reference.half_up(exact)


@many
@given(yes_or_no, st.data(), scales)
def test_moving_a_relevant_context_ahead_never_lowers_the_score(
    relevant: list[bool], data: st.DataObject, scale: float
) -> None:
    k = data.draw(st.integers(0, len(relevant) - 1))
    ahead = [*relevant[:k], True, False, *relevant[k:]]
    behind = [*relevant[:k], False, True, *relevant[k:]]
    after, before = context_precision(ahead, scale=scale), context_precision(behind, scale=scale)
    assert after.score is not None
    assert before.score is not None
    assert after.score >= before.score


@many
@given(yes_or_no.filter(any), st.sampled_from([0, 1, 3, 10, 100]))
def test_the_reason_can_be_computed_again(relevant: list[bool], scale: float) -> None:
    result = context_precision(relevant, scale=scale)
    told = re.search(
        r"at positions? (.+) of (\d+): \((.+)\) / (\d+) × (\S+) = (\S+)\.$",
        result.reason,
    )
    assert told is not None
    positions = [int(k) for k in told[1].split(", ")]
    terms = [Fraction(term) for term in told[3].split(" + ")]
    assert positions == [k for k, yes in enumerate(relevant, 1) if yes]
    assert int(told[2]) == len(relevant)
    assert terms == [Fraction(found, k) for found, k in enumerate(positions, 1)]
    assert float(sum(terms)) / int(told[4]) * float(told[5]) == pytest.approx(result.score, abs=0.00501)
    assert float(told[6]) == result.score


def test_the_reason_says_that_nothing_is_relevant() -> None:
    assert context_precision([False, False]).reason == "None of 2 contexts is relevant, so the score is 0."
