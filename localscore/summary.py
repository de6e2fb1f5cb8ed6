"""Many results → means and counts per metric."""

from __future__ import annotations

from array import array
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


class Tally:
    """Counts results as they come and keeps none of them: eight bytes a score.

    Args:
        noise: the distance of two probabilities up to which they are a near tie.
    """

    def __init__(self, noise: float = 0.0) -> None:
        self.results = 0
        self.near_ties = 0
        """Closed verdicts whose two most probable values are no farther apart than the noise."""
        self._noise = noise
        self._metrics: dict[str, _Counts] = {}

    def add(self, result: SampleResult) -> None:
        """Count one more result."""
        self.results += 1
        for name, score in result.scores.items():
            self._metrics.setdefault(name, _Counts()).add(score)
        for judgment in result.judgments:
            margin = judgment.margin
            self.near_ties += margin is not None and margin <= self._noise

    @property
    def summary(self) -> dict[str, MetricSummary]:
        """For each metric its mean and its counts.

        Scores of status `failed` and `not_scorable` have no number and do not count in the mean.
        """
        return {name: counts.summary for name, counts in self._metrics.items()}


class _Counts:
    def __init__(self) -> None:
        self._numbers = array("d")
        self._statuses: Counter[str] = Counter()
        self._bands: Counter[str] = Counter()

    def add(self, score: ScoreResult) -> None:
        if score.score is not None:
            self._numbers.append(score.score)
        self._statuses[score.status] += 1
        if score.band is not None:
            self._bands[score.band] += 1

    @property
    def summary(self) -> MetricSummary:
        return MetricSummary(
            mean=round(mean(self._numbers), 6) if self._numbers else None,
            scored=len(self._numbers),
            failed=self._statuses["failed"],
            statuses=dict(sorted(self._statuses.items())),
            bands=dict(sorted(self._bands.items())),
        )


def summarise(results: Iterable[SampleResult]) -> dict[str, MetricSummary]:
    """Return for each metric its mean and its counts."""
    tally = Tally()
    for result in results:
        tally.add(result)
    return tally.summary
