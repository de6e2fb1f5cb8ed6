"""Tables for a terminal: every sample's scores with their reasons, then the means."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from localscore.results import ScoreResult
from localscore.runs import Run
from localscore.summary import MetricSummary

_COLOURS = {"excellent": "green", "good": "green", "mixed": "yellow", "fair": "yellow"}


SAMPLES_SHOWN = 20
"""A run of more samples is told by its means; its results file holds the rest."""


def run_table(run: Run) -> RenderableType:
    """Return the table of a run: per sample and metric the score, the band and the reason, then means."""
    means = summary_table(run.summary)
    return Group(samples_table(run), means) if len(run.results) <= SAMPLES_SHOWN else means


def samples_table(run: Run) -> Table:
    """Return a row per sample and metric."""
    table = Table(title="Scores", title_justify="left", show_lines=True, expand=True)
    table.add_column("sample", overflow="fold", ratio=2, min_width=12)
    table.add_column("metric", no_wrap=True, min_width=17)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("band", no_wrap=True, min_width=9)
    table.add_column("reason", overflow="fold", ratio=8)
    for result in run.results:
        for first, (name, score) in enumerate(result.scores.items()):
            sample = Text(result.id) if first == 0 else Text()
            table.add_row(sample, Text(name), number(score.score), _band(score), Text(score.reason))
    return table


def summary_table(summary: dict[str, MetricSummary]) -> Table:
    """Return a row per metric: the mean, and how many samples it rests on."""
    table = Table(title="Means", title_justify="left")
    for name in ("metric", "mean", "scored", "failed", "statuses", "bands"):
        table.add_column(name, justify="right" if name in ("mean", "scored", "failed") else "left")
    for name, metric in summary.items():
        table.add_row(
            name,
            number(metric.mean),
            str(metric.scored),
            str(metric.failed),
            _counts(metric.statuses),
            _counts(metric.bands),
        )
    return table


def number(value: float | None) -> str:
    """Return a score with two decimals, or a dash where there is none.

    >>> number(0.6), number(None)
    ('0.60', '–')
    """
    return "–" if value is None else f"{value:.2f}"


def _band(score: ScoreResult) -> Text:
    word = score.band or score.status.replace("_", " ")
    return Text(word, style="red" if score.status == "failed" else _COLOURS.get(word, ""))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()) or "–"
