from __future__ import annotations

import math

import pytest

from localscore.errors import NotANumber
from localscore.judges.deciding import Branch, Fork, TokenIds, decided, legal_strings, shares
from localscore.verdicts import Evidence, Relevance, Usage


def characters(text: str) -> TokenIds:
    """A tokenizer with one token per character, so that every string forks as late as it can."""
    return tuple(map(ord, text))


def nothing_more(tokens: TokenIds) -> list[float]:
    raise AssertionError(f"{tokens} need not be read")


def test_what_all_legal_strings_share_is_not_decided() -> None:
    legal = legal_strings(Relevance, characters)
    assert "".join(map(chr, legal.start)) == '{"level": "'
    assert {chr(token): branch.label for token, branch in legal.root.branches.items()} == {
        "h": "high",
        "m": "medium",
        "l": "low",
        "n": "none",
    }


def test_a_number_that_begins_another_is_told_from_it_by_what_follows() -> None:
    legal = legal_strings(Evidence.among(12), characters)
    one = legal.root.branches[ord("1")].fork
    assert one is not None
    assert {chr(token): branch.label for token, branch in one.branches.items()} == {
        "}": "1",
        "0": "10",
        "1": "11",
        "2": "12",
    }


def test_shares_are_the_products_at_the_forks() -> None:
    # The judge gives 1 three times the weight of 2, and after 1 an even chance to each of } 0 1 2.
    legal = legal_strings(Evidence.among(12), characters)
    scores = [-math.inf] * 128
    for digit in "23456789":
        scores[ord(digit)] = -1000.0
    scores[ord("1")], scores[ord("2")] = math.log(3), 0.0
    read: list[str] = []

    def after(tokens: TokenIds) -> list[float]:
        read.append("".join(map(chr, tokens)))
        return [0.0] * 128

    found = shares(legal.root, scores, after)
    assert found["2"] == pytest.approx(0.25)
    assert [found[label] for label in ("1", "10", "11", "12")] == pytest.approx([0.75 / 4] * 4)
    assert math.fsum(found.values()) == pytest.approx(1.0)
    assert read == ["1"]


def test_a_single_legal_value_is_certain_and_costs_nothing_more() -> None:
    legal = legal_strings(Evidence.among(1), characters)
    assert shares(legal.root, [0.0] * 128, nothing_more) == {"1": 1.0}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_are_an_error_and_never_a_verdict(bad: float) -> None:
    fork = Fork({0: Branch("true"), 1: Branch("false")})
    with pytest.raises(NotANumber):
        shares(fork, [bad, 0.0], nothing_more)


def test_the_verdict_is_the_largest_of_the_kept_digits() -> None:
    probabilities = {"high": 0.1, "medium": 0.2, "low": 0.30004, "none": 0.39996}
    verdict, kept = decided(Relevance, probabilities)
    assert (verdict.level, kept["low"], kept["none"]) == ("none", 0.3, 0.4)


def test_level_values_are_decided_by_the_order_of_the_schema() -> None:
    assert decided(Usage, {"false": 0.500004, "true": 0.499996})[0].used is True
