"""How well verdicts agree with those of people, each measure with a bootstrap interval clustered by query.

The value is scikit-learn's or SciPy's. The interval comes from a thousand resamples at once: a resample of clusters
is a weight for each record, and every measure is also written as a function of such weights. Tests hold the two
ways together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    roc_auc_score,
)

from localscore.agreement.report import Estimate

Floats = npt.NDArray[np.float64]

RESAMPLES, SEED = 1000, 0

GRADES = 4


class Measure(NamedTuple):
    """One measure in two ways: its value, and its values under many weightings of the records."""

    value: Callable[[Floats, Floats], float]
    """From what people said and what was said."""
    weighted: Callable[[Floats, Floats, Floats], Floats]
    """From the same, and weights with a row for each resample."""
    classes: int = 2
    """How many different verdicts of people it needs to be defined."""
    ranks: bool = False
    """Whether what was said only has to rank; then it must not be the same everywhere."""


@lru_cache(maxsize=16)
def resampled(clusters: tuple[str, ...]) -> Floats:
    """Return how often each record is drawn in each resample, where whole clusters are drawn.

    >>> drawn = resampled(("a", "b", "b"))
    >>> drawn.shape, bool((drawn[:, 1] == drawn[:, 2]).all())
    ((1000, 3), True)
    """
    names, cluster = np.unique(np.array(clusters), return_inverse=True)
    even = np.full(len(names), 1 / len(names))
    drawn = np.random.default_rng(SEED).multinomial(len(names), even, size=RESAMPLES)
    return drawn[:, cluster].astype(np.float64)


def estimated(measure: Measure, gold: Floats, said: Floats, clusters: Sequence[str]) -> Estimate:
    """Return a measure with its interval, over the records where both people and the contestant said something.

    >>> estimated(ACCURACY, np.array([1.0, 0.0, np.nan]), np.array([1.0, 1.0, 0.0]), ["a", "b", "c"])
    Estimate(value=0.5, low=0.0, high=1.0, n=2)
    """
    there, value = _valued(measure, gold, said)
    n = int(there.sum())
    if value is None:
        return Estimate(value=None, n=n)
    drawn = resampled(tuple(compress(clusters, there)))
    return _interval(value, measure.weighted(gold[there], said[there], drawn), n)


def difference(
    measure: Measure, gold: Floats, said: Floats, other: Floats, clusters: Sequence[str]
) -> Estimate:
    """Return by how much a contestant is ahead of another on the records where both said something.

    >>> gold, right, wrong = (np.array(row) for row in ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0]))
    >>> difference(ACCURACY, gold, right, wrong, ["a", "b"]).value
    0.5
    """
    there = ~np.isnan(gold) & ~np.isnan(said) & ~np.isnan(other)
    gold, said, other = gold[there], said[there], other[there]
    one, two = (_valued(measure, gold, column)[1] for column in (said, other))
    if one is None or two is None:
        return Estimate(value=None, n=len(gold))
    drawn = resampled(tuple(compress(clusters, there)))
    ahead = measure.weighted(gold, said, drawn) - measure.weighted(gold, other, drawn)
    return _interval(one - two, ahead, len(gold))


def _valued(measure: Measure, gold: Floats, said: Floats) -> tuple[npt.NDArray[np.bool_], float | None]:
    there = ~np.isnan(gold) & ~np.isnan(said)
    gold, said = gold[there], said[there]
    if len(np.unique(gold)) < measure.classes or (measure.ranks and len(np.unique(said)) < 2):
        return there, None
    return there, float(measure.value(gold, said))


def _interval(value: float, values: Floats, n: int) -> Estimate:
    """Return the middle 95 % of the resamples; those in which the measure is not defined are left out."""
    values = values[np.isfinite(values)]
    if not len(values):
        return Estimate(value=round(value, 4), n=n)
    low, high = np.quantile(values, [0.025, 0.975])
    return Estimate(value=round(value, 4), low=round(float(low), 4), high=round(float(high), 4), n=n)


def _tables(gold: Floats, said: Floats, weights: Floats) -> Floats:
    """Return the confusion matrix of each resample: people's verdicts down, the contestant's across."""
    cells = np.eye(GRADES * GRADES)[(gold * GRADES + said).astype(int)]
    tables: Floats = (weights @ cells).reshape(-1, GRADES, GRADES)
    return tables


@np.errstate(invalid="ignore", divide="ignore")
def _accuracy(gold: Floats, said: Floats, weights: Floats) -> Floats:
    tables = _tables(gold, said, weights)
    right: Floats = np.trace(tables, axis1=1, axis2=2) / tables.sum((1, 2))
    return right


@np.errstate(invalid="ignore", divide="ignore")
def _balanced_accuracy(gold: Floats, said: Floats, weights: Floats) -> Floats:
    tables = _tables(gold, said, weights)[:, :2, :2]
    recalls = np.diagonal(tables, axis1=1, axis2=2) / tables.sum(2)
    mean: Floats = recalls.mean(1)
    return mean


@np.errstate(invalid="ignore", divide="ignore")
def _f1(gold: Floats, said: Floats, weights: Floats) -> Floats:
    tables = _tables(gold, said, weights)
    found: Floats = 2 * tables[:, 1, 1] / (tables[:, 1].sum(1) + tables[:, :, 1].sum(1))
    return found


def _kappa(power: int) -> Callable[[Floats, Floats, Floats], Floats]:
    """Return Cohen's kappa with disagreements weighted by distance to this power; 0 counts them all alike."""
    distance = np.abs(np.subtract.outer(np.arange(GRADES), np.arange(GRADES)))
    penalty = distance.astype(np.float64) ** power * (distance > 0)

    @np.errstate(invalid="ignore", divide="ignore")
    def kappa(gold: Floats, said: Floats, weights: Floats) -> Floats:
        tables = _tables(gold, said, weights)
        by_chance = tables.sum(2)[:, :, None] * tables.sum(1)[:, None, :] / tables.sum((1, 2), keepdims=True)
        agreed: Floats = 1 - (tables * penalty).sum((1, 2)) / (by_chance * penalty).sum((1, 2))
        return agreed

    return kappa


