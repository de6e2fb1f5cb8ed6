"""Runs with scores that are given, for what compares and gates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from localscore.datasets import read
from localscore.judges import JudgeIdentity
from localscore.manifests import Manifest
from localscore.metrics import ContextRecall, ContextRelevance, Metric
from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run, recording

Scores = Mapping[str, float | None]
"""By sample; none for one that failed."""


def scored(value: float | None) -> ScoreResult:
    status = "scored" if value is not None else "failed"
    return ScoreResult.model_validate({"score": value, "value": value, "status": status, "reason": "given"})


def run_of(
    recall: Scores,
    *,
    relevance: Scores | None = None,
    judge: str = "given",
    scale: float = 1.0,
    finished: bool = True,
    folder: Path | None = None,
    **columns: Any,
) -> Run:
    """Return a run with these scores; `columns` are functions of an id, or the same for all."""
    metrics: list[Metric] = [ContextRecall(scale=scale)] + ([ContextRelevance()] if relevance else [])
    rows = [
        {"id": id, "query": f"Q {id}?", "contexts": ["One."], "answer": "A."}
        | {name: told(id) if callable(told) else told for name, told in columns.items()}
        for id in recall
    ]
    dataset = read(rows)
    manifest = Manifest.of(JudgeIdentity(judge, judge), metrics, dataset)
    results = tuple(
        SampleResult(id=sample.id, scores=_scores(sample.id, recall, relevance), sample=sample)
        for sample in dataset.samples
    )
    run = Run(results, manifest.finished_now(1.0) if finished else manifest, folder)
    if folder is not None:
        with recording(folder, manifest, dataset.samples) as writer:
            writer.replace(result.model_dump_json().encode() + b"\n" for result in results)
            writer.finish(run)
    return run


def _scores(id: str, recall: Scores, relevance: Scores | None) -> dict[str, ScoreResult]:
    scores = {"context_recall": scored(recall[id])}
    return scores | ({"context_relevance": scored(relevance[id])} if relevance else {})


def numbered(scores: Sequence[float | None]) -> dict[str, float | None]:
    return {f"s{number}": score for number, score in enumerate(scores)}
