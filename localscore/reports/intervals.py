"""Means with intervals: the bootstrap over samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from localscore.scoring.numbers import mean

RESAMPLES = 10_000
SEED = 20_260


@dataclass(frozen=True)
class Interval:
    """A mean, its 95 % interval, and how many numbers it rests on; one number has no interval."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean_interval(numbers: Iterable[float]) -> Interval | None:
    """Return the mean and the percentile bootstrap interval of it (Efron 1979); nothing for no numbers.

    A resample of n numbers is a multinomial draw over the distinct ones, so that thousands of samples take
    milliseconds. It is seeded: the same numbers have the same interval, in any order.

    >>> mean_interval([0.0, 1.0, 1.0, 1.0])
    Interval(mean=0.75, low=0.25, high=1.0, n=4)
    >>> mean_interval([0.5])
    Interval(mean=0.5, low=None, high=None, n=1)
    """
    counted = sorted(Counter(numbers).items())
    n = sum(count for _, count in counted)
    if not n:
        return None
    middle = mean(value for value, count in counted for _ in range(count))
    if n == 1:
        return Interval(middle, None, None, n)
    import numpy as np  # noqa: PLC0415  (not worth a wait to commands that need none)

    values = np.array([value for value, _ in counted])
    shares = np.array([count / n for _, count in counted])
    means = np.random.default_rng(SEED).multinomial(n, shares, size=RESAMPLES) @ values / n
    low, high = (float(bound) for bound in np.quantile(means, [0.025, 0.975]))
    # Rounding errors of the sums are not to put the mean of equal numbers outside of its own interval.
    return Interval(middle, min(round(low, 12), middle), max(round(high, 12), middle), n)


def with_judge_error(scores: Sequence[float], expected: Sequence[float]) -> Interval | None:
    """Return the interval of the mean of scores, wide enough for the judge's errors too.

    It reaches over the interval of the mean of the scores and over that of the expected ones, in which every verdict
    counts as much as the judge believes it. That is honest where the judge's probabilities are: calibrated ones.

    >>> with_judge_error([1.0, 1.0], [0.6, 0.8])
    Interval(mean=1.0, low=0.6, high=1.0, n=2)
    """
    given, believed = mean_interval(scores), mean_interval(expected)
    if given is None or believed is None or given.low is None or believed.low is None:
        return given
    ends = [given.low, given.high, believed.low, believed.high]
    known = [end for end in ends if end is not None]
    return Interval(given.mean, min(known), max(known), given.n)
