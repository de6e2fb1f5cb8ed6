"""Answers for tests, made up."""

from __future__ import annotations

from typing import Any

from localscore.agreement import Answer


def said(kind: str, number: int, gold: Any, verdict: Any, **changes: Any) -> Answer:
    """What a judge said of a record; certain of it, where nothing else is given."""
    fields: dict[str, Any] = {
        "kind": kind,
        "id": str(number),
        "set": "all",
        "lang": "en",
        "cluster": str(number),
        "binary": False,
        "key": "k",
        "gold": gold,
        "verdict": verdict,
        "overlap": 0.5,
        "seconds": 0.5,
    }
    labels = ("high", "medium", "low", "none") if kind == "relevance" else ("true", "false")
    if kind != "claims" and verdict is not None:
        given = verdict if isinstance(verdict, str) else str(verdict).lower()
        fields["probabilities"] = {label: float(label == given) for label in labels}
    return Answer(**(fields | changes))


def chances(yes: float) -> dict[str, float]:
    return {"true": yes, "false": round(1 - yes, 4)}
