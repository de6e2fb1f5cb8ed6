"""A judge's probabilities → probabilities that people's verdicts bear out.

Small judges rank better than they label. A calibration is a handful of numbers per closed question, fitted to
verdicts of people (`localscore calibrate`) and kept in the judge's card.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from localscore.errors import CalibrationError
from localscore.inquiries import Inquiry
from localscore.results import Features, Finite, Judgment
from localscore.verdicts import V, decided, legal_values
from localscore.words import share

CALIBRATED = {"relevance": 4, "usage": 2, "sufficiency": 2, "attribution": 2}
"""The questions that can be calibrated, whose values can be put in an order, and how many values each has."""

SMALLEST = 5e-5
"""Half of the last digit that is kept of a probability; log-odds are taken of nothing nearer to 0 or 1."""


class Calibration(BaseModel):
    """What turns a judge's probabilities of one question into calibrated ones.

    With a verdict's legal values in their declared order, from the most to the least, the chance of at least the
    i-th is 1 / (1 + exp(cuts[i] - judge · x - explained * e - saved * s - overlap * o)): the proportional odds model of
    McCullagh (1980), which for two values is logistic regression, with temperature 1 / judge. `x` are the judge's
    log-odds of at least each value; `e` and `s` are the share and the bits of the information in the query,
    answer or claim that the contexts take away (Sachan et al. 2022 rank passages by this likelihood); `o` is the
    share of words in common.

    >>> calibration = Calibration(judge=(2.0,), cuts=(0.0,))
    >>> calibration.probabilities(Features(probabilities={"true": 0.6, "false": 0.4}))["true"]
    0.6923
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: tuple[Finite, ...] = (1.0,)
    """The weight of each of the judge's log-odds: one fewer than there are values."""
    explained: Finite = 0.0
    """The weight of the share of the information that the contexts take away, at most 1."""
    saved: Finite = 0.0
    """The weight of the bits that they take away."""
    overlap: Finite = 0.0
    """The weight of word overlap, a number from 0 to 1."""
    cuts: tuple[Finite, ...] = (0.0,)
    """What the weighted sum has to reach, for each value but the last; they fall, since less is easier to reach."""
    prior: bool = False
    """Whether the log-odds that the judge gives without contexts are taken off first."""
    records: int = 0
    """How many verdicts of people it rests on."""

    @model_validator(mode="after")
    def _in_order(self) -> Calibration:
        if len(self.judge) != len(self.cuts) or not self.cuts:
            raise ValueError("judge and cuts need a number for each value but the last")
        if list(self.cuts) != sorted(self.cuts, reverse=True):
            raise ValueError("cuts have to fall: more is not reached more easily than less")
        return self

    @property
    def compares(self) -> bool:
        """Whether the judge is also to be asked without contexts."""
        return self.prior or self.explained != 0 or self.saved != 0

    def probabilities(self, features: Features) -> dict[str, float]:
        """Return calibrated probabilities by label, 4 decimals."""
        odds = less_prior(features) if self.prior else log_odds(features.probabilities)
        found = math.fsum(w * x for w, x in zip(self.judge, odds, strict=True))
        found += self.explained * features.explained + self.saved * features.saved
        found += self.overlap * features.overlap
        reached = [1 / (1 + math.exp(min(700.0, cut - found))) for cut in self.cuts]
        shares = zip(features.probabilities, [0.0, *reached], [*reached, 1.0], strict=True)
        return {label: round(high - low, 4) for label, low, high in shares}

    def applied(self, inquiry: Inquiry[V], judgment: Judgment) -> Judgment:
        """Return a judgment with its probabilities calibrated, and the verdict that is the likeliest by them.

        Raises:
            CalibrationError: this is the calibration of a question with more or fewer values.
        """
        if judgment.features is None:
            return judgment
        if len(self.cuts) != len(judgment.features.probabilities) - 1:
            raise CalibrationError(
                f"The calibration of {inquiry.question} has {len(self.cuts)} cuts; "
                f"{inquiry.verdict.__name__} has {len(judgment.features.probabilities)} values, which need one fewer."
            )
        verdict, kept = decided(inquiry.verdict, self.probabilities(judgment.features))
        update = {"verdict": verdict.model_dump(mode="json"), "probabilities": kept}
        return judgment.model_copy(update=update)


def observed(inquiry: Inquiry[Any], judgment: Judgment, without: Judgment | None) -> Judgment:
    """Return a judgment with its features.

    Args:
        inquiry: what was asked.
        judgment: what the judge said.
        without: what it said without contexts.
    """
    if judgment.probabilities is None:
        return judgment
    features = Features(
        probabilities=_in_order(inquiry, judgment.probabilities),
        without=_in_order(inquiry, without.probabilities) if without and without.probabilities else None,
        bits=judgment.bits,
        bits_without=without.bits if without else None,
        overlap=round(overlap_of(inquiry), 4),
    )
    return judgment.model_copy(update={"features": features})


def _in_order(inquiry: Inquiry[Any], given: Mapping[str, float]) -> dict[str, float]:
    """Return probabilities in the declared order of a verdict's values."""
    return {value.label(): given[value.label()] for value in legal_values(inquiry.verdict)}


Calibrations = Mapping[str, Calibration]
"""Calibrations by the name of their question."""

PRIOR: Calibrations = {
    "relevance": Calibration(judge=(0.0, 1.0, 0.0), cuts=(math.log(3), 0.0, -math.log(3)), prior=True),
    **{name: Calibration(prior=True) for name in ("usage", "sufficiency", "attribution")},
}
"""A correction that needs no verdicts of people: what the judge says without contexts counts as undecided (Zhao et
al. 2021)."""


def less_prior(features: Features) -> tuple[float, ...]:
    """Return the judge's log-odds of at least each value but the last, less those that it gives without contexts."""
    odds = log_odds(features.probabilities)
    if features.without is None:
        return odds
    return tuple(x - before for x, before in zip(odds, log_odds(features.without), strict=True))


def log_odds(probabilities: Mapping[str, float]) -> tuple[float, ...]:
    """Return the log-odds of at least each value but the last, where values go from the most to the least.

    >>> [round(x, 2) for x in log_odds({"high": 0.5, "medium": 0.25, "low": 0.25, "none": 0.0})]
    [0.0, 1.1, 9.9]
    """
    at_least = list(accumulate(probabilities.values()))[:-1]
    clipped = [min(max(p, SMALLEST), 1 - SMALLEST) for p in at_least]
    return tuple(math.log(p / (1 - p)) for p in clipped)


def overlap_of(inquiry: Inquiry[Any]) -> float:
    """Return how many words the texts of a closed question have in common, all words alike, 0 to 1.

    >>> from localscore import inquiries
    >>> overlap_of(inquiries.relevance("Who ran?", "Ann ran."))
    0.5
    """
    texts = inquiry.texts
    match inquiry.question:
        case "usage":
            context, answer = texts["context"], texts["answer"]
            return (share(answer, context, {}) + share(context, answer, {})) / 2
        case "relevance":
            return share(texts["query"], texts["context"], {})
        case "sufficiency":
            return share(texts["query"], texts["contexts"], {})
        case "attribution":
            return share(texts["claim"], texts["contexts"], {})
    return 0.0
