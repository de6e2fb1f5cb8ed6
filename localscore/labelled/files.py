"""Files and folders of human judgments → records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localscore.errors import DataError
from localscore.labelled.records import Kind, Labelled
from localscore.labelled.rows import MODELS, Other, recognised, told

OTHER_JUDGES = "other_judges.jsonl"
"""The name under which other judges' predictions are looked for beside a single file."""


@dataclass(frozen=True)
class Records:
    """What a file or folder of human judgments holds."""

    source: str
    items: tuple[Labelled, ...]
    others: tuple[Other, ...] = ()
    left_out: tuple[str, ...] = ()
    """Files that hold no judgments of a known kind."""


def read(path: str | Path) -> Records:
    """Read a file of human judgments, or all such files in a folder.

    Raises:
        DataError: nothing there, no file of a known kind, or bad rows; all of them are listed.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
    else:
        beside = path.with_name(OTHER_JUDGES)
        files = [path, beside] if beside.is_file() and beside != path else [path]
    items: dict[tuple[Kind, str], Labelled] = {}
    others: list[Other] = []
    left_out: list[str] = []
    complaints: list[str] = []
    for file in files:
        rows, bad = _rows(file)
        complaints += bad
        model = recognised(rows[0][1]) if rows else None
        if model is None:
            left_out += [] if bad else [str(file)]
            continue
        for where, row in rows:
            try:
                said = model.model_validate(row)
            except ValidationError as error:
                complaints += [f"{where}: {told(problem)}" for problem in error.errors()]
                continue
            if isinstance(said, Other):
                others.append(said)
                continue
            for item in said.items():
                if (item.kind, item.id) in items:
                    complaints.append(f"{where}: id {item.id!r} is there twice")
                items[item.kind, item.id] = item
    if complaints:
        raise DataError(f"{path} cannot be read ({len(complaints)} problems):", complaints)
    if not items:
        raise DataError(f"{path} holds no human judgments of a known kind.", hint=_HINT)
    return Records(str(path), tuple(items.values()), tuple(others), tuple(left_out))


_HINT = "A row has " + "; or ".join(", ".join(sorted(fields)) for fields, _ in MODELS[:-1]) + "."


def _rows(file: Path) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return the rows of a file with where they are, and a complaint for each that cannot be read."""
    rows: list[tuple[str, dict[str, Any]]] = []
    bad: list[str] = []
    for where, raw in _lines(file):
        try:
            row = json.loads(raw)
        except (ValueError, RecursionError) as error:
            bad.append(f"{where}: not JSON: {error}")
            continue
        if isinstance(row, dict):
            rows.append((where, row))
        else:
            bad.append(f"{where}: is {type(row).__name__}; expected an object")
    return rows, bad


def _lines(file: Path) -> Iterator[tuple[str, bytes]]:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file or folder {str(file)!r}.") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error}") from None
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if raw.strip():
            yield f"{file}:{number}", raw
