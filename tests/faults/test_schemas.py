"""What keeps the real judge to its schemas, and what that costs."""

from __future__ import annotations

import json
import resource
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from localscore import inquiries, verdicts
from localscore.inquiries import Inquiry
from localscore.verdicts import Claims, Evidence, MissingContext, Verdict, legal_values

if TYPE_CHECKING:
    from localscore.judges.huggingface import HuggingFaceJudge

CLOSED: list[type[Verdict]] = [
    verdicts.Relevance,
    verdicts.Usage,
    verdicts.Sufficiency,
    verdicts.Attribution,
    *(Evidence.among(n) for n in (1, 2, 50)),
]


@pytest.mark.parametrize("verdict", CLOSED)
def test_every_legal_text_is_json_of_its_schema(verdict: type[Verdict]) -> None:
    for value in legal_values(verdict):
        assert verdict.model_validate(json.loads(value.spelled())) == value


@pytest.mark.judge
@pytest.mark.parametrize("verdict", [Claims, MissingContext])
def test_a_bounded_list_of_bounded_texts_compiles_in_little_memory(
    small_judge: HuggingFaceJudge, verdict: type[Verdict]
) -> None:
    from llguidance import LLMatcher

    grammar = small_judge._grammar(verdict)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    matcher = LLMatcher(small_judge._outlines.llg_tokenizer, grammar)
    matcher.compute_logit_bias()
    assert matcher.get_error() == ""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kB"


@pytest.mark.judge
@pytest.mark.parametrize("text", ['{ "', '{"claims" :', '{"claims":  [', '{"claims": [\n', '{\t"'])
def test_white_space_has_no_second_spelling(small_judge: HuggingFaceJudge, text: str) -> None:
    from llguidance import LLMatcher

    matcher = LLMatcher(small_judge._outlines.llg_tokenizer, small_judge._grammar(Claims))
    ids = list(small_judge.chat.ids(text))
    assert matcher.validate_tokens(ids) < len(ids)


@pytest.mark.judge
def test_sampling_that_the_folder_asks_for_is_not_done(small_judge: HuggingFaceJudge) -> None:
    claims = replace(inquiries.claims("Ann ran. Bob swam."), room=2000)
    asked: list[Inquiry[Any]] = [claims, inquiries.relevance("Who?", "Ann.")]
    before = list(small_judge.decide(asked))
    configured = small_judge._model.generation_config
    kept = configured.do_sample, configured.temperature
    configured.do_sample, configured.temperature = True, 9.0
    try:
        assert [list(small_judge.decide(asked)) for _ in range(3)] == [before] * 3
    finally:
        configured.do_sample, configured.temperature = kept
