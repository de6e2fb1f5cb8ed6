from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.scoring import context_precision, context_recall, context_relevance, faithfulness
from tests.conftest import VERDICTS, scripted

LEVELS = st.sampled_from(["high", "medium", "low", "none"])
SCALES = st.floats(0, 1e6)
PENALTIES = st.builds(ls.Penalties, *[st.floats(0, 1e3)] * 3)
TEXTS = st.text(min_size=1, max_size=30)


@given(st.lists(st.tuples(LEVELS, st.booleans())), st.lists(TEXTS, max_size=20), PENALTIES, SCALES)
def test_relevance_is_never_beyond_its_scale(
    contexts: list[tuple[Any, bool]], missing: list[str], penalties: ls.Penalties, scale: float
) -> None:
    levels, used = [level for level, _ in contexts], [flag for _, flag in contexts]
    found = context_relevance(levels, used, missing, penalties=penalties, scale=scale)
    assert found.score is not None
    assert 0 <= found.score <= round(scale, 2) + 0.005


@pytest.mark.parametrize("metric", [context_recall, context_precision, faithfulness])
@given(verdicts=st.lists(st.booleans()), scale=SCALES)
def test_shares_are_never_beyond_their_scale(metric: Any, verdicts: list[bool], scale: float) -> None:
    found = metric(verdicts, scale=scale)
    if found.status == "not_scorable":
        assert found.score is None
    else:
        assert 0 <= found.score <= round(scale, 2) + 0.005


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_one_context_is_no_different_from_many(count: int) -> None:
    row = {
        "query": "Who?",
        "contexts": [f"Ann is number {n}." for n in range(count)],
        "answer": "Ann.",
        "ground_truth": "Ann.",
    }
    [result] = ls.score([row], judge=scripted()).results
    assert len(result.contexts) == count
    assert not result.failed
    assert all(
        score.score == (1.0 if count or name == "context_relevance" else 0.0)
        for name, score in result.scores.items()
    )


@pytest.mark.parametrize("said", ["\n", "a\nb\n\nc", "<your reason>", "The score is 0 because <reason>."])
def test_the_denominator_is_the_number_of_claims_whatever_they_hold(said: str) -> None:
    claims = [f"Oslo is in Norway.{said}", f"Oslo has a harbour.{said}"]
    row = {"query": "Where?", "contexts": ["Oslo, Norway, has a harbour."], "ground_truth": "Oslo."}
    judge = scripted(claims={"claims": claims})
    [result] = ls.score([row], judge=judge, metrics=[ls.ContextRecall()]).results
    recall = result.scores["context_recall"]
    assert (recall.score, len(result.claims)) == (1.0, 2)
    assert "2 of 2" in recall.reason


@given(
    st.lists(st.tuples(LEVELS, st.booleans()), min_size=1, max_size=6),
    st.lists(TEXTS.filter(str.isalnum), max_size=4, unique=True),
)
def test_the_reason_adds_up_to_the_score(contexts: list[tuple[Any, bool]], missing: list[str]) -> None:
    """Read the numbers of the explanation and do the sum again."""
    levels, used = [level for level, _ in contexts], [flag for _, flag in contexts]
    found = context_relevance(levels, used, missing)
    assert found.value is not None
    told = re.search(r"Score: max\(0, ([\d./]+) − ([\d.]+) − ([\d.]+)\) × 1 = ([\d.]+)\.$", found.reason)
    assert told is not None
    base, unused, lacking, score = map(float, told.groups())
    assert score == found.score
    assert max(0.0, base - unused - lacking) == pytest.approx(found.value, abs=1e-3)


def test_the_same_text_twice_never_gets_two_verdicts() -> None:
    turns = iter(range(1000))

    def wavering(inquiry: Inquiry[Any]) -> Answer:
        if inquiry.question == "relevance":
            return {"level": ["high", "none"][next(turns) % 2]}
        return VERDICTS[inquiry.question]

    row = {"query": "Who?", "contexts": ["Ann.", "Bob.", "Ann."], "answer": "Ann."}
    [result] = ls.score([row], judge=ScriptedJudge(wavering), metrics=[ls.ContextRelevance()]).results
    assert result.contexts[0].level == result.contexts[2].level
