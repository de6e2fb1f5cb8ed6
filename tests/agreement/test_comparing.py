from __future__ import annotations

import json
import random
from typing import Any

import pytest
from scipy.stats import spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, roc_auc_score

from localscore.agreement import Answer, KindAgreement, measured
from localscore.agreement.comparing import MEASURES
from localscore.labelled import KINDS, Other
from localscore.verdicts import LEVELS
from tests.agreement.examples import chances, said

GRADES: dict[Any, int] = {level: 3 - number for number, level in enumerate(LEVELS)}


def values(told: KindAgreement, name: str = "judge") -> dict[str, float | None]:
    return {measure: estimate.value for measure, estimate in told.all.row(name).measures.items()}


def levels(count: int, *, seed: int = 1) -> list[Answer]:
    """Levels as people and a middling judge give them; the third set has only two levels told apart."""
    draw = random.Random(seed)
    answers = []
    for number in range(count):
        gold = draw.choice(LEVELS)
        weights = [draw.random() + 0.4 * (level == gold) for level in LEVELS]
        shares = {level: round(w / sum(weights), 4) for level, w in zip(LEVELS, weights, strict=True)}
        more = {
            "set": "abc"[number % 3],
            "lang": ["en", "fr"][number % 2],
            "binary": number % 3 == 2,
            "cluster": str(number // 2),
            "probabilities": shares,
            "overlap": min(1.0, max(0.0, GRADES[gold] / 6 + draw.random() / 2)),
        }
        answers.append(said("relevance", number, gold, max(shares, key=lambda level: shares[level]), **more))
    return answers


def test_relevance_is_measured_as_scikit_learn_does() -> None:
    answers = levels(90)
    found = values(measured(answers)["relevance"])
    exact = [a for a in answers if not a.binary]
    gold, verdict = [GRADES[a.gold] for a in exact], [GRADES[a.verdict] for a in exact]
    expected = [sum(GRADES[name] * p for name, p in a.probabilities.items()) for a in exact]
    assert found["kappa"] == pytest.approx(cohen_kappa_score(gold, verdict), abs=1e-4)
    assert found["quadratic_kappa"] == pytest.approx(
        cohen_kappa_score(gold, verdict, weights="quadratic"), abs=1e-4
    )
    assert found["spearman"] == pytest.approx(spearmanr(gold, expected).statistic, abs=1e-4)
    yes = [GRADES[a.gold] >= 2 for a in answers]
    judged = [GRADES[a.verdict] >= 2 for a in answers]
    chance = [a.probabilities["high"] + a.probabilities["medium"] for a in answers]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(yes, judged), abs=1e-4)
    assert found["binary_kappa"] == pytest.approx(cohen_kappa_score(yes, judged), abs=1e-4)
    assert found["auroc"] == pytest.approx(roc_auc_score(yes, chance), abs=1e-4)


def test_records_with_two_levels_are_in_the_binary_measures_alone() -> None:
    answers = [
        said("relevance", 1, "none", "low", binary=True),
        said("relevance", 2, "none", "medium", binary=True),
        said("relevance", 3, "high", "high"),
        said("relevance", 4, "low", "none"),
    ]
    row = measured(answers)["relevance"].all.row("judge")
    assert (row.n, row.measures["accuracy"].n, row.measures["balanced_accuracy"].n) == (4, 2, 4)
    assert row.measures["accuracy"].value == 0.5
    # At least medium: right on the first, third and fourth of 3 no and 1 yes.
    assert row.measures["binary_accuracy"].value == 0.75
    assert row.measures["balanced_accuracy"].value == pytest.approx((2 / 3 + 1) / 2, abs=1e-4)
    assert row.confusion["high"] == {"high": 1, "medium": 0, "low": 0, "none": 0}
    assert sum(sum(given.values()) for given in row.confusion.values()) == 2


