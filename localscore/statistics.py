"""How sure is a mean, and is the mean of paired differences more than chance?

All is drawn from a fixed seed, so that the same numbers always get the same answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localscore.scoring.numbers import mean

Floats = npt.NDArray[np.float64]

SEED = 0
RESAMPLES = 4_000
"""Of the bootstrap; the ends of its interval then move by about a twentieth of its width from seed to seed."""
FLIPS = 9_999
"""Of the permutation test where not all can be tried; the least p-value is 1 / 10,000."""
ALL_FLIPS = 14
"""Up to so many differences that are not 0 every way of flipping their signs is tried."""

_CELLS = 100_000
"""Numbers drawn at once; so many stay in a processor's cache."""

_SAME = 1 - 1e-9
"""Two sums whose ratio lies within this are the same sum, added in another order."""


@dataclass(frozen=True)
class Interval:
    """A mean, its 95 % interval, and how many numbers it rests on; one number has no interval."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean_interval(numbers: Iterable[float]) -> Interval | None:
    """Return the mean and the middle 95 % of the means of resamples (Efron, 1979); nothing for no numbers.

    A resample of n numbers is a multinomial draw over the distinct ones, so that thousands of samples take
    milliseconds, and the order of the numbers does not matter.

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
    values = np.array([value for value, _ in counted])
    shares = np.array([count / n for _, count in counted])
    random = np.random.default_rng(SEED)
    means = [
        random.multinomial(n, shares, size=rows) @ values / n for rows in _portions(RESAMPLES, len(values))
    ]
    low, high = (float(bound) for bound in np.quantile(np.concatenate(means), [0.025, 0.975]))
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


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Return how probable a mean at least so far from 0 is if each difference could as well have the other sign.

    The two-sided paired permutation test (Fisher, 1935): exact for up to 14 differences that are not 0, else over
    9,999 random flips and the one that was found. None where there are no differences.

    >>> sign_flip_p([0.1, 0.2, 0.3]), sign_flip_p([0.0, 0.0]), sign_flip_p([])
    (0.25, 1.0, None)
    """
    values = np.asarray(differences, dtype=np.float64)
    if not len(values):
        return None
    values = values[values != 0]
    least = abs(values.sum()) * _SAME
    if len(values) <= ALL_FLIPS:
        signs = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) % 2 * 2.0 - 1
        return float(np.mean(np.abs(signs @ values) >= least))
    random = np.random.default_rng(SEED)
    as_far = 0
    for rows in _portions(FLIPS, len(values)):
        kept = _coins(random, rows, len(values)) @ values
        as_far += int((np.abs(2 * kept - values.sum()) >= least).sum())
    return round((as_far + 1) / (FLIPS + 1), 6)


def pearson(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return Pearson's correlation; none for fewer than two pairs, or where one of the two is the same everywhere.

    >>> pearson([0.0, 0.5, 1.0], [0.1, 0.2, 0.3]), pearson([1.0, 1.0], [0.0, 1.0])
    (1.0, None)
    """
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    return round(float(np.corrcoef(ours, theirs)[0, 1]), 6)


def spearman(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return Spearman's correlation, Pearson's of the ranks, where equal numbers share the mean of theirs.

    >>> spearman([0.0, 0.5, 1.0], [0.1, 0.2, 9.0]), spearman([0.0, 1.0], [1.0, 0.0])
    (1.0, -1.0)
    """
    return pearson(_ranks(ours), _ranks(theirs))


def _ranks(numbers: Sequence[float]) -> list[float]:
    _, group, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return [float(rank) for rank in (counts.cumsum() - counts / 2)[group]]


def _coins(random: np.random.Generator, rows: int, columns: int) -> Floats:
    """Toss a coin per cell, 0 or 1; eight are taken from a random byte."""
    tossed = np.frombuffer(random.bytes(-(-rows * columns // 8)), dtype=np.uint8)
    return np.unpackbits(tossed, count=rows * columns).reshape(rows, columns).astype(np.float64)


def _portions(rows: int, columns: int) -> Iterator[int]:
    """Split so many rows into portions of at most `_CELLS` numbers."""
    most = max(1, _CELLS // columns)
    yield from (min(most, rows - start) for start in range(0, rows, most))
