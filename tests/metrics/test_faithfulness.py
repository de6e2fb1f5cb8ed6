from __future__ import annotations

from typing import Any

import pytest

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges.scripted import ScriptedJudge
from tests.conftest import VERDICTS

ROW = {
    "id": "1",
    "query": "Who ran?",
    "contexts": ["Ann ran."],
    "answer": "Ann ran. Bob swam.",
    "ground_truth": "Bob.",
}


def strict(inquiry: Inquiry[Any]) -> Any:
    if inquiry.question == "claims":
        text = inquiry.texts["text"]
        return {"claims": [] if "cannot" in text else [part for part in text.split(". ") if part]}
    if inquiry.question == "attribution":
        return {"supported": "Ann" in inquiry.texts["claim"]}
    return VERDICTS[inquiry.question]


def scored(row: dict[str, Any], judge: ScriptedJudge | None = None) -> Any:
    [result] = ls.score([row], judge=judge or ScriptedJudge(strict), metrics=[ls.Faithfulness()]).results
    return result


def test_it_is_the_share_of_the_answers_claims_that_the_contexts_support() -> None:
    result = scored(ROW)
    faithfulness = result.scores["faithfulness"]
    assert (faithfulness.score, faithfulness.status) == (0.5, "scored")
    assert "Found: “Ann ran” (context 1: “Ann ran.”)" in faithfulness.reason
    assert [claim.supported for claim in result.answer_claims] == [True, False]
    assert result.claims == ()


@pytest.mark.parametrize("answer", ["", " \n", "I cannot answer that."])
@pytest.mark.parametrize("contexts", [[], ["Ann ran."]])
def test_an_answer_without_claims_cannot_be_scored(answer: str, contexts: list[str]) -> None:
    found = scored(ROW | {"answer": answer, "contexts": contexts}).scores["faithfulness"]
    assert (found.status, found.score, found.value) == ("not_scorable", None, None)


def test_without_contexts_nothing_is_supported_and_no_judge_is_asked_whether() -> None:
    judge = ScriptedJudge(strict)
    assert scored(ROW | {"contexts": []}, judge).scores["faithfulness"].score == 0.0
    assert {inquiry.question for inquiry in judge.asked} == {"claims"}


def test_what_cannot_be_scored_is_in_no_mean_and_counted() -> None:
    rows = [ROW, ROW | {"id": "2", "answer": "I cannot answer that."}]
    summary = ls.score(rows, judge=ScriptedJudge(strict), metrics=[ls.Faithfulness()]).summary["faithfulness"]
    assert (summary.mean, summary.scored, summary.failed) == (0.5, 1, 0)
    assert summary.statuses["not_scorable"] == 1


def test_the_claims_of_the_answer_and_of_the_ground_truth_stay_apart() -> None:
    metrics = [ls.ContextRecall(), ls.Faithfulness(scale=10), ls.ContextPrecision()]
    run = ls.score([ROW], judge=ScriptedJudge(strict), metrics=metrics)
    assert [claim.text for claim in run.results[0].claims] == ["Bob."]
    assert len(run.results[0].answer_claims) == 2
    again = ls.rescore(run, metrics=metrics)
    assert again.results[0].scores == run.results[0].scores
