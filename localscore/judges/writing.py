"""The judge's scores → an open verdict, written greedily under its schema.

A pass costs about the same for one token as for a few, so each carries as many as can be known beforehand: what the
schema forces, and a draft copied from the prompt where the last tokens stand in it too. Drafted tokens that the judge
would not have written itself are dropped, so the text is the one that it writes token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from localscore.errors import NotANumber

DRAFT = 7
"""Tokens drafted at a time; up to eight rows a pass cost a CPU little more than one."""

LONGEST_MATCH = 3
"""How many of the last tokens are looked for in what stands before them, at most."""


class Grammar(Protocol):
    """What llguidance's matcher has: the state of a text under a schema."""

    def consume_token(self, token: int) -> bool:
        """Take a token in."""

    def validate_tokens(self, tokens: list[int]) -> int:
        """Return how many of these tokens may follow."""

    def compute_ff_tokens(self) -> list[int]:
        """Return the tokens that must follow."""

    def compute_logit_bias(self) -> bytes:
        """Return a byte per token, zero for those that may not follow."""

    def is_accepting(self) -> bool:
        """Whether the text is complete."""


class Reading(Protocol):
    """Reads tokens in the place of the last `drop` ones; returns the scores after each of the last `places`."""

    def __call__(self, tokens: Sequence[int], *, places: int, drop: int) -> torch.Tensor:
        """Read the tokens."""


def write(
    grammar: Grammar, scores: torch.Tensor, more: Reading, prompt: Sequence[int], room: int
) -> list[int] | None:
    """Return the tokens of a verdict, or nothing where `room` tokens do not suffice for it.

    Args:
        grammar: says what is legal, and what is forced.
        scores: of all tokens after the prompt.
        more: reads further tokens.
        prompt: the tokens read so far, to draft from.
        room: the most tokens to write.

    Raises:
        NotANumber: the scores are NaN.
    """
    draft = Draft(prompt)
    written: list[int] = []
    rows, drafted = scores.unsqueeze(0), list[int]()
    read = 0
    while True:
        accepted = 0
        for row, top in zip(rows, rows.argmax(-1).tolist(), strict=True):
            token = _chosen(grammar, row, top)
            grammar.consume_token(token)
            written.append(token)
            draft.append(token)
            if grammar.is_accepting():
                return written
            if accepted == len(drafted) or token != drafted[accepted]:
                break
            accepted += 1
        read += accepted
        for token in grammar.compute_ff_tokens():
            grammar.consume_token(token)
            written.append(token)
            draft.append(token)
        if grammar.is_accepting():
            return written
        if len(written) >= room:
            return None
        rejected = len(drafted) - accepted
        drafted = draft.next()
        drafted = drafted[: grammar.validate_tokens(drafted)]
        unread = written[read:]
        read = len(written)
        rows = more([*unread, *drafted], places=1 + len(drafted), drop=rejected)


def _chosen(grammar: Grammar, scores: torch.Tensor, top: int) -> int:
    """Return the forced token, or else the most probable one that is legal."""
    if forced := grammar.compute_ff_tokens():
        return forced[0]
    if not torch.isfinite(scores[top]):
        raise NotANumber("The judge's scores of the next token are not finite numbers.")
    legal = torch.frombuffer(bytearray(grammar.compute_logit_bias()), dtype=torch.uint8)
    if top < len(legal) and legal[top]:
        return top
    return int(scores[: len(legal)].masked_fill(legal.to(scores.device) == 0, -torch.inf).argmax())


class Draft:
    """What may come next: the tokens that followed the last ones where they stood before.

    >>> draft = Draft([1, 2, 3, 4, 5, 9])
    >>> draft.append(2)
    >>> draft.next()
    [3, 4, 5, 9, 2]
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        self._waiting: list[tuple[int, ...]] = []
        for token in tokens:
            self.append(token)

    def append(self, token: int) -> None:
        """Take note of one more token."""
        end = len(self._tokens)
        self._after.update(dict.fromkeys(self._waiting, end))
        self._tokens.append(token)
        self._waiting = [
            tuple(self._tokens[-n:]) for n in range(LONGEST_MATCH, 0, -1) if n <= len(self._tokens)
        ]

    def next(self) -> list[int]:
        """Return the tokens that followed the longest known match of the last ones, latest first; or none."""
        for match in self._waiting:
            if (place := self._after.get(match)) is not None:
                return self._tokens[place : place + DRAFT]
        return []
