"""What a row costs beside the judge, and whether memory grows with rows: a judge whose verdicts cost nothing.

Each size runs in a process of its own: `python -m benchmark.rows FILE FOLDER`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import localscore as ls
from benchmark.report import Table, number
from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import JudgeIdentity, TokenCount
from localscore.results import Judgment
from localscore.verdicts import Relevance, Sufficiency, Usage

_CONTEXTS = ("Ann rang bell {n} at dawn.", "Bananas are yellow, and bell {n} is not.")

_GIVEN = {
    "relevance": Judgment.of(
        Relevance(level="high"), {"high": 0.9, "medium": 0.06, "low": 0.03, "none": 0.01}
    ),
    "usage": Judgment.of(Usage(used=True), {"true": 0.9, "false": 0.1}),
    "sufficiency": Judgment.of(Sufficiency(sufficient=True), {"true": 0.9, "false": 0.1}),
}


class Ready:
    """A judge that has the same verdict for every question of a kind, and keeps nothing."""

    identity = JudgeIdentity("ready", "ready")
    samples_at_once = 8

    def __init__(self) -> None:
        self.tokens = TokenCount()

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Give each inquiry's verdict."""
        for inquiry in inquiries:
            yield _GIVEN[inquiry.question]


def rows(most: int) -> Table:
    """Score a quarter, a half and all of so many rows, and compare what a row took."""
    lines, data = [], []
    for count in (most // 4, most // 2, most):
        with tempfile.TemporaryDirectory() as folder:
            samples = Path(folder) / "rows.jsonl"
            _write(samples, count)
            ask = [sys.executable, "-m", "benchmark.rows", str(samples), str(Path(folder) / "run")]
            start = time.perf_counter()
            with subprocess.Popen(ask) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds, peak = time.perf_counter() - start, usage.ru_maxrss / 1024
            written = sum(1 for _ in (Path(folder) / "run" / "results.jsonl").open("rb"))
        data.append({"rows": count, "written": written, "seconds": seconds, "peak_mib": peak})
        cells = [number(seconds, 1), number(count / seconds), f"{1000 * seconds / count:.3f}", number(peak)]
        lines.append([f"{count:,}", *cells, str(written == count)])
    columns = ("rows", "seconds", "rows a second", "ms a row", "peak MiB", "one result each")
    note = "Context relevance of two contexts a row, five verdicts; reading, planning, scoring, writing; no cache."
    return Table("rows: everything but the judge", columns, lines, note, data)


def _write(path: Path, count: int) -> None:
    with path.open("w") as file:
        for n in range(count):
            contexts = [text.format(n=n) for text in _CONTEXTS]
            row = {"id": str(n), "query": f"Who rang bell {n}?", "contexts": contexts, "answer": "Ann."}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    ls.score(sys.argv[1], judge=Ready(), metrics=[ls.ContextRelevance()], out=sys.argv[2])
