"""One thing that people gave a verdict on, and choosing among many."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Literal, get_args

from localscore import inquiries
from localscore.errors import OptionError
from localscore.inquiries import Inquiry, together
from localscore.texts import pieces
from localscore.verdicts import Level

Kind = Literal["relevance", "attribution", "usage", "sufficiency", "claims"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Opinion = Level | bool | tuple[str, ...]
"""A level, a yes or no, or claims: what a person or a judge says of a record."""


@dataclass(frozen=True)
class Labelled:
    """One thing that people gave a verdict on.

    >>> record = Labelled("attribution", "1", True, text="Ann ran.", contexts=("It was Ann who ran.",))
    >>> [inquiry.question for inquiry in record.inquiries()]
    ['attribution']
    """

    kind: Kind
    id: str
    gold: Opinion
    """What people said."""
    text: str
    """What it is about: the query, the claim, or the text whose claims are wanted."""
    contexts: tuple[str, ...] = ()
    answer: str = ""
    set: str = "all"
    lang: str = "en"
    cluster: str = ""
    """Records of one cluster are not independent of each other: the query, else the text."""
    binary: bool = False
    """Whether people only told at least `medium` from less, so that the exact level means nothing."""
    missing: tuple[str, ...] = ()
    """What people found missing, where they did."""
    missing_answer: tuple[str, ...] = ()
    """The words that would have answered it, where known."""

    def inquiries(self) -> tuple[Inquiry[Any], ...]:
        """Return what to ask, in the way the metrics ask it: beside the same other questions."""
        match self.kind:
            case "relevance":
                return together(inquiries.relevance(self.text, self.contexts[0]))
            case "usage":
                context = self.contexts[0]
                beside = inquiries.relevance(self.text, context)
                return together(beside, inquiries.usage(self.text, context, self.answer))[1:]
            case "attribution":
                beside_it = inquiries.evidence(self.text, self.contexts)
                return together(inquiries.attribution(self.text, self.contexts), beside_it)[:1]
            case "sufficiency":
                return (inquiries.sufficiency(self.text, self.contexts),)
            case "claims":
                return tuple(map(inquiries.claims, pieces(self.text)))


def chosen(
    items: Sequence[Labelled],
    *,
    kinds: Collection[str] = (),
    sets: Collection[str] = (),
    limit: int | None = None,
) -> tuple[Labelled, ...]:
    """Return the records of these kinds and sets (all where none is named), at most `limit` of each kind.

    The same records are chosen every time, as many from each set as there are.

    >>> items = [Labelled("claims", str(n), (), "Ann ran.", set="ab"[n > 5]) for n in range(9)]
    >>> sorted(item.set for item in chosen(items, limit=4))
    ['a', 'a', 'b', 'b']

    Raises:
        OptionError: a kind or set that no record has.
    """
    for option, names, known in (
        ("--kinds", kinds, {item.kind for item in items}),
        ("--sets", sets, {item.set for item in items}),
    ):
        for name in names:
            if name not in known:
                raise OptionError(
                    f"{option}: there are no records of {name!r}.",
                    hint=f"There are {', '.join(sorted(known))}.",
                )
    wanted = [i for i in items if (not kinds or i.kind in kinds) and (not sets or i.set in sets)]
    if not wanted:
        raise OptionError("There are no records of these kinds in these sets.")
    if limit is None:
        return tuple(wanted)
    kept: set[tuple[str, str]] = set()
    for kind in KINDS:
        of_set: dict[str, list[Labelled]] = {}
        for item in sorted((i for i in wanted if i.kind == kind), key=_shuffled):
            of_set.setdefault(item.set, []).append(item)
        dealt = filter(None, chain.from_iterable(zip_longest(*(of_set[name] for name in sorted(of_set)))))
        kept.update((item.kind, item.id) for item, _ in zip(dealt, range(limit), strict=False))
    return tuple(item for item in wanted if (item.kind, item.id) in kept)


def _shuffled(item: Labelled) -> str:
    return hashlib.sha256(item.id.encode("utf-8", "replace")).hexdigest()
