from __future__ import annotations

import math
from typing import Literal

import pytest

from localscore.errors import NotANumber
from localscore.judges.deciding import Fork, TokenIds, legal_strings, shares
from localscore.verdicts import Evidence, Relevance, Usage, Verdict, decided


def characters(text: str) -> TokenIds:
    """A tokenizer with one token per character, so that every string forks as late as it can."""
    return tuple(map(ord, text))


def labels(fork: Fork) -> dict[str, str | int]:
    return {chr(token): branch for token, branch in fork.branches.items()}


def test_what_all_legal_strings_share_is_not_decided() -> None:
    [fork] = legal_strings(Relevance, characters).forks
    assert "".join(map(chr, fork.path)) == '{"level": "'
    assert labels(fork) == {"h": "high", "m": "medium", "l": "low", "n": "none"}


def test_a_number_that_begins_another_is_told_from_it_by_what_follows() -> None:
    first, after_one = legal_strings(Evidence.among(12), characters).forks
    assert labels(first)["1"] == 1
    assert (after_one.after, "".join(map(chr, after_one.path))) == (0, "1")
    assert labels(after_one) == {"}": "1", "0": "10", "1": "11", "2": "12"}


def test_what_is_forced_between_two_forks_is_on_the_path_to_the_second() -> None:
    class Kind(Verdict):
        kind: Literal["part-one", "part-two", "none"]

    first, second = legal_strings(Kind, characters).forks
    assert "".join(map(chr, first.path)) == '{"kind": "'
    assert "".join(map(chr, second.path)) == "part-"
    assert labels(second) == {"o": "part-one", "t": "part-two"}


def test_shares_are_the_products_at_the_forks() -> None:
    # The judge gives 1 three times the weight of 2, and after 1 an even chance to each of } 0 1 2.
    legal = legal_strings(Evidence.among(12), characters)
    weights = {"1": math.log(3), "2": 0.0}
    scores = [[weights.get(chr(token), -1000.0) for token in legal.forks[0].branches], [0.0] * 4]
    found = shares(legal, scores)
    assert found["2"] == pytest.approx(0.25)
    assert [found[label] for label in ("1", "10", "11", "12")] == pytest.approx([0.75 / 4] * 4)
    assert math.fsum(found.values()) == pytest.approx(1.0)


def test_a_single_legal_value_is_certain() -> None:
    assert shares(legal_strings(Evidence.among(1), characters), [[0.3]]) == {"1": 1.0}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_are_an_error_and_never_a_verdict(bad: float) -> None:
    with pytest.raises(NotANumber):
        shares(legal_strings(Usage, characters), [[bad, 0.0]])


def test_the_verdict_is_the_largest_of_the_kept_digits() -> None:
    probabilities = {"high": 0.1, "medium": 0.2, "low": 0.30004, "none": 0.39996}
    verdict, kept = decided(Relevance, probabilities)
    assert (verdict.level, kept["low"], kept["none"]) == ("none", 0.3, 0.4)


def test_level_values_are_decided_by_the_order_of_the_schema() -> None:
    assert decided(Usage, {"false": 0.500004, "true": 0.499996})[0].used is True
