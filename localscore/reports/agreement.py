"""Tables for a terminal: how well a judge agrees with people, beside word overlap and other judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from localscore.agreement import Agreement, Estimate, KindAgreement
from localscore.agreement.report import JUDGE, OVERLAP, Bin, Row, Slice
from localscore.calibration import Calibration
from localscore.labelled import Kind

_YES_OR_NO = {"balanced_accuracy": "bal. acc.", "f1": "F1", "auroc": "AUROC", "kappa": "κ"}

TABLES: dict[Kind, dict[str, dict[str, str]]] = {
    "relevance": {
        "four levels": {
            "quadratic_kappa": "quad. κ",
            "kappa": "κ",
            "accuracy": "accuracy",
            "spearman": "Spearman",
        },
        "at least medium": {
            "balanced_accuracy": "bal. acc.",
            "auroc": "AUROC",
            "binary_kappa": "κ",
            "binary_accuracy": "accuracy",
        },
    },
    "attribution": {"supported": _YES_OR_NO},
    "usage": {"used": _YES_OR_NO},
    "sufficiency": {"sufficient": _YES_OR_NO},
    "claims": {"matched with those of people": {"f1": "F1", "precision": "precision", "recall": "recall"}},
}
"""For each kind its tables, by what they are about: measures, and how they are headed."""

HEADS = {
    name: head for tables in TABLES.values() for heads in tables.values() for name, head in heads.items()
}


def agreement_tables(agreement: Agreement) -> RenderableType:
    """Return for each kind of question its tables and what they come to; 100 columns are enough."""
    name = agreement.judge.get("name", "the judge")
    return Group(*(Padding(_kind(kind, told, name), (1, 0, 0, 0)) for kind, told in agreement.kinds.items()))


def calibration_tables(before: Agreement, after: Agreement) -> RenderableType:
    """Return for each kind of question what a calibration changes."""
    parts: list[RenderableType] = []
    for kind, told in after.kinds.items():
        heads = {name: head for heads in TABLES[kind].values() for name, head in heads.items()}
        table = Table(title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.title = f"{kind} · {told.all.n} records of {told.all.clusters} queries"
        for column in ("", *heads.values(), "ECE"):
            table.add_column(column, no_wrap=True)
        was = before.kinds[kind].all
        for name, row, ece in (
            ("before", was.row(JUDGE), number(was.ece)),
            ("after", told.all.row(JUDGE), number(told.all.ece)),
            (OVERLAP, told.all.row(OVERLAP), ""),
        ):
            table.add_row(name, *(interval(row.measures[measure]) for measure in heads), ece)
        taken = after.calibration.get(kind)
        parts += [table, Text(_features(taken)) if taken is not None else Text("Too few records to fit to.")]
    return Group(*(Padding(part, (0, 0, 0, 0)) for part in parts))


def _features(calibration: Calibration) -> str:
    """Say what a calibration rests on."""
    taken = {
        "the judge's probabilities": any(calibration.judge),
        "how much of the information the contexts take away": calibration.explained or calibration.saved,
        "word overlap": calibration.overlap,
    }
    return (
        f"Made of {', '.join(name for name, there in taken.items() if there)}; {calibration.records} records."
    )


def _kind(kind: Kind, told: KindAgreement, judge: str) -> RenderableType:
    every = told.all
    speed = f", {told.samples_per_minute:g} a minute" if told.samples_per_minute is not None else ""
    parts: list[RenderableType] = [
        Text(f"{kind} · {every.n} records of {every.clusters} queries{speed}", style="bold")
    ]
    if told.failed:
        causes = ", ".join(f"{count} {cause.replace('_', ' ')}" for cause, count in told.failed.items())
        parts.append(Text(f"No verdict could be had on {sum(told.failed.values())} more: {causes}."))
    for number, (title, heads) in enumerate(TABLES[kind].items()):
        parts.append(_contestants(every, title, heads, judge, ahead=number == 0))
    if len(told.slices) > 3:  # all, one set and one language are the same records
        parts.append(_slices(told.slices))
    parts += _details(kind, told)
    return Group(*parts, Text(told.finding, style="bold"))


def _contestants(every: Slice, title: str, heads: dict[str, str], judge: str, *, ahead: bool) -> Table:
    """Return a row per contestant; other judges best first."""
    table = _table(title, [*heads.values(), *(["judge ahead by"] if ahead else [])])
    first, others = every.rows[:2], sorted(every.rows[2:], key=lambda row: _rank(row, every), reverse=True)
    for row in (*first, *others):
        name = judge if row.name == JUDGE else row.name
        cells = [interval(row.measures[measure]) for measure in heads]
        if ahead:
            cells.append(interval(row.ahead) if row.ahead is not None else "")
        table.add_row(Text(name, style="bold" if row.name == JUDGE else ""), str(row.n), *cells)
    return table


def _rank(row: Row, every: Slice) -> float:
    value = row.measures[every.headline].value
    return value if value is not None else float("-inf")


def _slices(slices: Sequence[Slice]) -> Table:
    """Return a row per set and language: the judge beside word overlap."""
    table = _table("by set and language", ["measure", "judge", OVERLAP, "judge ahead by", "ECE"])
    for part in slices[1:]:
        judge, overlap = part.row(JUDGE), part.row(OVERLAP)
        table.add_row(
            Text(part.name),
            str(part.n),
            HEADS.get(part.headline, part.headline),
            *(interval(row.measures[part.headline]) for row in (judge, overlap)),
            interval(overlap.ahead) if overlap.ahead is not None else "",
            number(part.ece),
            end_section=part is [s for s in slices if s.by == "set"][-1],
        )
    return table


def _details(kind: Kind, told: KindAgreement) -> Iterator[RenderableType]:
    judge = told.all.row(JUDGE)
    if kind == "relevance":
        yield _confusion(judge)
    if "missing_named" in judge.measures and judge.measures["missing_named"].n:
        named = judge.measures["missing_named"]
        yield Text(f"Of {named.n} gold missing items the judge names {interval(named)}.")
    if told.reliability:
        yield _reliability("how often the verdict is right", told.reliability)
        yield Text(f"ECE {number(told.all.ece)} of the verdict, {number(told.all.ece_yes)} of a yes.")


def _confusion(judge: Row) -> Table:
    """Return people's levels down, the judge's across, and how often each was given."""
    table = Table(title="people ↓ judge →", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    levels = list(judge.confusion)
    for level in [*levels, "all"]:
        table.add_column(level, justify="right")
    for level, given in judge.confusion.items():
        table.add_row(level, *map(str, given.values()), str(sum(given.values())))
    sums = [sum(given[level] for given in judge.confusion.values()) for level in levels]
    table.add_row("all", *map(str, sums), str(sum(sums)))
    return table


def _reliability(title: str, bins: Sequence[Bin]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("probability")
    for one in bins:
        table.add_column(number(one.probability), justify="right")
    table.add_row("right", *(number(one.right) for one in bins))
    table.add_row("records", *(str(one.n) for one in bins))
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold", max_width=30)
    table.add_column("n", justify="right", no_wrap=True)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def interval(estimate: Estimate) -> str:
    """Return a measure and its 95 % interval, or a dash where it is not defined.

    >>> interval(Estimate(value=0.451, low=-0.02, high=1.0, n=9)), interval(Estimate(value=None, n=0))
    ('0.45 -.02–1.00', '–')
    """
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} {_short(estimate.low)}–{_short(estimate.high)}"


def number(value: float | None) -> str:
    """Return a number with two decimals, or a dash where there is none.

    >>> number(0.6), number(-0.001), number(None)
    ('0.60', '0.00', '–')
    """
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def _short(value: float) -> str:
    return number(value).replace("0.", ".", 1)
