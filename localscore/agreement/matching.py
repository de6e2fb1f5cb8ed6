"""Free texts against free texts: which claims are the same, and whether a missing item was named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from localscore.words import words

SAME = 0.5
"""The likeness from which two claims count as the same."""


class Match(NamedTuple):
    """How well found claims agree with those of people."""

    precision: float
    recall: float
    f1: float


def likeness(one: str, other: str) -> float:
    """Return the F1 of the words that two texts share.

    >>> likeness("Ann ran home.", "Ann ran.")
    0.8
    """
    a, b = set(words(one)), set(words(other))
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def matched(found: Sequence[str], gold: Sequence[str]) -> Match:
    """Return precision, recall and F1 of claims, each matched with at most one of people's.

    Of all ways to match them the one of greatest likeness counts, among pairs that are alike enough.

    >>> matched(["Ann ran.", "Bob swam.", "It rained."], ["Bob swam far.", "Ann ran."])
    Match(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """
    if not found or not gold:
        return Match(0.0, 0.0, 0.0)
    alike = np.array([[likeness(one, other) for other in gold] for one in found])
    alike[alike < SAME] = 0
    pairs = int((alike[linear_sum_assignment(alike, maximize=True)] > 0).sum())
    return Match(pairs / len(found), pairs / len(gold), 2 * pairs / (len(found) + len(gold)))


def names(items: Iterable[str], missing: Iterable[str], answers: Iterable[str] = ()) -> bool:
    """Return whether one of these items names what is missing.

    It does if it holds all words of an answer to it, or at least half of its content words.

    >>> names(["the spouse of Douglass"], ["Frederick Douglass: spouse"])
    True
    >>> names(["who built it"], ["when it opened"], ["1931"])
    False
    """
    said = [set(words(item)) for item in items]
    whole = [set(words(answer)) for answer in answers]
    half = [_content(text) for text in missing]
    return any(answer and answer <= item for item in said for answer in whole) or any(
        content and 2 * len(content & item) >= len(content) for item in said for content in half
    )


def _content(text: str) -> set[str]:
    """Return the words that are not mere glue: longer ones and numbers, where there are such."""
    every = set(words(text))
    return {word for word in every if len(word) > 3 or word.isdecimal()} or every
