from __future__ import annotations

from typing import Any

import pytest

import localscore as ls
from localscore.compare import compare
from localscore.errors import RunError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.metrics import Metric
from localscore.runs import Run
from tests.conftest import VERDICTS
from tests.runs import numbered, run_of


def test_the_numbers_are_those_of_a_pencil() -> None:
    before = run_of({"a": 0.2, "b": 0.5, "c": 1.0, "d": 0.1})
    after = run_of({"d": 0.4, "a": 0.5, "b": 0.5, "c": 0.9})
    recall = compare(before, after).metrics["context_recall"]
    assert (recall.n, recall.before, recall.after, recall.difference) == (4, 0.45, 0.575, 0.125)
    assert (recall.wins, recall.ties, recall.losses) == (2, 1, 1)
    assert (
        recall.p == 0.5
    )  # of the 8 ways to flip 0.3, 0.3 and 0.1, four sums are 0.5 or more away: ±0.7, ±0.5
    assert [(m.id, m.difference) for m in recall.moved] == [("a", 0.3), ("d", 0.3), ("c", -0.1)]


def test_a_run_beside_itself_has_not_moved() -> None:
    run = run_of(numbered([0.1, 0.7, None]))
    recall = compare(run, run).metrics["context_recall"]
    assert (recall.difference, recall.p, recall.low, recall.high, recall.moved) == (0.0, 1.0, 0.0, 0.0, ())


def test_a_sample_without_a_score_is_left_out_and_counted() -> None:
    before = run_of(numbered([None, 0.5, None, 0.4]))
    after = run_of(numbered([0.9, None, None, 0.6]))
    recall = compare(before, after).metrics["context_recall"]
    assert (recall.n, recall.difference) == (1, 0.2)
    assert recall.unscored == {"before": 1, "after": 1, "both": 1}


def test_without_any_pair_of_scores_there_is_no_number() -> None:
    recall = compare(run_of({"a": None}), run_of({"a": 0.5})).metrics["context_recall"]
    assert (recall.n, recall.before, recall.difference, recall.p, recall.low) == (0, None, None, None, None)


def test_samples_of_one_run_alone_are_named() -> None:
    samples = compare(run_of({"a": 0.1, "b": 0.2}), run_of({"b": 0.2, "c": 0.3})).samples
    assert (samples.both, samples.only_before, samples.only_after) == (1, ("a",), ("c",))


def test_an_id_that_stands_twice_is_left_out() -> None:
    run = run_of({"a": 0.1, "b": 0.2})
    twice = Run((*run.results, run.results[0]), run.manifest)
    for comparison in (compare(run, twice), compare(twice, run)):
        assert (comparison.samples.both, comparison.samples.repeated) == (1, ("a",))
        assert comparison.metrics["context_recall"].n == 1


def test_other_contexts_and_answers_are_what_is_compared() -> None:
    comparison = compare(run_of({"a": 0.1}), run_of({"a": 0.2}, contexts=["Two.", "Three."], answer="B."))
    assert comparison.differences == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"judge": "another"}, "other judges (given and another)"),
        ({"scale": 10}, "other options of context_recall (scale 1.0 and 10.0)"),
        ({"query": "What?"}, "other queries for 1 of 1 samples (a)"),
        ({"ground_truth": "So."}, "other ground truths for 1 of 1 samples (a)"),
    ],
)
def test_runs_that_differ_in_more_are_refused_unless_asked_anyway(change: dict[str, Any], told: str) -> None:
    before, after = run_of({"a": 0.1}), run_of({"a": 0.2}, **change)
    with pytest.raises(RunError, match="--anyway") as refused:
        compare(before, after)
    assert told in str(refused.value)
    assert compare(before, after, anyway=True).differences == (told,)


def test_other_prompts_are_refused() -> None:
    run = run_of({"a": 0.1})
    other = Run(run.results, run.manifest.model_copy(update={"prompts": "other"}))
    with pytest.raises(RunError, match="other prompts"):
        compare(run, other)


