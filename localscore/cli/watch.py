"""`localscore watch`: a file that others append to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localscore.cache import cache_path
from localscore.cli.app import app, say
from localscore.cli.options import (
    Backend,
    BatchTokens,
    Cache,
    CalibrationChoice,
    ContextsFrom,
    Device,
    Dtype,
    HelpAll,
    JudgeName,
    Map,
    MaxMissingPenalty,
    Metrics,
    MissingPenalty,
    NoCache,
    Quantize,
    Quiet,
    Scale,
    SplitContexts,
    UnusedHighPenalty,
    Verify,
    mapping,
    separator,
)
from localscore.cli.progress import progress_shown
from localscore.cli.score import DEFAULT_METRICS, print_line, shown
from localscore.metrics.written import metrics_of
from localscore.scoring import Penalties


@app.command()
def watch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSONL file; it may not be there yet.")],
    judge: JudgeName,
    out: Annotated[
        Path | None, typer.Option(help="Folder for run.json, results.jsonl, summary.json.")
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="End after so long without a new row."),
    ] = None,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="How often to look.")] = 1.0,
    metrics: Metrics = DEFAULT_METRICS,
    map_: Map = None,
    contexts_from: ContextsFrom = "column",
    split_contexts: SplitContexts = None,
    scale: Scale = 1.0,
    unused_high_penalty: UnusedHighPenalty = Penalties.unused_high_relevance_context,
    missing_penalty: MissingPenalty = Penalties.missing_context_per_item,
    max_missing_penalty: MaxMissingPenalty = Penalties.max_missing_context_penalty,
    backend: Backend = "auto",
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    batch_tokens: BatchTokens = None,
    verify: Verify = "quick",
    calibration: CalibrationChoice = "auto",
    cache: Cache = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    help_all: HelpAll = False,
) -> None:
    """Score the rows of a file as they are appended to it.

    Example: localscore watch live.jsonl --judge starter --out runs/live

    It ends with Ctrl-C, or with --idle; the same command carries on. Rows that cannot be read are told and left out.
    Exit status: 0 done; 2 the command or the data was wrong; 3 finished, but some scores failed.
    """
    from localscore import api, watching

    penalties = Penalties(unused_high_penalty, missing_penalty, max_missing_penalty)
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
    if not quiet:
        say(f"Watching {file}; Ctrl-C ends it.")
    with progress_shown(None, loaded, quiet=quiet) as listener:
        run = watching.watch(
            file,
            judge=loaded,
            metrics=metrics_of(metrics, scale=scale, penalties=penalties),
            out=out,
            mapping=mapping(map_ or []),
            contexts_from=contexts_from,
            split_contexts=separator(split_contexts),
            every=every,
            idle=idle,
            cache=None if no_cache else cache or cache_path(),
            listener=listener,
            on_result=print_line if out is None else None,
            on_complaint=lambda complaint: say(f"Left out: {complaint}"),
        )
    shown(run, quiet=quiet)
