from __future__ import annotations

import itertools
import random

import pytest
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from localscore import cutpoints
from localscore.cutpoints import binary, folds, graded, levels, out_of_fold


def test_the_binary_cut_point_is_the_best_there_is() -> None:
    draw = random.Random(1)
    gold = [draw.randrange(2) for _ in range(80)]
    numbers = [round(draw.random() + 0.4 * yes, 1) for yes in gold]  # with ties
    everywhere = [i / 40 - 0.0125 for i in range(60)]
    best = max(balanced_accuracy_score(gold, [number >= cut for number in numbers]) for cut in everywhere)
    [cut] = binary(numbers, gold)
    assert balanced_accuracy_score(gold, [number >= cut for number in numbers]) == best


def test_the_cut_points_between_levels_are_the_best_there_are() -> None:
    draw = random.Random(2)
    gold = [draw.randrange(4) for _ in range(60)]
    numbers = [round(draw.random() * 0.5 + grade / 8, 1) for grade in gold]

    def kappa(cuts: tuple[float, ...]) -> float:
        said = [graded(number, cuts) for number in numbers]
        return float(cohen_kappa_score(gold, said, weights="quadratic", labels=range(4)))

    everywhere = [i / 10 - 0.05 for i in range(12)]
    best = max(kappa(cuts) for cuts in itertools.combinations_with_replacement(everywhere, 3))
    assert kappa(levels(numbers, gold)) == pytest.approx(best)


def test_one_class_alone_is_always_said() -> None:
    assert [graded(number, binary([0.1, 0.9], [1, 1])) for number in (0.0, 1.0)] == [1, 1]
    assert [graded(number, binary([0.1, 0.9], [0, 0])) for number in (0.0, 1.0)] == [0, 0]


def test_numbers_that_tell_nothing_give_one_verdict() -> None:
    assert len({graded(0.5, levels([0.5] * 4, [0, 1, 2, 3]))}) == 1
    assert levels([], []) == (float("-inf"),) * 3


def test_a_cluster_is_in_one_fold_and_folds_are_even() -> None:
    clusters = [str(n // 3) for n in range(60)]
    of = folds(clusters)
    assert all(
        len({fold for fold, name in zip(of, clusters, strict=True) if name == c}) == 1 for c in clusters
    )
    assert [of.count(fold) for fold in range(cutpoints.FOLDS)] == [12] * 5


def test_a_verdict_is_never_fitted_to_its_own_cluster() -> None:
    clusters = list("abcdefghij")
    seen: list[list[float]] = []

    def fit(numbers: list[float] | object, gold: object) -> tuple[float, ...]:
        assert isinstance(numbers, list)
        seen.append(numbers)
        return (0.5,)

    numbers = [float(n) for n in range(10)]
    out_of_fold(numbers, [1] * 10, clusters, fit)
    for fold, fitted in zip(set(folds(clusters)), seen, strict=True):
        held = [number for number, of in zip(numbers, folds(clusters), strict=True) if of == fold]
        assert not set(held) & set(fitted)
        assert len(fitted) == 8


def test_with_one_cluster_there_is_nothing_to_fit_to() -> None:
    assert out_of_fold([0.1, 0.9], [0, 1], ["a", "a"], binary) == [None, None]
