from __future__ import annotations

import codecs
import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.errors import DataError

GOOD: dict[str, Any] = {"query": "Où ?", "contexts": ["À Brünn."], "answer": "Là."}
LINE = json.dumps(GOOD, ensure_ascii=False)

WHOLE: dict[str, bytes] = {
    "BOM": codecs.BOM_UTF8 + LINE.encode(),
    "mixed line ends": f"{LINE}\r\n\n{LINE}\n\r{LINE}".encode(),
    "a line of 1 MB": json.dumps(GOOD | {"contexts": ["word " * 200_000]}).encode(),
    "blank lines": f"\n \n\t\n{LINE}\n\n".encode(),
    "escapes": json.dumps(GOOD).encode(),
}

BROKEN: dict[str, tuple[bytes, str]] = {
    "truncated gzip": (gzip.compress(LINE.encode())[:-9], ":1"),
    "gzip of nothing": (gzip.compress(b"")[:5], ":1"),
    "UTF-16": (LINE.encode("utf-16"), ":1:1: is UTF-16"),
    "UTF-16 without a mark": (LINE.encode("utf-16-le"), ":1:1: is UTF-16"),
    "Latin-1": (LINE.encode("latin-1"), ":1: byte 13 is not UTF-8"),
    "a line that was cut": (LINE.encode()[:-3], ":1: not JSON at column"),
    "NaN": (LINE[:-1].encode() + b', "n": NaN}', ":1: not JSON at column"),
    "Infinity": (LINE[:-1].encode() + b', "n": -Infinity}', ":1: not JSON at column"),
    "a huge number": (LINE[:-1].encode() + b', "n": 1e999}', ":1: not JSON at column"),
    "a huge whole number": (LINE[:-1].encode() + b', "n": ' + b"9" * 9000 + b"}", ":1: not JSON at column"),
    "deep nesting": (LINE[:-1].encode() + b', "n": ' + b"[" * 100_000, ":1: not JSON at column"),
    "the same field twice": (LINE[:-1].encode() + b', "answer": "x"}', ":1: not JSON at column"),
    "two objects in a line": (LINE.encode() * 2, ":1: not JSON at column"),
    "single quotes": (str(GOOD).encode(), ":1: not JSON at column"),
    "a table whose names are not UTF-8": (b"question,contexts\xf5\nWho?,[]\n", ":1: byte 18 is not UTF-8"),
    "a list": (b'["query"]', ":1: is list"),
    "NUL bytes": (b"\x00" * 100, ":1: not JSON at column"),
    "noise": (bytes(range(14, 256)), ":1: "),
    "a duplicate id": (
        json.dumps(GOOD | {"id": "x"}).encode() + b"\n" + json.dumps(GOOD | {"id": "x"}).encode(),
        ":2: id 'x'",
    ),
    "a column that one row lacks": (f"{LINE}\n".encode() + b'{"query": "Who?"}', ":2: missing 'contexts'"),
}


@pytest.mark.parametrize("content", WHOLE.values(), ids=WHOLE)
def test_what_can_be_read_is_read_exactly(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    path.write_bytes(content)
    for sample in read(path).samples:
        assert (sample.query, sample.answer) == ("Où ?", "Là.")


@pytest.mark.parametrize(("content", "told"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_one_complaint_with_file_and_line(
    content: bytes, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "rag.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(path)
    assert len(caught.value.complaints) <= 1
    assert f"{path}{told}" in str(caught.value)


def test_a_fifo_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(
        target=path.write_text, args=(f"{LINE}\n{LINE}\n",), kwargs={"encoding": "utf-8"}
    )
    writer.start()
    assert len(read(path).samples) == 2
    writer.join()


def test_a_file_that_grows_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    path.write_text(f"{LINE}\n", encoding="utf-8")
    first = read(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{LINE}\n{LINE[:10]}")
    assert len(first.samples) == 1
    with pytest.raises(DataError, match=r":3: not JSON at column"):
        read(path)
    assert len(read(path, skip_bad_rows=True).samples) == 2


def _unreadable(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "absent")


def _looped(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    "make", [_unreadable, _dangling, _looped], ids=["a folder", "a dangling link", "a loop of links"]
)
def test_what_is_no_file_is_one_message(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    make(path)
    with pytest.raises(DataError, match=r"rag\.jsonl"):
        read(path)
