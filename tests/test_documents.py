"""What the documents say is what the program does: every block of code runs, every command is one."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from typer.main import get_command

import localscore as ls
from localscore import offline, readers
from localscore.cli import app
from localscore.samples import Sample
from localscore.scoring import context_recall, context_relevance
from tests.cli.test_agree import judgments
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)
from tests.cli.test_habits import commands
from tests.conftest import scripted

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
EXAMPLES = [json.loads(line) for line in (ROOT / "examples" / "rag.jsonl").read_text("utf-8").splitlines()]

ONLY_PARSED = {"models pull", "models verify", "models path", "bundle", "doctor", "--install-completion"}
"""What reaches for a network, a real judge, or somebody's home."""

OURS = {"tests/test_pytest_plugin.py": "pytest.md", "tests/metrics/test_written.py": "custom-metrics.md"}
"""Pages whose Python is run by tests of their own, which say so."""


class Block(NamedTuple):
    """A piece of code in a page."""

    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for language, text in re.findall(
        r"^```(\w+)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        yield Block(language, text)


def command_lines(page: Path) -> list[list[str]]:
    """Return the arguments of every command `localscore …` that a page shows, in its order."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"^ *(?:- |run: |- run: )?(?:[A-Z_]+=\S+ )*localscore (.*)$", text, flags=re.MULTILINE)
    shown = [shlex.split(re.split(r" \|\| | >> | \| |  #|   #", line)[0], comments=True) for line in lines]
    prose = [words for words in shown if words and (words[0] in app.COMMANDS or words[0].startswith("--"))]
    return [words for words in prose if not {"{DATA}", "[OPTIONS]", "…"} & set(words)]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> Path:  # noqa: F811
    """A folder with everything that the pages name."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "tests" / "data" / "formats", tmp_path, dirs_exist_ok=True)
    rows = [row.columns for row in readers.rows("ragas.csv") if not isinstance(row, str)]
    named = [row | {"id": id, "lang": "en"} for row, id in zip(rows, ("1", "2", "17"), strict=True)]
    lines = "".join(json.dumps(row) + "\n" for row in named)
    for name in ("rag.jsonl", "live.jsonl"):
        (tmp_path / name).write_text(lines)
    for name in ("rag", "main", "before", "after", "old", "new", "now"):
        ls.score("rag.jsonl", judge=scripted(), out=f"runs/{name}")
    judgments(tmp_path / "judgments", 20)
    custom = (ROOT / "docs" / "custom-metrics.md").read_text("utf-8")
    (tmp_path / "politeness.py").write_text(
        re.findall(r"^```python\n(.*?)^```", custom, re.DOTALL | re.MULTILINE)[0]
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "home" / "judges" / "qwen2.5-coder-1.5b").mkdir(parents=True)  # for a card of one's own
    shell.judge = scripted(tone={"tone": "polite"})
    monkeypatch.setattr(ls, "load_judge", lambda name, **options: shell.judge)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if command_lines(page)], ids=ids)
def test_the_commands_of_a_page_run(
    page: Path,
    folder: Path,
    shell: Shell,  # noqa: F811
) -> None:
    for block in blocks(page):
        if block.language == "json" and '"id"' in block.text:  # the file that the page says to save
            (folder / "rag.jsonl").write_text(block.text)
    known = commands()
    for words in command_lines(page):
        if words[0] in ONLY_PARSED or " ".join(words[:2]) in ONLY_PARSED:
            parsed(known, words)
            continue
        if words[:2] == ["watch", "live.jsonl"] and "--idle" not in words:
            words += ["--idle", "0"]
        if words[0] in ("score", "watch") and "--out" in words:  # a reader has no run there yet
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        code, _, err = shell(*words)
        assert code == 0, f"localscore {shlex.join(words)}: {err}"


def parsed(known: dict[str, Any], words: list[str]) -> None:
    """Check that a command takes its options, without running it."""
    if words[0].startswith("--"):
        group: Any = get_command(app.app)
        assert words[0] in {name for parameter in group.params for name in parameter.opts}
        return
    command, rest = known[words[0]], words[1:]
    if hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_context(words[0], rest)


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if p.name not in OURS.values() and any(b.language == "python" for b in blocks(p))],
    ids=ids,
)
def test_the_python_of_a_page_runs(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            (folder / "rag.jsonl").write_text(block.text)
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.text, page.name, "exec"), names)