def test_all_that_differs_is_told_at_once() -> None:
    with pytest.raises(RunError, match=r"other judges.*; other options.*; other queries"):
        compare(run_of({"a": 0.1}), run_of({"a": 0.1}, judge="b", scale=2, query="What?"))


def test_runs_without_a_common_sample_or_metric_are_refused() -> None:
    with pytest.raises(RunError, match="No sample is in both"):
        compare(run_of({"a": 0.1}), run_of({"b": 0.1}), anyway=True)
    other = run_of({"a": 0.1})
    relevance = other.manifest.model_copy(update={"metrics": [{"name": "context_relevance"}]})
    with pytest.raises(RunError, match="No metric is in both"):
        compare(run_of({"a": 0.1}), Run(other.results, relevance), anyway=True)


def test_slices_are_by_a_column_of_the_data() -> None:
    langs = {"a": "en", "b": "de", "c": "en"}
    before = run_of({"a": 0.1, "b": 0.5, "c": 0.3})
    after = run_of({"a": 0.3, "b": 0.4, "c": 0.3}, lang=langs.get, hops=2)
    slices = compare(before, after, by=["lang", "hops"]).slices
    assert {name: told["context_recall"].difference for name, told in slices["lang"].items()} == {
        "de": -0.1,
        "en": 0.1,
    }
    assert list(slices["hops"]) == ["2"]


def test_a_column_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(RunError, match=r"(?s)No sample has a column 'language'.*Columns are lang"):
        compare(run_of({"a": 0.1}), run_of({"a": 0.1}, lang="en"), by=["language"])


def judged(rows: list[dict[str, Any]], metric: Metric, **changes: Any) -> Run:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        told = (VERDICTS | changes)[inquiry.question]
        answered: Answer = told(inquiry) if callable(told) else told
        return answered

    return ls.score(rows, judge=ScriptedJudge(answer), metrics=[metric])


def moved(before: Run, after: Run) -> list[str]:
    [metric] = compare(before, after).metrics.values()
    return [verdict for sample in metric.moved for verdict in sample.verdicts]


ROW = {
    "id": "a",
    "query": "Who ran?",
    "contexts": ["Ann ran.", "Bob swam."],
    "answer": "Ann.",
    "ground_truth": "X.",
}


def test_the_verdicts_on_contexts_that_moved_a_score_are_told() -> None:
    def level(inquiry: Inquiry[Any]) -> Answer:
        return {"level": "none" if "Bob" in inquiry.texts["context"] else "high"}

    before = judged(
        [ROW],
        ls.ContextRelevance(),
        relevance=level,
        usage=lambda i: {"used": "Bob" not in i.texts["context"]},
        sufficiency={"sufficient": False},
    )
    assert moved(before, judged([ROW], ls.ContextRelevance())) == [
        "context 2: none → high",
        "context 2: unused → used",
        "contexts do not suffice → contexts suffice",
        "no longer missing: the price",
    ]


def test_contexts_of_another_retriever_are_told_apart_by_their_texts() -> None:
    other = ROW | {"contexts": ["Cleo sang.", "Ann ran."]}
    rejects = {"relevance": lambda i: {"level": "low" if "Cleo" in i.texts["context"] else "high"}}
    before, after = judged([ROW], ls.ContextRelevance()), judged([other], ls.ContextRelevance(), **rejects)
    assert moved(before, after) == ["gone: context 2 (high, used)", "new: context 1 (low, used)"]


def test_the_claims_that_moved_a_score_are_told() -> None:
    before = judged([ROW], ls.ContextRecall(), claims={"claims": ["Ann ran.", "It rained."]})
    after = judged(
        [ROW],
        ls.ContextRecall(),
        claims={"claims": ["Ann ran.", "Bob won."]},
        attribution=lambda i: {"supported": "Ann" not in i.texts["claim"]},
    )
    assert moved(before, after) == [
        "claim “Ann ran.”: supported → not supported",
        "gone: claim “It rained.” (supported)",
        "new: claim “Bob won.” (supported)",
    ]
