"""One line of a JSONL file → its value, or what is wrong with it and in which column."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DEEPEST_LINE = 500
"""Levels that a line may be nested; Python's own reader gives up near a thousand."""


class LineError(ValueError):
    """What is wrong with a line, and the column, counted from 1, where it is."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


def parsed_line(text: str) -> Any:
    """Return the value of one line of JSON, exactly: nothing is dropped, and no number is changed beyond a float.

    Raises:
        LineError: it is not JSON; a number is NaN, infinite or too large to be one; an object has two fields of
            the same name; or it is nested deeper than `DEEPEST_LINE`.

    >>> parsed_line('{"n": 1e5}')
    {'n': 100000.0}
    >>> parsed_line('{"n": [2, NaN]}')
    Traceback (most recent call last):
    ...
    localscore.lines.LineError: NaN is not a JSON number
    """
    if (column := _too_deep(text)) is not None:
        raise LineError(f"it is nested deeper than {DEEPEST_LINE} levels", column)
    try:
        return json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_fields,
        )
    except json.JSONDecodeError as error:
        raise LineError(error.msg, error.pos + 1) from None
    except _BadToken as error:
        found = next((m for m in _TOKEN.finditer(text) if m[0] == error.token), None)
        raise LineError(str(error), found.start() + 1 if found else 1) from None


@dataclass(frozen=True)
class OtherFormat:
    """A kind of file that is not JSONL, and how it becomes one."""

    what: str
    remedy: str
    begins: Callable[[bytes], bool]

    def hint(self, name: str) -> str:
        """Say what to do with such a file."""
        return self.remedy.replace("FILE", name)


def other_format(content: bytes) -> OtherFormat | None:
    r"""Return what a file is that is not JSONL, where its beginning tells.

    >>> other_format(b"\x1f\x8b\x08\x00").what, other_format(b'{"query": "Who?"}')
    ('gzip', None)
    """
    return next((one for one in _OTHERS if one.begins(content)), None)


def _starts(*magic: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(magic)


def _begins_like(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda content: re.match(rb"(?:\xef\xbb\xbf)?\s*" + pattern, content) is not None


def _utf16(content: bytes) -> bool:
    """Every second byte of a plain beginning is 0 in UTF-16, which has no mark of its own in some files."""
    return content.startswith((b"\xff\xfe", b"\xfe\xff")) or content[:2] in (b"{\x00", b"\x00{")


def _table(content: bytes) -> bool:
    """Return whether the first line is a header of a CSV or TSV that names a column of ours."""
    first = content[:10_000].decode("utf-8", "replace").lstrip("\ufeff").split("\n")[0].strip()
    names = {name.strip().strip('"').lower() for name in re.split(r"[,;\t]", first)}
    return (
        len(names) > 1
        and not first.startswith("{")
        and bool(names & {"query", "question", "user_input", "input", "contexts"})
    )


_ROWS = "Write it as one JSON object a line, for example with: "
_OTHERS = (
    OtherFormat("gzip", "Unpack it: gzip -dc FILE | localscore score - …", _starts(b"\x1f\x8b")),
    OtherFormat("bzip2", "Unpack it: bzip2 -dc FILE | localscore score - …", _starts(b"BZh")),
    OtherFormat("xz", "Unpack it: xz -dc FILE | localscore score - …", _starts(b"\xfd7zXZ\x00")),
    OtherFormat("Zstandard", "Unpack it: zstd -dc FILE | localscore score - …", _starts(b"\x28\xb5\x2f\xfd")),
    OtherFormat("a ZIP archive or a spreadsheet", "Unpack it, or export its rows.", _starts(b"PK\x03\x04")),
    OtherFormat(
        "Parquet", f"{_ROWS}duckdb -c \"copy 'FILE' to 'rows.jsonl' (format json)\"", _starts(b"PAR1")
    ),
    OtherFormat("SQLite", "Export its rows as one JSON object a line.", _starts(b"SQLite format 3\x00")),
    OtherFormat("UTF-16", "Convert it: iconv -f UTF-16 -t UTF-8 FILE | localscore score - …", _utf16),
    OtherFormat("one JSON array", f"{_ROWS}jq -c '.[]' FILE", _begins_like(rb"\[\s*\{")),
    OtherFormat("JSON that is spread over lines", f"{_ROWS}jq -c . FILE", _begins_like(rb"\{\s*\n\s*\"")),
    OtherFormat(
        "a table with columns", f"{_ROWS}duckdb -c \"copy 'FILE' to 'rows.jsonl' (format json)\"", _table
    ),
)

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d[\d.eE+-]*')


class _BadToken(ValueError):
    def __init__(self, token: str, message: str) -> None:
        super().__init__(message)
        self.token = token


def _no_constant(name: str) -> Any:
    raise _BadToken(name, f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _BadToken(digits, f"the number {digits[:20]} is too large")
    return number


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _BadToken(digits, f"a whole number has {len(digits)} digits, which is too many") from None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise _BadToken(json.dumps(name, ensure_ascii=False), f"an object has two fields {name!r}")
        fields[name] = value
    return fields


def _too_deep(text: str) -> int | None:
    """Return the column at which a line is nested too deeply."""
    if text.count("[") + text.count("{") <= DEEPEST_LINE:
        return None
    depth = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', text):
        if found[0] in "[{":
            depth += 1
            if depth > DEEPEST_LINE:
                return found.start() + 1
        elif found[0] in "]}":
            depth -= 1
    return None
