"""`localscore rescore`: other options for the verdicts that a run holds."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from localscore.cli.app import SOME_FAILED, app, data, say
from localscore.manifests import metric_from
from localscore.metrics import Metric
from localscore.metrics.written import metrics_of
from localscore.rescoring import rescore as rescore_run
from localscore.runs import load_manifest


@app.command()
def rescore(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[Path, typer.Option(help="Folder for the rescored run.")],
    metrics: Annotated[str, typer.Option(help="Comma-separated; all of the run where not given.")] = "",
    scale: Annotated[float | None, typer.Option(help="The highest score.")] = None,
    unused_high_penalty: Annotated[
        float | None, typer.Option(help="For each highly relevant context left unused.")
    ] = None,
    missing_penalty: Annotated[float | None, typer.Option(help="For each missing item.")] = None,
    max_missing_penalty: Annotated[
        float | None, typer.Option(help="The most that missing items cost together.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run that the folder of --out holds.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table.")] = False,
) -> None:
    """Score a run's verdicts again with other options, without a model.

    Example: localscore rescore runs/rag --missing-penalty 0.1 --out runs/rag-2

    Options that are not given stay as they were in the run, and what failed stays failed.
    Exit status: 0 done; 2 the command or the run was wrong; 3 done, but some scores failed in the run.
    """
    changes = {
        "scale": scale,
        "unused_high_relevance_context": unused_high_penalty,
        "missing_context_per_item": missing_penalty,
        "max_missing_context_penalty": max_missing_penalty,
    }
    held = [metric_from(told) for told in load_manifest(folder).metrics]
    given = {name: value for name, value in changes.items() if value is not None}
    chosen = [_changed(metric, given) for metric in _chosen(metrics, held)]
    run = rescore_run(folder, metrics=chosen, out=out, overwrite=overwrite)
    if run.manifest.finished is None:
        samples = run.manifest.dataset.get("samples")
        say(f"The run was not finished: {len(run.results)} of {samples} samples were scored.")
    if not quiet:
        from localscore.reports.table import summary_table

        data().print(summary_table(run.summary))
        say(f"Results are in {out}.")
    if run.failed:
        say(f"{run.failed} score{'s' * (run.failed != 1)} could not be had when the run was judged.")
        raise typer.Exit(SOME_FAILED)


def _chosen(names: str, held: list[Metric]) -> list[Metric]:
    """Return the metrics of these written forms; a bare name is the metric as the run holds it."""
    known = {metric.name: metric for metric in held}
    chosen = metrics_of(names)
    return [
        known.get(metric.name, metric) if metric == type(metric)() else metric for metric in chosen
    ] or held


def _changed(metric: Metric, changes: dict[str, float]) -> Metric:
    """Return a metric with those of the changes that it knows, in itself or among its penalties."""
    changed: dict[str, Any] = {}
    for field in fields(metric):
        value = getattr(metric, field.name)
        if field.name in changes:
            changed[field.name] = changes[field.name]
        elif field.name == "penalties":
            changed[field.name] = replace(value, **{k: v for k, v in changes.items() if hasattr(value, k)})
    return replace(metric, **changed)
