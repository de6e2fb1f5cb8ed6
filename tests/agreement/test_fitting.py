from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from localscore.agreement import Answer
from localscore.agreement.calibrating import AFTER, CALIBRATION, calibrate, load_calibrated
from localscore.agreement.fitting import RIDGE, _fit, _rows, fitted, out_of_fold, recalibrated
from localscore.calibration import Calibration
from localscore.errors import CalibrationError
from localscore.inquiries import Inquiry
from localscore.judges.cards import read_tuning
from localscore.judges.scripted import ScriptedJudge
from localscore.labelled import Labelled
from localscore.results import Features, Judgment
from localscore.verdicts import LEVELS
from tests.agreement.examples import chances, said


def biased(count: int = 200, seed: int = 0) -> list[Answer]:
    """A judge that ranks well, but says yes too rarely: its log-odds are three below the truth's, and doubled."""
    draw = np.random.default_rng(seed)
    answers = []
    for n in range(count):
        truth = draw.normal(0, 2)
        gold = bool(draw.random() < 1 / (1 + math.exp(-truth)))
        yes = chances(round(1 / (1 + math.exp(-2 * (truth - 3))), 4))
        features = Features(probabilities=yes, overlap=float(draw.random()))
        answers.append(
            said(
                "usage",
                n,
                gold,
                yes["true"] >= 0.5,
                probabilities=yes,
                features=features,
                cluster=str(n // 2),
            )
        )
    return answers


def test_bias_and_temperature_are_found() -> None:
    calibration = fitted(biased(2000))["usage"]
    assert calibration.judge[0] == pytest.approx(0.5, abs=0.06)
    assert calibration.cuts[0] + calibration.overlap * -0.5 == pytest.approx(-3, abs=0.35)
    assert calibration.records == 2000


def test_two_values_are_logistic_regression() -> None:
    rows = _rows("usage", biased())
    found = _fit(rows)
    features = np.concatenate([rows.odds, rows.beside[:, 2:]], axis=1)  # nothing is explained or saved here
    scaled = (features - features.mean(0)) / features.std(0)
    expected = LogisticRegression(C=1 / RIDGE, tol=1e-8).fit(scaled, rows.low)
    weights = expected.coef_[0] / features.std(0)
    assert (found.judge[0], found.overlap) == pytest.approx(tuple(weights), rel=0.01)
    assert found.cuts[0] == pytest.approx(
        float(weights @ features.mean(0) - expected.intercept_[0]), rel=0.01
    )


def test_levels_get_cuts_in_order_and_two_level_records_count() -> None:
    draw = np.random.default_rng(1)
    answers = []
    for n in range(300):
        grade = int(draw.integers(4))
        overlap = float(np.clip(0.25 * grade + draw.normal(0, 0.1), 0, 1))
        features = Features(probabilities=dict.fromkeys(LEVELS, 0.25), overlap=overlap)
        answers.append(
            said(
                "relevance",
                n,
                LEVELS[3 - grade],
                "none",
                features=features,
                binary=n % 3 == 0 and grade in (0, 3),
            )
        )
    calibration = fitted(answers)["relevance"]
    assert calibration.overlap > 0
    assert calibration.judge == (0.0, 0.0, 0.0) or max(map(abs, calibration.judge)) < 1
    after = [recalibrated(answer, {"relevance": calibration}) for answer in answers]
    assert np.mean([a.verdict == a.gold for a in after]) > 0.6


def test_out_of_fold_knows_nothing_of_the_record() -> None:
    answers = biased(60)
    flipped = [a.model_copy(update={"gold": not a.gold}) if a.cluster == "3" else a for a in answers]
    one, other = out_of_fold(answers), out_of_fold(flipped)
    for before, after in zip(one, other, strict=True):
        if before.cluster == "3":
            assert before.probabilities == after.probabilities


def test_too_little_to_fit_to() -> None:
    with pytest.raises(CalibrationError, match="at least 20 records"):
        fitted(biased(10))
    agreed = [answer.model_copy(update={"gold": True}) for answer in biased(50)]
    with pytest.raises(CalibrationError, match="different ways"):
        fitted(agreed)


def test_an_answer_goes_back_to_what_the_judge_said() -> None:
    [answer] = biased(1)
    changed = recalibrated(answer, {"usage": Calibration(cuts=(9.0,))})
    assert changed.verdict is False
    assert recalibrated(changed, {}) == answer


def people(count: int) -> list[Labelled]:
    return [
        Labelled(
            "usage",
            str(n),
            n % 2 == 0,
            f"Who won race {n}?",
            (f"Ann won {n}." if n % 2 == 0 else "Nobody.",),
            "Ann won.",
            cluster=str(n),
        )
        for n in range(count)
    ]


def test_a_folder_holds_before_after_and_the_calibration(tmp_path: Path) -> None:
    def stubborn(inquiry: Inquiry[Any]) -> Judgment:
        return Judgment(verdict={"used": False}, probabilities={"true": 0.3, "false": 0.7}, bits=20.0)

    judge = ScriptedJudge(stubborn)
    found = calibrate(people(40), judge, tmp_path)
    before, after = load_calibrated(tmp_path)
    assert (before, after) == (found.before, found.after)
    measure = "balanced_accuracy"
    assert before.kinds["usage"].all.row("judge").measures[measure].value == 0.5
    assert after.kinds["usage"].all.row("judge").measures[measure].value == 1.0
    assert read_tuning(tmp_path / CALIBRATION).calibration == found.calibrations
    assert "calibration" in json.loads((tmp_path / AFTER).read_text())
    asked = len(judge.asked)
    assert calibrate(people(40), judge, tmp_path).after.kinds == after.kinds
    assert len(judge.asked) == asked
