"""Writes what was measured into a judge's card, and all cards into docs/judges.md.

scripts/write_cards.py                    docs/judges.md alone
scripts/write_cards.py NAME FOLDER…       the card NAME too, from folders of `localscore calibrate`, `localscore agree`
                                          and `scripts/bench --task arithmetic backends`, and with `flips.json`
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

from localscore.agreement import load_agreement
from localscore.agreement.calibrating import AFTER, CALIBRATION, on_card
from localscore.judges.cards import Card, Difference, Flips, Measured, cards, read_tuning, tables, with_tables

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "judges.md"

INTRODUCTION = """# Judges

Each judge that could be run here, measured against verdicts of people. Made from the cards in `models/` by
`scripts/write_cards.py`; `scripts/measure-judge NAME LABELLED` measures one and writes its card.

Intervals are 95 %, from a bootstrap clustered by query. Measures of a calibrated question are out of fold: each record
by a calibration that was fitted without its query. *Word overlap* is the same measure of a contestant without a model,
on the same records: a judge that is not better adds nothing there. ECE is the calibration error of the verdict's
probability. Records a minute are those of two cores that did other work too. The human judgments are not part of the
project: some of them may be used for measuring only."""

HEADS = {
    "relevance": {
        "quadratic_kappa": "quadratic κ",
        "balanced_accuracy": "bal. acc. ≥ medium",
        "auroc": "AUROC",
    },
    "usage": {"balanced_accuracy": "balanced accuracy", "auroc": "AUROC"},
    "attribution": {"balanced_accuracy": "balanced accuracy", "auroc": "AUROC"},
    "sufficiency": {"balanced_accuracy": "balanced accuracy", "auroc": "AUROC"},
    "claims": {"f1": "F1", "precision": "precision", "recall": "recall"},
}


def main() -> None:
    """Write the card that is named, and the page."""
    if len(sys.argv) > 1:
        write_card(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
        cards.cache_clear()
    PAGE.write_text(page(cards()), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(ROOT)}")


def write_card(name: str, folders: list[Path]) -> None:
    """Put calibration and agreement into the file of a card."""
    path = ROOT / "models" / f"{name}.toml"
    text = path.read_text(encoding="utf-8")
    before = read_tables(text)
    calibration, measured, differs = dict(before.calibration), dict(before.agreement), dict(before.differs)
    flips = dict(before.flips)
    for folder in folders:
        if (folder / "flips.json").exists():
            flips |= flipped(folder / "flips.json", name)
        if (folder / "bench.json").exists():
            differs |= differences(folder / "bench.json", name)
        for here in (folder, folder / "claims"):
            if (here / CALIBRATION).exists():
                calibration |= read_tuning(here / CALIBRATION).calibration
                measured |= on_card(load_agreement(here, AFTER))
            elif (here / "agreement.json").exists():
                measured |= on_card(load_agreement(here))
    text = with_tables(text, "differs", tables("differs", differs))
    text = with_tables(text, "flips", tables("flips", flips))
    text = with_tables(text, "calibration", tables("calibration", calibration))
    path.write_text(with_tables(text, "agreement", tables("agreement", measured)), encoding="utf-8")
    print(f"Written: {path.relative_to(ROOT)}")


def differences(path: Path, judge: str) -> dict[str, Difference]:
    """Return how far each arithmetic is from float32, from what `scripts/bench` wrote of this judge."""
    told = json.loads(path.read_text(encoding="utf-8"))
    if told["judge"] != judge:
        raise SystemExit(f"{path} is of the judge {told['judge']}; expected {judge}.")
    tables = {table["title"].partition(":")[0]: table["data"] for table in told["tables"]}
    found = tables.get("arithmetic", [])
    found += [one for one in tables.get("backends", []) if one["name"] == "ours llama.cpp"]
    return {
        one["name"].replace("ours llama.cpp", "llamacpp"): Difference(
            verdicts=len(one["gaps"]), changed=len(one["changed"]), largest=round(max(one["gaps"]), 4)
        )
        for one in found
    }


def flipped(path: Path, judge: str) -> dict[str, Flips]:
    """Return how often talk to the judge changed verdicts, from what `tests.injection.flips` wrote of it."""
    told = json.loads(path.read_text(encoding="utf-8"))
    if told["judge"] != judge:
        raise SystemExit(f"{path} is of the judge {told['judge']}; expected {judge}.")
    shared = {key: told[key] for key in ("date", "arithmetic", "attacks")}
    return {name: Flips.model_validate(shared | told[name]) for name in ("changed", "obeyed")}


def read_tables(text: str) -> Card:
    """Return the card in a text."""
    return Card.model_validate(tomllib.loads(text))


def page(all_cards: tuple[Card, ...]) -> str:
    """Return docs/judges.md."""
    lines = [
        *INTRODUCTION.splitlines(),
        "",
        "| judge | parameters | licence | memory GB | where it was tried |",
        "| --- | ---: | --- | --- | --- |",
    ]
    for card in all_cards:
        memory = ", ".join(f"{name} {gb:g}" for name, gb in card.memory.items())
        tried = card.tried or "not yet"
        lines.append(
            f"| `{card.name}` | {card.parameters / 1e9:.2f} B | {card.licence} | {memory} | {tried} |"
        )
    for kind, heads in HEADS.items():
        measured = [card for card in all_cards if kind in card.agreement]
        if not measured:
            continue
        lines += ["", f"## {kind.capitalize()}", ""]
        columns = ["judge", "calibrated", "arithmetic", "records", "queries", *heads.values()]
        columns += ["word overlap", "ECE", "records a minute"]
        lines += [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
        lines += [row(card, kind, card.agreement[kind], heads) for card in measured]
    lines += [
        "",
        "## Cheaper arithmetic",
        "",
        "Closed verdicts against those of the same weights in float32 (`scripts/bench --task arithmetic backends`).",
        "",
    ]
    lines += ["| judge | arithmetic | verdicts | changed | largest difference of a probability |"]
    lines += ["| --- | --- | ---: | ---: | ---: |"]
    lines += [
        f"| `{card.name}` | {name} | {told.verdicts} | {told.changed} | {told.largest:.4f} |"
        for card in all_cards
        for name, told in card.differs.items()
    ]
    lines += [
        "",
        "## Talk to the judge",
        "",
        "Attacks on closed verdicts (`tests/injection`) beside harmless texts of the same length: how often a verdict",
        "is another than without either, and how often it is the one that the attacker wants.",
        "",
        "| judge | arithmetic | attacks | changed | by harmless texts | more | as wanted | by harmless texts |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for card in all_cards:
        if card.flips:
            changed, obeyed = card.flips["changed"], card.flips["obeyed"]
            cells = [f"`{card.name}`", changed.arithmetic, str(changed.attacks), f"{changed.attack:.1%}"]
            cells += [
                f"{changed.control:.1%}",
                interval(changed.more),
                f"{obeyed.attack:.1%}",
                f"{obeyed.control:.1%}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    missing = [card.name for card in all_cards if not card.agreement]
    if missing:
        lines += ["", f"Not measured: {', '.join(f'`{name}`' for name in missing)}."]
    return "\n".join(lines) + "\n"


def row(card: Card, kind: str, told: Measured, heads: dict[str, str]) -> str:
    """Return a row of a table."""
    calibrated = "yes" if kind in card.calibration else "no"
    first = next(iter(heads))
    cells = [f"`{card.name}`", calibrated, told.arithmetic, str(told.records), str(told.clusters)]
    cells += [interval(told.measures.get(name)) for name in heads]
    cells += [interval(told.overlap.get(first))]
    cells += [f"{told.ece:.2f}" if told.ece is not None and kind != "claims" else "–"]
    cells += [f"{told.samples_per_minute:g}" if told.samples_per_minute is not None else "–"]
    return f"| {' | '.join(cells)} |"


def interval(told: tuple[float, float, float] | None) -> str:
    """Return a measure with its interval."""
    return f"{told[0]:.2f} [{told[1]:.2f}, {told[2]:.2f}]" if told is not None else "–"


if __name__ == "__main__":
    main()
