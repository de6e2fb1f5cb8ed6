"""The same three samples as the exports of seven tools hold them, and the command that reads each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.datasets import read
from localscore.samples import Sample
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)

FORMATS = Path(__file__).parent.parent / "data" / "formats"
EVERY = ("query", "contexts", "answer", "ground_truth")
NO_TRUTH = ("query", "contexts", "answer")

TABLE: dict[str, tuple[str, tuple[str, ...], str]] = {
    "plain": ("score plain.jsonl", EVERY, "Columns: query, contexts, answer, ground_truth, id."),
    "ragas": (
        "score ragas.csv",
        EVERY,
        "Columns as of ragas: query = user_input, contexts = retrieved_contexts,",
    ),
    "DeepEval": (
        "score deepeval.json",
        EVERY,
        "Columns as of DeepEval: query = input, contexts = retrieval_context,",
    ),
    "Mastra": (
        "score mastra.json --contexts-from tool-results",
        EVERY,
        "Columns as of Mastra: query = input.inputMessages, answer = output, ground_truth = groundTruth,",
    ),
    "LangSmith": ("score langsmith.csv", EVERY, "Columns as of LangSmith: query = inputs.question,"),
    "Phoenix": (
        r"score phoenix.csv --split-contexts '\n\n' --metrics context_relevance",
        NO_TRUTH,
        "Columns as of Phoenix: query = input, contexts = context, answer = output, id = context.span_id.",
    ),
    "TruLens": (
        "score trulens.jsonl --metrics context_relevance",
        NO_TRUTH,
        "Columns as of TruLens: query = input, contexts = Context Relevance_calls, answer = output,",
    ),
}
"""By tool: the command (no `--map`), the fields its export has, and what is said of its columns."""


def fields(sample: Sample, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in names}


@pytest.mark.parametrize(("command", "names", "told"), TABLE.values(), ids=TABLE)
def test_a_tools_export_is_read_without_a_mapping(
    command: str,
    names: tuple[str, ...],
    told: str,
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(FORMATS)
    run = tmp_path / "run"
    code, _, talk = shell(*shlex.split(command), "--judge", "starter", "--out", run)
    assert code == 0, talk
    assert told in " ".join(talk.split())
    scored = [result.sample for result in ls.load_run(run).results]
    plain = read(FORMATS / "plain.jsonl").samples
    assert [fields(sample, names) for sample in scored] == [fields(sample, names) for sample in plain]
    assert all(sample.ground_truth is None for sample in scored) == ("ground_truth" not in names)


def test_what_else_an_export_says_of_its_contexts_is_kept() -> None:
    mastra = read(FORMATS / "mastra.json", contexts_from="tool-results").samples[0]
    assert mastra.metadata["tool-results"] == [{"source": "doc0.md"}, {"source": "doc1.md"}]
    trulens = read(FORMATS / "trulens.jsonl").samples[0]
    assert [call["ret"] for call in trulens.metadata["Context Relevance_calls"]] == [1.0, 0.0]


def test_the_page_on_inputs_has_the_commands() -> None:
    page = (FORMATS.parent.parent.parent / "docs" / "inputs.md").read_text(encoding="utf-8")
    assert [command for command, _, _ in TABLE.values() if f"`{command}`" not in page] == []


def test_there_are_seven_formats() -> None:
    assert len(TABLE) == 7 == len(list(FORMATS.iterdir()))
