"""`localscore calibrate`: fit a judge's probabilities to verdicts of people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore import api, engine
from localscore.cache import cache_path, cached
from localscore.cli.app import STOPPED, app, data, say
from localscore.cli.options import (
    Backend,
    BatchTokens,
    Cache,
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
def calibrate(
    source: Annotated[
        Path, typer.Argument(metavar="LABELLED", help="A JSONL file of human judgments, or a folder of such.")
    ],
    judge: JudgeName,
    out: Annotated[Path, typer.Option(help="Folder for the answers, the measures, and calibration.toml.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many records of each kind, spread over its sets.")
    ] = None,
    kinds: Annotated[
        str, typer.Option(help="Comma-separated: relevance, attribution, usage, sufficiency.")
    ] = "",
    sets: Annotated[str, typer.Option(help="Comma-separated names of sets.")] = "",
    install: Annotated[
        bool, typer.Option(help="Write it next to the judge too, where every command finds it.")
    ] = True,
    backend: Backend = "auto",
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    batch_tokens: BatchTokens = None,
    verify: Verify = "quick",
    cache: Cache = None,
    no_cache: NoCache = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Ask all again where DIR holds other answers.")
    ] = False,
    quiet: Quiet = False,
    help_all: HelpAll = False,
) -> None:
    """Fit a judge's probabilities to verdicts of people, and say what that changes.

    Example: localscore calibrate judgments --judge starter --out runs/calibration

    What is told of after was measured on records that the calibration had not seen (cross-validation by query).
    """
    from localscore import agreement, labelled
    from localscore.agreement.calibrating import CALIBRATION, on_card
    from localscore.calibration import CALIBRATED
    from localscore.files import write_whole
    from localscore.judges.cards import Tuning, read_tuning, tables, with_tables
    from localscore.judges.loading import own_card

    agreement.require_statistics()
    records = labelled.read(source)
    wanted = names(kinds) or [kind for kind in CALIBRATED if any(i.kind == kind for i in records.items)]
    items = labelled.chosen(records.items, kinds=wanted, sets=names(sets), limit=limit)
    loaded = api.load_judge(
        judge,
        backend=backend,
        device=device,
        dtype=dtype,
        quantize=quantize,
        batch_tokens=batch_tokens,
        verify=verify,
        calibration="none",
    )
    kept_in = None if no_cache else cache or cache_path()
    with progress_shown(len(items), loaded, quiet=quiet) as show, cached(loaded, kept_in) as asked:
        try:
            found = agreement.calibrate(
                items,
                asked,
                out,
                others=records.others,
                corpus=records.items,
                overwrite=overwrite,
                source=records.source,
                listener=None if show is None else lambda done: show(engine.Progress(done, done)),
            )
        except KeyboardInterrupt:
            say("Stopped. What was answered is kept; the same command carries on.")
            raise typer.Exit(STOPPED) from None
    if not quiet:
        from localscore.reports.agreement import calibration_tables

        data().print(calibration_tables(found.before, found.after))
    say(f"The calibration is in {out / CALIBRATION}.")
    if install:
        own = own_card(judge)
        earlier = read_tuning(own) if own.is_file() else Tuning()
        text = own.read_text(encoding="utf-8") if own.is_file() else ""
        text = with_tables(
            text, "calibration", tables("calibration", {**earlier.calibration, **found.calibrations})
        )
        text = with_tables(
            text, "agreement", tables("agreement", {**earlier.agreement, **on_card(found.after)})
        )
        write_whole(own, text.encode())
        say(f"It is used from now on: {own}. Take its tables out of that file to go back.")
