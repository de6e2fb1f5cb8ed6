"""A run for a terminal: scores with their reasons, means, how the scores are spread, and the worst samples.

Ids and reasons quote texts under judgment, so they go through `visible`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from localscore.reports.histogram import histogram
from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run
from localscore.summary import MetricSummary
from localscore.texts import visible

_COLOURS = {"excellent": "green", "good": "green", "mixed": "yellow", "fair": "yellow"}

SAMPLES_SHOWN = 20
"""A run of more samples is told by its means and its worst; its results file holds the rest."""

WORST_SHOWN = 3

SIDE_BY_SIDE = 36
"""Columns that a histogram needs to stand beside another."""


def run_table(run: Run, width: int) -> RenderableType:
    """Return what a terminal of some columns shows of a run."""
    parts: list[RenderableType] = []
    if len(run.results) <= SAMPLES_SHOWN:
        parts += [_told(one) for one in _scores(run)]
    parts.append(summary_table(run.summary))
    if len(run.results) > 1:
        parts.append(histograms(run, width))
    if len(run.results) > WORST_SHOWN and (worst := worst_samples(run)):
        parts += [Text("Worst", style="bold"), *(_told(one, one_line=True) for one in worst)]
    return Group(*parts)


def summary_table(summary: dict[str, MetricSummary]) -> Table:
    """Return a row per metric: the mean, and how many samples it rests on."""
    table = Table(
        title="Means", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("metric", no_wrap=True, min_width=max(map(len, summary), default=0))
    for name in ("mean", "scored", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("statuses", "bands"):
        table.add_column(name)
    for name, metric in summary.items():
        table.add_row(
            Text(name),
            number(metric.mean),
            str(metric.scored),
            str(metric.failed),
            _counts(metric.statuses),
            _counts(metric.bands),
        )
    return table


def histograms(run: Run, width: int) -> RenderableType:
    """Return a histogram of every metric's scores, as many beside each other as there is room for."""
    scales = {told["name"]: float(told.get("scale", 1)) for told in run.manifest.metrics}
    a_row = max(1, min(len(scales), (width + 2) // (SIDE_BY_SIDE + 2)))
    each = (width + 2) // a_row - 2
    grid = Table.grid(padding=(0, 2, 0, 0))
    drawn = []
    for name, scale in scales.items():
        scores = [s.score for result in run.results if (s := result.scores.get(name)) and s.score is not None]
        drawn.append(Padding(histogram(name, scores, scale, min(each, 2 * SIDE_BY_SIDE)), (0, 0, 1, 0)))
    for first in range(0, len(drawn), a_row):
        grid.add_row(*drawn[first : first + a_row])
    return grid


class _Scored(NamedTuple):
    """A score with whose it is."""

    result: SampleResult
    metric: str
    score: ScoreResult


def worst_samples(run: Run) -> list[_Scored]:
    """Return the samples with the lowest judged scores, each with its lowest; scores of a rule do not count."""
    scales = {told["name"]: float(told.get("scale", 1)) or 1.0 for told in run.manifest.metrics}

    def share(one: _Scored) -> float:
        return (one.score.value or 0.0) / scales.get(one.metric, 1.0)

    lowest: dict[str, _Scored] = {}
    for one in sorted(_scores(run), key=share):
        if one.score.status == "scored":
            lowest.setdefault(one.result.id, one)
    return list(lowest.values())[:WORST_SHOWN]


def _scores(run: Run) -> Iterator[_Scored]:
    for result in run.results:
        for name, score in result.scores.items():
            yield _Scored(result, name, score)


def _told(one: _Scored, *, one_line: bool = False) -> RenderableType:
    """Tell a score: what it is, whose, and below that the reason; cut to a line, or in full."""
    word = one.score.band or one.score.status.replace("_", " ")
    style = "red" if one.score.status == "failed" else _COLOURS.get(word, "")
    head = Text.assemble(
        (f"{number(one.score.score):>5}", "bold"),
        "  ",
        visible(" ".join(one.result.id.split())),
        "  ",
        visible(one.metric),
        "  ",
        (word, style),
        no_wrap=True,
        overflow="ellipsis",
    )
    if one_line:
        reason = Text(visible(" ".join(one.score.reason.split())), no_wrap=True, overflow="ellipsis")
    else:
        reason = Text(visible(one.score.reason), overflow="fold")
    return Padding(Group(head, Padding(reason, (0, 0, 0, 7))), (0, 0, 1, 0))


def number(value: float | None) -> str:
    """Return a score with two decimals, or a dash where there is none.

    >>> number(0.6), number(None)
    ('0.60', '–')
    """
    return "–" if value is None else f"{value:.2f}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()) or "–"
