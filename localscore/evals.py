"""Runs a target on items and scores what it says: `run_evals`.

The target runs ahead in threads while the judge scores what is there; all scorers ask the judge together.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar

from localscore import engine
from localscore.api import Scorer
from localscore.errors import OptionError
from localscore.metrics import Metric, Plan
from localscore.results import SampleResult, ScoreResult
from localscore.samples import Sample
from localscore.summary import MetricSummary, summarise

Target = Callable[[Any], Any]
"""Takes an item's input and returns an output: a function, a coroutine function, or a generator of pieces of text."""

_ANSWERS = ("output", "answer", "response", "text")


@dataclass(frozen=True)
class EvalItem:
    """One item, what the target made of it, and its scores."""

    item: Mapping[str, Any]
    output: Any = None
    scores: Mapping[str, ScoreResult] = field(default_factory=dict)
    error: Exception | None = None
    """What the target raised; the item has no scores then."""


@dataclass(frozen=True)
class Evals:
    """All items in their order, and means over those that have scores."""

    items: tuple[EvalItem, ...]
    summary: Mapping[str, MetricSummary]

    @property
    def errors(self) -> int:
        """How many items the target raised on."""
        return sum(item.error is not None for item in self.items)


def run_evals(
    data: Iterable[Mapping[str, Any]],
    *,
    scorers: Sequence[Scorer],
    target: Target,
    concurrency: int = 1,
    on_item_complete: Callable[[EvalItem], None] | None = None,
) -> Evals:
    """Call a target on each item and score its outputs.

    Args:
        data: items: `{"input": …, "groundTruth": …}`; the input is a text or messages.
        scorers: made by `create_context_relevance_scorer` and the like. Their extractors get the input and all that the
            target returned.
        target: your program. Its output is a text, messages, or a mapping with the answer under `output`, `answer`,
            `response` or `text`. What it raises is kept with its item, and the others go on. It runs in this process,
            which cannot leave this machine (docs/air-gap.md).
        concurrency: how many items the target works on side by side.
        on_item_complete: gets each item in its order as soon as it is scored.

    Raises:
        JudgeError: the judge broke in the middle.
        OptionError: no scorers, two that score by the same metric, scorers of several judges, or an item without a
            question.

    >>> from localscore import ContextRecallOptions, create_context_recall_scorer
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> script = {"claims": {"claims": ["Ann ran."]}, "attribution": {"supported": True}, "evidence": {"sentence": 1}}
    >>> options = ContextRecallOptions(context_extractor=lambda input, output: output["contexts"])
    >>> scorer = create_context_recall_scorer(model=ScriptedJudge(lambda i: script[i.question]), options=options)
    >>> rag = lambda question: {"answer": "Ann.", "contexts": ["Ann ran."]}
    >>> run_evals([{"input": "Who ran?", "groundTruth": "Ann ran."}], scorers=[scorer], target=rag).summary
    ... # doctest: +ELLIPSIS
    {'context_recall': MetricSummary(mean=1.0, scored=1, ...)}
    """
    bound = _bound(scorers)
    if concurrency < 1:
        raise OptionError(f"concurrency is {concurrency}; expected at least 1.")
    items: list[EvalItem] = []
    waiting: deque[EvalItem] = deque()
    """Items that are under way in the engine, or that come before one that is."""
    results: list[SampleResult] = []

    def complete(item: EvalItem) -> None:
        items.append(item)
        if on_item_complete is not None:
            on_item_complete(item)

    def finished() -> None:
        while waiting and waiting[0].error is not None:
            complete(waiting.popleft())

    def samples() -> Iterator[Sample]:
        for item in _outputs(data, target, concurrency):
            waiting.append(item)
            if item.error is None:
                yield _sample(item, len(items) + len(waiting))
            elif len(waiting) == 1:
                finished()

    for result in engine.run(samples(), bound, scorers[0].judge):
        item = waiting.popleft()
        results.append(result)
        complete(EvalItem(item.item, item.output, result.scores))
        finished()
    finished()
    return Evals(tuple(items), summarise(results))


@dataclass(frozen=True)
class _Bound(Metric):
    """A scorer's metric, over the contexts that the scorer takes from an input and an output."""

    name: ClassVar[str] = "bound"
    scorer: Scorer | None = None

    def plan(self, sample: Sample) -> Plan[ScoreResult]:
        assert self.scorer is not None
        contexts = self.scorer.contexts_of(sample.metadata["input"], sample.metadata["output"])
        return (yield from self.scorer.metric.plan(sample.model_copy(update={"contexts": tuple(contexts)})))


def _bound(scorers: Sequence[Scorer]) -> list[Metric]:
    names = [scorer.metric.name for scorer in scorers]
    if not names or len(set(names)) < len(names):
        raise OptionError(
            f"Scorers are {', '.join(names) or 'none'}; expected one or more, each of another metric."
        )
    if len({id(scorer.judge) for scorer in scorers}) > 1:
        raise OptionError(
            "The scorers have different judges.", hint="Load a judge once and give it to all of them."
        )
    return [type("_Bound", (_Bound,), {"name": scorer.metric.name})(scorer=scorer) for scorer in scorers]


def _sample(item: EvalItem, number: int) -> Sample:
    output = item.output
    if isinstance(output, Mapping):
        output = next((output[name] for name in _ANSWERS if name in output), None)
    run = {"id": str(item.item.get("id", number)), "input": item.item.get("input"), "output": output}
    truth = item.item.get("groundTruth", item.item.get("ground_truth"))
    sample = Sample.from_run(run, (), ground_truth=truth)
    return sample.model_copy(update={"metadata": {"input": item.item.get("input"), "output": item.output}})


def _outputs(data: Iterable[Mapping[str, Any]], target: Target, concurrency: int) -> Iterator[EvalItem]:
    """Give each item with its output, in order, while the target works on those that follow."""
    with ThreadPoolExecutor(concurrency) as threads:
        ahead: deque[tuple[Mapping[str, Any], Future[Any]]] = deque()
        try:
            for item in data:
                ahead.append((item, threads.submit(_called, target, item.get("input"))))
                if len(ahead) > 2 * concurrency:
                    yield _done(*ahead.popleft())
            while ahead:
                yield _done(*ahead.popleft())
        finally:
            for _, future in ahead:
                future.cancel()


def _done(item: Mapping[str, Any], future: Future[Any]) -> EvalItem:
    try:
        return EvalItem(item, future.result())
    except Exception as error:  # a target may raise anything
        return EvalItem(item, error=error)


def _called(target: Target, given: Any) -> Any:
    found: Any = target(given)
    if inspect.isgenerator(found):
        return _text(found)
    if inspect.isasyncgen(found):
        return asyncio.run(_joined(found))
    return asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found


def _text(pieces: Iterable[Any]) -> str:
    return "".join(pieces)


async def _joined(pieces: AsyncIterator[Any]) -> str:
    return "".join([piece async for piece in pieces])


async def _awaited(found: Any) -> Any:
    return await found
