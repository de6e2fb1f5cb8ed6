"""Rounding, scale and bands: what every score has in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from localscore.errors import OptionError

Bands = Sequence[tuple[float, str]]
"""Lower bounds on a scale of 1, highest first, each with the word for scores from there on."""


def round_half_up(x: float) -> float:
    """Round to two decimals, halves up: floor((x + 2⁻⁵²) × 100 + 0.5) / 100.

    Python's `round` takes halves to the even neighbour and would make 0.12 of 0.125.

    >>> round_half_up(0.125), round(0.125, 2)
    (0.13, 0.12)
    """
    hundredths = (x + 2**-52) * 100 + 0.5
    return math.floor(hundredths) / 100 if abs(x) < 2**45 else x  # larger numbers have no hundredths


def scaled(unit: float, scale: float) -> tuple[float, float]:
    """Return the unrounded value and the rounded score of a number between 0 and 1.

    Rounding never lifts a score above `scale`.

    >>> scaled(0.64, 1), scaled(1, 0.999)
    ((0.64, 0.64), (0.999, 0.999))
    """
    value = min(max(unit, 0.0), 1.0) * scale
    return value, min(round_half_up(value), scale)


def checked_scale(scale: float) -> float:
    """Return the scale as a float.

    Raises:
        OptionError: the scale is not a finite number of 0 or more.
    """
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale) or scale < 0:
        raise OptionError(f"scale is {scale!r}; expected a finite number of 0 or more.")
    return float(scale)


def band(score: float, unit: float, scale: float, bands: Bands) -> str:
    """Return the interpretation of a score: the first band whose bound, times `scale`, it reaches.

    With a scale of 0 every score is 0, so the unscaled value decides.

    >>> band(64.0, 0.64, 100, [(0.7, "good"), (0.4, "mixed"), (0.0, "poor")])
    'mixed'
    """
    reached, factor = (score, scale) if scale > 0 else (unit, 1.0)
    slack = 1e-9 * factor  # 0.4 × 3 is a little more than 1.2
    return next(word for bound, word in bands if reached + slack >= bound * factor)


def mean(numbers: Iterable[float]) -> float:
    """Return the mean, the same in any order; the numbers must not be empty."""
    values = list(numbers)
    return math.fsum(values) / len(values)


def plain(number: float) -> str:
    """Return a number for a reason's arithmetic: up to six significant digits, no trailing zeros.

    >>> plain(0.30000000000000004), plain(2.0)
    ('0.3', '2')
    """
    return f"{number:.6g}"
