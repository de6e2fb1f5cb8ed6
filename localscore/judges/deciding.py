"""Probabilities → a closed verdict.

The legal JSON strings of a closed verdict are few. Laid side by side as token sequences they form a tree, whose
forks are the only places where the judge has a say; everything between forks is forced by the schema. The
probability of a value is the product of its shares at the forks, which is the distribution that constrained
decoding samples from, kept whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from localscore.errors import NotANumber
from localscore.verdicts import V, Verdict, legal_values

TokenIds = tuple[int, ...]


@dataclass
class Fork:
    """A place where legal strings part: per next token, what must follow it, up to the next fork or the end."""

    branches: dict[int, Branch] = field(default_factory=dict)


@dataclass
class Branch:
    """What follows a token: the label of the value when it is decided, or more tokens and another fork."""

    label: str = ""
    forced: TokenIds = ()
    fork: Fork | None = None


@dataclass(frozen=True)
class LegalStrings:
    """The legal strings of a closed verdict as tokens: what they share, and the forks after it."""

    start: TokenIds
    root: Fork


def legal_strings(verdict: type[Verdict], ids: Callable[[str], TokenIds]) -> LegalStrings:
    """Return the tree of a closed verdict's legal strings under a tokenizer."""
    strings = {value.label(): ids(value.spelled()) for value in legal_values(verdict)}
    if len(strings) == 1:
        [(label, string)] = strings.items()
        return LegalStrings(string[:-1], Fork({string[-1]: Branch(label)}))
    start, root = _grown(strings)
    return LegalStrings(start, root)


def _grown(strings: Mapping[str, TokenIds]) -> tuple[TokenIds, Fork]:
    shared = _shared_beginning(list(strings.values()))
    groups: dict[int, dict[str, TokenIds]] = {}
    for label, string in strings.items():
        groups.setdefault(string[len(shared)], {})[label] = string[len(shared) + 1 :]
    fork = Fork()
    for token, rest in groups.items():
        if len(rest) == 1:
            fork.branches[token] = Branch(label=next(iter(rest)))
        else:
            forced, deeper = _grown(rest)
            fork.branches[token] = Branch(forced=forced, fork=deeper)
    return shared, fork


def _shared_beginning(strings: Sequence[TokenIds]) -> TokenIds:
    """Return the tokens that all strings begin with.

    >>> _shared_beginning([(1, 2, 3), (1, 2, 4)])
    (1, 2)
    """
    columns = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*strings, strict=False))
    return tuple(column[0] for column in columns)


def shares(
    root: Fork, scores: Sequence[float], read: Callable[[TokenIds], Sequence[float]]
) -> dict[str, float]:
    """Return the probability of each legal value, by label.

    Args:
        root: the first fork.
        scores: the judge's log-scores of all tokens at the first fork.
        read: returns the log-scores after some tokens that follow the prompt.

    Raises:
        NotANumber: a score is NaN or infinite.

    >>> fork = Fork({7: Branch("true"), 8: Branch("false")})
    >>> shares(fork, [0.0] * 9, lambda tokens: [])
    {'true': 0.5, 'false': 0.5}
    """
    found: dict[str, float] = {}

    def walk(fork: Fork, scores: Sequence[float], path: TokenIds, probability: float) -> None:
        at = [float(scores[token]) for token in fork.branches]
        if not all(map(math.isfinite, at)):
            raise NotANumber("The judge's scores of the legal values are not finite numbers.")
        top = max(at)
        weights = [math.exp(score - top) for score in at]
        total = math.fsum(weights)
        for (token, branch), weight in zip(fork.branches.items(), weights, strict=True):
            share = probability * weight / total
            if branch.fork is None:
                found[branch.label] = share
            else:
                further = (*path, token, *branch.forced)
                walk(branch.fork, read(further), further, share)

    walk(root, scores, (), 1.0)
    return found


def decided(verdict: type[V], probabilities: Mapping[str, float]) -> tuple[V, dict[str, float]]:
    """Return the most probable value, and all probabilities rounded as they are kept.

    The choice is made on the kept digits, so that what is stored always explains the verdict; of values that
    are level, the first in the schema's order is taken.

    >>> from localscore.verdicts import Usage
    >>> decided(Usage, {"false": 0.50004, "true": 0.49996})[0]
    Usage(used=True)
    """
    by_label = _by_label(verdict)
    kept = {label: round(probabilities[label], 4) for label in by_label}
    label = max(kept, key=kept.__getitem__)
    return by_label[label], kept


@lru_cache(maxsize=512)
def _by_label(verdict: type[V]) -> dict[str, V]:
    return {value.label(): value for value in legal_values(verdict)}
