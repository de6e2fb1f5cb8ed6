from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore import inquiries
from localscore.calibration import PRIOR, Calibration, log_odds, observed, overlap_of
from localscore.errors import CalibrationError
from localscore.results import Features, Judgment
from localscore.verdicts import LEVELS

shares = st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda p: sum(p) > 0.01)
weights = st.floats(-20, 20)


def features(*shares: float, **beside: float) -> Features:
    labels = ("true", "false") if len(shares) == 2 else LEVELS
    return Features(probabilities=dict(zip(labels, shares, strict=True)), **beside)


@given(shares, weights, weights, st.lists(weights, min_size=3, max_size=3))
def test_calibrated_probabilities_are_probabilities(
    given: list[float], judge: float, overlap: float, cuts: list[float]
) -> None:
    calibration = Calibration(judge=(judge,) * 3, overlap=overlap, cuts=tuple(sorted(cuts, reverse=True)))
    found = calibration.probabilities(features(*(p / sum(given) for p in given), overlap=0.5))
    assert list(found) == list(LEVELS)
    assert all(0 <= p <= 1 for p in found.values())
    assert sum(found.values()) == pytest.approx(1, abs=2e-4)


def test_a_temperature_and_a_cut_by_hand() -> None:
    found = Calibration(judge=(0.5,), cuts=(0.3,)).probabilities(features(0.8, 0.2))
    assert found["true"] == round(1 / (1 + math.exp(0.3 - 0.5 * math.log(4))), 4)


def test_every_feature_counts() -> None:
    plain = features(0.5, 0.5)
    more = features(0.5, 0.5, bits=10.0, bits_without=40.0, overlap=0.5)
    for calibration in (
        Calibration(explained=2.0),
        Calibration(saved=0.1),
        Calibration(overlap=3.0),
    ):
        assert calibration.probabilities(more)["true"] > calibration.probabilities(plain)["true"] == 0.5


def test_the_prior_makes_what_contexts_do_not_change_undecided() -> None:
    same = Features(probabilities={"true": 0.9, "false": 0.1}, without={"true": 0.9, "false": 0.1})
    assert PRIOR["usage"].probabilities(same)["true"] == 0.5
    level = dict(zip(LEVELS, (0.7, 0.1, 0.1, 0.1), strict=True))
    found = PRIOR["relevance"].probabilities(Features(probabilities=level, without=level))
    assert set(found.values()) == {0.25}


def test_the_verdict_is_the_likeliest_by_the_calibrated_probabilities() -> None:
    inquiry = inquiries.usage("Who ran?", "Ann ran.", "It was Ann.")
    judgment = Judgment(verdict={"used": True}, probabilities={"false": 0.4, "true": 0.6}, bits=9.0)
    without = Judgment(verdict={"used": True}, probabilities={"true": 0.5, "false": 0.5}, bits=30.0)
    told = observed(inquiry, judgment, without)
    assert told.features is not None
    assert (list(told.features.probabilities), told.features.saved) == (["true", "false"], 21.0)
    found = Calibration(cuts=(3.0,)).applied(inquiry, told)
    assert found.verdict == {"used": False}
    assert found.features == told.features


def test_log_odds_stop_at_the_last_digit_kept() -> None:
    assert log_odds({"true": 1.0, "false": 0.0}) == log_odds({"true": 0.99996, "false": 0.00004})


@pytest.mark.parametrize(
    ("inquiry", "share"),
    [
        (inquiries.relevance("Who ran?", "Ann ran."), 1 / 2),
        (inquiries.usage("Who?", "Ann ran.", "Ann."), 3 / 4),
        (inquiries.sufficiency("Who ran?", ("Ann ran.",)), 1 / 2),
        (inquiries.attribution("Ann swam.", ("Ann ran.",)), 1 / 2),
        (inquiries.evidence("Ann swam.", ("Ann ran.",)), 0),
    ],
)
def test_words_in_common(inquiry: inquiries.Inquiry[Any], share: float) -> None:
    assert overlap_of(inquiry) == pytest.approx(share)


def test_a_calibration_for_other_values_is_refused() -> None:
    with pytest.raises(CalibrationError, match="relevance"):
        Calibration().applied(
            inquiries.relevance("Who?", "Ann."),
            Judgment(
                verdict={"level": "low"},
                features=features(0.1, 0.2, 0.3, 0.4),
                probabilities=features(0.1, 0.2, 0.3, 0.4).probabilities,
            ),
        )
