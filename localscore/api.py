"""Scoring from Python: files or rows in, a run out; or one run of an agent at a time with a scorer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from localscore import datasets, engine
from localscore.cache import cached
from localscore.errors import OptionError, ScoreFailed
from localscore.judges import Judge
from localscore.judges.loading import load_judge
from localscore.manifests import Manifest
from localscore.messages import has_messages
from localscore.metrics import ContextRecall, ContextRelevance, Metric, distinct
from localscore.rescoring import rescore
from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run, load_run
from localscore.samples import Sample
from localscore.scoring import Penalties
from localscore.sittings import sitting
from localscore.spreading import Pool, Recipe, spread

__all__ = [
    "ContextRecallOptions",
    "ContextRelevanceOptions",
    "Scorer",
    "create_context_recall_scorer",
    "create_context_relevance_scorer",
    "load_judge",
    "load_run",
    "rescore",
    "score",
]

ContextExtractor = Callable[[Any, Any], Sequence[str] | None]
"""Gets an agent's input and output; returns the contexts that the answer was built from."""


def score(
    data: str | Path | Iterable[Mapping[str, Any]] | datasets.Dataset,
    *,
    judge: Judge | str | Path,
    metrics: Sequence[Metric] | None = None,
    out: str | Path | None = None,
    mapping: Mapping[str, str] | None = None,
    contexts_from: str = "column",
    split_contexts: str | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    overwrite: bool = False,
    fail_fast: bool = False,
    cache: str | Path | None = None,
    pool: Pool | None = None,
    listener: engine.Listener | None = None,
    on_result: Callable[[SampleResult], None] | None = None,
) -> Run:
    """Score a file of samples, or rows in memory.

    Args:
        data: a file (JSONL, JSON, CSV, TSV, Parquet, Arrow, also packed) or a folder of them, `-` for standard input,
            rows as mappings, a data frame, or a dataset that was read already.
        judge: a judge, or what `load_judge` takes.
        metrics: what to score; context relevance and context recall where not given.
        out: a folder for `run.json`, `results.jsonl` and `summary.json`. A run that was interrupted is carried on,
            and what failed in it is asked again.
        mapping: `{their column: our field}`, before what is recognised.
        contexts_from: `column`, or `tool-results`: what tools returned in the messages of answer or query.
        split_contexts: what stands between contexts that were joined to one text.
        skip_bad_rows: leave rows that cannot be read out.
        limit: score only the first so many rows.
        overwrite: score everything again where `out` holds results.
        fail_fast: end with the first score that cannot be had.
        cache: a file that keeps every verdict as soon as it is given, for this run and all others; the command line's
            is `localscore.cache.cache_path()`. Nothing is kept where not given.
        pool: workers that each load the judge, which `load_judge` has to have made: `Processes` of this machine, or
            `RayData` on a cluster (`localscore.spreading`).
        listener: told after every verdict, or with a pool after every few samples, how far the run is.
        on_result: gets each result as soon as it is there, in the order of the samples.

    Raises:
        DataError: rows that cannot be read; nothing was scored.
        JudgeError: a judge that cannot be used, or that broke in the middle.
        OptionError: an option that cannot be meant.
        RunError: `out` cannot be written, or holds another run.
        ScoreFailed: a score could not be had, and `fail_fast` is given.

    >>> from localscore.judges.scripted import ScriptedJudge
    >>> verdicts = {"relevance": {"level": "high"}, "usage": {"used": True}, "sufficiency": {"sufficient": True}}
    >>> rows = [{"query": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann."}]
    >>> run = score(rows, judge=ScriptedJudge(lambda i: verdicts[i.question]), metrics=[ContextRelevance()])
    >>> run.results[0].scores["context_relevance"].score, run.summary["context_relevance"].mean
    (1.0, 1.0)
    """
    metrics = distinct(metrics if metrics is not None else (ContextRelevance(), ContextRecall()))
    if isinstance(data, datasets.Dataset):
        dataset = replace(data, samples=data.samples[:limit])
    else:
        needs = sorted({need for metric in metrics for need in metric.needs})
        dataset = datasets.read(
            data,
            mapping=mapping,
            contexts_from=contexts_from,
            split_contexts=split_contexts,
            skip_bad_rows=skip_bad_rows,
            limit=limit,
            needs=needs,
        )
    chosen = _as_judge(judge)
    manifest = Manifest.of(chosen.identity, metrics, dataset)

    with ExitStack() as stack:
        if pool is None:
            chosen = stack.enter_context(cached(chosen, cache))
            ask = partial(engine.run, metrics=metrics, judge=chosen)
        else:
            ask = partial(spread, recipe=Recipe.of(chosen, metrics, cache), pool=pool, tokens=chosen.tokens)
        folder = Path(out) if out is not None else None
        this = stack.enter_context(sitting(chosen, manifest, dataset.samples, folder, overwrite=overwrite))
        failed = dict(this.failed)
        this.mend(dict(zip(failed, ask(failed.values()), strict=True)))
        waiting = dataset.samples[this.results :]
        for result in ask(waiting, listener=listener, kept=this.results):
            this.take(result)
            if on_result is not None:
                on_result(result)
            if fail_fast and result.failed:
                _end_with(result)
        return this.finished(len(failed) + len(waiting))


