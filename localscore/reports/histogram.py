"""A histogram of scores in characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from rich.table import Table
from rich.text import Text

BINS = 10

_EIGHTHS = " ▏▎▍▌▋▊▉"


def histogram(title: str, scores: Sequence[float], scale: float, width: int) -> Table:
    """Return a row per tenth of the scale with a bar as long as its share of the scores; lowest first.

    A score on a border counts in the tenth above it, the highest one in the last. `width` is in columns.
    """
    counts = Counter(min(BINS - 1, int(BINS * score / scale + 1e-9)) if scale else 0 for score in scores)
    bounds = [f"{scale * i / BINS:.4g}" for i in range(BINS + 1)]
    labels = [f"{low}–{high}" for low, high in pairwise(bounds)]
    most = max(counts.values(), default=0)
    room = width - max(map(len, labels)) - len(str(most)) - 2
    table = Table.grid(padding=(0, 1, 0, 0))
    table.title, table.title_justify, table.title_style = title, "left", "bold"
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for i, label in enumerate(labels):
        n = counts[i]
        table.add_row(label, Text(f"{bar(n / most, room)} {n}" if n else "", style="" if n else "dim"))
    return table


def bar(share: float, width: int) -> str:
    """Return a bar that fills a share of some columns, to an eighth of one; what is not nothing can be seen.

    >>> bar(0.55, 5), bar(0.0001, 5), bar(1, 3)
    ('██▊', '▏', '███')
    """
    eighths = max(1, round(share * width * 8))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
