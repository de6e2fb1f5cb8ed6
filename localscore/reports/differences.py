"""A run beside an earlier one: per metric the differences of the samples that both have scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localscore.reports.figures import scale_of, title
from localscore.reports.intervals import Interval, mean_interval
from localscore.results import SampleResult
from localscore.runs import Manifest, Run


@dataclass(frozen=True)
class Difference:
    """One metric of a run less that of its baseline, sample by sample."""

    metric: str
    scale: float
    before: float
    """The baseline's mean over the samples that both have scored."""
    after: float
    interval: Interval
    """Of the mean difference, by the paired bootstrap."""
    by_sample: Mapping[str, float]
    """Per sample id the difference of the scores; above 0 where this run is better."""

    @property
    def title(self) -> str:
        """The metric's name as a heading."""
        return title(self.metric)

    @property
    def better(self) -> int:
        """Samples whose score rose."""
        return sum(value > 0 for value in self.by_sample.values())

    @property
    def worse(self) -> int:
        """Samples whose score fell."""
        return sum(value < 0 for value in self.by_sample.values())

    @property
    def finding(self) -> str:
        """What the interval says, in a word."""
        low, high = self.interval.low, self.interval.high
        if not any(self.by_sample.values()):
            return "equal in every sample"
        if low is None or high is None:
            return "too few samples to tell"
        return "higher" if low > 0 else "lower" if high < 0 else "no clear difference"


@dataclass(frozen=True)
class Comparison:
    """A run beside its baseline."""

    baseline: str
    """The name of its folder, or of its judge."""
    metrics: tuple[Difference, ...]
    other_terms: tuple[str, ...]
    """In what the two were judged differently; nothing where only the samples may differ."""
    unpaired: int
    """Samples of this run that the baseline does not have, or has with another query."""


def compared(run: Run, baseline: Run) -> Comparison:
    """Return the differences between two runs, by the ids of samples that ask the same query.

    A metric whose scale differs between the two is left out.
    """
    before = {result.id: result for result in baseline.results}
    pairs = [
        (earlier, result)
        for result in run.results
        if (earlier := before.get(result.id)) is not None and earlier.sample.query == result.sample.query
    ]
    names = dict.fromkeys(name for _, result in pairs for name in result.scores)
    ours, theirs = _parameters(run.manifest), _parameters(baseline.manifest)
    same = [name for name in names if scale_of(ours, name) == scale_of(theirs, name)]
    found = (_difference(name, pairs, scale_of(ours, name)) for name in same)
    return Comparison(
        baseline=baseline.folder.resolve().name
        if baseline.folder
        else str(baseline.manifest.judge.get("name", "")),
        metrics=tuple(difference for difference in found if difference is not None),
        other_terms=_other_terms(run.manifest, baseline.manifest),
        unpaired=len(run.results) - len(pairs),
    )


def _difference(name: str, pairs: list[tuple[SampleResult, SampleResult]], scale: float) -> Difference | None:
    scores: dict[str, tuple[float, float]] = {}
    for earlier, result in pairs:
        old, new = earlier.scores.get(name), result.scores.get(name)
        if old is not None and new is not None and old.score is not None and new.score is not None:
            scores[result.id] = old.score, new.score
    by_sample = {key: round(new - old, 10) for key, (old, new) in scores.items()}
    interval = mean_interval(by_sample.values())
    if interval is None:
        return None
    before = sum(old for old, _ in scores.values()) / len(scores)
    after = sum(new for _, new in scores.values()) / len(scores)
    return Difference(name, scale, before, after, interval, by_sample)


def _other_terms(ours: Manifest, theirs: Manifest) -> tuple[str, ...]:
    terms = {
        "the judge": ours.judge.get("fingerprint") != theirs.judge.get("fingerprint"),
        "the prompts": ours.prompts != theirs.prompts,
        "the metrics' options": ours.metrics != theirs.metrics,
    }
    return tuple(name for name, differs in terms.items() if differs)


def _parameters(manifest: Manifest) -> dict[str, dict[str, object]]:
    return {metric["name"]: metric for metric in manifest.metrics}
