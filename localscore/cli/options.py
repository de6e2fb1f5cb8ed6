"""The options that several commands share.

A *setting* is an option that the environment and the project's file (`localscore/settings.py`) set too. A flag wins
over the environment, that over the file, that over the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from localscore import settings
from localscore.cli import completing
from localscore.errors import OptionError

PREFIX = "LOCALSCORE_"


def setting(name: str, *declared: str, **options: Any) -> Any:
    """Return an option that `LOCALSCORE_NAME` and the project's file set too, where the command line does not."""
    return typer.Option(*declared, envvar=f"{PREFIX}{name.upper()}", show_envvar=False, **options)


def _help_all(context: typer.Context, value: bool) -> None:
    """Show the help of a command with what `--help` hides, and leave."""
    if value:
        for parameter in context.command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        raise typer.Exit


JudgeName = Annotated[
    str,
    setting(
        "judge",
        metavar="NAME",
        help="A card (`models list`), a folder, or a .gguf.",
        autocompletion=completing.judges,
    ),
]
MaybeJudge = Annotated[
    str | None,
    setting(
        "judge",
        metavar="NAME",
        help="Load this one, and ask it two questions.",
        autocompletion=completing.judges,
    ),
]
Metrics = Annotated[
    str,
    setting(
        "metrics",
        metavar="NAMES",
        show_default=False,
        help="Comma-separated; see `metrics`.",
        autocompletion=completing.metrics,
    ),
]
Map = Annotated[
    list[str] | None,
    setting("map", "--map", metavar="THEIRS=OURS", help="Column names; may be repeated."),
]
ContextsFrom = Annotated[
    settings.ContextsFrom,
    setting(
        "contexts_from", metavar="WHERE", show_default=False, help="column, or tool-results of messages."
    ),
]
SplitContexts = Annotated[
    str | None,
    setting("split_contexts", metavar="TEXT", help="What stands between joined contexts: |"),
]
Scale = Annotated[float, setting("scale", metavar="NUMBER", help="The highest score.")]
UnusedHighPenalty = Annotated[
    float,
    setting(
        "unused_high_penalty",
        metavar="NUMBER",
        hidden=True,
        help="For each highly relevant context left unused.",
    ),
]
MissingPenalty = Annotated[
    float, setting("missing_penalty", metavar="NUMBER", hidden=True, help="For each missing item.")
]
MaxMissingPenalty = Annotated[
    float,
    setting("max_missing_penalty", metavar="NUMBER", hidden=True, help="The most that missing items cost."),
]
SkipBadRows = Annotated[
    bool, setting("skip_bad_rows", "--skip-bad-rows", help="Leave rows that cannot be read out.")
]
Backend = Annotated[
    settings.Backend,
    setting(
        "backend", metavar="WHICH", hidden=True, help="auto, transformers, or llamacpp: a GGUF file as it is."
    ),
]
Device = Annotated[
    settings.Device,
    setting("device", show_default=False, help="auto takes a GPU if there is one."),
]
Dtype = Annotated[
    settings.Dtype,
    setting("dtype", metavar="DTYPE", hidden=True, help="auto, float32, bfloat16 or float16."),
]
Quantize = Annotated[
    settings.Quantize,
    setting("quantize", metavar="HOW", show_default=False, help="none, fp16-weights or int8, on a CPU."),
]
BatchTokens = Annotated[
    int | None,
    setting(
        "batch_tokens",
        min=1,
        metavar="N",
        hidden=True,
        help="Most tokens in a pass of many prompts, on a GPU.",
    ),
]
Verify = Annotated[
    settings.Verify,
    setting("verify", hidden=True, help="full reads all of the judge's files again."),
]
CalibrationChoice = Annotated[
    str,
    setting(
        "calibration",
        "--calibration",
        metavar="WHICH",
        show_default=False,
        help="auto, none, prior, or a file of `calibrate`.",
    ),
]
Cache = Annotated[Path | None, setting("cache", metavar="FILE", help="Where verdicts are kept for all runs.")]

Workers = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Processes, each with a judge; one per GPU where there are some."),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(hidden=True, help="Where workers are: processes here, or actors of Ray."),
]
Address = Annotated[
    str | None, typer.Option(hidden=True, metavar="WHERE", help="With --engine ray: a cluster, such as auto.")
]
GpusPerWorker = Annotated[
    float,
    typer.Option(hidden=True, min=0, metavar="N", help="With --engine ray: GPUs that each worker gets."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the judge everything, and keep nothing.")]
HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", is_eager=True, callback=_help_all, help="Show the options for special cases too."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]


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


def separator(told: str | None) -> str | None:
    r"""Return what `--split-contexts` says, with `\n` and `\t` as what they stand for."""
    return told and told.replace("\\n", "\n").replace("\\t", "\t")


def settings_of(command: Any) -> Iterator[tuple[str, Any]]:
    """Give the settings of a command by their names in the file, each with its parameter."""
    for parameter in command.params:
        if isinstance(parameter.envvar, str) and parameter.envvar.startswith(PREFIX):
            yield parameter.envvar.removeprefix(PREFIX).lower(), parameter


def defaults(command: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `default_map` of a command, or of a group and its commands."""
    if hasattr(command, "commands"):
        return {name: defaults(inner, values) for name, inner in command.commands.items()}
    return {parameter.name: values[name] for name, parameter in settings_of(command) if name in values}
