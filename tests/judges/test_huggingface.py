from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from localscore import inquiries
from localscore.errors import ContextTooLong, NotANumber, OutOfMemory, OutputTruncated, VerdictError
from localscore.inquiries import Inquiry
from localscore.results import Judgment
from localscore.verdicts import Claims, MissingContext, Relevance, Usage, legal_values

if TYPE_CHECKING:
    from localscore.judges.huggingface import HuggingFaceJudge

pytestmark = pytest.mark.judge

CONTEXTS = (
    "The Orvenna bridge opened in 1931. It is 480 m long.",
    "Bananas are yellow and sweet.",
    "Its architect was Ada Finn. She was born in Brusk.",
)
QUERY, ANSWER = "When did the bridge open?", "It opened in 1931."


def closed_inquiries() -> list[Inquiry[Any]]:
    per_context = [
        inquiry
        for context in CONTEXTS
        for inquiry in (inquiries.relevance(QUERY, context), inquiries.usage(QUERY, context, ANSWER))
    ]
    claims = ("The bridge opened in 1931.", "Ada Finn was born in Paris.")
    return [
        *per_context,
        inquiries.sufficiency(QUERY, CONTEXTS),
        *(inquiries.attribution(claim, CONTEXTS) for claim in claims),
        *(inquiries.evidence(claim, CONTEXTS) for claim in claims),
    ]


def answered(judge: HuggingFaceJudge, asked: list[Inquiry[Any]]) -> list[Judgment]:
    answers = list(judge.decide(asked))
    judgments = [answer for answer in answers if isinstance(answer, Judgment)]
    assert len(judgments) == len(asked), answers
    return judgments


