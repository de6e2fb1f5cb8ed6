"""Kept verdicts → the plan of a sample, gone through again without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from localscore import engine
from localscore.errors import ContextTooLong, JudgeFailed, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import JudgeIdentity, TokenCount
from localscore.metrics import Metric
from localscore.results import Judgment, KeptJudgment, Refusal, SampleResult


class ReplayJudge:
    """A judge that gives the judgments that were kept, and refuses what was refused, by the keys of the inquiries."""

    def __init__(self, kept: Iterable[KeptJudgment], refused: Iterable[Refusal] = ()) -> None:
        self.identity = JudgeIdentity(name="replay", fingerprint="replay")
        self.tokens = TokenCount()
        self.asked: list[Inquiry[Any]] = []
        """Every inquiry of the plans, in order."""
        self._kept = {judgment.key: judgment for judgment in kept}
        self._refused = {one.key: one for one in refused}

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Give the judgment kept for each inquiry."""
        for inquiry in inquiries:
            self.asked.append(inquiry)
            kept = self._kept.get(inquiry.key)
            if kept is None and inquiry.key in self._refused:
                yield ContextTooLong(f"This {inquiry.question} inquiry was too long for the judge.")
                continue
            yield kept or JudgeFailed(f"No verdict was kept for this {inquiry.question} inquiry.")


@dataclass(frozen=True)
class Exchange:
    """What was put to the judge, and what it said; nothing where no verdict could be had."""

    inquiry: Inquiry[Any]
    judgment: KeptJudgment | None


def exchanges(result: SampleResult, metrics: Sequence[Metric]) -> list[Exchange]:
    """Return what was asked and answered about a sample, in order, by going through the plans again."""
    judge = ReplayJudge(result.judgments, result.refused)
    for _ in engine.run([result.sample], metrics, judge):
        pass
    kept = {judgment.key: judgment for judgment in result.judgments}
    return [Exchange(inquiry, kept.get(inquiry.key)) for inquiry in judge.asked]
