"""Faithfulness: what to ask, and which scoring function gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from localscore.metrics.attribution import attributed_claims, told_of
from localscore.metrics.base import Metric, Plan
from localscore.results import Findings, ScoreResult
from localscore.samples import Sample
from localscore.scoring import faithfulness


@dataclass(frozen=True)
class Faithfulness(Metric):
    """How much of the answer do the contexts support?

    The answer is split into atomic claims; each is attributed to the contexts or not. An answer without claims, such
    as a refusal, cannot be scored.

    >>> Faithfulness().needs
    ('answer',)
    """

    name: ClassVar[str] = "faithfulness"
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    finds: ClassVar[tuple[str, ...]] = ("answer_claims",)

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask about a sample, and score what the judge says."""
        answer = sample.answer or ""
        claims = (yield from attributed_claims(answer, sample.contexts)) if answer.strip() else ()
        return self.score(sample, Findings(answer_claims=claims))

    def score(self, sample: Sample, findings: Findings) -> ScoreResult:
        """Score the claims that were found in the answer."""
        claims = findings.answer_claims
        supported = [claim.supported for claim in claims]
        result = faithfulness(supported, scale=self.scale, **told_of(claims))
        return result.model_copy(update={"findings": findings})