@pytest.mark.parametrize("kind", ["attribution", "usage", "sufficiency"])
def test_yes_or_no_is_measured_as_scikit_learn_does(kind: str) -> None:
    draw = random.Random(2)
    answers = []
    for number in range(60):
        true = draw.random() < 0.4
        yes = round(min(1.0, draw.random() * 0.8 + 0.2 * true), 4)
        answers.append(said(kind, number, true, yes >= 0.5, probabilities=chances(yes)))
    gold, verdict = [a.gold for a in answers], [a.verdict for a in answers]
    told = measured(answers)
    [found] = told.values()
    measures = values(found)
    assert measures["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, verdict), abs=1e-4)
    assert measures["f1"] == pytest.approx(f1_score(gold, verdict), abs=1e-4)
    assert measures["auroc"] == pytest.approx(
        roc_auc_score(gold, [a.probabilities["true"] for a in answers]), abs=1e-4
    )
    assert sum(one.n for one in found.reliability) == sum(one.n for one in found.reliability_yes) == 60
    assert min(one.low for one in found.reliability) >= 0.5
    assert found.all.row("judge").confusion.keys() == {"yes", "no"}


def test_missing_items_are_named_or_not() -> None:
    def one(number: int, verdict: bool, *missing: str, gold: tuple[str, ...] = ("the date",)) -> Answer:
        return said("sufficiency", number, False, verdict, gold_missing=gold, missing=missing)

    answers = [one(1, False, "the date"), one(2, False, "a name"), one(3, True), one(4, False, gold=())]
    named = measured(answers)["sufficiency"].all.row("judge").measures["missing_named"]
    assert named.value == pytest.approx(1 / 3, abs=1e-4)
    assert named.n == 3


def test_claims_are_the_mean_over_texts() -> None:
    answers = [
        said("claims", 1, ("Ann ran.", "Bob slept."), ("Ann ran.", "Bob slept."), overlap=("Ann ran.",)),
        said("claims", 2, ("It rained.",), ("It rained.", "Cats purr."), overlap=("Cats purr.",)),
    ]
    told = measured(answers)["claims"]
    assert values(told) == {"f1": pytest.approx((1 + 2 / 3) / 2, abs=1e-4), "precision": 0.75, "recall": 1.0}
    assert values(told, "word overlap") == {
        "f1": pytest.approx(1 / 3, abs=1e-4),
        "precision": 0.5,
        "recall": 0.25,
    }
    assert (told.reliability, told.all.ece) == ((), None)


def test_every_set_and_language_has_a_slice() -> None:
    told = measured(levels(60))["relevance"]
    assert [(part.by, part.name, part.n) for part in told.slices] == [
        ("all", "all", 60),
        ("set", "a", 20),
        ("set", "b", 20),
        ("set", "c", 20),
        ("lang", "en", 30),
        ("lang", "fr", 30),
    ]
    assert [part.headline for part in told.slices[:4]] == ["quadratic_kappa"] * 3 + ["balanced_accuracy"]
    assert told.all.clusters == 30


def test_verdicts_that_could_not_be_had_are_counted_and_measured_nowhere() -> None:
    cause = {"code": "context_too_long", "message": "too long"}
    failed = [said("usage", n, True, None, cause=cause) for n in (90, 91)]
    answers = [said("usage", n, n % 2 == 0, n % 2 == 0) for n in range(20)]
    told = measured([*answers, *failed])["usage"]
    assert (told.records, told.failed, told.all.n) == (22, {"context_too_long": 2}, 20)
    assert told.all.row("word overlap").n == 20
    assert told.samples_per_minute == 120.0


def test_a_judge_that_always_fails_is_told_too() -> None:
    answers = [said("usage", 1, True, None, cause={"code": "out_of_memory", "message": "full"})]
    told = measured(answers)["usage"]
    assert (told.all.n, told.all.row("judge").n) == (0, 0)
    assert "cannot be told" in told.finding


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 3])
def test_one_class_is_null_in_the_json_and_never_nan(kind: str, count: int) -> None:
    gold: Any = {"relevance": "none", "claims": ("Ann ran.",)}.get(kind, False)
    overlap: Any = ("Ann ran.",) if kind == "claims" else 0.5
    [told] = measured(
        [said(kind, n, gold, gold, overlap=overlap, cluster="1") for n in range(count)]
    ).values()
    written = told.model_dump_json()
    assert "NaN" not in written
    assert KindAgreement.model_validate_json(written) == told
    if kind != "claims":
        assert json.loads(written)["slices"][0]["rows"][0]["measures"]["balanced_accuracy"]["value"] is None


