"""Context precision: are the relevant contexts ranked first?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from localscore.results import ScoreResult
from localscore.scoring.numbers import Bands, band, check_flags, checked, mean, plain, scaled, shown

BANDS: Bands = ((0.9, "excellent"), (0.7, "good"), (0.4, "fair"), (1e-9, "poor"), (0.0, "none"))


def context_precision(
    relevant: Sequence[bool], *, scale: float = 1.0, probabilities: Sequence[float] | None = None
) -> ScoreResult:
    """Return the average precision of contexts in the order given.

        score = mean over relevant positions k of (relevant among the first k) / k, × scale

    This is average precision over the relevant contexts that were retrieved (Buckley and Voorhees, 2000,
    without the relevant ones that were not). It is 0 when nothing is relevant.

    Args:
        relevant: for each context in its rank, whether it matters.
        scale: the highest score.
        probabilities: per context the judge's probability that it matters, for `expected`.

    Raises:
        OptionError: a scale that is not a finite number of 0 or more.
        SchemaViolation: a text in place of true or false.
        VerdictCountMismatch: probabilities that are not one per context.

    >>> context_precision([False, True, True]).score, context_precision([True, False, True]).score
    (0.58, 0.83)
    """
    scale = checked("scale", scale)
    check_flags("relevant", relevant, probabilities=probabilities)
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
    given = [p if yes else 1 - p for p, yes in zip(probabilities or (), relevant, strict=False)]
    return ScoreResult(
        score=score,
        value=value,
        status="scored",
        band=band(score, unit, scale, BANDS),
        reason=reason,
        expected=round(_expected(probabilities) * scale, 4) if probabilities is not None else None,
        confidence=round(mean(given), 4) if probabilities is not None else None,
    )


def nothing_to_compare() -> ScoreResult:
    """Return the precision of a sample with neither ground truth nor answer."""
    reason = "There is neither a ground truth nor an answer that contexts could be of use for."
    return ScoreResult(score=None, value=None, status="not_scorable", reason=reason)


def _expected(probabilities: Sequence[float]) -> float:
    """Return the mean of average precision where each context matters with its probability, by itself.

    Of R contexts that matter, ranks j ≤ k that both do add 1 / (k R), and the mean of 1 / (m + R) is the integral of
    t^(m − 1) Π (1 − p + p t) from 0 to 1, which two-point Gauss rules on small steps give to more digits than are kept.
    """
    steps = 64 + 8 * len(probabilities)
    places = [(step + side) / steps for step in range(steps) for side in _GAUSS]
    return math.fsum(_integrand(probabilities, t) for t in places) / len(places)


_GAUSS = (0.5 - 0.5 / math.sqrt(3), 0.5 + 0.5 / math.sqrt(3))


def _integrand(probabilities: Sequence[float], t: float) -> float:
    factors = [1 - p + p * t for p in probabilities]
    found = before = 0.0
    for k, (p, factor) in enumerate(zip(probabilities, factors, strict=True), 1):
        found += p / factor * (1 + t * before) / k
        before += p / factor
    return found * math.prod(factors)
