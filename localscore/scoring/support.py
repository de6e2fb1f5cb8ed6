"""The share of claims that contexts support: context recall (of a ground truth) and faithfulness (of an answer)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from localscore.results import Quote, ScoreResult, Status
from localscore.scoring.numbers import (
    Bands,
    band,
    check_flags,
    checked,
    exact_mean,
    mean,
    plain,
    scaled,
    shown,
)
from localscore.texts import shorten

RECALL_BANDS: Bands = ((0.9, "excellent"), (0.7, "good"), (0.4, "fair"), (1e-9, "poor"), (0.0, "none"))


def context_recall(
    supported: Sequence[bool],
    *,
    scale: float = 1.0,
    claims: Sequence[str] | None = None,
    evidence: Sequence[Quote | None] | None = None,
    probabilities: Sequence[float] | None = None,
) -> ScoreResult:
    """Return how much of a trusted answer could be found in what was retrieved.

        score = supported claims / all claims × scale

    Args:
        supported: for each claim of the ground truth, whether the contexts support it.
        scale: the highest score.
        claims: the claims' texts, for the reason.
        evidence: per claim the quote that supports it, for the reason.
        probabilities: per claim the judge's probability that it is supported, for `expected`.

    Raises:
        OptionError: a scale that is not a finite number of 0 or more.
        VerdictCountMismatch: texts, evidence or probabilities that are not one per claim.

    >>> context_recall([True, True, False]).score
    0.67
    >>> context_recall([]).status
    'no_claims'
    """
    scale = checked("scale", scale)
    check_flags("supported", supported, claims=claims, evidence=evidence, probabilities=probabilities)
    if not supported:
        return _nothing("no_claims", "No claims were found in the ground truth; by rule the score is 0.")
    return _share(supported, scale, claims, evidence, probabilities)


def faithfulness(
    supported: Sequence[bool],
    *,
    scale: float = 1.0,
    claims: Sequence[str] | None = None,
    evidence: Sequence[Quote | None] | None = None,
    probabilities: Sequence[float] | None = None,
) -> ScoreResult:
    """Return the share of the answer's claims that the contexts support; see `context_recall`.

    An answer without claims, such as a refusal, cannot be scored.

    >>> faithfulness([True, False]).score, faithfulness([]).score
    (0.5, None)
    """
    scale = checked("scale", scale)
    check_flags("supported", supported, claims=claims, evidence=evidence, probabilities=probabilities)
    if not supported:
        reason = "No claims were found in the answer, so there is nothing to score."
        return ScoreResult(score=None, value=None, status="not_scorable", reason=reason)
    return _share(supported, scale, claims, evidence, probabilities)


def no_ground_truth() -> ScoreResult:
    """Return the recall of a sample whose ground truth is absent, empty or blank."""
    return _nothing("no_ground_truth", "There is no ground truth to compare with; by rule the score is 0.")


def nothing_retrieved() -> ScoreResult:
    """Return the recall of a sample without contexts."""
    return _nothing("no_context", "There are no contexts that could support a claim; by rule the score is 0.")


def _nothing(status: Status, reason: str) -> ScoreResult:
    return ScoreResult(score=0.0, value=0.0, status=status, reason=reason)


def _share(
    supported: Sequence[bool],
    scale: float,
    claims: Sequence[str] | None,
    evidence: Sequence[Quote | None] | None,
    probabilities: Sequence[float] | None,
) -> ScoreResult:
    unit = Fraction(sum(map(bool, supported)), len(supported))
    value, score = scaled(unit, scale)
    given_share = [p if yes else 1 - p for p, yes in zip(probabilities or (), supported, strict=False)]
    return ScoreResult(
        score=score,
        value=value,
        status="scored",
        band=band(score, unit, scale, RECALL_BANDS),
        reason=_reason(supported, claims, evidence, scale, score),
        expected=_expected(probabilities, scale) if probabilities is not None else None,
        confidence=round(mean(given_share), 4) if probabilities is not None else None,
    )


def _expected(probabilities: Sequence[float], scale: float) -> float:
    return round(scaled(exact_mean(probabilities), scale)[0], 4)


def _reason(
    supported: Sequence[bool],
    claims: Sequence[str] | None,
    evidence: Sequence[Quote | None] | None,
    scale: float,
    score: float,
) -> str:
    found: list[str] = []
    lacking: list[str] = []
    for i, yes in enumerate(supported):
        told = f"“{shorten(claims[i])}”" if claims is not None else f"claim {i + 1}"
        quote = evidence[i] if evidence is not None else None
        if yes and quote is not None:
            told += f" (context {quote.context + 1}: “{quote.quote}”)"  # in full: a quote is never altered
        (found if yes else lacking).append(told)
    count = f"{len(found)} of {len(supported)} claim{'s' * (len(supported) != 1)}"
    parts = [
        f"The contexts support {count}: {len(found)} / {len(supported)} × {plain(scale)} = {shown(score)}."
    ]
    if found:
        parts.append(f"Found: {'; '.join(found)}.")
    if lacking:
        parts.append(f"Lacking: {'; '.join(lacking)}.")
    return " ".join(parts)
