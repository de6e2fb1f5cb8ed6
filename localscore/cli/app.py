"""The commands' common ground.

Exit status: 0 done; 2 the command or the data was wrong; 3 finished, but some scores failed, or the judge broke
and the same command carries on; 130 stopped by the user; 1 `doctor` found something wrong.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from localscore import offline
from localscore.errors import JudgeBroke, LocalscoreError, ScoreFailed
from localscore.texts import visible

UNWELL, WRONG, SOME_FAILED, STOPPED = 1, 2, 3, 130

talk = Console(stderr=True, highlight=False)
"""For people: progress, notes, errors."""

COMMANDS = {
    "score": ("score", "Score a file of samples."),
    "watch": ("watch", "Score the rows of a file as they are appended to it."),
    "metrics": ("score", "List the metrics, what they look at, and what they mean."),
    "explain": ("explain", "Show one sample: prompts as sent, verdicts, arithmetic."),
    "report": ("report", "Write a run as one HTML page that opens without a network."),
    "export": ("report", "Write a run for other programs."),
    "rescore": ("rescore", "Score a run's verdicts again with other options."),
    "compare": ("compare", "Compare runs sample by sample."),
    "gate": ("gate", "Check a run against thresholds."),
    "agree": ("agree", "Measure how well a judge agrees with people."),
    "calibrate": ("calibrate", "Fit a judge's probabilities to verdicts of people."),
    "models": ("models", "Judges: which there are, and bringing them here."),
    "cache": ("cache", "Verdicts that were given already."),
    "init": ("config", "Write a commented localscore.toml."),
    "config": ("config", "Show the settings in force, and where each comes from."),
    "doctor": ("doctor", "Look whether this machine can judge."),
    "bundle": ("bundle", "Pack localscore and a judge for a machine without a network."),
}
"""Each command, the module that adds it to the app, and what the list of commands says of it."""

EXAMPLES = """\b
Examples:
  localscore models pull starter
  localscore score rag.jsonl --judge starter --out runs/rag
  localscore explain runs/rag 1
  localscore gate runs/rag --min context_recall=0.8
"""


class Commands(TyperGroup):
    """The commands, of which help tells without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of those that were imported, in the order of `COMMANDS`."""
        return [name for name in COMMANDS if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    name="localscore",
    cls=Commands,
    help="Score retrieval-augmented answers with open-weight judges, offline.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the boxes cut the names of long options off
    context_settings={"help_option_names": ["-h", "--help"]},
)


def data(least: int = 80) -> Console:
    """Return the console for results on stdout: as wide as the terminal, but not narrower than a table can be."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.width = max(console.width, least)
    elif "COLUMNS" not in os.environ:
        console.width = 140
    return console


def say(line: str) -> None:
    """Say one line on stderr."""
    talk.print(visible(line), markup=False, soft_wrap=True)


def show(text: str = "") -> None:
    """Print a text that quotes texts under judgment: as it is for a file, made `visible` for a terminal."""
    typer.echo(visible(text) if sys.stdout.isatty() else text)


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(version_of("localscore"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class _Talk(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _add_commands(first: str) -> None:
    """Import the module of the command that is named first, or of all: a wrong name is told with the ones like it."""
    if not first.startswith("-"):
        modules = [COMMANDS[first][0]] if first in COMMANDS else [module for module, _ in COMMANDS.values()]
        for module in dict.fromkeys(modules):
            import_module(f"localscore.cli.{module}")


def _defaults() -> dict[str, Any]:
    """Return what the project's file sets, by command and option."""
    from localscore.settings import found_from

    values = found_from(Path.cwd()).values
    if not values:
        return {}
    from localscore.cli.options import defaults

    return defaults(get_command(app), values)


def run() -> None:
    """Run a command; an error on purpose becomes one message and exit status 2, without a traceback."""
    offline.enforce()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a text that the terminal has no characters for is no error
            stream.reconfigure(errors="replace")
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    _add_commands(first)
    log = logging.getLogger("localscore")
    log.setLevel(logging.INFO)
    log.handlers = [_Talk()]
    log.propagate = False
    try:
        get_command(app)(prog_name="localscore", default_map=_defaults() if first in COMMANDS else None)
    except LocalscoreError as error:
        say(f"Error: {error.message}")
        if error.hint:
            say(error.hint)
        sys.exit(SOME_FAILED if isinstance(error, JudgeBroke | ScoreFailed) else WRONG)
    except OSError as error:  # a disk that is full, a folder that may not be read
        say(f"Error: {error}")
        sys.exit(WRONG)
