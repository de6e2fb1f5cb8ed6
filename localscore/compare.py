"""Two runs → what moved, sample by sample, and whether it is more than chance.

Runs are paired by the samples' ids. Each may have had other contexts and answers, as when two retrievers are tried
on the same questions; the questions, the ground truths, the judge, its prompts and the metrics' options have to be
the same, or else a difference would not tell which of them made it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from localscore.comparable import differing
from localscore.display import fragment
from localscore.errors import RunError
from localscore.manifests import Manifest
from localscore.movements import movements
from localscore.results import SampleResult
from localscore.runs import Run
from localscore.scoring.numbers import exact, exact_mean


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Moved(_Frozen):
    """One sample whose score is not what it was, and the verdicts that differ."""

    id: str
    before: float
    after: float
    verdicts: tuple[str, ...]

    @property
    def difference(self) -> float:
        """After less before, exact to the decimals that scores have."""
        return float(exact(self.after) - exact(self.before))


class Difference(_Frozen):
    """One metric over the samples that have a score in both runs; `after` less `before`."""

    n: int
    before: float | None
    """The first run's mean over these samples; none where there are none, as in what follows."""
    after: float | None
    difference: float | None
    low: float | None
    """The 95 % bootstrap interval of the mean difference; none for fewer than two samples."""
    high: float | None
    p: float | None
    """Of a two-sided paired permutation test."""
    wins: int
    """Samples whose score rose."""
    ties: int
    losses: int
    unscored: dict[str, int]
    """Samples of both runs that are left out because a run has no score for them: `before`, `after`, `both`."""


class MetricComparison(Difference):
    """One metric over all samples, and what moved."""

    moved: tuple[Moved, ...]
    """Samples whose score moved, those that moved most first."""


class Pairing(_Frozen):
    """Which samples the comparison is of."""

    both: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    repeated: tuple[str, ...]
    """Ids that a run holds more than once; which line is meant cannot be known, so they are left out."""


class Comparison(_Frozen):
    """A run beside an earlier one, its baseline."""

    before: str
    """The baseline's folder."""
    after: str
    differences: tuple[str, ...]
    """What else differs between the runs, of what ought to be the same."""
    samples: Pairing
    metrics: dict[str, MetricComparison]
    slices: dict[str, dict[str, dict[str, Difference]]]
    """By metadata column and its values."""

    def _repr_html_(self) -> str:
        return fragment("comparison.html", comparison=self)


def compare(before: Run, after: Run, *, by: Sequence[str] = (), anyway: bool = False) -> Comparison:
    """Compare a run with an earlier one, sample by sample.

    Args:
        before: the baseline.
        after: the run that is compared with it.
        by: columns of the samples' metadata to split the comparison by, in the later run.
        anyway: compare runs whose judges, prompts, options or questions differ, and only say so.

    Raises:
        RunError: no sample or no metric is in both runs; a column that no sample has; or the runs differ in what
            ought to be the same, and `anyway` is not given.

    >>> import localscore as ls
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> script = {"claims": {"claims": ["Ann ran."]}, "evidence": {"sentence": 1}}
    >>> def answer(inquiry):
    ...     return script.get(inquiry.question) or {"supported": "Ann" in inquiry.texts["contexts"]}
    >>> def run(context):
    ...     rows = [{"id": "a", "query": "Who ran?", "contexts": [context], "ground_truth": "Ann ran."}]
    ...     return ls.score(rows, judge=ScriptedJudge(answer), metrics=[ls.ContextRecall()])
    >>> recall = compare(run("Bob swam."), run("Ann ran.")).metrics["context_recall"]
    >>> recall.difference, recall.moved[0].verdicts
    (1.0, ('claim “Ann ran.”: not supported → supported',))
    """
    pairs, samples = _paired(before.results, after.results)
    names = [name for name in _names(before.manifest) if name in _names(after.manifest)]
    differences = tuple(differing(before.manifest, after.manifest, pairs))
    named = [
        run.folder.as_posix() if run.folder is not None else word
        for run, word in ((before, "before"), (after, "after"))
    ]
    for found, what in ((pairs, "sample"), (names, "metric")):
        if not found:
            raise RunError(
                f"No {what} is in both {named[0]!r} and {named[1]!r}.",
                hint="Runs are paired by the samples' ids.",
            )
    if differences and not anyway:
        raise RunError(
            f"{named[0]!r} and {named[1]!r} cannot be compared: they have {'; '.join(differences)}.",
            hint="A difference would not tell which of these made it. Pass --anyway to see it.",
        )
    return Comparison(
        before=named[0],
        after=named[1],
        differences=differences,
        samples=samples,
        metrics={name: _metric(name, pairs) for name in names},
        slices={column: _sliced(column, names, pairs) for column in by},
    )


