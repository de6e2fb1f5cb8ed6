"""The notebooks of `examples/` run, cell by cell as they stand, but for the judge.

They run in IPython's shell in this process, so that the judge can be exchanged; a kernel in a process of its own would
need a dozen packages more and could not be given one that is scripted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import localscore as ls
from localscore.inquiries import Inquiry
from localscore.judges import Judge
from localscore.judges.cards import card_named
from localscore.judges.scripted import Answer, ScriptedJudge
from tests.conftest import VERDICTS, scripted

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from localscore.judges.huggingface import HuggingFaceJudge

interactive = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))

SAID_BY = {
    "A senator must be at least thirty years old.": "Age of thirty Years",
    "The Chief Justice presides.": "the Chief Justice shall preside",
    "Bills for raising revenue originate in the House of Representatives.": "Bills for raising Revenue",
    "After ten days it becomes a law.": "within ten Days (Sundays excepted)",
    "The Vice President votes if the Senate is equally divided.": "unless they be equally divided",
    "It needs two witnesses to the same overt act.": "two Witnesses to the same overt Act",
    "It cannot be lowered as long as the judge is in office.": "during their Continuance in Office",
    "An officer may accept a present from a king only with the consent of the Congress.": "from any King",
    "Citizens may vote from the age of eighteen.": "eighteen years of age or older",
    "A search needs a warrant upon probable cause.": "upon probable cause",
    "In time of peace the owner has to consent.": "without the consent of the Owner",
    "Nobody can be elected president more than twice.": "more than twice",
}
"""For each claim of the retrievers' questions, words of the one passage that supports it."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """What a notebook's cells run in, and beside it all that lies beside the notebooks."""
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("runs"))
    monkeypatch.chdir(tmp_path / "examples")
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"warn_venv": False}})
    shell = interactive.InteractiveShell(config=config, user_module=ModuleType("cells"))
    yield shell
    shell.restore_sys_module_state()


class Ran:
    """A notebook that was run to its end: its names, and what each cell showed as HTML."""

    def __init__(
        self, name: str, judge: Judge, shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.asked_for: list[str] = []

        def load(asked_for: str) -> Judge:
            self.asked_for.append(asked_for)
            return judge

        monkeypatch.setattr(ls, "load_judge", load)
        self.html: dict[str, str] = {}
        self.names: dict[str, Any] = shell.user_ns
        for cell in nbformat.read(f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type == "code":
                result = shell.run_cell(cell.source)
                result.raise_error()
                shown, _ = shell.display_formatter.format(result.result)
                self.html[cell.id] = shown.get("text/html", "")


def by_passage(inquiry: Inquiry[Any]) -> Answer:
    """Say that a claim is supported where the passage is that says it."""
    if inquiry.question == "claims":
        return {"claims": [inquiry.texts["text"]]}
    if inquiry.question == "attribution":
        return {"supported": SAID_BY[inquiry.texts["claim"]] in inquiry.texts["contexts"]}
    return VERDICTS[inquiry.question]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_what_a_judge_or_a_machine_added(name: str) -> None:
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


def test_a_frame_is_scored(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = scripted(sufficiency={"sufficient": False})
    ran = Ran("frame", judge, shell, monkeypatch)
    assert ran.asked_for == ["starter"]
    card_named("starter")  # it is one that can be pulled
    assert "judged by <bdi>scripted</bdi>" in ran.html["score"]
    assert "Who built the clock tower of Orvenna" in ran.html["sample"]
    assert list(ran.names["verdicts"]["id"]) == ["hours", "hours", "tower", "tower", "soup"]
    assert list(ran.names["scores"]["context_relevance"]) == [0.85] * 3  # one missing item: 0.15 off
    assert "0.95" in ran.html["rescore"]  # at a penalty of 0.05


def test_two_retrievers_are_compared(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Ran("retrievers", ScriptedJudge(by_passage), shell, monkeypatch)
    assert ran.asked_for == ["starter"]
    assert set(ran.names["questions"].values()) == SAID_BY.keys()
    means = []
    for run in ran.names["runs"].values():
        found = [
            any(SAID_BY[result.sample.ground_truth] in context for context in result.sample.contexts)
            for result in run.results
        ]
        means.append(sum(found) / 12)
        assert run.summary["context_recall"].mean == pytest.approx(means[-1], abs=1e-6)
        assert 0.4 < means[-1] < 1  # retrievers that find all, or hardly anything, would show nothing
    assert means[0] != means[1]
    assert "<bdi>runs/embedding</bdi></strong> beside <bdi>runs/bm25</bdi>" in ran.html["difference"]
    assert f"{means[0]:.3f}</td><td>{means[1]:.3f}" in ran.html["difference"]


@pytest.mark.parametrize("passage", SAID_BY.values())
def test_one_passage_of_the_constitution_says_it(passage: str) -> None:
    lines = (EXAMPLES / "constitution.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum(passage in line for line in lines) == 1


@pytest.mark.judge
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_with_a_real_judge(
    name: str, small_judge: HuggingFaceJudge, shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(name, small_judge, shell, monkeypatch)
    assert ran.asked_for == ["starter"]
    assert small_judge.identity.name in ran.html["score"]
    runs = [ran.names["run"]] if name == "frame" else list(ran.names["runs"].values())
    assert all(told.scored for run in runs for told in run.summary.values())
