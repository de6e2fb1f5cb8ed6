"""Token ids → the judge's scores, each shared beginning read once.

A prompt is read chunk by chunk, each chunk in one pass over what was kept of the chunks before it. Chunks and
their order come from the prompt alone, so the arithmetic of a verdict, and with it every bit of its
probabilities, does not depend on what else is in the run or was read before.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from localscore.judges import TokenCount

TokenIds = tuple[int, ...]


@dataclass
class _Read:
    """A chunk that was read, and the keys and values from the start of the prompt to its end."""

    chunk: TokenIds
    cache: Any


class Reader:
    """Reads prompts with a transformers model and keeps the path to the last prompt of each beginning."""

    def __init__(self, model: Any, tokens: TokenCount) -> None:
        self._model = model
        self._tokens = tokens
        self._paths: dict[TokenIds, list[_Read]] = {}

    def read(self, chunks: Sequence[TokenIds]) -> tuple[torch.Tensor, Any]:
        """Read a prompt; return the scores of all tokens that may follow it, and the cache to go on from."""
        path = self._paths.setdefault(chunks[0], [])
        known = 0
        while known < min(len(path), len(chunks) - 1) and path[known].chunk == chunks[known]:
            known += 1
        del path[known:]
        for chunk in chunks[known:-1]:
            cache = _forked(path[-1].cache) if path else DynamicCache(config=self._model.config)
            self._forward(self._model.base_model, chunk, cache)
            path.append(_Read(chunk, cache))
        cache = _forked(path[-1].cache) if path else DynamicCache(config=self._model.config)
        return self.more(chunks[-1], cache), cache

    def more(self, tokens: Sequence[int], cache: Any) -> torch.Tensor:
        """Read further tokens into `cache`; return the scores of all tokens that may follow."""
        output = self._forward(self._model, tokens, cache, logits_to_keep=1)
        logits: torch.Tensor = output.logits[0, -1].float()
        return logits

    def after(self, tokens: Sequence[int], cache: Any) -> torch.Tensor:
        """Return the scores after further tokens, leaving `cache` as it is."""
        return self.more(tokens, _forked(cache))

    def forget(self) -> None:
        """Let go of everything that was kept, to make room."""
        self._paths.clear()

    def _forward(self, model: Any, tokens: Sequence[int], cache: Any, **options: int) -> Any:
        self._tokens.read += len(tokens)
        ids = torch.tensor([tokens], device=self._model.device)
        with torch.inference_mode():
            return model(ids, cache=cache, use_cache=True, **options)


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
