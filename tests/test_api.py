from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import localscore as ls
from localscore.errors import DataError, OptionError
from tests.conftest import scripted

CONTEXT = ["Ann opened the bridge in 1931."]
RUN: dict[str, Any] = {"input": "Who opened it?", "output": "Ann.", "groundTruth": "Ann opened it in 1931."}
AGENT_RUN: dict[str, Any] = {
    "input": {"inputMessages": [{"id": "1", "role": "user", "content": "Who opened it?"}]},
    "output": [{"id": "2", "role": "assistant", "content": "Ann."}],
    "groundTruth": "Ann opened it in 1931.",
}


def extractor(input: Any, output: Any) -> list[str]:
    return ["From the extractor."]


def contexts_seen(create: Any, options: Any, run: dict[str, Any]) -> set[str]:
    judge = scripted()
    create(model=judge, options=options).run(run)
    prompts = [inquiry.prompt for inquiry in judge.asked]
    return {text for text in (*CONTEXT, "From the extractor.") if any(text in prompt for prompt in prompts)}


BOTH_KINDS = pytest.mark.parametrize("options", [ls.ContextRelevanceOptions, ls.ContextRecallOptions])


@BOTH_KINDS
def test_a_scorer_without_contexts_cannot_be_made(options: Any) -> None:
    with pytest.raises(OptionError, match="needs contexts"):
        options()


@BOTH_KINDS
def test_an_empty_context_cannot_be_made_even_with_an_extractor(options: Any) -> None:
    for more in ({}, {"context_extractor": extractor}):
        with pytest.raises(OptionError, match="context is empty"):
            options(context=[], **more)


@BOTH_KINDS
@pytest.mark.parametrize("context", ["one text", ["a", 1], {"a": "b"}])
def test_a_context_that_is_no_list_of_texts_cannot_be_made(options: Any, context: Any) -> None:
    with pytest.raises(OptionError, match="expected a list of texts"):
        options(context=context)


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1, True, "1"])
def test_a_bad_scale_is_refused_when_the_scorer_is_made(scale: Any) -> None:
    kinds: list[tuple[Any, Any]] = [
        (ls.create_context_relevance_scorer, ls.ContextRelevanceOptions),
        (ls.create_context_recall_scorer, ls.ContextRecallOptions),
    ]
    for create, options in kinds:
        with pytest.raises(OptionError, match="scale"):
            create(model=scripted(), options=options(context=CONTEXT, scale=scale))


@pytest.mark.parametrize("run", [RUN, AGENT_RUN], ids=["texts", "messages"])
def test_for_relevance_the_extractor_wins(run: dict[str, Any]) -> None:
    options = ls.ContextRelevanceOptions(context=CONTEXT, context_extractor=extractor)
    assert contexts_seen(ls.create_context_relevance_scorer, options, run) == {"From the extractor."}


@pytest.mark.parametrize(
    ("run", "seen"),
    [
        (RUN, set(CONTEXT)),
        (AGENT_RUN, {"From the extractor."}),
        ({**AGENT_RUN, "output": "Ann."}, set(CONTEXT)),
        ({**AGENT_RUN, "input": "Who opened it?"}, set(CONTEXT)),
    ],
    ids=["texts", "messages", "messages in only", "messages out only"],
)
def test_for_recall_the_extractor_wins_only_in_an_agents_run(run: dict[str, Any], seen: set[str]) -> None:
    options = ls.ContextRecallOptions(context=CONTEXT, context_extractor=extractor)
    assert contexts_seen(ls.create_context_recall_scorer, options, run) == seen


def test_for_recall_an_extractor_alone_is_always_used() -> None:
    options = ls.ContextRecallOptions(context_extractor=extractor)
    assert contexts_seen(ls.create_context_recall_scorer, options, RUN) == {"From the extractor."}


