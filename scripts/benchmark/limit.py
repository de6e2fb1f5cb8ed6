"""The limit: the seconds that a task must take in float32 on this machine, whoever does it.

Every distinct token must be multiplied with the matrices of all layers once, at the best rate that torch multiplies
matrices of these shapes with here. For every token that is written, all weights have to come from memory once. Both
rates are measured beside each sample, so that a busy machine slows the limit as it slows the contestants.
(Drafting several tokens at a time, or fewer bits a weight, can go below it.)
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForCausalLM

from benchmark.contestants import Outcome
from localscore.inquiries import Inquiry
from localscore.judges import TokenCount
from localscore.judges.deciding import START, legal_strings
from localscore.judges.huggingface import HuggingFaceJudge
from localscore.verdicts import legal_values

NAME = "the limit"

_ROTATED = 400_000_000
"""Bytes of layers that one-row products go through in turn: more than a cache holds."""


class Limit:
    """What a judge's model costs at least."""

    def __init__(self, judge: HuggingFaceJudge) -> None:
        self._judge = judge
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(judge.folder))
        base = model.base_model
        shapes = [tuple(m.weight.shape) for m in base.modules() if isinstance(m, nn.Linear)]
        layer = shapes[: len(shapes) // len(base.layers)]
        self.parameters = sum(a * b for a, b in shapes)
        self.written_bytes = 4 * (self.parameters + model.get_output_embeddings().weight.numel())
        self._layer_parameters = sum(a * b for a, b in layer)
        copies = -(-_ROTATED // (4 * self._layer_parameters))
        self._layers = [[torch.randn(shape) for shape in layer] for _ in range(copies)]
        self.rates: list[dict[str, float]] = []

    def outcome(self, reference: Outcome) -> Outcome:
        """Return what the work of an outcome had to take, at the rates of this moment."""
        unique, written = unique_tokens(reference.asked, self._judge), reference.cost.written
        operations, bytes_read = self._matrix_rate(), self._memory_rate()
        self.rates.append({"gflops": operations / 1e9, "gigabytes_per_second": bytes_read / 1e9})
        seconds = unique * 2 * self.parameters / operations + written * self.written_bytes / bytes_read
        return Outcome(seconds, TokenCount(unique, written), 0, 0, True)

    def _matrix_rate(self) -> float:
        """Operations a second with 256 or 512 rows, whichever is faster."""
        return max(2 * rows * self._layer_parameters / self._seconds(rows, 1) for rows in (256, 512))

    def _memory_rate(self) -> float:
        """Bytes a second of weights that one row is multiplied with."""
        return 4 * self._layer_parameters * len(self._layers) / self._seconds(1, len(self._layers))

    def _seconds(self, rows: int, layers: int) -> float:
        """Return the least time that some rows took through some layers."""
        inputs = {weight.shape[1]: torch.randn(rows, weight.shape[1]) for weight in self._layers[0]}
        found = []
        for _ in range(3):
            start = time.perf_counter()
            with torch.inference_mode():
                for weight in chain.from_iterable(self._layers[:layers]):
                    functional.linear(inputs[weight.shape[1]], weight)
            found.append(time.perf_counter() - start)
        return min(found)


def unique_tokens(inquiries: Iterable[Inquiry[Any]], judge: HuggingFaceJudge) -> int:
    """Count the distinct tokens of some prompts, up to all places where legal answers part.

    Two tokens are the same where everything before them is.
    """
    root: dict[int, Any] = {}
    count = 0
    for inquiry in inquiries:
        prompt = tuple(token for chunk in judge.chat.chunks(inquiry.chunks) for token in chunk)
        paths = [prompt]
        if legal_values(inquiry.verdict):
            ends: list[tuple[int, ...]] = []
            for fork in legal_strings(inquiry.verdict, judge.chat.ids).forks:
                ends.append((prompt if fork.after == START else ends[fork.after]) + fork.path)
            paths = ends
        for path in paths:
            node = root
            for token in path:
                count += token not in node
                node = node.setdefault(token, {})
    return count
