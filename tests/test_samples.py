from __future__ import annotations

from typing import Any

import pytest

from localscore.columns import recognise
from localscore.errors import OptionError
from localscore.messages import has_messages
from localscore.samples import RowError, Sample

OURS: dict[str, Any] = {
    "query": "Who ran?",
    "contexts": ["Ann ran.", "Bo slept."],
    "answer": "Ann.",
    "ground_truth": "Ann ran.",
}

NAMES = [
    *[("query", name) for name in ("query", "user_input", "question", "input", "prompt")],
    *[
        ("contexts", name)
        for name in ("contexts", "retrieved_contexts", "retrieval_context", "retrievalContext")
    ],
    *[("contexts", name) for name in ("options.context", "documents", "passages")],
    *[
        ("answer", name)
        for name in ("answer", "response", "actual_output", "actualOutput", "output", "prediction")
    ],
    *[("ground_truth", name) for name in ("ground_truth", "reference", "expected_output", "expectedOutput")],
    *[("ground_truth", name) for name in ("groundTruth", "expected", "target")],
]

ROWS: dict[str, dict[str, Any]] = {
    "ragas": {
        "user_input": "Who ran?",
        "retrieved_contexts": ["Ann ran.", "Bo slept."],
        "response": "Ann.",
        "reference": "Ann ran.",
    },
    "older ragas": {
        "question": "Who ran?",
        "contexts": ["Ann ran.", "Bo slept."],
        "answer": "Ann.",
        "ground_truth": "Ann ran.",
    },
    "DeepEval": {
        "input": "Who ran?",
        "retrieval_context": ["Ann ran.", "Bo slept."],
        "actual_output": "Ann.",
        "expected_output": "Ann ran.",
    },
    "Mastra": {
        "input": {"inputMessages": [{"role": "user", "content": "Who ran?"}]},
        "output": [{"role": "assistant", "content": {"parts": [{"type": "text", "text": "Ann."}]}}],
        "options": {"context": ["Ann ran.", "Bo slept."]},
        "groundTruth": "Ann ran.",
    },
    "Mastra with texts": {
        "input": "Who ran?",
        "output": "Ann.",
        "options": {"context": ["Ann ran.", "Bo slept."]},
        "groundTruth": "Ann ran.",
    },
    "Mastra with a list of messages": {
        "input": [{"role": "user", "content": "Who ran?"}],
        "output": [{"role": "assistant", "content": "Ann."}],
        "options": {"context": ["Ann ran.", "Bo slept."]},
        "groundTruth": "Ann ran.",
    },
}

CONTENTS: dict[str, Any] = {
    "a string": "right",
    "a part": [{"type": "text", "text": "right"}],
    "several parts": [{"type": "text", "text": "wrong"}, {"type": "text", "text": "right"}],
    "parts of other kinds": [
        {"type": "text", "text": "right"},
        {"type": "reasoning", "text": "wrong"},
        {"type": "tool-invocation", "toolInvocation": {"result": "wrong"}},
    ],
    "an object with content": {"content": "right"},
    "an object with text": {"text": "right"},
    "an object with parts": {"parts": [{"type": "text", "text": "wrong"}, {"type": "text", "text": "right"}]},
    "an object with content that is parts": {"content": [{"type": "text", "text": "right"}]},
    "an object with content and parts": {
        "format": 2,
        "content": "right",
        "parts": [{"type": "text", "text": "right"}],
    },
    "an object with parts and empty content": {"content": "", "parts": [{"type": "text", "text": "right"}]},
}


