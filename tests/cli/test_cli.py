from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from localscore import api
from localscore.cli import app
from localscore.judges.scripted import ScriptedJudge
from tests.conftest import VERDICTS, scripted

ROW = {
    "id": "a",
    "query": "Who opened it?",
    "contexts": ["Ann opened it in 1931."],
    "answer": "Ann.",
    "ground_truth": "Ann opened it.",
}


class Shell:
    """Runs the command line in this process with a scripted judge."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.judge: ScriptedJudge = scripted()
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setattr(api, "load_judge", self._load)

    def _load(self, name: str, **options: str) -> ScriptedJudge:
        return self.judge

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["localscore", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            app.run()
        out, err = self._capsys.readouterr()
        return int(left.value.code or 0), out, err


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    return Shell(monkeypatch, capsys)


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "rag.jsonl"
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def test_a_run_folder_is_written_and_a_table_printed(shell: Shell, tmp_path: Path) -> None:
    code, out, err = shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    assert code == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "run.json",
        "results.jsonl",
        "summary.json",
    }
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["context_recall"] == {
        "mean": 1.0,
        "scored": 1,
        "failed": 0,
        "statuses": {"scored": 1},
        "bands": {"excellent": 1},
    }
    for word in ("context_relevance", "1.00", "excellent", "Means"):
        assert word in out
    assert "localscore explain" in err


def test_without_a_folder_results_go_to_stdout_alone(shell: Shell, tmp_path: Path) -> None:
    code, out, _ = shell("score", written(tmp_path, ROW), "--judge", "x")
    assert code == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["a"]


def test_a_judge_that_breaks_ends_with_status_3_and_what_to_do(shell: Shell, tmp_path: Path) -> None:
    class Dying(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            raise RuntimeError("CUDA error")

    shell.judge = Dying(lambda i: VERDICTS[i.question])
    code, _, err = shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    assert code == 3
    assert "CUDA error" in err
    assert "the same command carries on" in err


def test_stopping_says_that_what_was_finished_is_kept(shell: Shell, tmp_path: Path) -> None:
    class Stopped(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            raise KeyboardInterrupt

    shell.judge = Stopped(lambda i: VERDICTS[i.question])
    code, _, err = shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    assert code == 130
    assert "carries on" in err


def test_results_on_stdout_come_line_by_line(shell: Shell, tmp_path: Path) -> None:
    class Stopped(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            if any("Who closed it?" in inquiry.prompt for inquiry in inquiries):
                raise KeyboardInterrupt
            return super().decide(inquiries)

    shell.judge = Stopped(lambda i: VERDICTS[i.question])
    rows = [ROW, {**ROW, "id": "b", "query": "Who closed it?"}]
    code, out, _ = shell("score", written(tmp_path, *rows), "--judge", "x")
    assert (code, [json.loads(line)["id"] for line in out.splitlines()]) == (130, ["a"])


def test_explain_shows_verdicts_without_prompts_where_these_have_changed(
    shell: Shell, tmp_path: Path
) -> None:
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps(manifest | {"prompts": "other"}))
    code, out, err = shell("explain", tmp_path / "run", "a")
    assert code == 0
    assert "relevance: {'level': 'high'}" in out
    assert "not those that were sent" in err


def test_rows_may_come_from_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(ROW).encode())))
    code, out, _ = shell("score", "-", "--judge", "x", "--metrics", "context_recall")
    assert (code, list(json.loads(out)["scores"])) == (0, ["context_recall"])


def test_options_reach_the_score(shell: Shell, tmp_path: Path) -> None:
    shell.judge = scripted(
        usage={"used": False},
        sufficiency={"sufficient": False},
        missing_context={"missing": ["price", "date"]},
    )
    options = {
        "--scale": 10,
        "--unused-high-penalty": 0.05,
        "--missing-penalty": 0.2,
        "--max-missing-penalty": 0.3,
    }
    flat = [part for pair in options.items() for part in pair]
    _, out, _ = shell("score", written(tmp_path, ROW), "--judge", "x", *flat)
    assert json.loads(out)["scores"]["context_relevance"]["score"] == 6.5


def test_limit_and_map(shell: Shell, tmp_path: Path) -> None:
    rows = [{"frage": "Wer?", "texte": ["Ann."], "antwort": "Ann.", "ground_truth": "Ann."}] * 3
    maps = ("--map", "frage=query", "--map", "texte=contexts", "--map", "antwort=answer")
    code, out, _ = shell("score", written(tmp_path, *rows), "--judge", "x", "--limit", 2, *maps)
    assert (code, len(out.splitlines())) == (0, 2)


def test_every_bad_line_is_told_and_nothing_is_scored(shell: Shell, tmp_path: Path) -> None:
    path = written(tmp_path, ROW, "{oops\n", {"contexts": []}, {**ROW, "id": "b", "contexts": "one"})
    code, out, err = shell("score", path, "--judge", "x")
    assert (code, out, shell.judge.asked) == (2, "", [])
    for told in (f"{path}:2: not JSON", f"{path}:3: missing 'query'", f"{path}:4: 'contexts'"):
        assert told in err
    assert "--skip-bad-rows" in err
    assert "Traceback" not in err


def test_bad_rows_can_be_left_out(shell: Shell, tmp_path: Path) -> None:
    path = written(tmp_path, "{oops\n", ROW)
    code, out, err = shell("score", path, "--judge", "x", "--skip-bad-rows")
    assert (code, len(out.splitlines())) == (0, 1)
    assert f"Left out: {path}:1" in err


def test_failed_scores_end_with_status_3(shell: Shell, tmp_path: Path) -> None:
    shell.judge = scripted(claims="no JSON")
    code, out, err = shell("score", written(tmp_path, ROW), "--judge", "x")
    assert code == 3
    assert json.loads(out)["scores"]["context_recall"]["cause"]["code"] == "unparsable_output"
    assert "1 score could not be had" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--metrics", "context_relevnce"], "There is no metric 'context_relevnce'"),
        (["--scale", "nan"], "scale is nan"),
        (["--missing-penalty", "-1"], "missing_context_per_item is -1.0"),
        (["--map", "nothing"], "expected theirs=ours"),
        (["--map", "a=query"], "no row has a column 'a'"),
        (["--map", "query=question"], "there is no field 'question'"),
    ],
)
def test_a_wrong_option_is_one_message_and_status_2(
    shell: Shell, tmp_path: Path, arguments: list[str], told: str
) -> None:
    code, out, err = shell("score", written(tmp_path, ROW), "--judge", "x", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["starer", "smollm2-135m", "/nowhere/model"])
def test_a_judge_that_is_not_here_is_told_how_to_get(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "argv", ["localscore", "score", str(written(tmp_path, ROW)), "--judge", name])
    with pytest.raises(SystemExit) as left:
        app.run()
    assert left.value.code == 2
    assert "localscore models" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["score"], ["nonsense"], ["score", "x", "--judge", "y", "--dtype", "int3"]]
)
def test_a_command_that_cannot_be_meant_has_status_2(shell: Shell, arguments: list[str]) -> None:
    assert shell(*arguments)[0] == 2


def test_quiet_says_nothing(shell: Shell, tmp_path: Path) -> None:
    code, out, err = shell(
        "score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run", "--quiet"
    )
    assert (code, out, err) == (0, "", "")


@pytest.mark.parametrize("out", [True, False])
def test_a_program_gets_one_object(shell: Shell, tmp_path: Path, out: bool) -> None:
    folder = ["--out", tmp_path / "run"] if out else []
    shell.judge = scripted(claims="no JSON")
    code, told, _ = shell("score", written(tmp_path, ROW), "--judge", "x", *folder, "--json")
    assert code == 3
    found = json.loads(told)
    assert (found["run"], found["judge"]) == (str(tmp_path / "run") if out else None, "scripted")
    assert (found["samples"], found["failed"], found["cached"]) == (1, 1, 0)
    assert found["summary"]["context_recall"]["mean"] is None
    if out:
        assert found["summary"] == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_quiet_still_gives_a_program_its_object(shell: Shell, tmp_path: Path) -> None:
    code, out, err = shell("score", written(tmp_path, ROW), "--judge", "x", "--json", "--quiet")
    assert (code, json.loads(out)["samples"], err) == (0, 1, "")


def test_verdicts_from_the_cache_are_told(shell: Shell, tmp_path: Path) -> None:
    for name in ("one", "two"):
        _, _, err = shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / name)
        assert ("8 verdicts came from the cache." in err) == (name == "two")


def test_progress_is_plain_lines_where_there_is_no_terminal(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localscore.cli import progress

    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)
    _, _, err = shell("score", written(tmp_path, ROW), "--judge", "x")
    lines = [line for line in err.splitlines() if "tokens/s" in line]
    assert len(lines) > 3
    assert lines[-1].startswith("1 of 1 samples")
    assert "\x1b" not in err


def test_explain_shows_prompts_verdicts_probabilities_and_arithmetic(shell: Shell, tmp_path: Path) -> None:
    shell.judge = ScriptedJudge(lambda i: VERDICTS[i.question])
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    code, out, _ = shell("explain", tmp_path / "run", "a")
    assert code == 0
    for inquiry in shell.judge.asked:
        assert inquiry.prompt in out
    for told in (
        "{'level': 'high'}",
        "high 1.0000",
        "max(0, 1 − 0 − 0) × 1 = 1.00",
        "context_recall: scored",
    ):
        assert told in out


def test_explain_names_the_samples_there_are(shell: Shell, tmp_path: Path) -> None:
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    code, _, err = shell("explain", tmp_path / "run", "b")
    assert code == 2
    assert "Its first samples are: a" in err


def test_explain_shows_a_failed_score_too(shell: Shell, tmp_path: Path) -> None:
    shell.judge = scripted(attribution="no JSON")
    shell("score", written(tmp_path, ROW), "--judge", "x", "--out", tmp_path / "run")
    code, out, _ = shell("explain", tmp_path / "run", "a")
    assert code == 0
    assert "none; see the cause above" in out


def test_metrics_and_models_are_listed(shell: Shell) -> None:
    code, out, _ = shell("metrics")
    assert (code, "context_recall" in out, "ground_truth" in out) == (0, True, True)
    code, out, _ = shell("models", "list")
    assert (code, "smollm2-135m" in out, "starter" in out) == (0, True, True)


@pytest.mark.parametrize("command", ["path", "verify"])
def test_a_judge_that_was_not_pulled_has_no_path(shell: Shell, command: str) -> None:
    code, out, err = shell("models", command, "smollm2-135m")
    assert (code, out) == (2, "")
    assert "localscore models pull smollm2-135m" in err


def test_the_version_is_told(shell: Shell) -> None:
    code, out, _ = shell("--version")
    assert (code, out.count(".")) == (0, 2)