@pytest.mark.parametrize(("test", "page"), OURS.items())
def test_a_page_with_tests_of_its_own_is_named_by_them(test: str, page: str) -> None:
    assert f'"{page}"' in (ROOT / test).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_what_a_page_shows_of_files_can_be_read(page: Path) -> None:
    read = {
        "json": lambda text: [json.loads(line) for line in text.splitlines()],
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
        "python": lambda text: compile(text, page.name, "exec"),
    }
    for block in blocks(page):
        assert block.language in {*read, "sh", "ts", "text"}, block.language
        if block.language in read:
            assert read[block.language](block.text)


SEED_OPTIONS = ["model", "context", "contextExtractor", "scale"] + [
    f"penalties.{name}"
    for name in ("unusedHighRelevanceContext", "missingContextPerItem", "maxMissingContextPenalty")
]
"""Of `createContextRelevanceScorerLLM`; `createContextRecallScorer` has the first four."""


@pytest.mark.parametrize("option", SEED_OPTIONS)
def test_an_option_of_the_seed_scorers_has_our_names_and_they_work(option: str) -> None:
    page = (ROOT / "docs" / "from-mastra.md").read_text("utf-8")
    [row] = [
        line for line in page.splitlines() if re.match(rf"\| `(options\.)?{re.escape(option)}` \|", line)
    ]
    _, _, flag, python, _ = (cell.strip() for cell in row.split("|"))
    flags = {name for parameter in commands()["score"].params for name in parameter.opts}
    assert flag == "the contexts' column" or re.findall(r"--[\w-]+", flag)[0] in flags
    [name] = re.findall(r"(\w+)=", python)
    value: Any = {"context": ["Ann ran."], "context_extractor": lambda input, output: ["Ann ran."]}.get(
        name, 0.25
    )
    if python.startswith("`Penalties("):
        penalties = ls.Penalties(**{name: 0.25})
        assert (
            getattr(ls.ContextRelevanceOptions(context=["Ann ran."], penalties=penalties).penalties, name)
            == 0.25
        )
    elif name == "model":
        ls.create_context_relevance_scorer(
            model=scripted(), options=ls.ContextRelevanceOptions(context=["Ann ran."])
        )
        ls.create_context_recall_scorer(
            model=scripted(), options=ls.ContextRecallOptions(context=["Ann ran."])
        )
    else:
        given: dict[str, Any] = {"context": ["Ann ran."], name: value}
        for kind in (ls.ContextRelevanceOptions, ls.ContextRecallOptions):
            assert getattr(kind(**given), name) == value


def test_the_reference_of_the_commands_and_the_manual_are_as_the_commands_say() -> None:
    told = subprocess.run(
        [sys.executable, ROOT / "scripts" / "write_reference.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    site = str(tmp_path / "site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site]
    told = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) == len(DOCS) + 1  # and one for what is not there
    loaded = {
        url
        for page in pages
        for url in re.findall(
            r'<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text("utf-8")
        )
    }
    assert loaded == set()
    assert "var __index" in (tmp_path / "site" / "search" / "search_index.js").read_text("utf-8")[:20]


def test_the_french_pages_have_the_code_of_the_english_ones() -> None:
    for page in sorted((ROOT / "docs" / "fr").glob("*.md")):
        english = [block.language for block in blocks(ROOT / "docs" / page.name)]
        assert [block.language for block in blocks(page)] == english


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_the_files_that_a_page_links_to_are_there(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "name",
    sorted(
        {name for page in PAGES for name in re.findall(r"scripts/([\w-]+(?:\.py)?)", page.read_text("utf-8"))}
    ),
)
def test_the_scripts_that_are_named_are_there(name: str) -> None:
    path = ROOT / "scripts" / name
    assert path.exists()
    assert path.suffix == ".py" or path.stat().st_mode & 0o100


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
