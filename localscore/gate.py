"""A run and thresholds → met, not met, or could not be checked.

Means are compared as exact fractions of the scores as they are written: a mean of 0.8 meets 0.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from localscore.compare import Comparison, compare
from localscore.errors import OptionError, RunError
from localscore.metrics import METRICS
from localscore.runs import Run
from localscore.scoring.numbers import checked, exact, exact_mean

Outcome = Literal["met", "not met", "not checked"]


@dataclass(frozen=True)
class Thresholds:
    """What a run has to reach.

    Raises:
        OptionError: a threshold that is not a finite number of 0 or more, or none at all.

    >>> Thresholds(min={"context_recall": 0.8}, max_failed=0).max_drop
    {}
    """

    min: Mapping[str, float] = field(default_factory=dict)
    """The least mean, by metric."""
    max_drop: Mapping[str, float] = field(default_factory=dict)
    """The most by which the mean may be lower than the baseline's over the samples of both, by metric."""
    max_failed: int | None = None
    """The most scores that could not be had, over all metrics."""
    significant: bool = False
    """Whether a drop counts only where its 95 % interval excludes 0."""

    def __post_init__(self) -> None:
        for option, numbers in (("min", self.min), ("max_drop", self.max_drop)):
            told = {name: checked(f"{option} of {name}", number) for name, number in numbers.items()}
            object.__setattr__(self, option, told)
        if self.max_failed is not None:
            checked("max_failed", self.max_failed)
        if not self.min and not self.max_drop and self.max_failed is None:
            raise OptionError(
                "There is nothing to check.",
                hint="Give --min METRIC=NUMBER, --max-drop METRIC=NUMBER or --max-failed NUMBER.",
            )


@dataclass(frozen=True)
class Check:
    """One threshold, and how the run stands to it."""

    name: str
    """What is checked: `min context_recall`."""
    wanted: str
    found: str
    """The number that was found, or why there is none."""
    outcome: Outcome


@dataclass(frozen=True)
class Verdict:
    """How a run stands to its thresholds."""

    run: str
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """`not met` where a threshold is not, else `not checked` where one could not be, else `met`."""
        outcomes = {check.outcome for check in self.checks}
        return "not met" if "not met" in outcomes else "not checked" if "not checked" in outcomes else "met"


def gate(
    run: Run, thresholds: Thresholds, *, baseline: Run | RunError | None = None, anyway: bool = False
) -> Verdict:
    """Check a run against thresholds.

    Args:
        run: the run.
        thresholds: what it has to reach.
        baseline: the run that `max_drop` compares with, or why it cannot be read.
        anyway: compare with a baseline of another judge, other prompts, options or questions.

    Raises:
        OptionError: a threshold of a metric that does not exist.

    >>> import localscore as ls
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> script = {"claims": {"claims": ["Ann ran."]}, "attribution": {"supported": True}, "evidence": {"sentence": 1}}
    >>> rows = [{"query": "Who ran?", "contexts": ["Ann ran."], "ground_truth": "Ann ran."}]
    >>> run = ls.score(rows, judge=ScriptedJudge(lambda i: script[i.question]), metrics=[ls.ContextRecall()])
    >>> gate(run, Thresholds(min={"context_recall": 1})).outcome
    'met'
    """
    known = dict.fromkeys([*METRICS, *_metrics(run)])
    for name in [*thresholds.min, *thresholds.max_drop]:
        if name not in known:
            raise OptionError(f"There is no metric {name!r}.", hint=f"Metrics are {', '.join(known)}.")
    checks = [*_finished("run", run)]
    checks += (_minimum(run, name, least) for name, least in thresholds.min.items())
    checks += _drops(run, thresholds, baseline, anyway=anyway)
    if thresholds.max_failed is not None:
        outcome: Outcome = "met" if run.failed <= thresholds.max_failed else "not met"
        checks.append(Check("failed scores", f"≤ {thresholds.max_failed}", str(run.failed), outcome))
    return Verdict(_named(run), tuple(checks))


