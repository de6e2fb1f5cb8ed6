"""The file in which a project says how it uses localscore.

`localscore.toml`, or the table `[tool.localscore]` of `pyproject.toml`, in a folder or one above it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from localscore.errors import OptionError

OWN = "localscore.toml"

FILES = {OWN: (), "pyproject.toml": ("tool", "localscore")}
"""Names of the file, and where in it the table is."""


class Told(NamedTuple):
    """What one file says."""

    path: Path
    name: str
    """Of the table: empty, or `tool.localscore`."""
    table: Mapping[str, Any]


def found_from(folder: Path) -> Iterator[Told]:
    """Give what the files say, from a folder upwards.

    Raises:
        OptionError: a file is not TOML, or holds something else under the table's name.
    """
    for parent in (folder, *folder.parents):
        for name, keys in FILES.items():
            told = _read(parent / name, keys)
            if told is not None:
                yield told


def _read(path: Path, keys: tuple[str, ...]) -> Told | None:
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} cannot be read: {error}") from None
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    if table is not None and not isinstance(table, Mapping):
        raise OptionError(f"{path}: [{'.'.join(keys)}] is {table!r}; expected a table.")
    return None if table is None else Told(path, ".".join(keys), table)
