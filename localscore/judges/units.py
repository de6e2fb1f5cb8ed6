"""Inquiries → units, and the scores of a unit → judgments.

    beginning: instruction ──┬── context, query ─┬── question ── {"level": "   (a fork: high, medium, low, none)
                    a unit:  │                   └── question ── {"used":      (a fork: true, false)
                             └── context, query ─ …

A *unit* is what is put to the model in one pass: the text that some closed questions are about, the questions, and
all places where their legal strings part. It is a tree of segments that goes on from a beginning. Both come from the
prompts alone, so a verdict's arithmetic has the same shapes whatever else is in the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.judges.chat import ChatTokenizer
from localscore.judges.deciding import START, LegalStrings, TokenIds, shares
from localscore.results import Judgment
from localscore.verdicts import Verdict, decided

if TYPE_CHECKING:
    import torch


class Found(NamedTuple):
    """What the model said of a segment."""

    scores: Sequence[float]
    """The log-scores of its wanted tokens."""
    bits: float | None = None
    """The information in its measured tokens."""


MEASURED = 256
"""Tokens of a text whose information is measured at most: each needs the scores of the whole vocabulary."""


@dataclass(frozen=True)
class Segment:
    """Tokens that follow another segment, or at the `START` the beginning."""

    tokens: TokenIds
    after: int = START
    """The index of the segment before it."""
    wanted: TokenIds = ()
    """The tokens whose scores are wanted at its end."""
    measured: range = range(0)
    """Where its tokens are whose information is wanted, each given all before it."""


@dataclass(frozen=True)
class Unit:
    """Segments that go on from a beginning of some chunks, or of none."""

    beginning: tuple[TokenIds, ...]
    segments: tuple[Segment, ...]

    @property
    def tokens(self) -> int:
        """The number of tokens in its segments."""
        return sum(len(segment.tokens) for segment in self.segments)

    def beyond(self, other: Unit) -> int:
        """Return how many more tokens a pass has that holds this unit beside the other.

        >>> one, other = Unit(((1,), (2,)), (Segment((3,)),)), Unit(((1,), (4, 5)), (Segment((3,)),))
        >>> one.beyond(one), other.beyond(one)
        (1, 3)
        """
        shared = len(common([self.beginning, other.beginning]))
        return sum(map(len, self.beginning[shared:])) + self.tokens

    @property
    def longest(self) -> int:
        """The number of tokens on its longest path, the beginning included."""
        ends: list[int] = []
        for segment in self.segments:
            before = sum(map(len, self.beginning)) if segment.after == START else ends[segment.after]
            ends.append(before + len(segment.tokens))
        return max(ends)


@dataclass(frozen=True)
class Pass:
    """What goes through the model at once: the segments of some units, after the beginning that all share."""

    beginning: tuple[TokenIds, ...]
    segments: tuple[Segment, ...]
    places: tuple[range, ...]
    """Per unit, where its segments are."""

    @classmethod
    def of(cls, units: Sequence[Unit]) -> Pass:
        """Put units side by side; what only some of their beginnings share becomes a segment.

        >>> units = [Unit(((1,), (2,)), (Segment((3,)),)), Unit(((1,), (4,)), (Segment((3,)),))]
        >>> [(segment.tokens, segment.after) for segment in Pass.of(units).segments]
        [((2,), -1), ((3,), 0), ((4,), -1), ((3,), 2)]
        """
        shared = common([unit.beginning for unit in units])
        segments: list[Segment] = []
        places: list[range] = []
        known: dict[tuple[TokenIds, ...], int] = {}
        for unit in units:
            at = START
            for end in range(len(shared) + 1, len(unit.beginning) + 1):
                path = unit.beginning[:end]
                if path not in known:
                    known[path] = len(segments)
                    segments.append(Segment(path[-1], at))
                at = known[path]
            first = len(segments)
            for segment in unit.segments:
                after = at if segment.after == START else first + segment.after
                segments.append(replace(segment, after=after))
            places.append(range(first, len(segments)))
        return cls(shared, tuple(segments), tuple(places))


@dataclass(frozen=True)
class Asked:
    """Closed inquiries that are put to the model in one unit."""

    inquiries: tuple[Inquiry[Any], ...]
    unit: Unit
    _forks: dict[Inquiry[Any], tuple[range, LegalStrings]]
    """Per question, the segments that end in its forks."""
    _measured: dict[Inquiry[Any], int]
    """Per question with a text whose information is wanted, the segment that it is in."""

    @classmethod
    def of(
        cls,
        inquiries: tuple[Inquiry[Any], ...],
        chat: ChatTokenizer,
        legal_strings: Callable[[type[Verdict]], LegalStrings],
    ) -> Asked:
        """Lay out inquiries that are asked together: the text that they are about, the questions, their forks.

        Raises:
            JudgeFailed: a text cannot be read as plain text.
        """
        together = inquiries[0].beside
        segments: list[Segment] = []
        forks: dict[Inquiry[Any], tuple[range, LegalStrings]] = {}
        beginning: list[TokenIds] = []
        for one in together or [inquiries[0]]:
            *beginning, question = chat.chunks(one.chunks)
            if together:
                *beginning, subject = beginning
                segments = segments or [Segment(subject)]
            legal = legal_strings(one.verdict)
            first = len(segments)
            for fork in legal.forks:
                after = first + fork.after if fork.after != START else (0 if together else START)
                path = fork.path if fork.after != START else (*question, *fork.path)
                segments.append(Segment(path, after, tuple(fork.branches)))
            forks[one] = range(first, len(segments)), legal
        measured: dict[Inquiry[Any], int] = {}
        for one, (places, _) in forks.items():
            if one.measured and one.compared is not None:
                chunk, start, stop = one.compared
                place = places.start if chunk == -1 else 0
                tokens = chat.span(one.chunks[chunk], start, stop)[:MEASURED]
                segments[place] = replace(segments[place], measured=tokens)
                measured[one] = place
        return cls(inquiries, Unit(tuple(beginning), tuple(segments)), forks, measured)

    def judgments(self, found: Sequence[Found]) -> Iterator[Judgment | VerdictError]:
        """Decide each inquiry from what was found of the unit's segments."""
        for inquiry in self.inquiries:
            places, legal = self._forks[inquiry.alone]
            try:
                probabilities = shares(legal, [one.scores for one in found[places.start : places.stop]])
            except VerdictError as error:
                yield error
                continue
            verdict, kept = decided(inquiry.verdict, probabilities)
            judgment = Judgment.of(verdict, kept, prompt_tokens=self._prompt_tokens(places.start))
            if inquiry.alone in self._measured:
                bits = found[self._measured[inquiry.alone]].bits
                judgment = judgment.model_copy(update={"bits": None if bits is None else round(bits, 2)})
            yield judgment

    def _prompt_tokens(self, place: int) -> int:
        segment = self.unit.segments[place]
        before = (
            sum(map(len, self.unit.beginning))
            if segment.after == START
            else self._prompt_tokens(segment.after)
        )
        return before + len(segment.tokens)


