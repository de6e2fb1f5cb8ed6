"""Answers → calibrations, fitted to what people said.

A proportional odds model with a small ridge penalty, on all features or on the judge's log-odds alone (a bias and a
temperature): whichever makes records likelier that it was not fitted to. Choosing among single features was tried: it
cost more in noise than it saved. What is reported comes from folds that neither fit nor choice have seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from localscore import cutpoints
from localscore.agreement.answers import Answer
from localscore.agreement.contestants import MEDIUM, grade
from localscore.calibration import CALIBRATED, Calibration, Calibrations, less_prior, log_odds
from localscore.errors import CalibrationError
from localscore.labelled import Kind
from localscore.results import Features
from localscore.verdicts import LEVELS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RIDGE = 3.0
"""Strength of the penalty on the weights of standardised features, in records that pull towards zero."""

ENOUGH = 20
"""Records below which nothing is fitted."""


class _Rows(NamedTuple):
    """Records as numbers."""

    odds: Floats
    """The judge's log-odds of at least each value but the last, a row per record."""
    prior: Floats
    """Those without contexts."""
    beside: Floats
    """Explained, saved and overlap."""
    low: Ints
    """The lowest and highest grade that people's verdict allows; grade 0 is the last value."""
    high: Ints
    clusters: tuple[str, ...]

    def at(self, there: npt.NDArray[np.bool_]) -> _Rows:
        clusters = tuple(c for c, here in zip(self.clusters, there, strict=True) if here)
        return _Rows(
            self.odds[there],
            self.prior[there],
            self.beside[there],
            self.low[there],
            self.high[there],
            clusters,
        )


def fitted(answers: Sequence[Answer]) -> dict[str, Calibration]:
    """Return the calibration of each closed question that enough records are about.

    Args:
        answers: with features (`CalibratedJudge(…, observed=CALIBRATED)`).

    Raises:
        CalibrationError: no question has enough records with different verdicts of people.
    """
    found: dict[str, Calibration] = {}
    for kind, told in _by_kind(answers):
        rows = _rows(kind, told)
        if (
            len(told) >= ENOUGH
            and len({(low, high) for low, high in zip(rows.low, rows.high, strict=True)}) > 1
        ):
            found[kind] = _chosen(rows)
    if not found:
        raise CalibrationError(
            f"There is nothing to fit to; expected at least {ENOUGH} records of a closed question that people "
            "answered in different ways."
        )
    return found


