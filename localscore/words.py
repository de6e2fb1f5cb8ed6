"""The words of a text as they are compared, in any script, and how many of them two texts share."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

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


def _normalised(text: str) -> str:
    """Fold case and digits of all scripts, and take off the marks that are characters of their own."""
    folded = unicodedata.normalize("NFKC", _THOUSANDS.sub("", text)).casefold()
    kept = (c for c in folded if _UNSPACED.match(c) or not unicodedata.category(c).startswith("M"))
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in kept)
