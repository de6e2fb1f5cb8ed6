"""Asking about what is too long for the judge: in parts, halved until each of them fits.

A plan does not know the judge's window. It asks, and where a judge refuses an inquiry as too long, it asks about
halves instead; a refusal costs no pass. So plans stay free of I/O, every judge that says `ContextTooLong` is served,
and nothing is ever cut: what was asked in the end covers every character.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from localscore.errors import ContextTooLong, OutputTruncated
from localscore.inquiries import Inquiry
from localscore.metrics.base import Answered, Plan, answered
from localscore.texts import halves

MOST_HALVINGS = 12
"""How often a text or a group is halved before it is given up: what does not fit then is not what is too long."""

T = TypeVar("T")

TOO_LONG = (ContextTooLong, OutputTruncated)
"""Refusals after which an inquiry is asked in parts."""


@dataclass(frozen=True)
class Part(Generic[T]):
    """A part that fitted, and what was said of it."""

    part: T
    answers: tuple[Answered[Any], ...]


def ask_parts(
    wholes: Sequence[T],
    ask: Callable[[T], Sequence[Inquiry[Any]]],
    halved: Callable[[T], Sequence[T]],
) -> Plan[list[list[Part[T]]]]:
    """Ask about each of some wholes in one round, and in further rounds about the halves of those that did not fit.

    Args:
        wholes: what is asked about.
        ask: the inquiries about a whole or a part.
        halved: the parts of one that did not fit; none where it cannot be made smaller.

    Returns:
        For each whole its parts in order; one part, the whole itself, where it fitted.

    Raises:
        ContextTooLong: not even the smallest part fits.
        OutputTruncated: not even the verdict about the smallest part came to an end.
    """
    found: list[dict[tuple[int, ...], Part[T]]] = [{} for _ in wholes]
    waiting: list[tuple[int, tuple[int, ...], T]] = [
        (number, (), whole) for number, whole in enumerate(wholes)
    ]
    while waiting:
        asked = [tuple(ask(part)) for _, _, part in waiting]
        flat = tuple(inquiry for inquiries in asked for inquiry in inquiries)
        answers = iter((yield flat) if flat else ())
        smaller: list[tuple[int, tuple[int, ...], T]] = []
        for (number, path, part), inquiries in zip(waiting, asked, strict=True):
            got = [next(answers) for _ in inquiries]
            refusal = next((one for one in got if isinstance(one, TOO_LONG)), None)
            if refusal is None:
                said = tuple(answered(inquiry, one) for inquiry, one in zip(inquiries, got, strict=True))
                found[number][path] = Part(part, said)
                continue
            parts = halved(part) if len(path) < MOST_HALVINGS else ()
            if not parts:
                raise refusal
            smaller += [(number, (*path, side), half) for side, half in enumerate(parts)]
        waiting = smaller
    return [[parts[path] for path in sorted(parts)] for parts in found]


@dataclass(frozen=True)
class Piece:
    """A piece of a context, and the context's index."""

    context: int
    text: str


Group = tuple[Piece, ...]
"""Contexts, or pieces of them, that are shown to the judge together."""


def whole_group(contexts: Sequence[str]) -> Group:
    """Return all contexts in the order of their texts, so that their ranks decide nothing."""
    return tuple(sorted((Piece(i, text) for i, text in enumerate(contexts)), key=lambda piece: piece.text))


def halved_group(group: Group) -> tuple[Group, ...]:
    """Return a group as two of about the same length; one context alone as its two overlapping halves.

    >>> [[piece.context for piece in half] for half in halved_group(whole_group(["c c c", "a", "b b b"]))]
    [[1, 2], [0]]
    """
    if len(group) == 1:
        return tuple((Piece(group[0].context, half),) for half in halves(group[0].text))
    total = sum(len(piece.text) for piece in group)
    ends = [sum(len(piece.text) for piece in group[:n]) for n in range(1, len(group))]
    middle = 1 + min(range(len(ends)), key=lambda n: abs(ends[n] - total / 2))
    return group[:middle], group[middle:]


def texts_of(group: Group) -> tuple[str, ...]:
    """Return the texts of a group."""
    return tuple(piece.text for piece in group)


def halved_pair(pair: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Halve the longer one of a context and an answer."""
    context, answer = pair
    if len(answer) > len(context) and (parts := halves(answer)):
        return tuple((context, part) for part in parts)
    return tuple((part, answer) for part in halves(context))
