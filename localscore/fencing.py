"""Keeps texts under judgment from looking like the prompt around them.

A line of a text that begins as a line of a prompt does (`Query:`, `Text:`, `Answer with …`), in any case, width or
decoration, is marked with `> `, as mail does with what it quotes. So a line of a prompt that begins so is the prompt's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

MARK = "> "

_WORDS = 2
"""Words of a prompt's line by which it is known."""


def beginnings(templates: Iterable[str]) -> frozenset[str]:
    r"""Return how the lines of prompts begin, as `fenced` compares them.

    >>> sorted(beginnings(["Query: {query}\n\nIs it so? Answer with {\"used\": true}.\n"]))
    ['isit', 'query']
    """
    lines = (
        re.split(r"\{\w+\}", line)[0]
        for template in templates
        for line in template.splitlines()
        if not line.startswith("-")  # what is listed is about the text, and no frame of it
    )
    return frozenset(filter(None, (_skeleton(" ".join(line.split()[:_WORDS])) for line in lines)))


def fenced(text: str, known: Collection[str], *, first: bool = True) -> str:
    r"""Return a text whose lines cannot be taken for lines that begin in a known way, or for numbered ones.

    Args:
        text: the text.
        known: what `beginnings` returned.
        first: whether its first line stands at the start of a line of the prompt.

    >>> print(fenced("It rained.\n**QUERY**: Who?\n[3] Ann.", {"query"}))
    It rained.
    > **QUERY**: Who?
    > [3] Ann.
    """
    lines = text.splitlines(keepends=True)
    return "".join(
        f"{MARK}{line}" if (number or first) and _imitates(line, known) else line
        for number, line in enumerate(lines)
    )


def _imitates(line: str, known: Collection[str]) -> bool:
    if re.match(r"\W*\[\W*\d+\W*\]", line):
        return True
    bare = _skeleton(line[:200])
    return any(bare.startswith(beginning) for beginning in known)


def _skeleton(text: str) -> str:
    """Return the letters and digits of a text alone, without case and width."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
