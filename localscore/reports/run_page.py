"""A run as a page that one can send: `report.html`."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from urllib.parse import quote

from localscore.reports.close_calls import close_calls
from localscore.reports.differences import compared
from localscore.reports.figures import figures
from localscore.reports.pages import page
from localscore.reports.provenance import provenance
from localscore.reports.stories import stories
from localscore.runs import Run
from localscore.suspicion import suspicions

REPORT = "report.html"

CLOSE_CALLS = 25
COIN_TOSS = 0.2
"""A margin below it is told as near to a coin toss: 0.6 against 0.4."""

SAMPLES_OF_A_FAILURE = 10
SUSPICIONS = 100


def run_page(run: Run, baseline: Run | None = None) -> str:
    """Return a run as one HTML file that needs no network.

    Args:
        run: the run (`load_run`).
        baseline: an earlier run of the same samples; the page then shows the differences.

    >>> from localscore import score
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> said = {"relevance": {"level": "high"}, "usage": {"used": True}, "sufficiency": {"sufficient": True}}
    >>> judge = ScriptedJudge(lambda inquiry: said[inquiry.question])
    >>> run = score([{"query": "Who?", "contexts": ["<b>Ann</b>."], "answer": "Ann."}], judge=judge)
    >>> "<b>Ann" in run_page(run)
    False
    """
    told = figures(run)
    comparison = compared(run, baseline) if baseline is not None else None
    calls = close_calls(run.results)
    talk = [one for result in run.results for one in suspicions(result)]
    return page(
        "run.html",
        data=stories(run, told, comparison),
        title=f"localscore report · {run.folder.resolve().name}" if run.folder else "localscore report",
        figures=told,
        comparison=comparison,
        calls=calls[:CLOSE_CALLS],
        near=sum(call.margin < COIN_TOSS for call in calls),
        verdicts=len(calls),
        near_by_question=Counter(call.question for call in calls if call.margin < COIN_TOSS),
        coin_toss=COIN_TOSS,
        talk=talk[:SUSPICIONS],
        talking=len(talk),
        provenance=provenance(run.manifest),
        run=run,
        source=PurePath(run.manifest.dataset.get("source") or "samples").name,
        link=link,
        failures_shown=SAMPLES_OF_A_FAILURE,
    )


def link(sample: str) -> str:
    """Return the address of a sample within the page.

    Sections of the page have ids that begin with a colon, which is never in such an address.

    >>> link("a b/ü:1")
    '#a%20b%2F%C3%BC%3A1'
    """
    return "#" + quote(sample.encode("utf-8", "replace"), safe="")
