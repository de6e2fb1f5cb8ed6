"""JSONL: an object a line. Read line by line."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader

from localscore.lines import LineError, parsed_line
from localscore.readers.rows import Rows, not_json, not_utf8, row_or_complaint


def read(stream: BufferedReader, name: str, *, first: int = 1) -> Rows:
    """Give the rows of a JSONL file, or of what of it begins at some line.

    >>> import io
    >>> [row.columns for row in read(io.BufferedReader(io.BytesIO(b'{"a": 1}')), "rag.jsonl")]
    [{'a': 1}]
    """
    for number, raw in enumerate(lines(stream), first):
        where = f"{name}:{number}"
        try:
            text = raw.decode("utf-8")
            if text.strip():
                yield row_or_complaint(where, str(number), parsed_line(text))
        except UnicodeDecodeError as error:
            yield not_utf8(where, error)
        except LineError as error:
            yield not_json(where, error)


def lines(stream: BufferedReader, *, ends: bool = False) -> Iterator[bytes]:
    """Give the lines of a file, however they end, without a byte order mark."""
    for number, piece in enumerate(stream):
        yield from (piece if number else piece.removeprefix(b"\xef\xbb\xbf")).splitlines(keepends=ends)
