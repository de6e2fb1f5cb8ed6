from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from localscore.inquiries import Inquiry
from localscore.judges.cards import read_tuning
from localscore.judges.scripted import ScriptedJudge
from localscore.results import Judgment
from tests.cli.test_agree import judgments
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)


def hesitant(inquiry: Inquiry[Any]) -> Judgment:
    values = dict.fromkeys(("true", "false"), 0.5)
    bits = (30.0 if "Nobody" in str(dict(inquiry.texts)) else 10.0) if inquiry.measured else None
    return Judgment(verdict={next(iter(inquiry.verdict.model_fields)): True}, probabilities=values, bits=bits)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run; a judge that is no card has its file `localscore.toml` there."""
    monkeypatch.chdir(tmp_path)
    return judgments(tmp_path / "j", 30)


def test_a_calibration_is_told_written_and_put_next_to_the_judge(shell: Shell, folder: Path) -> None:  # noqa: F811
    shell.judge = ScriptedJudge(hesitant)
    arguments = ("calibrate", folder, "--judge", "x", "--kinds", "usage,attribution", "--out", "cal")
    code, printed, talk = shell(*arguments)
    assert code == 0
    for word in (
        "usage · 30 records",
        "attribution · 30 records",
        "before",
        "after",
        "word overlap",
        "Made of",
    ):
        assert word in printed
    written = read_tuning(Path("cal") / "calibration.toml").calibration
    own = read_tuning(Path("localscore.toml"))
    assert set(written) == {"usage", "attribution"}
    assert own.calibration == written
    assert own.agreement["usage"].measures["balanced_accuracy"][0] == 1.0
    assert "It is used from now on" in talk


def test_what_the_file_says_of_other_things_stays(shell: Shell, folder: Path) -> None:  # noqa: F811
    prompt = "{answer} : ce texte sert-il ?"
    Path("localscore.toml").write_text(
        f"[prompts]\nusage = '{prompt}'\n\n[calibration.usage]\njudge = [9.0]\n"
    )
    shell.judge = ScriptedJudge(hesitant)
    assert shell("calibrate", folder, "--judge", "x", "--kinds", "usage", "--out", "cal", "--quiet")[0] == 0
    own = read_tuning(Path("localscore.toml"))
    assert own.prompts == {"usage": prompt}
    assert own.calibration["usage"].judge != (9.0,)


def test_too_few_records_are_no_calibration(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    shell.judge = ScriptedJudge(hesitant)
    few = judgments(tmp_path / "j", 6)
    code, _, talk = shell("calibrate", few, "--judge", "x", "--kinds", "usage", "--out", tmp_path / "cal")
    assert code == 2
    assert "at least 20 records" in talk
