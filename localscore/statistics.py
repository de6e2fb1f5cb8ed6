"""Is the mean of paired differences more than chance? The numpy half of `localscore.compare`.

Both answers are drawn from a fixed seed, so that the same differences always get the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SEED = 0
RESAMPLES = 2_000
"""Of the bootstrap; the ends of its interval then move by about a twentieth of its width from seed to seed."""
FLIPS = 9_999
"""Of the permutation test where not all can be tried; the least p-value is 1 / 10,000."""
ALL_FLIPS = 14
"""Up to so many differences that are not 0 every way of flipping their signs is tried."""

_CELLS = 100_000
"""Numbers drawn at once; so many stay in a processor's cache."""

_SAME = 1 - 1e-9
"""Two sums whose ratio lies within this are the same sum, added in another order."""


class Interval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def bootstrap_interval(differences: Sequence[float]) -> Interval | None:
    """Return the middle 95 % of the means of resamples (Efron's percentile interval); none for fewer than two.

    >>> bootstrap_interval([0.1] * 5), bootstrap_interval([0.5])
    (Interval(low=0.1, high=0.1), None)
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return None
    random = np.random.default_rng(SEED)
    means = [
        values[random.integers(0, len(values), (rows, len(values)))].mean(axis=1)
        for rows in _portions(RESAMPLES, len(values))
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Interval(round(float(low), 6), round(float(high), 6))


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


def _coins(random: np.random.Generator, rows: int, columns: int) -> Floats:
    """Toss a coin per cell, 0 or 1; eight are taken from a random byte."""
    tossed = np.frombuffer(random.bytes(-(-rows * columns // 8)), dtype=np.uint8)
    return np.unpackbits(tossed, count=rows * columns).reshape(rows, columns).astype(np.float64)


def _portions(rows: int, columns: int) -> Iterator[int]:
    """Split so many rows into portions of at most `_CELLS` numbers."""
    most = max(1, _CELLS // columns)
    yield from (min(most, rows - start) for start in range(0, rows, most))
