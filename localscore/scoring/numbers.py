"""Rounding, scale and bands: what every score has in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache

from localscore.errors import OptionError, SchemaViolation, VerdictCountMismatch

Bands = Sequence[tuple[float, str]]
"""Lower bounds on a scale of 1, highest first, each with the word for scores from there on."""


def round_half_up(x: float) -> float:
    """Round to two decimals, halves up: floor((x + 2⁻⁵²) × 100 + 0.5) / 100.

    Python's `round` takes halves to the even neighbour and would make 0.12 of 0.125.

    >>> round_half_up(0.125), round(0.125, 2)
    (0.13, 0.12)
    """
    hundredths = (x + 2**-52) * 100 + 0.5
    return math.floor(hundredths) / 100 if math.isfinite(hundredths) else x


def scaled(unit: float | Fraction, scale: float) -> tuple[float, float]:
    """Return the unrounded value and the rounded score of a number between 0 and 1.

    Rounding never lifts a score above `scale`.

    >>> scaled(0.64, 1), scaled(1, 0.999)
    ((0.64, 0.64), (0.999, 0.999))
    """
    value = float(exact(min(max(unit, 0), 1)) * exact(scale))
    return value, min(round_half_up(value), scale)


def checked(name: str, number: float) -> float:
    """Return an option that must be a finite number of 0 or more, as a float.

    Raises:
        OptionError: it is not.

    >>> checked("scale", 10)
    10.0
    """
    try:
        checked_number = float(number) + 0.0  # makes 0 of −0
        wrong = isinstance(number, bool | str) or not math.isfinite(checked_number) or checked_number < 0
    except (TypeError, ValueError, OverflowError):
        wrong = True
    if wrong:
        raise OptionError(f"{name} is {number!r}; expected a finite number of 0 or more.")
    return checked_number


def check_flags(name: str, flags: Sequence[bool], **others: Sequence[object] | None) -> None:
    """Check that flags are no texts, and that there is one of everything else per flag.

    Raises:
        SchemaViolation: a text in place of true or false.
        VerdictCountMismatch: more or fewer of something else.
    """
    for flag in flags:
        if isinstance(flag, str):
            raise SchemaViolation(f"{name} holds the text {flag!r}; expected true or false.")
    for other, given in others.items():
        if given is not None and len(given) != len(flags):
            raise VerdictCountMismatch(
                f"Got {len(given)} {other} for {len(flags)} {name}; expected one each."
            )


_EXACT = Context(prec=4000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])
"""Products of two floats as they are written have at most 34 digits and lie within 10^±650: nothing is rounded."""


def exact(number: float | Fraction) -> Fraction:
    """Return a number as it is written, so that sums of decimals are exact and have no order.

    >>> exact(0.1) * 3 == exact(0.3), 0.1 * 3 == 0.3
    (True, False)
    """
    return number if type(number) is Fraction else _fraction(number)


@lru_cache(maxsize=4096)
def _fraction(number: float) -> Fraction:
    return Fraction(str(number))


def weighted(pairs: Iterable[tuple[float, float]]) -> Fraction:
    """Return the sum of products of numbers as they are written; decimals are ten times faster at it than fractions.

    >>> weighted([(0.1, 1.0), (0.2, 0.5)])
    Fraction(1, 5)
    """
    total = Decimal(0)
    for number, weight in pairs:
        total = _EXACT.fma(_decimal(number), _decimal(weight), total)
    return Fraction(total)


@lru_cache(maxsize=16384)  # most probabilities have four decimals
def _decimal(number: float) -> Decimal:
    return Decimal(str(number))


def band(score: float, unit: float | Fraction, scale: float, bands: Bands) -> str:
    """Return the interpretation of a score: the first band whose bound, times `scale`, it reaches.

    With a scale of 0 every score is 0, so the unscaled value decides.

    >>> band(64.0, 0.64, 100, [(0.7, "good"), (0.4, "mixed"), (0.0, "poor")])
    'mixed'
    """
    reached, factor = (score, scale) if scale > 0 else (float(unit), 1.0)
    slack = 1 - 1e-9  # 0.4 × 3 is a little more than 1.2
    return next(word for bound, word in bands if reached >= bound * factor * slack)


def exact_mean(numbers: Sequence[float]) -> Fraction:
    """Return the mean of numbers as they are written; they must not be empty.

    >>> exact_mean([0.1, 0.1, 0.1]) == exact(0.1), (0.1 + 0.1 + 0.1) / 3 == 0.1
    (True, False)
    """
    return weighted((number, 1) for number in numbers) / len(numbers)


def mean(numbers: Iterable[float]) -> float:
    """Return the mean, the same in any order; the numbers must not be empty."""
    values = list(numbers)
    return math.fsum(value / len(values) for value in values)


def plain(number: float | Fraction, *, scale: float = 1.0) -> str:
    """Return a number for a reason's arithmetic: six decimals, more where it is multiplied with a large scale.

    >>> plain(0.30000000000000004), plain(2.0), plain(2 / 3), plain(2 / 3, scale=1000)
    ('0.3', '2', '0.666667', '0.666666667')
    """
    decimals = 6 + max(0, math.ceil(math.log10(scale))) if scale > 0 else 6
    return f"{round(float(number), decimals):.15g}"


def shown(score: float) -> str:
    """Return a score for a reason: with two decimals, or in full where a scale with more of them clamps it.

    >>> shown(0.5), shown(0.125)
    ('0.50', '0.125')
    """
    two = f"{score:.2f}"
    return two if float(two) == score else repr(score)
