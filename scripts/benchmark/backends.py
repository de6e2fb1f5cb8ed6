"""One judge in transformers and in llama.cpp: seconds, memory, and whether their closed verdicts are the same.

Each is asked in a process of its own, with its calibration, which leaves what it said by itself beside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.report import Table, number
from benchmark.tasks import all_samples, claims
from localscore import inquiries, labelled, load_judge
from localscore.inquiries import Inquiry, together
from localscore.results import Judgment
from localscore.verdicts import decided

_FLOAT32 = "transformers float32"
WAYS: dict[str, dict[str, str]] = {
    _FLOAT32: {"backend": "transformers", "device": "cpu", "dtype": "float32"},
    "transformers int8": {"backend": "transformers", "quantize": "int8"},
    "llamacpp": {"backend": "llamacpp"},
}
_KINDS = ("relevance", "usage", "attribution", "sufficiency")


def backends(judge: str, data: str | None, most: int) -> Table:
    """Ask a judge the same closed questions in every way.

    Args:
        judge: its name.
        data: a file or folder of human judgments whose questions are asked; the benchmark's samples where not given.
        most: how many records of each kind, or samples.
    """
    told = {name: _told(judge, name, data, most) for name in WAYS}
    reference = told[_FLOAT32]["judgments"]
    rows, measured = [], []
    for name, one in told.items():
        pairs = list(zip(one["judgments"], reference, strict=True))
        gaps = [max(abs(p - b["said"][label]) for label, p in a["said"].items()) for a, b in pairs]
        changed = sum(a["verdict"] != b["verdict"] for a, b in pairs)
        calibrated = sum(a["calibrated"] != b["calibrated"] for a, b in pairs)
        figures = {key: value for key, value in one.items() if key != "judgments"}
        measured.append(
            {"name": name, "gaps": gaps, "changed": changed, "changed_calibrated": calibrated, **figures}
        )
        cells = [number(one["seconds"] / len(pairs), 2), number(one["processor"] / len(pairs), 2)]
        cells += [
            number(one["peak_mib"]),
            f"{len(pairs) - changed}/{len(pairs)}",
            f"{1 - changed / len(pairs):.1%}",
        ]
        cells += [f"{1 - calibrated / len(pairs):.1%}", f"{max(gaps):.4f}", f"{sum(gaps) / len(gaps):.4f}"]
        rows.append([name, *cells])
    columns = (
        "backend",
        "seconds a verdict",
        "processor-seconds",
        "peak MiB",
        "as float32",
        "share",
        "calibrated",
        "largest difference",
        "mean difference",
    )
    where = "human judgments" if data else "the benchmark's samples"
    note = (
        f"The same questions, from {where}; each with its calibration, whose own readings are in the seconds."
    )
    return Table(
        f"backends: closed verdicts of {judge}", columns, rows, note, {"judge": judge, "ways": measured}
    )


def _told(judge: str, way: str, data: str | None, most: int) -> dict[str, Any]:
    """Ask in a process of its own; return what it said, and what that took."""
    with tempfile.NamedTemporaryFile() as out:
        command = [sys.executable, "-m", "benchmark.backends", judge, way, data or "", str(most), out.name]
        with subprocess.Popen(command) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{way}: the process ended with {process.returncode}.")
        found: dict[str, Any] = json.loads(Path(out.name).read_text(encoding="utf-8"))
    return found | {"peak_mib": usage.ru_maxrss / 1024}


def _ask(judge: str, way: str, data: str, most: int) -> dict[str, Any]:
    """Ask all questions; the first twice, so that the weights are there when the clock starts."""
    asked = _questions(data, most)
    loaded = load_judge(judge, **WAYS[way])  # type: ignore[arg-type]
    list(loaded.decide(asked[0]))
    start, begun = time.perf_counter(), time.process_time()
    judgments = []
    for place, group in enumerate(asked, 1):
        print(f"{way}: {place} of {len(asked)}", end="\r", file=sys.stderr, flush=True)
        for inquiry, answer in zip(group, loaded.decide(group), strict=True):
            if not isinstance(answer, Judgment):
                raise SystemExit(f"{inquiry.question}: {answer}")
            said = answer.features.probabilities if answer.features else answer.probabilities
            assert said is not None
            verdict, _ = decided(inquiry.verdict, said)
            judgments.append(
                {
                    "question": inquiry.question,
                    "said": said,
                    "verdict": verdict.model_dump(mode="json"),
                    "calibrated": answer.verdict,
                }
            )
    print(file=sys.stderr)
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - begun,
        "judgments": judgments,
    }


def _questions(data: str, most: int) -> Sequence[tuple[Inquiry[Any], ...]]:
    """Return closed inquiries, those in one tuple about one text."""
    if data:
        items = [item for item in labelled.read(data).items if item.kind in _KINDS]
        return [item.inquiries() for item in labelled.chosen(items, limit=most)]
    found: list[tuple[Inquiry[Any], ...]] = []
    for sample in all_samples()[:most]:
        for context in sample.contexts:
            level = inquiries.relevance(sample.query, context)
            found.append(together(level, inquiries.usage(sample.query, context, sample.answer or "")))
        for claim in claims(sample):
            evidence = inquiries.evidence(claim, sample.contexts)
            found.append(together(inquiries.attribution(claim, sample.contexts), evidence))
    return found


if __name__ == "__main__":
    _, *names, written = sys.argv
    Path(written).write_text(json.dumps(_ask(names[0], names[1], names[2], int(names[3]))), encoding="utf-8")
