"""Context relevance: how relevant and useful was the context that the answer was built from?

The formula is that of Mastra's context relevance scorer: the mean weight of the contexts' levels, less a
penalty for each highly relevant context that the answer left unused and a capped one for missing items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import get_args

from localscore.errors import SchemaViolation, VerdictCountMismatch
from localscore.results import Probabilities, ScoreResult
from localscore.scoring.numbers import Bands, band, checked, exact, mean, plain, scaled, shown, weighted
from localscore.texts import shorten
from localscore.verdicts import LEVELS, Level

WEIGHTS: dict[Level, float] = {"high": 1.0, "medium": 0.7, "low": 0.3, "none": 0.0}

BANDS: Bands = ((0.9, "excellent"), (0.7, "good"), (0.4, "mixed"), (0.2, "poor"), (0.0, "very poor"))


@dataclass(frozen=True)
class Penalties:
    """What is taken off for unused highly relevant contexts and for missing ones.

    Raises:
        OptionError: a penalty is not a finite number of 0 or more.

    >>> Penalties(missing_context_per_item=0.1).max_missing_context_penalty
    0.5
    """

    unused_high_relevance_context: float = 0.1
    """For each context of level high that the answer did not use."""
    missing_context_per_item: float = 0.15
    """For each piece of information that the query needs and no context gives."""
    max_missing_context_penalty: float = 0.5
    """The most that missing items can cost together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, checked(field.name, getattr(self, field.name)))


def context_relevance(
    levels: Sequence[Level],
    used: Sequence[bool],
    missing: Sequence[str],
    *,
    penalties: Penalties | None = None,
    scale: float = 1.0,
    level_probabilities: Sequence[Probabilities] | None = None,
    used_probabilities: Sequence[Probabilities] | None = None,
) -> ScoreResult:
    """Return the context relevance of one sample from its verdicts.

        base    = Σ weight(level) / number of contexts
        score   = max(0, base − unused high × 0.1 − min(missing × 0.15, 0.5)) × scale

    Args:
        levels: one of high, medium, low, none for each context.
        used: for each context, whether the answer draws on it.
        missing: what the query needs and no context gives.
        penalties: the three numbers of the formula.
        scale: the highest score.
        level_probabilities: per context the judge's probability of each level, for `expected`.
        used_probabilities: per context the judge's probability of true and false, for `expected`.

    Raises:
        OptionError: a scale or penalty that is not a finite number of 0 or more.
        SchemaViolation: a level that is none of the four.
        VerdictCountMismatch: not one verdict of each kind per context.

    >>> result = context_relevance(["high", "high", "medium", "none", "high"], [True, True, *[False] * 3], [])
    >>> result.score, result.band
    (0.64, 'mixed')
    >>> context_relevance([], [], []).status
    'no_context'
    """
    scale = checked("scale", scale)
    penalties = penalties or Penalties()
    _check(levels, used, missing, level_probabilities, used_probabilities)
    if not levels:
        value, score = scaled(1.0, scale)
        reason = f"There are no contexts to judge; by rule the score is 1 × scale {plain(scale)}."
        return ScoreResult(score=score, value=value, status="no_context", reason=reason)

    base = weighted((WEIGHTS[level], 1) for level in levels) / len(levels)
    unused = [
        i for i, (level, use) in enumerate(zip(levels, used, strict=True)) if level == "high" and not use
    ]
    usage_penalty = len(unused) * exact(penalties.unused_high_relevance_context)
    missing_penalty = min(
        len(missing) * exact(penalties.missing_context_per_item), exact(penalties.max_missing_context_penalty)
    )
    unit = max(Fraction(0), base - usage_penalty - missing_penalty)
    value, score = scaled(unit, scale)

    expected = confidence = None
    if level_probabilities is not None and used_probabilities is not None:
        likely = _expected(level_probabilities, used_probabilities, penalties) - missing_penalty
        expected = round(scaled(likely, scale)[0], 4)
        given = [p.get(level, 0.0) for p, level in zip(level_probabilities, levels, strict=True)]
        given += [p.get(str(use).lower(), 0.0) for p, use in zip(used_probabilities, used, strict=True)]
        confidence = round(mean(given), 4)
    return ScoreResult(
        score=score,
        value=value,
        status="scored",
        band=band(score, unit, scale, BANDS),
        reason=_reason(levels, base, unused, missing, penalties, scale, score),
        expected=expected,
        confidence=confidence,
    )


def _expected(
    levels: Sequence[Probabilities], used: Sequence[Probabilities], penalties: Penalties
) -> Fraction:
    """Return the mean weight less the penalty for unused contexts, with probabilities in place of verdicts."""
    base = weighted(
        (p.get(level, 0.0), weight) for p in levels for level, weight in WEIGHTS.items() if weight
    )
    unused = weighted((p.get("high", 0.0), u.get("false", 0.0)) for p, u in zip(levels, used, strict=True))
    return base / len(levels) - unused * exact(penalties.unused_high_relevance_context)


def _check(
    levels: Sequence[Level],
    used: Sequence[bool],
    missing: Sequence[str],
    level_probabilities: Sequence[Probabilities] | None,
    used_probabilities: Sequence[Probabilities] | None,
) -> None:
    if isinstance(missing, str):
        raise SchemaViolation(f"missing is the text {missing!r}; expected a list of texts.")
    for level in levels:
        if level not in get_args(Level):
            raise SchemaViolation(f"level is {level!r}; expected one of {', '.join(LEVELS)}.")
    others = {"usage verdicts": used, "level probabilities": level_probabilities}
    others["usage probabilities"] = used_probabilities
    for name, given in others.items():
        if given is not None and len(given) != len(levels):
            raise VerdictCountMismatch(
                f"Got {len(given)} {name} for {len(levels)} contexts; expected one each."
            )


_SPELLED = {level: plain(weight) for level, weight in WEIGHTS.items()}


def _reason(
    levels: Sequence[Level],
    base: Fraction,
    unused: Sequence[int],
    missing: Sequence[str],
    penalties: Penalties,
    scale: float,
    score: float,
) -> str:
    """Write the arithmetic in full; a reader can do the sum again from its numbers."""
    weights = " + ".join(_SPELLED[level] for level in levels)
    mean_weight = plain(base, scale=scale)
    unused_rate = penalties.unused_high_relevance_context
    per_item, cap = penalties.missing_context_per_item, penalties.max_missing_context_penalty
    off_unused, off_missing = len(unused) * unused_rate, min(len(missing) * per_item, cap)

    counts = Counter(levels)
    told = ", ".join(f"{counts[level]} {level}" for level in LEVELS if counts[level])
    parts = [
        f"Levels of {len(levels)} context{'s' * (len(levels) != 1)}: {told}; "
        f"base ({weights}) / {len(levels)} = {mean_weight}."
    ]
    if unused:
        numbers = ", ".join(str(i + 1) for i in unused)
        parts.append(
            f"Highly relevant but unused: context {numbers}; "
            f"{len(unused)} × {plain(unused_rate)} = {plain(off_unused)} off."
        )
    if missing:
        items = "; ".join(shorten(item) for item in missing)
        parts.append(
            f"Missing: {items}; min({len(missing)} × {plain(per_item)}, {plain(cap)}) = {plain(off_missing)} off."
        )
    parts.append(
        f"Score: max(0, {mean_weight} − {plain(off_unused)} − {plain(off_missing)}) "
        f"× {plain(scale)} = {shown(score)}."
    )
    return " ".join(parts)
