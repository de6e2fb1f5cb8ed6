"""Things on disk: a sequence of which only the one that is asked for is in memory."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Generic, TypeVar, overload

T = TypeVar("T")

IN_MEMORY = 16_000_000
"""Bytes up to which they are kept in memory all the same."""


class Shelf(Generic[T]):
    """A temporary file of things, a line each, which is gone with the last who holds it; or a file that is there.

    Args:
        read: what makes a thing of its line.
        file: an open file with lines that were counted already.
        starts: where its lines start, and where the last one ends; one more than there are lines.
    """

    def __init__(
        self, read: Callable[[bytes], T], file: IO[bytes] | None = None, starts: array[int] | None = None
    ) -> None:
        self._read = read
        self._file = file or tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed by what comes next)
        weakref.finalize(self, self._file.close)
        self._starts = starts or array("Q", [0])

    def add(self, line: bytes) -> None:
        """Put one more thing after the others, as JSON without a line end."""
        self._file.seek(self._starts[-1])
        self._starts.append(self._starts[-1] + self._file.write(line + b"\n"))

    def __getitem__(self, number: int) -> T:
        start = self._starts[number]
        self._file.seek(start)
        return self._read(self._file.read(self._starts[number + 1] - start))

    def things(self) -> Shelved[T]:
        """Return all that are here now."""
        return Shelved(self, range(len(self._starts) - 1))


class Shelved(Sequence[T]):
    """Some of the things of a shelf.

    >>> from localscore.samples import Sample
    >>> shelf = Shelf(Sample.model_validate_json)
    >>> for id in "abc":
    ...     shelf.add(Sample(id=id, query="Who?", contexts=()).model_dump_json().encode())
    >>> samples = shelf.things()
    >>> [sample.id for sample in samples[1:]], samples[-1].id, samples == tuple(samples)
    (['b', 'c'], 'c', True)
    """

    def __init__(self, shelf: Shelf[T], numbers: range) -> None:
        self._shelf = shelf
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self._shelf.__getitem__, self._numbers)

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> Shelved[T]: ...
    def __getitem__(self, key: int | slice) -> T | Shelved[T]:
        if isinstance(key, slice):
            return Shelved(self._shelf, self._numbers[key])
        return self._shelf[self._numbers[key]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == their for one, their in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} on disk>"
