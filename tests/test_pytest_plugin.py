from __future__ import annotations

import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from localscore.judges.scripted import ScriptedJudge
from tests.conftest import VERDICTS

@pytest.fixture(scope="session")
def localscore_judge():
    return ScriptedJudge(lambda inquiry: VERDICTS[inquiry.question] if "broken" not in inquiry.prompt else "garbage")
"""

TESTS = """
ROW = {"query": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann.", "ground_truth": "Ann ran."}

def test_met(localscore):
    assert localscore.assert_score(ROW, "context_recall@10", min=9).score == 10

def test_several(localscore):
    assert len(localscore.assert_scores([ROW, ROW | {"query": "Who swam?"}], "context_relevance", min=0.5)) == 2

def test_not_met(localscore):
    localscore.assert_score(ROW | {"contexts": []}, "context_recall", min=0.5)

def test_could_not_be_had(localscore):
    localscore.assert_score(ROW | {"ground_truth": "broken"}, "context_recall", min=0)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("LOCALSCORE_HOME", str(pytester.path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.delenv("LOCALSCORE_JUDGE", raising=False)
    return pytester


def arguments(*more: str) -> list[str]:
    """The plugin by name too, where this package was installed before it had one."""
    known = entry_points(group="pytest11", name="localscore")
    return [*more] if known else ["-p", "localscore.pytest_plugin", *more]


def test_samples_are_held_to_scores(project: pytest.Pytester) -> None:
    project.makeconftest(CONFTEST)
    project.makepyfile(TESTS)
    result = project.runpytest_subprocess(*arguments("--localscore-report"))
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        ["*sample 1: context_recall is 0.0; expected at least 0.5*", "*context_recall is None*No score*"]
    )
    result.stdout.re_match_lines([r"\s+10\.00\s+scored\s+context_recall@10 .*test_met"])
    result.stdout.fnmatch_lines(["5 scores"])


JUDGE = "--localscore-judge"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "no judge was named"),
        ((JUDGE, "qwen2.5-7b-instruct"), "is not here"),
        ((JUDGE, "nobody"), "is not here"),
    ],
)
def test_without_a_judge_tests_are_skipped_with_the_reason(
    project: pytest.Pytester, options: tuple[str, ...], told: str
) -> None:
    project.makepyfile(TESTS)
    result = project.runpytest_subprocess(*arguments("-rs", *options))
    result.assert_outcomes(skipped=4)
    result.stdout.fnmatch_lines([f"*{told}*"])


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_the_report_is_whole_with_several_processes(project: pytest.Pytester) -> None:
    project.makeconftest(CONFTEST)
    project.makepyfile(TESTS)
    result = project.runpytest_subprocess(*arguments("-n", "2", "--localscore-report"))
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["5 scores"])


LIGHT = """
import sys

def test_nothing():
    assert not {"torch", "numpy", "pydantic"} & set(sys.modules)
"""


def test_a_session_without_scores_loads_nothing_heavy(project: pytest.Pytester) -> None:
    project.makepyfile(LIGHT)
    project.runpytest_subprocess(*arguments()).assert_outcomes(passed=1)


def test_the_example_of_the_document_works(project: pytest.Pytester) -> None:
    page = (Path(__file__).parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8")
    project.makeconftest(CONFTEST)
    project.makepyfile(*re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    project.runpytest_subprocess(*arguments()).assert_outcomes(passed=1)
