from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.errors import DataError

GOOD: dict[str, Any] = {"query": "Who ran?", "contexts": ["Ann ran.", "Bo slept."], "answer": "Ann."}

Write = Callable[..., Path]


def without(field: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != field}


def line(row: object) -> bytes:
    if isinstance(row, bytes):
        return row
    return (row if isinstance(row, str) else json.dumps(row)).encode()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows to a file: objects as JSON, texts and bytes as they are."""

    def write(*rows: object) -> Path:
        path = tmp_path / "data.jsonl"
        path.write_bytes(b"".join(line(row) + b"\n" for row in rows))
        return path

    return write


BAD: dict[str, tuple[object, str]] = {
    "not JSON": ('{"query": "Who?"', "not JSON at column 17"),
    "two objects in a line": ("{} {}", "not JSON at column 4"),
    "NaN": ('{"query": "q", "contexts": [], "answer": NaN}', "NaN is not a JSON number"),
    "Infinity": ('{"query": "q", "contexts": [], "x": [Infinity]}', "Infinity is not a JSON number"),
    "-Infinity": ('{"query": "q", "contexts": [], "x": -Infinity}', "-Infinity is not a JSON number"),
    "too deep": ("[" * 100_000, "not JSON"),
    "a number too long to read": (f'{{"x": {"9" * 5_000}}}', "not JSON"),
    "a list": ([GOOD], "expected an object"),
    "a text": ('"query"', "expected an object"),
    "null": ("null", "expected an object"),
    "not UTF-8": (b'{"query": "caf\xe9"}', "byte 15 is not UTF-8"),
    "no query": (
        without("query"),
        "missing 'query' (recognised columns: query, user_input, question, input, prompt, messages; "
        "columns here: contexts, answer)",
    ),
    "an empty query": (GOOD | {"query": ""}, "'query' is blank; expected a text"),
    "a blank query": (GOOD | {"query": " \t\n\u3000"}, "'query' is blank; expected a text"),
    "null for a query": (GOOD | {"query": None}, "'query' is null; expected a text"),
    "a number for a query": (GOOD | {"query": 7}, "'query' is the number 7; expected a text"),
    "an object for a query": (GOOD | {"query": {"text": "Who?"}}, "'query' is an object; expected a text"),
    "no contexts": (
        without("contexts"),
        "missing 'contexts' (recognised columns: contexts, retrieved_contexts",
    ),
    "null for contexts": (GOOD | {"contexts": None}, "'contexts' is null; expected a list of texts"),
    "a text for contexts": (GOOD | {"contexts": "Ann."}, "'contexts' is a text; expected a list of texts"),
    "an object for contexts": (
        GOOD | {"contexts": {"a": "b"}},
        "'contexts' is an object; expected a list of texts",
    ),
    "a number in contexts": (GOOD | {"contexts": ["a", 7]}, "'contexts'[1] is the number 7; expected a text"),
    "null in contexts": (GOOD | {"contexts": ["a", None]}, "'contexts'[1] is null; expected a text"),
    "an object without a text in contexts": (
        GOOD | {"contexts": [{"body": "a", "id": 7}]},
        "'contexts'[0] has no text; its fields are body, id; expected one of text, content, page_content",
    ),
    "an object with two texts in contexts": (
        GOOD | {"contexts": ["a", {"text": "a", "content": "b"}]},
        "'contexts'[1] has 'text' and 'content'; expected one of",
    ),
    "no answer where one is needed": (
        without("answer"),
        "missing 'answer' (recognised columns: answer, response,",
    ),
    "null for an answer where one is needed": (GOOD | {"answer": None}, "missing 'answer'"),
    "a number for an answer": (GOOD | {"answer": 0.5}, "'answer' is the number 0.5; expected a text"),
    "true for an answer": (GOOD | {"answer": True}, "'answer' is true or false; expected a text"),
    "a list for a ground truth": (
        GOOD | {"ground_truth": ["Ann."]},
        "'ground_truth' is a list; expected a text",
    ),
    "a fraction for an id": (GOOD | {"id": 1.5}, "'id' is the number 1.5; expected a text"),
    "true for an id": (GOOD | {"id": True}, "'id' is true or false; expected a text"),
    "an id given twice": (GOOD | {"id": "first"}, "id 'first' is also that of row 1"),
    "a lone surrogate in a query": (
        GOOD | {"query": "a\ud800"},
        "'query' is a text that is not valid Unicode",
    ),
    "a lone surrogate in a context": (
        GOOD | {"contexts": ["a", "\udfff"]},
        "'contexts'[1] is a text that is not",
    ),
    "a lone surrogate in an answer": (
        GOOD | {"answer": "\ud800 a"},
        "'answer' is a text that is not valid Unicode",
    ),
    "a lone surrogate in a ground truth": (
        GOOD | {"ground_truth": "\ud800"},
        "'ground_truth' is a text that is not",
    ),
    "a lone surrogate in an id": (GOOD | {"id": "\ud800"}, "'id' is a text that is not valid Unicode"),
}


@pytest.mark.parametrize(("row", "told"), BAD.values(), ids=BAD)
def test_a_bad_row_is_told_with_file_and_line(row: object, told: str, write: Write) -> None:
    path = write(GOOD | {"id": "first"}, row, GOOD)
    with pytest.raises(DataError) as caught:
        read(path, needs=("answer",))
    [complaint] = caught.value.complaints
    assert complaint.startswith(f"{path}:2: ")
    assert told in complaint
    assert complaint in str(caught.value)
    assert "--skip-bad-rows" in caught.value.hint


@pytest.mark.parametrize(("row", "told"), BAD.values(), ids=BAD)
def test_a_bad_row_is_left_out_on_request(row: object, told: str, write: Write) -> None:
    path = write(GOOD | {"id": "first"}, row, GOOD)
    dataset = read(path, needs=("answer",), skip_bad_rows=True)
    assert [sample.id for sample in dataset.samples] == ["first", "3"]
    [complaint] = dataset.complaints
    assert complaint.startswith(f"{path}:2: ")
    assert told in complaint


def test_all_bad_rows_are_told_at_once(write: Write) -> None:
    bad = [row for row, _ in BAD.values()]
    path = write(GOOD | {"id": "first"}, *bad)
    with pytest.raises(DataError, match=f"{len(bad)} problems") as caught:
        read(path, needs=("answer",))
    lines = {int(complaint.removeprefix(f"{path}:").split(":")[0]) for complaint in caught.value.complaints}
    assert lines == set(range(2, len(bad) + 2))


def test_all_problems_of_a_row_are_told_each_with_its_line(write: Write) -> None:
    path = write({"query": "", "contexts": "Ann ran."})
    with pytest.raises(DataError) as caught:
        read(path)
    assert len(caught.value.complaints) == 2
    assert all(complaint.startswith(f"{path}:1: ") for complaint in caught.value.complaints)


def test_nothing_good_to_keep_is_an_error_even_when_bad_rows_may_be_left_out(write: Write) -> None:
    with pytest.raises(DataError, match="no good rows") as caught:
        read(write("{", without("query")), skip_bad_rows=True)
    assert len(caught.value.complaints) == 2


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_file_without_rows_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match="holds no rows") as caught:
        read(path)
    assert str(path) in caught.value.message
    assert "JSON object a line" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "told"), [("absent.jsonl", "There is no file"), (".", "holds no file that is read")]
)
def test_what_is_no_file_is_an_error(name: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(DataError, match=told) as caught:
        read(path)
    assert repr(str(path)) in caught.value.message
    assert ".jsonl" in caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        b"%s\n%s\n",
        b"%s\n%s",
        b"%s\r\n%s\r\n",
        b"\xef\xbb\xbf%s\n%s\n",
        b"\xef\xbb\xbf%s\r\n%s",
        b"\n\n  %s  \n\n%s\n\n",
    ],
    ids=["plain", "no last newline", "CRLF", "BOM", "BOM and CRLF", "blank lines"],
)
def test_the_layout_of_a_file_does_not_matter(content: bytes, tmp_path: Path) -> None:
    rows = [GOOD | {"id": "a"}, GOOD | {"id": "b", "query": "Who slept?\u2028\x85"}]
    path = tmp_path / "data.jsonl"
    path.write_bytes(content % tuple(json.dumps(row, ensure_ascii=False).encode() for row in rows))
    dataset = read(path)
    assert dataset.samples == read(rows).samples
    assert dataset.sha256 == read(rows).sha256


def test_surrogate_pairs_are_one_character(write: Write) -> None:
    path = write(r'{"query": "\ud83d\ude00?", "contexts": []}')
    assert read(path).samples[0].query == "😀?"


@pytest.mark.parametrize(
    "rows", [(GOOD, '{"query": "Où ?", "contexts": []}'), (GOOD, "{", b"\xff")], ids=["good", "bad"]
)
def test_standard_input_is_read_like_a_file(
    rows: tuple[object, ...], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(*rows)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes()), encoding="ascii"))
    dataset, expected = read("-", skip_bad_rows=True), read(path, skip_bad_rows=True)
    assert dataset.samples == expected.samples
    assert list(dataset.complaints) == [c.replace(str(path), "<stdin>") for c in expected.complaints]


def test_a_row_without_an_id_gets_its_line_number(write: Write) -> None:
    path = write(GOOD, "", GOOD | {"id": "mine"}, GOOD | {"id": 70}, GOOD)
    assert [sample.id for sample in read(path).samples] == ["1", "mine", "70", "5"]


def test_an_id_that_is_the_line_number_of_another_row_is_refused(write: Write) -> None:
    with pytest.raises(DataError, match="id '2' is also that of row 1"):
        read(write(GOOD | {"id": 2}, GOOD))


@pytest.mark.parametrize(
    ("limit", "ids"), [(1, ["1"]), (2, ["1", "2"]), (3, ["1", "2", "3"]), (9, ["1", "2", "3"])]
)
def test_a_limit_takes_the_first_rows(limit: int, ids: list[str], write: Write) -> None:
    assert [sample.id for sample in read(write(GOOD, GOOD, GOOD), limit=limit).samples] == ids


def test_a_limit_counts_good_rows(write: Write) -> None:
    path = write(without("query"), GOOD, "{", GOOD, GOOD)
    assert [sample.id for sample in read(path, limit=2, skip_bad_rows=True).samples] == ["2", "4"]


@pytest.mark.parametrize("row", [without("query"), "{", b"\xff"], ids=["no query", "not JSON", "not UTF-8"])
def test_rows_beyond_the_limit_are_not_looked_at(row: object, write: Write) -> None:
    dataset = read(write(GOOD, row), limit=1)
    assert len(dataset.samples) == 1
    assert dataset.complaints == ()


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "note",
    ["text", 7, 10**30, None, [1, {"a": "b"}]],
    ids=["text", "number", "long number", "null", "nested"],
)
def test_other_columns_are_kept_whatever_they_hold(note: object, write: Write) -> None:
    assert read(write(GOOD | {"note": note})).samples[0].metadata == {"note": note}


@pytest.mark.parametrize("note", [deep(400), "\ud800"], ids=["deeply nested", "lone surrogate"])
def test_other_columns_that_cannot_be_written_again_are_told(note: object, write: Write) -> None:
    with pytest.raises(DataError, match=r":1: its other columns (are nested|cannot be written)"):
        read(write(GOOD | {"note": note}))


SAME: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "ours": (GOOD, {}),
    "in another order": (dict(reversed(GOOD.items())), {}),
    "ragas": (
        {"user_input": GOOD["query"], "retrieved_contexts": GOOD["contexts"], "response": GOOD["answer"]},
        {},
    ),
    "DeepEval": (
        {"input": GOOD["query"], "retrieval_context": GOOD["contexts"], "actual_output": GOOD["answer"]},
        {},
    ),
    "Mastra": (
        {
            "input": {"inputMessages": [{"role": "user", "content": GOOD["query"]}]},
            "options": {"context": GOOD["contexts"]},
            "output": [{"role": "assistant", "content": GOOD["answer"]}],
        },
        {},
    ),
    "mapped": (without("query") | {"frage": GOOD["query"]}, {"frage": "query"}),
    "mapped into an object": (without("query") | {"a": {"q": GOOD["query"]}}, {"a.q": "query"}),
    "mapped from a name with a dot": (without("query") | {"a.q": GOOD["query"]}, {"a.q": "query"}),
}


@pytest.mark.parametrize(("row", "mapping"), SAME.values(), ids=SAME)
def test_the_names_of_columns_do_not_change_the_hash(row: dict[str, Any], mapping: dict[str, str]) -> None:
    assert read([row], mapping=mapping).sha256 == read([GOOD]).sha256


@pytest.mark.parametrize(
    "changes",
    [
        {"query": "Who ran"},
        {"contexts": ["Bo slept.", "Ann ran."]},
        {"contexts": ["Ann ran.Bo slept."]},
        {"answer": None},
        {"ground_truth": "Ann."},
        {"id": "2"},
    ],
)
def test_what_a_sample_says_changes_the_hash(changes: dict[str, Any]) -> None:
    assert read([GOOD | changes]).sha256 != read([GOOD]).sha256


def test_rows_in_memory_are_read_like_a_file(write: Write) -> None:
    rows = [GOOD, GOOD | {"id": "b", "lang": "en"}]
    assert read(iter(rows)).samples == read(write(*rows)).samples


def test_what_is_no_row_in_memory_is_told_by_its_number() -> None:
    rows: list[Any] = [GOOD, "query", None]
    with pytest.raises(DataError) as caught:
        read(rows)
    assert caught.value.complaints == (
        "row 2: is str; expected a mapping",
        "row 3: is NoneType; expected a mapping",
    )


def test_a_dataset_says_how_it_was_read(write: Write) -> None:
    path = write({"frage": "Who?", "documents": []})
    dataset = read(path, mapping={"frage": "query"}, limit=5, skip_bad_rows=True)
    assert dataset.source == str(path)
    assert dict(dataset.columns) == {"query": "frage", "contexts": "documents"}
    assert dict(dataset.options) == {
        "mapping": {"frage": "query"},
        "limit": 5,
        "skip_bad_rows": True,
        "contexts_from": "column",
        "split_contexts": None,
    }
