"""Context relevance: what to ask, and which scoring function gets it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from localscore import inquiries
from localscore.errors import VerdictCountMismatch
from localscore.inquiries import Inquiry
from localscore.metrics.base import Answered, Metric, Plan, ask, ask_each
from localscore.results import ContextVerdict, Findings, ScoreResult, SufficiencyVerdict
from localscore.samples import Sample
from localscore.scoring import Penalties, context_relevance
from localscore.texts import meaningful
from localscore.verdicts import Relevance, Usage


@dataclass(frozen=True)
class ContextRelevance(Metric):
    """How relevant and useful was the context that the answer was built from?

    Each context is judged by itself, for its level and for whether the answer draws on it. Missing items are
    asked for only after the judge has decided that the contexts together do not suffice.

    >>> ContextRelevance(scale=10, penalties=Penalties(missing_context_per_item=0.1)).parameters["scale"]
    10.0
    """

    name: ClassVar[str] = "context_relevance"
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    finds: ClassVar[tuple[str, ...]] = ("contexts", "sufficiency", "missing")

    penalties: Penalties = field(default_factory=Penalties)

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask about a sample, and score what the judge says."""
        contexts = sample.contexts
        if not contexts:
            return self.score(sample, Findings())

        answer = sample.answer or ""
        levels, used = yield from self._each_context(sample.query, contexts, answer)
        sufficiency = yield from ask(inquiries.sufficiency(sample.query, contexts))
        missing: tuple[str, ...] = ()
        if not sufficiency.verdict.sufficient:
            named = yield from ask(inquiries.missing_context(sample.query, contexts))
            missing = meaningful(named.verdict.missing)

        found = tuple(
            ContextVerdict(
                index=i,
                level=level.verdict.level,
                used=use.verdict.used,
                probabilities={"level": dict(level.probabilities), "used": dict(use.probabilities)},
            )
            for i, (level, use) in enumerate(zip(levels, used, strict=True))
        )
        enough = SufficiencyVerdict(
            sufficient=sufficiency.verdict.sufficient, probability=sufficiency.probability
        )
        return self.score(sample, Findings(contexts=found, sufficiency=enough, missing=missing))

    def score(self, sample: Sample, findings: Findings) -> ScoreResult:
        """Score the levels, usages and missing items that were found."""
        found = findings.contexts
        if len(found) != len(sample.contexts):
            raise VerdictCountMismatch(
                f"Got verdicts on {len(found)} contexts of {len(sample.contexts)}; expected one each."
            )
        known = all({"level", "used"} <= context.probabilities.keys() for context in found)
        result = context_relevance(
            [context.level for context in found],
            [context.used for context in found],
            findings.missing,
            penalties=self.penalties,
            scale=self.scale,
            level_probabilities=[context.probabilities["level"] for context in found] if known else None,
            used_probabilities=[context.probabilities["used"] for context in found] if known else None,
        )
        return result.model_copy(update={"findings": findings})

    @staticmethod
    def _each_context(
        query: str, contexts: tuple[str, ...], answer: str
    ) -> Plan[tuple[list[Answered[Relevance]], list[Answered[Usage]]]]:
        """Ask for level and usage of every context; blank texts need no judge.

        Both are asked together, so that a context is read once for its two questions.
        """
        told = [i for i, context in enumerate(contexts) if context.strip()]
        asked: list[Inquiry[Any]] = []
        for i in told:
            questions: list[Inquiry[Any]] = [inquiries.relevance(query, contexts[i])]
            if answer.strip():
                questions.append(inquiries.usage(query, contexts[i], answer))
            asked += inquiries.together(*questions)
        verdicts = yield from ask_each(asked)
        each = len(verdicts) // max(1, len(told))
        level_of = dict(zip(told, verdicts[::each], strict=False)) if told else {}
        usage_of = dict(zip(told, verdicts[1::each], strict=False)) if each == 2 else {}
        every = range(len(contexts))
        return [level_of.get(i, _IRRELEVANT) for i in every], [usage_of.get(i, _UNUSED) for i in every]


_IRRELEVANT = Answered.certainly(Relevance(level="none"))
_UNUSED = Answered.certainly(Usage(used=False))
