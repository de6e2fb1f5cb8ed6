"""What a metric is: a frozen dataclass whose `plan` asks inquiries about a sample and scores what was found.

A plan is a generator that does no I/O. It yields inquiries, is sent as many answers, and returns a score. An
answer that could not be had is a `VerdictError`, which `ask` and `ask_each` raise; a plan that lets it pass becomes
a score with the status `failed`. What is too long for the judge can be asked in parts (`metrics/parts.py`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, TypeVar

from localscore.errors import NotANumber, OptionError, SchemaViolation, VerdictError
from localscore.inquiries import Inquiry
from localscore.results import Features, Findings, Judgment, Probabilities, ScoreResult
from localscore.samples import Sample
from localscore.scoring.numbers import checked
from localscore.verdicts import V, certainty, parsed

R = TypeVar("R")

Answer = Judgment | VerdictError
Plan = Generator[tuple[Inquiry[Any], ...], Sequence[Answer], R]


@dataclass(frozen=True)
class Metric(ABC):
    """Base of the metrics; a subclass adds its parameters as fields and has a `plan`."""

    name: ClassVar[str]
    """The name in results and on the command line."""
    needs: ClassVar[tuple[str, ...]] = ()
    """The fields of a sample, beyond query and contexts, without which the metric cannot be asked."""

    uses: ClassVar[tuple[str, ...]] = ()
    """Further fields that it looks at where a sample has them."""

    finds: ClassVar[tuple[str, ...]] = ()
    """The fields of `Findings` that it fills and its score is made of."""

    scale: float = 1.0
    """The highest score."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", checked("scale", self.scale))

    @abstractmethod
    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        """Ask about a sample, and score what the judge says."""

    def score(self, sample: Sample, findings: Findings) -> ScoreResult:
        """Score what was found of a sample: what `plan` ends with, and all that `localscore.rescore` calls.

        Raises:
            OptionError: the metric has none, so that its runs cannot be rescored.
            VerdictError: the findings are not those of this sample.
        """
        raise OptionError(f"{self.name} cannot be scored again: it has no `score` of its own.")

    @property
    def parameters(self) -> dict[str, Any]:
        """The metric's fields as plain data, for the run's manifest."""
        return asdict(self)


def distinct(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return metrics that can be scored side by side.

    Raises:
        OptionError: none, or one twice.
    """
    chosen = tuple(metrics)
    names = [metric.name for metric in chosen]
    if not chosen:
        raise OptionError("No metrics were given.", hint="See `localscore metrics` for what there is.")
    if len(set(names)) < len(names):
        raise OptionError(f"A metric was given twice: {', '.join(names)}.")
    return chosen


@dataclass(frozen=True)
class Answered(Generic[V]):
    """A verdict as its class, and the probabilities that it was decided from (none for an open one)."""

    verdict: V
    probabilities: Probabilities
    features: Features | None = None
    """What a calibrated verdict was made of."""

    @classmethod
    def certainly(cls, verdict: V) -> Answered[V]:
        """Return a closed verdict that needs no judge."""
        return cls(verdict, certainty(verdict))

    @property
    def probability(self) -> float | None:
        """The probability of a closed verdict."""
        return self.probabilities.get(self.verdict.label())


def ask(inquiry: Inquiry[V]) -> Plan[Answered[V]]:
    """Ask one inquiry from inside a plan: `answer = yield from ask(…)`."""
    [answer] = yield from ask_each([inquiry])
    return answer


def ask_each(inquiries: Iterable[Inquiry[V]]) -> Plan[list[Answered[V]]]:
    """Ask several inquiries in one round; the answers come in their order."""
    asked = tuple(inquiries)
    judgments = (yield asked) if asked else ()
    return [answered(inquiry, judgment) for inquiry, judgment in zip(asked, judgments, strict=True)]


def answered(inquiry: Inquiry[V], judgment: Answer) -> Answered[V]:
    """Check a judgment once more against what was asked; a judge without probabilities is taken at its word.

    Raises:
        SchemaViolation: it is not the verdict that was asked for.
        NotANumber: its probabilities are NaN or infinite.
        VerdictError: there is none; the answer is this error.
    """
    if isinstance(judgment, VerdictError):
        raise judgment
    verdict = parsed(inquiry.verdict, judgment.verdict)
    certain = certainty(verdict)
    given = judgment.probabilities or certain
    if not all(map(math.isfinite, given.values())):
        raise NotANumber(f"The judge's probabilities of {inquiry.question} are {given}; expected numbers.")
    if given.keys() != certain.keys() or not all(0 <= p <= 1 for p in given.values()):
        raise SchemaViolation(
            f"The judge's probabilities of {inquiry.question} are {given}; "
            f"expected one from 0 to 1 for each of {', '.join(certain) or 'nothing'}."
        )
    return Answered(verdict, given, judgment.features)
