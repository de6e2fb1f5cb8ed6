"""Workers that die, in the middle of their work."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from localscore import engine
from localscore.metrics import ContextRecall
from localscore.samples import Sample
from localscore.spreading import Block, Done, Recipe
from localscore.spreading.worker import Worker
from tests.conftest import scripted


@dataclass(frozen=True)
class DyingRecipe(Recipe):
    """A scripted judge whose process dies of some blocks: of each so often."""

    notes: str = ""
    """A folder that survives; it counts the deaths."""
    every: int = 2
    """Which blocks are deadly: each so-manieth."""
    times: int = 1

    def __hash__(self) -> int:
        return hash(self.notes)

    def worker(self) -> Worker:
        return DyingWorker(self)


class DyingWorker(Worker):
    """See `DyingRecipe`."""

    def __init__(self, recipe: DyingRecipe) -> None:
        self._recipe: DyingRecipe = recipe

    def score(self, block: Block) -> Done:
        notes = Path(self._recipe.notes)
        deaths = len(list(notes.glob(f"{block.number}.*")))
        if block.number % self._recipe.every == 0 and deaths < self._recipe.times:
            (notes / f"{block.number}.{deaths}").touch()
            os._exit(9)
        samples = [Sample.model_validate_json(line) for line in block.samples]
        results = engine.run(samples, [ContextRecall()], scripted())
        return Done(block.number, [result.model_dump_json().encode() for result in results], {"read": 1}, 1)
