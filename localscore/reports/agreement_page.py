"""How well a judge agrees with people, as a page that one can send: `agreement.html`."""

from __future__ import annotations

from collections.abc import Mapping

from localscore.agreement import Agreement
from localscore.agreement.report import JUDGE, OVERLAP, Slice
from localscore.reports.agreement import HEADS, TABLES
from localscore.reports.pages import page
from localscore.reports.provenance import flat

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
        details=tuple(flat(agreement.model_dump(mode="json", exclude={"kinds"}))),
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
