"""Context precision: what to ask, and which scoring function gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from localscore import inquiries
from localscore.errors import VerdictCountMismatch
from localscore.inquiries import Inquiry, together
from localscore.metrics.base import Metric, Plan
from localscore.metrics.parts import ask_parts, halved_pair
from localscore.results import Findings, RankedContext, ScoreResult
from localscore.samples import Sample
from localscore.scoring import context_precision, nothing_to_compare
from localscore.scoring.numbers import exact


@dataclass(frozen=True)
class ContextPrecision(Metric):
    """Are the contexts that matter ranked first?

    Each context is judged by itself: is it of use for the ground truth, or for the answer where there is no ground
    truth? The question is that of usage, so that the verdicts are shared with context relevance where the text is the
    answer.

    >>> ContextPrecision(scale=100).parameters
    {'scale': 100.0}
    """

    name: ClassVar[str] = "context_precision"
    uses: ClassVar[tuple[str, ...]] = ("ground_truth", "answer")
    finds: ClassVar[tuple[str, ...]] = ("ranked",)

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask about a sample, and score what the judge says."""
        text = _compared(sample)
        if not text or not sample.contexts:
            return self.score(sample, Findings())

        def question(pair: tuple[str, str]) -> tuple[Inquiry[Any], ...]:
            beside: Inquiry[Any] = inquiries.relevance(sample.query, pair[0])
            return together(beside, inquiries.usage(sample.query, *pair))[1:]

        told = [i for i, context in enumerate(sample.contexts) if context.strip()]
        found = yield from ask_parts([(sample.contexts[i], text) for i in told], question, halved_pair)
        ranked = {i: RankedContext(index=i, relevant=False) for i in range(len(sample.contexts))}
        for i, parts in zip(told, found, strict=True):
            best = max((part.answers[0] for part in parts), key=lambda answer: answer.probabilities["true"])
            ranked[i] = RankedContext(index=i, relevant=best.verdict.used, probability=best.probability)
        return self.score(sample, Findings(ranked=tuple(ranked.values())))

    def score(self, sample: Sample, findings: Findings) -> ScoreResult:
        """Score the contexts that were found to matter."""
        if not _compared(sample):
            return nothing_to_compare()
        if len(findings.ranked) != len(sample.contexts):
            raise VerdictCountMismatch(
                f"Got verdicts on {len(findings.ranked)} contexts of {len(sample.contexts)}; expected one each."
            )
        relevant = [context.relevant for context in findings.ranked]
        probabilities = [_of_relevance(context) for context in findings.ranked]
        result = context_precision(relevant, scale=self.scale, probabilities=probabilities)
        return result.model_copy(update={"findings": findings})


def _compared(sample: Sample) -> str:
    """Return the text that contexts are to be of use for: the ground truth, else the answer."""
    texts = (sample.ground_truth or "", sample.answer or "")
    return next((text for text in texts if text.strip()), "")


def _of_relevance(context: RankedContext) -> float:
    if context.probability is None:
        return float(context.relevant)
    return context.probability if context.relevant else float(1 - exact(context.probability))
