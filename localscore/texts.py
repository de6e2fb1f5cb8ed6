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


SHORTEST_HALVED = 80
"""Characters; a text that is shorter is not what makes a prompt too long."""


def halves(text: str, *, overlap: bool = True) -> tuple[str, ...]:
    """Return the two halves of a text, cut at the border of sentences that is nearest to its middle.

    They are verbatim. With `overlap` the first one goes on for one more sentence, so that what two sentences say
    together is in one of the halves. What is mostly one sentence is cut between words, or where it has none,
    anywhere. A text that is too short to matter has no halves.

    >>> text = "Ann runs every day in the park. Bob swims. Cid reads books about ships. Dan cooks for his friends."
    >>> for half in halves(text):
    ...     print(half)
    Ann runs every day in the park. Bob swims. Cid reads books about ships.
    Cid reads books about ships. Dan cooks for his friends.
    """
    text = text.strip()
    if len(text) < SHORTEST_HALVED:
        return ()
    words, few = text.split(), range(0, len(text), 8)
    for parts, more in (
        (_places(text, sentences(text)), 1),
        (_places(text, sentences(text)), 0),
        (_places(text, words), len(words) // 20),
        ([range(i, min(i + 8, len(text))) for i in few], len(few) // 20),
    ):
        if len(parts) < 2:
            continue
        middle = min(range(1, len(parts)), key=lambda i: abs(parts[i].start - len(text) // 2))
        last = min(middle - 1 + (more if overlap else 0), len(parts) - 1)
        first, second = text[: parts[last].stop], text[parts[middle].start :]
        if max(len(first), len(second)) <= len(text) * 3 // 4:
            return first, second
    raise AssertionError("Halves of eight characters are never this uneven.")


def _places(text: str, parts: Iterable[str]) -> list[range]:
    """Return where parts of a text stand that follow each other in it."""
    places: list[range] = []
    for part in parts:
        start = text.index(part, places[-1].stop if places else 0)
        places.append(range(start, start + len(part)))
    return places


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
