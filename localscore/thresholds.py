"""Thresholds from the project's file, and from the command line, which wins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localscore import project
from localscore.errors import OptionError
from localscore.gate import Thresholds

TABLE = "gate"
"""The table of the project's file that holds them."""


@dataclass(frozen=True)
class Settings:
    """Thresholds, and the baseline's folder, as they were given; each may be absent."""

    min: dict[str, float] = field(default_factory=dict)
    max_drop: dict[str, float] = field(default_factory=dict)
    max_failed: int | None = None
    significant: bool | None = None
    baseline: Path | None = None

    def over(self, other: Settings) -> Settings:
        """Return these settings, and the other's where these say nothing."""
        return Settings(
            min=other.min | self.min,
            max_drop=other.max_drop | self.max_drop,
            max_failed=self.max_failed if self.max_failed is not None else other.max_failed,
            significant=self.significant if self.significant is not None else other.significant,
            baseline=self.baseline or other.baseline,
        )

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds alone.

        Raises:
            OptionError: there are none, or one that cannot be meant.
        """
        return Thresholds(self.min, self.max_drop, self.max_failed, bool(self.significant))


def parsed(option: str, pairs: Sequence[str]) -> dict[str, float]:
    """Return the numbers by metric in `METRIC=NUMBER`.

    Raises:
        OptionError: it is not that, or a metric is named twice.

    >>> parsed("--min", ["context_recall=0.8"])
    {'context_recall': 0.8}
    """
    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, number = (part.strip() for part in pair.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not name or not equals or not math.isfinite(value):
            raise OptionError(f"{option} {pair}: expected METRIC=NUMBER, such as context_recall=0.8.")
        if name in found:
            raise OptionError(f"{option} {pair}: there is a threshold for {name} already.")
        found[name] = value
    return found


def found_from(folder: Path) -> Settings:
    """Return the settings of the first file that has any, from a folder upwards.

    Raises:
        OptionError: the file is not TOML, or holds a setting that is not known or of another kind.
    """
    for path, outer, table in project.found_from(folder):
        if TABLE in table:
            return _settings(table[TABLE], path, f"{outer}.{TABLE}".removeprefix("."))
    return Settings()


def _settings(table: Any, path: Path, name: str) -> Settings:
    where = f"{path}: [{name}]"
    if not isinstance(table, Mapping):
        raise OptionError(f"{where} is {table!r}; expected a table.")
    told = {str(key).replace("-", "_"): value for key, value in table.items()}
    unknown = [key for key in told if key not in _KINDS]
    if unknown:
        known = ", ".join(_KINDS)
        raise OptionError(
            f"{where} has {', '.join(unknown)}, which is not known.", hint=f"Known are {known}."
        )
    for key, value in told.items():
        expected, fits = _KINDS[key]
        if not fits(value):
            raise OptionError(f"{where} {key} is {value!r}; expected {expected}.")
    if "baseline" in told:
        told["baseline"] = path.parent / told["baseline"]
    return Settings(**told)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_numbers(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


_KINDS = {
    "min": ("a table of numbers by metric", _are_numbers),
    "max_drop": ("a table of numbers by metric", _are_numbers),
    "max_failed": ("a whole number", lambda value: isinstance(value, int) and _is_number(value)),
    "significant": ("true or false", lambda value: isinstance(value, bool)),
    "baseline": ("the folder of a run", lambda value: isinstance(value, str)),
}
"""What each setting has to be, in words and as a test."""
