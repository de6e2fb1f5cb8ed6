"""A run beside its baseline, as the page shows it: a view of what `localscore.compare` finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localscore.compare import MetricComparison, compare
from localscore.manifests import Manifest
from localscore.reports.figures import scale_of, title
from localscore.runs import Run
from localscore.statistics import Interval


@dataclass(frozen=True)
class Difference:
    """One metric of a run less that of its baseline, sample by sample."""

    metric: str
    scale: float
    before: float
    """The baseline's mean over the samples that both have scored."""
    after: float
    interval: Interval
    """Of the mean difference."""
    p: float | None
    """Of a paired permutation test."""
    better: int
    """Samples whose score rose."""
    same: int
    worse: int
    by_sample: Mapping[str, float]
    """The difference of every sample whose score moved; above 0 where this run is better."""

    @property
    def title(self) -> str:
        """The metric's name as a heading."""
        return title(self.metric)

    @property
    def finding(self) -> str:
        """What the interval says, in a word."""
        low, high = self.interval.low, self.interval.high
        if not self.better and not self.worse:
            return "equal in every sample"
        if low is None or high is None:
            return "too few samples to tell"
        return "higher" if low > 0 else "lower" if high < 0 else "no clear difference"


@dataclass(frozen=True)
class Differences:
    """A run beside its baseline."""

    baseline: str
    """The name of its folder, or of its judge."""
    metrics: tuple[Difference, ...]
    other_terms: tuple[str, ...]
    """In what the two differ of what ought to be the same."""
    unpaired: int
    """Samples of this run that the baseline does not have."""


def compared(run: Run, baseline: Run) -> Differences:
    """Return the differences between two runs; a metric whose scale differs between the two is left out.

    Raises:
        RunError: no sample or no metric is in both.
    """
    found = compare(baseline, run, anyway=True)
    ours, theirs = _parameters(run.manifest), _parameters(baseline.manifest)
    folder = baseline.folder.resolve().name if baseline.folder else ""
    return Differences(
        baseline=folder or str(baseline.manifest.judge.get("name", "")),
        metrics=tuple(
            _difference(name, one, scale_of(ours, name))
            for name, one in found.metrics.items()
            if one.n and scale_of(ours, name) == scale_of(theirs, name)
        ),
        other_terms=found.differences,
        unpaired=len(found.samples.only_after) + len(found.samples.repeated),
    )


def _difference(name: str, one: MetricComparison, scale: float) -> Difference:
    return Difference(
        metric=name,
        scale=scale,
        before=one.before or 0.0,
        after=one.after or 0.0,
        interval=Interval(one.difference or 0.0, one.low, one.high, one.n),
        p=one.p,
        better=one.wins,
        same=one.ties,
        worse=one.losses,
        by_sample={moved.id: moved.difference for moved in one.moved},
    )


def _parameters(manifest: Manifest) -> dict[str, dict[str, object]]:
    return {metric["name"]: metric for metric in manifest.metrics}
