from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from localscore.cli.cache import _age, _bytes
from localscore.errors import OptionError
from tests.cli.test_agree import judgments
from tests.cli.test_cli import ROW, Shell, shell, written  # noqa: F401  (a fixture)
from tests.conftest import scripted

DAY = 86400


@pytest.fixture
def cache(shell: Shell, tmp_path: Path) -> Path:  # noqa: F811
    """A cache with eight verdicts, a day apart."""
    shell("score", written(tmp_path, ROW), "--judge", "x", "--cache", tmp_path / "v")
    with closing(sqlite3.connect(tmp_path / "v")) as database:
        for age, [key] in enumerate(database.execute("SELECT key FROM verdicts").fetchall()):
            database.execute("UPDATE verdicts SET at = ? WHERE key = ?", [time.time() - age * DAY, key])
        database.commit()
    return tmp_path / "v"


def told(shell: Shell, *arguments: Any) -> dict[str, Any]:  # noqa: F811
    code, out, _ = shell("cache", *arguments, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_verdicts_are_kept_for_other_runs_unless_told_not_to(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    rows = written(tmp_path, ROW)
    _, first, _ = shell("score", rows, "--judge", "x")
    judged = len(shell.judge.asked)
    shell.judge = scripted()
    _, again, _ = shell("score", rows, "--judge", "x")
    assert (shell.judge.asked, again) == ([], first)
    assert (tmp_path / "home" / "verdicts.sqlite").exists()
    for option in (["--no-cache"], ["--cache", tmp_path / "other"]):
        shell.judge = scripted()
        shell("score", rows, "--judge", "x", *option)
        assert len(shell.judge.asked) == judged
    assert told(shell, "stats")["verdicts"] == told(shell, "stats", "--cache", tmp_path / "other")["verdicts"]


def test_records_of_people_are_not_judged_twice_either(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    folder = judgments(tmp_path / "j")
    shell("agree", folder, "--judge", "x", "--out", tmp_path / "one")
    shell.judge = scripted()
    code, out, _ = shell("agree", folder, "--judge", "x", "--out", tmp_path / "two")
    assert (code, shell.judge.asked) == (0, [])
    assert "a minute" not in out, "the speed of a cache is not the judge's"
    shell("agree", folder, "--judge", "x", "--no-cache")
    assert shell.judge.asked


def test_stats_tell_what_there_is(shell: Shell, cache: Path) -> None:  # noqa: F811
    found = told(shell, "stats", "--cache", cache)
    assert (found["path"], found["verdicts"], found["judges"]) == (str(cache), 8, {"scripted": 8})
    assert round((found["newest"] - found["oldest"]) / DAY) == 7
    assert found["bytes"] == cache.stat().st_size
    code, out, _ = shell("cache", "stats", "--cache", cache)
    assert code == 0
    assert "8 verdicts" in out
    assert "scripted: 8" in out


def test_old_verdicts_are_removed(shell: Shell, cache: Path) -> None:  # noqa: F811
    assert told(shell, "prune", "--older-than", "100h", "--cache", cache)["removed"] == 3
    left = told(shell, "stats", "--cache", cache)
    assert (left["verdicts"], time.time() - left["oldest"] < 4.5 * DAY) == (5, True)


def test_a_cache_is_made_small_enough_oldest_first(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    rows = [{**ROW, "id": str(i), "query": f"Who opened bridge {i}?"} for i in range(60)]
    shell("score", written(tmp_path, *rows), "--judge", "x", "--cache", tmp_path / "v")
    before = told(shell, "stats", "--cache", tmp_path / "v")
    with closing(sqlite3.connect(tmp_path / "v")) as database:
        database.execute("UPDATE verdicts SET at = at - 9 WHERE key IN (SELECT key FROM verdicts LIMIT 10)")
        database.commit()
    after = told(shell, "prune", "--max-size", "30kB", "--cache", tmp_path / "v")
    assert before["bytes"] > 30_000 >= after["bytes"] == (tmp_path / "v").stat().st_size
    assert after["verdicts"] == before["verdicts"] - after["removed"] > 20
    assert after["removed"] >= 10
    assert after["oldest"] > before["oldest"] - 9
    assert told(shell, "prune", "--max-size", "0", "--cache", tmp_path / "v")["verdicts"] == 0


def test_all_verdicts_are_removed(shell: Shell, cache: Path) -> None:  # noqa: F811
    code, _, err = shell("cache", "clear", "--cache", cache)
    assert (code, "Removed 8 verdicts" in err) == (0, True)
    assert told(shell, "stats", "--cache", cache)["verdicts"] == 0


@pytest.mark.parametrize("arguments", [["stats"], ["clear"], ["prune", "--older-than", "1d"]])
def test_where_there_is_no_cache_there_is_nothing(
    shell: Shell,  # noqa: F811
    tmp_path: Path,
    arguments: list[str],
) -> None:
    assert told(shell, *arguments, "--cache", tmp_path / "none")["verdicts"] == 0
    assert not (tmp_path / "none").exists()


def test_damage_is_told(shell: Shell, cache: Path) -> None:  # noqa: F811
    content = bytearray(cache.read_bytes())
    content[4096:5096] = b"\xee" * 1000
    cache.write_bytes(content)
    code, out, err = shell("cache", "stats", "--cache", cache)
    assert (code, "0 verdicts" in out, "set aside" in err) == (0, True, True)


@pytest.mark.parametrize("age", ["30", "d", "-3d", "3 m", "", "1e3d"])
def test_an_age_that_cannot_be_meant(age: str) -> None:
    with pytest.raises(OptionError, match="such as 12h, 30d or 8w"):
        _age(age)


@pytest.mark.parametrize("size", ["-1", "much", "", "1e999", "5 apples"])
def test_a_size_that_cannot_be_meant(size: str) -> None:
    with pytest.raises(OptionError, match="such as 500MB or 2GiB"):
        _bytes(size)


def test_pruning_needs_to_know_what(shell: Shell) -> None:  # noqa: F811
    code, _, err = shell("cache", "prune")
    assert (code, "--older-than" in err) == (2, True)
