from __future__ import annotations

import pytest

from localscore.agreement.reliability import ece, reliability


def test_each_probability_is_in_one_bin() -> None:
    edges = [i / 10 for i in range(11)]
    bins = reliability(edges, [True] * 11)
    assert [one.n for one in bins] == [1] * 9 + [2]
    assert [one.low for one in bins] == edges[:10]


def test_the_expected_calibration_error_by_hand() -> None:
    # 0.9 is right half the time (off by 0.4, on 2 of 3), 0.2 never (off by 0.2, on 1 of 3).
    bins = reliability([0.9, 0.9, 0.2], [True, False, False])
    assert ece(bins) == pytest.approx((2 * 0.4 + 0.2) / 3, abs=1e-4)


def test_a_judge_that_is_right_as_often_as_it_says_has_no_error() -> None:
    assert ece(reliability([0.75] * 4, [True, True, True, False])) == 0.0


def test_without_verdicts_there_is_no_error_to_tell() -> None:
    assert reliability([], []) == ()
    assert ece(()) is None
