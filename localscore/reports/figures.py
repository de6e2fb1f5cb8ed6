"""What a report shows of all samples together: a run's results → plain numbers.

Everything here is a pure function of the results and of the metrics' parameters; nothing draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from localscore.errors import RunError
from localscore.manifests import metric_from
from localscore.metrics import ContextRelevance
from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run
from localscore.scoring.numbers import mean
from localscore.scoring.relevance import BANDS, WEIGHTS
from localscore.scoring.support import RECALL_BANDS
from localscore.statistics import Interval, mean_interval, with_judge_error
from localscore.verdicts import LEVELS, Level

BINS = 10
RANKS_SHOWN = 10
MISSING_SHOWN = 15

BAND_ORDER = tuple(dict.fromkeys(word for bands in (BANDS, RECALL_BANDS) for _, word in bands))
"""The words of all bands, best first."""


@dataclass(frozen=True)
class Bin:
    """Scores from `low` up to `high`, and how many there are; the last bin has its upper bound too."""

    low: float
    high: float
    n: int


@dataclass(frozen=True)
class MetricFigures:
    """One metric over all samples."""

    name: str
    scale: float
    interval: Interval | None
    """Of the mean of all scores that exist."""
    with_judge: Interval | None
    """The same with the judge's errors, where its probabilities are calibrated."""
    bands: dict[str, int]
    """Best first; judged scores only."""
    by_rule: dict[str, int]
    """Scores that a rule gave, or that there are none to give, by status."""
    failed: int
    expected: float | None
    """The mean of the expected values."""
    confidence: float | None
    bins: tuple[Bin, ...]

    @property
    def title(self) -> str:
        """The name as a heading."""
        return title(self.name)


@dataclass(frozen=True)
class Rank:
    """The contexts at one position, counted from 1; the last entry may take several together."""

    name: str
    levels: dict[Level, int]
    used: int
    quoted: int
    """Claims whose evidence is there."""

    @property
    def n(self) -> int:
        """How many contexts were judged here."""
        return sum(self.levels.values())


@dataclass(frozen=True)
class LevelUse:
    """The contexts of one level: how many the answers drew on, and how many they did not."""

    level: Level
    used: int
    unused: int


@dataclass(frozen=True)
class Missing:
    """A missing item and the samples that lack it."""

    item: str
    samples: int


@dataclass(frozen=True)
class Waterfall:
    """What the mean of context relevance is made of, over the judged samples, times scale.

    base − unused − missing + kept = mean.
    """

    n: int
    base: float
    """The mean weight of the levels."""
    unused: float
    missing: float
    kept: float
    """What the penalties could not take, because no score is below 0."""
    mean: float


@dataclass(frozen=True)
class Failure:
    """Scores that could not be had for one cause."""

    metric: str
    code: str
    message: str
    """Of the first of them."""
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """What a report shows of all samples together."""

    metrics: tuple[MetricFigures, ...]
    ranks: tuple[Rank, ...]
    uses: tuple[LevelUse, ...]
    missing: tuple[Missing, ...]
    missing_in_all: int
    """Different missing items, those not shown included."""
    waterfall: Waterfall | None
    supported: int
    """Claims that the contexts support, of `claims`."""
    claims: int
    failures: tuple[Failure, ...]


def figures(run: Run) -> Figures:
    """Return what a report shows of all samples together."""
    results, told = run.results, {metric["name"]: metric for metric in run.manifest.metrics}
    names = list(dict.fromkeys(name for result in results for name in result.scores))
    missing = _missing(results)
    claims = [claim for result in results for claim in result.claims]
    calibrated = bool(run.manifest.judge.get("calibration"))
    return Figures(
        metrics=tuple(_metric(name, results, scale_of(told, name), calibrated) for name in names),
        ranks=_ranks(results),
        uses=_uses(results),
        missing=missing[:MISSING_SHOWN],
        missing_in_all=len(missing),
        waterfall=_waterfall(results, told.get("context_relevance", {})),
        supported=sum(claim.supported for claim in claims),
        claims=len(claims),
        failures=_failures(results),
    )


def title(name: str) -> str:
    """Return a name of the files as people write it.

    >>> title("context_relevance")
    'Context relevance'
    """
    return name.replace("_", " ").capitalize()


def scale_of(told: dict[str, dict[str, Any]], name: str) -> float:
    """Return the highest score of a metric, as the manifest has it."""
    return float(told.get(name, {}).get("scale", 1.0))


