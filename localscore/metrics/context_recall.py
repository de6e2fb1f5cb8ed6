"""Context recall: what to ask, and which scoring function gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from localscore.metrics.attribution import attributed_claims, told_of
from localscore.metrics.base import Metric, Plan
from localscore.results import Findings, ScoreResult
from localscore.samples import Sample
from localscore.scoring import context_recall, no_ground_truth, nothing_retrieved


@dataclass(frozen=True)
class ContextRecall(Metric):
    """How much of a trusted reference answer could be found in what was retrieved?

    The ground truth is split into atomic claims; each is attributed to the contexts or not, and a supported one
    gets the sentence that supports it best. The system's answer is not looked at.

    >>> ContextRecall(scale=10).parameters
    {'scale': 10.0}
    """

    name: ClassVar[str] = "context_recall"
    uses: ClassVar[tuple[str, ...]] = ("ground_truth",)
    finds: ClassVar[tuple[str, ...]] = ("claims",)

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask about a sample, and score what the judge says."""
        truth = sample.ground_truth or ""
        if not truth.strip() or not sample.contexts:
            return self.score(sample, Findings())

        claims = yield from attributed_claims(truth, sample.contexts)
        return self.score(sample, Findings(claims=claims))

    def score(self, sample: Sample, findings: Findings) -> ScoreResult:
        """Score the claims that were found in the ground truth."""
        if not (sample.ground_truth or "").strip():
            return no_ground_truth()
        if not sample.contexts:
            return nothing_retrieved()
        supported = [claim.supported for claim in findings.claims]
        result = context_recall(supported, scale=self.scale, **told_of(findings.claims))
        return result.model_copy(update={"findings": findings})
