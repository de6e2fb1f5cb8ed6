from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localscore import inquiries, score
from localscore.errors import ContextTooLong, NotANumber, OutOfMemory, OutputTruncated
from localscore.inquiries import Inquiry
from localscore.judges import Judge, answering, writing
from localscore.judges.arithmetic import Arithmetic
from localscore.judges.deciding import START
from localscore.judges.huggingface import HuggingFaceJudge
from localscore.judges.loading import load_model
from localscore.judges.units import Pass
from localscore.results import Judgment
from localscore.verdicts import Claims, MissingContext, legal_values
from tests.conftest import SMALL

pytestmark = pytest.mark.judge

CONTEXTS = (
    "The Orvenna bridge opened in 1931. It is 480 m long.",
    "Bananas are yellow and sweet.",
    "Its architect was Ada Finn. She was born in Brusk.",
)
QUERY, ANSWER = "When did the bridge open?", "It opened in 1931."


def closed_inquiries() -> list[Inquiry[Any]]:
    found: list[Inquiry[Any]] = []
    for context in CONTEXTS:
        level, used = inquiries.relevance(QUERY, context), inquiries.usage(QUERY, context, ANSWER)
        found += inquiries.together(level, used)
    found.append(inquiries.sufficiency(QUERY, CONTEXTS))
    for claim in ("The bridge opened in 1931.", "Ada Finn was born in Paris."):
        attribution, evidence = inquiries.attribution(claim, CONTEXTS), inquiries.evidence(claim, CONTEXTS)
        found += inquiries.together(attribution, evidence)
    return found


def roomy(text: str) -> Inquiry[Claims]:
    """Ask for claims with room for a judge that repeats itself until the list is full."""
    return replace(inquiries.claims(text), room=2000)


def answered(judge: Judge, asked: list[Inquiry[Any]]) -> list[Judgment]:
    answers = list(judge.decide(asked))
    judgments = [answer for answer in answers if isinstance(answer, Judgment)]
    assert len(judgments) == len(asked), answers
    return judgments


def plainly(judge: HuggingFaceJudge, inquiry: Inquiry[Any]) -> Any:
    """Return what plain Outlines writes in answer to a prompt: token by token, with nothing kept or drafted."""
    import outlines
    from outlines.types import JsonSchema

    model = outlines.from_transformers(judge._model, judge._tokenizer)
    schema = inquiry.verdict.model_json_schema() | {"x-guidance": answering.SPELLING}
    generate = outlines.Generator(model, JsonSchema(json.dumps(schema)), backend="llguidance")
    return json.loads(generate(inquiry.prompt, max_new_tokens=inquiry.room or 24, do_sample=False))


def test_a_closed_verdict_is_what_plain_outlines_writes(small_judge: HuggingFaceJudge) -> None:
    asked = [
        i for i in closed_inquiries() if i.question != "evidence"
    ]  # where numbers share digits, the greedy path need not be the likeliest
    for inquiry, judgment in zip(asked, answered(small_judge, asked), strict=True):
        assert plainly(small_judge, inquiry) == judgment.verdict


def test_an_open_verdict_is_what_plain_outlines_writes(small_judge: HuggingFaceJudge) -> None:
    asked: list[Inquiry[Any]] = [
        inquiries.claims("The Orvenna bridge, opened in 1931, is 480 m long. Ada Finn designed it."),
        inquiries.claims("Le pont fut ouvert en 1931."),
        inquiries.claims("Zoë opened it in 1931, at 5 % of the cost."),
        inquiries.missing_context(QUERY, CONTEXTS[1:]),
    ]
    for inquiry, judgment in zip(asked, answered(small_judge, asked), strict=True):
        assert plainly(small_judge, inquiry) == judgment.verdict


def test_drafts_change_the_cost_and_nothing_else(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Inquiry[Any]] = [
        inquiries.claims(" ".join(CONTEXTS)),
        inquiries.missing_context(QUERY, CONTEXTS),
    ]
    before = small_judge.tokens.passes
    drafted = answered(small_judge, asked)
    between = small_judge.tokens.passes
    monkeypatch.setattr(writing, "DRAFT", 0)
    assert answered(small_judge, asked) == drafted
    assert between - before < small_judge.tokens.passes - between