def histogram(numbers: Sequence[float], scale: float) -> tuple[Bin, ...]:
    """Return ten bins of equal width from 0 to `scale`, and how many numbers are in each.

    >>> [one.n for one in histogram([0.0, 0.3, 0.95, 1.0], 1.0)]
    [1, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    """
    # Scores have two decimals; the small step keeps 0.3 out of the bin below it.
    places = Counter(min(int(x / scale * BINS + 1e-9), BINS - 1) if scale else 0 for x in numbers)
    return tuple(Bin(i * scale / BINS, (i + 1) * scale / BINS, places[i]) for i in range(BINS))


def _metric(name: str, results: Iterable[SampleResult], scale: float, calibrated: bool) -> MetricFigures:
    scores = [result.scores[name] for result in results if name in result.scores]
    numbers = [score.score for score in scores if score.score is not None]
    expected = [s.score if s.expected is None else s.expected for s in scores if s.score is not None]
    bands = Counter(score.band for score in scores if score.band is not None)
    order = {word: place for place, word in enumerate(BAND_ORDER)}
    others = Counter(score.status for score in scores if score.status not in ("scored", "failed"))
    return MetricFigures(
        name=name,
        scale=scale,
        interval=mean_interval(numbers),
        with_judge=with_judge_error(numbers, expected) if calibrated else None,
        bands={band: bands[band] for band in sorted(bands, key=lambda word: order.get(word, len(order)))},
        by_rule=dict(sorted(others.items())),
        failed=sum(score.status == "failed" for score in scores),
        expected=_mean_of(scores, "expected"),
        confidence=_mean_of(scores, "confidence"),
        bins=histogram(numbers, scale),
    )


def _mean_of(scores: Iterable[ScoreResult], field: str) -> float | None:
    known = [value for score in scores if (value := getattr(score, field)) is not None]
    return mean(known) if known else None


def _ranks(results: Iterable[SampleResult]) -> tuple[Rank, ...]:
    levels: dict[int, Counter[Level]] = {}
    used: Counter[int] = Counter()
    quoted: Counter[int] = Counter()
    for result in results:
        for context in result.contexts:
            place = min(context.index, RANKS_SHOWN)
            levels.setdefault(place, Counter())[context.level] += 1
            used[place] += context.used
        quoted.update(min(c.evidence.context, RANKS_SHOWN) for c in result.claims if c.evidence is not None)
    return tuple(
        Rank(
            name=str(place + 1) if place < RANKS_SHOWN else f"from {place + 1} on",
            levels={level: levels[place][level] for level in LEVELS},
            used=used[place],
            quoted=quoted[place],
        )
        for place in sorted(levels)
    )


def _uses(results: Iterable[SampleResult]) -> tuple[LevelUse, ...]:
    counts = Counter((context.level, context.used) for result in results for context in result.contexts)
    uses = (LevelUse(level, counts[level, True], counts[level, False]) for level in LEVELS)
    return tuple(uses) if counts else ()


def _missing(results: Iterable[SampleResult]) -> tuple[Missing, ...]:
    """Return missing items, most frequent first; those that differ in case and spaces only are the same."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for result in results:
        for item in result.missing:
            spelled.setdefault(_folded(item), item)
        counts.update({_folded(item) for item in result.missing})
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Missing(spelled[key], count) for key, count in ordered)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _waterfall(results: Iterable[SampleResult], told: dict[str, Any]) -> Waterfall | None:
    try:
        metric = metric_from(told)
    except RunError:  # of another version of localscore, whose formula may be another one
        return None
    if not isinstance(metric, ContextRelevance):
        return None
    penalties, scale = metric.penalties, metric.scale
    parts: list[tuple[float, float, float, float]] = []
    for result in results:
        score = result.scores.get("context_relevance")
        if score is None or score.status != "scored" or not result.contexts:
            continue
        base = mean(WEIGHTS[context.level] for context in result.contexts)
        unused = sum(context.level == "high" and not context.used for context in result.contexts)
        off = unused * penalties.unused_high_relevance_context
        lacking = min(
            len(result.missing) * penalties.missing_context_per_item, penalties.max_missing_context_penalty
        )
        parts.append((base, off, lacking, max(0.0, off + lacking - base)))
    if not parts:
        return None
    base, off, lacking, kept = (mean(column) * scale for column in zip(*parts, strict=True))
    return Waterfall(len(parts), base, off, lacking, kept, base - off - lacking + kept)


def _failures(results: Iterable[SampleResult]) -> tuple[Failure, ...]:
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for result in results:
        for name, score in result.scores.items():
            if score.status == "failed":
                code = score.cause.code if score.cause is not None else "unknown"
                message = score.cause.message if score.cause is not None else score.reason
                found.setdefault((name, code), (message, []))[1].append(result.id)
    told = (Failure(name, code, message, tuple(ids)) for (name, code), (message, ids) in found.items())
    return tuple(sorted(told, key=lambda failure: -len(failure.samples)))
