"""Token ids → the scores of a GGUF model, read by llama.cpp, each shared beginning read once.

llama.cpp keeps the keys and values of a token in a cell that may belong to several *sequences*. A tree has a sequence
per leaf, so that each token sees the cells of its own path and no other. Sums run over cells in their order, so the
cells of a prompt always lie in the same places, whatever was read before: a beginning in the first ones, and a unit
behind it. The beginnings of other prompts are put aside in memory of ours until they are asked for again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from localscore.judges import TokenCount
from localscore.judges.deciding import START, TokenIds
from localscore.judges.llamacpp.model import BATCH, OUTPUTS, Llama, Token
from localscore.judges.units import Found, Pass, Segment, common, information


class LlamaReader:
    """Reads units with llama.cpp and keeps the path to the last beginning of each root."""

    def __init__(self, llama: Llama, tokens: TokenCount) -> None:
        self._llama = llama
        self._tokens = tokens
        self._root: TokenIds | None = None
        self._path: list[TokenIds] = []
        """The chunks in the first cells."""
        self._aside: dict[TokenIds | None, tuple[list[TokenIds], Any]] = {}
        """Per root, the chunks of its last beginning with their keys and values."""

    def found(self, units: Pass) -> list[list[Found]]:
        """Return per unit and segment what is wanted of it."""
        found: dict[int, Found] = {}
        for tree in _groups(units.segments, self._llama.most_sequences):
            start = self._kept(units.beginning)
            found |= self._tree({place: units.segments[place] for place in tree}, start)
        return [[found[place] for place in places] for places in units.places]

    def begin(self, chunks: Sequence[TokenIds]) -> tuple[torch.Tensor, list[int]]:
        """Read a prompt; return the scores of all tokens that may follow it, and a cache: how many have been read."""
        cache = [self._kept(chunks[:-1])]
        self._tokens.read += len(chunks[-1])
        return self.more(chunks[-1], cache)[0], cache

    def more(
        self, tokens: Sequence[int], cache: list[int], *, places: int = 1, drop: int = 0
    ) -> torch.Tensor:
        """Read further tokens after those in `cache`, in the place of its last `drop` ones.

        Returns:
            The scores of all tokens after each of the last `places`, shape (places, tokens of the vocabulary).
        """
        start = cache[0] - drop
        self._llama.trim(start)
        cache[0] = start + len(tokens)
        return torch.from_numpy(np.stack(self._line(tokens, start, places)))

    def forget(self) -> None:
        """Let go of everything that was kept, to make room."""
        self._aside.clear()
        self._path.clear()
        self._llama.trim(0)

    def _kept(self, chunks: Sequence[TokenIds]) -> int:
        """Bring a beginning into the first cells, reading what is not known of it; return its length."""
        root = chunks[0] if chunks else None
        if root != self._root:
            self._put_aside()
            self._root = root
            if root in self._aside:
                path, state = self._aside.pop(root)
                self._llama.restore(state, sum(map(len, path)))
                self._path = path
        known = len(common([tuple(self._path), tuple(chunks)]))
        del self._path[known:]
        length = sum(map(len, self._path))
        self._llama.trim(length)
        for chunk in chunks[known:]:
            self._tokens.read += len(chunk)
            self._line(chunk, length)
            self._path.append(chunk)
            length += len(chunk)
        return length

    def _put_aside(self) -> None:
        """Empty the cells; the beginning in the first ones is kept."""
        if self._path:
            self._llama.trim(sum(map(len, self._path)))
            self._aside[self._root] = self._path, self._llama.state()
        self._path = []
        self._llama.trim(0)

    def _line(self, tokens: Sequence[int], start: int, places: int = 0) -> list[Any]:
        """Read tokens one after the other, the first at `start`; return the scores after each of the last `places`."""
        wanted = len(tokens) - places
        line = [Token(token, start + n, wanted=n >= wanted) for n, token in enumerate(tokens)]
        return [row.copy() for _, row in self._forward(line)]

    def _tree(self, segments: Mapping[int, Segment], start: int) -> dict[int, Found]:
        """Read a tree behind the first `start` cells, each leaf in a sequence of its own."""
        sequences = _sequences(segments)
        tokens: list[Token] = []
        ends = {START: start}
        at: dict[int, int] = {}
        """Which token is the last of which wanted segment."""
        before: dict[int, int] = {}
        """Which token stands before a measured one of which segment."""
        for place, segment in segments.items():
            first = len(tokens)
            before |= {first + n - 1: place for n in segment.measured}
            for n, token in enumerate(segment.tokens, ends[segment.after]):
                tokens.append(Token(token, n, sequences[place], wanted=len(tokens) in before))
            ends[place] = ends[segment.after] + len(segment.tokens)
            if segment.wanted:
                at[len(tokens) - 1] = place
                tokens[-1] = tokens[-1]._replace(wanted=True)
        self._tokens.read += len(tokens)
        self._llama.fork(1 + max(map(max, sequences.values())), more=len(tokens))
        scores: dict[int, list[float]] = {}
        bits: dict[int, list[float]] = {place: [] for place in before.values()}
        for n, row in self._forward(tokens):
            if n in at:
                scores[at[n]] = row[list(segments[at[n]].wanted)].tolist()
            if n in before:
                bits[before[n]] += information(torch.from_numpy(row)[None], [tokens[n + 1].id])
        return {
            place: Found(scores.get(place, []), math.fsum(bits[place]) if place in bits else None)
            for place in segments
        }

    def _forward(self, tokens: Sequence[Token]) -> Iterator[tuple[int, Any]]:
        """Put tokens through the model; yield the place of each that is wanted, and its scores until the next."""
        first = 0
        while first < len(tokens):
            wanted = [n for n in range(first, min(first + BATCH, len(tokens))) if tokens[n].wanted]
            stop = wanted[OUTPUTS] if len(wanted) > OUTPUTS else first + BATCH
            self._tokens.passes += 1
            self._llama.decode(tokens[first:stop])
            for n in wanted[:OUTPUTS]:
                yield n, self._llama.scores(n - first)
            first = stop


def _sequences(segments: Mapping[int, Segment]) -> dict[int, tuple[int, ...]]:
    """Number the leaves of a tree; return per segment the numbers of those that it leads to.

    >>> tree = [Segment((7,)), Segment((8,), after=0), Segment((9,), after=0)]
    >>> _sequences(dict(enumerate(tree)))
    {0: (0, 1), 1: (0,), 2: (1,)}
    """
    inner = {segment.after for segment in segments.values()}
    leaves = {place: number for number, place in enumerate(place for place in segments if place not in inner)}
    found: dict[int, tuple[int, ...]] = dict.fromkeys(segments, ())
    for leaf, number in leaves.items():
        place = leaf
        while place != START:
            found[place] += (number,)
            place = segments[place].after
    return found


def _groups(segments: Sequence[Segment], most: int) -> Iterator[list[int]]:
    """Cut a tree into ones of at most so many leaves; return the places of the segments of each.

    >>> tree = [Segment((7,)), Segment((8,), after=0), Segment((9,), after=0)]
    >>> list(_groups(tree, most=2)), list(_groups(tree, most=1))
    ([[0, 1, 2]], [[0, 1], [0, 2]])
    """
    leads = _sequences(dict(enumerate(segments)))
    leaves = 1 + max(max(numbers) for numbers in leads.values())
    for first in range(0, leaves, most):
        group = set(range(first, first + most))
        yield [place for place, numbers in leads.items() if not group.isdisjoint(numbers)]
