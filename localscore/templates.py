"""Templates of Jinja, whose names are filled in escaped, whatever they hold, and numbers as all pages write them."""

from __future__ import annotations

import re
from collections.abc import Callable

from jinja2 import Environment, FunctionLoader, StrictUndefined

from localscore.texts import shorten

_LONE = re.compile("[\ud800-\udfff]")


def environment(read: Callable[[str], str]) -> Environment:
    """Return an environment whose templates are read by their names.

    >>> environment(lambda name: "<p>{{ text }} {{ 0.125 | signed }}</p>").get_template("any").render(text="<script>")
    '<p>&lt;script&gt; +0.12</p>'
    """
    made = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": _number,
        "count": _count,
        "signed": _signed,
        "share": _share,
        "shorten": shorten,
    }
    return made


def encodable(text: str) -> str:
    r"""Return a text that UTF-8 can hold: half of a pair, which has no place in a file, is replaced.

    >>> encodable("a\ud83d")
    'a\ufffd'
    """
    return _LONE.sub("\ufffd", text)


def _number(value: float | None, decimals: int = 2) -> str:
    return "–" if value is None else f"{value:.{decimals}f}".replace("-", "−")


def _signed(value: float | None, decimals: int = 2) -> str:
    if value is None:
        return "–"
    shown = f"{value:+.{decimals}f}"
    return (shown if float(shown) else shown[1:]).replace("-", "−")


def _count(value: int) -> str:
    return f"{value:,}"


def _share(part: float, whole: float) -> str:
    """Return a part of a whole in per cent."""
    return f"{100 * part / whole:.0f} %" if whole else "–"