def asked_together(inquiries: Sequence[Inquiry[Any]]) -> Iterator[tuple[Inquiry[Any], ...]]:
    """Group inquiries that follow each other by the unit that they are put in."""

    def unit(inquiry: Inquiry[Any]) -> tuple[object, ...]:
        return (inquiry.chunks[:-1], inquiry.beside) if inquiry.beside else (inquiry.chunks, inquiry.verdict)

    for _, group in groupby(inquiries, key=unit):
        yield tuple(group)


def common(paths: Sequence[tuple[TokenIds, ...]]) -> tuple[TokenIds, ...]:
    """Return the chunks that all paths begin with.

    >>> common([((1, 2), (3,)), ((1, 2), (4,))])
    ((1, 2),)
    """
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*paths, strict=False))
    return tuple(column[0] for column in columns)


def information(scores: torch.Tensor, tokens: Sequence[int]) -> list[float]:
    """Return the bits in each token, from the scores of all tokens that could have stood there.

    Args:
        scores: shape (tokens, tokens of the vocabulary).
        tokens: those that stand there.
    """
    if not tokens:
        return []
    import torch
    from torch.nn import functional

    stood = torch.tensor(tokens, device=scores.device)
    return [
        float(nats) / math.log(2)
        for nats in functional.cross_entropy(scores.float(), stood, reduction="none")
    ]
