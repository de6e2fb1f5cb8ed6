"""Whatever ends a run, nothing that was judged is lost, and the same command ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import localscore as ls

ROOT = Path(__file__).parent.parent

KILLS = int(os.environ.get("LOCALSCORE_KILLS", "4"))
"""`LOCALSCORE_KILLS=50 pytest tests/test_interrupted.py` tries many more moments."""

ROWS = [
    {
        "id": f"r{i}",
        "query": f"Who opened bridge {i}?",
        "contexts": [f"Ann opened bridge {i}, {'and then some, ' * 40}in 1931.", "Bananas."],
        "answer": "Ann.",
        "ground_truth": f"Ann opened bridge {i}.",
    }
    for i in range(24)
]


class Place:
    """A folder with data, the notes of what was asked, a cache and run folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "rag.jsonl"
        self.data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def start(
        self,
        name: str,
        *options: str,
        cache: str = "verdicts.sqlite",
        seconds: float = 0.0,
        file_size: int | None = None,
    ) -> subprocess.Popen[str]:
        (self.folder / f"{name}.notes").touch()
        command = [sys.executable, "-m", "tests.noted_run", str(self.folder / f"{name}.notes"), str(seconds)]
        command += ["score", str(self.data), "--judge", "x", "--out", str(self.folder / name)]
        command += ["--cache", str(self.folder / cache), "--quiet", *options]
        if file_size is not None:  # as a full disk, but for the files of this process alone
            command = ["bash", "-c", 'ulimit -f "$0" && exec "$@"', str(file_size // 1024), *command]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, name: str, *options: str, cache: str = "verdicts.sqlite") -> str:
        process = self.start(name, *options, cache=cache)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, ""), err
        return err

    def asked(self, name: str) -> list[str]:
        return (self.folder / f"{name}.notes").read_text().split()

    def written(self, name: str) -> dict[str, bytes]:
        return {file: (self.folder / name / file).read_bytes() for file in ("results.jsonl", "summary.json")}

    def wait_for(self, name: str, asked: int, process: subprocess.Popen[str]) -> None:
        while len(self.asked(name)) < asked and process.poll() is None:
            time.sleep(0.001)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the run was never interrupted."""
    place = Place(tmp_path_factory.mktemp("clean"))
    place.finish("clean", "--no-cache")
    return place.folder


@pytest.fixture
def place(clean: Path, tmp_path: Path) -> Place:
    shutil.copytree(clean, tmp_path, dirs_exist_ok=True)
    return Place(tmp_path)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def test_a_run_that_is_killed_again_and_again_ends_like_one_that_never_was(place: Place) -> None:
    draw = random.Random(KILLS)
    clean = ls.load_run(place.folder / "clean").results
    kills = 0
    for number in range(KILLS):
        seconds = 0.0 if number % 2 else 0.003  # between the writes, and in them
        process = place.start("run", seconds=seconds)
        more = draw.randint(1, 2 * len(place.asked("clean")) // (KILLS + 1))
        place.wait_for("run", len(place.asked("run")) + more, process)
        time.sleep(draw.random() * 0.003)
        process.kill()
        code, err = ended(process)
        assert code in (-signal.SIGKILL, 0), err
        kills += code != 0
        assert "damaged" not in err
        if (place.folder / "run" / "run.json").exists():
            left = ls.load_run(place.folder / "run").results
            assert left == clean[: len(left)]
    place.finish("run")
    assert kills > KILLS // 2
    assert place.written("run") == place.written("clean")
    asked = place.asked("run")
    assert set(asked) == set(place.asked("clean"))
    assert len(asked) - len(set(asked)) <= kills  # the one in flight
    assert {path.name for path in (place.folder / "run").iterdir()} == {"run.json", *place.written("run")}


def test_a_run_that_is_stopped_says_so_and_carries_on(place: Place) -> None:
    process = place.start("run", seconds=0.003)
    place.wait_for("run", 50, process)
    process.send_signal(signal.SIGINT)
    code, err = ended(process)
    assert (code, err) == (130, "Stopped. What was judged is kept; the same command carries on.\n")
    place.finish("run")
    assert place.written("run") == place.written("clean")
    assert len(place.asked("run")) <= len(place.asked("clean")) + 1


def test_a_disk_that_is_full_leaves_whole_lines_and_the_run_carries_on(place: Place) -> None:
    size = len(place.written("clean")["results.jsonl"])
    code, err = ended(place.start("run", file_size=size // 2))
    assert code == 2
    assert "cannot be written" in err
    assert "the same command carries on" in err
    left = place.folder.joinpath("run", "results.jsonl").read_bytes()
    assert place.written("clean")["results.jsonl"].startswith(left)
    assert left.endswith(b"\n")
    place.finish("run")
    assert place.written("run") == place.written("clean")


def test_where_there_can_be_no_cache_judging_goes_on_without_it_and_says_so_once(place: Place) -> None:
    err = place.finish("run", cache="/dev/full/verdicts.sqlite")
    assert (err.count("\n"), "goes on without it" in err) == (1, True)
    assert place.written("run") == place.written("clean")


def test_two_processes_may_share_a_cache(place: Place) -> None:
    both = [place.start(name, seconds=0.001) for name in ("one", "two")]
    assert [ended(process) for process in both] == [(0, ""), (0, "")]
    assert place.written("one") == place.written("two") == place.written("clean")
    with closing(sqlite3.connect(place.folder / "verdicts.sqlite")) as database:
        [[kept]] = database.execute("SELECT count(*) FROM verdicts")
    assert kept == len(place.asked("clean"))
    place.finish("three")
    assert place.asked("three") == []
    assert json.loads((place.folder / "three" / "run.json").read_text())["cached"] == kept


def test_the_same_command_twice_writes_the_same_bytes(place: Place) -> None:
    for name in ("first", "again"):
        place.finish(name)
        assert place.written(name) == place.written("clean")
    assert place.asked("again") == []
