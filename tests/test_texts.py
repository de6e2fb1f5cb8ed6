from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localscore.texts import meaningful, pieces, sentences, shorten

many = settings(max_examples=200, deadline=None)

MARKS = [
    "Dr. ",
    "e.g. ",
    "A b. ",
    "x! ",
    "?",
    "。",
    "「あ」",
    "… ",
    "1.",
    "(a) ",
    '"',
    "\n",
    "\t",
    "\u2028",
    "  ",
]
texts = st.text() | st.lists(st.sampled_from(MARKS)).map("".join)


def ink(*parts: str) -> str:
    """What is left without any space."""
    return "".join("".join(parts).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" \n\t ", ()),
        ("No full stop", ("No full stop",)),
        ("  Ann ran.  Bob swam! ", ("Ann ran.", "Bob swam!")),
        ("Dr. Ito built it. It is 3.5 m long.", ("Dr. Ito built it.", "It is 3.5 m long.")),
        ("Ann ran\nand swam\r\n\r\n| a | b |", ("Ann ran", "and swam", "| a | b |")),
        ("Кто это? Это Анна.", ("Кто это?", "Это Анна.")),
    ],
)
def test_a_text_comes_apart_into_its_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@many
@given(texts)
def test_every_sentence_is_a_verbatim_part_without_surrounding_space(text: str) -> None:
    assert all(part in text and part == part.strip() != "" for part in sentences(text))


@many
@given(texts)
def test_sentences_and_pieces_lose_and_repeat_nothing(text: str) -> None:
    assert ink(*sentences(text)) == ink(*pieces(text)) == ink(text)


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (4, [4]), (5, [4, 1]), (8, [4, 4]), (9, [4, 4, 1])]
)
def test_a_piece_has_up_to_four_sentences(count: int, sizes: list[int]) -> None:
    text = " ".join(f"Ann ran {i} miles." for i in range(count))
    assert [len(sentences(piece)) for piece in pieces(text)] == sizes


def test_a_short_text_is_left_as_it_is() -> None:
    assert pieces(" Ann  ran.\n\nBob swam. ") == ("Ann  ran.\n\nBob swam.",)


@many
@given(texts, st.integers(1, 50))
def test_a_shortened_text_fits_on_one_line_of_that_width(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= width
    assert len(short.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("a  b\nc", 5, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 5, "ab…fg"),
        ("abcdefg", 6, "ab…fg"),
        ("x" * 160, 160, "x" * 160),
    ],
)
def test_only_what_is_too_long_is_cut_and_in_its_middle(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short


@pytest.mark.parametrize(
    ("statements", "kept"),
    [
        ([], ()),
        (["...", "—", " ", ""], ()),
        ([" Ann ran. "], ("Ann ran.",)),
        (["Ann ran.", "ANN  ran.", "Bob swam.", "ann\nran."], ("Ann ran.", "Bob swam.")),
        (["Straße", "STRASSE"], ("Straße",)),
        (["7", "橋"], ("7", "橋")),
    ],
)
def test_repeats_and_statements_without_a_letter_or_digit_are_dropped(
    statements: list[str], kept: tuple[str, ...]
) -> None:
    assert meaningful(statements) == kept


@many
@given(st.lists(texts))
def test_what_is_meaningful_stays_so(statements: list[str]) -> None:
    kept = meaningful(statements)
    assert meaningful(kept) == kept
    assert set(kept) <= {statement.strip() for statement in statements}
