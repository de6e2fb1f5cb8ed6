"""The commands that work on runs: rescore, compare, gate."""

# ruff: noqa: F811  (a fixture is imported, and then named by tests)

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from localscore.cli import app
from localscore.runs import load_run
from localscore.thresholds import Settings, found_from
from tests.cli.test_cli import ROW, Shell, shell, written  # noqa: F401  (a fixture)
from tests.conftest import scripted
from tests.runs import run_of


@pytest.fixture
def judged(shell: Shell, tmp_path: Path) -> Path:
    shell.judge = scripted(usage={"used": False}, sufficiency={"sufficient": False})
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run", "-q")
    return tmp_path / "run"


def test_rescore_writes_a_run_with_other_options(shell: Shell, judged: Path, tmp_path: Path) -> None:
    options = (
        "--scale",
        10,
        "--unused-high-penalty",
        0.2,
        "--missing-penalty",
        0.3,
        "--max-missing-penalty",
        0.25,
    )
    code, out, err = shell("rescore", judged, "--out", tmp_path / "other", *options)
    assert (code, "context_relevance" in out, f"Results are in {tmp_path / 'other'}" in err) == (
        0,
        True,
        True,
    )
    scores = load_run(tmp_path / "other").results[0].scores
    assert scores["context_relevance"].score == 5.5  # (1 − 0.2 − 0.25) × 10
    assert scores["context_recall"].score == 10.0


def test_options_that_rescore_is_not_given_stay_as_they_were(
    shell: Shell, judged: Path, tmp_path: Path
) -> None:
    shell("rescore", judged, "--out", tmp_path / "two", "--scale", 2, "--missing-penalty", 0)
    shell("rescore", tmp_path / "two", "--out", tmp_path / "three", "--unused-high-penalty", 0, "-q")
    [relevance, _] = load_run(tmp_path / "three").metrics()
    assert relevance.parameters == {
        "scale": 2.0,
        "penalties": {
            "unused_high_relevance_context": 0.0,
            "missing_context_per_item": 0.0,
            "max_missing_context_penalty": 0.5,
        },
    }


def test_rescored_runs_can_be_explained(shell: Shell, judged: Path, tmp_path: Path) -> None:
    shell("rescore", judged, "--out", tmp_path / "other", "--metrics", "context_recall", "--scale", 4)
    code, out, _ = shell("explain", tmp_path / "other", "a")
    assert (code, "× 4 = 4.00" in out, "attribution" in out, "relevance" in out) == (0, True, True, False)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--metrics", "politeness"], "There is no metric 'politeness'"),
        (["--scale", "nan"], "scale is nan"),
        (["--missing-penalty", "-1"], "missing_context_per_item is -1.0"),
    ],
)
def test_a_wrong_option_of_rescore_has_status_2(
    shell: Shell,
    judged: Path,
    tmp_path: Path,
    options: list[str],
    told: str,
) -> None:
    code, _, err = shell("rescore", judged, "--out", tmp_path / "other", *options)
    assert (code, told in err, (tmp_path / "other").exists()) == (2, True, False)


def test_a_failure_of_the_run_ends_rescore_with_status_3(shell: Shell, tmp_path: Path) -> None:
    shell.judge = scripted(claims="no JSON")
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    code, _, err = shell("rescore", tmp_path / "run", "--out", tmp_path / "other")
    assert (code, "1 score could not be had" in err) == (3, True)


def test_compare_prints_what_moved_and_why(shell: Shell, judged: Path, tmp_path: Path) -> None:
    shell.judge = scripted(relevance={"level": "low"}, attribution={"supported": False})
    shell(
        "score",
        written(tmp_path, ROW | {"lang": "en"}),
        "--judge",
        "x",
        "--no-cache",
        "--out",
        tmp_path / "other",
        "-q",
    )
    code, out, _ = shell("compare", judged, tmp_path / "other", "--by", "lang")
    assert code == 0
    for told in (
        "-1.000",
        "context 1: high → low",
        "supported → not supported",
        "context_recall by lang",
        "en",
    ):
        assert told in out


