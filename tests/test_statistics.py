from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from localscore.statistics import ALL_FLIPS, Interval, mean_interval, pearson, sign_flip_p, spearman


def differences(n: int, seed: int, shift: float) -> list[float]:
    chance = random.Random(seed)
    return [
        round(chance.choice([-1, -0.5, 0, 0, 0.25, 0.5, 1]) * chance.random() + shift, 2) for _ in range(n)
    ]


@pytest.mark.parametrize("n", [2, 3, 5, ALL_FLIPS])
@pytest.mark.parametrize("shift", [0.0, 0.1, -0.3])
def test_the_exact_p_is_scipys(n: int, shift: float) -> None:
    given = differences(n, n, shift)
    theirs = stats.permutation_test(
        (np.array(given),), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert sign_flip_p(given) == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(("seed", "shift"), [(1, 0.0), (2, 0.03), (3, -0.05), (4, 0.2)])
def test_the_drawn_p_is_scipys_but_for_chance(seed: int, shift: float) -> None:
    given = differences(200, seed, shift)
    theirs = stats.permutation_test(
        (np.array(given),), np.mean, permutation_type="samples", n_resamples=9_999, rng=1, vectorized=True
    )
    assert sign_flip_p(given) == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize(("n", "shift"), [(20, 0.0), (200, 0.1), (1000, -0.02)])
def test_the_interval_is_scipys_but_for_chance(n: int, shift: float) -> None:
    given = differences(n, n, shift)
    theirs = stats.bootstrap((given,), np.mean, method="percentile", n_resamples=9_999, rng=1)
    interval = mean_interval(given)
    assert interval is not None
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert interval.low == pytest.approx(theirs.confidence_interval.low, abs=width / 20)
    assert interval.high == pytest.approx(theirs.confidence_interval.high, abs=width / 20)


def test_both_are_the_same_every_time() -> None:
    given = differences(300, 7, 0.02)
    assert mean_interval(given) == mean_interval(given)
    assert sign_flip_p(given) == sign_flip_p(given)


def test_differences_of_0_change_no_p() -> None:
    given = differences(10, 3, 0.2)
    assert sign_flip_p(given + [0.0] * 50) == sign_flip_p(given)


def test_without_any_difference_nothing_is_unlikely() -> None:
    assert sign_flip_p([0.0] * 30) == 1.0
    assert mean_interval([0.0] * 30) == Interval(0.0, 0.0, 0.0, 30)


def test_sums_in_another_order_are_as_far() -> None:
    assert sign_flip_p([0.1, 0.2, 0.3]) == sign_flip_p([0.3, 0.2, 0.1]) == 0.25


def test_the_least_p_of_many_is_not_0() -> None:
    assert sign_flip_p([0.5] * 100) == 0.0001


def test_nothing_has_no_p_and_no_interval() -> None:
    assert (sign_flip_p([]), mean_interval([]), mean_interval([0.3])) == (
        None,
        None,
        Interval(0.3, None, None, 1),
    )


def test_the_interval_is_that_of_the_plain_bootstrap() -> None:
    chance = random.Random(3)
    numbers = [round(chance.random(), 2) for _ in range(60)]
    means = sorted(sum(chance.choices(numbers, k=60)) / 60 for _ in range(4000))
    told = mean_interval(numbers)
    assert told is not None
    assert told.low is not None
    assert told.high is not None
    assert told.low == pytest.approx(means[100], abs=0.01)
    assert told.high == pytest.approx(means[3900], abs=0.01)
    assert mean_interval(reversed(numbers)) == told


@pytest.mark.parametrize("numbers", [[0.1] * 7, [0.7, 0.7, 0.7], [1 / 3] * 11])
def test_equal_numbers_have_an_interval_without_width(numbers: list[float]) -> None:
    told = mean_interval(numbers)
    assert told is not None
    assert told.low == pytest.approx(told.high)
    assert told.mean == pytest.approx(numbers[0])


@pytest.mark.parametrize("seed", range(5))
def test_the_correlations_are_scipys(seed: int) -> None:
    ours, theirs = differences(40, seed, 0.0), differences(40, seed + 100, 0.1)  # with ties
    assert pearson(ours, theirs) == pytest.approx(stats.pearsonr(ours, theirs).statistic, abs=1e-6)
    assert spearman(ours, theirs) == pytest.approx(stats.spearmanr(ours, theirs).statistic, abs=1e-6)
