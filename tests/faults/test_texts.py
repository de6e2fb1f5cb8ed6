from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.reports.exports import to_csv, to_markdown
from localscore.reports.run_page import run_page
from localscore.runs import load_run
from localscore.texts import sentences
from tests.conftest import VERDICTS
from tests.faults.languages import LANGUAGES, UNTIDY

TEXTS = {**LANGUAGES, **UNTIDY, "a line of 1 MB": "The bridge is long. " * 50_000}


def row(name: str, text: str) -> dict[str, Any]:
    said = text if text.strip() else "said"  # a query cannot be blank
    return {
        "id": name,
        "query": said,
        "contexts": [text, "", text, "Bananas."],
        "answer": text,
        "ground_truth": said,
        "note": text,
    }


def quoting(inquiry: Inquiry[Any]) -> Answer:
    """A judge that writes what it reads, and takes the last sentence for the evidence."""
    texts = inquiry.texts
    if inquiry.question == "claims":
        return {"claims": [texts["text"][:200]]}
    if inquiry.question == "sufficiency":
        return {"sufficient": False}
    if inquiry.question == "missing_context":
        return {"missing": [texts["query"][:200]]}
    if inquiry.question == "evidence":
        return {"sentence": inquiry.verdict.model_json_schema()["properties"]["sentence"]["maximum"]}
    return VERDICTS[inquiry.question]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ls.Run:
    folder = tmp_path_factory.mktemp("texts")
    data = folder / "rag.jsonl"
    rows = [row(name, text) for name, text in TEXTS.items()]
    data.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    ls.score(data, judge=ScriptedJudge(quoting), out=folder / "run")
    return load_run(folder / "run")


def test_there_are_50_languages() -> None:
    assert len(LANGUAGES) >= 50


def test_every_text_is_read_judged_and_written_as_it_is(run: ls.Run) -> None:
    for result, (name, text) in zip(run.results, TEXTS.items(), strict=True):
        assert result.id == name
        assert result.sample is not None
        assert result.sample.contexts == (text, "", text, "Bananas.")
        assert (result.sample.answer, result.sample.metadata) == (text, {"note": text})
        assert not result.failed, (name, result.scores)
        assert [context.level for context in result.contexts][1] == "none"


def test_evidence_is_a_verbatim_part_of_its_context(run: ls.Run) -> None:
    quotes = 0
    for result in run.results:
        for claim in result.claims:
            if claim.evidence is not None and result.sample is not None:
                assert claim.evidence.quote in result.sample.contexts[claim.evidence.context]
                assert claim.evidence.quote
                quotes += 1
    assert quotes > 50


def test_every_text_can_be_shown_and_exported(run: ls.Run) -> None:
    page = run_page(run)
    assert "<script>alert(1)" not in page
    for text in (page, to_csv(run).decode("utf-8-sig"), to_markdown(run).decode()):
        assert "ድልድዩ በ1931" in text


@pytest.mark.parametrize("language", ["ja", "zh", "hi", "ar", "de", "my", "am", "ur", "hy"])
def test_sentences_end_in_other_scripts_too(language: str) -> None:
    assert len(sentences(LANGUAGES[language])) == 2


def test_a_text_without_any_end_of_a_sentence_is_one() -> None:
    assert sentences(LANGUAGES["th"]) == (LANGUAGES["th"],)


def test_a_shell_without_utf8_changes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "rag.jsonl"
    rows = [row(name, text) for name, text in {**LANGUAGES, **UNTIDY}.items()]
    data.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    written = []
    for name, shell in {
        "c": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        "utf8": {"PYTHONUTF8": "1"},
    }.items():
        out = tmp_path / name
        command = [
            sys.executable,
            "-m",
            "tests.noted_run",
            tmp_path / "notes",
            "0",
            "score",
            data,
            "--judge",
            "x",
            "--out",
            out,
        ]
        done = subprocess.run(
            [*map(str, command), "--no-cache"],
            env=_without_locale() | shell,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        written.append((out / "results.jsonl").read_bytes())
    assert written[0] == written[1]


def _without_locale() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))
    } | {"PYTHONPATH": os.pathsep.join(sys.path)}
