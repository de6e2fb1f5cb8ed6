from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.labelled import Labelled
from localscore.overlap import overlap, overlaps, rarity, share, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Openings", "OPENING"),
        ("1,200", "1200"),
        ("1\u202f200", "1200"),
        ("١٩٣١", "1931"),
        ("ｆｕｌｌ １２", "full 12"),
        ("cafe\u0301", "caf\u00e9"),
        ("كِتَاب", "كتاب"),
        ("l'été", "L’ÉTÉ"),
    ],
)
def test_words_are_compared_without_what_does_not_matter(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("... — !", ()),
        ("橋", ("橋",)),
        ("大きい橋", ("大き", "きい", "い橋")),
        ("สะพาน", ("สะ", "ะพ", "พา", "าน")),
        ("हिन्दी भाषा", ("हनद", "भष")),
        ("snake_case", ("snake", "case")),
        ("123456789", ("123456789",)),
        ("1,20", ("1", "20")),
    ],
)
def test_words_of_many_scripts(text: str, found: tuple[str, ...]) -> None:
    assert words(text) == found


def test_rare_words_weigh_more() -> None:
    weights = rarity(["the bridge", "the river", "the town"])
    found = share("the bridge", "A bridge.", weights)
    # By hand: ln(1 + 3/1.5) for "bridge", ln(1 + 3/3.5) for "the".
    assert found == pytest.approx(1.0986 / (1.0986 + 0.6190), abs=1e-4)
    assert found > share("the bridge", "The town.", weights)


def test_the_best_context_counts() -> None:
    item = Labelled("attribution", "1", True, "Ann ran home.", ("Ann slept.", "It was Ann who ran.", "Home."))
    assert overlap(item, {}) == pytest.approx(2 / 3)


def test_usage_looks_from_both_sides() -> None:
    long = Labelled("usage", "1", True, "Who ran?", ("Ann ran. Bob slept until noon.",), "Ann ran.")
    assert overlap(long, {}) == pytest.approx((1 + 2 / 6) / 2)


def test_claims_are_split_into_sentences() -> None:
    assert overlaps([Labelled("claims", "1", (), "Ann ran. Bob slept.")]) == [("Ann ran.", "Bob slept.")]


def test_rarity_is_told_by_the_records_of_one_kind() -> None:
    relevance = [
        Labelled("relevance", str(n), "none", "bridge", (text,)) for n, text in enumerate(["bridge", "sea"])
    ]
    usage = Labelled("usage", "3", True, "Who?", ("bridge " * 9,), "bridge")
    assert overlaps([*relevance, usage]) == [1.0, 0.0, 1.0]


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_share_is_between_none_and_all(one: str, other: str) -> None:
    weights = rarity([one, other])
    assert 0 <= share(one, other, weights) <= 1
    assert share(one, one, weights) == (1.0 if words(one) else 0.0)
