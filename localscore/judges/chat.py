"""Prompts → token ids, framed by the judge's chat template.

The template is rendered once around a mark, with a single user message, so that no system role is needed. What
comes before and after the mark is the only text in which control tokens are recognised; prompts, with the texts
under judgment in them, go through a tokenizer that knows none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer

from localscore.errors import JudgeFailed, JudgeUnusable

_MARK = "LOCALSCORE-PROMPT-GOES-HERE"
_OPENED = re.compile(r"<(think|thinking|thought|reasoning)>\s*\Z")


@dataclass(frozen=True)
class ChatFrame:
    """What the chat template puts around a user's message."""

    before: str
    after: str


def chat_frame(tokenizer: Any, where: str) -> ChatFrame:
    """Return the frame that a tokenizer's chat template makes.

    Raises:
        JudgeUnusable: there is no chat template, or it does not hand a user's message through unchanged.
    """
    hint = "Use an instruct model with a chat template; base models cannot judge."
    if not tokenizer.chat_template:
        raise JudgeUnusable(f"{where} has no chat template.", hint=hint)
    message = [{"role": "user", "content": _MARK}]
    try:
        # `enable_thinking` keeps models that reason first from doing so; other templates ignore it.
        text = tokenizer.apply_chat_template(
            message, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    except Exception as error:  # a template is a program of its own and may raise anything
        raise JudgeUnusable(f"{where}: its chat template fails: {error}", hint=hint) from error
    before, mark, after = text.partition(_MARK)
    if not mark or _MARK in after:
        raise JudgeUnusable(
            f"{where}: its chat template does not hand the user's message through.", hint=hint
        )
    if opened := _OPENED.search(after):  # a model that always reasons first: its reasoning is left empty
        after += f"\n</{opened[1]}>\n\n"
    return ChatFrame(before, after)


class ChatTokenizer:
    """Turns the chunks of a prompt into token ids."""

    def __init__(self, tokenizer: Any, where: str) -> None:
        self.frame = chat_frame(tokenizer, where)
        self._controls = frozenset(tokenizer.added_tokens_decoder)
        self._plain = _without_added_tokens(tokenizer.backend_tokenizer)
        self._before = _with_one_bos(tokenizer, self.frame.before)
        self._after = list(tokenizer.encode(self.frame.after, add_special_tokens=False))
        self._ids = lru_cache(maxsize=1024)(self._ids_of)

    def chunks(
        self, chunks: tuple[str, ...], answer_start: tuple[int, ...] = ()
    ) -> tuple[tuple[int, ...], ...]:
        """Return a prompt's token ids chunk by chunk, with the frame and the forced start of the answer.

        Raises:
            JudgeFailed: a text under judgment would have become a control token.
        """
        ids = [self.ids(chunk) for chunk in chunks]
        ids[0] = (*self._before, *ids[0])
        ids[-1] = (*ids[-1], *self._after, *answer_start)
        return tuple(ids)

    def ids(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text in which nothing is a control token."""
        return self._ids(text)

    def span(self, text: str, start: int, stop: int) -> range:
        """Return which of a text's tokens hold any of its characters from `start` to `stop`."""
        offsets = self._plain.encode(_well_formed(text), add_special_tokens=False).offsets
        held = [n for n, (first, end) in enumerate(offsets) if first < stop and end > start]
        return range(held[0], held[-1] + 1) if held else range(0)

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""
        return str(self._plain.decode(list(ids), skip_special_tokens=False))

    def _ids_of(self, text: str) -> tuple[int, ...]:
        ids = tuple(self._plain.encode(_well_formed(text), add_special_tokens=False).ids)
        if not self._controls.isdisjoint(ids):
            raise JudgeFailed(
                "A text contains a character sequence that this judge cannot read as plain text."
            )
        return ids


def _well_formed(text: str) -> str:
    """Return a text without lone surrogates, which cannot be tokenized; each becomes one question mark."""
    return text.encode("utf-8", "replace").decode()


def _without_added_tokens(backend: Tokenizer) -> Tokenizer:
    """Return the same tokenizer without its added tokens, so that `<|im_end|>` is eleven characters of text."""
    plain = Tokenizer(backend.model)
    for step in ("normalizer", "pre_tokenizer", "decoder"):
        if (part := getattr(backend, step)) is not None:
            setattr(plain, step, part)
    return plain


def _with_one_bos(tokenizer: Any, before: str) -> list[int]:
    """Tokenize the start of the frame: the BOS of the template, or else the tokenizer's own, never both."""
    ids = list(tokenizer.encode(before, add_special_tokens=False))
    bos = tokenizer.bos_token_id
    adds_bos = bos is not None and list(tokenizer.encode("a"))[:1] == [bos]
    if adds_bos and ids[:1] != [bos]:
        ids = [bos, *ids]
    while bos is not None and ids[:2] == [bos, bos]:
        ids = ids[1:]
    return ids
