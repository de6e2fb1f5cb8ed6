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
from typing import Annotated

import typer
from rich.console import Console

from localscore import offline
from localscore.errors import JudgeBroke, LocalscoreError, ScoreFailed
from localscore.texts import visible

UNWELL, WRONG, SOME_FAILED, STOPPED = 1, 2, 3, 130

talk = Console(stderr=True, highlight=False)
"""For people: progress, notes, errors."""

app = typer.Typer(
    name="localscore",
    help="Score retrieval-augmented answers with open-weight judges, offline.",
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


COMMANDS = {
    "score": "score",
    "metrics": "score",
    "rescore": "rescore",
    "compare": "compare",
    "gate": "gate",
    "report": "report",
    "export": "report",
    "agree": "agree",
    "calibrate": "calibrate",
    "cache": "cache",
    "explain": "explain",
    "models": "models",
    "doctor": "doctor",
    "bundle": "bundle",
}
"""Each command and the module that adds it to the app."""


def _add_commands(first: str) -> None:
    """Import the module of the command that is named first, or else of all: help names them all."""
    modules = [COMMANDS[first]] if first in COMMANDS else dict.fromkeys(COMMANDS.values())
    for module in modules:
        import_module(f"localscore.cli.{module}")


def run() -> None:
    """Run a command; an error on purpose becomes one message and exit status 2, without a traceback."""
    offline.enforce()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a text that the terminal has no characters for is no error
            stream.reconfigure(errors="replace")
    _add_commands(sys.argv[1] if len(sys.argv) > 1 else "")
    log = logging.getLogger("localscore")
    log.setLevel(logging.INFO)
    log.handlers = [_Talk()]
    log.propagate = False
    try:
        app()
    except LocalscoreError as error:
        say(f"Error: {error.message}")
        if error.hint:
            say(error.hint)
        sys.exit(SOME_FAILED if isinstance(error, JudgeBroke | ScoreFailed) else WRONG)
    except OSError as error:  # a disk that is full, a folder that may not be read
        say(f"Error: {error}")
        sys.exit(WRONG)
