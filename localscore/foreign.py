"""What another tool scored, beside a run: metric by metric, over the samples of both.

Both are on a scale of 1. Numbers of two tools may differ for many reasons (docs/from-ragas.md, docs/from-deepeval.md);
whether they put the samples into the same order is told by Spearman's correlation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from localscore import readers
from localscore.columns import ABSENT, Columns, look_up
from localscore.errors import DataError, OptionError, RunError
from localscore.messages import message_text
from localscore.results import SampleResult
from localscore.runs import Run

SAME: dict[str, tuple[str, ...]] = {
    "context_relevance": (
        "context_relevance",
        "contextual_relevancy",
        "nv_context_relevance",
        "context_relevancy",
    ),
    "context_recall": ("context_recall", "contextual_recall", "llm_context_recall"),
    "context_precision": (
        "context_precision",
        "contextual_precision",
        "llm_context_precision_with_reference",
        "llm_context_precision_without_reference",
    ),
    "faithfulness": ("faithfulness", "groundedness", "nv_response_groundedness"),
}
"""For each of our metrics what other tools call the nearest thing to it: ragas, DeepEval, Mastra, TruLens."""

_ENDINGS = re.compile(r"^feedback_|_scorer$|_metric$|_with_cot_reasons$")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Apart(_Frozen):
    """One sample, scored by both."""

    id: str
    ours: float
    theirs: float


class Beside(_Frozen):
    """One metric of ours beside one of theirs, over the samples that have a score by both."""

    metric: str
    theirs: str
    """What the other tool calls it."""
    n: int
    our_mean: float | None
    their_mean: float | None
    pearson: float | None
    """None where one of the two says the same of all samples."""
    spearman: float | None
    apart: tuple[Apart, ...]
    """All samples, those that are furthest apart first."""


class ForeignComparison(_Frozen):
    """A run beside a file of another tool."""

    run: str
    file: str
    paired_by: str
    """`id` or `order`."""
    unpaired: int
    """Samples and rows that are in one of the two only."""
    metrics: tuple[Beside, ...]


class _Theirs(NamedTuple):
    where: str
    id: str | None
    name: str
    query: object
    scores: dict[str, float]


def beside(run: Run, file: str | Path, *, mapping: Mapping[str, str] | None = None) -> ForeignComparison:
    """Put another tool's scores beside a run's.

    Rows are paired with samples by id where the file has ids of the run, else by their order.

    Args:
        run: the run.
        file: results of ragas, DeepEval, Mastra, LangSmith or TruLens, in any format that is read.
        mapping: `{their metric: our metric}`, beside what is recognised (see `SAME`).

    Raises:
        DataError: the file cannot be read.
        OptionError: a mapping to a metric that the run does not have.
        RunError: no metric of both, or rows that belong to other samples.
    """
    scales = {told["name"]: told["scale"] for told in run.manifest.metrics if told["scale"]}
    for theirs, wanted in (mapping or {}).items():
        if wanted not in scales:
            hint = f"It has {', '.join(scales)}; write --map their_metric=our_metric."
            raise OptionError(f"--map {theirs}={wanted}: the run has no metric {wanted!r}.", hint=hint)
    rows = list(_read(file, mapping or {}))
    pairs, by = _paired(run.results, rows, str(file))
    names = list(dict.fromkeys(name for row in rows for name in row.scores))
    ours_of = {name: _ours(name, mapping or {}) for name in names}
    metrics = [
        _beside(ours, name, scales[ours], pairs) for name, ours in ours_of.items() if ours and ours in scales
    ]
    if not metrics:
        has = f"It has {', '.join(names)}" if names else "It has no scores that are recognised"
        raise RunError(
            f"{str(file)!r} has no metric of this run, which has {', '.join(scales)}.",
            hint=f"{has}; name the metrics with --map their_metric=our_metric.",
        )
    folder = run.folder.as_posix() if run.folder is not None else "run"
    unpaired = len(run.results) + len(rows) - 2 * len(pairs)
    return ForeignComparison(
        run=folder, file=str(file), paired_by=by, unpaired=unpaired, metrics=tuple(metrics)
    )


def _read(file: str | Path, mapping: Mapping[str, str]) -> Iterator[_Theirs]:
    columns = Columns(besides=["contexts", "answer", "ground_truth"])
    for row in readers.rows(file):
        if isinstance(row, str):
            raise DataError(f"{file} cannot be read:", [row])
        columns.see(row.columns)
        id = look_up(row.columns, columns.names.get("id", "id"))
        query = message_text(look_up(row.columns, columns.names.get("query", "query")), "user")
        scores = dict(_scores(row.columns, mapping))
        yield _Theirs(row.where, None if id is ABSENT or id is None else str(id), row.name, query, scores)


def _scores(row: Mapping[str, Any], mapping: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    listed = row.get("metrics_data") or row.get("metricsData")  # DeepEval
    for told in listed if isinstance(listed, list) else ():
        if isinstance(told, Mapping) and (score := _number(told.get("score"))) is not None:
            yield str(told.get("name")), score
    ran = row.get("scorerResults")  # Mastra's runEvals
    for name, told in ran.items() if isinstance(ran, Mapping) else ():
        if isinstance(told, Mapping) and (score := _number(told.get("score"))) is not None:
            yield str(name), score
    scorer = row.get("scorerId")  # what Mastra stores
    if isinstance(scorer, str) and (score := _number(row.get("score"))) is not None:
        yield scorer, score
    for name, value in row.items():
        if _ours(name, mapping) and (score := _number(value)) is not None:
            yield name, score


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _ours(name: str, mapping: Mapping[str, str]) -> str | None:
    """Return which of our metrics a metric of theirs is the nearest to.

    >>> _ours("Contextual Recall", {}), _ours("context-relevance-scorer", {}), _ours("latency", {})
    ('context_recall', 'context_relevance', None)
    """
    if name in mapping:
        return mapping[name]
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    for _ in range(2):  # a beginning and an ending
        plain = _ENDINGS.sub("", plain)
    return next((ours for ours, theirs in SAME.items() if plain in theirs), None)


Pairs = list[tuple[SampleResult, _Theirs]]


def _paired(results: Sequence[SampleResult], rows: Sequence[_Theirs], file: str) -> tuple[Pairs, str]:
    known = {result.id: result for result in results}
    ids = [row.id for row in rows]
    if not any(id in known for id in ids) and {row.name for row in rows} == known.keys():
        ids = [row.name for row in rows]
    if any(id in known for id in ids):
        twice = next((id for id in ids if id in known and ids.count(id) > 1), None)
        if twice is not None:
            raise RunError(f"{file!r} has id {twice!r} more than once; which row is meant cannot be known.")
        pairs = [
            (known[id], row) for id, row in zip(ids, rows, strict=True) if id is not None and id in known
        ]
        by = "id"
    elif len(rows) == len(results):
        pairs, by = list(zip(results, rows, strict=True)), "order"
    else:
        raise RunError(
            f"{file!r} has {len(rows)} rows and the run {len(results)} samples, and no id is in both.",
            hint="Rows are paired by id, or by their order where there are as many.",
        )
    for result, row in pairs:
        if isinstance(row.query, str) and row.query != result.sample.query:
            asked = f"{row.query[:60]!r}, but sample {result.id!r} asks {result.sample.query[:60]!r}"
            raise RunError(f"{row.where} asks {asked}.", hint="These are not scores of the same samples.")
    return pairs, by


def _beside(metric: str, theirs: str, scale: float, pairs: Pairs) -> Beside:
    from localscore.statistics import pearson, spearman  # noqa: PLC0415  (numpy takes its time)

    both = [
        Apart(id=result.id, ours=score.score / scale, theirs=row.scores[theirs])
        for result, row in pairs
        if (score := result.scores.get(metric)) is not None
        and score.score is not None
        and theirs in row.scores
    ]
    ours, other = [one.ours for one in both], [one.theirs for one in both]
    return Beside(
        metric=metric,
        theirs=theirs,
        n=len(both),
        our_mean=_mean(ours),
        their_mean=_mean(other),
        pearson=pearson(ours, other),
        spearman=spearman(ours, other),
        apart=tuple(sorted(both, key=lambda one: -abs(one.ours - one.theirs))),
    )


def _mean(numbers: Iterable[float]) -> float | None:
    numbers = list(numbers)
    return round(math.fsum(numbers) / len(numbers), 6) if numbers else None
