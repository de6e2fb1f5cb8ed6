from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from localscore import inquiries
from localscore.errors import DataError, OptionError
from localscore.labelled import Labelled, chosen, read

ROWS: dict[str, dict[str, Any]] = {
    "relevance": {"id": "r1", "query": "Who ran?", "passage": "Ann ran.", "level": "high", "set": "races"},
    "attribution": {"id": "a1", "claim": "Ann ran.", "contexts": ["It was Ann who ran."], "label": "yes"},
    "usage": {
        "id": "u1",
        "query": "Who ran?",
        "contexts": ["Ann ran.", "Bob slept."],
        "answer": "Ann.",
        "used": [True, False],
    },
    "sufficiency": {
        "id": "s1",
        "query": "When did Ann run?",
        "contexts": ["Ann ran."],
        "sufficient": False,
        "missing": ["the day of the run"],
        "missing_answer": ["Monday"],
    },
    "claims": {"id": "c1", "text": "Ann ran and won.", "claims": ["Ann ran.", "Ann won."], "lang": "fr"},
    "other": {"id": "r1", "shape": "relevance", "model": "big", "pred": 2, "split": "dev"},
    "unknown": {"id": "e1", "answers": ["Ann.", "Bob."]},
}


def written(folder: Path, *rows: Any, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_a_folder_is_read_and_kinds_are_known_by_their_fields(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS.values()):
        written(tmp_path, row, name=f"{number}.jsonl")
    records = read(tmp_path)
    assert Counter(item.kind for item in records.items) == {
        "relevance": 1,
        "attribution": 1,
        "usage": 2,
        "sufficiency": 1,
        "claims": 1,
    }
    assert [(one.model, one.pred) for one in records.others] == [("big", 2)]
    assert [Path(file).name for file in records.left_out] == ["6.jsonl"]


def test_fields_are_taken_over(tmp_path: Path) -> None:
    items = [
        read(written(tmp_path, row)).items for name, row in ROWS.items() if name not in ("other", "unknown")
    ]
    relevance, attribution, usage, sufficiency, claims = items
    assert relevance[0] == Labelled(
        "relevance", "r1", "high", "Who ran?", ("Ann ran.",), set="races", cluster="Who ran?"
    )
    assert (attribution[0].gold, attribution[0].cluster) == (True, "Ann ran.")
    assert [(item.id, item.gold, item.contexts) for item in usage] == [
        ("u1/0", True, ("Ann ran.",)),
        ("u1/1", False, ("Bob slept.",)),
    ]
    assert (sufficiency[0].missing, sufficiency[0].missing_answer) == (("the day of the run",), ("Monday",))
    assert (claims[0].gold, claims[0].lang) == (("Ann ran.", "Ann won."), "fr")


@pytest.mark.parametrize(("grade", "level"), [(0, "none"), (1, "low"), (2, "medium"), (3, "high")])
def test_a_grade_is_a_level(tmp_path: Path, grade: int, level: str) -> None:
    row = {"id": 7, "query": "Who?", "passage": "Ann.", "grade": grade, "scale": "binary"}
    [item] = read(written(tmp_path, row)).items
    assert (item.id, item.gold, item.binary) == ("7", level, True)


def test_questions_are_asked_as_the_metrics_ask_them() -> None:
    usage = Labelled("usage", "1", True, "Who?", ("Ann.",), "Ann.")
    beside = inquiries.together(inquiries.relevance("Who?", "Ann."), inquiries.usage("Who?", "Ann.", "Ann."))
    assert usage.inquiries() == beside[1:]
    attribution = Labelled("attribution", "1", True, "Ann ran.", ("Ann ran. Bob slept.",))
    [asked] = attribution.inquiries()
    assert [one.verdict.__name__ for one in asked.beside] == ["Attribution", "Evidence"]
    claims = Labelled("claims", "1", (), "One. Two. Three. Four. Five.")
    assert [asked.texts["text"] for asked in claims.inquiries()] == ["One. Two. Three. Four.", "Five."]


def test_other_judges_beside_a_single_file_are_found(tmp_path: Path) -> None:
    written(tmp_path, ROWS["other"], name="other_judges.jsonl")
    assert len(read(written(tmp_path, ROWS["relevance"])).others) == 1


@pytest.mark.parametrize(
    ("kind", "changes", "complaint"),
    [
        ("attribution", {"label": "perhaps"}, "rows.jsonl:2: 'label' is 'perhaps'; expected 'yes' or 'no'"),
        ("attribution", {"contexts": []}, "rows.jsonl:2: 'contexts' is []; expected"),
        ("attribution", {"contexts": [" "]}, "rows.jsonl:2: 'contexts[0]' is blank; expected a text"),
        ("relevance", {"level": None}, "rows.jsonl:2: expected a 'level', or a 'grade'"),
        ("relevance", {"grade": 0}, "rows.jsonl:2: 'level' is high, but 'grade' is 0"),
        ("usage", {"used": [True]}, "rows.jsonl:2: 'used' has 1 verdicts for 2 contexts"),
        ("claims", {"id": "first"}, "rows.jsonl:2: id 'first' is there twice"),
    ],
)
def test_a_bad_row_is_named_with_its_line(
    tmp_path: Path, kind: str, changes: dict[str, Any], complaint: str
) -> None:
    path = written(tmp_path, ROWS[kind] | {"id": "first"}, ROWS[kind] | changes)
    with pytest.raises(DataError) as caught:
        read(path)
    assert complaint in str(caught.value)


def test_all_bad_rows_are_named(tmp_path: Path) -> None:
    incomplete = {name: value for name, value in ROWS["claims"].items() if name != "claims"}
    with pytest.raises(DataError) as caught:
        read(written(tmp_path, ROWS["claims"], "{", "[]", incomplete))
    told = [complaint.split("rows.jsonl:")[1] for complaint in caught.value.complaints]
    assert [one[0] for one in told] == ["2", "3", "4"]
    assert told[2] == "4: missing 'claims'"


@pytest.mark.parametrize("rows", [(), (ROWS["unknown"],), (ROWS["other"],)])
def test_a_file_without_judgments_is_refused(tmp_path: Path, rows: tuple[Any, ...]) -> None:
    with pytest.raises(DataError, match="holds no human judgments"):
        read(written(tmp_path, *rows))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file or folder"):
        read(tmp_path / "nowhere.jsonl")


def test_a_choice_is_the_same_every_time_and_spread_over_sets() -> None:
    items = [Labelled("claims", str(n), (), "Ann ran.", set="abc"[n % 3 if n < 6 else 0]) for n in range(60)]
    few = chosen(items, limit=9)
    assert Counter(item.set for item in few) == {"a": 5, "b": 2, "c": 2}
    assert few == chosen(tuple(items), limit=9)
    assert [item.id for item in few] != [str(n) for n in range(9)]
    assert set(few) <= set(chosen(items, limit=20)), "more records keep the ones chosen before"


def test_kinds_and_sets_are_chosen_by_name() -> None:
    items = [
        Labelled("claims", "1", (), "Ann ran.", set="a"),
        Labelled("usage", "2", True, "Who?", ("Ann.",), "Ann.", set="b"),
    ]
    assert chosen(items, kinds=["usage"]) == (items[1],)
    assert chosen(items, sets=["a"]) == (items[0],)
    with pytest.raises(OptionError, match="'relevance'") as caught:
        chosen(items, kinds=["relevance"])
    assert "claims, usage" in caught.value.hint
    with pytest.raises(OptionError, match="no records of these kinds in these sets"):
        chosen(items, kinds=["usage"], sets=["a"])
