"""The verdicts of a run → its scores under other options, without a model.

Of a folder's lines only what a score is made of is read, and only the scores are written anew: the sample, the
verdicts and the judgments are carried over byte by byte.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from localscore.errors import OptionError, RunError, VerdictError
from localscore.manifests import Manifest, metric_from
from localscore.metrics import Metric, distinct
from localscore.results import Findings, SampleResult, ScoreResult
from localscore.runs import MANIFEST, RESULTS, Run, read_folder, read_line, recording, without_judgments


def rescore(
    run: str | Path | Run,
    *,
    metrics: Sequence[Metric] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
) -> Run:
    """Score the verdicts that a run holds again, with other options and no judge.

    Scores that failed stay failed, with their cause. With the run's own metrics, `results.jsonl` is the same bytes.
    Of a folder the judgments are not read: they are in what is written, and not in the results that are returned.

    Args:
        run: a run, or its folder.
        metrics: those of the run, or some of them, with other options; the run's own where not given.
        out: a folder for the rescored run.
        overwrite: replace the run that `out` holds.

    Raises:
        OptionError: no metrics, or one twice, or one that cannot be scored again.
        RunError: no run, one without the verdicts of a metric, or an `out` that is taken or cannot be written.

    >>> import localscore as ls
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> script = {"claims": {"claims": ["Ann ran."]}, "attribution": {"supported": True}, "evidence": {"sentence": 1}}
    >>> rows = [{"query": "Who ran?", "contexts": ["Ann ran."], "ground_truth": "Ann ran."}]
    >>> run = ls.score(rows, judge=ScriptedJudge(lambda i: script[i.question]), metrics=[ls.ContextRecall()])
    >>> ls.rescore(run, metrics=[ls.ContextRecall(scale=10)]).results[0].scores["context_recall"].score
    10.0
    """
    start = time.monotonic()
    source = _Source.of(run)
    chosen = _held(metrics, source)
    target = Path(out) if out is not None else None
    if target is not None:
        _check_target(target, source.folder, overwrite=overwrite)
    results = tuple(_rescored(row, chosen) for row in source.rows)
    manifest = source.manifest.rescored(chosen, folder=source.folder)
    whole = source.manifest.finished is not None and len(results) == source.manifest.dataset.get("samples")
    finished = Run(results, manifest.finished_now(time.monotonic() - start) if whole else manifest, target)
    if target is not None:
        lines = [_line(row, result) for row, result in zip(source.rows, results, strict=True)]
        samples = [result.sample for result in results]
        with recording(target, manifest, samples, overwrite=True) as writer:
            writer.replace(line + b"\n" for line in lines)
            writer.finish(finished)
    return finished


class _Row(NamedTuple):
    where: str
    """File and line, for complaints."""
    result: SampleResult
    line: bytes | None
    """As it stands in the file."""


@dataclass(frozen=True)
class _Source:
    folder: Path | None
    manifest: Manifest
    rows: list[_Row]

    @classmethod
    def of(cls, run: str | Path | Run) -> _Source:
        if isinstance(run, Run):
            rows = [_Row(f"sample {result.id!r}", result, None) for result in run.results]
            return cls(run.folder, run.manifest, rows)
        folder = Path(run)
        manifest, lines = read_folder(folder)
        rows = []
        for number, line in enumerate(lines, 1):
            result = read_line(without_judgments, line, folder, number)
            rows.append(_Row(f"{folder / RESULTS}:{number}", result, line))
        return cls(folder, manifest, rows)


def _held(metrics: Sequence[Metric] | None, source: _Source) -> tuple[Metric, ...]:
    """Return the metrics to score by, whose verdicts the run holds."""
    names = [told["name"] for told in source.manifest.metrics]
    chosen = distinct(metrics if metrics is not None else map(metric_from, source.manifest.metrics))
    missing = [metric.name for metric in chosen if metric.name not in names]
    if missing:
        raise RunError(
            f"The run {str(source.folder or '')!r} holds no verdicts for {' and '.join(missing)}; "
            f"it was scored by {' and '.join(names)}.",
            hint=f"They take a judge: localscore score DATA --judge NAME --metrics {','.join(missing)}",
        )
    return chosen


def _check_target(target: Path, source: Path | None, *, overwrite: bool) -> None:
    if source is not None and target.resolve() == source.resolve():
        raise OptionError(f"--out {target} is the run itself.", hint="Choose another folder.")
    if not overwrite and any((target / name).exists() for name in (MANIFEST, RESULTS)):
        hint = "Choose another --out, or pass --overwrite to replace it."
        raise RunError(f"{str(target)!r} holds a run.", hint=hint)


def _rescored(row: _Row, metrics: Sequence[Metric]) -> SampleResult:
    scores = {metric.name: _score(row, metric) for metric in metrics}
    return row.result.model_copy(update={"scores": scores})


def _score(row: _Row, metric: Metric) -> ScoreResult:
    earlier = row.result.scores.get(metric.name)
    if earlier is not None and earlier.status == "failed":
        return earlier
    hint = "The line was changed by hand or cut; score the sample anew with `localscore score`."
    if earlier is None:
        raise RunError(f"{row.where} holds no score of {metric.name}.", hint=hint)
    try:
        score = metric.score(row.result.sample, row.result.findings(metric.finds))
        return score.model_copy(
            update={"findings": Findings()}
        )  # the result holds them, as one that was read does
    except VerdictError as error:
        raise RunError(f"{row.where}: {metric.name} cannot be scored again: {error}", hint=hint) from None


def _line(row: _Row, result: SampleResult) -> bytes:
    """Return the line of a rescored result, with everything but its scores as it stands."""
    if row.line is None:
        return result.model_dump_json().encode()
    earlier = _beginning(row.result)
    if row.line.startswith(earlier):
        return _beginning(result) + row.line[len(earlier) :]
    spelled_otherwise = SampleResult.model_validate_json(row.line)
    return spelled_otherwise.model_copy(update={"scores": result.scores}).model_dump_json().encode()


def _beginning(result: SampleResult) -> bytes:
    """Return a line as far as its scores go."""
    return result.model_dump_json(include={"id", "scores"}).encode().removesuffix(b"}")
