"""One judge read by transformers and by llama.cpp: seconds, memory, and whether their closed verdicts are the same.

Each is asked with its calibration, which leaves what it said by itself beside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.contestants import FLOAT32, INT8, LLAMA
from benchmark.report import Table, number

WAYS = {
    FLOAT32: {"backend": "transformers", "device": "cpu", "dtype": "float32"},
    INT8: {"backend": "transformers", "quantize": "int8"},
    LLAMA: {"backend": "llamacpp"},
}
_COLUMNS = (
    "contestant",
    "seconds a verdict",
    "processor-seconds",
    "peak MiB",
    f"as {FLOAT32}",
    "share",
    "calibrated",
    "largest difference",
    "mean difference",
)


def backends(judge: str, names: Sequence[str], data: str | None, most: int, calibration: str) -> Table:
    """Ask a judge the same closed questions in every way.

    Args:
        judge: its name.
        names: the contestants that take part, of those that are a way to ask one judge; float32 always does.
        data: a file or folder of human judgments whose questions are asked; the benchmark's samples where not given.
        most: how many records of each kind, or samples.
        calibration: what `load_judge` takes.
    """
    wanted = {
        name: way | {"calibration": calibration} for name, way in WAYS.items() if name in (FLOAT32, *names)
    }
    told = {name: _told(judge, way, data or "", most) for name, way in wanted.items()}
    rows, measured = [], []
    for name, one in told.items():
        pairs = (
            list(zip(one.pop("judgments"), told[FLOAT32]["judgments"], strict=True))
            if name != FLOAT32
            else []
        )
        gaps = [max(abs(p - b["said"][label]) for label, p in a["said"].items()) for a, b in pairs]
        changed = [(a, b) for a, b in pairs if a["verdict"] != b["verdict"]]
        calibrated = [(a, b) for a, b in pairs if a["calibrated"] != b["calibrated"]]
        measured.append(
            {"name": name, "gaps": gaps, "changed": changed, "changed_calibrated": calibrated, **one}
        )
        count = len(told[FLOAT32]["judgments"])
        cells = [
            number(one["seconds"] / count, 2),
            number(one["processor"] / count, 2),
            number(one["peak_mib"]),
        ]
        if pairs:
            cells += [f"{count - len(changed)}/{count}", f"{1 - len(changed) / count:.1%}"]
            cells += [f"{1 - len(calibrated) / count:.1%}", f"{max(gaps):.4f}", f"{sum(gaps) / count:.4f}"]
        rows.append([name, *cells, *[""] * (len(_COLUMNS) - 1 - len(cells))])
    where = "human judgments" if data else "the benchmark's samples"
    note = f"Questions from {where}. The seconds hold the readings that the judge's calibration needs."
    return Table(f"backends: closed verdicts of {judge}", _COLUMNS, rows, note, measured)


def _told(judge: str, way: dict[str, str], data: str, most: int) -> dict[str, Any]:
    """Ask in a process of its own; return what was said, and what that took."""
    with tempfile.NamedTemporaryFile() as out:
        command = [
            sys.executable,
            "-m",
            "benchmark.asking",
            judge,
            json.dumps(way),
            data,
            str(most),
            out.name,
        ]
        with subprocess.Popen(command) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{way}: the process ended with {process.returncode}.")
        found: dict[str, Any] = json.loads(Path(out.name).read_text(encoding="utf-8"))
    return found | {"peak_mib": usage.ru_maxrss / 1024}
