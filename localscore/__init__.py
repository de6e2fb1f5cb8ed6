"""Score retrieval-augmented answers with open-weight judges, offline.

    api.py            score(), rescore(), load_judge(), load_run(), create_*_scorer()
    samples.py        query, contexts, answer, ground truth               ┐
    verdicts.py       what a judge may say; the class is the JSON schema  │ facts
    inquiries.py      what it is asked, in the words of prompts/; fenced  │
    results.py        scores with their reasons, a line of results.jsonl  ┘
    scoring/          the deterministic core: verdicts in, score out
    metrics/          what to ask, and which scoring function gets it
    engine.py         runs the metrics of many samples, asks each distinct inquiry once
    cache/            verdicts given already, for all runs
    judges/           what answers; the only place that imports torch
    readers/          files, folders, frames → rows, one kind of file each
    tools.py          the columns of other tools; columns.py recognises them
    contexts.py       contexts in many shapes → texts; messages.py: those of agents
    datasets.py       rows → samples, which shelf.py keeps on the disk
    runs.py           writes and reads run folders; manifests.py: what a run was; files.py: whole or not at all
    rescoring.py      verdicts of a run → its scores under other options
    summary.py        results → means and counts
    compare.py        two runs → what moved, and whether that is more than chance (comparable, movements, statistics)
    foreign.py        a run beside the scores of another tool
    gate.py           a run and thresholds → met or not; thresholds.py reads them
    watching.py       watch(): scores a file that grows
    project.py        the file in which a project says how it uses localscore; settings.py: what it may say
    evals.py          run_evals(): calls a program on items and scores what it says
    pytest_plugin.py  the fixture `localscore`
    reports/          tables and pages for people
    suspicion.py      texts that look as if they talked to the judge
    display/          what a notebook shows of results; templates.py fills it in, and the pages
    offline.py        lets nothing leave this machine
    bundle/           all that a machine without a network needs, in one file
    doctor.py         whether this machine can judge; lock.py: the versions that are tested
    cli/              the command line
    errors.py         every error, in one tree

Importing localscore does not import torch; loading a judge does. The public names are imported when they are used, so
that commands that need few of them start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localscore.api import (
        ContextRecallOptions,
        ContextRelevanceOptions,
        Scorer,
        create_context_recall_scorer,
        create_context_relevance_scorer,
        load_judge,
        load_run,
        rescore,
        score,
    )
    from localscore.errors import LocalscoreError
    from localscore.evals import EvalItem, Evals, run_evals
    from localscore.metrics import (
        METRICS,
        ContextPrecision,
        ContextRecall,
        ContextRelevance,
        Faithfulness,
        Metric,
    )
    from localscore.reports.exports import to_arrow, to_pandas
    from localscore.reports.tracking import log_to_mlflow
    from localscore.results import SampleResult, ScoreResult
    from localscore.runs import Run
    from localscore.samples import Sample
    from localscore.scoring import Penalties

_MODULES = {
    "api": (
        "ContextRecallOptions",
        "ContextRelevanceOptions",
        "Scorer",
        "create_context_recall_scorer",
        "create_context_relevance_scorer",
        "load_judge",
        "load_run",
        "rescore",
        "score",
    ),
    "errors": ("LocalscoreError",),
    "evals": ("EvalItem", "Evals", "run_evals"),
    "metrics": ("METRICS", "ContextPrecision", "ContextRecall", "ContextRelevance", "Faithfulness", "Metric"),
    "reports.exports": ("to_arrow", "to_pandas"),
    "reports.tracking": ("log_to_mlflow",),
    "results": ("SampleResult", "ScoreResult"),
    "runs": ("Run",),
    "samples": ("Sample",),
    "scoring": ("Penalties",),
}

__all__ = [
    "METRICS",
    "ContextPrecision",
    "ContextRecall",
    "ContextRecallOptions",
    "ContextRelevance",
    "ContextRelevanceOptions",
    "EvalItem",
    "Evals",
    "Faithfulness",
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
    "log_to_mlflow",
    "rescore",
    "run_evals",
    "score",
    "to_arrow",
    "to_pandas",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first used (PEP 562)."""
    for module, names in _MODULES.items():
        if name in names:
            found = getattr(import_module(f"localscore.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'localscore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
