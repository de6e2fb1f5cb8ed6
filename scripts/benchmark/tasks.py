"""What is asked: the samples, and per task the metric whose inquiries are put to everyone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from localscore import datasets
from localscore.metrics import ContextRecall, ContextRelevance, Metric
from localscore.metrics.attribution import attributed
from localscore.metrics.base import Plan
from localscore.results import ScoreResult
from localscore.samples import Sample
from localscore.scoring import context_recall, context_relevance

SAMPLES = Path(__file__).with_name("samples.jsonl")


@dataclass(frozen=True)
class EachContext(ContextRelevance):
    """Context relevance without the questions about all contexts: closed verdicts alone."""

    name: ClassVar[str] = "each_context"

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask for the level and usage of each context."""
        levels, used, _ = yield from self._each_context(sample.query, sample.contexts, sample.answer or "")
        return context_relevance([x.verdict.level for x in levels], [x.verdict.used for x in used], [])


@dataclass(frozen=True)
class GivenClaims(Metric):
    """Context recall with claims that are given: closed verdicts alone."""

    name: ClassVar[str] = "given_claims"

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask for the attribution of each claim, and its evidence."""
        attributions, _ = yield from attributed(claims(sample), sample.contexts)
        return context_recall([x.verdict.supported for x in attributions], claims=claims(sample))


@dataclass(frozen=True)
class Task:
    """Something that all contestants do."""

    name: str
    title: str
    metric: Metric
    needs_claims: bool = False
    one_prompt: bool = False
    """Whether scorers that put everything into one prompt take part."""

    def samples(self, most: int, contexts: int | None = None) -> list[Sample]:
        """Return the first samples that it can be done with, those with so many contexts where that is given."""
        fit = [s for s in all_samples() if claims(s) or not self.needs_claims]
        return [s for s in fit if contexts in (None, len(s.contexts))][:most]


TASKS = (
    Task("relevance", "level and usage of each context", EachContext(), one_prompt=True),
    Task("recall", "attribution and evidence of each given claim", GivenClaims(), needs_claims=True),
    Task("written-recall", "the judge writes the claims, then attributes each", ContextRecall()),
    Task("whole-relevance", "all that context relevance asks", ContextRelevance(), one_prompt=True),
)


def all_samples() -> list[Sample]:
    """Return all samples of the benchmark."""
    return list(datasets.read(SAMPLES).samples)


def claims(sample: Sample) -> tuple[str, ...]:
    """Return the claims that are given with a sample."""
    return tuple(sample.metadata.get("claims", ()))
