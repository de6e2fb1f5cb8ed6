"""Libraries that write JSON under a schema, used as their documentation shows: Outlines, llama.cpp."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import outlines
import torch
from pydantic import BaseModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from localscore.judges import TokenCount

with suppress(ImportError):  # its contestant is left out then
    import llama_cpp


class Writer(Protocol):
    """Answers one user message greedily, under the JSON schema of a type, with at most `room` tokens."""

    tokens: TokenCount

    def write(self, prompt: str, kind: type[BaseModel], room: int) -> str: ...
    def cold(self) -> None: ...


class OutlinesWriter:
    """Outlines around the same weights in float32: no reading is kept, and white space is free."""

    def __init__(self, folder: Path) -> None:
        self.tokens = TokenCount()
        self._folder = folder
        self._generators: dict[type[BaseModel], Any] = {}

    def write(self, prompt: str, kind: type[BaseModel], room: int) -> str:
        """Answer with Outlines' generator, kept per type."""
        if kind not in self._generators:
            self._generators[kind] = outlines.Generator(self._model, kind, backend="llguidance")
        chat = outlines.inputs.Chat([{"role": "user", "content": prompt}])
        return str(self._generators[kind](chat, max_new_tokens=room, do_sample=False))

    def cold(self) -> None:
        """Nothing is kept."""

    @cached_property
    def _model(self) -> Any:
        model = AutoModelForCausalLM.from_pretrained(self._folder, dtype=torch.float32)
        model.register_forward_pre_hook(self._count, with_kwargs=True)
        return outlines.from_transformers(model, AutoTokenizer.from_pretrained(self._folder))

    def _count(self, _module: Any, _args: Any, options: dict[str, Any]) -> None:
        """Count a pass: each writes a token, and the first of an answer reads the prompt."""
        given = options["input_ids"].shape[1]
        self.tokens.read += given if given > 1 else 0
        self.tokens.written += 1
        self.tokens.passes += 1


class LlamaWriter:
    """llama.cpp on the GGUF file of the same judge; it goes on from what its last prompt has in common."""

    _BATCH = 512

    def __init__(self, gguf: Path) -> None:
        self.tokens = TokenCount()
        self._gguf = gguf

    def write(self, prompt: str, kind: type[BaseModel], room: int) -> str:
        """Answer with a chat completion in the format of a schema."""
        llama_cpp.llama_perf_context_reset(self._llama.ctx)
        answer = self._llama.create_chat_completion(
            [{"role": "user", "content": prompt}],
            response_format={"type": "json_object", "schema": kind.model_json_schema()},
            max_tokens=room,
            temperature=0.0,
        )
        spent = llama_cpp.llama_perf_context(self._llama.ctx)
        self.tokens.read += spent.n_p_eval
        self.tokens.written += answer["usage"]["completion_tokens"]
        self.tokens.passes += spent.n_eval + -(-spent.n_p_eval // self._BATCH)
        return str(answer["choices"][0]["message"]["content"])

    def cold(self) -> None:
        """Forget the last prompt."""
        self._llama.reset()

    @cached_property
    def _llama(self) -> Any:
        return llama_cpp.Llama(str(self._gguf), n_ctx=8192, n_threads=torch.get_num_threads(), verbose=False)
