"""What a report says of all samples together, by a pencil."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from localscore import Run, api
from localscore.errors import OutputTruncated
from localscore.judges.scripted import ScriptedJudge
from localscore.metrics import ContextRelevance
from localscore.reports.close_calls import close_calls
from localscore.reports.differences import compared
from localscore.reports.figures import figures
from localscore.reports.provenance import provenance
from localscore.results import Judgment
from tests.conftest import VERDICTS

LEVELS = {"A": "high", "B": "medium", "C": "low", "D": "none"}


def by_first_letter(inquiry: Any) -> Any:
    """A judge to whom A is high and used, B medium, C low, D none, and a query with ? sufficient."""
    texts, question = inquiry.texts, inquiry.question
    if question == "relevance":
        return {"level": LEVELS[texts["context"][0]]}
    if question == "usage":
        return {"used": "used" in texts["context"]}
    if question == "sufficiency":
        return {"sufficient": "?" in texts["query"]}
    if question == "missing_context":
        return {"missing": [texts["query"], "The  Price"]}
    if question == "claims" and "cut" in texts["text"]:
        raise OutputTruncated("The limit was reached.")
    return VERDICTS[question]


def row(id_: str, query: str, contexts: Sequence[str], truth: str = "Ann opened it.") -> dict[str, Any]:
    return {"id": id_, "query": query, "contexts": list(contexts), "answer": "Ann.", "ground_truth": truth}


ROWS = [
    row("1", "Who?", ["A used", "B"]),
    row("2", "the price", ["A", "D"]),
    row("3", "who", ["D"], truth="cut"),
    row("4", "Who?", []),
]


def run_of(rows: Sequence[dict[str, Any]] = ROWS, judge: Any = by_first_letter, **options: Any) -> Run:
    return api.score(rows, judge=ScriptedJudge(judge), **options)


def test_the_waterfall_adds_up_to_the_mean_of_the_judged() -> None:
    # 1: 0.85; 2: (1 + 0) / 2 = 0.5, 0.1 off for unused, 0.15 off (both items are the price); 3: 0, 0.3 not taken.
    told = figures(run_of()).waterfall
    assert told is not None
    assert told.n == 3
    assert (told.base, told.unused, told.missing, told.kept, told.mean) == pytest.approx(
        (1.35 / 3, 0.1 / 3, 0.45 / 3, 0.3 / 3, (0.85 + 0.25) / 3)
    )


def test_the_waterfall_is_on_the_scale_of_the_metric() -> None:
    told = figures(run_of(metrics=[ContextRelevance(scale=10)])).waterfall
    assert told is not None
    assert told.mean == pytest.approx(11 / 3)


def test_levels_are_counted_by_rank_and_use_by_level() -> None:
    told = figures(run_of())
    assert [(rank.name, rank.levels, rank.used) for rank in told.ranks] == [
        ("1", {"high": 2, "medium": 0, "low": 0, "none": 1}, 1),
        ("2", {"high": 0, "medium": 1, "low": 0, "none": 1}, 0),
    ]
    assert [(use.level, use.used, use.unused) for use in told.uses][:2] == [("high", 1, 1), ("medium", 0, 1)]


def test_ranks_from_the_eleventh_on_stand_together() -> None:
    ranks = figures(run_of([row("1", "Who?", ["A", *["D"] * 12])])).ranks
    assert len(ranks) == 11
    assert (ranks[-1].name, ranks[-1].n) == ("from 11 on", 3)


def test_missing_items_that_differ_in_case_and_spaces_are_the_same() -> None:
    told = figures(run_of())
    assert [(one.item, one.samples) for one in told.missing] == [("the price", 2), ("who", 1)]


def test_failures_are_told_by_cause_and_are_in_no_mean() -> None:
    told = figures(run_of())
    [failure] = told.failures
    assert (failure.metric, failure.code, failure.samples) == ("context_recall", "output_truncated", ("3",))
    recall = next(metric for metric in told.metrics if metric.name == "context_recall")
    assert recall.interval is not None
    assert (recall.failed, recall.interval.n, recall.by_rule) == (1, 3, {"no_context": 1})
    assert recall.interval.mean == pytest.approx(2 / 3)


def test_the_verdicts_nearest_to_a_coin_toss_come_first() -> None:
    def wavering(inquiry: Any) -> Any:
        if inquiry.question == "relevance":
            shares = {"high": 0.4, "medium": 0.35, "low": 0.15, "none": 0.1}
            return Judgment(verdict={"level": "high"}, probabilities=shares)
        if inquiry.question == "attribution":
            return Judgment(verdict={"supported": False}, probabilities={"true": 0.49, "false": 0.51})
        return VERDICTS[inquiry.question]

    first, second, third, *_ = close_calls(run_of([row("1", "Who?", ["A"])], wavering).results)
    assert (first.question, first.verdict, first.against, first.margin) == (
        "attribution",
        "not supported",
        "supported",
        0.02,
    )
    assert (second.question, third.question) == ("attribution", "level")
    assert (third.verdict, third.against, third.about, third.margin) == ("high", "medium", "context 1", 0.05)


def test_runs_are_compared_sample_by_sample() -> None:
    before = run_of(
        [row("1", "Who?", ["A used", "D"]), row("2", "Another?", ["A used"]), row("9", "x", ["A"])]
    )
    told = compared(run_of(), before)
    relevance = next(one for one in told.metrics if one.metric == "context_relevance")
    assert dict(relevance.by_sample) == {"2": -0.75, "1": pytest.approx(0.35)}
    assert (relevance.better, relevance.worse, told.unpaired) == (1, 1, 2)
    assert relevance.finding == "no clear difference"
    assert told.other_terms == ("other queries for 1 of 2 samples (2)",)


def test_other_terms_are_told_and_other_scales_not_compared() -> None:
    ours = run_of(metrics=[ContextRelevance(scale=10)])
    told = compared(ours, run_of(metrics=[ContextRelevance()]))
    assert told.metrics == ()
    assert told.other_terms == ("other options of context_relevance (scale 1.0 and 10.0)",)


def test_of_a_judge_without_a_card_nothing_is_made_up() -> None:
    told = provenance(run_of().manifest)
    assert (told.judge, told.card, told.agreement) == ("scripted", (), ())


def test_a_card_is_told_and_files_that_differ_from_it_are() -> None:
    manifest = run_of().manifest
    judge = {
        "name": "starter",
        "card": "starter",
        "files": {"qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": "0" * 64},
    }
    told = dict(provenance(manifest.model_copy(update={"judge": judge})).card)
    assert told["model"] == "Qwen2.5 Coder 1.5B Instruct"
    assert told["files"] == "not those of the card: a sha256 differs"
