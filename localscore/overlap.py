"""Word overlap: a judge without a model, the contestant that every other judge has to beat.

How much of the query, the claim or the answer is found in the context, each word weighted by how rare it is among
the texts at hand. For claims it is plain sentence splitting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from localscore.labelled import KINDS, Kind, Labelled
from localscore.texts import sentences
from localscore.words import rarity, share


def overlap(item: Labelled, weights: Mapping[str, float]) -> float | tuple[str, ...]:
    """Return what word overlap says of a record: a number from 0 to 1, or for claims the sentences.

    Of several contexts the best counts. Whether a context was used shows from both sides: how much of the answer it
    holds, and how much of it the answer holds.

    >>> overlap(Labelled("usage", "1", True, "Who ran?", ("Ann ran.",), "Ann."), {})
    0.75
    """
    match item.kind:
        case "claims":
            return sentences(item.text)
        case "usage":
            [context] = item.contexts
            return (share(item.answer, context, weights) + share(context, item.answer, weights)) / 2
        case _:
            return max(share(item.text, context, weights) for context in item.contexts)


def overlaps(items: Sequence[Labelled]) -> list[float | tuple[str, ...]]:
    """Return what word overlap says of each record; how rare a word is, is told by all contexts of a kind.

    >>> overlaps([Labelled("claims", "1", (), "Ann ran. Bob swam.")])
    [('Ann ran.', 'Bob swam.')]
    """
    weights: dict[Kind, dict[str, float]] = {
        kind: rarity(context for item in items if item.kind == kind for context in item.contexts)
        for kind in KINDS
    }
    return [overlap(item, weights[item.kind]) for item in items]
