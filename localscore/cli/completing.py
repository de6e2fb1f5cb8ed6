"""What a shell offers after `--judge` and `--metrics`."""

from __future__ import annotations


def judges(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of judges that begin so, those on this machine first; a shell adds files and folders.

    >>> [name for name, note in judges("smol")]
    ['smollm2-135m']
    """
    from localscore.judges.cards import cards
    from localscore.judges.store import installed

    known = sorted(cards(), key=lambda card: not installed(card))
    return [
        (name, f"{card.parameters / 1e9:.2f} B, {'here' if installed(card) else 'not pulled yet'}")
        for card in known
        for name in (*card.aliases, card.name)
        if name.startswith(incomplete)
    ]


def metrics(incomplete: str) -> list[tuple[str, str]]:
    """Return the list of metrics with a last name that begins so, but for those that are in it.

    >>> [told for told, note in metrics("faithfulness,context_re")]
    ['faithfulness,context_relevance', 'faithfulness,context_recall']
    """
    from localscore.metrics import METRICS

    *before, last = incomplete.split(",")
    return [
        (",".join([*before, name]), (metric.__doc__ or "").strip().splitlines()[0])
        for name, metric in METRICS.items()
        if name.startswith(last) and name not in before
    ]
