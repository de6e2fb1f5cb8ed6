"""Scores a file while others append to it: `watch`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from localscore import engine
from localscore.cache import cached
from localscore.datasets import Intake
from localscore.errors import OptionError
from localscore.judges import Judge
from localscore.judges.loading import load_judge
from localscore.manifests import Manifest
from localscore.metrics import ContextRecall, ContextRelevance, Metric, distinct
from localscore.readers.growing import Growing
from localscore.results import SampleResult
from localscore.runs import Run
from localscore.samples import Sample
from localscore.sittings import sitting


def watch(
    path: str | Path,
    *,
    judge: Judge | str | Path,
    metrics: Sequence[Metric] | None = None,
    out: str | Path | None = None,
    mapping: Mapping[str, str] | None = None,
    contexts_from: str = "column",
    split_contexts: str | None = None,
    every: float = 1.0,
    idle: float | None = None,
    cache: str | Path | None = None,
    listener: engine.Listener | None = None,
    on_result: Callable[[SampleResult], None] | None = None,
    on_complaint: Callable[[str], None] | None = None,
) -> Run:
    r"""Score the rows of a JSONL file as they are appended to it, until Ctrl-C or `idle` seconds without a new one.

    What is there already is scored first; the file itself need not be there yet. A row that cannot be read is left
    out and told, since whoever appends it cannot be asked. A run that was stopped is carried on in the same folder.

    Args:
        path: the file; a line counts once its line end is there.
        judge: a judge, or what `load_judge` takes; like what is not told here, as in `localscore.score`.
        metrics: what to score; context relevance and context recall where not given.
        out: a folder for the run.
        mapping: `{their column: our field}`.
        contexts_from: `column`, or `tool-results`.
        split_contexts: what stands between contexts that were joined to one text.
        every: seconds between two looks at the file.
        idle: seconds without a new row after which the run ends; none waits for Ctrl-C.
        cache: a file that keeps every verdict.
        listener: told after every verdict how far the run is.
        on_result: gets each result as soon as it is there.
        on_complaint: gets what is wrong with a row that is left out.

    Raises:
        DataError: no row came, or the file was cut or replaced; what was scored is kept.
        JudgeError: a judge that cannot be used, or that broke in the middle.
        OptionError: an option that cannot be meant.
        RunError: `out` cannot be written, or holds another run.

    >>> import tempfile
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> live = Path(tempfile.mkdtemp()) / "live.jsonl"
    >>> _ = live.write_text('{"query": "Who ran?", "contexts": ["Ann ran."], "ground_truth": "Ann ran."}\n')
    >>> script = {"claims": {"claims": ["Ann ran."]}, "attribution": {"supported": True}, "evidence": {"sentence": 1}}
    >>> judge = ScriptedJudge(lambda inquiry: script[inquiry.question])
    >>> watch(live, judge=judge, metrics=[ContextRecall()], idle=0).summary["context_recall"].mean
    1.0
    """
    if every <= 0 or (idle is not None and idle < 0):
        raise OptionError(f"every is {every}, idle {idle}; expected seconds: more than 0, and at least 0.")
    metrics = distinct(metrics if metrics is not None else (ContextRelevance(), ContextRecall()))
    options = {
        "mapping": dict(mapping or {}),
        "limit": None,
        "skip_bad_rows": True,
        "contexts_from": contexts_from,
        "split_contexts": split_contexts,
    }
    intake = Intake(options, sorted({need for metric in metrics for need in metric.needs}))
    growing = Growing(Path(path))

    def look() -> None:
        for row in growing.rows():
            for complaint in intake.take(row):
                if on_complaint is not None:
                    on_complaint(complaint)

    def coming(after: int) -> Iterator[Sequence[Sample]]:
        """Give samples as they come."""
        last = time.monotonic()
        while True:
            samples = intake.samples
            if len(samples) > after:
                yield samples[after:]
                after, last = len(samples), time.monotonic()
            elif idle is not None and time.monotonic() - last >= idle:
                return
            else:
                time.sleep(every if idle is None else min(every, idle or every))
            look()

    look()
    chosen: Judge = load_judge(judge) if isinstance(judge, str | Path) else judge
    with ExitStack() as stack:
        chosen = stack.enter_context(cached(chosen, cache))
        manifest = Manifest.of(chosen.identity, metrics, intake.dataset(str(path)))
        folder = Path(out) if out is not None else None
        this = stack.enter_context(sitting(chosen, manifest, intake.samples, folder))
        kept = this.results
        try:
            for samples in coming(kept):
                for result in engine.run(samples, metrics, chosen, listener=listener, kept=this.results):
                    this.take(result)
                    if on_result is not None:
                        on_result(result)
        except KeyboardInterrupt:
            pass  # the way in which a watch ends
        intake.check(str(path))
        told = Manifest.of(chosen.identity, metrics, intake.dataset(str(path)))
        return this.finished(this.results - kept, told.model_copy(update={"started": manifest.started}))