def _tied(said: Floats, weights: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return for each record its group of equal values, in rising order, and the weight of each group."""
    distinct, group = np.unique(said, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(distinct)))
    held: Floats = np.add.reduceat(weights[:, order], starts, axis=1)
    return group, held


@np.errstate(invalid="ignore", divide="ignore")
def _auroc(gold: Floats, said: Floats, weights: Floats) -> Floats:
    _, yes = _tied(said, weights * (gold == 1))
    _, no = _tied(said, weights * (gold == 0))
    below = no.cumsum(1) - no / 2
    area: Floats = (yes * below).sum(1) / (yes.sum(1) * no.sum(1))
    return area


def _ranks(values: Floats, weights: Floats) -> Floats:
    group, held = _tied(values, weights)
    ranks: Floats = (held.cumsum(1) - held / 2)[:, group]
    return ranks


@np.errstate(invalid="ignore", divide="ignore")
def _spearman(gold: Floats, said: Floats, weights: Floats) -> Floats:
    x, y = (_ranks(values, weights) for values in (gold, said))
    total = weights.sum(1, keepdims=True)
    x, y = (ranks - (weights * ranks).sum(1, keepdims=True) / total for ranks in (x, y))
    spread = np.sqrt((weights * x * x).sum(1) * (weights * y * y).sum(1))
    correlation: Floats = (weights * x * y).sum(1) / spread
    return correlation


@np.errstate(invalid="ignore", divide="ignore")
def _mean(gold: Floats, said: Floats, weights: Floats) -> Floats:
    mean: Floats = (weights @ said) / weights.sum(1)
    return mean


ACCURACY = Measure(accuracy_score, _accuracy, classes=1)
BALANCED_ACCURACY = Measure(balanced_accuracy_score, _balanced_accuracy)
F1 = Measure(lambda gold, said: f1_score(gold, said, zero_division=0.0), _f1)
KAPPA = Measure(cohen_kappa_score, _kappa(0))
QUADRATIC_KAPPA = Measure(
    lambda gold, said: cohen_kappa_score(gold, said, weights="quadratic", labels=range(GRADES)), _kappa(2)
)
AUROC = Measure(roc_auc_score, _auroc)
SPEARMAN = Measure(lambda gold, said: spearmanr(gold, said).statistic, _spearman, ranks=True)
MEAN = Measure(lambda gold, said: said.mean(), _mean, classes=1)
