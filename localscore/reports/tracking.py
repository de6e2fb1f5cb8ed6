"""A run in MLflow's local folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localscore.errors import RunError
from localscore.extras import extra
from localscore.runs import MANIFEST, SUMMARY, Run

SWITCHES = {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
"""MLflow asks to be told that a folder is meant; and it would send word of its use."""


def log_to_mlflow(run: Run, folder: str | Path = "mlruns", *, experiment: str = "localscore") -> str:
    """Add a run to an MLflow folder: metrics, parameters, and summary and manifest as artifacts.

    Per metric it has `NAME` (the mean), `NAME.scored` and `NAME.failed`.

    Args:
        run: what is added.
        folder: MLflow's; it is made where it is not there.
        experiment: MLflow's name for what runs belong to.

    Returns:
        MLflow's id of the run.

    Raises:
        OptionError: the extra `mlflow` is not installed.
        RunError: MLflow cannot write the folder.
    """
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
    mlflow = extra("mlflow", of="mlflow", what="Logging to MLflow")
    where = Path(folder).absolute()
    try:
        client = mlflow.MlflowClient(where.as_uri())
        known = client.get_experiment_by_name(experiment)
        inside = known.experiment_id if known else client.create_experiment(experiment)
        name = run.folder.name if run.folder is not None else run.manifest.judge["name"]
        tags = {"localscore.identity": run.manifest.identity}
        made: str = client.create_run(inside, run_name=name, tags=tags).info.run_id
    except (mlflow.MlflowException, OSError) as error:
        raise RunError(f"MLflow cannot write {str(where)!r}: {error}") from None
    for key, value in _parameters(run):
        client.log_param(made, key, value)
    summary = {name: told.model_dump() for name, told in run.summary.items()}
    for name, told in summary.items():
        if told["mean"] is not None:
            client.log_metric(made, name, told["mean"])
        client.log_metric(made, f"{name}.scored", told["scored"])
        client.log_metric(made, f"{name}.failed", told["failed"])
    client.log_text(made, json.dumps(summary, indent=2), SUMMARY)
    client.log_text(made, run.manifest.model_dump_json(indent=2), MANIFEST)
    client.set_terminated(made)
    return made


def _parameters(run: Run) -> Iterator[tuple[str, Any]]:
    manifest = run.manifest
    yield "judge", manifest.judge["name"]
    yield "dataset", manifest.dataset["source"]
    yield "dataset.sha256", manifest.dataset["sha256"]
    yield "samples", len(run.results)
    for told in manifest.metrics:
        for option, value in told.items():
            if option != "name":
                yield f"{told['name']}.{option}", value if not isinstance(value, dict) else json.dumps(value)
