"""Workers that are processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from localscore import offline
from localscore.errors import OptionError
from localscore.spreading.worker import Block, Done, Recipe

ATTEMPTS = 3
"""How many workers a block may cost."""


class Processes:
    """So many processes, each with a judge: one per GPU where there are some, else the cores are shared among them.

    Every worker is an executor of its own, so that one that dies takes no other with it.

    Raises:
        OptionError: fewer than one.
    """

    def __init__(self, workers: int, *, gpus: int = 0) -> None:
        if workers < 1:
            raise OptionError(f"workers is {workers}; expected at least 1.")
        self.workers = workers
        self._gpus = gpus

    def done(self, recipe: Recipe, blocks: Iterable[Block]) -> Iterator[Done]:
        """Give each block to a worker that has none; see `Pool.done`."""
        coming, again = iter(blocks), deque[tuple[Block, int]]()
        pools = [self._pool(number) for number in range(self.workers)]
        busy: dict[Future[Done], tuple[int, Block, int]] = {}
        idle = list(range(self.workers))
        try:
            while True:
                while idle and (given := again.popleft() if again else _first(coming)) is not None:
                    number = idle.pop()
                    busy[pools[number].submit(_scored, recipe, given[0])] = (number, *given)
                if not busy:
                    return
                for future in wait(busy, return_when=FIRST_COMPLETED).done:
                    number, block, attempt = busy.pop(future)
                    idle.append(number)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        pools[number] = self._pool(number)
                        if attempt == ATTEMPTS:
                            yield Done(block.number, broke=_deadly(block))
                            return
                        again.append((block, attempt + 1))
        finally:
            for pool in pools:
                pool.shutdown(wait=False, cancel_futures=True)

    def _pool(self, number: int) -> ProcessPoolExecutor:
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        gpu = number % self._gpus if self._gpus else None
        spawned = multiprocessing.get_context("spawn")  # torch does not survive a fork
        return ProcessPoolExecutor(1, mp_context=spawned, initializer=_begin, initargs=(threads, gpu))


def _first(blocks: Iterator[Block]) -> tuple[Block, int] | None:
    block = next(blocks, None)
    return None if block is None else (block, 1)


def _begin(threads: int, gpu: int | None) -> None:
    """Set a new process up, before torch is imported."""
    offline.enforce()
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if gpu is not None:
        visible = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
        os.environ["CUDA_VISIBLE_DEVICES"] = visible[gpu] if visible else str(gpu)


def _scored(recipe: Recipe, block: Block) -> Done:
    return recipe.worker().score(block)


def _deadly(block: Block) -> tuple[str, str]:
    return (
        f"{ATTEMPTS} workers died of the {len(block.samples)} samples from {block.first!r} on.",
        "A worker may be out of memory: use fewer --workers. What was finished before is kept.",
    )
