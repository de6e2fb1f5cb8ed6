"""Runs the metrics of many samples side by side and answers each round of inquiries together.

    plans of the samples in flight ──inquiries──▶ each distinct one once, shared beginnings side by side
                                  ◀──judgments── judge

A sample is finished when the plans of all its metrics have returned a score.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from localscore.errors import (
    JudgeBroke,
    JudgeFailed,
    OptionError,
    OutputTruncated,
    VerdictCountMismatch,
    VerdictError,
)
from localscore.inquiries import Inquiry
from localscore.judges import Judge
from localscore.metrics import Metric, Plan
from localscore.metrics.base import answered
from localscore.metrics.parts import TOO_LONG
from localscore.results import Findings, Judgment, KeptJudgment, Refusal, SampleResult, ScoreResult
from localscore.samples import Sample

log = logging.getLogger("localscore")

REMEMBERED = 20_000
"""Judgments kept in memory, so that the same text twice is judged once."""

MORE_ROOM = 4
"""How many times the room is given to an open verdict that was cut by its token limit, once."""

Answer = Judgment | VerdictError


@dataclass
class Progress:
    """How far a run is; handed to a listener after every verdict."""

    samples: int = 0
    """Finished, the kept ones among them."""
    verdicts: int = 0
    kept: int = 0
    """Samples that were finished in an earlier sitting."""


Listener = Callable[[Progress], None]


@dataclass
class _Asking:
    """One metric of one sample under way."""

    plan: Plan[ScoreResult]
    inquiries: tuple[Inquiry[Any], ...] = ()
    result: ScoreResult | None = None
    given: dict[str, KeptJudgment] = field(default_factory=dict)
    refused: dict[str, Refusal] = field(default_factory=dict)

    def start(self) -> None:
        self._advance(lambda: next(self.plan))

    def answer(self, answers: Sequence[Answer]) -> None:
        """Hand the plan its answers."""
        for inquiry, answer in zip(self.inquiries, answers, strict=True):
            if isinstance(answer, Judgment):
                kept = KeptJudgment.kept(answer, question=inquiry.question, key=inquiry.key)
                self.given.setdefault(inquiry.key, kept)
            elif isinstance(answer, TOO_LONG):
                refusal = Refusal(question=inquiry.question, key=inquiry.key, code=answer.code)
                self.refused.setdefault(inquiry.key, refusal)
        self._advance(lambda: self.plan.send(answers))

    def _advance(self, step: Callable[[], tuple[Inquiry[Any], ...]]) -> None:
        self.inquiries = ()
        try:
            self.inquiries = step()
        except StopIteration as stop:
            if not isinstance(stop.value, ScoreResult):
                raise OptionError(
                    f"A metric's plan returned {stop.value!r}; expected a ScoreResult."
                ) from None
            self.result = stop.value
        except VerdictError as error:
            self.result = ScoreResult.failed(error)


@dataclass
class _InFlight:
    """A sample and its metrics under way, by name."""

    sample: Sample
    askings: dict[str, _Asking]

    @property
    def done(self) -> bool:
        return all(asking.result is not None for asking in self.askings.values())

    def finished(self) -> SampleResult:
        scores = {name: a.result for name, a in self.askings.items() if a.result is not None}
        found = [result.findings for result in scores.values()]
        judgments = {key: kept for asking in self.askings.values() for key, kept in asking.given.items()}
        refused = {key: one for asking in self.askings.values() for key, one in asking.refused.items()}
        return SampleResult(
            id=self.sample.id,
            scores=scores,
            **{name: given for f in found for name in Findings.model_fields if (given := getattr(f, name))},
            sample=self.sample,
            judgments=tuple(judgments.values()),
            refused=tuple(refused.values()),
        )


def run(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    judge: Judge,
    *,
    listener: Listener | None = None,
    in_flight: int | None = None,
    kept: int = 0,
) -> Iterator[SampleResult]:
    """Score samples with metrics; yield the results in the samples' order, each as soon as it can be.

    A verdict that could not be had fails its score alone; everything else goes on. How many samples are
    `in_flight` side by side changes the cost and nothing else; it is for the judge to say, and one where it does
    not: a judge that reads one prompt at a time then has every shared beginning of a sample at hand. `kept` is told
    to the listener.

    Raises:
        JudgeBroke: the judge raised something that is no `VerdictError`.
        OptionError: a metric's plan did not return a score.

    >>> from localscore.judges.scripted import ScriptedJudge
    >>> from localscore.metrics import ContextRecall
    >>> script = {"claims": {"claims": ["Ann ran."]}, "attribution": {"supported": True}}
    >>> judge = ScriptedJudge(lambda inquiry: script.get(inquiry.question, {"sentence": 1}))
    >>> sample = Sample(id="1", query="Who ran?", contexts=("It was Ann who ran.",), ground_truth="Ann ran.")
    >>> [result] = run([sample], [ContextRecall()], judge)
    >>> result.scores["context_recall"].score, result.claims[0].evidence.quote
    (1.0, 'It was Ann who ran.')
    """
    waiting = iter(samples)
    flights: deque[_InFlight] = deque()
    answers = _Answers(judge, listener, Progress(samples=kept, kept=kept))
    side_by_side = in_flight if in_flight is not None else int(getattr(judge, "samples_at_once", 1))
    while True:
        while len(flights) < side_by_side and (sample := next(waiting, None)) is not None:
            flights.append(_started(sample, metrics))
        if not flights:
            return
        pending = [
            asking for flight in flights for asking in flight.askings.values() if asking.result is None
        ]
        answers.get([inquiry for asking in pending for inquiry in asking.inquiries])
        for asking in pending:
            asking.answer([answers.known[inquiry.key] for inquiry in asking.inquiries])
        while flights and flights[0].done:
            finished = flights.popleft().finished()
            answers.progress.samples += 1
            answers.tell()
            yield finished


def _started(sample: Sample, metrics: Sequence[Metric]) -> _InFlight:
    askings = {metric.name: _Asking(metric.plan(sample)) for metric in metrics}
    for asking in askings.values():
        asking.start()
    return _InFlight(sample, askings)


class _Answers:
    """The answers known so far, by the inquiries' keys."""

    def __init__(self, judge: Judge, listener: Listener | None, progress: Progress) -> None:
        self.known: OrderedDict[str, Answer] = OrderedDict()
        self.progress = progress
        self._judge = judge
        self._listener = listener

    def tell(self) -> None:
        if self._listener is not None:
            self._listener(self.progress)

    def get(self, inquiries: Sequence[Inquiry[Any]]) -> None:
        """Make the answers of these inquiries known, asking the judge for each distinct new one once."""
        asked = {inquiry.key: inquiry for inquiry in inquiries}
        for _ in range(len(self.known) - REMEMBERED):
            key, answer = self.known.popitem(last=False)
            if key in asked:
                self.known[key] = answer
        new = [inquiry for key, inquiry in asked.items() if key not in self.known]
        self._ask(new)
        cut = [i for i in new if isinstance(self.known[i.key], OutputTruncated)]
        self._ask([replace(inquiry, room=MORE_ROOM * inquiry.room) for inquiry in cut])

    def _ask(self, inquiries: Sequence[Inquiry[Any]]) -> None:
        ordered = _side_by_side(inquiries)
        got = 0
        for answer in self._given(ordered):
            got += 1
            if got <= len(ordered):
                inquiry = ordered[got - 1]
                self.known[inquiry.key] = _checked(inquiry, answer)
                self.progress.verdicts += 1
                self.tell()
        if got != len(ordered):  # which belongs to which cannot be known
            error = VerdictCountMismatch(f"The judge gave {got} verdicts; expected {len(ordered)}.")
            self.known.update({inquiry.key: error for inquiry in ordered})

    def _given(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Answer]:
        """Give what the judge answers; what it raises ends the run, with the finished rows kept."""
        try:
            for answer in self._judge.decide(inquiries):
                if isinstance(answer, Judgment | VerdictError):
                    yield answer
                else:
                    yield JudgeFailed(f"The judge gave {answer!r}; expected a judgment.")
        except Exception as error:
            raise JudgeBroke(
                f"The judge broke: {type(error).__name__}: {error}",
                hint="What was finished before is kept; the same command carries on.",
            ) from error


def _checked(inquiry: Inquiry[Any], answer: Answer) -> Answer:
    """Return the answer, or what is wrong with it: what is no verdict is not kept in the line either."""
    try:
        answered(inquiry, answer)
    except VerdictError as error:
        return error
    return answer


def _side_by_side(inquiries: Sequence[Inquiry[Any]]) -> list[Inquiry[Any]]:
    """Order inquiries so that those with the same beginning follow each other, first come first."""
    rank: dict[tuple[str, ...], int] = {}

    def order(inquiry: Inquiry[Any]) -> list[int]:
        beginnings = (inquiry.chunks[: n + 1] for n in range(len(inquiry.chunks)))
        return [rank.setdefault(beginning, len(rank)) for beginning in beginnings]

    ranked = [(order(inquiry), inquiry) for inquiry in inquiries]
    return [inquiry for _, inquiry in sorted(ranked, key=lambda pair: pair[0])]
