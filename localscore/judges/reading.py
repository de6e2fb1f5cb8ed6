"""Token ids → the scores of a transformers model, each shared beginning read once.

Beginnings are read chunk by chunk and kept. What goes on from one is a tree, packed into one sequence under a mask
that lets every token see its own past only.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from localscore.judges import TokenCount
from localscore.judges.deciding import START, TokenIds
from localscore.judges.units import Found, Pass, Segment, common, information


@dataclass
class _Kept:
    """A chunk that was read, and the keys and values from the start of the prompt to its end."""

    chunk: TokenIds
    cache: Any


class TransformersReader:
    """Reads units with a transformers model and keeps the path to the last beginning of each root."""

    def __init__(self, model: Any, tokens: TokenCount) -> None:
        self._model = model
        self._tokens = tokens
        self._paths: dict[TokenIds, list[_Kept]] = {}
        self._packs = all(type(layer) is DynamicLayer for layer in self._empty().layers)

    def found(self, units: Pass) -> list[list[Found]]:
        """Return per unit and segment what is wanted of it."""
        start = self._kept(units.beginning)
        found = (self._packed if self._packs else self._apart)(units.segments, start)
        return [[found[place] for place in places] for places in units.places]

    def begin(self, chunks: Sequence[TokenIds]) -> tuple[torch.Tensor, Any]:
        """Read a prompt; return the scores of all tokens that may follow it, and a cache to go on from."""
        cache = _forked(self._kept(chunks[:-1]))
        self._tokens.read += len(chunks[-1])
        return self.more(chunks[-1], cache)[0], cache

    def more(self, tokens: Sequence[int], cache: Any, *, places: int = 1, drop: int = 0) -> torch.Tensor:
        """Read further tokens into `cache`, in the place of its last `drop` ones.

        Returns:
            The scores of all tokens after each of the last `places`, shape (places, tokens of the vocabulary).
        """
        if drop:
            cache.crop(-drop)
        logits: torch.Tensor = self._forward(self._model, tokens, cache, logits_to_keep=places).logits[0]
        return logits.float()

    def forget(self) -> None:
        """Let go of everything that was kept, to make room."""
        self._paths.clear()

    def _kept(self, chunks: Sequence[TokenIds]) -> Any:
        """Return the cache of a beginning, reading what is not known of it, a chunk in a pass."""
        if not chunks:
            return self._empty()
        path = self._paths.setdefault(chunks[0], [])
        known = len(common([tuple(kept.chunk for kept in path), tuple(chunks)]))
        del path[known:]
        for chunk in chunks[known:]:
            cache = _forked(path[-1].cache) if path else self._empty()
            self._tokens.read += len(chunk)
            self._forward(self._model.base_model, chunk, cache)
            path.append(_Kept(chunk, cache))
        return path[-1].cache

    def _packed(self, segments: Sequence[Segment], start: Any) -> list[Found]:
        """Read a tree in one pass, each segment under a mask that hides what is not on its path."""
        tokens, depths, mask = _layout(segments, start.get_seq_length())
        self._tokens.read += len(tokens)
        starts = [0, *accumulate(len(segment.tokens) for segment in segments)]
        ends = [starts[place + 1] - 1 for place, segment in enumerate(segments) if segment.wanted]
        measured = [
            first + t for first, segment in zip(starts, segments, strict=False) for t in segment.measured
        ]
        wanted = sorted({token for segment in segments for token in segment.wanted})
        device = self._model.device
        # What measured tokens say needs the scores of all tokens beside them.
        only = None if measured else torch.tensor(wanted, device=device)
        with self._model.get_output_embeddings().only(only):
            logits = self._forward(
                self._model,
                tokens,
                _forked(start),
                attention_mask=None if mask is None else mask.to(device),
                position_ids=depths.to(device),
                logits_to_keep=torch.tensor([*ends, *(place - 1 for place in measured)], device=device),
            ).logits[0]
        rows = iter(logits[: len(ends), wanted if measured else ...].float().tolist())
        bits = iter(information(logits[len(ends) :], [tokens[place] for place in measured]))
        found: list[Found] = []
        for segment in segments:
            scores = dict(zip(wanted, next(rows), strict=True)) if segment.wanted else {}
            told = math.fsum(next(bits) for _ in segment.measured) if segment.measured else None
            found.append(Found([scores[token] for token in segment.wanted], told))
        return found

    def _apart(self, segments: Sequence[Segment], start: Any) -> list[Found]:
        """Read a tree segment by segment, for models whose layers do not keep the whole past."""
        caches: list[Any] = []
        found: list[Found] = []
        for segment in segments:
            cache = _forked(start if segment.after == START else caches[segment.after])
            self._tokens.read += len(segment.tokens)
            measured = segment.measured
            places = len(segment.tokens) - measured.start + 1 if measured else 1
            scores = self.more(segment.tokens, cache, places=places)
            caches.append(cache)
            bits = information(scores[: len(measured)], segment.tokens[measured.start : measured.stop])
            told = math.fsum(bits) if measured else None
            found.append(Found([float(scores[-1, token]) for token in segment.wanted], told))
        return found

    def _forward(self, model: Any, tokens: Sequence[int], cache: Any, **options: Any) -> Any:
        self._tokens.passes += 1
        ids = torch.tensor([tokens], device=self._model.device)
        with torch.inference_mode():
            return model(ids, cache=cache, use_cache=True, **options)

    def _empty(self) -> Any:
        return DynamicCache(config=self._model.config)


def _layout(segments: Sequence[Segment], past: int) -> tuple[list[int], torch.Tensor, torch.Tensor | None]:
    """Lay segments side by side: their tokens, the position of each, and which tokens each may look at.

    Returns:
        The tokens; the positions, shape (1, tokens); a mask of shape (1, 1, tokens, past + tokens), or none where
        the segments follow each other without a fork.

    >>> tree = [Segment((7, 8)), Segment((9,), after=0), Segment((9,), after=0)]
    >>> tokens, positions, mask = _layout(tree, past=1)
    >>> tokens, positions.tolist(), mask[0, 0, -1].int().tolist()
    ([7, 8, 9, 9], [[1, 2, 3, 3]], [1, 1, 1, 0, 1])
    """
    tokens = [token for segment in segments for token in segment.tokens]
    sees = torch.eye(len(segments), dtype=torch.bool)
    positions: list[torch.Tensor] = []
    for place, segment in enumerate(segments):
        first = past
        if segment.after != START:
            sees[place] |= sees[segment.after]
            first = int(positions[segment.after][-1]) + 1
        positions.append(torch.arange(first, first + len(segment.tokens)))
    at = torch.cat(positions).unsqueeze(0)
    if all(segment.after == place - 1 for place, segment in enumerate(segments)):
        return tokens, at, None
    owner = torch.repeat_interleave(
        torch.arange(len(segments)), torch.tensor([len(segment.tokens) for segment in segments])
    )
    among = sees[owner][:, owner].tril()
    before = torch.ones(len(tokens), past, dtype=torch.bool)
    return tokens, at, torch.cat([before, among], dim=1)[None, None]


def _forked(cache: Any) -> Any:
    """Return a cache that can grow without changing this one.

    Dynamic layers grow by making new tensors, so sharing the present ones is enough; other layers may write in
    place and are copied.
    """
    if all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in cache.layers):
        fork = copy.copy(cache)
        fork.layers = [copy.copy(layer) for layer in cache.layers]
        return fork
    return copy.deepcopy(cache)
