"""Numbers → verdicts, by cut points that are fitted to what people said.

A number at or above a cut point gets the verdict above it. What is reported must come from cut points that were
fitted without the record's cluster: `out_of_fold`.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, pairwise

Cuts = tuple[float, ...]

Fit = Callable[[Sequence[float], Sequence[int]], Cuts]
"""Fits cut points to numbers and the grades that people gave."""

FOLDS = 5

CANDIDATES = 24
"""Places that are tried for each of several cut points: quantiles of the numbers."""

_GRADES = range(4)


def graded(number: float, cuts: Cuts) -> int:
    """Return how many cut points a number reaches.

    >>> graded(0.5, (0.2, 0.5, 0.9))
    2
    """
    return bisect_right(cuts, number)


def binary(numbers: Sequence[float], gold: Sequence[int]) -> Cuts:
    """Return the cut point between 0 and 1 that is best by balanced accuracy.

    >>> binary([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    (0.5,)
    """
    positives = sum(gold)
    negatives = len(gold) - positives
    if not positives or not negatives:
        return (float("inf") if negatives else float("-inf"),)
    best, cut = -1.0, float("inf")
    hits = false = 0
    ordered = sorted(zip(numbers, gold, strict=True), reverse=True)
    for (number, is_yes), (below, _) in zip(ordered, [*ordered[1:], (float("-inf"), 0)], strict=True):
        hits += is_yes
        false += 1 - is_yes
        balanced = hits / positives - false / negatives
        if number != below and balanced > best:
            best, cut = balanced, (number + below) / 2
    return (cut,)


def levels(numbers: Sequence[float], gold: Sequence[int]) -> Cuts:
    """Return the three cut points between the grades 0 to 3 that are best by quadratic-weighted kappa.

    >>> levels([0, 2, 4, 6, 8], [0, 0, 1, 2, 3])
    (3.0, 5.0, 7.0)
    """
    distinct = sorted(set(numbers))
    middles = [(low + high) / 2 for low, high in pairwise(distinct)]
    if len(middles) > CANDIDATES:
        middles = [middles[round(i * (len(middles) - 1) / (CANDIDATES - 1))] for i in range(CANDIDATES)]
    tried = [float("-inf"), *middles, float("inf")]
    below = {cut: [0, 0, 0, 0] for cut in tried}
    for number, grade in zip(numbers, gold, strict=True):
        for cut in tried[bisect_right(tried, number) :]:
            below[cut][grade] += 1
    totals = [sum(grade == other for other in gold) for grade in _GRADES]

    def kappa(cuts: Cuts) -> float:
        columns = [[0, 0, 0, 0], *(below[cut] for cut in cuts), totals]
        table = [[high[g] - low[g] for g in _GRADES] for low, high in pairwise(columns)]
        said = [sum(row) for row in table]
        off = sum((s - g) ** 2 * table[s][g] for s in _GRADES for g in _GRADES)
        by_chance = sum((s - g) ** 2 * said[s] * totals[g] for s in _GRADES for g in _GRADES) / max(
            1, len(gold)
        )
        return 1 - off / by_chance if by_chance else 0.0

    return max(combinations_with_replacement(tried, 3), key=kappa)


def folds(clusters: Sequence[str]) -> list[int]:
    """Return the fold of each record; a cluster is in one fold, and always in the same.

    >>> folds(["a", "b", "a"])
    [1, 0, 1]
    """
    order = sorted(set(clusters), key=lambda c: hashlib.sha256(c.encode("utf-8", "replace")).hexdigest())
    fold = {cluster: number % FOLDS for number, cluster in enumerate(order)}
    return [fold[cluster] for cluster in clusters]


def out_of_fold(
    numbers: Sequence[float], gold: Sequence[int | None], clusters: Sequence[str], fit: Fit
) -> list[int | None]:
    """Return a verdict for each number, by cut points fitted to the other folds.

    Records without a verdict of people fit nothing, but get one; none does where there is nothing to fit to.

    >>> out_of_fold([0.1, 0.9, 0.2, 0.8, 0.7], [0, 1, 0, 1, None], ["a", "b", "c", "d", "e"], binary)
    [0, 1, 0, 1, 1]
    """
    fold_of = folds(clusters)
    verdicts: list[int | None] = [None] * len(numbers)
    for fold in set(fold_of):
        known = [
            (number, grade)
            for number, grade, other in zip(numbers, gold, fold_of, strict=True)
            if grade is not None and other != fold
        ]
        if not known:
            continue
        cuts = fit([number for number, _ in known], [grade for _, grade in known])
        for i, number in enumerate(numbers):
            if fold_of[i] == fold:
                verdicts[i] = graded(number, cuts)
    return verdicts
