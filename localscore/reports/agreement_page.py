"""How well a judge agrees with people, as a page that one can send: `agreement.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from localscore.agreement import Agreement
from localscore.agreement.report import JUDGE, OVERLAP, Slice
from localscore.reports.agreement import HEADS, TABLES
from localscore.reports.pages import page

PAGE = "agreement.html"


def agreement_page(agreement: Agreement) -> str:
    """Return an agreement as one HTML file that needs no network and has no script.

    >>> told = Agreement(judge={"name": "<b>"}, prompts="", source="judgments", started="2026-01-01")
    >>> "<strong>&lt;b&gt;</strong>" in agreement_page(told)
    True
    """
    name = str(agreement.judge.get("name", "the judge"))
    return page(
        "agreement.html",
        title=f"localscore agreement · {name}",
        agreement=agreement,
        name=name,
        tables=TABLES,
        heads=HEADS,
        judge_row=JUDGE,
        overlap_row=OVERLAP,
        slices={kind: _slices(told.slices) for kind, told in agreement.kinds.items()},
        histograms={kind: level_counts(told.all) for kind, told in agreement.kinds.items()},
        details=tuple(_flat(agreement.model_dump(mode="json", exclude={"kinds"}))),
    )


def level_counts(every: Slice) -> Mapping[str, tuple[int, int]]:
    """Return for each verdict how often people gave it and how often the judge did."""
    confusion = every.row(JUDGE).confusion
    return {
        level: (sum(given.values()), sum(other.get(level, 0) for other in confusion.values()))
        for level, given in confusion.items()
    }


def _slices(slices: tuple[Slice, ...]) -> tuple[Slice, ...]:
    """Return the parts that are worth a table: all, one set and one language are the same records."""
    return slices[1:] if len(slices) > 3 else ()


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Give the leaves of nested data with their paths.

    >>> list(_flat({"relevance": {"kappa": 0.4}, "on": ["a", "b"]}))
    [('relevance › kappa', '0.4'), ('on', 'a, b')]
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name} › {key}" if name else str(key).replace("_", " "))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if all(isinstance(inner, str | int | float) for inner in value):
            yield name, ", ".join(map(str, value))
        else:
            for number, inner in enumerate(value, 1):
                yield from _flat(inner, f"{name} › {number}" if name else str(number))
    elif value is not None:
        yield name, str(value)
