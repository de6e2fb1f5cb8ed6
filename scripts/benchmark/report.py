"""bench.json and bench.md: the machine, and a table per task."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from benchmark import limit
from benchmark.contestants import FLOAT32, INT8
from benchmark.race import Race, present

_PACKAGES = ("localscore", "torch", "transformers", "outlines", "llguidance", "llama-cpp-python")

_COLUMNS = (
    "contestant",
    "seconds",
    f"÷ {FLOAT32}",
    f"÷ {INT8}",
    "÷ limit",
    "read",
    "÷ unique",
    "written",
    "passes",
    "valid",
    "one verdict each",
    f"as {FLOAT32}",
)


@dataclass
class Table:
    """What a task or study found, for a reader and as data."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]]
    note: str = ""
    data: Any = field(default=None, repr=False)

    @property
    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [self.columns, ["---"] + ["---:"] * (len(self.columns) - 1), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"## {self.title}\n\n{table}\n" + (f"\n{self.note}\n" if self.note else "")


def race_table(race: Race, bound: limit.Limit) -> Table:
    """Return what a race found."""
    rows, differences = [], {}
    for name in present(race):
        seconds = number(race.median(name, lambda o: o.seconds), 2)
        ratios = [number(race.ratio(name, to, lambda o: o.seconds), 2) for to in (FLOAT32, INT8, limit.NAME)]
        read = number(race.median(name, lambda o: o.cost.read))
        unique = number(race.ratio(name, limit.NAME, lambda o: o.cost.read), 2)
        written = number(race.median(name, lambda o: o.cost.written))
        row = [name, seconds, *ratios, read, unique, written]
        if name == limit.NAME:
            rows.append([*row, "", "", "", ""])
            continue
        compared, differences[name] = race.differences(name)
        rows.append(
            [
                *row,
                number(race.median(name, lambda o: o.cost.passes)),
                f"{race.share(name, lambda o: o.valid, lambda o: o.outputs):.0%}",
                f"{race.share(name, lambda o: o.one_each, lambda _: 1):.0%}",
                f"{compared - len(differences[name])}/{compared}" if compared else "",
            ]
        )
    turns = [
        {"contestant": t.contestant, "sample": t.sample, "round": t.round, **_numbers(t.outcome)}
        for t in race.turns
    ]
    samples = len({t.sample for t in race.turns})
    rates = {key: max(rate[key] for rate in bound.rates) for key in bound.rates[0]}
    note = (
        f"{samples} samples, {1 + max(t.round for t in race.turns)} rounds; medians per sample, ratios within sample "
        f"and round. Best rates seen: {rates['gflops']:.0f} GFLOP/s, {rates['gigabytes_per_second']:.1f} GB/s."
    )
    data = {"turns": turns, "differences": differences, "rates": bound.rates}
    return Table(f"{race.task.name}: {race.task.title}", _COLUMNS, rows, note, data)


def write(out: Path, judge: str, tables: Sequence[Table]) -> str:
    """Write both files; return the text of the readable one."""
    about = {"judge": judge, **machine()}
    head = "".join(f"- {key}: {value}\n" for key, value in about.items())
    text = f"# Benchmark\n\n{head}\n" + "\n".join(table.markdown for table in tables)
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.md").write_text(text, encoding="utf-8")
    data = about | {"tables": [asdict(table) for table in tables]}
    (out / "bench.json").write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return text


def machine() -> dict[str, str]:
    """Say what this is measured on, and with which versions."""
    return {
        "processor": _processor(),
        "cores": f"{os.cpu_count()}, {torch.get_num_threads()} threads",
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{package} {_version(package)}" for package in _PACKAGES),
    }


def number(value: float | None, digits: int = 0) -> str:
    """Return a number as a cell."""
    return "" if value is None else f"{value:,.{digits}f}"


def _numbers(outcome: Any) -> dict[str, Any]:
    kept = ("seconds", "valid", "outputs", "one_each")
    return {name: getattr(outcome, name) for name in kept} | asdict(outcome.cost)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