def _end_with(result: SampleResult) -> NoReturn:
    causes = (f"{name}: {score.cause}" for name, score in result.scores.items() if score.cause is not None)
    raise ScoreFailed(
        f"Sample {result.id!r} has no score of {', '.join(causes)}",
        hint="The run ended there, as it was to; what was finished is kept, and the same command carries on.",
    )


@dataclass(frozen=True)
class _ContextOptions:
    """Where a scorer's contexts come from, and its scale.

    Raises:
        OptionError: neither `context` nor `context_extractor`, an empty or wrong `context`, or a bad scale.
    """

    context: Sequence[str] | None = None
    """A fixed list of contexts."""
    context_extractor: ContextExtractor | None = None
    """Called with a run's input and output."""
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.context is None and self.context_extractor is None:
            raise OptionError(
                "A scorer needs contexts.",
                hint="Give context=[…] or context_extractor=function(input, output).",
            )
        if self.context is not None:
            _checked_contexts(self.context, "context")
            if not self.context:
                raise OptionError("context is empty; expected at least one text.")


@dataclass(frozen=True)
class ContextRelevanceOptions(_ContextOptions):
    """Options of `create_context_relevance_scorer`; the extractor wins over a fixed list."""

    penalties: Penalties = field(default_factory=Penalties)


@dataclass(frozen=True)
class ContextRecallOptions(_ContextOptions):
    """Options of `create_context_recall_scorer`.

    Where both are given, the extractor is used only if a run's input and output are lists of messages.
    """


@dataclass(frozen=True)
class Scorer:
    """Scores one run of an agent at a time."""

    metric: Metric
    judge: Judge
    contexts_of: Callable[[Any, Any], Sequence[str]]

    def run(self, run: Mapping[str, Any]) -> ScoreResult:
        """Score `{"input": …, "output": …, "groundTruth": …}`.

        Input and output are texts, or messages: the first user message is the query, the first assistant
        message the answer.

        Raises:
            OptionError: the run has no query, or the extractor returned something other than texts.
        """
        contexts = self.contexts_of(run.get("input"), run.get("output"))
        truth = run.get("groundTruth") if run.get("groundTruth") is not None else run.get("ground_truth")
        if truth is not None and not isinstance(truth, str):
            raise OptionError(f"groundTruth is {type(truth).__name__}; expected a text.")
        sample = Sample.from_run(run, contexts, ground_truth=truth)
        [result] = engine.run([sample], [self.metric], self.judge)
        return result.scores[self.metric.name]


def create_context_relevance_scorer(*, model: Judge | str | Path, options: ContextRelevanceOptions) -> Scorer:
    """Return a scorer of context relevance.

    Args:
        model: a judge, or what `load_judge` takes.
        options: contexts, penalties and scale.

    >>> from localscore.judges.scripted import ScriptedJudge
    >>> verdicts = {"relevance": {"level": "low"}, "usage": {"used": False}, "sufficiency": {"sufficient": True}}
    >>> judge = ScriptedJudge(lambda inquiry: verdicts[inquiry.question])
    >>> options = ContextRelevanceOptions(context=["Ann ran."], scale=10)
    >>> create_context_relevance_scorer(model=judge, options=options).run({"input": "Who swam?", "output": "?"}).score
    3.0
    """

    def contexts_of(input: Any, output: Any) -> Sequence[str]:
        if options.context_extractor is not None:
            return _extracted(options.context_extractor, input, output)
        return options.context or ()

    metric = ContextRelevance(scale=options.scale, penalties=options.penalties)
    return Scorer(metric, _as_judge(model), contexts_of)


def create_context_recall_scorer(*, model: Judge | str | Path, options: ContextRecallOptions) -> Scorer:
    """Return a scorer of context recall; see `create_context_relevance_scorer`."""

    def contexts_of(input: Any, output: Any) -> Sequence[str]:
        extractor = options.context_extractor
        agent = has_messages(input) and has_messages(output)
        if extractor is not None and (agent or options.context is None):
            return _extracted(extractor, input, output)
        return options.context or ()

    return Scorer(ContextRecall(scale=options.scale), _as_judge(model), contexts_of)


def _as_judge(model: Judge | str | Path) -> Judge:
    return load_judge(model) if isinstance(model, str | Path) else model


def _extracted(extractor: ContextExtractor, input: Any, output: Any) -> Sequence[str]:
    found = extractor(input, output)
    return _checked_contexts(found if found is not None else (), "context_extractor's result")


def _checked_contexts(contexts: object, name: str) -> Sequence[str]:
    texts = list(contexts) if isinstance(contexts, list | tuple) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise OptionError(f"{name} is {contexts!r}; expected a list of texts.")
    return texts
