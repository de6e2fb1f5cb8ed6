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
from dataclasses import dataclass

from localscore.errors import NotANumber
from localscore.verdicts import Verdict, legal_values

TokenIds = tuple[int, ...]

START = -1
"""The place before all others, where one is named by its index."""


@dataclass(frozen=True)
class Fork:
    """A place where legal strings part.

    `path` leads here from the fork `after` it: the token chosen there and what it forces. `branches` holds, per
    next token, the label of the value that it decides, or the index of the fork that it leads to.
    """

    after: int
    path: TokenIds
    branches: Mapping[int, str | int]


@dataclass(frozen=True)
class LegalStrings:
    """The legal strings of a closed verdict as tokens: the forks between them, each after the one before it."""

    forks: tuple[Fork, ...]


def legal_strings(verdict: type[Verdict], ids: Callable[[str], TokenIds]) -> LegalStrings:
    """Return the forks of a closed verdict's legal strings under a tokenizer.

    >>> from localscore.verdicts import Usage
    >>> [fork] = legal_strings(Usage, lambda text: tuple(map(ord, text))).forks
    >>> "".join(map(chr, fork.path)), {chr(token): label for token, label in fork.branches.items()}
    ('{"used": ', {'t': 'true', 'f': 'false'})
    """
    forks: list[Fork | None] = []

    def grow(after: int, chosen: TokenIds, strings: Mapping[str, TokenIds]) -> int:
        forced = _shared_beginning(list(strings.values()))
        if len(strings) == 1:
            forced = forced[:-1]
        index = len(forks)
        forks.append(None)
        groups: dict[int, dict[str, TokenIds]] = {}
        for label, string in strings.items():
            groups.setdefault(string[len(forced)], {})[label] = string[len(forced) + 1 :]
        branches: dict[int, str | int] = {}
        for token, rest in groups.items():
            branches[token] = next(iter(rest)) if len(rest) == 1 else grow(index, (token,), rest)
        forks[index] = Fork(after, (*chosen, *forced), branches)
        return index

    grow(START, (), {value.label(): ids(value.spelled()) for value in legal_values(verdict)})
    return LegalStrings(tuple(fork for fork in forks if fork is not None))


def _shared_beginning(strings: Sequence[TokenIds]) -> TokenIds:
    """Return the tokens that all strings begin with.

    >>> _shared_beginning([(1, 2, 3), (1, 2, 4)])
    (1, 2)
    """
    columns = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*strings, strict=False))
    return tuple(column[0] for column in columns)


def shares(legal: LegalStrings, scores: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the probability of each legal value, by label.

    Args:
        legal: the legal strings.
        scores: per fork, the judge's log-scores of its branches, in their order.

    Raises:
        NotANumber: a score is NaN or infinite.

    >>> from localscore.verdicts import Usage
    >>> shares(legal_strings(Usage, lambda text: tuple(map(ord, text))), [[0.0, 0.0]])
    {'true': 0.5, 'false': 0.5}
    """
    found: dict[str, float] = {}
    reached = {0: 1.0}
    for index, (fork, at) in enumerate(zip(legal.forks, scores, strict=True)):
        if not all(map(math.isfinite, at)):
            raise NotANumber("The judge's scores of the legal values are not finite numbers.")
        top = max(at)
        weights = [math.exp(score - top) for score in at]
        total = math.fsum(weights)
        for branch, weight in zip(fork.branches.values(), weights, strict=True):
            share = reached[index] * weight / total
            if isinstance(branch, int):
                reached[branch] = share
            else:
                found[branch] = share
    return found
