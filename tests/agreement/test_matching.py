from __future__ import annotations

import pytest

from localscore.agreement.matching import Match, likeness, matched, names

GOLD = ("Ann ran in Rome.", "Bob slept all day.", "It rained on Monday.")


@pytest.mark.parametrize(
    ("found", "match"),
    [
        (GOLD, Match(1, 1, 1)),
        (GOLD[::-1], Match(1, 1, 1)),
        (GOLD[:2], Match(1, 2 / 3, 0.8)),
        ((*GOLD, "Cats purr."), Match(0.75, 1, 6 / 7)),
        ((GOLD[0], GOLD[0]), Match(0.5, 1 / 3, 0.4)),
        (("Cats purr.",), Match(0, 0, 0)),
        ((), Match(0, 0, 0)),
    ],
)
def test_claims_are_matched_one_to_one(found: tuple[str, ...], match: Match) -> None:
    assert matched(found, GOLD) == pytest.approx(match)


def test_a_claim_does_not_take_the_match_that_another_needs() -> None:
    """The first is like both gold claims, the second like one alone; greed would leave it without."""
    gold = ("red big house", "red big boat")
    assert matched(("red big boat house", "red boat"), gold).f1 == 1.0


def test_half_of_the_words_is_the_least_likeness() -> None:
    assert likeness("one two three four", "one two five six") == 0.5
    assert matched(["one two three four"], ["one two five six"]).f1 == 1.0
    assert matched(["one two three four"], ["one five six"]).f1 == 0.0
    assert likeness("", "...") == 0.0


@pytest.mark.parametrize(
    ("items", "named"),
    [
        (["The name of Helen Pitts Douglass"], True),
        (["who was the SPOUSE of Frederick"], True),
        (["what Frederick wrote"], False),
        (["spouse"], False),
        ([], False),
    ],
)
def test_a_missing_item_is_named_by_its_answer_or_by_half_of_its_words(items: list[str], named: bool) -> None:
    wanted = ["Frederick Douglass: spouse and children"]
    assert names(items, wanted, ["Helen Pitts Douglass"]) is named


def test_glue_words_name_nothing_unless_there_are_no_others() -> None:
    assert not names(["of the and to"], ["the date of the opening"])
    assert names(["who is it"], ["who is in it"])
