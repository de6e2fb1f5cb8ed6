from __future__ import annotations

from pathlib import Path

import pytest

from localscore.datasets import read
from localscore.errors import DataError

HEADER = "question,contexts,answer\n"
GOOD = 'Who ran?,"[""Ann ran.""]",Ann.\n'


def write(folder: Path, text: str | bytes, name: str = "rag.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


CELLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "JSON": ('"[""Ann, ran."", ""B""]"', ("Ann, ran.", "B")),
    "an empty list": ("[]", ()),
    "what pandas writes": ('"[\'Ann ran.\', ""It\'s B""]"', ("Ann ran.", "It's B")),
    "JSON objects": ('"[{""page_content"": ""Ann."", ""metadata"": {}}]"', ("Ann.",)),
    "JSON over lines": ('"[\n""Ann.""\n]"', ("Ann.",)),
}


@pytest.mark.parametrize(("cell", "contexts"), CELLS.values(), ids=CELLS)
def test_a_cell_holds_a_list(cell: str, contexts: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}Who ran?,{cell},Ann.\n")
    assert read(path).samples[0].contexts == contexts


def test_a_cell_of_text_is_no_list_unless_it_is_told_how_to_split_it(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}Who ran?,Ann ran.|Bo slept.,Ann.\n")
    with pytest.raises(DataError, match="'contexts' is a text; expected a list of texts") as caught:
        read(path)
    assert "--split-contexts" in str(caught.value)
    assert read(path, split_contexts="|").samples[0].contexts == ("Ann ran.", "Bo slept.")


def test_a_column_that_is_named_context_holds_one(tmp_path: Path) -> None:
    path = write(tmp_path, "question,context,answer\nWho ran?,Ann ran.,Ann.\n")
    assert read(path).samples[0].contexts == ("Ann ran.",)


def test_cells_may_be_longer_than_pythons_own_limit(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}Who ran?,[],{'a' * 200_000}\n")
    assert len(read(path).samples[0].answer or "") == 200_000


def test_an_empty_cell_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}Who ran?,[],\n")
    assert read(path).samples[0].answer is None


def test_empty_lines_are_no_rows_and_ids_are_the_lines_where_rows_begin(tmp_path: Path) -> None:
    path = write(tmp_path, f'{HEADER}"Who\nran?",[],Ann.\n\n{GOOD}')
    assert [sample.id for sample in read(path).samples] == ["2", "5"]


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "a quote without end": (f'{HEADER}{GOOD}"Who,[],Ann.\n', ":3: not CSV: unexpected end of data"),
    "text after a quote": (f'{HEADER}{GOOD}"Who"?,[],Ann.\n', ":3: not CSV: "),
    "too few cells": (f"{HEADER}{GOOD}Who?,[]\n", ":3: has 2 cells; expected 3"),
    "too many cells": (f"{HEADER}{GOOD}Who?,[],a,b\n", ":3: has 4 cells; expected 3"),
    "Latin-1": (f"{HEADER}{GOOD}".encode() + b"O\xf9 ?,[],a\n", ":3: byte 2 is not UTF-8"),
    "a blank question": (f"{HEADER}{GOOD} ,[],a\n", ":3: 'question' is blank"),
}


@pytest.mark.parametrize(("content", "told"), BROKEN.values(), ids=BROKEN)
def test_a_bad_record_is_told_with_its_line(content: str | bytes, told: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read(path)
    [complaint] = caught.value.complaints
    assert complaint.startswith(f"{path}{told}")
    assert len(read(path, skip_bad_rows=True).samples) == 1


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="two columns are named 'answer'"):
        read(write(tmp_path, "question,answer,answer\n"))


def test_a_header_without_rows_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no rows"):
        read(write(tmp_path, HEADER))
