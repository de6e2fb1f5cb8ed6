"""What people and each contestant said of the records of one kind, as columns of numbers.

A column has a place for each record, NaN where nothing was said:

    grade      relevance: 0 none … 3 high; nothing where people told only two levels apart
    yes        1 or 0; of relevance, whether it is at least medium
    expected   relevance: what ranks records by grade
    chance     what ranks records by how likely a yes is; of a judge its probability
    named      sufficiency: whether what people found missing was named
    f1, precision, recall   claims: matched with those of people
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from localscore import cutpoints
from localscore.agreement.answers import Answer
from localscore.agreement.matching import matched, names
from localscore.agreement.measures import Floats
from localscore.labelled import Kind, Other
from localscore.verdicts import LEVELS

Columns = dict[str, Floats]

MEDIUM = 2
"""The grade from which a context counts as relevant where only two levels are told apart."""

_NOTHING = math.nan


def people(kind: Kind, answers: Sequence[Answer]) -> Columns:
    """Return what people said."""
    if kind == "claims":
        return {name: np.ones(len(answers)) for name in ("f1", "precision", "recall")}
    if kind == "relevance":
        grades = [grade(answer.gold) for answer in answers]
        told = [_NOTHING if a.binary else g for a, g in zip(answers, grades, strict=True)]
        return {"grade": np.array(told), "yes": np.array([float(g >= MEDIUM) for g in grades])}
    columns = {"yes": np.array([float(answer.gold is True) for answer in answers])}
    if kind == "sufficiency":
        columns["named"] = np.array([1.0 if answer.gold_missing else _NOTHING for answer in answers])
    return columns


def judge(kind: Kind, answers: Sequence[Answer]) -> Columns:
    """Return what the judge said."""
    if kind == "claims":
        return _claims(answers, lambda answer: answer.verdict)
    if kind == "relevance":
        grades = np.array([grade(answer.verdict) for answer in answers])
        return {
            "grade": grades,
            "yes": _reaching_medium(grades),
            "expected": _each(answers, lambda a: sum(grade(name) * p for name, p in a.probabilities.items())),
            "chance": _each(answers, lambda a: a.probabilities["high"] + a.probabilities["medium"]),
        }
    columns = {
        "yes": _each(answers, lambda a: float(a.verdict is True)),
        "chance": _each(answers, lambda a: a.probabilities["true"]),
    }
    if kind == "sufficiency":
        columns["named"] = _each(answers, lambda a: names(a.missing, a.gold_missing, a.missing_answer))
    return columns


def word_overlap(kind: Kind, answers: Sequence[Answer]) -> Columns:
    """Return what word overlap says, by cut points fitted to the other folds."""
    if kind == "claims":
        return _claims(answers, lambda answer: answer.overlap)
    numbers = [answer.overlap for answer in answers if isinstance(answer.overlap, float)]
    clusters = [answer.cluster for answer in answers]
    gold = people(kind, answers)

    def fitted(column: str, fit: cutpoints.Fit) -> Floats:
        known = [None if math.isnan(value) else int(value) for value in gold[column]]
        verdicts = cutpoints.out_of_fold(numbers, known, clusters, fit)
        return np.array([_NOTHING if verdict is None else float(verdict) for verdict in verdicts])

    columns = {"yes": fitted("yes", cutpoints.binary), "chance": np.array(numbers)}
    if kind == "relevance":
        columns |= {"grade": fitted("grade", cutpoints.levels), "expected": np.array(numbers)}
    return columns


def others(kind: Kind, answers: Sequence[Answer], said: Iterable[Other]) -> dict[str, Columns]:
    """Return what other judges said, by their names; one that could not be read counts as wrong."""
    place = {answer.id: number for number, answer in enumerate(answers)}
    by_name: dict[str, Columns] = {}
    gold = people(kind, answers)
    for one in said:
        number = place.get(one.id)
        if one.kind != kind or number is None:
            continue
        fresh = ("yes", "grade", "expected", "chance") if kind == "relevance" else ("yes", "chance")
        columns = by_name.setdefault(one.model, {name: np.full(len(answers), _NOTHING) for name in fresh})
        if kind == "relevance":
            told = grade(one.pred)
            columns["grade"][number] = columns["expected"][number] = columns["chance"][number] = told
            columns["yes"][number] = float(told >= MEDIUM)
        else:
            yes = _yes(one)
            columns["yes"][number] = 1 - gold["yes"][number] if yes is None else float(yes)
            columns["chance"][number] = one.score if one.score is not None else _NOTHING
    return by_name


def grade(said: object) -> float:
    """Return the grade of a level, or of a number that is one; NaN for anything else.

    >>> grade("high"), grade("1"), grade(None)
    (3.0, 1.0, nan)
    """
    if said in LEVELS:
        return 3.0 - LEVELS.index(said)
    return float(said) if str(said) in {"0", "1", "2", "3"} else _NOTHING  # type: ignore[arg-type]


def _yes(other: Other) -> bool | None:
    if isinstance(other.pred, bool):
        return other.pred
    if other.pred in ("yes", "no"):
        return other.pred == "yes"
    return None if other.score is None else other.score >= 0.5


def _reaching_medium(grades: Floats) -> Floats:
    return np.where(np.isnan(grades), np.nan, (grades >= MEDIUM).astype(np.float64))


def _each(answers: Sequence[Answer], said: Callable[[Answer], float]) -> Floats:
    return np.array([_NOTHING if a.verdict is None else float(said(a)) for a in answers])


def _claims(answers: Sequence[Answer], found: Callable[[Answer], object]) -> Columns:
    columns: Columns = {name: np.full(len(answers), _NOTHING) for name in ("f1", "precision", "recall")}
    for number, answer in enumerate(answers):
        claims = found(answer)
        if isinstance(claims, tuple) and isinstance(answer.gold, tuple):
            match = matched(claims, answer.gold)
            for name, value in match._asdict().items():
                columns[name][number] = value
    return columns
