"""Context precision: are the relevant contexts ranked first?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from localscore.results import ScoreResult
from localscore.scoring.numbers import Bands, band, checked, plain, scaled, shown

BANDS: Bands = ((0.9, "excellent"), (0.7, "good"), (0.4, "fair"), (1e-9, "poor"), (0.0, "none"))


def context_precision(relevant: Sequence[bool], *, scale: float = 1.0) -> ScoreResult:
    """Return the average precision of contexts in the order given.

        score = mean over relevant positions k of (relevant among the first k) / k, × scale

    This is average precision over the relevant contexts that were retrieved (Buckley and Voorhees, 2000,
    without the relevant ones that were not). It is 0 when nothing is relevant.

    Raises:
        OptionError: a scale that is not a finite number of 0 or more.

    >>> context_precision([False, True, True]).score, context_precision([True, False, True]).score
    (0.58, 0.83)
    """
    scale = checked("scale", scale)
    if not relevant:
        reason = "There are no contexts to rank; by rule the score is 0."
        return ScoreResult(score=0.0, value=0.0, status="no_context", reason=reason)
    positions = [k for k, yes in enumerate(relevant, 1) if yes]
    precisions = [Fraction(found, k) for found, k in enumerate(positions, 1)]
    unit = sum(precisions, Fraction(0)) / len(precisions) if precisions else Fraction(0)
    value, score = scaled(unit, scale)
    if precisions:
        terms = " + ".join(f"{found}/{k}" for found, k in enumerate(positions, 1))
        at = ", ".join(map(str, positions))
        reason = (
            f"Relevant at position{'s' * (len(positions) != 1)} {at} of {len(relevant)}: "
            f"({terms}) / {len(positions)} × {plain(scale)} = {shown(score)}."
        )
    else:
        reason = f"None of {len(relevant)} contexts is relevant, so the score is 0."
    return ScoreResult(
        score=score, value=value, status="scored", band=band(score, unit, scale, BANDS), reason=reason
    )
