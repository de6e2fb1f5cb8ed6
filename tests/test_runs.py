from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.errors import RunError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.manifests import metric_from
from tests.conftest import VERDICTS, scripted
from tests.runs import run_of

ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{i}",
        "query": f"Who opened bridge {i}?",
        "contexts": [f"Ann opened bridge {i}.", "Bananas."],
        "answer": "Ann.",
        "ground_truth": "Ann opened it.",
        "lang": "en",
    }
    for i in range(6)
]


class PowerCut(BaseException):
    """Not an error that anything may catch."""


def failing_at(row: int) -> Callable[[Inquiry[Any]], Answer]:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        if f"bridge {row}" in inquiry.prompt:
            raise PowerCut
        return VERDICTS[inquiry.question]

    return answer


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("results.jsonl", "summary.json")}


def test_a_folder_read_back_is_the_run(tmp_path: Path) -> None:
    run = ls.score(ROWS, judge=scripted(), out=tmp_path)
    again = ls.load_run(tmp_path)
    assert [r.model_dump() for r in again.results] == [r.model_dump() for r in run.results]
    assert again.summary == run.summary
    assert again.metrics() == [ls.ContextRelevance(), ls.ContextRecall()]
    assert again.results[0].sample.metadata == {"lang": "en"}


def test_a_results_line_has_what_others_rely_on(tmp_path: Path) -> None:
    ls.score(ROWS[:1], judge=scripted(sufficiency={"sufficient": False}), out=tmp_path)
    [line] = (tmp_path / "results.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert row["id"] == "r0"
    assert set(row["scores"]) == {"context_relevance", "context_recall"}
    expected = {"score", "value", "status", "band", "reason", "expected", "confidence"}
    assert expected <= set(row["scores"]["context_relevance"])
    assert row["contexts"][0] == {
        "index": 0,
        "level": "high",
        "used": True,
        "probabilities": {
            "level": {"high": 1.0, "medium": 0.0, "low": 0.0, "none": 0.0},
            "used": {"true": 1.0, "false": 0.0},
        },
        "pieces": 1,
    }
    assert row["missing"] == ["the price"]
    claim = row["claims"][0]
    assert claim["evidence"] == {"context": 0, "quote": "Ann opened bridge 0.", "probability": 1.0}
    assert (claim["text"], claim["supported"], claim["probability"]) == ("Ann opened the bridge.", True, 1.0)


def test_the_same_run_twice_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        ls.score(ROWS, judge=scripted(), out=tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "two")


@pytest.mark.parametrize("row", [0, 3, 5])
def test_an_interrupted_run_is_carried_on_and_ends_with_the_same_bytes(tmp_path: Path, row: int) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path / "clean")
    with pytest.raises(PowerCut):
        ls.score(ROWS, judge=ScriptedJudge(failing_at(row)), out=tmp_path / "cut")
    assert len(ls.load_run(tmp_path / "cut").results) == row
    with (tmp_path / "cut" / "results.jsonl").open("ab") as file:
        file.write(b'{"id": "r')  # the line that was being written
    judge = scripted()
    ls.score(ROWS, judge=judge, out=tmp_path / "cut")
    assert files(tmp_path / "cut") == files(tmp_path / "clean")
    assert not any(f"bridge {done}" in inquiry.prompt for inquiry in judge.asked for done in range(row))


def test_what_failed_is_asked_again_and_ends_like_a_clean_run(tmp_path: Path) -> None:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        return "no JSON" if "bridge 2" in inquiry.prompt else VERDICTS[inquiry.question]

    ls.score(ROWS, judge=scripted(), out=tmp_path / "clean")
    assert ls.score(ROWS[:4], judge=ScriptedJudge(answer), out=tmp_path / "again").failed > 0
    judge = scripted()
    assert ls.score(ROWS, judge=judge, out=tmp_path / "again").failed == 0
    assert files(tmp_path / "again") == files(tmp_path / "clean")
    assert not any(f"bridge {fine}" in inquiry.prompt for inquiry in judge.asked for fine in (0, 1, 3))


def test_a_folder_with_a_manifest_alone_is_carried_on(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    before = files(tmp_path)
    (tmp_path / "results.jsonl").unlink()  # as a disk that was full at the start leaves it
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    assert files(tmp_path) == before


def test_a_folder_that_is_being_written_is_refused(tmp_path: Path) -> None:
    def answer(inquiry: Inquiry[Any]) -> Answer:
        with pytest.raises(RunError, match="Another process is writing"):
            ls.score(ROWS, judge=scripted(), out=tmp_path)
        return VERDICTS[inquiry.question]

    assert ls.score(ROWS[:1], judge=ScriptedJudge(answer), out=tmp_path).failed == 0
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "results.jsonl", "summary.json"}