def test_each_run_is_compared_with_the_first(shell: Shell, tmp_path: Path) -> None:
    for name, score in (("one", 0.5), ("two", 0.75), ("three", 0.25)):
        run_of({"a": score}, folder=tmp_path / name)
    folders = (tmp_path / name for name in ("one", "two", "three"))
    code, out, _ = shell("compare", *folders, "--json")
    told = [json.loads(line)["metrics"]["context_recall"]["difference"] for line in out.splitlines()]
    assert (code, told) == (0, [0.25, -0.25])


def test_samples_and_scores_that_are_left_out_are_told(shell: Shell, tmp_path: Path) -> None:
    run_of({"a": 0.5, "b": None, "c": 0.1}, folder=tmp_path / "one")
    run_of({"a": 0.5, "b": 0.5, "d": 0.1}, folder=tmp_path / "two")
    _, out, _ = shell("compare", tmp_path / "one", tmp_path / "two")
    assert "one: 1 sample (c)." in out
    assert "two: 1 sample (d)." in out
    assert "Left out of context_recall, because they have no score: 1 in the first run." in out


def test_runs_that_cannot_be_compared_have_status_2(shell: Shell, tmp_path: Path) -> None:
    run_of({"a": 0.5}, folder=tmp_path / "one")
    run_of({"a": 0.7}, judge="other", folder=tmp_path / "two")
    for arguments, told in (
        ([tmp_path / "one"], "One run was given"),
        ([tmp_path / "one", tmp_path / "two"], "other judges"),
        ([tmp_path / "one", tmp_path / "none"], "not a run folder"),
    ):
        code, out, err = shell("compare", *arguments)
        assert (code, out, told in err) == (2, "", True)
    code, out, _ = shell("compare", tmp_path / "one", tmp_path / "two", "--anyway")
    assert (code, "Compared anyway, with other judges" in out) == (0, True)


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a run, `now`, and its baseline, `main`."""
    run_of({"a": 0.8, "b": None}, folder=tmp_path / "now")
    run_of({"a": 0.9, "b": 0.9}, folder=tmp_path / "main")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["now", "--min", "context_recall=0.8"], 0),
        (["now", "--min", "context_recall=0.81"], 1),
        (["now", "--max-failed", "0"], 1),
        (["now", "--max-failed", "1"], 0),
        (["now", "--max-drop", "context_recall=0.1", "--baseline", "main"], 0),
        (["now", "--max-drop", "context_recall=0.09", "--baseline", "main"], 1),
        (["now", "--max-drop", "context_recall=0.09"], 2),
        (["now", "--max-drop", "context_recall=0.09", "--baseline", "gone"], 2),
        (["now", "--min", "context_relevance=0.8"], 2),
        (["now", "--min", "recall=0.8"], 2),
        (["now", "--min", "context_recall"], 2),
        (["now", "--max-failed", "-1"], 2),
        (["now"], 2),
        (["gone", "--min", "context_recall=0.8"], 2),
    ],
)
def test_gate_has_a_status_for_met_not_met_and_not_checked(
    shell: Shell,
    gated: Path,
    arguments: list[str],
    status: int,
) -> None:
    code, _, err = shell("gate", *arguments)
    assert (code, "Traceback" in err) == (status, False)


def test_gate_takes_thresholds_from_a_file_and_the_command_line_wins(shell: Shell, gated: Path) -> None:
    (gated / "localscore.toml").write_text(
        '[gate]\nbaseline = "main"\n[gate.max_drop]\ncontext_recall = 0\n[gate.min]\ncontext_recall = 0.8\n'
    )
    code, out, _ = shell("gate", "now")
    assert (code, "max drop context_recall" in out, "min context_recall" in out) == (1, True, True)
    assert shell("gate", "now", "--max-drop", "context_recall=0.1")[0] == 0


def test_gate_writes_for_the_pages_of_a_ci(shell: Shell, gated: Path) -> None:
    told = ("--min", "context_recall=0.9", "--junit", "junit.xml", "--markdown")
    code, out, _ = shell("gate", "now", *told, "-")
    assert (code, out.startswith("### ❌ not met")) == (1, True)
    assert ElementTree.parse("junit.xml").getroot().attrib["failures"] == "1"
    shell("gate", "now", *told, "gate.md")
    assert (gated / "gate.md").read_text() == out


def test_gate_writes_its_pages_for_a_run_that_cannot_be_read_too(shell: Shell, gated: Path) -> None:
    code, _, _ = shell("gate", "gone", "--max-failed", 0, "--junit", "junit.xml", "-q")
    assert (code, ElementTree.parse("junit.xml").getroot().attrib["errors"]) == (2, "1")


@pytest.mark.parametrize(("least", "status"), [(0, 0), (1, 1)])
@pytest.mark.parametrize("page", [[], ["--markdown", "-"]])
def test_gate_keeps_its_status_when_nobody_reads_its_page(
    gated: Path, least: int, status: int, page: list[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = ["-m", "localscore", "gate", "now", "--min", f"context_recall={least}", *page]
    told = subprocess.run(
        [sys.executable, *command], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (told.returncode, "Traceback" in told.stderr) == (status, False)


CI = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", re.findall(r"localscore (gate runs(?:\\\n|.)*)", CI))
def test_the_commands_of_the_document_are_met_by_a_good_run(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("now", "main"):
        run_of({"a": 0.8}, relevance={"a": 0.8}, folder=Path("runs") / name)
    code, out, err = shell(*shlex.split(command.partition(">>")[0].replace("\\\n", " ")))
    assert (code, err, "✅" in out or "met" in out) == (0, "", True)


def test_the_thresholds_of_the_document_are_understood(tmp_path: Path) -> None:
    [table] = re.findall(r"^```toml\n(.*?)^```", CI, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "localscore.toml").write_text(table)
    assert found_from(tmp_path) == Settings(
        min={"context_recall": 0.8},
        max_drop={"context_relevance": 0.02},
        max_failed=0,
        significant=True,
        baseline=tmp_path / "runs" / "main",
    )


HEAVY = "torch", "transformers", "outlines", "llguidance", "tokenizers", "scipy", "sklearn"


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["rescore", "now", "--out", "other"],
        ["compare", "main", "now"],
        ["gate", "now", "--max-drop", "context_recall=0.1", "--baseline", "main"],
    ],
)
def test_no_command_on_runs_imports_what_is_heavy(gated: Path, command: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['localscore', *{command}]\n"
        "from localscore.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


def test_a_command_alone_imports_its_module_alone(gated: Path) -> None:
    code = (
        "import sys; sys.argv = ['localscore', 'gate', 'now', '--max-failed', '1']\n"
        "from localscore.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('localscore.cli.')), 'numpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "['localscore.cli.app', 'localscore.cli.gate'] False"


def test_every_command_is_known_by_its_name(shell: Shell) -> None:
    _, out, _ = shell("--help")
    commands = out[out.index("Commands:") :]
    lines = commands[: commands.index("Examples:")].splitlines()[1:]
    assert {line.split()[0] for line in lines if line.strip()} == set(app.COMMANDS)


def test_compare_puts_a_run_beside_another_tools_scores(shell: Shell, judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "theirs.csv"
    file.write_text("id,question,context_recall\na,Who opened it?,0.25\n")
    code, out, _ = shell("compare", judged, "--foreign", file)
    assert (code, "paired by id" in out, "1.00" in out, "0.25" in out) == (0, True, True, True)
    found = json.loads(shell("compare", judged, "--foreign", file, "--json")[1])
    assert [(one["our_mean"], one["their_mean"]) for one in found["metrics"]] == [(1.0, 0.25)]
    assert shell("compare", judged, judged, "--foreign", file)[0] == 2
    assert shell("compare", judged)[0] == 2