def out_of_fold(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers as calibrations that were fitted to the other folds would give them."""
    after: dict[tuple[Kind, str], Answer] = {}
    for kind, told in _by_kind(answers):
        rows, fold = _rows(kind, told), np.array(cutpoints.folds([a.cluster for a in told]))
        for one in set(fold.tolist()):
            rest = rows.at(fold != one)
            if not _differ(rest):
                continue
            calibrations: Calibrations = {kind: _chosen(rest)}
            for answer, at in zip(told, fold, strict=True):
                if at == one:
                    after[kind, answer.id] = recalibrated(answer, calibrations)
    return [after.get((answer.kind, answer.id), answer) for answer in answers]


def recalibrated(answer: Answer, calibrations: Calibrations) -> Answer:
    """Return an answer as other calibrations would give it; without one, as the judge itself gave it."""
    if answer.features is None:
        return answer
    calibration = calibrations.get(answer.kind)
    found = (
        answer.features.probabilities if calibration is None else calibration.probabilities(answer.features)
    )
    label = max(found, key=found.__getitem__)
    verdict = label if label in LEVELS else label == "true"
    return answer.model_copy(update={"verdict": verdict, "probabilities": found})


def _by_kind(answers: Sequence[Answer]) -> Iterator[tuple[Kind, list[Answer]]]:
    kinds = dict.fromkeys(answer.kind for answer in answers if answer.kind in CALIBRATED)
    for kind in kinds:
        yield (
            kind,
            [a for a in answers if a.kind == kind and a.verdict is not None and a.features is not None],
        )


def _rows(kind: Kind, answers: Sequence[Answer]) -> _Rows:
    features = [answer.features or Features(probabilities={}) for answer in answers]
    grades = [_grades(kind, answer) for answer in answers]
    return _Rows(
        np.array([log_odds(one.probabilities) for one in features]),
        np.array([log_odds(one.probabilities) for one in features])
        - np.array([less_prior(one) for one in features]),
        np.array([[one.explained, one.saved, one.overlap] for one in features]),
        np.array([low for low, _ in grades]),
        np.array([high for _, high in grades]),
        tuple(answer.cluster for answer in answers),
    )


def _grades(kind: Kind, answer: Answer) -> tuple[int, int]:
    if kind != "relevance":
        return (1, 1) if answer.gold is True else (0, 0)
    exact = int(grade(answer.gold))
    if answer.binary:
        return (MEDIUM, len(LEVELS) - 1) if exact >= MEDIUM else (0, MEDIUM - 1)
    return exact, exact


def _differ(rows: _Rows) -> bool:
    """Return whether people's verdicts differ."""
    return len(set(zip(rows.low.tolist(), rows.high.tolist(), strict=True))) > 1


def _chosen(rows: _Rows) -> Calibration:
    """Fit with all features, or with the judge's log-odds alone where those make unseen records likelier."""
    fold = np.array(cutpoints.folds(rows.clusters))
    splits = [(rows.at(fold != one), rows.at(fold == one)) for one in sorted(set(fold.tolist()))]
    splits = [(rest, apart) for rest, apart in splits if _differ(rest)]

    def unseen(everything: bool) -> float:
        fits = ((_fit(rest, everything=everything), apart) for rest, apart in splits)
        return math.fsum(
            _log_likelihood(_parameters(one), _features(apart, everything=everything), apart)
            for one, apart in fits
        )

    return _fit(rows, everything=unseen(True) >= unseen(False))


def _features(rows: _Rows, *, everything: bool) -> Floats:
    odds = rows.odds - rows.prior if everything else rows.odds
    return np.concatenate([odds, rows.beside * everything], axis=1)


def _parameters(one: Calibration) -> Floats:
    return np.array([*one.judge, one.explained, one.saved, one.overlap, *one.cuts])


def _fit(rows: _Rows, *, everything: bool = True) -> Calibration:
    values = rows.odds.shape[1]
    features = _features(rows, everything=everything)
    centre, spread = features.mean(0), features.std(0)
    spread = np.where(spread > 1e-9, spread, 1.0)  # rounding errors are no spread
    scaled = (features - centre) / spread

    def cost(parameters: Floats) -> float:
        ridge = RIDGE / 2 * float((parameters[: features.shape[1]] ** 2).sum())
        return ridge - _log_likelihood(_ordered(parameters, values), scaled, rows)

    start = np.concatenate([np.zeros(features.shape[1]), [-(values - 1) / 2], np.zeros(values - 1)])
    found = _ordered(minimize(cost, start, method="L-BFGS-B").x, values)
    weights = found[:-values] / spread
    cuts = found[-values:] + float(weights @ centre)
    weights = np.array([float(f"{weight:.4g}") for weight in weights])
    return Calibration(
        judge=tuple(weights[:values].tolist()),
        explained=float(weights[values]),
        saved=float(weights[values + 1]),
        overlap=float(weights[values + 2]),
        cuts=tuple(float(f"{cut:.4g}") for cut in cuts),
        prior=everything,
        records=len(rows.low),
    )


def _ordered(parameters: Floats, values: int) -> Floats:
    """Return weights and falling cuts, from weights, the lowest cut and the logarithms of the steps between them."""
    weights, cuts = parameters[:-values], parameters[-values:]
    cuts = cuts[0] + np.concatenate([[0.0], np.cumsum(np.exp(cuts[1:]))])
    return np.concatenate([weights, cuts[::-1]])


def _log_likelihood(parameters: Floats, features: Floats, rows: _Rows) -> float:
    weights, cuts = parameters[: features.shape[1]], parameters[features.shape[1] :]
    reached = expit((features @ weights)[:, None] - cuts[::-1])
    at_least = np.concatenate([np.ones((len(features), 1)), reached, np.zeros((len(features), 1))], axis=1)
    each = np.arange(len(features))
    between = at_least[each, rows.low] - at_least[each, rows.high + 1]
    return float(np.log(np.clip(between, 1e-9, 1)).sum())
