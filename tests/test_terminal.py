"""What a terminal of some width shows of a run, and what never reaches it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.reports.histogram import histogram
from localscore.reports.table import run_table, worst_samples
from localscore.runs import Run
from tests.conftest import VERDICTS
from tests.test_interrupted import ROOT

EVIL = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e\x00\x7f"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LEVELS = ["high", "medium", "low", "none"]


def run_of(samples: int, **changes: Any) -> Run:
    """A run in which sample `i` has the score that its query names."""

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "relevance":
            return {"level": LEVELS[int(inquiry.texts["query"].split()[-1]) % 4]}
        said: Answer = (VERDICTS | changes)[inquiry.question]
        return said

    rows = [
        {
            "id": f"r{i}",
            "query": f"Bridge {i}",
            "contexts": [f"Ann opened bridge {i}."],
            "answer": "A",
            "ground_truth": "Ann.",
        }
        for i in range(samples)
    ]
    return ls.score(rows, judge=ScriptedJudge(answer))


def shown(run: Run, width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(run_table(run, width))
    return capture.get()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("samples", [1, 3, 30])
def test_it_fits_into_any_width(samples: int, width: int) -> None:
    text = shown(run_of(samples), width)
    assert max(map(cell_len, text.splitlines())) <= width
    for metric in ("context_relevance", "context_recall"):
        assert metric in text
    assert "Means" in text


def test_a_histogram_counts_every_score_once() -> None:
    console = Console(width=40, color_system=None)
    with console.capture() as capture:
        console.print(histogram("m", [0, 0.05, 0.1, 0.3, 0.3, 0.7, 1], 1, 40))
    rows = [line.split() for line in capture.get().splitlines()[1:]]
    assert {row[0]: int(row[2]) for row in rows if len(row) == 3} == {
        "0–0.1": 2,
        "0.1–0.2": 1,
        "0.3–0.4": 2,
        "0.7–0.8": 1,
        "0.9–1": 1,
    }
    assert [row[0] for row in rows if len(row) == 1] == [
        "0.2–0.3",
        "0.4–0.5",
        "0.5–0.6",
        "0.6–0.7",
        "0.8–0.9",
    ]
    bars = {row[0]: len(row[1]) for row in rows if len(row) == 3}
    assert bars["0–0.1"] == 2 * bars["0.9–1"]


@pytest.mark.parametrize(
    ("scale", "labels"), [(5, ("0–0.5", "4.5–5")), (100, ("0–10", "90–100")), (0, ("0–0", "0–0"))]
)
def test_a_histogram_has_the_metrics_scale(scale: float, labels: tuple[str, str]) -> None:
    console = Console(width=40, color_system=None)
    with console.capture() as capture:
        console.print(histogram("m", [scale], scale, 40))
    lines = capture.get().splitlines()[1:]
    assert (lines[0].split()[0], lines[-1].split()[0]) == labels
    assert sum(line.rstrip().endswith(" 1") for line in lines) == 1


def test_the_worst_are_the_lowest_judged_scores() -> None:
    rows: list[dict[str, Any]] = [
        {"id": f"r{i}", "query": f"Bridge {i}", "contexts": ["Ann."], "answer": "A", "ground_truth": "Ann."}
        for i in range(4)
    ]
    rows[0]["ground_truth"] = ""  # a rule gives it 0

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "relevance":
            return {"level": LEVELS[int(inquiry.texts["query"].split()[-1])]}
        return VERDICTS[inquiry.question]

    run = ls.score(
        rows, judge=ScriptedJudge(answer), metrics=[ls.ContextRelevance(scale=10), ls.ContextRecall()]
    )
    assert [(one.result.id, one.metric, one.score.score) for one in worst_samples(run)] == [
        ("r3", "context_relevance", 0.0),
        ("r2", "context_relevance", 3.0),
        ("r1", "context_relevance", 7.0),
    ]
    assert "Worst" in shown(run, 80)


def test_long_reasons_of_the_worst_are_cut_to_a_line() -> None:
    run = run_of(
        30, claims={"claims": ["Ann opened the bridge " + "and ran, " * 20]}, attribution={"supported": False}
    )
    lines = shown(run, 60).split("Worst")[1].splitlines()
    reasons = [line for line in lines if "The contexts support" in line]
    assert len(reasons) == 3
    assert all(line.rstrip().endswith("…") and len(line.rstrip()) == 60 for line in reasons)


def test_a_run_without_any_score_is_shown_too() -> None:
    text = shown(run_of(5, claims="no JSON", relevance="no JSON", usage="no JSON", sufficiency="no JSON"), 60)
    assert "failed" in text


def on_a_terminal(width: int, *arguments: str, **environment: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.noted_run", os.devnull, "0", *arguments],
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=kept | {"TERM": "xterm-256color"} | environment,
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # the other side was closed
        pass
    finally:
        os.close(ours)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert not OBEYED.search(err.decode())
    return said.decode().replace("\r\n", "\n")


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [
        {
            "id": f"r{i}{EVIL}" if i else "first",
            "query": f"Who? {EVIL}",
            "contexts": [f"Ann {EVIL} {i}."],
            "answer": EVIL,
            "ground_truth": f"Ann {EVIL}.",
        }
        for i in range(5)
    ]
    path = tmp_path / "rag.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_no_text_under_judgment_can_command_a_terminal(data: str, tmp_path: Path) -> None:
    options = ("score", data, "--judge", "x", "--cache", str(tmp_path / "v"))
    text = on_a_terminal(60, *options, "--out", str(tmp_path / "run"))
    assert COLOUR.search(text)
    plain = COLOUR.sub("", text)
    assert not OBEYED.search(plain)
    assert "r1\\x1b]0;owned" in plain
    assert max(map(cell_len, plain.splitlines())) <= 60

    lines = on_a_terminal(60, *options).splitlines()
    assert not OBEYED.search("".join(lines))
    assert json.loads(lines[1])["id"] == f"r1{EVIL}"

    text = on_a_terminal(60, "explain", str(tmp_path / "run"), "first")
    assert not OBEYED.search(text)
    assert "Ann \\x1b]0;owned" in text


def test_no_colours_where_none_are_wanted(data: str, tmp_path: Path) -> None:
    options = ("score", data, "--judge", "x", "--no-cache", "--out", str(tmp_path / "run"))
    text = on_a_terminal(80, *options, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", text)
