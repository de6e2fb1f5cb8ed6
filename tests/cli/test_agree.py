from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from localscore.agreement import load_agreement, load_answers
from localscore.judges.scripted import ScriptedJudge
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)
from tests.conftest import VERDICTS, scripted


def judgments(folder: Path, count: int = 6) -> Path:
    """Made-up judgments of every kind, in two sets."""
    folder.mkdir(exist_ok=True)
    rows: dict[str, list[dict[str, Any]]] = {}
    for n in range(count):
        same = {"id": f"r{n}", "set": "ab"[n % 2], "lang": "en"}
        text = f"Runner {n} won race {n}."
        asked = same | {"query": f"Who won race {n}?", "contexts": [text if n % 2 else "Nobody knows."]}
        rows.setdefault("relevance", []).append(
            same | {"query": f"Who won race {n}?", "passage": asked["contexts"][0], "grade": n % 4}
        )
        rows.setdefault("attribution", []).append(
            same | {"claim": text, "contexts": asked["contexts"], "label": ["no", "yes"][n % 2]}
        )
        rows.setdefault("usage", []).append(asked | {"answer": text, "used": [n % 2 == 1]})
        rows.setdefault("sufficiency", []).append(
            asked | {"sufficient": n % 2 == 1, "missing": ["the winner"]}
        )
        rows.setdefault("claims", []).append(same | {"text": text, "claims": [text]})
        rows.setdefault("other_judges", []).append(
            {"id": f"r{n}", "shape": "relevance", "model": "a-rival", "pred": n % 4}
        )
    for name, of_kind in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in of_kind))
    (folder / "pairs.jsonl").write_text('{"id": "p", "answers": []}\n')
    return folder


def test_tables_are_printed_and_a_folder_written(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    code, printed, talk = shell("agree", judgments(tmp_path / "j"), "--judge", "x", "--out", out)
    assert code == 0
    for word in (
        "relevance · 6 records of 6 queries",
        "attribution",
        "quad. κ",
        "scripted",
        "word overlap",
        "a-rival",
        "by set and language",
        "people ↓ judge →",
        "Of 3 gold missing items the judge names 0.00",
        "ECE",
    ):
        assert word in printed
    assert "Left out:" in talk
    assert "pairs.jsonl" in talk
    agreement = load_agreement(out)
    assert list(agreement.kinds) == ["relevance", "attribution", "usage", "sufficiency", "claims"]
    assert (agreement.judge["name"], agreement.options["limit"]) == ("scripted", None)
    assert agreement.finished is not None
    answers = load_answers(out / "answers.jsonl")
    assert len(answers) == 30
    assert {answer.kind for answer in answers if isinstance(answer.overlap, tuple)} == {"claims"}
    assert "NaN" not in (out / "agreement.json").read_text()


def test_the_tables_fit_into_100_columns(
    shell: Shell,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rich.console import Console

    from localscore.cli import agree

    monkeypatch.setattr(agree, "data", lambda: Console(width=100, highlight=False))
    _, printed, _ = shell("agree", judgments(tmp_path / "j", 20), "--judge", "x")
    assert "…" not in printed
    assert max(len(line) for line in printed.splitlines()) <= 100


def test_kinds_sets_and_a_limit_choose_records(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    options = (
        "--judge",
        "x",
        "--kinds",
        "usage,claims",
        "--sets",
        "a",
        "--limit",
        2,
        "--out",
        tmp_path / "o",
    )
    assert shell("agree", judgments(tmp_path / "j"), *options)[0] == 0
    answers = load_answers(tmp_path / "o" / "answers.jsonl")
    assert [(answer.kind, answer.set) for answer in answers].count(("usage", "a")) == 2
    assert len(answers) == 4
    code, _, talk = shell("agree", tmp_path / "j", "--judge", "x", "--kinds", "nonsense")
    assert (code, "'nonsense'" in talk) == (2, True)


def test_what_was_answered_is_not_asked_again(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    folder, out = judgments(tmp_path / "j"), tmp_path / "out"
    shell("agree", folder, "--judge", "x", "--out", out, "--limit", 2)
    first = len(shell.judge.asked)
    path = out / "answers.jsonl"
    path.write_text(path.read_text() + '{"kind": "cut in the midd')
    shell.judge = scripted()
    assert shell("agree", folder, "--judge", "x", "--out", out)[0] == 0
    assert len(shell.judge.asked) == 30 - first
    assert len(load_answers(path)) == 30
    shell.judge = scripted()
    shell("agree", folder, "--judge", "x", "--out", out, "--kinds", "usage")
    assert shell.judge.asked == []
    assert len(load_answers(path)) == 30, "answers that were not wanted this time are kept"


def test_failures_are_told_and_asked_again(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    def answer(inquiry: Any) -> Any:
        if inquiry.question == "usage":
            raise RuntimeError("no")
        return VERDICTS[inquiry.question]

    folder, out = judgments(tmp_path / "j"), tmp_path / "out"
    shell.judge = ScriptedJudge(answer)
    code, printed, talk = shell("agree", folder, "--judge", "x", "--out", out)
    assert code == 3
    assert "No verdict could be had on 6 more: 6 judge failed." in printed
    assert "6 verdicts could not be had" in talk
    shell.judge = scripted()
    assert shell("agree", folder, "--judge", "x", "--out", out)[0] == 0
    assert {inquiry.question for inquiry in shell.judge.asked} == {"usage"}


def test_a_changed_text_is_asked_again(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    folder, out = judgments(tmp_path / "j"), tmp_path / "out"
    shell("agree", folder, "--judge", "x", "--out", out)
    changed = (folder / "claims.jsonl").read_text().replace('"text": "Runner 3', '"text": "Strider 3')
    (folder / "claims.jsonl").write_text(changed)
    shell.judge = scripted()
    shell("agree", folder, "--judge", "x", "--out", out)
    assert [inquiry.texts["text"] for inquiry in shell.judge.asked] == ["Strider 3 won race 3."]


def test_a_folder_of_another_judge_is_refused(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    folder, out = judgments(tmp_path / "j"), tmp_path / "out"
    shell("agree", folder, "--judge", "x", "--out", out)
    shell.judge = ScriptedJudge(lambda inquiry: VERDICTS[inquiry.question], name="another")
    code, _, talk = shell("agree", folder, "--judge", "x", "--out", out)
    assert (code, "answers of another judge (scripted)" in talk, "--overwrite" in talk) == (2, True, True)
    assert shell("agree", folder, "--judge", "x", "--out", out, "--overwrite")[0] == 0
    assert load_agreement(out).judge["name"] == "another"


def test_a_bad_row_is_named_with_file_and_line(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    folder = judgments(tmp_path / "j")
    with (folder / "usage.jsonl").open("a") as file:
        file.write('{"id": "u", "query": "q", "contexts": ["c"], "answer": "a", "used": "all"}\n')
    code, printed, talk = shell("agree", folder, "--judge", "x")
    assert (code, printed) == (2, "")
    assert "usage.jsonl:7: 'used' is 'all'" in talk
    assert shell.judge.asked == []


def test_a_missing_extra_is_told_before_the_judge_is_loaded(
    shell: Shell,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    code, _, talk = shell("agree", judgments(tmp_path / "j"), "--judge", "x")
    assert (code, "pip install 'localscore[agree]'" in talk) == (2, True)
    assert shell.judge.asked == []


def test_quiet_prints_nothing(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    assert shell("agree", judgments(tmp_path / "j"), "--judge", "x", "--quiet")[1] == ""
