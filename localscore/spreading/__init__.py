"""Scoring spread over many workers, each with a judge of its own.

    worker.py     what a worker does: a judge, loaded once, and blocks of samples
    processes.py  workers that are processes of this machine
    ray_data.py   workers that are actors of Ray Data, here or on a cluster

A *block* is some samples that follow each other, as lines; what comes back are its results, as lines. Blocks come
back in any order and are put in theirs here. A worker that dies costs the block that it had; another gets it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Protocol

from localscore.engine import Listener, Progress
from localscore.judges import TokenCount
from localscore.results import SampleResult
from localscore.samples import Sample
from localscore.spreading.worker import Block, Done, Recipe

__all__ = ["Block", "Done", "Pool", "Recipe", "spread"]

BLOCKS_A_WORKER = 16
"""As many at least, where there are so many samples: few are lost with a worker, and all end at about the same time."""
LARGEST = 64
"""Samples in a block: more on their way gain nothing, and cost more where a worker dies."""


class Pool(Protocol):
    """Workers, wherever they are."""

    @property
    def workers(self) -> int:
        """How many there are."""

    def done(self, recipe: Recipe, blocks: Iterable[Block]) -> Iterator[Done]:
        """Give each block to a worker; give what was made of them as it comes, in any order."""


def spread(
    samples: Collection[Sample],
    recipe: Recipe,
    pool: Pool,
    *,
    tokens: TokenCount,
    listener: Listener | None = None,
    kept: int = 0,
    block: int | None = None,
) -> Iterator[SampleResult]:
    """Score samples on a pool's workers; yield the results in the samples' order, as `engine.run` does.

    Args:
        samples: what is scored.
        recipe: how a worker gets its judge and metrics.
        pool: the workers.
        tokens: what was spent is added to this.
        listener: told after every block how far the run is.
        kept: finished in an earlier sitting; told to the listener.
        block: samples in a block; where not given, what suits their number and that of the workers.

    Raises:
        JudgeBroke: a judge raised something that is no `VerdictError`, or a block cost several workers.
    """
    progress = Progress(samples=kept, kept=kept)
    early: dict[int, Sequence[bytes]] = {}
    following = 0
    size = block or max(1, min(len(samples) // (pool.workers * BLOCKS_A_WORKER), LARGEST))
    for done in pool.done(recipe, _blocks(samples, size)):
        done.check()
        for name, spent in done.tokens.items():
            setattr(tokens, name, getattr(tokens, name) + spent)
        early[done.number] = done.lines
        progress.samples += len(done.lines)
        progress.verdicts += done.verdicts
        if listener is not None:
            listener(progress)
        while following in early:
            yield from map(SampleResult.model_validate_json, early.pop(following))
            following += 1


def _blocks(samples: Iterable[Sample], size: int) -> Iterator[Block]:
    coming = iter(samples)
    for number in count():
        some = tuple(sample.model_dump_json().encode() for sample in islice(coming, size))
        if not some:
            return
        yield Block(number, some)
