"""`scripts/simulate-scale`, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import localscore as ls
from localscore.judges.loading import load_judge
from tests.conftest import SMALL, scripted

SCRIPT = Path(__file__).parents[1] / "scripts" / "simulate_scale.py"
ROWS = [{"id": "1", "query": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann.", "ground_truth": "Ann."}]


def simulated(run: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(run), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.judge
def test_a_run_is_thought_larger_and_on_other_machines(small_judge: object, tmp_path: Path) -> None:
    judge = load_judge(SMALL, device="cpu")
    ls.score(ROWS, judge=judge, metrics=[ls.ContextRelevance()], out=tmp_path / "run")
    told = simulated(tmp_path / "run", "--parameters", "135e6")
    assert told.returncode == 0, told.stderr
    table = [line.split(" | ") for line in told.stdout.splitlines() if line.startswith("| ")][2:]
    assert len(table) == 4 * 5
    assert table[0][0] == "| this machine"
    assert {cells[3] for cells in table} <= {"judge", "rows", "driver", "storage"}
    more = simulated(tmp_path / "run", "--parameters", "135e6", "--storage", "0.000001")
    assert {line.split(" | ")[3] for line in more.stdout.splitlines() if "H100" in line} == {"storage"}


def test_a_run_that_cost_nothing_tells_nothing(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), metrics=[ls.ContextRecall()], out=tmp_path / "run")
    told = simulated(tmp_path / "run")
    assert told.returncode == 1
    assert "says nothing of what it cost" in told.stderr
