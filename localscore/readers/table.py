"""CSV and TSV: a row a record, the first of them the names. Read record by record."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import BufferedReader

from localscore.errors import DataError
from localscore.readers.jsonl import lines
from localscore.readers.rows import Row, Rows, not_utf8

NAMES = {"query", "question", "user_input", "input", "contexts", "inputs.question", "prompt"}
"""Names of which the first line of a table has one; by them it is known where a file's name does not tell."""

LONGEST = 2**31 - 1
"""Characters of a cell; Python's own limit is 131,072, which a context may exceed."""


def is_table(beginning: bytes) -> bool:
    r"""Return whether a file begins with the header of a table of ours.

    >>> is_table(b'question;contexts\nWho?;[]'), is_table(b'{"question": "Who?", "contexts": []}')
    (True, False)
    """
    first = beginning.decode("utf-8", "replace").lstrip("\ufeff").split("\n")[0].strip()
    names = {name.strip().strip('"').lower() for name in re.split(r"[,;\t]", first)}
    return len(names) > 1 and not first.startswith(("{", "[")) and bool(names & NAMES)


def read(stream: BufferedReader, name: str) -> Rows:
    r"""Give the rows of a table. Its delimiter is the one its first line has most of: comma, semicolon or tab.

    A cell that is empty is one that is not there.

    >>> import io
    >>> table = io.BufferedReader(io.BytesIO(b'question,answer\n"Who,\nwhen?",\n'))
    >>> [(row.where, row.columns) for row in read(table, "rag.csv")]
    [('rag.csv:2', {'question': 'Who,\nwhen?'})]
    """
    csv.field_size_limit(LONGEST)
    texts = _Texts(stream)
    number = 0
    try:
        first = next(texts, "")
        records = csv.reader(_chained(first, texts), delimiter=max(",;\t", key=first.count), strict=True)
        header = _header(next(records, []), name)
        while True:
            number = records.line_num + 1
            cells = next(records, None)
            if cells is None:
                return
            where = f"{name}:{number}"
            if len(cells) == len(header):
                columns = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
                yield Row(where, str(number), dict(columns))
            elif cells:
                yield f"{where}: has {len(cells)} cells; expected {len(header)}, as in the first line"
    except UnicodeDecodeError as error:
        yield not_utf8(f"{name}:{texts.number}", error)
    except csv.Error as error:
        yield f"{name}:{number or 1}: not CSV: {error}, in the record that begins here"


class _Texts(Iterator[str]):
    """The lines of a file as text, counted."""

    def __init__(self, stream: BufferedReader) -> None:
        self._lines = lines(stream, ends=True)
        self.number = 0

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line.decode("utf-8")


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _header(cells: list[str], name: str) -> list[str]:
    names = [cell.strip() or f"column {number}" for number, cell in enumerate(cells, 1)]
    twice = {column for column in names if names.count(column) > 1}
    if twice:
        raise DataError(f"{name}:1: two columns are named {min(twice)!r}; expected different names.")
    return names
