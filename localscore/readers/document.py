"""JSON that is not a line a row: a list of objects, an object that holds one, or objects spread over lines.

It is read at once, because JSON can only be known to be whole at its end.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from io import BufferedReader
from typing import Any

from localscore.lines import LineError, after_space, check_depth, value_at
from localscore.readers.rows import Rows, not_json, not_utf8, row_or_complaint

ROWS_UNDER = (
    "testCases",
    "test_cases",
    "test_results",
    "goldens",
    "scores",
    "results",
    "rows",
    "data",
    "examples",
    "samples",
    "items",
)
"""The fields under which an object holds the rows: of DeepEval, of Mastra, and of many."""


def read(stream: BufferedReader, name: str) -> Rows:
    r"""Give the rows of a JSON document.

    >>> import io
    >>> [row.where for row in read(io.BufferedReader(io.BytesIO(b'[{"a": 1},\n {"a": 2}]')), "rag.json")]
    ['rag.json:1', 'rag.json:2']
    """
    content = stream.read().removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield not_utf8(f"{name}:{line}", error)
        return
    line, counted = 1, 0
    try:
        check_depth(text)
        for number, (start, value) in enumerate(_rows(text), 1):
            line, counted = line + text.count("\n", counted, start), start
            yield row_or_complaint(f"{name}:{line}", str(number), value)
    except LineError as error:
        at = error.column - 1
        line = text.count("\n", 0, at) + 1
        yield not_json(f"{name}:{line}", error, at - text.rfind("\n", 0, at))


Found = tuple[int, Any]
"""Where a value begins, and the value."""


def _rows(text: str) -> Iterator[Found]:
    index = after_space(text, 0)
    while index < len(text):
        if text[index] == "[":
            index = yield from _items(text, index)
        else:
            value, end = value_at(text, index)
            under = [name for name in ROWS_UNDER if _are_rows(value, name)]
            if under:
                yield from _items(text, _start_of(text, index, under[0]))
            else:
                yield index, value
            index = end
        index = after_space(text, index)


def _are_rows(value: object, name: str) -> bool:
    inner = value.get(name) if isinstance(value, dict) else None
    return isinstance(inner, list) and bool(inner) and all(isinstance(item, dict) for item in inner)


def _items(text: str, index: int) -> Generator[Found, None, int]:
    """Give the items of the list that begins here; return the index after it."""
    index = after_space(text, index + 1)
    if text[index : index + 1] == "]":
        return index + 1
    while True:
        value, end = value_at(text, index)
        yield index, value
        index = after_space(text, end)
        if text[index : index + 1] == "]":
            return index + 1
        if text[index : index + 1] != ",":
            raise LineError("Expecting ',' delimiter", index + 1)
        index = after_space(text, index + 1)


def _start_of(text: str, index: int, field: str) -> int:
    """Return where the value of a field begins, of the object, which is one, that begins here."""
    index = after_space(text, index + 1)
    while True:
        name, end = value_at(text, index)
        start = after_space(text, after_space(text, end) + 1)
        if name == field:
            return start
        index = after_space(text, after_space(text, value_at(text, start)[1]) + 1)
