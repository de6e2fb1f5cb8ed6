from __future__ import annotations

import re
from dataclasses import astuple, fields
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from localscore.errors import OptionError, SchemaViolation, VerdictCountMismatch
from localscore.results import ScoreResult
from localscore.scoring import Penalties, context_relevance
from localscore.verdicts import LEVELS, Level
from tests.scoring import reference
from tests.scoring.strategies import many, scales

Contexts = list[tuple[Level, bool]]

levels_of_contexts = st.sampled_from(LEVELS)
contexts_found = st.lists(st.tuples(levels_of_contexts, st.booleans()), min_size=1, max_size=12)
others_found = st.lists(st.tuples(levels_of_contexts, st.booleans()), max_size=11)
items_missing = st.integers(0, 6)
all_penalties = st.just(Penalties()) | st.builds(Penalties, *[st.floats(0, 2) for _ in fields(Penalties)])

DEFAULT = Penalties()


def relevance(contexts: Contexts, missing: int = 0, **options: Any) -> ScoreResult:
    levels, used = [level for level, _ in contexts], [use for _, use in contexts]
    return context_relevance(levels, used, [f"item {i}" for i in range(missing)], **options)


def score(contexts: Contexts, missing: int = 0, **options: Any) -> float:
    found = relevance(contexts, missing, **options).score
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("levels", "used", "missing", "penalties", "scale", "expected"),
    [
        ("high high high", "y y y", 0, DEFAULT, 1, 1.00),
        ("high high none none high", "y y n n n", 0, DEFAULT, 1, 0.50),
        ("high high medium none high", "y y n n n", 0, DEFAULT, 1, 0.64),
        ("high high medium none high", "y y n n n", 0, Penalties(0.05, 0.1, 0.3), 1, 0.69),
        ("none none none low high", "n n n n y", 0, DEFAULT, 1, 0.26),
        ("high high high", "y n n", 1, Penalties(0.2, 0.25, 0.6), 1, 0.35),
        ("high high high", "y n n", 1, Penalties(0.05, 0.1, 0.3), 1, 0.80),
        ("high", "n", 10, DEFAULT, 1, 0.40),
        ("low", "n", 4, DEFAULT, 1, 0.00),
        ("medium low", "y n", 0, DEFAULT, 100, 50.00),
    ],
)
def test_golden_values(
    *, levels: str, used: str, missing: int, penalties: Penalties, scale: float, expected: float
) -> None:
    of_level: dict[str, Level] = {level: level for level in LEVELS}
    contexts = [
        (of_level[level], use == "y") for level, use in zip(levels.split(), used.split(), strict=True)
    ]
    result = relevance(contexts, missing, penalties=penalties, scale=scale)
    assert (result.score, result.status) == (expected, "scored")


def test_the_default_penalties_are_those_of_the_contract() -> None:
    assert Penalties() == Penalties(
        unused_high_relevance_context=0.1, missing_context_per_item=0.15, max_missing_context_penalty=0.5
    )


@pytest.mark.parametrize("scale", [0, 0.999, 1, 10])
def test_no_contexts_get_the_whole_scale_and_say_so(scale: float) -> None:
    result = context_relevance([], [], ["an item"], scale=scale)
    assert (result.score, result.value, result.status, result.band) == (scale, scale, "no_context", None)
    assert "no contexts" in result.reason


@pytest.mark.parametrize("scale", [1, 10, 3, 0])
@pytest.mark.parametrize(
    ("off", "band"),
    [
        (0.0, "excellent"),
        (0.1, "excellent"),
        (0.11, "good"),
        (0.3, "good"),
        (0.31, "mixed"),
        (0.6, "mixed"),
        (0.61, "poor"),
        (0.8, "poor"),
        (0.81, "very poor"),
        (1.0, "very poor"),
    ],
)
def test_bands_grow_with_the_scale(off: float, band: str, scale: float) -> None:
    penalties = Penalties(missing_context_per_item=off, max_missing_context_penalty=1)
    assert relevance([("high", True)], 1, penalties=penalties, scale=scale).band == band


@pytest.mark.parametrize("name", [field.name for field in fields(Penalties)])
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -0.1, True, "0.1", None, pytest.param(10**400, id="1e400")]
)
def test_a_penalty_must_be_a_finite_number_of_0_or_more(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=name):
        Penalties(**{name: value})


@pytest.mark.parametrize("level", ["High", "", "critical", "h", None, 1])
def test_a_level_must_be_one_of_the_four(level: Any) -> None:
    with pytest.raises(SchemaViolation, match=re.escape(repr(level))):
        context_relevance(["high", level], [True, True], [])


@pytest.mark.parametrize("contexts", [0, 1, 3])
@pytest.mark.parametrize("name", ["used", "level_probabilities", "used_probabilities"])
def test_every_verdict_and_probability_comes_one_per_context(name: str, contexts: int) -> None:
    given: dict[str, Any] = {"used": [True] * contexts, name: [{}, {}]}
    with pytest.raises(VerdictCountMismatch, match=f"2 .* for {contexts} contexts"):
        context_relevance(["high"] * contexts, missing=[], **given)


