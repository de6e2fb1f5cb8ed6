"""Tables for a terminal: what moved between two runs, and what moved it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from localscore.comparable import listed
from localscore.compare import Comparison, Difference, Moved

VERDICTS_SHOWN = 4
"""Verdicts told of one sample; the JSON holds all."""


def comparison_tables(comparison: Comparison, *, show: int = 10) -> RenderableType:
    """Return a table of the metrics, one of each column it is split by, and the samples that moved most."""
    title = f"{comparison.after} beside {comparison.before}, {comparison.samples.both} samples of both"
    parts: list[RenderableType] = [Text(title, style="bold"), *map(Text, _notes(comparison))]
    parts.append(_differences("metric", comparison.metrics))
    for column, slices in comparison.slices.items():
        for metric in comparison.metrics:
            rows = {value: differences[metric] for value, differences in slices.items()}
            parts.append(_differences(f"{metric} by {column}", rows))
    for name, told in comparison.metrics.items():
        if told.moved and show:
            parts.append(_moved(name, told.moved, show))
    return Group(*parts)


def _notes(comparison: Comparison) -> Iterator[str]:
    samples = comparison.samples
    if comparison.differences:
        yield f"Compared anyway, with {'; '.join(comparison.differences)}."
    for ids, run in ((samples.only_before, comparison.before), (samples.only_after, comparison.after)):
        if ids:
            yield f"Only in {run}: {len(ids)} sample{'s' * (len(ids) != 1)} ({listed(ids)})."
    if samples.repeated:
        yield f"Left out, because a run holds their id more than once: {listed(samples.repeated)}."
    for name, metric in comparison.metrics.items():
        if metric.unscored:
            where = ", ".join(f"{count} in {_RUNS[run]}" for run, count in metric.unscored.items())
            yield f"Left out of {name}, because they have no score: {where}."


_RUNS = {"before": "the first run", "after": "the second run", "both": "both runs"}


def _differences(title: str, rows: Mapping[str, Difference]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(title, overflow="fold", max_width=40)
    for name in ("n", "before", "after", "difference", "95 % interval", "p", "rose", "same", "fell"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, one in rows.items():
        counts = (str(count) for count in (one.wins, one.ties, one.losses))
        cells = (_number(one.before), _number(one.after), _signed(one.difference), _interval(one), _p(one.p))
        table.add_row(Text(name), str(one.n), *cells, *counts, style=_colour(one))
    return table


def _moved(metric: str, moved: tuple[Moved, ...], show: int) -> Table:
    shown = moved[:show]
    title = f"{metric}: the {len(shown)} of {len(moved)} samples that moved most"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("sample", overflow="fold", max_width=24)
    table.add_column("score", no_wrap=True)
    table.add_column("verdicts", overflow="fold")
    for one in shown:
        told = "\n".join(one.verdicts[:VERDICTS_SHOWN]) or "the same"
        if len(one.verdicts) > VERDICTS_SHOWN:
            told += f"\nand {len(one.verdicts) - VERDICTS_SHOWN} more"
        table.add_row(Text(one.id), f"{one.before:g} → {one.after:g}", Text(told))
    return table


def _colour(one: Difference) -> str:
    if one.low is None or one.high is None or one.low <= 0 <= one.high:
        return ""
    return "green" if one.low > 0 else "red"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    """Return a difference with its sign, or a dash where there is none.

    >>> _signed(0.05), _signed(-0.0001), _signed(None)
    ('+0.050', '0.000', '–')
    """
    if value is None:
        return "–"
    return f"{value:+.3f}" if abs(value) >= 0.0005 else "0.000"


def _interval(one: Difference) -> str:
    return "–" if one.low is None or one.high is None else f"{_signed(one.low)} to {_signed(one.high)}"


def _p(value: float | None) -> str:
    """Return a p-value, which is never 0.

    >>> _p(0.25), _p(0.0001), _p(None)
    ('0.250', '< 0.001', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
