"""Token ids → the scores of a GGUF model, read by llama.cpp, each shared beginning read once.

llama.cpp keeps the keys and values of a token in a cell that may belong to several *sequences*. A tree has a sequence
per leaf, so that each token sees the cells of its own path and no other. Sums run over cells in their order, so the
cells of a prompt always lie in the same places, whatever was read before: a beginning in the first ones, and a unit
behind it. The beginnings of other prompts are put aside in memory of ours until they are asked for again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from localscore.judges import TokenCount
from localscore.judges.deciding import START, TokenIds
from localscore.judges.llamacpp.model import BATCH, OUTPUTS, Llama
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
        """Read a prompt; return the scores of all tokens that may follow it, and a cache: where they stand."""
        cache = [self._kept(chunks[:-1])]
        self._tokens.read += len(chunks[-1])
        return self.more(chunks[-1], cache)[0], cache

    def more(
        self, tokens: Sequence[int], cache: list[int], *, places: int = 1, drop: int = 0
    ) -> torch.Tensor:
        """Read further tokens behind the place in `cache`, in the place of its last `drop` ones.

        Returns:
            The scores of all tokens after each of the last `places`, shape (places, tokens of the vocabulary).
        """
        start = cache[0] - drop
        self._llama.trim(start)
        wanted = range(len(tokens) - places, len(tokens))
        rows = [
            row.copy()
            for _, row in self._forward(tokens, _positions(start, tokens), [(0,)] * len(tokens), wanted)
        ]
        cache[0] = start + len(tokens)
        return torch.from_numpy(np.stack(rows))

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
            for _ in self._forward(chunk, _positions(length, chunk), [(0,)] * len(chunk), ()):
                pass
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

    def _tree(self, segments: Mapping[int, Segment], start: int) -> dict[int, Found]:
        """Read a tree behind a beginning, each leaf in a sequence of its own."""
        sequences = _sequences(segments)
        tokens = [token for segment in segments.values() for token in segment.tokens]
        self._tokens.read += len(tokens)
        ends = {START: start}
        positions: list[int] = []
        owners: list[tuple[int, ...]] = []
        for place, segment in segments.items():
            first = ends[segment.after]
            positions += _positions(first, segment.tokens)
            owners += [sequences[place]] * len(segment.tokens)
            ends[place] = first + len(segment.tokens)
        firsts = dict(
            zip(segments, accumulate((len(s.tokens) for s in segments.values()), initial=0), strict=False)
        )
        last = {firsts[place] + len(s.tokens) - 1: place for place, s in segments.items() if s.wanted}
        before = {firsts[place] + t - 1: place for place, s in segments.items() for t in s.measured}
        scores: dict[int, list[float]] = {}
        bits: dict[int, list[float]] = {place: [] for place, s in segments.items() if s.measured}
        self._llama.fork(1 + max(max(owner) for owner in sequences.values()), more=len(tokens))
        for at, row in self._forward(tokens, positions, owners, sorted(last.keys() | before.keys())):
            if at in last:
                scores[last[at]] = row[list(segments[last[at]].wanted)].tolist()
            if at in before:
                bits[before[at]] += information(torch.from_numpy(row)[None], [tokens[at + 1]])
        return {
            place: Found(scores.get(place, []), math.fsum(bits[place]) if place in bits else None)
            for place in segments
        }

    def _forward(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        owners: Sequence[tuple[int, ...]],
        wanted: Sequence[int],
    ) -> Iterator[tuple[int, Any]]:
        """Put tokens through the model; yield the place of each that is wanted, and its scores until the next."""
        asked = frozenset(wanted)
        first = 0
        while first < len(tokens):
            stop = min(len(tokens), first + BATCH)
            outputs = [place for place in range(first, stop) if place in asked]
            if len(outputs) > OUTPUTS:
                stop, outputs = outputs[OUTPUTS], outputs[:OUTPUTS]
            self._tokens.passes += 1
            part = slice(first, stop)
            self._llama.decode(
                tokens[part], positions[part], owners[part], [place - first for place in outputs]
            )
            for place in outputs:
                yield place, self._llama.scores(place - first)
            first = stop


def _positions(first: int, tokens: Sequence[int]) -> range:
    return range(first, first + len(tokens))


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