def unreadable(run: str, error: RunError) -> Verdict:
    """Return the verdict on a run that cannot be read."""
    return Verdict(run, (Check("run", "can be read", str(error), "not checked"),))


def _named(run: Run) -> str:
    return run.folder.as_posix() if run.folder is not None else "run"


def _metrics(run: Run) -> list[str]:
    return [told["name"] for told in run.manifest.metrics]


def _finished(name: str, run: Run) -> Iterator[Check]:
    """Yield a check only where the run stopped half-way: its means would be those of some of its samples."""
    samples = run.manifest.dataset.get("samples", len(run.results))
    if run.manifest.finished is None or len(run.results) != samples:
        yield Check(name, "is finished", f"{len(run.results)} of {samples} samples", "not checked")


def _minimum(run: Run, name: str, least: float) -> Check:
    title, wanted = f"min {name}", f"≥ {least:g}"
    if name not in _metrics(run):
        return Check(title, wanted, f"the run was not scored by {name}", "not checked")
    numbers = [r.scores[name].score for r in run.results if name in r.scores]
    scores = [score for score in numbers if score is not None]
    if not scores:
        return Check(title, wanted, "no sample has a score, so there is no mean", "not checked")
    mean = exact_mean(scores)
    found = f"{_number(mean, least)} over {_samples(len(scores), len(run.results))}"
    return Check(title, wanted, found, "met" if mean >= exact(least) else "not met")


def _drops(
    run: Run, thresholds: Thresholds, baseline: Run | RunError | None, *, anyway: bool
) -> Iterable[Check]:
    most = thresholds.max_drop
    if not most:
        return []
    try:
        if baseline is None:
            raise RunError("there is no baseline; give --baseline RUN")
        if isinstance(baseline, RunError):
            raise baseline
        comparison = compare(baseline, run, anyway=anyway)
    except RunError as error:
        return [Check(f"max drop {n}", f"≤ {d:g}", error.message, "not checked") for n, d in most.items()]
    drops = (_drop(comparison, name, drop, significant=thresholds.significant) for name, drop in most.items())
    return [*_finished("baseline", baseline), *drops]


def _drop(comparison: Comparison, name: str, most: float, *, significant: bool) -> Check:
    title, wanted = f"max drop {name}", f"≤ {most:g}{', or not significant' if significant else ''}"
    metric = comparison.metrics.get(name)
    if metric is None:
        return Check(title, wanted, f"the two runs are not both scored by {name}", "not checked")
    if metric.n == 0:
        return Check(title, wanted, "no sample has a score in both runs", "not checked")
    moved = sum((exact(one.before) - exact(one.after) for one in metric.moved), Fraction(0))
    drop = moved / metric.n
    samples = comparison.samples
    every = samples.both + len(samples.only_before + samples.only_after + samples.repeated)
    told = f"{_number(drop, most)} over {_samples(metric.n, every)}"
    if metric.low is not None and metric.high is not None:
        told += f" [{-metric.high:.4f}, {-metric.low:.4f}]"
    if significant and metric.high is None:
        return Check(title, wanted, f"{told}, too few for an interval", "not checked")
    beyond_chance = not significant or (metric.high is not None and metric.high < 0)
    return Check(title, wanted, told, "not met" if drop > exact(most) and beyond_chance else "met")


def _number(value: Fraction, threshold: float) -> str:
    """Return a number with six digits, or as many more as tell it from the threshold.

    >>> _number(Fraction(4, 5), 0.8), _number(Fraction(2, 3), 0.5), _number(Fraction(79999999, 100000000), 0.8)
    ('0.8', '0.666667', '0.79999999')
    """
    spelled = [f"{float(value):.{digits}g}" for digits in range(6, 18)]
    same = value == exact(threshold)
    return next((told for told in spelled if same or exact(float(told)) != exact(threshold)), spelled[-1])


def _samples(some: int, every: int) -> str:
    """Return how many samples a number rests on.

    >>> _samples(3, 3), _samples(2, 3)
    ('3 samples', '2 of 3 samples')
    """
    return f"{some} samples" if some == every else f"{some} of {every} samples"
