"""Workers that are actors of Ray Data, on this machine or on a cluster.

    samples → files of blocks in a folder that all machines see → read_text → map_batches over a pool of actors → lines

Ray gives a block whose actor or machine died to another one, as often as it takes. Its usage statistics and dashboard
are off, and without an address it stays on the loopback of this machine.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from localscore.errors import OptionError
from localscore.extras import extra
from localscore.spreading.worker import Block, Done, Recipe

SWITCHES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}

LOOPBACK = "127.0.0.1"


class RayData:
    """So many actors of Ray Data, each with a judge.

    Args:
        workers: how many.
        address: of a cluster, as `ray.init` takes it (`auto`); none is a Ray of this machine, for as long as it takes.
        gpus_per_worker: how many GPUs each gets; may be a part of one.
        shared: a folder that all machines see, for the samples on their way; a temporary one where there is no cluster.

    Raises:
        OptionError: the extra `ray` is not installed, fewer than one worker, or a cluster without a shared folder.
    """

    def __init__(
        self,
        workers: int,
        *,
        address: str | None = None,
        gpus_per_worker: float = 0,
        shared: Path | None = None,
    ) -> None:
        if workers < 1:
            raise OptionError(f"workers is {workers}; expected at least 1.")
        if address is not None and shared is None:
            raise OptionError(
                "A cluster needs a folder that all machines see.", hint="Give --out on shared storage."
            )
        os.environ.update(SWITCHES | os.environ)
        self._ray: Any = extra("ray.data", of="ray", what="--engine ray")
        self.workers, self._gpus = workers, gpus_per_worker
        self._address, self._shared = address, shared

    def done(self, recipe: Recipe, blocks: Iterable[Block]) -> Iterator[Done]:
        """Give each block to an actor; see `Pool.done`."""
        import ray

        local: dict[str, Any] = {"_node_ip_address": LOOPBACK, "num_cpus": self.workers + 1}
        where = {"address": self._address} if self._address else local
        ray.init(**where, include_dashboard=False, log_to_driver=False, configure_logging=False)
        try:
            with tempfile.TemporaryDirectory(prefix=".blocks-", dir=self._shared) as folder:
                if files := _written(blocks, Path(folder)):
                    yield from self._mapped(recipe, Path(folder), files)
        finally:
            ray.shutdown()

    def _mapped(self, recipe: Recipe, folder: Path, files: int) -> Iterator[Done]:
        from ray.data import ActorPoolStrategy, DataContext

        context = DataContext.get_current()
        context.enable_progress_bars = False  # there is one already
        # A file is a task, where Ray would put many into one; reading needs a place beside the actors.
        texts = self._ray.read_text(str(folder), override_num_blocks=files, num_cpus=0.1)
        found = texts.map_batches(
            _Actor,
            fn_constructor_args=(recipe,),
            batch_size=1,
            compute=ActorPoolStrategy(size=self.workers),
            num_cpus=1,
            num_gpus=self._gpus,
        )
        for row in found.iter_rows():
            told = json.loads(row["done"])
            lines = [line.encode() for line in told.pop("lines")]
            broke = told.pop("broke")
            yield Done(**told, lines=lines, broke=broke and tuple(broke))


class _Actor:
    """What runs on a machine of the cluster: a block in, its results out."""

    def __init__(self, recipe: Recipe) -> None:
        self._worker = recipe.worker()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"done": [json.dumps(self._scored(str(text))) for text in batch["text"]]}

    def _scored(self, text: str) -> dict[str, Any]:
        told = json.loads(text)
        done = self._worker.score(Block(told["number"], tuple(line.encode() for line in told["samples"])))
        return done._asdict() | {"lines": [line.decode() for line in done.lines]}


def _written(blocks: Iterable[Block], folder: Path) -> int:
    """Write each block into a file of its own, and return how many there are."""
    number = 0
    for number, block in enumerate(blocks, 1):  # noqa: B007
        told = {"number": block.number, "samples": [line.decode() for line in block.samples]}
        (folder / f"{block.number:09d}.txt").write_text(json.dumps(told))
    return number
