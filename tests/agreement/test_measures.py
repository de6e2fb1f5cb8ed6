from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.agreement import measures
from localscore.agreement.measures import Floats, Measure, difference, estimated, resampled

ALL = {
    "accuracy": measures.ACCURACY,
    "balanced accuracy": measures.BALANCED_ACCURACY,
    "f1": measures.F1,
    "kappa": measures.KAPPA,
    "quadratic kappa": measures.QUADRATIC_KAPPA,
    "auroc": measures.AUROC,
    "spearman": measures.SPEARMAN,
    "mean": measures.MEAN,
}
BINARY = ["accuracy", "balanced accuracy", "f1", "kappa", "quadratic kappa", "auroc", "spearman", "mean"]
FOUR = ["accuracy", "kappa", "quadratic kappa", "spearman", "mean"]


@pytest.mark.parametrize(
    ("name", "top"), [(name, 2) for name in BINARY] + [(name, 4) for name in FOUR], ids=str
)
@given(data=st.data())
def test_the_weighted_way_is_that_of_the_libraries(name: str, top: int, data: st.DataObject) -> None:
    """What a resample gives is what scikit-learn and SciPy give for its records, written out."""
    grades = st.integers(0, top - 1)
    ranked = name in ("auroc", "spearman")
    rows = data.draw(
        st.lists(st.tuples(grades, st.integers(0, 9) if ranked else grades, st.integers(0, 3)), min_size=4)
    )
    gold, said, times = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = np.repeat(np.arange(len(gold)), times.astype(int))
    if len(set(gold[repeated])) < 2 or len(set(said[repeated])) < 2:
        return
    weighted = ALL[name].weighted(gold, said, times[None, :])
    assert weighted[0] == pytest.approx(ALL[name].value(gold[repeated], said[repeated]), abs=1e-9)


@pytest.mark.parametrize("name", BINARY)
def test_perfect_agreement(name: str) -> None:
    gold = np.array([0.0, 1.0] * 20)
    found = estimated(ALL[name], gold, gold, [str(n) for n in range(40)])
    assert (found.value, found.n) == (0.5 if name == "mean" else 1.0, 40)
    if name != "mean":
        assert (found.low, found.high) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "chance"), [("balanced accuracy", 0.5), ("auroc", 0.5), ("kappa", 0.0), ("spearman", 0.0)]
)
def test_verdicts_by_chance_have_chance_in_their_interval(name: str, chance: float) -> None:
    draw = np.random.default_rng(3)
    gold, said = draw.integers(0, 2, 400).astype(float), draw.integers(0, 2, 400).astype(float)
    found = estimated(ALL[name], gold, said, [str(n) for n in range(400)])
    assert found.low is not None
    assert found.high is not None
    assert found.low < chance < found.high
    assert found.high - found.low < 0.25


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([], []),
        ([1.0, 1.0], [1.0, 0.0]),
        ([0.0, 1.0], [0.0, 0.0]),
        ([np.nan, np.nan], [1.0, 0.0]),
        ([0.0, 1.0], [np.nan, np.nan]),
        ([0.0], [0.0]),
    ],
)
def test_what_is_not_defined_is_none_and_never_nan(name: str, gold: list[float], said: list[float]) -> None:
    found = estimated(ALL[name], np.array(gold), np.array(said), [str(n) for n in range(len(gold))])
    for number in (found.value, found.low, found.high):
        assert number is None or np.isfinite(number)
    assert "NaN" not in found.model_dump_json()


def test_one_class_has_an_accuracy_and_no_balanced_accuracy() -> None:
    gold, said = np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])
    clusters = list("abcd")
    assert estimated(measures.ACCURACY, gold, said, clusters).value == 0.75
    assert estimated(measures.BALANCED_ACCURACY, gold, said, clusters).value is None
    assert estimated(measures.AUROC, gold, said, clusters).value is None


def test_whole_clusters_are_drawn() -> None:
    drawn = resampled(("a", "a", "b", "c"))
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert (drawn[:, 0] + drawn[:, 2] + drawn[:, 3] == 3).all()
    assert drawn.shape == (measures.RESAMPLES, 4)


def test_an_interval_is_wider_when_records_hang_together() -> None:
    draw = np.random.default_rng(4)
    gold = np.repeat(draw.integers(0, 2, 30), 10).astype(float)
    said = np.where(np.repeat(draw.random(30) < 0.7, 10), gold, 1 - gold)

    def width(clusters: list[str]) -> float:
        found = estimated(measures.ACCURACY, gold, said, clusters)
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    assert width([str(n // 10) for n in range(300)]) > 2 * width([str(n) for n in range(300)])


def test_the_interval_of_a_share_is_the_binomial_one() -> None:
    said = np.array([1.0] * 80 + [0.0] * 20)
    found = estimated(measures.MEAN, np.ones(100), said, [str(n) for n in range(100)])
    # By hand: 0.8 ± 1.96 × √(0.8 × 0.2 / 100).
    assert found.low == pytest.approx(0.72, abs=0.015)
    assert found.high == pytest.approx(0.88, abs=0.015)


def test_a_difference_is_paired() -> None:
    gold: Floats = np.array([0.0, 1.0] * 50)
    one, two = gold.copy(), gold.copy()
    one[:20], two[:30] = 1 - one[:20], 1 - two[:30]
    two[99] = np.nan
    found = difference(measures.ACCURACY, gold, one, two, [str(n) for n in range(100)])
    # Both are wrong on the first 20, the other alone on ten more: 10/99, and ± 1.96 × √(0.101 × 0.899 / 99).
    assert found.n == 99
    assert found.value == pytest.approx(10 / 99, abs=1e-4)
    assert found.low == pytest.approx(0.042, abs=0.015)
    assert found.high == pytest.approx(0.160, abs=0.015)


def test_a_difference_that_is_not_defined_is_none() -> None:
    only: Measure = measures.BALANCED_ACCURACY
    assert difference(only, np.ones(3), np.ones(3), np.zeros(3), list("abc")).value is None
