"""`localscore report` and `localscore export`: a run as a page, and as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore.cli.app import app, say

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
    from localscore.reports.run_page import REPORT, run_page
    from localscore.runs import load_run, write_whole

    run = load_run(folder)
    page = run_page(run, load_run(baseline) if baseline is not None else None).encode()
    path = out or folder / REPORT
    write_whole(path, page)
    say(f"The report is {path} ({len(page) / 1e6:.1f} MB).")
