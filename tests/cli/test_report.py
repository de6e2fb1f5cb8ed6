from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_agree import judgments
from tests.cli.test_cli import ROW, Shell, shell, written  # noqa: F401  (a fixture)
from tests.conftest import scripted


@pytest.fixture
def run(shell: Shell, tmp_path: Path) -> Path:  # noqa: F811
    """A run of one sample."""
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run", "--quiet")
    return tmp_path / "run"


def test_a_report_is_written_into_the_run(shell: Shell, run: Path) -> None:  # noqa: F811
    code, printed, talk = shell("report", run)
    assert (code, printed) == (0, "")
    assert str(run / "report.html") in talk
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_a_report_is_written_elsewhere_and_beside_a_baseline(
    shell: Shell,  # noqa: F811
    run: Path,
    tmp_path: Path,
) -> None:
    shell.judge = scripted(relevance={"level": "low"})
    shell(
        "score", tmp_path / "rag.jsonl", "--judge", "x", "--no-cache", "--out", tmp_path / "worse", "--quiet"
    )
    out = tmp_path / "page.html"
    assert shell("report", tmp_path / "worse", "--baseline", run, "--out", out)[0] == 0
    page = out.read_text()
    assert "Compared with a baseline" in page
    assert "−0.70" in page
    assert not (tmp_path / "worse" / "report.html").exists()


def test_a_folder_that_is_no_run_is_refused(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    code, _, talk = shell("report", tmp_path)
    assert (code, "is not a run folder" in talk) == (2, True)


def test_a_run_is_exported(shell: Shell, run: Path, tmp_path: Path) -> None:  # noqa: F811
    code, printed, _ = shell("export", run)
    assert (code, printed.lstrip("\ufeff").startswith("id,query,")) == (0, True)
    assert shell("export", run, "--format", "markdown")[1].startswith("| metric |")
    assert shell("export", run, "--format", "parquet", "--out", tmp_path / "run.parquet")[0] == 0
    assert (tmp_path / "run.parquet").read_bytes()[:4] == b"PAR1"


def test_an_agreement_is_written_as_a_page(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    assert shell("agree", judgments(tmp_path / "j", 20), "--judge", "x", "--out", out, "--quiet")[0] == 0
    page = (out / "agreement.html").read_text()
    for told in (
        "Quad. κ".lower(),
        "word overlap",
        "a-rival",
        "Who says what",
        "How often each verdict",
        "ECE",
    ):
        assert told in page
    assert "<script" not in page
    assert " style=" not in page


def test_reports_are_made_without_what_is_heavy(run: Path) -> None:
    code = (
        "import sys; from localscore.cli import main; sys.argv = ['localscore', 'report', sys.argv[1]]\n"
        "try: main()\n"
        "finally: print([n for n in ('torch', 'transformers', 'outlines', 'scipy') if n in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code, run], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("format_", "told"),
    [("csv", b"context_recall"), ("openinference", b'"span_id"'), ("otel", b"gen_ai.evaluation.result")],
)
def test_a_run_is_exported_for_other_programs(
    format_: str,
    told: bytes,
    shell: Shell,  # noqa: F811
    run: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "exported"
    assert shell("export", run, "--format", format_, "--out", out)[0] == 0
    assert told in out.read_bytes()


def test_a_run_is_exported_to_mlflow(shell: Shell, run: Path, tmp_path: Path) -> None:  # noqa: F811
    mlflow = pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
    out = tmp_path / "mlruns"
    code, _, talk = shell("export", run, "--format", "mlflow", "--out", out)
    assert code == 0
    [found] = re.findall(r"run (\w+) in", talk)
    assert mlflow.MlflowClient(out.as_uri()).get_run(found).data.metrics["context_recall"] == 1.0
