"""`localscore score` and `localscore metrics`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from localscore import api, columns, datasets
from localscore.cache import cache_path
from localscore.cli.app import SOME_FAILED, STOPPED, app, data, say
from localscore.cli.options import (
    Address,
    Backend,
    BatchTokens,
    Cache,
    CalibrationChoice,
    ContextsFrom,
    Device,
    Dtype,
    Engine,
    GpusPerWorker,
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
    SkipBadRows,
    SplitContexts,
    UnusedHighPenalty,
    Verify,
    Workers,
    mapping,
    separator,
)
from localscore.cli.progress import progress_shown
from localscore.errors import OptionError
from localscore.judges.loading import tuning_of
from localscore.metrics import METRICS
from localscore.metrics.written import metrics_of
from localscore.results import SampleResult
from localscore.runs import Run
from localscore.scoring import Penalties
from localscore.spreading import Pool

DEFAULT_METRICS = "context_relevance,context_recall"


@app.command()
def score(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A file (JSONL, JSON, CSV, TSV, Parquet, Arrow), a folder, or -."
        ),
    ],
    judge: JudgeName,
    out: Annotated[
        Path | None, typer.Option(help="Folder for run.json, results.jsonl, summary.json.")
    ] = None,
    metrics: Metrics = DEFAULT_METRICS,
    map_: Map = None,
    contexts_from: ContextsFrom = "column",
    split_contexts: SplitContexts = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first so many rows.")
    ] = None,
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
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
    gpus_per_worker: GpusPerWorker = 0.0,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Score all again where DIR holds a run.")
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="End with the first score that cannot be had.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: summary, and where the run is.")
    ] = False,
    quiet: Quiet = False,
    help_all: HelpAll = False,
) -> None:
    """Score a file of samples.

    Example: localscore score rag.jsonl --judge starter --out runs/rag

    Without --out the results go to stdout, a JSON line a sample; with it a table does.
    Exit status: 0 done; 2 the command or the data was wrong; 3 finished, but some scores failed.
    """
    penalties = Penalties(unused_high_penalty, missing_penalty, max_missing_penalty)
    chosen = metrics_of(metrics, scale=scale, penalties=penalties)
    names = mapping(map_ or [])
    needs = sorted({need for metric in chosen for need in metric.needs})
    dataset = datasets.read(
        source,
        mapping=names,
        contexts_from=contexts_from,
        split_contexts=separator(split_contexts),
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        needs=needs,
    )
    if not quiet:
        say(columns.told(dataset.columns))
    for complaint in dataset.complaints:
        say(f"Left out: {complaint}")
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
    if not quiet and (doubts := tuning_of(judge).doubts):
        say(f"Judge {loaded.identity.name}: {doubts}.")
    pool = _pool(engine, workers, address, gpus_per_worker, out)
    with progress_shown(len(dataset.samples), loaded, quiet=quiet) as listener:
        try:
            run = api.score(
                dataset,
                judge=loaded,
                metrics=chosen,
                out=out,
                overwrite=overwrite,
                fail_fast=fail_fast,
                cache=None if no_cache else cache or cache_path(),
                pool=pool,
                listener=listener,
                on_result=print_line if out is None and not as_json else None,
            )
        except KeyboardInterrupt:
            say(
                "Stopped."
                if out is None
                else "Stopped. What was judged is kept; the same command carries on."
            )
            raise typer.Exit(STOPPED) from None
    shown(run, as_json=as_json, quiet=quiet)


def _pool(
    engine: str, workers: int | None, address: str | None, gpus_per_worker: float, out: Path | None
) -> Pool | None:
    """Return the workers that were asked for, if any were."""
    if engine == "ray":
        from localscore.spreading.ray_data import RayData

        return RayData(workers or 1, address=address, gpus_per_worker=gpus_per_worker, shared=out)
    if address is not None or gpus_per_worker:
        raise OptionError("--address and --gpus-per-worker are of --engine ray.")
    if workers is None or workers == 1:
        return None
    from localscore.judges.machine import gpus
    from localscore.spreading.processes import Processes

    return Processes(workers, gpus=gpus())


def shown(run: Run, *, as_json: bool = False, quiet: bool = False) -> None:
    """Show a run that has ended; the command ends with its status."""
    out = run.folder
    if as_json:
        typer.echo(json.dumps(_told(run)))
    elif out is not None and not quiet:
        from localscore.reports.table import run_table

        console = data(least=40)
        console.print(run_table(run, console.width))
    if out is not None and not quiet:
        if run.manifest.cached:
            say(f"{run.manifest.cached} verdict{'s' * (run.manifest.cached != 1)} came from the cache.")
        say(f"Results are in {out}. One sample in full: localscore explain {out} {run.results[0].id}")
    if run.failed:
        say(
            f"{run.failed} score{'s' * (run.failed != 1)} could not be had; each has its cause in the results."
        )
        raise typer.Exit(SOME_FAILED)


def _told(run: Run) -> dict[str, Any]:
    """Return what a program wants to know of a run."""
    return {
        "run": str(run.folder) if run.folder is not None else None,
        "judge": run.manifest.judge["name"],
        "samples": len(run.results),
        "failed": run.failed,
        "cached": run.manifest.cached,
        "summary": {name: told.model_dump() for name, told in run.summary.items()},
    }


def print_line(result: SampleResult) -> None:
    """Print a line of results."""
    line = result.model_dump_json()
    if sys.stdout.isatty():  # JSON itself escapes only some of what a terminal would obey
        line = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@app.command()
def metrics() -> None:
    """List the metrics, what they look at, and what they mean.

    Example: localscore metrics
    """
    table = Table("metric", "looks at", "what it tells")
    for name, metric in METRICS.items():
        fields = ["query", "contexts", *metric.needs, *metric.uses]
        table.add_row(name, ", ".join(fields), (metric.__doc__ or "").strip().splitlines()[0])
    data().print(table)
