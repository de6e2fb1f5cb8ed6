"""What readers give: rows, and complaints in the place of those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader
from typing import Any, NamedTuple

from localscore.lines import LineError


class Row(NamedTuple):
    """A row, and where it stands."""

    where: str
    """As complaints begin: file and line."""
    name: str
    """The id of a row that has none: its line, or its number where lines mean nothing."""
    columns: dict[str, Any]


Rows = Iterator[Row | str]
"""Rows, and in the place of each that cannot be read what is wrong with it."""

Reader = Callable[[BufferedReader, str], Rows]
"""Reads an open file; its name is for complaints."""


def row_or_complaint(where: str, name: str, value: object, expected: str = "an object") -> Row | str:
    """Return a value as a row if it is one."""
    if isinstance(value, Mapping):
        return Row(where, name, dict(value))
    return f"{where}: is {type(value).__name__}; expected {expected}"


def not_json(where: str, error: LineError, column: int | None = None) -> str:
    """Say where a text is not JSON, and why."""
    return f"{where}: not JSON at column {column or error.column}: {error}"


def not_utf8(where: str, error: UnicodeDecodeError) -> str:
    """Say where a text is not UTF-8, and what to do."""
    hint = "convert the file, for example with iconv -f LATIN1 -t UTF-8"
    return f"{where}: byte {error.start + 1} is not UTF-8; {hint}"
