from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import localscore as ls
from localscore.errors import OptionError
from localscore.judges.scripted import ScriptedJudge
from tests.conftest import scripted

ITEMS = [{"input": f"Who is number {n}?", "groundTruth": f"Ann is {n}."} for n in range(6)]


def scorers(judge: ScriptedJudge) -> list[Any]:
    def extracted(given: Any, output: Any) -> list[str]:
        return list(output["contexts"]) if isinstance(output, dict) else ["Ann."]

    return [
        ls.create_context_relevance_scorer(
            model=judge, options=ls.ContextRelevanceOptions(context_extractor=extracted, scale=10)
        ),
        ls.create_context_recall_scorer(
            model=judge, options=ls.ContextRecallOptions(context_extractor=extracted)
        ),
    ]


def plain(question: str) -> Any:
    return {"answer": f"Ann, since you ask {question}", "contexts": [f"Ann is in {question}", "Bananas."]}


async def asynchronous(question: str) -> Any:
    return plain(question)


def streaming(question: str) -> Iterator[str]:
    yield from ("Ann, ", "of course.")


async def streaming_too(question: str) -> AsyncIterator[str]:
    for piece in ("Ann, ", "of course."):
        yield piece


@pytest.mark.parametrize("target", [plain, asynchronous, streaming, streaming_too])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_any_target_is_called_and_scored_in_order(target: Any, concurrency: int) -> None:
    heard: list[Any] = []
    found = ls.run_evals(
        ITEMS,
        scorers=scorers(scripted()),
        target=target,
        concurrency=concurrency,
        on_item_complete=heard.append,
    )
    assert [one.item for one in found.items] == ITEMS
    assert list(found.items) == heard
    assert found.summary["context_relevance"].mean == 10.0
    assert found.summary["context_recall"].scored == len(ITEMS)
    if target in (streaming, streaming_too):
        assert found.items[0].output == "Ann, of course."


def test_an_item_on_which_the_target_raises_leaves_the_others_alone() -> None:
    def moody(question: str) -> Any:
        if "2" in question or "0" in question or "5" in question:
            raise ValueError(question)
        return plain(question)

    heard: list[Any] = []
    found = ls.run_evals(ITEMS, scorers=scorers(scripted()), target=moody, on_item_complete=heard.append)
    assert [isinstance(one.error, ValueError) for one in found.items] == [
        True,
        False,
        True,
        False,
        False,
        True,
    ]
    assert [bool(one.scores) for one in found.items] == [False, True, False, True, True, False]
    assert (found.errors, found.summary["context_recall"].scored) == (3, 3)
    assert list(found.items) == heard


def test_the_target_runs_ahead_of_the_judge() -> None:
    called: list[str] = []
    ahead = threading.Event()

    def target(question: str) -> Any:
        called.append(question)
        if len(called) > 1:
            ahead.set()
        return plain(question)

    def patient(inquiry: Any) -> Any:
        assert ahead.wait(10), "the second item is under way while the first is judged"
        return scripted()._answer(inquiry)

    ls.run_evals(ITEMS, scorers=scorers(ScriptedJudge(patient)), target=target)
    assert len(called) == len(ITEMS)


def test_several_scorers_share_their_verdicts() -> None:
    judge = scripted()
    ls.run_evals(ITEMS[:1] * 2, scorers=scorers(judge), target=plain)
    assert len(judge.asked) == len({inquiry.key for inquiry in judge.asked})


def test_what_cannot_be_meant_is_told() -> None:
    one, other = scorers(scripted())
    for given in ([], [one, one], [one, scorers(scripted())[1]]):
        with pytest.raises(OptionError):
            ls.run_evals(ITEMS, scorers=given, target=plain)
    with pytest.raises(OptionError, match="concurrency"):
        ls.run_evals(ITEMS, scorers=[one, other], target=plain, concurrency=0)
    with pytest.raises(OptionError, match="no user message"):
        ls.run_evals([{"question": "Who?"}], scorers=[one], target=plain)
