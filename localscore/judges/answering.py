"""Inquiries → judgments, whoever reads: closed verdicts are decided, open ones written.

Closed verdicts are decided from the probabilities of their legal strings (`deciding.py`), open ones are written
greedily under the schema (`writing.py`), which Outlines hands to llguidance: that compiles a bounded list of bounded
strings in milliseconds and keeps control tokens out of them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch

from localscore.errors import ContextTooLong, JudgeUnusable, OutOfMemory, OutputTruncated, VerdictError
from localscore.inquiries import Inquiry, worded
from localscore.judges import JudgeIdentity, LoadedAs, TokenCount
from localscore.judges.chat import ChatTokenizer
from localscore.judges.complete import readable
from localscore.judges.deciding import LegalStrings, TokenIds, legal_strings
from localscore.judges.units import Asked, Found, Pass, asked_together
from localscore.judges.writing import write
from localscore.results import Judgment
from localscore.verdicts import Verdict, legal_values, parsed, schema

SPELLING = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""llguidance's options for the one spelling of JSON that `Verdict.spelled` writes."""

Answer = Judgment | VerdictError
R = TypeVar("R")


class Reader(Protocol):
    """Reads token ids with a model and keeps shared beginnings."""

    def found(self, units: Pass) -> list[list[Found]]:
        """Return per unit and segment what is wanted of it."""

    def begin(self, chunks: Sequence[TokenIds]) -> tuple[torch.Tensor, Any]:
        """Read a prompt; return the scores of all tokens that may follow it, and a cache to go on from."""

    def more(self, tokens: Sequence[int], cache: Any, *, places: int = 1, drop: int = 0) -> torch.Tensor:
        """Read further tokens in the place of the last `drop` ones; return the scores after the last `places`."""

    def forget(self) -> None:
        """Let go of everything that was kept, to make room."""


