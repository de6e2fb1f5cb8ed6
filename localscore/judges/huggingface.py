"""A transformers model that is held to JSON schemas by Outlines.

Closed verdicts are decided from the probabilities of their legal strings (`deciding.py`), open ones are written
greedily under the schema by Outlines with the llguidance backend, which compiles a bounded list of bounded
strings in milliseconds and keeps control tokens out of them.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import torch

from localscore.errors import (
    ContextTooLong,
    JudgeUnusable,
    NotANumber,
    OutOfMemory,
    OutputTruncated,
    VerdictError,
)
from localscore.inquiries import Inquiry
from localscore.judges import JudgeIdentity, TokenCount
from localscore.judges.chat import ChatTokenizer
from localscore.judges.complete import check_complete, readable
from localscore.judges.deciding import LegalStrings, decided, legal_strings, shares
from localscore.judges.reading import Reader, TokenIds
from localscore.results import Judgment
from localscore.verdicts import Verdict, legal_values, parsed

log = logging.getLogger("localscore")

_SPACED = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""llguidance's options for the one spelling of JSON that `Verdict.spelled` writes."""


class HuggingFaceJudge:
    """A judge from a folder in the format of transformers, with its weights in safetensors.

    The weights are read when the first question is asked, so that a run whose verdicts are all there costs
    nothing.
    """

    def __init__(self, folder: Path, identity: JudgeIdentity, *, device: str, dtype: torch.dtype) -> None:
        self.identity = identity
        self.tokens = TokenCount()
        self.folder = folder
        self._device = device
        self._dtype = dtype
        self._legal_strings: Callable[[type[Verdict]], LegalStrings] = lru_cache(maxsize=512)(
            lambda verdict: legal_strings(verdict, self.chat.ids)
        )
        self._processor: Callable[[type[Verdict]], Any] = lru_cache(maxsize=32)(self._compiled)

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry in order; see `localscore.judges.Judge.decide`."""
        for inquiry in inquiries:
            try:
                yield self._answer(inquiry)
            except VerdictError as error:
                yield error
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not _out_of_memory(error):
                    raise
                self._reader.forget()
                yield OutOfMemory(
                    f"The {self._device} had no memory left for a prompt of this length: {error}",
                    hint="Use a smaller judge or dtype, or shorter texts.",
                )

    @cached_property
    def chat(self) -> ChatTokenizer:
        """How prompts become token ids."""
        return ChatTokenizer(self._tokenizer, str(self.folder))

    @cached_property
    def window(self) -> int:
        """The most tokens that a prompt and its answer may take together."""
        return int(self._model.config.max_position_embeddings)

    def _answer(self, inquiry: Inquiry[Any]) -> Judgment:
        if legal_values(inquiry.verdict):
            return self._decided(inquiry)
        return self._written(inquiry)

    def _decided(self, inquiry: Inquiry[Any]) -> Judgment:
        legal = self._legal_strings(inquiry.verdict)
        chunks = self.chat.chunks(inquiry.chunks, legal.start)
        self._check_window(chunks, 0)
        scores, cache = self._reader.read(chunks)
        found = shares(legal.root, _on_cpu(scores), lambda tokens: _on_cpu(self._reader.after(tokens, cache)))
        verdict, probabilities = decided(inquiry.verdict, found)
        return Judgment.of(verdict, probabilities, prompt_tokens=sum(map(len, chunks)))

    def _written(self, inquiry: Inquiry[Any]) -> Judgment:
        chunks = self.chat.chunks(inquiry.chunks)
        self._check_window(chunks, inquiry.room)
        written, text = self._greedy(chunks, inquiry)
        verdict = parsed(inquiry.verdict, text)
        return Judgment.of(verdict, prompt_tokens=sum(map(len, chunks)), written_tokens=len(written))

    def _greedy(self, chunks: Sequence[TokenIds], inquiry: Inquiry[Any]) -> tuple[list[int], str]:
        """Write the most probable legal token again and again until the JSON is complete."""
        processor = self._processor(inquiry.verdict)
        processor.reset()
        scores, cache = self._reader.read(chunks)
        written: list[int] = []
        while len(written) < inquiry.room:
            so_far = torch.tensor([written or [0]], device=scores.device)
            with torch.inference_mode():
                allowed = processor(so_far, scores.unsqueeze(0))[0]
            if not torch.isfinite(allowed.max()):
                raise NotANumber("The judge's scores of the next token are not finite numbers.")
            written.append(int(allowed.argmax()))
            self.tokens.written += 1
            text = self.chat.text(written)
            if text.endswith("}") and _is_json(text):
                return written, text
            scores = self._reader.more(written[-1:], cache)
        raise OutputTruncated(
            f"The limit of {inquiry.room} tokens was reached before the {inquiry.question} verdict was complete.",
            hint="The text may be unusually long, or the judge too weak to come to an end.",
        )

    def _check_window(self, chunks: Sequence[TokenIds], room: int) -> None:
        needed = sum(map(len, chunks)) + room
        if needed > self.window:
            raise ContextTooLong(
                f"The prompt and its answer need {needed} tokens; the judge's window holds {self.window}.",
                hint="Use shorter or fewer contexts, or a judge with a larger window.",
            )

    def _compiled(self, verdict: type[Verdict]) -> Any:
        schema = verdict.model_json_schema() | {"x-guidance": _SPACED}
        return self._outlines.get_json_schema_logits_processor(json.dumps(schema))

    @cached_property
    def _outlines(self) -> Any:
        with _no_compiler():
            import llguidance.torch  # noqa: F401
        import outlines
        from outlines.backends.llguidance import LLGuidanceBackend

        return LLGuidanceBackend(outlines.from_transformers(self._model, self._tokenizer))

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._model, self.tokens)

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        with readable(self.folder):
            tokenizer = AutoTokenizer.from_pretrained(
                self.folder, local_files_only=True, trust_remote_code=False
            )
        if not getattr(tokenizer, "is_fast", False):
            raise JudgeUnusable(
                f"{self.folder} has no fast tokenizer.", hint="Convert it so that it has a tokenizer.json."
            )
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForCausalLM

        _ = self.chat  # a folder without a chat template is refused before gigabytes are read
        start = time.monotonic()
        with readable(self.folder):
            model, loading = AutoModelForCausalLM.from_pretrained(
                self.folder,
                dtype=self._dtype,
                device_map=self._device,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        check_complete(loading, self.folder)
        log.info("Judge %s is ready after %.1f s.", self.identity.name, time.monotonic() - start)
        return model.eval()


@contextmanager
def _no_compiler() -> Iterator[None]:
    """Import something without torch.compile.

    llguidance decorates its mask kernels with it, which takes seconds in every process and gains nothing here.
    """
    before = os.environ.get("TORCHDYNAMO_DISABLE")
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    try:
        yield
    finally:
        os.environ.pop("TORCHDYNAMO_DISABLE")
        if before is not None:
            os.environ["TORCHDYNAMO_DISABLE"] = before


def _on_cpu(scores: torch.Tensor) -> Any:
    return scores.cpu().numpy()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)
