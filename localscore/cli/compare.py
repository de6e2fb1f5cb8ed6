"""`localscore compare`: what moved between runs, and whether it is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore.cli.app import app, data
from localscore.compare import compare as compare_runs
from localscore.errors import OptionError
from localscore.runs import load_run


@app.command()
def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="A B...", help="Folders of runs; each is compared with the first.")
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Split by a column of the data; may be repeated."),
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="How many of the samples that moved most to show.")] = 10,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare runs whose judge, prompts, options or questions differ.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a comparison, with every sample that moved.")
    ] = False,
) -> None:
    """Compare runs sample by sample, without a model.

    Example: localscore compare runs/before runs/after --by lang

    Two runs may differ in the contexts that were retrieved and the answers; that is what is compared.
    Exit status: 0 done; 2 the runs cannot be compared.
    """
    if len(folders) < 2:
        raise OptionError("One run was given.", hint="Give the baseline first and what is compared with it.")
    first, *others = (load_run(folder, judgments=False) for folder in folders)
    for run in others:
        comparison = compare_runs(first, run, by=by or (), anyway=anyway)
        if json:
            typer.echo(comparison.model_dump_json())
        else:
            from localscore.reports.comparison import comparison_tables

            data().print(comparison_tables(comparison, show=show))
