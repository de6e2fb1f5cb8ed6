"""Score retrieval-augmented answers with open-weight judges, offline.

    api.py            score(), load_judge(), load_run(), create_*_scorer()
    samples.py        a row: query, contexts, answer, ground truth        ┐
    verdicts.py       what a judge may say; the class is the JSON schema  │ facts
    inquiries.py      what it is asked; the wording is in prompts/        │
    results.py        scores with their reasons, a line of results.jsonl  ┘
    scoring/          the deterministic core: verdicts in, score out
    metrics/          what to ask, and which scoring function gets it
    engine.py         runs the metrics of many samples, asks each distinct inquiry once
    cache/            verdicts given already, for all runs
    judges/           what answers; the only place that imports torch
    datasets.py       files → samples
    runs.py           writes and reads run folders
    summary.py        results → means and counts
    reports/          tables and pages for people
    offline.py        lets nothing leave this machine
    bundle/           all that a machine without a network needs, in one file
    doctor.py         whether this machine can judge; lock.py: the versions that are tested
    cli/              the command line
    errors.py         every error, in one tree

Importing localscore does not import torch; loading a judge does.
"""

from localscore.api import (
    ContextRecallOptions,
    ContextRelevanceOptions,
    Scorer,
    create_context_recall_scorer,
    create_context_relevance_scorer,
    load_judge,
    load_run,
    score,
)
from localscore.errors import LocalscoreError
from localscore.metrics import METRICS, ContextRecall, ContextRelevance, Metric
from localscore.results import SampleResult, ScoreResult
from localscore.runs import Run
from localscore.samples import Sample
from localscore.scoring import Penalties

__all__ = [
    "METRICS",
    "ContextRecall",
    "ContextRecallOptions",
    "ContextRelevance",
    "ContextRelevanceOptions",
    "LocalscoreError",
    "Metric",
    "Penalties",
    "Run",
    "Sample",
    "SampleResult",
    "ScoreResult",
    "Scorer",
    "create_context_recall_scorer",
    "create_context_relevance_scorer",
    "load_judge",
    "load_run",
    "score",
]
