"""Cutting texts into sentences and pieces, without changing a character of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from sentencex import segment

SENTENCES_PER_PIECE = 4
"""Enough for a claim to see what its pronouns mean, few enough for a bounded list of claims."""


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    r"""Return the sentences of a text, each a verbatim substring without surrounding space.

    The splitter is rule-based, knows about 240 languages and needs no download. Lines end sentences too,
    so that tables and lists come apart.

    >>> sentences("It opened in 1931.  Dr. Ito built it.\n- 480 m long")
    ('It opened in 1931.', 'Dr. Ito built it.', '- 480 m long')
    >>> sentences("橋は1931年に完成しました。全長は480メートルです。")
    ('橋は1931年に完成しました。', '全長は480メートルです。')
    """
    found = (part.strip() for line in text.splitlines() for part in segment("en", line))
    return tuple(part for part in found if part)


def pieces(text: str) -> tuple[str, ...]:
    """Return a text as consecutive pieces of a few sentences each; a short text is one piece.

    >>> pieces("One. Two. Three.")
    ('One. Two. Three.',)
    >>> pieces("Ann runs. Bob swims. Cid reads. Dan cooks. Eve sails.")
    ('Ann runs. Bob swims. Cid reads. Dan cooks.', 'Eve sails.')
    """
    parts = sentences(text)
    if len(parts) <= SENTENCES_PER_PIECE:
        return (text.strip(),) if parts else ()
    starts = range(0, len(parts), SENTENCES_PER_PIECE)
    return tuple(" ".join(parts[i : i + SENTENCES_PER_PIECE]) for i in starts)


def shorten(text: str, width: int = 160) -> str:
    """Return a text on one line, its middle left out where it is longer than `width` characters.

    >>> shorten("abcdefghijklmnop", width=9)
    'abcd…mnop'
    """
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    if width < 3:
        return "…"[:width]
    half = (width - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def visible(text: str) -> str:
    r"""Return a text that a terminal shows and does not obey: control characters as they are written in Python.

    These are escapes, marks that turn the direction of writing, and halves of characters. Ends of lines stay.

    >>> print(visible("\x1b[2Jgone\r\u202e\n"), end="")
    \x1b[2Jgone\r\u202e
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def meaningful(statements: Iterable[str]) -> tuple[str, ...]:
    """Return statements without repeats and without those that hold no letter or digit.

    A weak judge may echo the `...` of its instructions, or say the same thing twice.

    >>> meaningful(["Ann ran.", "...", "ann  ran.", "Bob swam."])
    ('Ann ran.', 'Bob swam.')
    """
    kept: dict[str, str] = {}
    for statement in statements:
        if any(map(str.isalnum, statement)):
            kept.setdefault(" ".join(statement.split()).casefold(), statement.strip())
    return tuple(kept.values())
