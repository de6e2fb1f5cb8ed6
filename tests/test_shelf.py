from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.shelf import IN_MEMORY

ROW = {"query": "Who ran?", "contexts": ["Ann ran. " * 500], "answer": "Ann."}


def rows(count: int) -> Iterator[dict[str, Any]]:
    yield from (ROW for _ in range(count))


def test_samples_that_are_many_are_not_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(3 * IN_MEMORY // 4500))
    assert path.stat().st_size > 2.9 * IN_MEMORY
    tracemalloc.start()
    samples = read(path).samples
    assert sum(len(sample.contexts[0]) for sample in samples) > 2.9 * IN_MEMORY
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * IN_MEMORY


def test_samples_are_a_sequence() -> None:
    samples = read(rows(5)).samples
    assert [sample.id for sample in samples[3:]] == ["4", "5"]
    assert [sample.id for sample in samples[1:][1:3]] == ["3", "4"]
    assert samples[-1].id == "5"
    assert samples[:2] == read(rows(2)).samples
    assert samples != read(rows(4)).samples
    assert list(zip(samples, samples, strict=True))[4][0].id == "5"
    with pytest.raises(IndexError):
        samples[5]
