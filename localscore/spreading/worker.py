"""What a worker does: it loads its judge once and scores blocks of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from localscore import engine
from localscore.cache import cached
from localscore.errors import JudgeBroke, LocalscoreError, OptionError
from localscore.judges import Judge, TokenCount
from localscore.metrics import Metric
from localscore.samples import Sample


@dataclass(frozen=True)
class Recipe:
    """How a worker gets its judge and metrics; it travels to other processes and machines."""

    judge: str
    """What `load_judge` takes."""
    metrics: tuple[Metric, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `load_judge`."""
    fingerprint: str = ""
    """Of the judge that was meant: a worker whose files or software are others refuses to work."""
    cache: Path | None = None

    @classmethod
    def of(cls, judge: Judge, metrics: Sequence[Metric], cache: str | Path | None = None) -> Recipe:
        """Return the recipe for a judge like this one.

        Raises:
            OptionError: it was not made by `load_judge`, so that nobody else can make it.
        """
        loaded_as = getattr(judge, "loaded_as", None)
        if loaded_as is None:
            raise OptionError(
                f"The judge {judge.identity.name} is of this process alone.",
                hint="Workers need one that load_judge returned.",
            )
        name, options = loaded_as
        path = None if cache is None else Path(cache)
        return cls(name, tuple(metrics), options, judge.identity.fingerprint, path)

    def __hash__(self) -> int:
        return hash((self.judge, self.fingerprint))

    def worker(self) -> Worker:
        """Return a worker; the same one for the same recipe, so that its judge is loaded once in a process."""
        return _worker(self)


class Block(NamedTuple):
    """Samples that follow each other, as lines."""

    number: int
    samples: tuple[bytes, ...]

    @property
    def first(self) -> str:
        """The id of its first sample."""
        return Sample.model_validate_json(self.samples[0]).id


class Done(NamedTuple):
    """What a worker made of a block."""

    number: int
    lines: Sequence[bytes] = ()
    tokens: Mapping[str, int] = {}
    verdicts: int = 0
    broke: tuple[str, str | None] | None = None
    """Why the judge cannot go on, and what to do."""

    def check(self) -> None:
        """Raise what ended the worker.

        Raises:
            JudgeBroke: the judge cannot go on.
        """
        if self.broke is not None:
            raise JudgeBroke(self.broke[0], hint=self.broke[1] or "")


class Worker:
    """A judge of its own, and what it is asked for."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._stack = ExitStack()
        self._judge: Judge | None = None

    def score(self, block: Block) -> Done:
        """Score a block; what is wrong with the judge is handed back, since not every error can travel."""
        try:
            judge = self._judge = self._judge or self._loaded()
            samples = [Sample.model_validate_json(line) for line in block.samples]
            before, told = TokenCount(**asdict(judge.tokens)), engine.Progress()
            results = list(
                engine.run(
                    samples, self._recipe.metrics, judge, listener=lambda progress: _copy(progress, told)
                )
            )
        except LocalscoreError as error:
            return Done(block.number, broke=(error.message, error.hint))
        spent = {name: count - getattr(before, name) for name, count in asdict(judge.tokens).items()}
        lines = [result.model_dump_json().encode() for result in results]
        return Done(block.number, lines, spent, told.verdicts)

    def _loaded(self) -> Judge:
        from localscore.judges.loading import load_judge  # imports torch

        judge = load_judge(self._recipe.judge, **self._recipe.options)
        if judge.identity.fingerprint != self._recipe.fingerprint:
            raise JudgeBroke(
                f"The judge {self._recipe.judge} of a worker is not the one of the run: its files, arithmetic or "
                "software differ.",
                hint="Bring the same files and versions to every machine: localscore doctor --judge NAME",
            )
        return self._stack.enter_context(cached(judge, self._recipe.cache))


def _copy(progress: engine.Progress, told: engine.Progress) -> None:
    told.verdicts = progress.verdicts


@lru_cache(maxsize=1)
def _worker(recipe: Recipe) -> Worker:
    return Worker(recipe)
