"""What people who live in a shell expect: help, completion, settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from localscore.cli.app import COMMANDS, app
from localscore.cli.options import defaults, settings_of
from localscore.errors import OptionError
from localscore.settings import Settings, found_from
from tests.cli.test_cli import ROW, Shell, shell, written  # noqa: F401  (a fixture)

SCREEN = 40
"""Lines that a screen has."""


def commands() -> dict[str, Any]:
    for module, _ in COMMANDS.values():
        import_module(f"localscore.cli.{module}")
    group: Any = get_command(app)
    found: dict[str, Any] = dict(group.commands)
    return found


def test_help_fits_a_screen_and_has_examples(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = shell("--help")
    assert code == 0
    assert "Examples:\n    localscore models pull starter\n" in out
    assert len(out.splitlines()) <= SCREEN


@pytest.mark.parametrize("command", [*COMMANDS, "models pull", "cache prune"])
def test_help_of_a_command_fits_a_screen_and_has_an_example(
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = shell(*command.split(), "--help")
    assert len(out.splitlines()) <= SCREEN
    assert "Example: " in out or "Commands:" in out


def test_help_names_each_command_by_what_it_says_of_itself() -> None:
    for name, command in commands().items():
        said = (command.help or "").split("\n")[0]
        assert said.startswith(COMMANDS[name][1].removesuffix(".")), name


def test_help_imports_no_command() -> None:
    script = "import sys; from localscore.cli import main; sys.argv = ['localscore', '--help']\n"
    script += "try: main()\nexcept SystemExit: print(sorted(sys.modules), file=sys.stderr)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    assert "localscore.cli.app" in told
    assert "pydantic" not in told


def test_rare_options_are_shown_on_request(shell: Shell) -> None:  # noqa: F811
    _, short, _ = shell("score", "--help")
    _, whole, _ = shell("score", "--help-all")
    assert "--missing-penalty" not in short
    assert "--missing-penalty" in whole


def test_a_command_that_is_mistyped_is_told_with_the_one_like_it(shell: Shell) -> None:  # noqa: F811
    code, _, err = shell("scroe")
    assert code == 2
    assert "score" in err


# --- completion --------------------------------------------------------------------------------------------------

ENVIRONMENTS = {
    "bash": lambda words: {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)},
    "zsh": lambda words: {"_TYPER_COMPLETE_ARGS": words},
    "fish": lambda words: {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.mark.parametrize("its_name", ENVIRONMENTS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("localscore comp", "compare"),
        ("localscore score --quan", "--quantize"),
        ("localscore score a.jsonl --judge smol", "smollm2-135m"),
        ("localscore models pull star", "starter"),
        ("localscore score a.jsonl --metrics faith", "faithfulness"),
        ("localscore score a.jsonl --metrics faithfulness,context_p", "faithfulness,context_precision"),
        ("localscore score a.jsonl --device cu", "cuda"),
    ],
)
def test_a_shell_completes(
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    its_name: str,
    words: str,
    expected: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["localscore"])
    monkeypatch.setenv("_LOCALSCORE_COMPLETE", f"complete_{its_name}")
    for name, value in ENVIRONMENTS[its_name](words).items():
        monkeypatch.setenv(name, value)
    code, out, _ = shell()
    assert code == 0
    assert expected in out


# --- settings ----------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, a folder below one with settings."""
    (tmp_path / "localscore.toml").write_text('judge = "x"\nscale = 10\n[gate.min]\ncontext_recall = 1\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    return inner


def scale_of(shell: Shell, *more: str) -> float:  # noqa: F811
    code, out, err = shell("score", "rag.jsonl", "--quiet", "--metrics", "context_recall", *more)
    assert code == 0, err
    return float(json.loads(out)["scores"]["context_recall"]["score"])


def test_a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default(
    shell: Shell,  # noqa: F811
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written(project, ROW)
    assert scale_of(shell) == 10
    monkeypatch.setenv("LOCALSCORE_SCALE", "20")
    assert scale_of(shell) == 20
    assert scale_of(shell, "--scale", "30") == 30
    monkeypatch.delenv("LOCALSCORE_SCALE")
    (project / "localscore.toml").write_text('judge = "x"')
    assert scale_of(shell) == 1


def test_config_tells_what_is_in_force_and_where_it_comes_from(
    shell: Shell,  # noqa: F811
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCALSCORE_DEVICE", "cpu")
    _, out, _ = shell("config", "--json")
    told = json.loads(out)
    assert told["judge"] == {"value": "x", "from": str(project.parent / "localscore.toml")}
    assert told["device"] == {"value": "cpu", "from": "LOCALSCORE_DEVICE"}
    assert told["quantize"] == {"value": "none", "from": "default"}
    assert told["home"]["from"] == "LOCALSCORE_HOME"
    assert told.keys() == {*Settings.model_fields, "home"}
    _, table, _ = shell("config")
    assert "LOCALSCORE_DEVICE" in table


def test_each_setting_is_an_option_of_score() -> None:
    assert {name for name, _ in settings_of(commands()["score"])} == Settings.model_fields.keys()


def test_what_init_writes_sets_nothing_but_the_judge_and_every_line_of_it_can_be_uncommented(
    shell: Shell,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = tmp_path / "new"
    code, _, err = shell("init", folder, "--judge", "smollm2-135m")
    assert (code, str(folder / "localscore.toml") in err) == (0, True)
    assert found_from(folder).values == {"judge": "smollm2-135m"}
    code, _, err = shell("init", folder)
    assert (code, "is there already" in err) == (2, True)
    text = (folder / "localscore.toml").read_text()
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line or "[gate" in line]
    (folder / "localscore.toml").write_text("\n".join(lines))
    assert found_from(folder).values.keys() == Settings.model_fields.keys()


def test_paths_are_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    text = 'judge = "mine"\ncache = "v.sqlite"\nmetrics = ["context_recall", "faithfulness@100"]\nmap = { q = "query" }'
    (tmp_path / "localscore.toml").write_text(text)
    assert found_from(tmp_path / "below").values == {
        "judge": str(tmp_path / "mine"),
        "cache": str(tmp_path / "v.sqlite"),
        "metrics": "context_recall,faithfulness@100",
        "map": ["q=query"],
    }


def test_the_table_of_pyproject_is_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.localscore]\nbatch-tokens = 5\n[tool.localscore.gate]\n")
    assert found_from(tmp_path).values == {"batch_tokens": 5}


def test_the_card_next_to_a_judge_is_no_settings(tmp_path: Path) -> None:
    (tmp_path / "localscore.toml").write_text('[prompts]\nusage = "x"\n[calibration.usage]\ncuts = [1.0]\n')
    assert found_from(tmp_path).path != tmp_path / "localscore.toml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("scael = 1", "scael is no setting"),
        ('scale = "high"', "scale is 'high'"),
        ("device = 'tpu'", "device is 'tpu'"),
        ("judge = ", "cannot be read"),
        ("skip_bad_rows = 1", "skip_bad_rows is 1"),
    ],
)
def test_a_wrong_setting_is_told_with_its_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "localscore.toml").write_text(text)
    with pytest.raises(OptionError, match=told) as raised:
        found_from(tmp_path)
    assert str(tmp_path / "localscore.toml") in raised.value.message


def test_settings_reach_the_commands_of_a_group() -> None:
    group: Any = get_command(app)
    commands()
    group = get_command(app)
    assert defaults(group, {"cache": "c"})["cache"]["stats"] == {"file": "c"}
    assert os.environ.get("LOCALSCORE_CACHE") is None