class _Pair(NamedTuple):
    before: SampleResult
    after: SampleResult

    def scores(self, metric: str) -> tuple[float | None, float | None]:
        results = (result.scores.get(metric) for result in self)
        one, other = (result.score if result is not None else None for result in results)
        return one, other


def _paired(before: Iterable[SampleResult], after: Iterable[SampleResult]) -> tuple[list[_Pair], Pairing]:
    one, twice = _by_id(before)
    other, twice_too = _by_id(after)
    repeated = dict.fromkeys([*twice, *twice_too])
    pairs = [_Pair(result, other[id]) for id, result in one.items() if id in other and id not in repeated]
    return pairs, Pairing(
        both=len(pairs),
        only_before=tuple(id for id in one if id not in other and id not in repeated),
        only_after=tuple(id for id in other if id not in one and id not in repeated),
        repeated=tuple(repeated),
    )


def _by_id(results: Iterable[SampleResult]) -> tuple[dict[str, SampleResult], list[str]]:
    found: dict[str, SampleResult] = {}
    repeated = []
    for result in results:
        if result.id in found:
            repeated.append(result.id)
        found[result.id] = result
    return found, repeated


def _names(manifest: Manifest) -> list[str]:
    return [told["name"] for told in manifest.metrics]


def _metric(name: str, pairs: Sequence[_Pair]) -> MetricComparison:
    moved = []
    for pair in pairs:
        one, other = pair.scores(name)
        if one is not None and other is not None and one != other:
            told = tuple(movements(name, pair.before, pair.after))
            moved.append(Moved(id=pair.before.id, before=one, after=other, verdicts=told))
    moved.sort(key=lambda sample: -abs(sample.difference))
    return MetricComparison(**dict(_difference(name, pairs)), moved=tuple(moved))


def _difference(name: str, pairs: Sequence[_Pair]) -> Difference:
    from localscore.statistics import mean_interval, sign_flip_p  # noqa: PLC0415  (numpy takes its time)

    scores = [pair.scores(name) for pair in pairs]
    both = [(one, other) for one, other in scores if one is not None and other is not None]
    if not both:
        nothing = dict.fromkeys(("before", "after", "difference", "low", "high", "p"))
        return Difference(n=0, **nothing, wins=0, ties=0, losses=0, unscored=_unscored(scores))
    one, other = (exact_mean(column) for column in zip(*both, strict=True))
    differences = [float(exact(b) - exact(a)) for a, b in both]
    interval = mean_interval(differences)
    ends = (interval.low, interval.high) if interval else (None, None)
    low, high = (None if end is None else round(end, 6) for end in ends)
    return Difference(
        n=len(both),
        before=round(float(one), 6),
        after=round(float(other), 6),
        difference=round(float(other - one), 6),
        low=low,
        high=high,
        p=sign_flip_p(differences),
        wins=sum(difference > 0 for difference in differences),
        ties=sum(difference == 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        unscored=_unscored(scores),
    )


def _unscored(scores: Iterable[tuple[float | None, float | None]]) -> dict[str, int]:
    where = {(True, False): "before", (False, True): "after", (True, True): "both"}
    counts = Counter(where.get((one is None, other is None)) for one, other in scores)
    return {word: counts[word] for word in where.values() if counts[word]}


def _sliced(column: str, names: Sequence[str], pairs: Sequence[_Pair]) -> dict[str, dict[str, Difference]]:
    """Return the differences for each value of a metadata column, in the order of the values."""
    groups: dict[str, list[_Pair]] = {}
    for pair in pairs:
        if column in pair.after.sample.metadata:
            groups.setdefault(_label(pair.after.sample.metadata[column]), []).append(pair)
    if not groups:
        columns = sorted({key for pair in pairs for key in pair.after.sample.metadata})
        raise RunError(
            f"No sample has a column {column!r}.", hint=f"Columns are {', '.join(columns) or 'none'}."
        )
    return {value: {name: _difference(name, groups[value]) for name in names} for value in sorted(groups)}


def _label(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