@many
@given(contexts_found, items_missing, all_penalties, scales)
def test_the_score_stays_between_zero_and_the_scale(
    contexts: Contexts, missing: int, penalties: Penalties, scale: float
) -> None:
    result = relevance(contexts, missing, penalties=penalties, scale=scale)
    assert result.score is not None
    assert result.value is not None
    assert 0 <= result.score <= scale
    assert 0 <= result.value <= scale


@many
@given(contexts_found, items_missing, all_penalties, st.sampled_from([0, 0.001, 0.999, 1, 3, 10, 100]))
def test_agrees_with_the_formula_in_exact_fractions(
    contexts: Contexts, missing: int, penalties: Penalties, scale: float
) -> None:
    of_unused, of_item, of_all_items = astuple(penalties)
    result = relevance(contexts, missing, penalties=penalties, scale=scale)
    exact = Fraction(scale) * reference.relevance(
        [level for level, _ in contexts],
        [use for _, use in contexts],
        missing,
        (Fraction(of_unused), Fraction(of_item), Fraction(of_all_items)),
    )
    assert result.value == pytest.approx(float(exact), abs=1e-12 * scale)
    assert result.score == min(reference.half_up_in_floats(result.value or 0), scale)


@many
@given(contexts_found, items_missing)
def test_no_binary_error_shows_on_a_scale_of_1(contexts: Contexts, missing: int) -> None:
    levels, used = [level for level, _ in contexts], [use for _, use in contexts]
    defaults = Fraction("0.1"), Fraction("0.15"), Fraction("0.5")
    exact = reference.relevance(levels, used, missing, defaults)
    assert score(contexts, missing) == reference.half_up(exact)


@many
@given(contexts_found.flatmap(lambda c: st.tuples(st.just(c), st.permutations(c))), items_missing, scales)
def test_the_order_of_contexts_changes_no_bit(
    orders: tuple[Contexts, Contexts], missing: int, scale: float
) -> None:
    one, other = (relevance(contexts, missing, scale=scale) for contexts in orders)
    assert (one.score, one.value, one.band) == (other.score, other.value, other.band)


@many
@given(others_found, st.tuples(levels_of_contexts, levels_of_contexts), items_missing, all_penalties, scales)
def test_a_better_level_of_a_used_context_never_lowers_the_score(
    others: Contexts, levels: tuple[Level, Level], missing: int, penalties: Penalties, scale: float
) -> None:
    better, worse = sorted(levels, key=LEVELS.index)
    before = score([*others, (worse, True)], missing, penalties=penalties, scale=scale)
    after = score([*others, (better, True)], missing, penalties=penalties, scale=scale)
    assert after >= before


@many
@given(others_found, st.tuples(levels_of_contexts, levels_of_contexts), items_missing, all_penalties)
def test_a_better_level_of_an_unused_context_lowers_the_score_only_where_its_penalty_exceeds_its_gain(
    others: Contexts, levels: tuple[Level, Level], missing: int, penalties: Penalties
) -> None:
    better, worse = sorted(levels, key=LEVELS.index)
    gain = float(reference.WEIGHTS[better] - reference.WEIGHTS[worse]) / (len(others) + 1)
    cost = penalties.unused_high_relevance_context * (better == "high" != worse)
    assume(abs(gain - cost) > 1e-9 or better == worse)
    before = score([*others, (worse, False)], missing, penalties=penalties)
    after = score([*others, (better, False)], missing, penalties=penalties)
    assert after >= before if gain >= cost else after <= before


def test_an_unused_context_can_be_too_good_by_default() -> None:
    # four at 0.7 have 0.7; with one at 1.0 they have 3.1 / 4 − 0.1 = 0.675
    mediums: Contexts = [("medium", False)] * 4
    assert (score(mediums), score([("high", False), *mediums[1:]])) == (0.70, 0.68)


@many
@given(contexts_found, items_missing, all_penalties, scales)
def test_one_more_missing_item_never_raises_the_score(
    contexts: Contexts, missing: int, penalties: Penalties, scale: float
) -> None:
    before = score(contexts, missing, penalties=penalties, scale=scale)
    assert score(contexts, missing + 1, penalties=penalties, scale=scale) <= before


@many
@given(others_found, levels_of_contexts, items_missing, all_penalties, scales)
def test_using_a_context_never_lowers_the_score(
    others: Contexts, level: Level, missing: int, penalties: Penalties, scale: float
) -> None:
    before = score([*others, (level, False)], missing, penalties=penalties, scale=scale)
    assert score([*others, (level, True)], missing, penalties=penalties, scale=scale) >= before


