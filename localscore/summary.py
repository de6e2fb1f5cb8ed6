"""Many results → means and counts per metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from localscore.results import SampleResult, ScoreResult
from localscore.scoring.numbers import mean


class MetricSummary(BaseModel):
    """One metric over all samples of a run."""

    model_config = ConfigDict(frozen=True)

    mean: float | None
    """The mean of all scores that exist; none when there are none."""
    scored: int
    """Samples that have a score and count in the mean, whatever their status."""
    failed: int
    """Samples whose score could not be had."""
    statuses: dict[str, int]
    bands: dict[str, int]


def summarise(results: Iterable[SampleResult]) -> dict[str, MetricSummary]:
    """Return for each metric its mean and its counts.

    Scores of status `failed` and `not_scorable` have no number and do not count in the mean.
    """
    by_metric: dict[str, list[ScoreResult]] = {}
    for result in results:
        for name, score in result.scores.items():
            by_metric.setdefault(name, []).append(score)
    return {name: _summary(scores) for name, scores in by_metric.items()}


def _summary(scores: list[ScoreResult]) -> MetricSummary:
    numbers = [score.score for score in scores if score.score is not None]
    return MetricSummary(
        mean=round(mean(numbers), 6) if numbers else None,
        scored=len(numbers),
        failed=sum(score.status == "failed" for score in scores),
        statuses=dict(sorted(Counter(score.status for score in scores).items())),
        bands=dict(sorted(Counter(score.band for score in scores if score.band is not None).items())),
    )
