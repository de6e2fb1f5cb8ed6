"""A judge whose probabilities of closed verdicts are calibrated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from localscore.calibration import Calibrations
from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import Judge, JudgeIdentity, TokenCount
from localscore.results import Judgment


class CalibratedJudge:
    """Asks another judge, and calibrates what it says.

    >>> from localscore import inquiries
    >>> from localscore.calibration import Calibration
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> hasty = ScriptedJudge(lambda inquiry: {"used": True})
    >>> judge = CalibratedJudge(hasty, {"usage": Calibration(judge=(0.1,), cuts=(2.0,))})
    >>> [judgment] = judge.decide([inquiries.usage("Who?", "Ann.", "Bob.")])
    >>> judgment.verdict, judgment.probabilities
    ({'used': False}, {'true': 0.267, 'false': 0.733})
    """

    def __init__(self, judge: Judge, calibrations: Calibrations) -> None:
        self.judge = judge
        self.calibrations = calibrations

    @property
    def identity(self) -> JudgeIdentity:
        """The judge that is asked, with its calibrations in the fingerprint."""
        inner = self.judge.identity
        told = {question: one.model_dump(mode="json") for question, one in self.calibrations.items()}
        made_of = json.dumps([inner.fingerprint, told], sort_keys=True)
        return replace(
            inner,
            fingerprint=hashlib.sha256(made_of.encode()).hexdigest(),
            details={**inner.details, "uncalibrated": inner.fingerprint, "calibration": told},
        )

    @property
    def tokens(self) -> TokenCount:
        """What the judge that is asked has cost."""
        return self.judge.tokens

    @property
    def samples_at_once(self) -> int:
        """How many samples the judge that is asked can make use of side by side."""
        return int(getattr(self.judge, "samples_at_once", 1))

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry in order; see `localscore.judges.Judge.decide`."""
        for number, answer in enumerate(self.judge.decide(inquiries)):
            inquiry = (
                inquiries[number] if number < len(inquiries) else None
            )  # more than asked for is told above
            calibration = self.calibrations.get(inquiry.question) if inquiry is not None else None
            if inquiry is None or calibration is None or not isinstance(answer, Judgment):
                yield answer
            else:
                yield calibration.applied(inquiry, answer)
