"""The metrics: what to ask the judge about a sample, and which scoring function gets the verdicts."""

from __future__ import annotations

from localscore.metrics.base import Answered, Metric, Plan, ask, ask_each, distinct
from localscore.metrics.context_recall import ContextRecall
from localscore.metrics.context_relevance import ContextRelevance

METRICS: dict[str, type[Metric]] = {
    ContextRelevance.name: ContextRelevance,
    ContextRecall.name: ContextRecall,
}
"""Every metric by its name."""

__all__ = [
    "METRICS",
    "Answered",
    "ContextRecall",
    "ContextRelevance",
    "Metric",
    "Plan",
    "ask",
    "ask_each",
    "distinct",
]
