from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.errors import VerdictCountMismatch
from localscore.results import Quote, ScoreResult
from localscore.scoring import context_recall, faithfulness, no_ground_truth, nothing_retrieved
from tests.scoring import reference
from tests.scoring.strategies import many, scales, yes_or_no

Scoring = Callable[..., ScoreResult]

both = pytest.mark.parametrize("metric", [context_recall, faithfulness], ids=lambda metric: metric.__name__)


@both
@pytest.mark.parametrize(
    ("yes", "total", "scale", "score"),
    [(2, 3, 1, 0.67), (1, 8, 1, 0.13), (3, 3, 10, 10.0), (0, 4, 1, 0.0), (1, 3, 100, 33.33)],
)
def test_golden_values(metric: Scoring, yes: int, total: int, scale: float, score: float) -> None:
    result = metric([i < yes for i in range(total)], scale=scale)
    assert (result.score, result.status) == (score, "scored")


@pytest.mark.parametrize(
    ("result", "score", "status", "told"),
    [
        (context_recall([]), 0, "no_claims", "No claims"),
        (no_ground_truth(), 0, "no_ground_truth", "no ground truth"),
        (nothing_retrieved(), 0, "no_context", "no contexts"),
        (faithfulness([]), None, "not_scorable", "nothing to score"),
    ],
    ids=["no claims", "no ground truth", "no contexts", "an answer without claims"],
)
def test_what_cannot_be_computed_gets_its_status_by_rule(
    result: ScoreResult, score: float | None, status: str, told: str
) -> None:
    assert (result.score, result.value, result.status) == (score, score, status)
    assert told in result.reason
    assert (result.band, result.expected, result.confidence) == (None, None, None)


@both
@pytest.mark.parametrize("scale", [1, 10, 3, 0])
@pytest.mark.parametrize(
    ("percent", "band"),
    [
        (100, "excellent"),
        (90, "excellent"),
        (89, "good"),
        (70, "good"),
        (69, "fair"),
        (40, "fair"),
        (39, "poor"),
        (1, "poor"),
        (0, "none"),
    ],
)
def test_bands_grow_with_the_scale(metric: Scoring, percent: int, band: str, scale: float) -> None:
    assert metric([i < percent for i in range(100)], scale=scale).band == band


@both
@pytest.mark.parametrize("supported", [[], [True], [True, False, True]], ids=len)
@pytest.mark.parametrize(
    "extra",
    [{"claims": ["Ann ran.", "Bob swam."]}, {"evidence": [None, None]}, {"probabilities": [0.5, 0.5]}],
    ids=lambda extra: next(iter(extra)),
)
def test_claims_evidence_and_probabilities_come_one_per_attribution(
    metric: Scoring, supported: list[bool], extra: dict[str, Sequence[object]]
) -> None:
    with pytest.raises(VerdictCountMismatch, match=rf"2 {next(iter(extra))} for {len(supported)} "):
        metric(supported, **extra)


@both
@many
@given(supported=yes_or_no, scale=scales)
def test_the_score_stays_between_zero_and_the_scale(
    metric: Scoring, supported: list[bool], scale: float
) -> None:
    result = metric(supported, scale=scale)
    assert result.score is not None
    assert result.value is not None
    assert 0 <= result.score <= scale
    assert 0 <= result.value <= scale


@both
@many
@given(
    supported=st.integers(1, 400).flatmap(
        lambda n: st.integers(0, n).map(lambda k: [i < k for i in range(n)])
    )
)
def test_agrees_with_the_formula_in_exact_fractions(metric: Scoring, supported: list[bool]) -> None:
    result = metric(supported)
    exact = reference.share(supported)
    assert (result.value, result.score) == (float(exact), reference.half_up(exact))


@both
@many
@given(supported=yes_or_no, data=st.data(), scale=scales)
def test_one_more_supported_claim_never_lowers_the_score(
    metric: Scoring, supported: list[bool], data: st.DataObject, scale: float
) -> None:
    i = data.draw(st.integers(0, len(supported) - 1))
    before = metric([*supported[:i], False, *supported[i + 1 :]], scale=scale)
    after = metric([*supported[:i], True, *supported[i + 1 :]], scale=scale)
    assert before.score is not None
    assert after.score is not None
    assert after.score >= before.score


def test_expected_and_confidence_are_those_worked_out_by_hand() -> None:
    # expected: (0.9 + 0.4 + 0.6) / 3 × 10 = 6.3333
    # confidence: the verdicts given had 0.9, 1 − 0.4 and 0.6; their mean is 0.7
    result = context_recall([True, False, True], scale=10, probabilities=[0.9, 0.4, 0.6])
    assert (result.score, result.expected, result.confidence) == (6.67, 6.3333, 0.7)


@many
@given(yes_or_no, st.sampled_from([0, 0.5, 1, 10]))
def test_certain_probabilities_make_expected_the_value(supported: list[bool], scale: float) -> None:
    result = context_recall(supported, scale=scale, probabilities=[float(yes) for yes in supported])
    assert result.value is not None
    assert (result.expected, result.confidence) == (round(result.value, 4), 1)


@many
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=20))
def test_expected_and_confidence_stay_between_zero_and_one(claims: list[tuple[bool, float]]) -> None:
    result = context_recall([yes for yes, _ in claims], probabilities=[p for _, p in claims])
    assert result.expected is not None
    assert result.confidence is not None
    assert 0 <= result.expected <= 1
    assert 0 <= result.confidence <= 1


def test_without_probabilities_nothing_is_expected() -> None:
    result = context_recall([True])
    assert (result.expected, result.confidence) == (None, None)


def test_the_reason_tells_the_found_with_their_quotes_from_the_lacking() -> None:
    result = context_recall(
        [True, False, True],
        claims=["Ann ran.", "Bob swam.", "Cid read."],
        evidence=[Quote(context=1, quote="Ann ran home."), Quote(context=0, quote="Bob sat."), None],
    )
    assert result.reason == (
        "The contexts support 2 of 3 claims: 2 / 3 × 1 = 0.67. "
        "Found: “Ann ran.” (context 2: “Ann ran home.”); “Cid read.”. Lacking: “Bob swam.”."
    )


@many
@given(st.lists(st.tuples(st.integers(0, 99), st.text(min_size=1, max_size=400)), min_size=1, max_size=5))
def test_quotes_are_verbatim_and_name_their_context(quotes: list[tuple[int, str]]) -> None:
    evidence = [Quote(context=i, quote=text) for i, text in quotes]
    reason = context_recall([True] * len(quotes), evidence=evidence).reason
    assert all(f"(context {i + 1}: “{text}”)" in reason for i, text in quotes)


@both
@many
@given(supported=yes_or_no, scale=st.sampled_from([0, 1, 3, 10, 100]))
def test_the_reason_can_be_computed_again(metric: Scoring, supported: list[bool], scale: float) -> None:
    result = metric(supported, scale=scale)
    told = re.match(
        r"The contexts support (\d+) of (\d+) claims?: (\d+) / (\d+) × (\S+) = (\S+)\. ", result.reason
    )
    assert told is not None
    assert (told[1], told[2]) == (told[3], told[4])
    assert int(told[3]) / int(told[4]) * float(told[5]) == pytest.approx(result.score, abs=0.00501)
    assert float(told[6]) == result.score
    assert len(re.findall(r"claim \d", result.reason)) == len(supported)
