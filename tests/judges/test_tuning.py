from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from localscore.calibration import PRIOR, Calibration
from localscore.errors import CalibrationError
from localscore.judges import loading
from localscore.judges.calibrated import CalibratedJudge
from localscore.judges.cards import Measured, Tuning, card_named, tables
from localscore.judges.loading import load_judge, own_card, tuning_of
from localscore.judges.scripted import ScriptedJudge

OWN = {"usage": Calibration(judge=(0.5,), cuts=(0.1,), records=40)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Stand in for models, and note how each was asked for."""
    asked: list[dict[str, Any]] = []

    def load(name: str, **options: Any) -> ScriptedJudge:
        asked.append(options)
        return ScriptedJudge(lambda inquiry: {})

    monkeypatch.setattr(loading, "load_model", load)
    return asked


def measured(accuracy: float) -> Measured:
    return Measured(
        date=date(2026, 12, 1),
        arithmetic="float32",
        records=100,
        clusters=50,
        measures={"balanced_accuracy": (accuracy, accuracy - 0.1, accuracy + 0.1)},
    )


def with_own_card(text: str) -> None:
    path = own_card("starter")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_judge_comes_with_the_calibration_of_its_card(models: list[dict[str, Any]]) -> None:
    judge = load_judge("starter")
    assert isinstance(judge, CalibratedJudge)
    assert judge.calibrations == card_named("starter").calibration


@pytest.mark.parametrize(("choice", "expected"), [("none", None), ("prior", PRIOR)])
def test_the_calibration_may_be_chosen(models: list[dict[str, Any]], choice: str, expected: Any) -> None:
    assert getattr(load_judge("starter", calibration=choice), "calibrations", None) == expected


def test_what_the_judges_user_says_goes_before_its_card(models: list[dict[str, Any]]) -> None:
    prompt = "{answer} : ce texte sert-il ?"
    with_own_card(f"{tables('calibration', OWN)}\n[prompts]\nusage = '{prompt}'\n")
    judge = load_judge("starter")
    assert isinstance(judge, CalibratedJudge)
    assert judge.calibrations["usage"] == OWN["usage"]
    assert judge.calibrations["relevance"] == card_named("starter").calibration["relevance"]
    assert models[0]["prompts"] == {"usage": prompt}
    load_judge("starter", calibration="none")
    assert models[1]["prompts"] == {"usage": prompt}


def test_a_file_may_be_named(models: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(tables("calibration", OWN))
    assert getattr(load_judge("starter", calibration=path), "calibrations", None) == OWN
    with pytest.raises(CalibrationError, match="nowhere"):
        load_judge("starter", calibration=tmp_path / "nowhere.toml")


def test_an_own_card_that_cannot_be_read_is_named(models: list[dict[str, Any]]) -> None:
    with_own_card("[calibration.usage]\njudge = 'much'\n")
    with pytest.raises(CalibrationError, match=r"localscore\.toml: calibration\.usage\.judge"):
        load_judge("starter")


def test_a_folder_has_its_own_card_inside_and_a_file_beside_it(tmp_path: Path) -> None:
    assert own_card(str(tmp_path)) == tmp_path / "localscore.toml"
    assert own_card(str(tmp_path / "a.gguf")) == tmp_path / "localscore.toml"
    assert tuning_of(str(tmp_path)) == Tuning()


@pytest.mark.parametrize(
    ("agreement", "told"),
    [
        ({}, "how well it agrees with people has not been measured (localscore agree)"),
        ({"usage": measured(0.8)}, ""),
        (
            {"usage": measured(0.8), "relevance": measured(0.52)},
            "it agrees poorly with people on relevance (balanced accuracy 0.52)",
        ),
    ],
)
def test_doubts_are_told(agreement: dict[str, Measured], told: str) -> None:
    assert Tuning(agreement=agreement).doubts == told