def test_expected_and_confidence_are_those_worked_out_by_hand() -> None:
    # weight expected of the first:  0.8 × 1 + 0.2 × 0.7                         = 0.94
    # weight expected of the second: 0.1 × 1 + 0.2 × 0.7 + 0.6 × 0.3 + 0.1 × 0   = 0.42; mean 0.68
    # unused high expected:          0.8 × 0.1 + 0.1 × 0.7                       = 0.15; costs 0.015
    # expected:   (0.68 − 0.015 − 0.15) × 10 = 5.15     score: (0.65 − 0 − 0.15) × 10 = 5
    # confidence: (0.8 + 0.6 + 0.9 + 0.7) / 4 = 0.75
    result = relevance(
        [("high", True), ("low", False)],
        missing=1,
        scale=10,
        level_probabilities=[
            {"high": 0.8, "medium": 0.2, "low": 0.0, "none": 0.0},
            {"high": 0.1, "medium": 0.2, "low": 0.6, "none": 0.1},
        ],
        used_probabilities=[{"true": 0.9, "false": 0.1}, {"true": 0.3, "false": 0.7}],
    )
    assert (result.score, result.expected, result.confidence) == (5.0, 5.15, 0.75)


@many
@given(contexts_found, items_missing, all_penalties, st.sampled_from([0, 0.5, 1, 10]))
def test_certain_probabilities_make_expected_the_value(
    contexts: Contexts, missing: int, penalties: Penalties, scale: float
) -> None:
    result = relevance(
        contexts,
        missing,
        penalties=penalties,
        scale=scale,
        level_probabilities=[{name: float(name == level) for name in LEVELS} for level, _ in contexts],
        used_probabilities=[{"true": float(use), "false": float(not use)} for _, use in contexts],
    )
    assert result.value is not None
    assert (result.expected, result.confidence) == (round(result.value, 4), 1)


def distributions(*names: str) -> st.SearchStrategy[dict[str, float]]:
    shares = st.lists(st.floats(0.01, 1), min_size=len(names), max_size=len(names))
    return shares.map(lambda xs: {name: round(x / sum(xs), 4) for name, x in zip(names, xs, strict=True)})


judged = st.tuples(levels_of_contexts, st.booleans(), distributions(*LEVELS), distributions("true", "false"))


@many
@given(st.lists(judged, min_size=1, max_size=8), items_missing, st.sampled_from([0, 1, 10]))
def test_expected_stays_within_the_scale_and_confidence_within_one(
    contexts: list[tuple[Level, bool, dict[str, float], dict[str, float]]], missing: int, scale: float
) -> None:
    result = relevance(
        [(level, use) for level, use, _, _ in contexts],
        missing,
        scale=scale,
        level_probabilities=[of_level for _, _, of_level, _ in contexts],
        used_probabilities=[of_use for _, _, _, of_use in contexts],
    )
    assert result.expected is not None
    assert result.confidence is not None
    assert 0 <= result.expected <= scale
    assert 0 <= result.confidence <= 1


@pytest.mark.parametrize(
    "known", [{}, {"level_probabilities": [{"high": 1.0}]}, {"used_probabilities": [{"true": 1.0}]}]
)
def test_without_both_kinds_of_probabilities_nothing_is_expected(known: dict[str, Any]) -> None:
    result = relevance([("high", True)], **known)
    assert (result.expected, result.confidence) == (None, None)


def test_the_reason_names_levels_unused_contexts_and_missing_items() -> None:
    result = context_relevance(
        ["high", "none", "high", "medium", "high"],
        [True, False, False, True, False],
        ["the price", "the year"],
    )
    assert result.reason == (
        "Levels of 5 contexts: 3 high, 1 medium, 1 none; base (1 + 0 + 1 + 0.7 + 1) / 5 = 0.74. "
        "Highly relevant but unused: context 3, 5; 2 × 0.1 = 0.2 off. "
        "Missing: the price; the year; min(2 × 0.15, 0.5) = 0.3 off. "
        "Score: max(0, 0.74 − 0.2 − 0.3) × 1 = 0.24."
    )


def computed_again(reason: str) -> float:
    told = re.search(r"max\(0, (\S+) − (\S+) − (\S+)\) × (\S+) = (\S+)\.$", reason)
    assert told is not None
    base, unused, missing, scale, stated = map(float, told.groups())
    again = max(0, base - unused - missing) * scale
    assert again == pytest.approx(stated, abs=0.006)
    return stated


@many
@given(contexts_found, items_missing, all_penalties, st.sampled_from([0, 1, 3, 10, 100]))
def test_the_reason_can_be_computed_again(
    contexts: Contexts, missing: int, penalties: Penalties, scale: float
) -> None:
    result = relevance(contexts, missing, penalties=penalties, scale=scale)
    assert computed_again(result.reason) == result.score


@pytest.mark.parametrize("scale", [0.01, 1000, 100_000, 1234567.89])
def test_the_reason_can_be_computed_again_on_any_scale(scale: float) -> None:
    result = relevance([("high", True), ("high", True), ("none", False)], scale=scale)
    assert computed_again(result.reason) == result.score
