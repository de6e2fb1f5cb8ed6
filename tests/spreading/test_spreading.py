"""Scoring spread over workers gives what scoring here gives, whoever dies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore import datasets, engine
from localscore.errors import JudgeBroke, OptionError
from localscore.judges import TokenCount
from localscore.judges.loading import load_judge
from localscore.metrics import ContextPrecision, ContextRecall
from localscore.spreading import Block, Done, Pool, Recipe, spread
from localscore.spreading.processes import ATTEMPTS, Processes
from tests.conftest import SMALL, scripted
from tests.spreading.dying import DyingRecipe

WHERE = ["processes", pytest.param("ray", marks=pytest.mark.filterwarnings("ignore"))]
"""Kinds of workers; Ray warns of itself."""


def rows(count: int) -> list[dict[str, Any]]:
    told = {"contexts": ["Ann ran.", "Bob swam."], "answer": "Ann.", "ground_truth": "Ann ran."}
    return [{"id": str(n), "query": f"Who ran in race {n}?", **told} for n in range(count)]


def lines(results: Iterable[Any]) -> list[str]:
    return [result.model_dump_json() for result in results]


class Backwards:
    """A pool that hands everything back in the wrong order."""

    workers = 2

    def done(self, recipe: Recipe, blocks: Iterable[Block]) -> Iterator[Done]:
        from tests.spreading.dying import DyingWorker

        assert isinstance(recipe, DyingRecipe)
        yield from [DyingWorker(recipe).score(block) for block in blocks][::-1]


def test_blocks_that_come_back_in_any_order_are_put_in_theirs(tmp_path: Path) -> None:
    samples = datasets.read(rows(7)).samples
    recipe = DyingRecipe("x", (), notes=str(tmp_path), times=0)
    tokens, told = TokenCount(), []
    pool: Pool = Backwards()
    found = spread(
        samples,
        recipe,
        pool,
        tokens=tokens,
        kept=2,
        block=3,
        listener=lambda progress: told.append(progress.samples),
    )
    assert lines(found) == lines(engine.run(samples, [ContextRecall()], scripted()))
    assert (tokens.read, told) == (3, [3, 6, 9])


@pytest.mark.parametrize("where", WHERE)
def test_twenty_workers_that_die_lose_nothing_and_do_nothing_twice(tmp_path: Path, where: str) -> None:
    samples = datasets.read(rows(80)).samples
    recipe = DyingRecipe("x", (), notes=str(tmp_path))
    found = list(spread(samples, recipe, pool(where), tokens=TokenCount(), block=2))
    assert len(list(tmp_path.iterdir())) == 20
    assert lines(found) == lines(engine.run(samples, [ContextRecall()], scripted()))


def pool(where: str) -> Pool:
    if where == "processes":
        return Processes(2)
    pytest.importorskip("ray.data", reason="the extra `ray` is not installed")
    from localscore.spreading.ray_data import RayData

    return RayData(2)


@pytest.mark.parametrize(("count", "sizes"), [(7, {1}), (70, {2}), (2500, {4, 64})])
def test_blocks_suit_the_number_of_samples_and_workers(tmp_path: Path, count: int, sizes: set[int]) -> None:
    recipe = DyingRecipe("x", (), notes=str(tmp_path), times=0)
    told: list[int] = []
    samples = datasets.read(rows(count)).samples
    results = spread(
        samples, recipe, Backwards(), tokens=TokenCount(), listener=lambda p: told.append(p.samples)
    )
    assert len(list(results)) == count
    assert {after - before for before, after in zip([0, *told], told, strict=False)} == sizes


def test_samples_that_kill_every_worker_end_the_run(tmp_path: Path) -> None:
    recipe = DyingRecipe("x", (), notes=str(tmp_path), every=1, times=99)
    with pytest.raises(JudgeBroke, match="3 workers died of the 2 samples from '0' on"):
        list(spread(datasets.read(rows(2)).samples, recipe, Processes(1), tokens=TokenCount(), block=2))
    assert len(list(tmp_path.iterdir())) == ATTEMPTS


@pytest.mark.judge
@pytest.mark.parametrize("where", WHERE)
def test_a_run_spread_over_workers_is_the_same_bytes(
    small_judge: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    judge, metrics = load_judge(SMALL, device="cpu"), [ContextPrecision()]
    workers = pool(where)
    ls.score(rows(6), judge=judge, metrics=metrics, out=tmp_path / "one")
    ls.score(rows(3), judge=judge, metrics=metrics, out=tmp_path / "many")
    again = ls.score(rows(6), judge=judge, metrics=metrics, out=tmp_path / "many", pool=workers)
    for name in ("results.jsonl", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()
    assert again.manifest.tokens is not None
    assert again.manifest.tokens["samples"] == 3  # those that were there were not asked again
    assert again.manifest.tokens["read"] > 0


@pytest.mark.judge
def test_a_worker_with_another_judge_refuses_to_work(small_judge: object) -> None:
    recipe = Recipe(SMALL, (ContextPrecision(),), {"device": "cpu"}, fingerprint="of another")
    done = recipe.worker().score(Block(0, (datasets.read(rows(1)).samples[0].model_dump_json().encode(),)))
    with pytest.raises(JudgeBroke, match="is not the one of the run"):
        done.check()


def test_a_judge_of_this_process_alone_cannot_be_sent() -> None:
    with pytest.raises(OptionError, match="of this process alone"):
        ls.score(rows(1), judge=scripted(), pool=Processes(1))
    with pytest.raises(OptionError, match="workers is 0"):
        Processes(0)
