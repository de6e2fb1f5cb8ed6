"""What the project's file says of how samples are read and judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from localscore import project
from localscore.errors import OptionError

ContextsFrom = Literal["column", "tool-results"]
Backend = Literal["auto", "transformers", "llamacpp"]
Device = Literal["auto", "cpu", "cuda"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Quantize = Literal["none", "fp16-weights", "int8"]
Verify = Literal["quick", "full"]

NO_SETTINGS = {"gate", "prompts", "calibration", "agreement"}
"""Tables that are others': thresholds, and what is in the card next to a judge, a file of the same name."""


class Settings(BaseModel):
    """What the file may say, under these names, with `_` or `-`; what each means is told by the options of `score`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    judge: str | None = None
    metrics: str | list[str] | None = None
    map: dict[str, str] | None = None
    contexts_from: ContextsFrom | None = None
    split_contexts: str | None = None
    scale: float | None = None
    unused_high_penalty: float | None = None
    missing_penalty: float | None = None
    max_missing_penalty: float | None = None
    skip_bad_rows: bool | None = None
    backend: Backend | None = None
    device: Device | None = None
    dtype: Dtype | None = None
    quantize: Quantize | None = None
    batch_tokens: int | None = None
    verify: Verify | None = None
    calibration: str | None = None
    cache: str | None = None


class Found(NamedTuple):
    """The settings of a project, as values of options, and their file."""

    values: Mapping[str, Any]
    path: Path | None = None


def found_from(folder: Path) -> Found:
    """Return the settings of the first file that has any, from a folder upwards.

    Raises:
        OptionError: a setting that is not known, or not of its kind.
    """
    for told in project.found_from(folder):
        table = {
            key.replace("-", "_"): value
            for key, value in told.table.items()
            if key not in NO_SETTINGS or not isinstance(value, Mapping)
        }
        if table:
            return Found(_values(table, told.path), told.path)
    return Found({})


def _values(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    try:
        told = Settings.model_validate(table).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"][:1]))
        if first["type"] == "extra_forbidden":
            hint = f"Known are {', '.join(Settings.model_fields)}, and the table gate."
            raise OptionError(f"{path}: {key} is no setting.", hint=hint) from None
        raise OptionError(f"{path}: {key} is {table[key]!r}: {first['msg']}.") from None
    if isinstance(told.get("metrics"), list):
        told["metrics"] = ",".join(told["metrics"])
    if "map" in told:
        told["map"] = [f"{theirs}={ours}" for theirs, ours in told["map"].items()]
    for name in ("judge", "calibration"):  # names, or files and folders beside the project's file
        if name in told and (path.parent / told[name]).exists():
            told[name] = str(path.parent / told[name])
    if "cache" in told:
        told["cache"] = str(path.parent / Path(told["cache"]).expanduser())
    return told
