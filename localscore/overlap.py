"""Word overlap: a judge without a model, the contestant that every other judge has to beat.

How much of the query, the claim or the answer is found in the context, each word weighted by how rare it is among
the texts at hand. For claims it is plain sentence splitting.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from localscore.labelled import KINDS, Kind, Labelled
from localscore.texts import sentences

STEM = 5
"""Letters kept of a word, so that its endings do not matter."""

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+)"
)
"""Runs of scripts that are written without spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_THOUSANDS = re.compile(r"(?<=\d)[,٬\u00a0\u202f](?=\d{3}(?!\d))")


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared: without case, marks and endings.

    Where a script puts no spaces between words, each two neighbouring characters stand for one.

    >>> words("The OPENING cost 1,200 francs.")
    ('the', 'openi', 'cost', '1200', 'franc')
    >>> words("橋は1931年に")
    ('橋は', '1931', '年に')
    """
    found: list[str] = []
    for word in _WORD.findall(_normalised(text)):
        for part in filter(None, _UNSPACED.split(word)):
            if _UNSPACED.match(part):
                found += [part[i : i + 2] for i in range(max(1, len(part) - 1))]
            else:
                found.append(part if part.isdecimal() else part[:STEM])
    return tuple(found)


def rarity(texts: Iterable[str]) -> dict[str, float]:
    """Return a weight for each word of these texts: the fewer hold it, the heavier.

    >>> weights = rarity(["Ann ran", "Ann swam", "Ann sang"])
    >>> weights["ran"] > weights["ann"]
    True
    """
    texts = set(texts)
    holding = Counter(word for text in texts for word in set(words(text)))
    return {word: math.log(1 + len(texts) / (0.5 + count)) for word, count in holding.items()}


def share(of: str, found_in: str, weights: Mapping[str, float]) -> float:
    """Return how much of a text's words is found in another; a word without a weight is the rarest of all.

    >>> share("Ann ran", "It was Ann.", {"ann": 1.0, "ran": 3.0})
    0.25
    """
    rarest = max(weights.values(), default=1.0)
    looked_for, there = set(words(of)), set(words(found_in))
    weigh = {word: weights.get(word, rarest) for word in sorted(looked_for)}
    whole = math.fsum(weigh.values())
    return math.fsum(weight for word, weight in weigh.items() if word in there) / whole if whole else 0.0


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


def _normalised(text: str) -> str:
    """Fold case and digits of all scripts, and take off the marks that are characters of their own."""
    folded = unicodedata.normalize("NFKC", _THOUSANDS.sub("", text)).casefold()
    kept = (c for c in folded if _UNSPACED.match(c) or not unicodedata.category(c).startswith("M"))
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in kept)