def nested(row: dict[str, Any]) -> dict[str, Any]:
    """The same row with dotted columns as objects."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        *path, last = name.split(".")
        inside = found
        for key in path:
            inside = inside.setdefault(key, {})
        inside[last] = value
    return found


def read(row: dict[str, Any], mapping: dict[str, str] | None = None, **options: Any) -> Sample:
    return Sample.from_row(row, default_id="1", names=recognise([row], mapping), **options)


@pytest.mark.parametrize(("field", "name"), NAMES)
def test_every_name_of_the_table_is_recognised(field: str, name: str) -> None:
    row = {name if ours == field else ours: value for ours, value in OURS.items()}
    assert read(nested(row)) == read(OURS)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_rows_of_other_tools_need_no_mapping(row: dict[str, Any]) -> None:
    assert read(row) == Sample(
        id="1", query="Who ran?", contexts=("Ann ran.", "Bo slept."), answer="Ann.", ground_truth="Ann ran."
    )


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_message_content_has_many_shapes(content: object) -> None:
    row = {
        "input": {"inputMessages": [{"role": "user", "content": content}]},
        "output": [{"role": "assistant", "content": content}],
        "contexts": [],
    }
    sample = read(row)
    assert (sample.query, sample.answer) == ("right", "right")


def test_the_first_user_message_asks_and_the_first_assistant_message_answers() -> None:
    messages = [
        {"role": role, "content": f"{role} {turn}"}
        for turn in (1, 2)
        for role in ("system", "assistant", "user")
    ]
    sample = read({"input": {"inputMessages": messages}, "output": messages, "contexts": []})
    assert (sample.query, sample.answer) == ("user 1", "assistant 1")


def test_only_query_and_contexts_must_be_there() -> None:
    assert read({"query": "Who?", "contexts": []}) == Sample(id="1", query="Who?", contexts=())


def test_contexts_keep_their_order() -> None:
    assert read({"query": "q", "contexts": ["b", "a", "b"]}).contexts == ("b", "a", "b")


@pytest.mark.parametrize(("value", "expected"), [("a-7", "a-7"), (7, "7"), (0, "0"), ("", "")])
def test_ids_are_texts_or_whole_numbers(value: object, expected: str) -> None:
    assert read(OURS | {"id": value}).id == expected


def test_other_columns_are_kept_as_metadata() -> None:
    others = {"lang": "en", "tags": ["a", {"b": None}], "reference_contexts": ["x"]}
    assert read(OURS | others).metadata == others


@pytest.mark.parametrize(
    ("mapping", "row"),
    [
        ({"frage": "query"}, {"frage": "Who?", "contexts": ["Ann."]}),
        ({"frage": "query", "texte": "contexts"}, {"frage": "Who?", "texte": ["Ann."]}),
        ({"a.q": "query", "a.found.texts": "contexts"}, {"a": {"q": "Who?", "found": {"texts": ["Ann."]}}}),
        ({"a.q": "query"}, {"a.q": "Who?", "contexts": ["Ann."]}),
        ({"chat": "query"}, {"chat": [{"role": "user", "content": "Who?"}], "contexts": ["Ann."]}),
        ({"frage": "query"}, {"frage": "Who?", "question": "Why?", "input": "Why?", "contexts": ["Ann."]}),
    ],
)
def test_a_mapping_names_columns(mapping: dict[str, str], row: dict[str, Any]) -> None:
    sample = read(row, mapping)
    assert (sample.query, sample.contexts) == ("Who?", ("Ann.",))


def test_a_mapping_goes_before_our_own_name() -> None:
    sample = read(OURS | {"frage": "Why?"}, {"frage": "query"})
    assert sample.query == "Why?"
    assert sample.metadata == {"query": "Who ran?"}


def test_a_mapped_column_with_a_dot_in_its_name_leaves_the_others_to_metadata() -> None:
    row = {"a.q": "Who?", "a": "another column", "contexts": []}
    assert read(row, {"a.q": "query"}).metadata == {"a": "another column"}


def test_our_own_name_goes_before_those_of_other_tools() -> None:
    assert read(OURS | {"question": "Why?", "input": "Why?"}).query == "Who ran?"


@pytest.mark.parametrize(
    ("field", "first", "second"),
    [
        ("query", "user_input", "question"),
        ("contexts", "documents", "passages"),
        ("answer", "response", "prediction"),
        ("ground_truth", "reference", "target"),
    ],
)
def test_two_columns_for_one_field_are_refused_with_the_map_to_add(
    field: str, first: str, second: str
) -> None:
    row = {ours: value for ours, value in OURS.items() if ours != field}
    row |= {first: OURS[field], second: OURS[field]}
    with pytest.raises(OptionError) as caught:
        recognise([row])
    assert all(repr(name) in caught.value.message for name in (first, second))
    assert f"--map {first}={field}" in caught.value.hint
    assert recognise([row], {first: field})[field] == first


def test_two_columns_for_one_field_are_refused_when_they_are_in_different_rows() -> None:
    with pytest.raises(OptionError, match="'user_input' and 'question'"):
        recognise([{"question": "q", "contexts": []}, {"user_input": "q", "contexts": []}])


def test_a_mapping_to_an_unknown_field_is_refused_with_the_fields_there_are() -> None:
    with pytest.raises(OptionError, match="no field 'querry'") as caught:
        recognise([OURS], {"query": "querry"})
    assert "query, contexts, answer, ground_truth, id" in caught.value.hint


@pytest.mark.parametrize("column", ["frage", "query.text", "a.b"])
def test_a_mapping_from_an_unknown_column_is_refused_with_the_columns_there_are(column: str) -> None:
    with pytest.raises(OptionError, match=f"no row has a column '{column}'") as caught:
        recognise([{"query": "q", "contexts": [], "a": {}}], {column: "query"})
    assert "a, contexts, query" in caught.value.hint


def test_a_mapping_of_two_columns_to_one_field_is_refused() -> None:
    with pytest.raises(OptionError, match="query"):
        recognise([{"a": "q", "b": "q", "contexts": []}], {"a": "query", "b": "query"})


def test_a_mapped_column_may_be_in_only_some_rows() -> None:
    rows = [{"query": "q", "contexts": []}, {"query": "q", "contexts": [], "gold": "g"}]
    assert recognise(rows, {"gold": "ground_truth"})["ground_truth"] == "gold"


def test_all_problems_of_a_row_are_told() -> None:
    with pytest.raises(RowError) as caught:
        read({"query": " ", "contexts": "Ann ran.", "ground_truth": 1}, needs=("answer",))
    assert len(caught.value.problems) == 4
    for field in ("answer", "query", "contexts", "ground_truth"):
        assert any(repr(field) in problem for problem in caught.value.problems), field


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("input", {"inputMessages": [{"role": "system", "content": "Be kind."}]}),
        ("input", {"inputMessages": []}),
        ("input", {"inputMessages": [{"role": "user", "content": [{"type": "image"}]}]}),
        ("query", ["Who?"]),
    ],
)
def test_messages_without_a_text_of_the_user_are_not_told_as_null(column: str, value: object) -> None:
    with pytest.raises(RowError) as caught:
        read({column: value, "contexts": []})
    [problem] = caught.value.problems
    assert column in problem
    assert "null" not in problem


def test_messages_without_a_text_of_the_assistant_are_told_not_left_out() -> None:
    with pytest.raises(RowError, match="'output'"):
        read({"query": "Who?", "contexts": [], "output": [{"role": "user", "content": "Who?"}]})


@pytest.mark.parametrize(
    "source",
    ["Who?", {"inputMessages": [{"role": "user", "content": {"parts": [{"type": "text", "text": "Who?"}]}}]}],
)
@pytest.mark.parametrize("output", ["Ann.", [{"role": "assistant", "content": "Ann."}]])
def test_a_run_of_an_agent_is_a_sample(source: object, output: object) -> None:
    run = {"input": source, "output": output, "runId": "r7"}
    expected = Sample(id="r7", query="Who?", contexts=("Ann ran.",), answer="Ann.", ground_truth="Ann ran.")
    assert Sample.from_run(run, ["Ann ran."], ground_truth="Ann ran.") == expected


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"output": "Ann."}, "input"),
        ({"input": None, "output": "Ann."}, "input"),
        ({"input": "  ", "output": "Ann."}, "input"),
        (
            {"input": {"inputMessages": [{"role": "system", "content": "Be kind."}]}, "output": "Ann."},
            "input",
        ),
        ({"input": "Who?", "output": 3}, "output"),
    ],
)
def test_a_run_without_a_question_or_with_a_wrong_answer_is_refused(run: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=f"run's {told}") as caught:
        Sample.from_run(run, ["Ann ran."])
    assert "inputMessages" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inputMessages": [{"role": "user", "content": "Who?"}]}, True),
        ([{"role": "assistant", "content": "Ann."}], True),
        ("Who?", False),
        (None, False),
        ([], False),
        ({"inputMessages": []}, False),
        ({"query": "Who?"}, False),
        (["Who?"], False),
        ([{"role": "user"}, {"content": "Who?"}], False),
    ],
)
def test_messages_are_the_shape_of_an_agent(value: object, expected: bool) -> None:
    assert has_messages(value) is expected
