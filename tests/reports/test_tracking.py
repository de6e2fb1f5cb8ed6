from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from localscore.errors import OptionError, RunError
from localscore.reports.tracking import SWITCHES, log_to_mlflow
from tests.reports.test_numbers import run_of


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in SWITCHES.items():
        monkeypatch.setenv(name, value)
    return pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")


def test_a_run_is_added_to_a_local_folder(mlflow: Any, tmp_path: Path) -> None:
    run = run_of()
    one, two = (log_to_mlflow(run, tmp_path / "mlruns") for _ in range(2))
    assert one != two
    client = mlflow.MlflowClient((tmp_path / "mlruns").as_uri())
    [experiment] = [e for e in client.search_experiments() if e.name == "localscore"]
    assert {found.info.run_id for found in client.search_runs([experiment.experiment_id])} == {one, two}
    data = client.get_run(one).data
    recall = run.summary["context_recall"]
    assert data.metrics["context_recall"] == recall.mean
    assert data.metrics["context_recall.failed"] == recall.failed == 1
    assert data.params["judge"] == run.manifest.judge["name"]
    assert data.params["context_recall.scale"] == "1.0"
    assert {file.path for file in client.list_artifacts(one)} == {"run.json", "summary.json"}


def test_a_folder_that_cannot_be_written_is_one_message(mlflow: Any, tmp_path: Path) -> None:
    (tmp_path / "mlruns").write_text("")
    with pytest.raises(RunError, match="MLflow cannot write"):
        log_to_mlflow(run_of(), tmp_path / "mlruns")


def test_without_mlflow_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(OptionError, match="needs mlflow") as caught:
        log_to_mlflow(run_of(), tmp_path)
    assert "localscore[mlflow]" in caught.value.hint