def test_a_closed_verdict_is_what_greedy_constrained_decoding_writes(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    for inquiry, judgment in zip(asked, answered(small_judge, asked), strict=True):
        chunks = small_judge.chat.chunks(inquiry.chunks)
        _, text = small_judge._greedy(chunks, replace(inquiry, room=24))
        if (
            inquiry.question != "evidence"
        ):  # where numbers share digits, the greedy path need not be the likeliest
            assert json.loads(text) == judgment.verdict


def test_a_closed_verdict_is_what_plain_outlines_writes(small_judge: HuggingFaceJudge) -> None:
    import outlines
    from outlines.types import JsonSchema

    model = outlines.from_transformers(small_judge._model, small_judge._tokenizer)
    for verdict in (Relevance, Usage):
        schema = json.dumps(verdict.model_json_schema() | {"x-guidance": {"whitespace_flexible": False,
                            "item_separator": ", ", "key_separator": ": "}})  # fmt: skip
        generate = outlines.Generator(model, JsonSchema(schema), backend="llguidance")
        for inquiry in closed_inquiries()[:6]:
            if inquiry.verdict is verdict:
                text = generate(inquiry.prompt, max_new_tokens=24, do_sample=False)
                assert json.loads(text) == answered(small_judge, [inquiry])[0].verdict


def test_every_legal_value_has_a_probability_and_they_make_one(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    for inquiry, judgment in zip(asked, answered(small_judge, asked), strict=True):
        assert judgment.probabilities is not None
        assert list(judgment.probabilities) == [value.label() for value in legal_values(inquiry.verdict)]
        assert sum(judgment.probabilities.values()) == pytest.approx(1.0, abs=1e-3)


def test_verdicts_do_not_depend_on_what_was_asked_before(small_judge: HuggingFaceJudge) -> None:
    asked = [*closed_inquiries(), inquiries.claims("Ann opened the bridge in 1931.")]
    together = answered(small_judge, asked)
    backwards = answered(small_judge, asked[::-1])[::-1]
    alone = []
    for inquiry in asked:
        small_judge._reader.forget()
        alone.extend(answered(small_judge, [inquiry]))
    assert together == backwards == alone


def test_each_shared_beginning_is_read_once(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()[:9]  # without evidence, whose numbers of two digits would be read further
    chunks = [small_judge.chat.chunks(i.chunks, small_judge._legal_strings(i.verdict).start) for i in asked]
    unique = {prompt[: n + 1] for prompt in chunks for n in range(len(prompt))}
    small_judge._reader.forget()
    before = small_judge.tokens.read
    answered(small_judge, asked)
    assert small_judge.tokens.read - before == sum(len(beginning[-1]) for beginning in unique)


def test_open_verdicts_are_json_of_their_schema(small_judge: HuggingFaceJudge) -> None:
    texts = [
        "Ann opened the bridge in 1931.",
        "橋は1931年に完成しました。",
        'He said "no" \\ and left.',
        "-",
        "👩‍👧",
    ]
    asked: list[Inquiry[Any]] = [inquiries.claims(text) for text in texts]
    for judgment in answered(small_judge, asked):
        assert Claims.model_validate(judgment.verdict)
        assert judgment.written_tokens > 0
    [missing] = answered(small_judge, [inquiries.missing_context(QUERY, CONTEXTS[1:])])
    assert MissingContext.model_validate(missing.verdict)


def test_a_cut_generation_is_an_error_of_that_name(small_judge: HuggingFaceJudge) -> None:
    inquiry = replace(inquiries.claims("Ann opened the bridge in 1931."), room=6)
    [answer] = small_judge.decide([inquiry])
    assert isinstance(answer, OutputTruncated)
    assert "6 tokens" in str(answer)


def test_a_prompt_beyond_the_window_is_refused_before_it_is_read(small_judge: HuggingFaceJudge) -> None:
    before = small_judge.tokens.read
    [answer, after] = small_judge.decide(
        [inquiries.relevance(QUERY, "word " * 9000), inquiries.relevance(QUERY, CONTEXTS[0])]
    )
    assert isinstance(answer, ContextTooLong)
    assert "8192" in str(answer)
    assert isinstance(after, Judgment)
    assert small_judge.tokens.read - before < 1000


def test_json_has_one_spelling_only(small_judge: HuggingFaceJudge) -> None:
    from llguidance import LLMatcher

    processor = small_judge._processor(Claims)
    matcher = LLMatcher(processor.llg_tokenizer, processor.grammar)
    for text in ('{"claims": ["ab", "cd"]}', '{"claims": []}'):
        matcher.reset()
        ids = list(small_judge.chat.ids(text))
        assert matcher.validate_tokens(ids) == len(ids)
    for text in (
        '{"claims":["ab"]}',
        '{"claims":  ["ab"]}',
        '{\n"claims": ["ab"]}',
        '{"claims": ["ab",\t"cd"]}',
    ):
        matcher.reset()
        ids = list(small_judge.chat.ids(text))
        assert matcher.validate_tokens(ids) < len(ids)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (MemoryError("no more"), OutOfMemory),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), OutOfMemory),
    ],
)
def test_a_prompt_for_which_memory_runs_out_fails_alone(
    small_judge: HuggingFaceJudge,
    monkeypatch: pytest.MonkeyPatch,
    raised: Exception,
    expected: type[VerdictError],
) -> None:
    read = small_judge._reader.read
    calls = iter([raised, None])

    def sometimes(chunks: Any) -> Any:
        if (error := next(calls)) is not None:
            raise error
        return read(chunks)

    monkeypatch.setattr(small_judge._reader, "read", sometimes)
    [failed, fine] = small_judge.decide([inquiries.relevance(QUERY, context) for context in CONTEXTS[:2]])
    assert isinstance(failed, expected)
    assert isinstance(fine, Judgment)


def test_scores_that_are_no_numbers_are_no_verdict(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = small_judge._reader.read

    def broken(chunks: Any) -> Any:
        scores, cache = read(chunks)
        return scores * float("nan"), cache

    monkeypatch.setattr(small_judge._reader, "read", broken)
    answers = list(small_judge.decide([inquiries.relevance(QUERY, "c"), inquiries.claims("Ann ran.")]))
    assert [type(answer) for answer in answers] == [NotANumber, NotANumber]


@pytest.mark.gpu
def test_a_gpu_gives_verdicts_too(small_judge: HuggingFaceJudge) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here")
    from localscore.judges.loading import load_judge

    judge = load_judge(small_judge.identity.name, device="cuda")
    assert len(answered(judge, closed_inquiries())) == len(closed_inquiries())
