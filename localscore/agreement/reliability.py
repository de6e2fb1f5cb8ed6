"""Whether a judge is as often right as its probabilities say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localscore.agreement.report import Bin

BINS = 10


def reliability(probabilities: Sequence[float], right: Sequence[bool]) -> tuple[Bin, ...]:
    """Return the bins of equal width from 0 to 1 that hold probabilities, and how often these were right.

    >>> reliability([0.5, 0.55, 1.0], [True, False, True])[0]
    Bin(low=0.5, high=0.6, n=2, probability=0.525, right=0.5)
    """
    told, came = np.array(probabilities), np.array(right)
    # Probabilities have 4 decimals; the small step keeps 0.3, say, out of the bin below it.
    place = np.minimum((told * BINS + 1e-9).astype(int), BINS - 1)
    return tuple(
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=int((place == number).sum()),
            probability=round(float(told[place == number].mean()), 4),
            right=round(float(came[place == number].mean()), 4),
        )
        for number in range(BINS)
        if (place == number).any()
    )


def ece(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error: how far probability and share of right ones are apart, on average.

    >>> ece(reliability([0.5, 0.55, 1.0], [True, False, True]))
    0.0167
    """
    whole = sum(one.n for one in bins)
    return round(sum(one.n * abs(one.probability - one.right) for one in bins) / whole, 4) if whole else None
