"""What differs between two runs of what ought to be the same, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localscore.manifests import Manifest
from localscore.results import SampleResult

NAMED = 5
"""Ids that a message names; of more it gives the number."""


def differing(
    before: Manifest, after: Manifest, pairs: Sequence[tuple[SampleResult, SampleResult]]
) -> Iterator[str]:
    """Yield what differs: judge, prompts, options of a metric, queries, ground truths."""
    if before.judge.get("fingerprint") != after.judge.get("fingerprint"):
        yield f"other judges ({_judges(before.judge, after.judge)})"
    if before.prompts != after.prompts:
        yield f"other prompts (sha256 {before.prompts[:12]}… and {after.prompts[:12]}…)"
    theirs = {told["name"]: told for told in after.metrics}
    for told in before.metrics:
        name = told["name"]
        if name in theirs and theirs[name] != told:
            yield f"other options of {name} ({_options(told, theirs[name])})"
    for field, words in (("query", "queries"), ("ground_truth", "ground truths")):
        ids = [one.id for one, other in pairs if getattr(one.sample, field) != getattr(other.sample, field)]
        if ids:
            yield f"other {words} for {len(ids)} of {len(pairs)} samples ({listed(ids)})"


def _judges(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    if one.get("name") != other.get("name"):
        return f"{one.get('name')} and {other.get('name')}"
    keys = [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
    return f"{one.get('name')} with other {', '.join(sorted(set(keys) - {'fingerprint'}) or ['files'])}"


def _options(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    one, other = _flat(one), _flat(other)
    return ", ".join(
        f"{key} {one.get(key)} and {other.get(key)}"
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    )


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in options.items():
        flat |= value if isinstance(value, Mapping) else {key: value}
    return flat


def listed(ids: Sequence[str]) -> str:
    """Name the first few ids.

    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more
