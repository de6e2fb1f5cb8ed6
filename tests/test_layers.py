"""Imports point down, and only the judges import what is heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import localscore

PACKAGE = Path(localscore.__file__).parent
LAYERS = [
    {"errors", "fencing", "lines", "texts", "words"},
    {"files", "offline", "lock", "extras", "tools", "messages", "templates"},
    {"display"},
    {"columns"},
    {"contexts", "readers"},
    {"project"},
    {"settings"},
    {"verdicts", "samples"},
    {"shelf"},
    {"inquiries", "results"},
    {"suspicion"},
    {"calibration"},
    {"scoring"},
    {"metrics"},
    {"judges"},
    {"engine", "datasets", "summary", "labelled", "cache"},
    {"overlap", "cutpoints", "statistics"},
    {"manifests"},
    {"replay", "runs"},
    {"sittings", "spreading"},
    {"rescoring", "movements", "comparable"},
    {"compare", "foreign"},
    {"agreement", "gate"},
    {"thresholds"},
    {"api", "watching", "reports", "doctor", "bundle"},
    {"evals", "pytest_plugin"},
    {"cli", "__init__", "__main__"},
]
STATISTICS = {"scipy", "sklearn"}
HEAVY = {"torch", "transformers", "outlines", "llguidance", "llama_cpp", "tokenizers", "safetensors"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def layer(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    targets = {name.split(".")[1] for name in imports(path) if name.startswith("localscore.")}
    for target in targets & set().union(*LAYERS) - {own}:
        assert layer(target) <= layer(own), f"{own} imports {target}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_judges_import_what_is_heavy(path: Path) -> None:
    heavy = {name.split(".")[0] for name in imports(path)} & HEAVY
    assert not heavy or room(path) == "judges"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_agreement_imports_the_statistics(path: Path) -> None:
    statistics = {name.split(".")[0] for name in imports(path)} & STATISTICS
    assert not statistics or room(path) == "agreement"


def test_the_command_line_starts_without_what_is_heavy() -> None:
    code = (
        "import sys; import localscore.cli.agree; import localscore.agreement; import localscore.labelled;"
        f"print([name for name in {sorted(HEAVY | STATISTICS)} if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
