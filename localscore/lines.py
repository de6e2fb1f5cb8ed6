"""JSON → its value, exactly, or what is wrong with it and in which column."""

from __future__ import annotations

import json
import math
import re
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
    check_depth(text)
    value, end = value_at(text, after_space(text, 0))
    if (rest := after_space(text, end)) < len(text):
        raise LineError("Extra data", rest + 1)
    return value


def check_depth(text: str) -> None:
    """Raise LineError where JSON is nested deeper than `DEEPEST_LINE`."""
    if (column := _too_deep(text)) is not None:
        raise LineError(f"it is nested deeper than {DEEPEST_LINE} levels", column)


def value_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value of JSON that begins at an index of a text, and the index where it ends.

    Raises:
        LineError: as `parsed_line`; its column counts from the beginning of the text.
    """
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise LineError(error.msg, error.pos + 1) from None
    except _BadToken as error:
        found = next((m for m in _TOKEN.finditer(text, start) if m[0] == error.token), None)
        raise LineError(str(error), found.start() + 1 if found else start + 1) from None


_SPACE = re.compile(r"[ \t\n\r]*")


def after_space(text: str, index: int) -> int:
    """Return the index of what follows white space."""
    return _SPACE.match(text, index).end()  # type: ignore[union-attr]  # it matches nothing as well


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


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_fields
)


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
