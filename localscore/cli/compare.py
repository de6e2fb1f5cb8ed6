"""`localscore compare`: what moved between runs, and whether it is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore.cli.app import app, data
from localscore.cli.options import mapping
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
    foreign: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Results of ragas, DeepEval, Mastra… to put beside one run."),
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="THEIRS=OURS", help="With --foreign: which metric is which."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a comparison, with every sample that moved.")
    ] = False,
) -> None:
    """Compare runs sample by sample, without a model.

    Example: localscore compare runs/before runs/after --by lang

    Two runs may differ in the contexts that were retrieved and the answers; that is what is compared.
    With --foreign one run is put beside scores of another tool: means and correlations, by metric.
    Exit status: 0 done; 2 the runs cannot be compared.
    """
    if foreign is not None:
        _beside(folders, foreign, mapping(map_ or []), show=show, json=json)
        return
    if len(folders) < 2:
        hint = "Give the baseline first and what is compared with it, or --foreign FILE."
        raise OptionError("One run was given.", hint=hint)
    first, *others = (load_run(folder, judgments=False) for folder in folders)
    for run in others:
        comparison = compare_runs(first, run, by=by or (), anyway=anyway)
        if json:
            typer.echo(comparison.model_dump_json())
        else:
            from localscore.reports.comparison import comparison_tables

            data().print(comparison_tables(comparison, show=show))


def _beside(folders: list[Path], file: str, names: dict[str, str], *, show: int, json: bool) -> None:
    from localscore.foreign import beside
    from localscore.reports.foreign import foreign_tables

    if len(folders) != 1:
        raise OptionError(f"{len(folders)} runs were given; --foreign is put beside one.")
    comparison = beside(load_run(folders[0], judgments=False), file, mapping=names)
    if json:
        typer.echo(comparison.model_dump_json())
    else:
        data().print(foreign_tables(comparison, show=show))
