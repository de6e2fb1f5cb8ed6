"""Context relevance: what to ask, and which scoring function gets it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from localscore import inquiries
from localscore.errors import VerdictCountMismatch
from localscore.inquiries import Inquiry, together
from localscore.metrics.base import Answered, Metric, Plan
from localscore.metrics.parts import ask_parts, halved_group, halved_pair, texts_of, whole_group
from localscore.results import ContextVerdict, Findings, ScoreResult, SufficiencyVerdict
from localscore.samples import Sample
from localscore.scoring import Penalties, context_relevance
from localscore.scoring.relevance import WEIGHTS
from localscore.texts import meaningful
from localscore.verdicts import LEVELS, Relevance, Sufficiency, Usage


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
        levels, used, pieces = yield from self._each_context(sample.query, contexts, answer)
        sufficiency = yield from _sufficiency(sample.query, contexts)
        missing: tuple[str, ...] = ()
        if not sufficiency.verdict.sufficient:
            missing = yield from _missing(sample.query, contexts)

        found = tuple(
            ContextVerdict(
                index=i,
                level=level.verdict.level,
                used=use.verdict.used,
                probabilities={"level": dict(level.probabilities), "used": dict(use.probabilities)},
                pieces=pieces[i],
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
    ) -> Plan[tuple[list[Answered[Relevance]], list[Answered[Usage]], list[int]]]:
        """Ask for level and usage of every context, and into how many pieces it was cut; blank texts need no judge.

        Both are asked together, so that a context is read once for its two questions. Of a context in pieces the
        best one counts, and it was used if one of them was.
        """

        def questions(pair: tuple[str, str]) -> tuple[Inquiry[Any], ...]:
            context, said = pair
            level: Inquiry[Any] = inquiries.relevance(query, context)
            return together(level, inquiries.usage(query, context, said)) if said.strip() else together(level)

        told = [i for i, context in enumerate(contexts) if context.strip()]
        found = yield from ask_parts([(contexts[i], answer) for i in told], questions, halved_pair)
        levels, used, pieces = [_IRRELEVANT] * len(contexts), [_UNUSED] * len(contexts), [1] * len(contexts)
        for i, parts in zip(told, found, strict=True):
            levels[i] = max((part.answers[0] for part in parts), key=_relevant)
            used[i] = max((part.answers[1] for part in parts if part.answers[1:]), key=_yes, default=_UNUSED)
            pieces[i] = len({part.part[0] for part in parts})
        return levels, used, pieces


def _relevant(answer: Answered[Relevance]) -> tuple[float, float]:
    expected = sum(WEIGHTS[level] * answer.probabilities[level] for level in LEVELS)
    return WEIGHTS[answer.verdict.level], expected


def _yes(answer: Answered[Any]) -> float:
    return answer.probabilities["true"]


def _sufficiency(query: str, contexts: tuple[str, ...]) -> Plan[Answered[Sufficiency]]:
    """Ask whether the contexts suffice; where they do not fit together, whether a group of them does."""
    [groups] = yield from ask_parts(
        [whole_group(contexts)],
        lambda group: [inquiries.sufficiency(query, texts_of(group))],
        halved_group,
    )
    return max((group.answers[0] for group in groups), key=_yes)


def _missing(query: str, contexts: tuple[str, ...]) -> Plan[tuple[str, ...]]:
    """Ask what is missing; where the contexts do not fit together, what the group that lacks least lacks."""
    [groups] = yield from ask_parts(
        [whole_group(contexts)],
        lambda group: [inquiries.missing_context(query, texts_of(group))],
        halved_group,
    )
    return min((meaningful(group.answers[0].verdict.missing) for group in groups), key=len)


_IRRELEVANT = Answered.certainly(Relevance(level="none"))
_UNUSED = Answered.certainly(Usage(used=False))
