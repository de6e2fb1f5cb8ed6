"""A run's scores as annotations of traces: for Phoenix, and as events of OpenTelemetry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run

BY_RULE = ("no_context", "no_ground_truth", "no_claims")
"""Statuses of scores that nobody judged."""


def to_openinference(run: Run) -> bytes:
    """Return the body that Phoenix takes at `/v1/span_annotations`: an annotation per sample and metric.

    A sample's id is taken for its span's, which it is where the samples were exported from Phoenix.
    """
    data = [
        {
            "span_id": result.id,
            "name": name,
            "annotator_kind": "CODE" if score.status in BY_RULE else "LLM",
            "result": {"label": _label(score), "score": score.score, "explanation": score.reason},
            "metadata": {
                "status": score.status,
                "expected": score.expected,
                "confidence": score.confidence,
                "judge": run.manifest.judge["name"],
            },
            "identifier": "localscore",
        }
        for result, name, score in _scores(run)
    ]
    return (json.dumps({"data": data}, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def to_otel(run: Run) -> bytes:
    """Return a line of JSON per sample and metric: the event `gen_ai.evaluation.result` and its attributes.

    Names are those of OpenTelemetry's conventions for generative AI; those that it has no word for begin with
    `localscore`. Events have no time, so that equal runs have equal exports.
    """
    return b"".join(
        json.dumps(
            {"event_name": "gen_ai.evaluation.result", "attributes": _attributes(run, result, name, score)},
            ensure_ascii=False,
        ).encode("utf-8", "replace")
        + b"\n"
        for result, name, score in _scores(run)
    )


def _scores(run: Run) -> Iterator[tuple[SampleResult, str, ScoreResult]]:
    for result in run.results:
        for name, score in result.scores.items():
            yield result, name, score


def _label(score: ScoreResult) -> str:
    return score.band or score.status


def _attributes(run: Run, result: SampleResult, name: str, score: ScoreResult) -> dict[str, Any]:
    told = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": score.score,
        "gen_ai.evaluation.score.label": _label(score),
        "gen_ai.evaluation.explanation": score.reason,
        "error.type": score.cause.code if score.cause else None,
        "localscore.sample.id": result.id,
        "localscore.status": score.status,
        "localscore.expected": score.expected,
        "localscore.confidence": score.confidence,
        "localscore.judge": run.manifest.judge["name"],
    }
    return {key: value for key, value in told.items() if value is not None}