def test_every_legal_value_has_a_probability_and_they_make_one(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    for inquiry, judgment in zip(asked, answered(small_judge, asked), strict=True):
        assert judgment.probabilities is not None
        assert list(judgment.probabilities) == [value.label() for value in legal_values(inquiry.verdict)]
        assert sum(judgment.probabilities.values()) == pytest.approx(1.0, abs=1e-3)


def test_verdicts_do_not_depend_on_what_was_asked_before(small_judge: HuggingFaceJudge) -> None:
    asked = [*closed_inquiries(), roomy("Ann opened the bridge in 1931.")]
    together = answered(small_judge, asked)
    backwards = answered(small_judge, asked[::-1])[::-1]
    alone = []
    for inquiry in asked:
        small_judge._reader.forget()
        alone.extend(answered(small_judge, [inquiry]))
    assert together == backwards == alone


def unique_tokens(judge: HuggingFaceJudge, asked: list[Inquiry[Any]]) -> int:
    """Return how many tokens there are to read: the beginnings, token by token, of all prompts."""
    found: set[tuple[int, ...]] = set()
    for inquiry in asked:
        chunks = judge.chat.chunks(inquiry.chunks)
        prompt = [token for chunk in chunks for token in chunk]
        ends = [prompt]
        for fork in judge._legal_strings(inquiry.verdict).forks:
            ends.append([*(prompt if fork.after == START else ends[fork.after + 1]), *fork.path])
        found |= {tuple(end[: n + 1]) for end in ends for n in range(len(end))}
    return len(found)


def test_each_token_is_read_once(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    small_judge._reader.forget()
    before = replace(small_judge.tokens)
    answered(small_judge, asked)
    unique = unique_tokens(small_judge, asked)
    assert unique <= small_judge.tokens.read - before.read <= 1.1 * unique
    # Two instructions and all contexts are kept; then there is a pass a context, one for sufficiency, one a claim.
    assert small_judge.tokens.passes - before.passes == 3 + len(CONTEXTS) + 1 + 2


def test_what_is_asked_together_is_judged_as_if_alone(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    alone = answered(small_judge, [replace(inquiry, beside=()) for inquiry in asked])
    assert_close(answered(small_judge, asked), alone)


def assert_close(some: list[Judgment], others: list[Judgment]) -> None:
    for one, other in zip(some, others, strict=True):
        assert one.prompt_tokens == other.prompt_tokens
        assert one.verdict == other.verdict
        assert one.probabilities == pytest.approx(other.probabilities, abs=2e-4)


@pytest.fixture
def packing_judge(small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch) -> HuggingFaceJudge:
    """The small judge as it would be on a GPU: with several units in a pass."""
    judge = copy.copy(small_judge)
    monkeypatch.setattr(Arithmetic, "exact", False)
    judge.__dict__["batch_tokens"] = 4000
    return judge


def test_units_are_read_together_where_no_promise_forbids_it(
    packing_judge: HuggingFaceJudge, small_judge: HuggingFaceJudge
) -> None:
    asked = closed_inquiries()
    before = packing_judge.tokens.passes
    packing_judge._reader.forget()
    packed = answered(packing_judge, asked)
    # All questions about single contexts and all about the whole list are two passes; neither beginning is kept.
    assert packing_judge.tokens.passes - before <= 4
    packing_judge.__dict__["batch_tokens"] = 1
    assert_close(packed, answered(packing_judge, asked))


def test_a_pass_for_which_memory_runs_out_is_halved(
    packing_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = closed_inquiries()
    expected = answered(packing_judge, asked)
    scores = packing_judge._reader.found

    def with_little_memory(units: Pass) -> Any:
        if len(units.places) > 2:
            raise MemoryError("no more")
        return scores(units)

    monkeypatch.setattr(packing_judge._reader, "found", with_little_memory)
    assert_close(answered(packing_judge, asked), expected)
    assert packing_judge.batch_tokens < 4000


def test_models_that_do_not_keep_the_whole_past_are_read_segment_by_segment(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = closed_inquiries()
    expected = answered(small_judge, asked)
    monkeypatch.setattr(small_judge._reader, "_packs", False)
    assert_close(answered(small_judge, asked), expected)


def test_a_file_gives_the_same_bytes_for_any_budget_and_order(
    small_judge: HuggingFaceJudge, tmp_path: Path
) -> None:
    rows = [
        {
            "query": QUERY,
            "contexts": CONTEXTS[:n],
            "answer": ANSWER,
            "ground_truth": f"It opened in {1930 + n}.",
        }
        for n in (1, 2, 3)
    ]

    def lines(rows: list[dict[str, Any]], batch_tokens: int) -> list[str]:
        judge = load_model(SMALL, device="cpu", batch_tokens=batch_tokens)
        judge.__dict__["_model"] = small_judge._model
        return sorted(result.model_dump_json() for result in score(rows, judge=judge).results)

    named = [{"id": str(n), **row} for n, row in enumerate(rows)]
    assert lines(named, 1) == lines(named, 100_000) == lines(named[::-1], 100)


def test_open_verdicts_are_json_of_their_schema(small_judge: HuggingFaceJudge) -> None:
    texts = [
        "Ann opened the bridge in 1931.",
        "橋は1931年に完成しました。",
        'He said "no" \\ and left.',
        "-",
        "👩‍👧",
    ]
    asked: list[Inquiry[Any]] = [roomy(text) for text in texts]
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

    matcher = LLMatcher(small_judge._outlines.llg_tokenizer, small_judge._grammar(Claims))
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


OUT_OF_MEMORY = [MemoryError("no more"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]


@pytest.mark.parametrize("raised", OUT_OF_MEMORY)
@pytest.mark.parametrize("times", [1, 2])
def test_a_prompt_for_which_memory_runs_out_twice_fails_alone(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch, raised: Exception, times: int
) -> None:
    scores = small_judge._reader.found
    calls = iter([raised] * times)

    def sometimes(units: Pass) -> Any:
        if (error := next(calls, None)) is not None:
            raise error
        return scores(units)

    monkeypatch.setattr(small_judge._reader, "found", sometimes)
    first, second = small_judge.decide([inquiries.relevance(QUERY, context) for context in CONTEXTS[:2]])
    assert isinstance(first, OutOfMemory if times == 2 else Judgment)
    assert isinstance(second, Judgment)


def test_another_error_is_not_taken_for_one_of_memory(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(units: Pass) -> Any:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(small_judge._reader, "found", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        list(small_judge.decide([inquiries.relevance(QUERY, "c")]))


def test_scores_that_are_no_numbers_are_no_verdict(
    small_judge: HuggingFaceJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, begin = small_judge._reader.found, small_judge._reader.begin

    def no_numbers(units: Pass) -> Any:
        return [[one._replace(scores=[math.nan] * len(one.scores)) for one in unit] for unit in scores(units)]

    def nor_these(chunks: Any) -> Any:
        first, cache = begin(chunks)
        return first * math.nan, cache

    monkeypatch.setattr(small_judge._reader, "found", no_numbers)
    monkeypatch.setattr(small_judge._reader, "begin", nor_these)
    answers = list(small_judge.decide([inquiries.relevance(QUERY, "c"), inquiries.claims("Ann ran.")]))
    assert [type(answer) for answer in answers] == [NotANumber, NotANumber]


@pytest.mark.gpu
def test_a_gpu_gives_verdicts_too(small_judge: HuggingFaceJudge) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here")
    from localscore.judges.loading import load_model

    judge = load_model(small_judge.identity.name, device="cuda")
    assert len(answered(judge, closed_inquiries())) == len(closed_inquiries())


def test_the_information_in_a_text_is_what_plain_transformers_gives(small_judge: HuggingFaceJudge) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(small_judge.folder, dtype=torch.float32)
    level, used = inquiries.relevance(QUERY, CONTEXTS[0]), inquiries.usage(QUERY, CONTEXTS[0], ANSWER)
    asked = [*inquiries.together(level, used), inquiries.sufficiency(QUERY, CONTEXTS)]
    measured = [inquiries.measuring(one, {"relevance", "usage", "sufficiency"}) for one in asked]
    for inquiry, judgment in zip(measured, small_judge.decide(measured), strict=True):
        assert inquiry.compared is not None
        assert isinstance(judgment, Judgment)
        chunks = small_judge.chat.chunks(inquiry.chunks)
        ids = [token for chunk in chunks for token in chunk]
        first = sum(map(len, chunks[: inquiry.compared.chunk]))
        span = small_judge.chat.span(inquiry.chunks[inquiry.compared.chunk], *inquiry.compared[1:])
        with torch.inference_mode():
            logs = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)
        bits = [-float(logs[first + at - 1, ids[first + at]]) / math.log(2) for at in span]
        assert small_judge.chat.text([ids[first + at] for at in span]).strip() in (QUERY, ANSWER)
        assert judgment.bits == pytest.approx(sum(bits), abs=0.02)


def test_measuring_changes_no_probability(small_judge: HuggingFaceJudge) -> None:
    asked = closed_inquiries()
    measured = [
        inquiries.measuring(one, {"relevance", "usage", "attribution", "sufficiency"}) for one in asked
    ]
    assert_close(answered(small_judge, measured), answered(small_judge, asked))