@pytest.mark.parametrize("nothing", [None, []])
def test_an_extractor_that_finds_nothing_gives_the_full_score_and_asks_nothing(nothing: Any) -> None:
    judge = scripted()
    options = ls.ContextRelevanceOptions(context_extractor=lambda i, o: nothing, scale=10)
    result = ls.create_context_relevance_scorer(model=judge, options=options).run(RUN)
    assert (result.score, result.status, judge.asked) == (10.0, "no_context", [])
    assert "no contexts" in result.reason


def test_an_extractor_that_returns_something_else_is_told_so() -> None:
    options = ls.ContextRelevanceOptions(context_extractor=lambda i, o: "a text")
    with pytest.raises(OptionError, match="context_extractor's result"):
        ls.create_context_relevance_scorer(model=scripted(), options=options).run(RUN)


def test_an_extractor_gets_input_and_output() -> None:
    got: list[Any] = []

    def remembering(input: Any, output: Any) -> list[str]:
        got.extend([input, output])
        return CONTEXT

    options = ls.ContextRelevanceOptions(context_extractor=remembering)
    ls.create_context_relevance_scorer(model=scripted(), options=options).run(AGENT_RUN)
    assert got == [AGENT_RUN["input"], AGENT_RUN["output"]]


@pytest.mark.parametrize("truth", [{}, {"groundTruth": ""}, {"groundTruth": None}])
def test_a_run_without_ground_truth_has_recall_0_and_asks_nothing(truth: dict[str, Any]) -> None:
    judge = scripted()
    options = ls.ContextRecallOptions(context=CONTEXT)
    run = {key: value for key, value in RUN.items() if key != "groundTruth"} | truth
    result = ls.create_context_recall_scorer(model=judge, options=options).run(run)
    assert (result.score, result.status, judge.asked) == (0.0, "no_ground_truth", [])


def test_a_run_without_a_query_is_told_so() -> None:
    options = ls.ContextRecallOptions(context=CONTEXT)
    with pytest.raises(OptionError, match="no user message"):
        ls.create_context_recall_scorer(model=scripted(), options=options).run({"output": "Ann."})


def test_penalties_of_a_scorer_count() -> None:
    penalties = ls.Penalties(unused_high_relevance_context=0.2)
    options = ls.ContextRelevanceOptions(context=CONTEXT, penalties=penalties)
    scorer = ls.create_context_relevance_scorer(model=scripted(usage={"used": False}), options=options)
    assert scorer.run(RUN).score == 0.8


def test_a_scorers_result_holds_the_verdicts() -> None:
    options = ls.ContextRecallOptions(context=CONTEXT)
    result = ls.create_context_recall_scorer(model=scripted(), options=options).run(RUN)
    assert [claim.text for claim in result.findings.claims] == [
        "Ann opened the bridge.",
        "It opened in 1931.",
    ]


@pytest.mark.parametrize("metrics", [[], [ls.ContextRecall(), ls.ContextRecall(scale=2)]])
def test_metrics_must_be_given_and_each_once(metrics: list[ls.Metric]) -> None:
    with pytest.raises(OptionError):
        ls.score([{"query": "q", "contexts": []}], judge=scripted(), metrics=metrics)


def test_relevance_needs_an_answer_and_recall_does_not() -> None:
    rows = [{"query": "q", "contexts": ["c"], "ground_truth": "t"}]
    with pytest.raises(DataError, match="row 1: missing 'answer'"):
        ls.score(rows, judge=scripted())
    assert ls.score(rows, judge=scripted(), metrics=[ls.ContextRecall()]).failed == 0


def test_importing_localscore_imports_nothing_heavy() -> None:
    code = "import localscore, sys; print([m for m in ('torch', 'transformers', 'outlines') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    assert [name for name in ls.__all__ if not hasattr(ls, name)] == []


def test_every_public_name_is_there_and_nothing_else() -> None:
    for name in ls.__all__:
        assert getattr(ls, name) is not None
    assert sorted(name for names in ls._MODULES.values() for name in names) == sorted(ls.__all__)
    assert set(ls.__all__) <= set(dir(ls))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = ls.scores
