"""What the documents say is what the program does."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import localscore as ls
from localscore import offline
from localscore.samples import Sample
from localscore.scoring import context_recall, context_relevance
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)
from tests.conftest import scripted

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
EXAMPLES = [json.loads(line) for line in (ROOT / "examples" / "rag.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_readmes_python_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [row] = re.findall(r"^```json\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "rag.jsonl").write_text(row)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ls, "load_judge", lambda name: scripted())
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names.keys() & {"run", "context_relevance"}


MIGRATIONS = sorted((ROOT / "docs").glob("from-*.md"))


@pytest.mark.parametrize("page", MIGRATIONS, ids=lambda page: page.stem)
def test_the_commands_and_the_python_of_a_page_on_migration_run(
    page: Path,
    shell: Shell,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(ROOT / "tests" / "data" / "formats", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^    localscore (.*)$", text, flags=re.MULTILINE)
    [block] = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert [shell(*shlex.split(command))[0] for command in commands] == [0, 0]
    monkeypatch.setattr(ls, "load_judge", lambda name: scripted())
    exec(compile(block, page.name, "exec"), {})


def test_there_are_pages_for_three_tools() -> None:
    assert [page.stem for page in MIGRATIONS] == ["from-deepeval", "from-mastra", "from-ragas"]


def test_the_readme_has_python() -> None:
    assert len(BLOCKS) == 2


@pytest.mark.parametrize(
    "name", re.findall(r"scripts/([\w-]+)", README + (ROOT / "CONTRIBUTING.md").read_text())
)
def test_the_scripts_that_are_named_are_there(name: str) -> None:
    assert (ROOT / "scripts" / name).stat().st_mode & 0o100


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: row["id"])
def test_an_example_has_a_verdict_of_a_person_for_each_context(row: dict[str, object]) -> None:
    sample = Sample.from_row(
        row,
        default_id="",
        names={name: name for name in ("id", "query", "contexts", "answer", "ground_truth")},
    )
    person = sample.metadata["person"]
    assert len(person["levels"]) == len(person["used"]) == len(sample.contexts)
    assert context_relevance(person["levels"], person["used"], person["missing"]).score is not None
    claims = [claim["supported"] for claim in person["claims"]]
    assert bool(claims) == (sample.ground_truth is not None)
    assert context_recall(claims).score is not None


AIR_GAP = (ROOT / "docs" / "air-gap.md").read_text(encoding="utf-8")


def test_the_page_on_the_air_gap_names_every_switch_and_no_other() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", AIR_GAP))
    assert named - {"LOCALSCORE_HOME", "LOCALSCORE_CACHE"} == offline.SWITCHES.keys()


def test_the_files_that_the_page_on_the_air_gap_names_are_there() -> None:
    named = set(re.findall(r"\btests/[\w/]+\.py", AIR_GAP))
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_network_is_opened_only_where_the_page_says() -> None:
    opened = {
        path.name
        for path in (ROOT / "localscore").rglob("*.py")
        if re.search(r"with (offline\.)?connected\(\)", path.read_text())
    }
    assert opened == {"store.py", "wheels.py"}


def test_there_are_a_dozen_examples_of_many_kinds() -> None:
    assert len(EXAMPLES) == 12
    assert sum("ground_truth" not in row for row in EXAMPLES) == 1
    assert sum(row["contexts"] == [] for row in EXAMPLES) == 1
    assert any("marché" in row["query"] for row in EXAMPLES)