def test_the_spelling_of_a_number_does_not_make_another_run(tmp_path: Path) -> None:
    one = ls.score(ROWS, judge=scripted(), out=tmp_path, metrics=[ls.ContextRecall(scale=1)])
    other = ls.score(ROWS, judge=scripted(), out=tmp_path, metrics=[ls.ContextRecall(scale=1.0)])
    assert one.manifest.identity == other.manifest.identity


def test_a_metric_of_another_package_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not known"):
        metric_from({"name": "politeness", "scale": 1.0})


def test_running_again_asks_nothing(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    judge = scripted()
    run = ls.score(ROWS, judge=judge, out=tmp_path)
    assert judge.asked == []
    assert len(run.results) == len(ROWS)


def test_more_rows_are_added_to_a_run(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path, limit=2)
    run = ls.score(ROWS, judge=scripted(), out=tmp_path)
    assert [result.id for result in run.results] == [row["id"] for row in ROWS]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"judge": ScriptedJudge(lambda i: VERDICTS[i.question], name="other")}, "another judge"),
        ({"metrics": [ls.ContextRelevance(scale=10)]}, "other metrics or options"),
        ({"data": [{**ROWS[0], "answer": "Bob."}, *ROWS[1:]]}, "other data"),
        ({"limit": 3}, "6 results"),
    ],
)
def test_a_folder_with_another_run_is_refused_unless_it_may_be_overwritten(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    before = files(tmp_path)
    options: dict[str, Any] = {"data": ROWS, "judge": scripted(), "out": tmp_path} | change
    with pytest.raises(RunError, match=told):
        ls.score(**options)
    assert files(tmp_path) == before
    run = ls.score(**options, overwrite=True)
    assert ls.load_run(tmp_path).manifest == run.manifest


@pytest.mark.parametrize("last", ["id", "scores", "claims", "sample", "missing", "judgments"])
def test_without_judgments_a_line_says_the_same_in_any_order(tmp_path: Path, last: str) -> None:
    metadata = {"x": {"a": {}, "judgments": []}, "y": '},"judgments":[{'}
    judge = scripted(sufficiency={"sufficient": False})
    run = ls.score([ROWS[0] | metadata, ROWS[1]], judge=judge, out=tmp_path)
    expected = [result.model_dump(exclude={"judgments"}) for result in run.results]
    path = tmp_path / "results.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    ordered = [{key: row[key] for key in sorted(row, key=lambda key: key == last)} for row in rows]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in ordered))
    light = ls.load_run(tmp_path, judgments=False)
    assert [result.model_dump(exclude={"judgments"}) for result in light.results] == expected
    assert [result.judgments for result in light.results] == [(), ()]


def test_a_folder_that_is_no_run_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"not a run folder.*run\.json"):
        ls.load_run(tmp_path)


def test_a_manifest_whose_metric_has_no_name_cannot_be_read(tmp_path: Path) -> None:
    run_of({"a": 0.5}, folder=tmp_path)
    told = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(told | {"metrics": [{"scale": 1.0}]}))
    with pytest.raises(RunError, match=r"run\.json' cannot be read(.|\n)*a metric has no name"):
        ls.load_run(tmp_path)


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    lines = (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(lines[0] + b'{"id": 1}\n' + lines[2])
    with pytest.raises(RunError, match=r"results\.jsonl:2"):
        ls.load_run(tmp_path)


def test_a_folder_that_cannot_be_made_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        ls.score(ROWS, judge=scripted(), out=tmp_path / "file" / "run")


def test_times_are_in_the_manifest_only(tmp_path: Path) -> None:
    ls.score(ROWS, judge=scripted(), out=tmp_path)
    manifest = json.loads((tmp_path / "run.json").read_text())
    for name in ("results.jsonl", "summary.json"):
        assert manifest["started"][:10] not in (tmp_path / name).read_text()
    for key in ("judge", "prompts", "versions", "metrics", "dataset", "tokens", "seconds", "finished"):
        assert manifest[key] is not None, key


@pytest.mark.parametrize(
    "metric",
    [
        ls.ContextRecall(scale=5),
        ls.ContextRelevance(scale=2, penalties=ls.Penalties(missing_context_per_item=0.3)),
    ],
)
def test_a_metric_is_read_back_from_a_manifest(metric: ls.Metric) -> None:
    assert metric_from({"name": metric.name, **metric.parameters}) == metric
