from __future__ import annotations

from typing import Any

import pytest

from localscore.contexts import contexts_of_results
from localscore.datasets import read
from localscore.errors import DataError
from localscore.messages import tool_results
from localscore.samples import Sample

CALL = {"toolCallId": "c1", "toolName": "search", "args": {}}
FOUND = {"relevantContext": [{"text": "Ann ran.", "page": 7}, {"text": "Bo slept."}], "sources": []}

MESSAGES: dict[str, list[dict[str, Any]]] = {
    "OpenAI": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "search"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": '["Ann ran.", "Bo slept."]'},
        {"role": "assistant", "content": "Ann."},
    ],
    "Anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "search", "input": {}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "Ann ran."}, {"type": "text", "text": "Bo slept."}],
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Ann."}]},
    ],
    "AI SDK 4": [
        {
            "role": "assistant",
            "content": "Ann.",
            "toolInvocations": [CALL | {"state": "result", "result": ["Ann ran.", "Bo slept."]}],
        }
    ],
    "AI SDK 5": [
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "output": {"type": "json", "value": {"results": ["Ann ran.", "Bo slept."]}},
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Ann."}]},
    ],
    "AI SDK 5, in parts": [
        {
            "role": "assistant",
            "parts": [
                {"type": "tool-search", "toolCallId": "c1", "state": "output-available", "output": FOUND},
                {"type": "text", "text": "Ann."},
            ],
        }
    ],
    "Mastra, each call twice": [
        {
            "role": "assistant",
            "content": {
                "parts": [
                    {
                        "type": "tool-invocation",
                        "toolInvocation": CALL | {"state": "result", "result": FOUND},
                    },
                    {"type": "text", "text": "Ann."},
                ],
                "toolInvocations": [CALL | {"state": "result", "result": FOUND}],
            },
        }
    ],
    "LangChain": [
        {"type": "ai", "content": "", "tool_calls": []},
        {"type": "tool", "tool_call_id": "c1", "content": '{"documents": ["Ann ran.", "Bo slept."]}'},
        {"type": "ai", "content": "Ann."},
    ],
}


@pytest.mark.parametrize("messages", MESSAGES.values(), ids=MESSAGES)
def test_what_tools_returned_is_the_context(messages: list[dict[str, Any]]) -> None:
    row = {"input": [{"role": "user", "content": "Who ran?"}], "output": messages}
    [sample] = read([row], contexts_from="tool-results").samples
    assert (sample.query, sample.contexts, sample.answer) == ("Who ran?", ("Ann ran.", "Bo slept."), "Ann.")


@pytest.mark.parametrize("messages", MESSAGES.values(), ids=MESSAGES)
def test_one_list_of_messages_is_a_sample(messages: list[dict[str, Any]]) -> None:
    row = {"messages": [{"role": "user", "content": "Who ran?"}, *messages]}
    [sample] = read([row], contexts_from="tool-results").samples
    assert (sample.query, sample.contexts, sample.answer) == ("Who ran?", ("Ann ran.", "Bo slept."), "Ann.")


def test_a_call_that_has_not_returned_is_no_context() -> None:
    assert tool_results([{"role": "assistant", "toolInvocations": [CALL | {"state": "call"}]}]) == []


def test_the_answers_tools_go_before_those_of_earlier_turns() -> None:
    earlier = [{"role": "tool", "content": "old"}, {"role": "user", "content": "Who ran?"}]
    row = {"input": earlier, "output": MESSAGES["OpenAI"]}
    assert read([row], contexts_from="tool-results").samples[0].contexts == ("Ann ran.", "Bo slept.")


def test_an_answer_without_tools_has_no_contexts() -> None:
    row = {"input": "Who ran?", "output": [{"role": "assistant", "content": "Ann."}]}
    assert read([row], contexts_from="tool-results").samples[0].contexts == ()


def test_a_row_without_messages_has_no_tool_results() -> None:
    with pytest.raises(DataError, match="is a list of messages"):
        read([{"input": "Who ran?", "output": "Ann."}], contexts_from="tool-results")


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ("Ann ran.", ["Ann ran."]),
        ("[not JSON", ["[not JSON"]),
        ({"text": "Ann ran.", "score": 1}, ["Ann ran."]),
        ({"temperature": 7}, ['{"temperature": 7}']),
        ([{"id": 1}, 7], ['{"id": 1}', "7"]),
        (None, []),
        ({"results": []}, []),
    ],
)
def test_results_of_many_shapes_are_texts(result: object, texts: list[str]) -> None:
    assert contexts_of_results([result]).texts == texts


def test_other_fields_of_contexts_are_kept_beside_the_rows_own() -> None:
    row = {"query": "Who?", "documents": [{"content": "Ann.", "id": 7}, "Bo."], "lang": "en"}
    [sample] = read([row]).samples
    assert sample == Sample(
        id="1",
        query="Who?",
        contexts=("Ann.", "Bo."),
        metadata={"lang": "en", "documents": [{"id": 7}, {}]},
    )
