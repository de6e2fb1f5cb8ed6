"""Samples on disk: a sequence of which only the one that is asked for is in memory."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from localscore.samples import Sample

IN_MEMORY = 16_000_000
"""Bytes up to which they are kept in memory all the same."""


class Shelf:
    """A temporary file of samples, a line each; it is gone with the last who holds it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed by what comes next)
        weakref.finalize(self, self._file.close)
        self._starts = array("Q", [0])

    def add(self, line: bytes) -> None:
        """Put one more sample after the others, as JSON without a line end."""
        self._file.seek(self._starts[-1])
        self._starts.append(self._starts[-1] + self._file.write(line + b"\n"))

    def sample(self, number: int) -> Sample:
        """Return the sample of this number, counted from 0."""
        start = self._starts[number]
        self._file.seek(start)
        return Sample.model_validate_json(self._file.read(self._starts[number + 1] - start))

    def samples(self) -> Samples:
        """Return all that are here now."""
        return Samples(self, range(len(self._starts) - 1))


class Samples(Sequence[Sample]):
    """Some of the samples of a shelf.

    >>> shelf = Shelf()
    >>> for id in "abc":
    ...     shelf.add(Sample(id=id, query="Who?", contexts=()).model_dump_json().encode())
    >>> samples = shelf.samples()
    >>> [sample.id for sample in samples[1:]], samples[-1].id, samples == tuple(samples)
    (['b', 'c'], 'c', True)
    """

    def __init__(self, shelf: Shelf, numbers: range) -> None:
        self._shelf = shelf
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Sample]:
        return map(self._shelf.sample, self._numbers)

    @overload
    def __getitem__(self, key: int) -> Sample: ...
    @overload
    def __getitem__(self, key: slice) -> Samples: ...
    def __getitem__(self, key: int | slice) -> Sample | Samples:
        if isinstance(key, slice):
            return Samples(self._shelf, self._numbers[key])
        return self._shelf.sample(self._numbers[key])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == their for one, their in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} samples>"
