"""The metrics: what to ask the judge about a sample, and which scoring function gets the verdicts."""

from __future__ import annotations

from localscore.metrics.base import Answered, Metric, Plan, ask, ask_each, distinct
from localscore.metrics.context_precision import ContextPrecision
from localscore.metrics.context_recall import ContextRecall
from localscore.metrics.context_relevance import ContextRelevance
from localscore.metrics.faithfulness import Faithfulness

METRICS: dict[str, type[Metric]] = {
    ContextRelevance.name: ContextRelevance,
    ContextRecall.name: ContextRecall,
    ContextPrecision.name: ContextPrecision,
    Faithfulness.name: Faithfulness,
}
"""Every metric by its name."""

__all__ = [
    "METRICS",
    "Answered",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "Faithfulness",
    "Metric",
    "Plan",
    "ask",
    "ask_each",
    "distinct",
]