class AnsweringJudge(ABC):
    """A judge that reads prompts with a `Reader`, and holds what is said to JSON schemas.

    The weights are read when the first question is asked, so that a run whose verdicts are all there costs
    nothing.
    """

    loaded_as: LoadedAs | None = None

    def __init__(self, folder: Path, identity: JudgeIdentity, prompts: Mapping[str, str] | None) -> None:
        self.identity = identity
        self.tokens = TokenCount()
        self.folder = folder
        """Where its tokenizer is."""
        self.prompts = prompts or {}
        self._legal_strings: Callable[[type[Verdict]], LegalStrings] = lru_cache(maxsize=512)(
            lambda verdict: legal_strings(verdict, self.chat.ids)
        )
        self._grammar: Callable[[type[Verdict]], str] = lru_cache(maxsize=32)(self._compiled)

    @property
    def samples_at_once(self) -> int:
        """How many samples it can make use of side by side."""
        return 1

    @cached_property
    @abstractmethod
    def window(self) -> int:
        """The most tokens that a prompt and its answer may take together."""

    @cached_property
    @abstractmethod
    def _reader(self) -> Reader:
        """What reads for it."""

    @cached_property
    def batch_tokens(self) -> int:
        """The most tokens that several units may have in one pass, or 0: then each is read by itself."""
        return 0

    @cached_property
    def chat(self) -> ChatTokenizer:
        """How prompts become token ids."""
        return ChatTokenizer(self._tokenizer, str(self.folder))

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Answer]:
        """Answer each inquiry in order; see `localscore.judges.Judge.decide`."""
        inquiries = [worded(inquiry, self.prompts) for inquiry in inquiries]
        for closed, group in groupby(inquiries, key=lambda inquiry: bool(legal_values(inquiry.verdict))):
            if closed:
                yield from self._decided(list(group))
            else:
                for inquiry in group:
                    yield self._written(inquiry)

    def _decided(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Answer]:
        """Answer closed inquiries, one unit in a pass, or as many as the budget allows where that may be."""
        batch: list[Asked] = []
        tokens = 0
        for group in asked_together(inquiries):
            try:
                asked = Asked.of(group, self.chat, self._legal_strings)
                self._check_window(asked.unit.longest)
            except VerdictError as error:
                yield from self._read(batch)
                yield from [error] * len(group)
                batch = []
                continue
            more = asked.unit.beyond(batch[-1].unit) if batch else 0
            if batch and tokens + more > self.batch_tokens:
                yield from self._read(batch)
                batch = []
            tokens = tokens + more if batch else asked.unit.tokens
            batch.append(asked)
        yield from self._read(batch)

    def _read(self, batch: Sequence[Asked]) -> Iterator[Answer]:
        """Read units in one pass, or where memory runs out in halves, down to a unit alone."""
        if not batch:
            return
        try:
            read = self._in_memory(lambda: self._reader.found(Pass.of([asked.unit for asked in batch])))
        except OutOfMemory as error:
            if len(batch) == 1:
                yield from [error] * len(batch[0].inquiries)
                return
            self.batch_tokens = max(1, self.batch_tokens // 2)
            yield from self._read(batch[: len(batch) // 2])
            yield from self._read(batch[len(batch) // 2 :])
        else:
            for asked, found in zip(batch, read, strict=True):
                yield from asked.judgments(found)

    def _written(self, inquiry: Inquiry[Any]) -> Answer:
        """Answer an open inquiry."""
        try:
            return self._in_memory(lambda: self._greedy(inquiry))
        except VerdictError as error:
            return error

    def _greedy(self, inquiry: Inquiry[Any]) -> Judgment:
        from llguidance import LLMatcher

        grammar = LLMatcher(self._outlines.llg_tokenizer, self._grammar(inquiry.verdict))
        start = grammar.compute_ff_tokens()
        grammar.consume_tokens(start)
        chunks = self.chat.chunks(inquiry.chunks, tuple(start))
        prompt = [token for chunk in chunks for token in chunk]
        self._check_window(len(prompt) + inquiry.room)
        scores, cache = self._reader.begin(chunks)
        written = write(grammar, scores, partial(self._reader.more, cache=cache), prompt, inquiry.room)
        if written is None:
            self.tokens.written += inquiry.room
            raise OutputTruncated(
                f"The limit of {inquiry.room} tokens was reached before the {inquiry.question} verdict was complete.",
                hint="The text may be unusually long, or the judge too weak to come to an end.",
            )
        self.tokens.written += len(written)
        verdict = parsed(inquiry.verdict, self.chat.text([*start, *written]))
        return Judgment.of(verdict, prompt_tokens=len(prompt), written_tokens=len(written))

    def _check_window(self, needed: int) -> None:
        if needed > self.window:
            raise ContextTooLong(
                f"The prompt and its answer need {needed} tokens; the judge's window holds {self.window}.",
                hint="Contexts are cut into pieces that fit; use a shorter query, or a judge with a larger window.",
            )

    def _in_memory(self, work: Callable[[], R]) -> R:
        """Do some work; where memory runs out, let go of what was kept and try once more.

        Raises:
            OutOfMemory: there is not enough even so.
        """
        try:
            return work()
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
        self._reader.forget()
        try:
            return work()
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
            raise OutOfMemory(
                f"There was no memory left for a prompt of this length: {error}",
                hint="Use a smaller judge or dtype, or shorter texts.",
            ) from error

    def _compiled(self, verdict: type[Verdict]) -> str:
        told = schema(verdict) | {"x-guidance": SPELLING}
        grammar: str = self._outlines.get_json_schema_logits_processor(json.dumps(told)).grammar
        return grammar

    @cached_property
    def _outlines(self) -> Any:
        import outlines
        from outlines.backends.llguidance import LLGuidanceBackend

        return LLGuidanceBackend(
            outlines.from_transformers(None, self._tokenizer)
        )  # it writes with the reader

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


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)
