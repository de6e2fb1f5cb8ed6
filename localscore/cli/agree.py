"""`localscore agree`: how well a judge agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore import api, engine
from localscore.cache import cache_path, cached
from localscore.cli.app import SOME_FAILED, STOPPED, app, data, say
from localscore.cli.options import (
    Backend,
    BatchTokens,
    Cache,
    CalibrationChoice,
    Device,
    Dtype,
    HelpAll,
    JudgeName,
    NoCache,
    Quantize,
    Quiet,
    Verify,
    names,
)
from localscore.cli.progress import progress_shown


@app.command()
def agree(
    source: Annotated[
        Path, typer.Argument(metavar="LABELLED", help="A JSONL file of human judgments, or a folder of such.")
    ],
    judge: JudgeName,
    out: Annotated[
        Path | None, typer.Option(help="Folder for answers.jsonl, agreement.json and agreement.html.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many records of each kind, spread over its sets.")
    ] = None,
    kinds: Annotated[
        str, typer.Option(help="Comma-separated: relevance, attribution, usage, sufficiency, claims.")
    ] = "",
    sets: Annotated[str, typer.Option(help="Comma-separated names of sets.")] = "",
    backend: Backend = "auto",
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    batch_tokens: BatchTokens = None,
    verify: Verify = "quick",
    calibration: CalibrationChoice = "auto",
    cache: Cache = None,
    no_cache: NoCache = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Ask all again where DIR holds other answers.")
    ] = False,
    quiet: Quiet = False,
    help_all: HelpAll = False,
) -> None:
    """Measure how well a judge agrees with people.

    Example: localscore agree judgments --judge starter --out runs/agree

    Word overlap, a contestant without a model, is in every table, and so are the judges of other_judges.jsonl.
    Exit status: 0 done; 2 the command or the data was wrong; 3 finished, but some verdicts could not be had.
    """
    from localscore import agreement, labelled

    agreement.require_statistics()
    records = labelled.read(source)
    for file in records.left_out:
        say(f"Left out: {file} holds no judgments of a known kind.")
    items = labelled.chosen(records.items, kinds=names(kinds), sets=names(sets), limit=limit)
    loaded = api.load_judge(
        judge,
        backend=backend,
        device=device,
        dtype=dtype,
        quantize=quantize,
        batch_tokens=batch_tokens,
        verify=verify,
        calibration=calibration,
    )
    kept_in = None if no_cache else cache or cache_path()
    with progress_shown(len(items), loaded, quiet=quiet) as show, cached(loaded, kept_in) as asked:
        try:
            found = agreement.agree(
                items,
                asked,
                others=records.others,
                corpus=records.items,
                out=out,
                overwrite=overwrite,
                source=records.source,
                options={"kinds": names(kinds), "sets": names(sets), "limit": limit},
                listener=None if show is None else lambda done: show(engine.Progress(done, done)),
            )
        except KeyboardInterrupt:
            say(
                "Stopped."
                if out is None
                else "Stopped. What was answered is kept; the same command carries on."
            )
            raise typer.Exit(STOPPED) from None
    if out is not None:
        from localscore.files import write_whole
        from localscore.reports.agreement_page import PAGE, agreement_page

        write_whole(out / PAGE, agreement_page(found).encode())
    if not quiet:
        from localscore.reports.agreement import agreement_tables

        data().print(agreement_tables(found))
        if out is not None:
            say(f"All measures are in {out / 'agreement.json'}, and as a page in {out / PAGE}.")
    failed = sum(sum(kind.failed.values()) for kind in found.kinds.values())
    if failed:
        say(f"{failed} verdict{'s' * (failed != 1)} could not be had; they are in no measure.")
        raise typer.Exit(SOME_FAILED)
