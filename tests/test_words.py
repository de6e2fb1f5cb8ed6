from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.words import rarity, share, words


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


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_share_is_between_none_and_all(one: str, other: str) -> None:
    weights = rarity([one, other])
    assert 0 <= share(one, other, weights) <= 1
    assert share(one, one, weights) == (1.0 if words(one) else 0.0)
