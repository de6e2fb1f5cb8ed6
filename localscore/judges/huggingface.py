"""A judge that reads with a transformers model."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from localscore.judges import JudgeIdentity
from localscore.judges.answering import AnsweringJudge
from localscore.judges.arithmetic import Arithmetic
from localscore.judges.complete import check_complete, readable
from localscore.judges.reading import TransformersReader

log = logging.getLogger("localscore")

_SIDE_BY_SIDE = 64
"""Samples at once where units are read together: enough to fill a pass."""


class HuggingFaceJudge(AnsweringJudge):
    """A judge from a folder in the format of transformers, with its weights in safetensors."""

    def __init__(
        self,
        folder: Path,
        identity: JudgeIdentity,
        arithmetic: Arithmetic,
        *,
        batch_tokens: int | None = None,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, identity, prompts)
        self.arithmetic = arithmetic
        self._batch_tokens = batch_tokens

    @property
    def samples_at_once(self) -> int:
        """How many samples it can make use of side by side."""
        return 1 if self.arithmetic.exact else _SIDE_BY_SIDE

    @cached_property
    def window(self) -> int:
        """The most tokens that a prompt and its answer may take together."""
        return int(self._model.config.max_position_embeddings)

    @cached_property
    def batch_tokens(self) -> int:
        """The most tokens that several units may have in one pass; halved when memory runs out."""
        if self.arithmetic.exact:
            return 0
        return self._batch_tokens or self.arithmetic.batch_tokens(self._model)

    @cached_property
    def _reader(self) -> TransformersReader:
        return TransformersReader(self._model, self.tokens)

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForCausalLM

        _ = self.chat  # a folder without a chat template is refused before gigabytes are read
        start = time.monotonic()
        with readable(self.folder):
            model, loading = AutoModelForCausalLM.from_pretrained(
                self.folder,
                dtype=self.arithmetic.dtype,
                device_map=self.arithmetic.device,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        check_complete(loading, self.folder)
        self.arithmetic.prepare(model)
        log.info("Judge %s is ready after %.1f s.", self.identity.name, time.monotonic() - start)
        return model.eval()
