"""`localscore report` and `localscore export`: a run as a page, and as a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from localscore.cli.app import app, say
from localscore.errors import OptionError

Folder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]


@app.command()
def report(
    folder: Folder,
    baseline: Annotated[
        Path | None, typer.Option(metavar="RUN0", help="An earlier run; the page shows the differences.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The page; RUN/report.html where not given.")] = None,
) -> None:
    """Write a run as one HTML page that opens without a network.

    Example: localscore report runs/new --baseline runs/old --out report.html
    """
    from localscore.files import write_whole
    from localscore.reports.run_page import REPORT, run_page
    from localscore.runs import load_run

    run = load_run(folder)
    page = run_page(run, load_run(baseline) if baseline is not None else None).encode()
    path = out or folder / REPORT
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page)
    say(f"The report is {path} ({len(page) / 1e6:.1f} MB).")


@app.command()
def export(
    folder: Folder,
    format_: Annotated[
        Literal["csv", "markdown", "parquet", "openinference", "otel", "mlflow"],
        typer.Option("--format", help="parquet and mlflow need the extras of these names."),
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option(help="The file, or MLflow's folder; standard output where not given.")
    ] = None,
) -> None:
    """Write a run for other programs.

    Example: localscore export runs/rag --format parquet --out rag.parquet

    csv, markdown, parquet: a table, a row per sample with scores, statuses, bands, reasons, counts.
    openinference, otel: an annotation per sample and metric, as Phoenix takes them, or as OpenTelemetry's events.
    mlflow: adds means and options to MLflow's folder, ./mlruns where --out is not given.
    """
    from localscore.files import write_whole
    from localscore.reports.exports import FORMATS
    from localscore.runs import load_run

    if format_ == "mlflow":
        from localscore.reports.tracking import log_to_mlflow

        into = out or Path("mlruns")
        say(f"It is run {log_to_mlflow(load_run(folder), into)} in {into}.")
        return
    content = FORMATS[format_](load_run(folder))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, content)
    elif format_ == "parquet" and sys.stdout.isatty():
        raise OptionError("Parquet is not for a terminal.", hint="Give a file with --out.")
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
