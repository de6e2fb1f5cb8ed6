"""Bytes → readers, led by coverage: python scripts/fuzz_bytes.py -runs=1000000 (libFuzzer's options)."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["localscore"]):
    from localscore import datasets
    from localscore.errors import DataError, OptionError, RunError
    from localscore.lines import LineError, parsed_line
    from localscore.results import SampleResult
    from localscore.runs import read_line

FILE = Path(tempfile.mkdtemp()) / "rag.jsonl"
SEEDS = [
    b'{"query": "Q", "contexts": ["c"], "answer": "a", "ground_truth": "g", "id": 7}',
    b'{"input": {"inputMessages": [{"role": "user", "content": [{"type": "text", "text": "Q"}]}]}, "contexts": []}',
    b'{"id": "1", "scores": {}, "contexts": [], "missing": [], "claims": []}',
]


def look(content: bytes) -> None:
    """Read bytes as a file of samples, as a line of JSON, and as a line of results."""
    FILE.write_bytes(content)
    with contextlib.suppress(DataError, OptionError):
        datasets.read(FILE, skip_bad_rows=True)
    with contextlib.suppress(LineError):
        parsed_line(content.decode("utf-8", "surrogateescape"))
    with contextlib.suppress(RunError):
        read_line(SampleResult.model_validate_json, content, FILE.parent, 1)


def main() -> None:
    """Run libFuzzer."""
    corpus = Path(tempfile.mkdtemp())
    for number, seed in enumerate(SEEDS):
        (corpus / str(number)).write_bytes(seed)
    atheris.Setup([*sys.argv, str(corpus)], look)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
