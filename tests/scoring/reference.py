"""The formulas of spec.md once more, unscaled and in exact fractions, as one does them on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

WEIGHTS = {
    "high": Fraction("1.0"),
    "medium": Fraction("0.7"),
    "low": Fraction("0.3"),
    "none": Fraction("0.0"),
}


def relevance(
    levels: Sequence[str], used: Sequence[bool], missing: int, penalties: tuple[Fraction, Fraction, Fraction]
) -> Fraction:
    per_unused, per_item, most = penalties
    base = sum(WEIGHTS[level] for level in levels) / Fraction(len(levels))
    unused = sum(level == "high" and not use for level, use in zip(levels, used, strict=True))
    usage_penalty = unused * per_unused
    missing_penalty = min(missing * per_item, most)
    return max(Fraction(0), base - usage_penalty - missing_penalty)


def share(supported: Sequence[bool]) -> Fraction:
    return Fraction(supported.count(True), len(supported))


def average_precision(relevant: Sequence[bool]) -> Fraction:
    precisions = [Fraction(sum(relevant[:k]), k) for k in range(1, len(relevant) + 1) if relevant[k - 1]]
    return sum(precisions) / Fraction(len(precisions)) if precisions else Fraction(0)


def half_up(x: Fraction) -> float:
    return math.floor(x * 100 + Fraction(1, 2)) / 100


def half_up_in_floats(x: float) -> float:
    return math.floor((x + 2**-52) * 100 + 0.5) / 100
