from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import localscore as ls
from localscore import datasets
from localscore.errors import DataError, OptionError
from tests.faults.fuzzing import METRICS, ROWS, check


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS, metrics=METRICS, seed=st.integers(0, 2**32))
def test_no_row_crashes_and_no_score_is_none(
    rows: list[Any], metrics: list[ls.Metric], seed: int, folder: Path
) -> None:
    assert check(rows, metrics, seed, folder).total() >= len(rows), "nothing is dropped"


LINES = st.sampled_from(
    [b'{"query": "Q", "contexts": ["c"], "answer": "a"}', b"[", b"{}", b'"', b"\xef\xbb\xbf"]
)


@settings(max_examples=500, deadline=None)
@given(content=st.lists(LINES | st.binary(max_size=30), max_size=8).map(b"\n".join))
def test_no_bytes_crash_the_reader(content: bytes, folder: Path) -> None:
    path = folder / "bytes.jsonl"
    path.write_bytes(content)
    with contextlib.suppress(DataError, OptionError):
        assert datasets.read(path, skip_bad_rows=True).samples