@pytest.mark.parametrize(
    ("right_judge", "right_overlap", "word"),
    [
        (0.95, 0.5, "is better than word overlap: balanced accuracy 0."),
        (0.5, 0.95, "is not better than word overlap"),
        (0.8, 0.8, "cannot be told apart from word overlap"),
    ],
)
def test_the_finding_says_whether_the_judge_is_better(
    right_judge: float, right_overlap: float, word: str
) -> None:
    draw = random.Random(5)
    answers = []
    for number in range(200):
        gold = number % 2 == 0
        verdict = gold if draw.random() < right_judge else not gold
        overlap = gold if draw.random() < right_overlap else not gold
        answers.append(said("usage", number, gold, verdict, overlap=0.9 if overlap else 0.1))
    told = measured(answers)["usage"]
    assert word in told.finding
    assert "200 records" in told.finding
    ahead = told.all.row("word overlap").ahead
    assert ahead is not None
    judge, other = (
        told.all.row(name).measures["balanced_accuracy"].value for name in ("judge", "word overlap")
    )
    assert judge is not None
    assert other is not None
    assert ahead.value == pytest.approx(judge - other, abs=2e-4)


def other(id_: int, kind: str, model: str, **more: Any) -> Other:
    return Other.model_validate({"id": str(id_), "shape": kind, "model": model} | more)


def test_other_judges_are_measured_on_the_records_that_they_cover() -> None:
    answers = levels(30)
    perfect = [other(n, "relevance", "perfect", pred=GRADES[answers[n].gold]) for n in range(12)]
    elsewhere = [other(n, "attribution", "elsewhere", pred="yes") for n in range(12)]
    away = [other(999, "relevance", "away", pred=1)]
    every = measured(answers, [*perfect, *elsewhere, *away])["relevance"].all
    assert [row.name for row in every.rows] == ["judge", "word overlap", "perfect"]
    row = every.row("perfect")
    assert row.n == 12
    assert row.measures["quadratic_kappa"].value == 1.0
    assert row.measures["quadratic_kappa"].n == 8
    assert row.ahead is not None
    assert row.ahead.n == 8
    assert row.ahead.value is not None
    assert row.ahead.value < 0


def test_predictions_of_other_judges_come_in_many_ways() -> None:
    answers = [said("attribution", n, n < 2, True) for n in range(4)]
    said_so = [
        *(other(n, "attribution", "words", pred=word) for n, word in enumerate(["yes", "no", "no", "yes"])),
        *(other(n, "attribution", "scores", score=score) for n, score in enumerate([0.9, 0.4, 0.3, 0.1])),
        *(other(n, "attribution", "unreadable", pred=None) for n in range(4)),
        *(other(n, "attribution", "flags", pred=n < 2) for n in range(4)),
    ]
    every = measured(answers, said_so)["attribution"].all
    accuracy = {row.name: row.measures["balanced_accuracy"].value for row in every.rows[2:]}
    assert accuracy == {"words": 0.5, "scores": 0.75, "unreadable": 0.0, "flags": 1.0}
    assert every.row("scores").measures["auroc"].value == 1.0
    assert every.row("words").measures["auroc"].value is None


def test_what_is_measured_is_named_for_every_kind() -> None:
    assert MEASURES.keys() == set(KINDS)
