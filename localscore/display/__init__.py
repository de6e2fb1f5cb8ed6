"""Results as a notebook shows them: pieces of HTML, small, and without a colour of their own.

    score.html       a score and its reason
    sample.html      a sample with its verdicts
    run.html         the means of a run, and its first samples
    comparison.html  two runs side by side, and the samples that moved most

They stand in a page of somebody else's that may run scripts and typesets what is between dollar signs. So all that was
judged is escaped, has its direction of writing to itself, and is marked as nothing to typeset. Style and scripts would
not survive everywhere, and are not needed.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

ROWS_SHOWN = 10
"""Of each table; what is left out is counted."""


def fragment(template: str, **shown: Any) -> str:
    """Return a piece of HTML made from a template of this folder.

    >>> from localscore.errors import OutputTruncated
    >>> from localscore.results import ScoreResult
    >>> print(fragment("score.html", score=ScoreResult.failed(OutputTruncated("No end of <script>"))))
    <div class="localscore tex2jax_ignore mathjax_ignore">
    <p><strong>–</strong> failed</p>
    <p><bdi>No score: No end of &lt;script&gt;</bdi></p>
    </div>
    """
    from localscore.templates import encodable  # noqa: PLC0415  (Jinja takes its time)

    return encodable(_environment().get_template(template).render(rows=ROWS_SHOWN, **shown)).strip()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from localscore.templates import environment  # noqa: PLC0415

    return environment(lambda name: (files("localscore") / "display" / name).read_text(encoding="utf-8"))
