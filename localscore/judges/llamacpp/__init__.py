"""A judge that reads with llama.cpp, from a GGUF file as it is.

    model.py    the file, and what is called of llama.cpp
    reading.py  token ids → scores

Only these two modules import llama_cpp.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from localscore.judges import JudgeIdentity
from localscore.judges.answering import AnsweringJudge

if TYPE_CHECKING:
    from localscore.judges.llamacpp.model import Llama
    from localscore.judges.llamacpp.reading import LlamaReader

log = logging.getLogger("localscore")

NOISE = 0.12
"""How far a probability may be from float32's; see `localscore.judges.arithmetic`."""


class LlamaCppJudge(AnsweringJudge):
    """A judge from a GGUF file that computes with its numbers as they are, without unpacking them.

    Every unit is read by itself, from cells that it always has, so that no verdict depends on what else is in the run.
    """

    def __init__(
        self,
        gguf: Path,
        tokenizer: Path,
        identity: JudgeIdentity,
        *,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(tokenizer, identity, prompts)
        self.gguf = gguf

    @cached_property
    def window(self) -> int:
        """The most tokens that a prompt and its answer may take together."""
        return self._llama.window

    @cached_property
    def _reader(self) -> LlamaReader:
        from localscore.judges.llamacpp.reading import LlamaReader

        return LlamaReader(self._llama, self.tokens)

    @cached_property
    def _llama(self) -> Llama:
        from localscore.judges.llamacpp.model import Llama

        start = time.monotonic()
        llama = Llama(self.gguf, threads=torch.get_num_threads())
        log.info("Judge %s is ready after %.1f s.", self.identity.name, time.monotonic() - start)
        return llama
