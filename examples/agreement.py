"""Shows the judge's verdicts on `rag.jsonl` beside those of a careful person.

python examples/agreement.py runs/demo-8
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

import localscore as ls
from localscore.results import SampleResult


def main(folder: str) -> None:
    """Print one row per sample, then how often judge and person agree."""
    run = ls.load_run(folder)
    table = Table(title="Judge | careful person", title_justify="left", show_lines=True)
    for column in ("sample", "levels", "used", "suffices", "recall"):
        table.add_column(column)
    agreed: dict[str, list[bool]] = {"levels": [], "relevant or not": [], "used": [], "suffices": []}
    for result in run.results:
        table.add_row(result.id, *_row(result, agreed))
    Console(width=None if sys.stdout.isatty() else 120, highlight=False).print(table)
    for name, hits in agreed.items():
        print(f"{name}: {sum(hits)} of {len(hits)} agree")


def _row(result: SampleResult, agreed: dict[str, list[bool]]) -> list[str]:
    person = result.sample.metadata["person"]
    levels = [context.level for context in result.contexts]
    used = [context.used for context in result.contexts]
    agreed["levels"] += [a == b for a, b in zip(levels, person["levels"], strict=True)]
    agreed["relevant or not"] += [
        _relevant(a) == _relevant(b) for a, b in zip(levels, person["levels"], strict=True)
    ]
    agreed["used"] += [a == b for a, b in zip(used, person["used"], strict=True)]
    enough = result.sufficiency.sufficient if result.sufficiency is not None else None
    if enough is not None:
        agreed["suffices"].append(enough == (not person["missing"]))
    recall = result.scores["context_recall"].score
    supported = [claim["supported"] for claim in person["claims"]]
    theirs = sum(supported) / len(supported) if supported else 0.0
    return [
        f"{_listed(levels)}\n{_listed(person['levels'])}",
        f"{_listed(used)}\n{_listed(person['used'])}",
        f"{_word(enough)}\n{_word(not person['missing'])}",
        f"{recall:.2f}\n{theirs:.2f}" if recall is not None else f"–\n{theirs:.2f}",
    ]


def _relevant(level: str) -> bool:
    return level in ("high", "medium")


def _listed(values: Sequence[str | bool]) -> str:
    return " ".join(_word(value) if isinstance(value, bool) else value for value in values) or "–"


def _word(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "–"}[value]


if __name__ == "__main__":
    main(sys.argv[1])
