"""The options with which every command that asks a judge names it and says how it computes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from localscore.errors import OptionError

JudgeName = Annotated[str, typer.Option(help="A card (see `models list`), a model folder, or a .gguf file.")]
Backend = Annotated[
    Literal["auto", "transformers", "llamacpp"],
    typer.Option(
        help="What reads; llamacpp takes a GGUF file as it is, in less memory. auto is transformers."
    ),
]
Device = Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="auto takes a GPU if there is one.")]
Dtype = Annotated[
    Literal["auto", "float32", "bfloat16", "float16"], typer.Option(help="auto is float32 on a CPU.")
]
Quantize = Annotated[
    Literal["none", "fp16-weights", "int8"], typer.Option(help="Cheaper arithmetic on a CPU.")
]
CalibrationChoice = Annotated[
    str,
    typer.Option(
        "--calibration", help="auto (the judge's own, or its card's), none, prior, or a file of `calibrate`."
    ),
]
Verify = Annotated[
    Literal["quick", "full"], typer.Option(help="full reads all of the judge's files again and checks them.")
]
BatchTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Most tokens in a pass where prompts are read together, as on a GPU."),
]
Cache = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where verdicts are kept for all runs; see `localscore cache`."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the judge everything, and keep nothing.")]


def names(told: str) -> list[str]:
    """Return the parts of a comma-separated option."""
    return [name for name in (part.strip() for part in told.split(",")) if name]


def mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Return what `--map` says, which may be repeated."""
    found = {}
    for pair in pairs:
        theirs, equals, ours = pair.rpartition("=")
        if not equals or not theirs or not ours:
            raise OptionError(f"--map {pair}: expected theirs=ours.")
        found[theirs] = ours
    return found
