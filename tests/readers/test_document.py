from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.errors import DataError

ROW: dict[str, Any] = {"query": "Who ran?", "contexts": ["Ann ran."]}
ROWS = [ROW | {"id": "a"}, ROW | {"id": "b"}]

SHAPES: dict[str, str] = {
    "a list": json.dumps(ROWS),
    "a list over lines": json.dumps(ROWS, indent=2),
    "under a field": json.dumps({"name": "x", "testCases": ROWS}),
    "under a field that is also inside another": json.dumps(
        {"meta": {"samples": [1]}, "data": [], "samples": ROWS}, indent=2
    ),
    "objects one after the other": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "lines": "\n".join(json.dumps(row) for row in ROWS),
    "lists one after the other": "\n".join(json.dumps([row]) for row in ROWS),
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_rows_are_found_in_json_of_many_shapes(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rag.json"
    path.write_text(text)
    assert read(path).samples == read(ROWS).samples


def test_rows_without_ids_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "rag.json"
    path.write_text(json.dumps([ROW, ROW]))
    assert [sample.id for sample in read(path).samples] == ["1", "2"]


BROKEN: dict[str, tuple[str, str]] = {
    "cut": ('[\n{"query": "a", "contexts": []},\n{"query', ":3: not JSON at column 2: Unterminated string"),
    "no comma": ('[{"query": "a", "contexts": []}\n{"a": 1}]', ":2: not JSON at column 1: Expecting ','"),
    "NaN": ('[{"query": "a", "contexts": []},\n {"a": NaN}]', ":2: not JSON at column 8: NaN"),
    "a field twice": (
        '[{"query": "a", "contexts": []},\n{"a": 1, "a": 2}]',
        ":2: not JSON at column 2: an obj",
    ),
    "no object": ('[{"query": "a", "contexts": []},\n"b"]', ":2: is str; expected an object"),
    "a bad row": (
        '[{"query": "a", "contexts": []},\n{"query": " ", "contexts": []}]',
        ":2: 'query' is blank",
    ),
}


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_told_with_line_and_column(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "rag.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path)
    [complaint] = caught.value.complaints
    assert complaint.startswith(f"{path}{told}")
    assert len(read(path, skip_bad_rows=True).samples) == 1


def test_too_deep_and_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rag.json"
    for content, told in ((b"[{" + b'"a":[' * 600, "nested deeper"), (b'[\n{"a": "\xff"}]', ":2: byte")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=told):
            read(path)
