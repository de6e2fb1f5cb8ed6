"""Tables for a terminal: a run beside what another tool scored."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from localscore.foreign import Beside, ForeignComparison


def foreign_tables(comparison: ForeignComparison, *, show: int = 10) -> RenderableType:
    """Return a table of the metrics, and one of the samples that are furthest apart."""
    title = f"{comparison.run} beside {comparison.file}, paired by {comparison.paired_by}, on a scale of 1"
    parts: list[RenderableType] = [Text(title, style="bold")]
    if comparison.unpaired:
        parts.append(Text(f"In one of the two only, and left out: {comparison.unpaired}."))
    parts.append(_metrics(comparison))
    parts.extend(_apart(metric, show) for metric in comparison.metrics if show and metric.apart)
    return Group(*parts)


def _metrics(comparison: ForeignComparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("metric", "theirs"):
        table.add_column(name, overflow="fold")
    for name in ("n", "our mean", "their mean", "Pearson", "Spearman"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in comparison.metrics:
        numbers = _shown(one.our_mean, one.their_mean, one.pearson, one.spearman)
        table.add_row(one.metric, Text(one.theirs), str(one.n), *numbers)
    return table


def _apart(one: Beside, show: int) -> Table:
    title = f"{one.metric} beside {one.theirs}: furthest apart"
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("sample", overflow="fold")
    for name in ("ours", "theirs"):
        table.add_column(name, justify="right")
    for sample in one.apart[:show]:
        table.add_row(Text(sample.id), *_shown(sample.ours, sample.theirs))
    return table


def _shown(*numbers: float | None) -> Iterator[str]:
    yield from ("–" if number is None else f"{number:.2f}" for number in numbers)
