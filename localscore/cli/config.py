"""`localscore init` and `localscore config`: the settings of a project."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from localscore.cli import completing
from localscore.cli.app import app, data, say
from localscore.errors import OptionError
from localscore.project import OWN

HEAD = """\
# How localscore is used in this folder and below.
# A flag wins over an environment variable (LOCALSCORE_JUDGE, …), that over this file, that over the default;
# `localscore config` shows what is in force, and where it comes from.
"""

GATE = """
# Thresholds of `localscore gate`.
# [gate]
# baseline = "runs/main"
# max_failed = 0
# significant = true
#
# [gate.min]
# context_recall = 0.8
#
# [gate.max_drop]
# context_relevance = 0.02
"""


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write it.")] = Path(),
    judge: Annotated[
        str, typer.Option(metavar="NAME", help="The judge.", autocompletion=completing.judges)
    ] = "starter",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
) -> None:
    """Write a commented localscore.toml.

    Example: localscore init --judge starter

    It says which judge is asked and how, so that commands need not; `localscore config` shows what is in force.
    """
    path = folder / OWN
    if path.exists() and not overwrite:
        raise OptionError(f"{path} is there already.", hint="Edit it, or pass --overwrite.")
    from localscore.files import write_whole

    lines = [HEAD]
    for name, parameter in _settings():
        value = judge if name == "judge" else parameter.default
        lines.append(f"\n# {parameter.help}\n{'' if name == 'judge' else '# '}{_written(name, value)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join([*lines, GATE]).encode())
    say(f"Wrote {path}.")


def _written(name: str, value: Any) -> str:
    """Return a line of TOML; where there is no default, an example."""
    examples = {"map": {"their_question": "query"}, "split_contexts": "|", "batch_tokens": 16384}
    value = examples.get(name, "verdicts.sqlite") if value is None else value
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {json.dumps(told)}" for key, told in value.items())
        return f"{name} = {{ {inner} }}"
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


@app.command()
def config(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show the settings in force, and where each comes from.

    Example: LOCALSCORE_DEVICE=cpu localscore config

    A flag of a command wins over an environment variable, that over localscore.toml (or [tool.localscore] in
    pyproject.toml) here or in a folder above, that over the default.
    """
    from localscore.cache import cache_path
    from localscore.judges.store import home
    from localscore.settings import found_from

    found = found_from(Path.cwd())
    told: dict[str, tuple[Any, str]] = {}
    for name, parameter in _settings():
        if os.environ.get(parameter.envvar):
            told[name] = os.environ[parameter.envvar], parameter.envvar
        elif name in found.values:
            told[name] = found.values[name], str(found.path)
        else:
            told[name] = parameter.default, "default"
    if told["cache"][0] is None:
        told["cache"] = str(cache_path()), "default"
    told["home"] = str(home()), "LOCALSCORE_HOME" if os.environ.get("LOCALSCORE_HOME") else "default"
    if as_json:
        typer.echo(
            json.dumps({name: {"value": value, "from": where} for name, (value, where) in told.items()})
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("setting", "in force", "from")
    for name, (value, where) in told.items():
        table.add_row(name, Text("" if value is None else str(value)), Text(where))
    data().print(table)


def _settings() -> list[tuple[str, Any]]:
    """Return all settings by name, each with its option of `score`, which has them all."""
    from localscore.cli.options import settings_of

    import_module("localscore.cli.score")
    commands: Any = get_command(app)
    return list(settings_of(commands.commands["score"]))
