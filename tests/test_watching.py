"""Files that grow while they are scored."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.errors import DataError, OptionError, RunError
from localscore.gate import Thresholds, gate
from localscore.judges.scripted import ScriptedJudge
from localscore.readers.growing import Growing
from localscore.watching import watch
from tests.conftest import scripted

ROW = {"query": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann.", "ground_truth": "Ann ran."}


def line(number: int) -> str:
    return json.dumps({"id": str(number), **ROW}) + "\n"


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


class Appending(ScriptedJudge):
    """A judge during whose work others append."""

    def __init__(self, path: Path, *texts: str) -> None:
        self.told = scripted()
        super().__init__(lambda inquiry: {})
        self._path, self._texts = path, list(texts)

    def decide(self, inquiries: Any) -> Any:
        if self._texts:
            append(self._path, self._texts.pop(0))
        return self.told.decide(inquiries)


def test_rows_that_come_are_scored_and_equal_a_run_of_the_whole_file(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(line(1))
    whole = line(3)
    judge = Appending(live, line(2) + whole[:20], whole[20:], line(4))
    seen: list[str] = []
    run = watch(
        live, judge=judge, out=tmp_path / "live", idle=0.2, every=0.01, on_result=lambda r: seen.append(r.id)
    )
    assert seen == [result.id for result in run.results] == ["1", "2", "3", "4"]
    later = ls.score(live, judge=scripted(), out=tmp_path / "whole")
    for name in ("results.jsonl", "summary.json"):
        assert (tmp_path / "live" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert run.manifest.dataset["sha256"] == later.manifest.dataset["sha256"]
    assert run.manifest.dataset["samples"] == 4
    assert gate(ls.load_run(tmp_path / "live"), Thresholds({"context_recall": 1.0})).outcome == "met"


def test_a_watch_is_carried_on(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(line(1))
    watch(live, judge=scripted(), out=tmp_path / "run", idle=0)
    append(live, line(2))
    judge = scripted()
    run = watch(live, judge=judge, out=tmp_path / "run", idle=0)
    assert [result.id for result in run.results] == ["1", "2"]
    assert run.manifest.tokens is not None
    assert run.manifest.tokens["samples"] == 1


def test_a_file_may_come_later(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    later = threading.Timer(0.2, lambda: live.write_text(line(1)))
    later.start()
    run = watch(live, judge=scripted(), idle=3, every=0.05)
    assert len(run.results) == 1


def test_rows_that_cannot_be_read_are_told_and_left_out(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(
        line(1) + "{\n" + line(1) + '{"query": "Who?", "answer": "Ann.", "ground_truth": "Ann."}\n' + line(2)
    )
    told: list[str] = []
    run = watch(live, judge=scripted(), idle=0, on_complaint=told.append)
    assert [result.id for result in run.results] == ["1", "2"]
    assert [f"live.jsonl:{n}" in one for n, one in zip((2, 3, 4), told, strict=True)] == [True] * 3
    assert list(run.manifest.dataset["left_out"]) == told


@pytest.mark.parametrize("how", ["cut", "replaced", "gone"])
def test_a_file_that_is_not_only_appended_to_is_told_and_nothing_is_lost(tmp_path: Path, how: str) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(line(1) + line(2))

    def change(result: Any) -> None:
        if result.id == "2":
            if how == "cut":
                live.write_text("")
            elif how == "gone":
                live.unlink()
            else:
                (tmp_path / "other").write_text(line(1) + line(2) + line(3))
                os.replace(tmp_path / "other", live)

    with pytest.raises(DataError, match="only appended"):
        watch(live, judge=scripted(), out=tmp_path / "run", idle=1, every=0.01, on_result=change)
    assert [result.id for result in ls.load_run(tmp_path / "run").results] == ["1", "2"]


def test_a_folder_of_other_data_is_refused(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(line(1))
    watch(live, judge=scripted(), out=tmp_path / "run", idle=0)
    live.write_text(line(5))
    with pytest.raises(RunError):
        watch(live, judge=scripted(), out=tmp_path / "run", idle=0)


def test_without_a_row_there_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no rows"):
        watch(tmp_path / "none.jsonl", judge=scripted(), idle=0)
    with pytest.raises(OptionError, match="every"):
        watch(tmp_path / "none.jsonl", judge=scripted(), every=0)


def test_lines_are_counted_over_looks(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "a.jsonl")
    append(growing.path, '{"a": 1}\n\n')
    assert [row.where for row in growing.rows() if not isinstance(row, str)] == [f"{growing.path}:1"]
    append(growing.path, '{"a": 2}\r\n')
    assert [row.where for row in growing.rows() if not isinstance(row, str)] == [f"{growing.path}:3"]


@pytest.mark.judge
def test_ctrl_c_ends_a_watch_with_its_summary(tmp_path: Path) -> None:
    live = tmp_path / "live.jsonl"
    live.write_text(line(1))
    out = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "localscore",
        "watch",
        str(live),
        "--judge",
        "smollm2-135m",
        "--out",
        str(out),
    ]
    with subprocess.Popen(
        [*command, "--metrics", "context_precision"], stderr=subprocess.PIPE, text=True
    ) as process:
        while not (out / "results.jsonl").exists() or not (out / "results.jsonl").read_bytes():
            assert process.poll() is None
            time.sleep(0.1)
        append(live, line(2))
        while (out / "results.jsonl").read_bytes().count(b"\n") < 2:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    run = ls.load_run(out)
    assert len(run.results) == 2
    assert run.manifest.finished is not None
    assert (out / "summary.json").exists()
