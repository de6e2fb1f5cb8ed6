"""`localscore gate`: whether a run meets its thresholds, for a CI."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from localscore.cli.app import app, data, say
from localscore.errors import RunError
from localscore.files import write_whole
from localscore.gate import Verdict, unreadable
from localscore.gate import gate as check
from localscore.runs import Run, load_run
from localscore.thresholds import Settings, found_from, parsed

STATUS = {"met": 0, "not met": 1, "not checked": 2}


@app.command()
def gate(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    least: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="METRIC=NUMBER", help="The least mean; may be repeated."),
    ] = None,
    max_drop: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=NUMBER", help="The most below the baseline's mean; may be repeated."),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The run that --max-drop compares with.")
    ] = None,
    max_failed: Annotated[
        int | None, typer.Option(min=0, help="The most scores that could not be had.")
    ] = None,
    significant: Annotated[
        bool | None,
        typer.Option(
            "--significant/--any-drop", help="Mind a drop only where its 95 % interval excludes zero."
        ),
    ] = None,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Take a baseline whose judge, prompts, options or questions differ."),
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    markdown: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a Markdown table; - prints it instead.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table.")] = False,
) -> None:
    """Check a run against thresholds, without a model.

    Example: localscore gate runs/rag --min context_recall=0.8 --max-failed 0

    Thresholds may also stand in localscore.toml under [gate], or in pyproject.toml under [tool.localscore.gate],
    here or in a folder above; what the command line says wins.
    Exit status: 0 all are met; 1 one is not; 2 one could not be checked.
    """
    told = Settings(
        min=parsed("--min", least or ()),
        max_drop=parsed("--max-drop", max_drop or ()),
        max_failed=max_failed,
        significant=significant,
        baseline=baseline,
    )
    verdict = _verdict(folder, told.over(found_from(Path.cwd())), anyway=anyway)
    try:
        _write(verdict, junit, markdown, quiet=quiet)
    except BrokenPipeError:  # whoever reads has seen enough; typer's status for it, 1, would say "not met"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(STATUS[verdict.outcome])


def _verdict(folder: Path, settings: Settings, *, anyway: bool) -> Verdict:
    thresholds = settings.thresholds
    run = _read(folder)
    if isinstance(run, RunError):
        return unreadable(str(folder), run)
    baseline = _read(settings.baseline) if settings.baseline and thresholds.max_drop else None
    return check(run, thresholds, baseline=baseline, anyway=anyway)


def _read(folder: Path) -> Run | RunError:
    try:
        return load_run(folder, judgments=False)
    except RunError as error:
        return error


def _write(verdict: Verdict, junit_file: Path | None, markdown_file: str | None, *, quiet: bool) -> None:
    from localscore.reports.gate import gate_table, junit, markdown

    if junit_file is not None:
        write_whole(junit_file, junit(verdict))
    if markdown_file == "-":
        typer.echo(markdown(verdict), nl=False)
    elif markdown_file is not None:
        write_whole(Path(markdown_file), markdown(verdict).encode())
    if not quiet and markdown_file != "-":
        console = data()
        with console.capture() as table:  # rich, too, would end with 1 where nobody reads
            console.print(gate_table(verdict))
        typer.echo(table.get(), nl=False)
    elif not quiet and verdict.outcome != "met":
        say(f"{verdict.run}: {verdict.outcome}.")
