"""A judge whose probabilities of closed verdicts are calibrated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from localscore.calibration import Calibrations, observed
from localscore.errors import VerdictCountMismatch, VerdictError
from localscore.inquiries import Inquiry, measuring, without_contexts
from localscore.judges import Judge, JudgeIdentity, LoadedAs, TokenCount
from localscore.results import Judgment


class CalibratedJudge:
    """Asks another judge, and calibrates what it says; of the `observed` questions it keeps the features at least.

    >>> from localscore import inquiries
    >>> from localscore.calibration import Calibration
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> hasty = ScriptedJudge(lambda inquiry: {"used": True})
    >>> judge = CalibratedJudge(hasty, {"usage": Calibration(judge=(0.1,), cuts=(2.0,))})
    >>> [judgment] = judge.decide([inquiries.usage("Who?", "Ann.", "Bob.")])
    >>> judgment.verdict, judgment.probabilities
    ({'used': False}, {'true': 0.267, 'false': 0.733})
    """

    loaded_as: LoadedAs | None = None

    def __init__(self, judge: Judge, calibrations: Calibrations, *, observed: Collection[str] = ()) -> None:
        self.judge = judge
        self.calibrations = calibrations
        self._also = frozenset(observed)
        self._observed = {*observed, *calibrations}
        self._compared = {*observed, *(name for name, one in calibrations.items() if one.compares)}
        self._known: dict[str, Judgment | VerdictError] = {}
        """What the judge said without contexts in the last round."""

    def asking(self, judge: Judge) -> CalibratedJudge:
        """Return one with the same calibrations that asks another judge."""
        return CalibratedJudge(judge, self.calibrations, observed=self._also)

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
        """Answer each inquiry in order; see `localscore.judges.Judge.decide`.

        What the judge says of a question without contexts is asked first, once for all that share it.
        """
        without = self._without_contexts(inquiries)
        asked = [measuring(inquiry, self._compared) for inquiry in inquiries]
        for number, answer in enumerate(self.judge.decide(asked)):
            inquiry = inquiries[number] if number < len(inquiries) else None  # more than asked is told above
            if inquiry is None or inquiry.question not in self._observed or not isinstance(answer, Judgment):
                yield answer
                continue
            beside = without[without_contexts(inquiry).key] if inquiry.question in self._compared else None
            if isinstance(beside, VerdictError):
                yield beside
                continue
            calibration = self.calibrations.get(inquiry.question)
            told = observed(inquiry, answer, beside)
            yield told if calibration is None else calibration.applied(inquiry, told)

    def _without_contexts(self, inquiries: Sequence[Inquiry[Any]]) -> dict[str, Judgment | VerdictError]:
        """Ask the questions that are compared without their contexts, by the keys of those inquiries."""
        twins = [without_contexts(inquiry) for inquiry in inquiries if inquiry.question in self._compared]
        new = {twin.key: twin for twin in twins if twin.key not in self._known}
        asked = [measuring(twin, self._compared) for twin in new.values()]
        answers = list(self.judge.decide(asked)) if asked else []
        if len(answers) != len(asked):
            error = VerdictCountMismatch(f"The judge gave {len(answers)} verdicts; expected {len(asked)}.")
            answers = [error] * len(asked)
        known = self._known | dict(zip(new, answers, strict=True))
        self._known = {twin.key: known[twin.key] for twin in twins} if twins else self._known
        return self._known
