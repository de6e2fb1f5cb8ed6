from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import localscore as ls
from localscore.errors import OptionError, RunError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.results import Judgment
from localscore.verdicts import legal_values
from tests.conftest import VERDICTS, scripted

PENALTIES = ls.Penalties(unused_high_relevance_context=0.2, missing_context_per_item=0.25)
TEXTS = ["Ann ran.", 'Bob swam.\nÉva, “too”: {"contexts":[]}', "", " "]
CLAIMS = ["Ann ran.", "Bob swam.", '},"contexts":[', "…"]


def row(**changes: Any) -> dict[str, Any]:
    fixed = {
        "id": "a",
        "query": "Who ran?",
        "contexts": ["Ann ran."],
        "answer": "Ann.",
        "ground_truth": "Ann ran.",
    }
    return fixed | changes


def judge_of(seed: int) -> ScriptedJudge:
    """Return a judge that gives the same arbitrary verdicts, probabilities and failures whenever it is asked."""

    def answer(inquiry: Inquiry[Any]) -> Answer:
        chance = Random(f"{seed} {inquiry.key}")
        if chance.random() < 0.05:
            return "no JSON"
        if inquiry.question == "claims":
            return {"claims": chance.sample(CLAIMS, chance.randint(0, 3))}
        if inquiry.question == "missing_context":
            return {"missing": chance.sample(CLAIMS, chance.randint(1, 3))}
        values = legal_values(inquiry.verdict)
        odds = {value.label(): round(chance.random(), 4) for value in values}
        return Judgment.of(chance.choice(values), odds)

    return ScriptedJudge(answer)


ROWS = st.lists(
    st.builds(
        row,
        contexts=st.lists(st.sampled_from(TEXTS), max_size=3),
        answer=st.sampled_from(TEXTS),
        ground_truth=st.sampled_from([None, *TEXTS]),
    ),
    min_size=1,
    max_size=3,
).map(lambda rows: [r | {"id": f'{i}"}},é'} for i, r in enumerate(rows)])

METRICS = st.tuples(
    st.builds(
        ls.ContextRelevance,
        scale=st.sampled_from([0, 0.999, 1, 100]),
        penalties=st.builds(ls.Penalties, st.sampled_from([0, 0.1, 1e-30]), st.sampled_from([0.15, 1e20])),
    ),
    st.builds(ls.ContextRecall, scale=st.sampled_from([0, 1, 7])),
)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.integers(0, 10_000).map(judge_of), METRICS, METRICS)
def test_rescoring_is_scoring_with_the_same_verdicts(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, judge: ScriptedJudge, before: Any, after: Any
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    one = ls.score(rows, judge=judge, metrics=before, out=folder / "one")
    other = ls.score(rows, judge=judge, metrics=after, out=folder / "other")
    same = ls.rescore(folder / "one", out=folder / "same")
    rescored = ls.rescore(folder / "one", metrics=after, out=folder / "rescored")
    for run, expected in ((same, one), (rescored, other), (ls.rescore(one, metrics=after), other)):
        assert run.manifest.identity == expected.manifest.identity
        told = [[r.model_dump(include={"scores"}) for r in one.results] for one in (run, expected)]
        assert told[0] == told[1]
    for name in ("results.jsonl", "summary.json"):
        assert (folder / "same" / name).read_bytes() == (folder / "one" / name).read_bytes()
        assert (folder / "rescored" / name).read_bytes() == (folder / "other" / name).read_bytes()


def test_other_penalties_come_to_what_a_pencil_says(tmp_path: Path) -> None:
    judge = scripted(usage={"used": False}, sufficiency={"sufficient": False})
    ls.score([row(contexts=["One.", "Two.", "Three."])], judge=judge, out=tmp_path / "run")
    run = ls.rescore(tmp_path / "run", metrics=[ls.ContextRelevance(scale=10, penalties=PENALTIES)])
    score = run.results[0].scores["context_relevance"]
    assert (score.value, score.band) == (1.5, "very poor")  # 1 − 3 × 0.2 − 0.25 = 0.15
    assert list(run.results[0].scores) == ["context_relevance"]


def test_the_manifest_says_what_a_run_was_rescored_from(tmp_path: Path) -> None:
    run = ls.score([row()], judge=scripted(), out=tmp_path / "run")
    ls.rescore(tmp_path / "run", metrics=[ls.ContextRecall(scale=2)], out=tmp_path / "other")
    manifest = ls.load_run(tmp_path / "other").manifest
    assert manifest.rescored_from == {"folder": str(tmp_path / "run"), "identity": run.manifest.identity}
    assert manifest.metrics == [{"name": "context_recall", "scale": 2.0}]
    assert manifest.judge == run.manifest.judge
    assert manifest.finished is not None


def test_a_rescored_folder_is_carried_on_as_a_run(tmp_path: Path) -> None:
    rows = [row(id=str(i)) for i in range(3)]
    ls.score(rows[:2], judge=scripted(), out=tmp_path / "run")
    metrics = [ls.ContextRelevance(scale=3), ls.ContextRecall(scale=3)]
    ls.rescore(tmp_path / "run", metrics=metrics, out=tmp_path / "other")
    judge = scripted()
    ls.score(rows, judge=judge, metrics=metrics, out=tmp_path / "other")
    ls.score(rows, judge=scripted(), metrics=metrics, out=tmp_path / "clean")
    assert {len(ls.load_run(tmp_path / name).results) for name in ("other", "clean")} == {3}
    assert (tmp_path / "other/results.jsonl").read_bytes() == (tmp_path / "clean/results.jsonl").read_bytes()


def test_what_failed_stays_failed_with_its_cause(tmp_path: Path) -> None:
    ls.score([row()], judge=scripted(claims="no JSON"), out=tmp_path / "run")
    run = ls.rescore(tmp_path / "run", metrics=[ls.ContextRelevance(), ls.ContextRecall(scale=5)])
    failed = run.results[0].scores["context_recall"]
    assert (failed.status, failed.score) == ("failed", None)
    assert failed.cause is not None
    assert (run.failed, failed.cause.code) == (1, "unparsable_output")


def test_a_run_that_was_not_finished_stays_so(tmp_path: Path) -> None:
    class Stop(BaseException):
        pass

    def answer(inquiry: Inquiry[Any]) -> Answer:
        if "swam" in inquiry.prompt:
            raise Stop
        return VERDICTS[inquiry.question]

    with pytest.raises(Stop):
        ls.score([row(), row(id="b", query="Who swam?")], judge=ScriptedJudge(answer), out=tmp_path / "run")
    run = ls.rescore(tmp_path / "run", out=tmp_path / "other")
    assert (len(run.results), run.manifest.finished) == (1, None)


def test_a_run_whose_file_was_cut_is_not_finished_either(tmp_path: Path) -> None:
    ls.score([row(), row(id="b")], judge=scripted(), out=tmp_path / "run")
    path = tmp_path / "run" / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert ls.rescore(tmp_path / "run").manifest.finished is None


def test_a_line_in_another_spelling_keeps_what_it_says(tmp_path: Path) -> None:
    ls.score([row()], judge=scripted(), out=tmp_path / "run")
    path = tmp_path / "run" / "results.jsonl"
    before = path.read_bytes()
    path.write_text(json.dumps(dict(reversed(json.loads(before).items()))) + "\n")
    ls.rescore(tmp_path / "run", out=tmp_path / "other")
    assert (tmp_path / "other" / "results.jsonl").read_bytes() == before


def test_a_metric_without_verdicts_is_refused_with_what_to_do(tmp_path: Path) -> None:
    ls.score([row()], judge=scripted(), metrics=[ls.ContextRecall()], out=tmp_path / "run")
    with pytest.raises(
        RunError, match=r"no verdicts for context_relevance; it was scored by context_recall\.\n.*--metrics"
    ):
        ls.rescore(tmp_path / "run", metrics=[ls.ContextRelevance()], out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("metrics", [[], [ls.ContextRecall(), ls.ContextRecall(scale=2)]])
def test_no_metrics_or_one_twice_are_refused(tmp_path: Path, metrics: list[ls.Metric]) -> None:
    run = ls.score([row()], judge=scripted())
    with pytest.raises(OptionError):
        ls.rescore(run, metrics=metrics)


def test_a_folder_that_holds_a_run_is_not_written_over_unasked(tmp_path: Path) -> None:
    for name in ("run", "other"):
        ls.score([row()], judge=scripted(), out=tmp_path / name)
    with pytest.raises(RunError, match="holds a run"):
        ls.rescore(tmp_path / "run", out=tmp_path / "other")
    assert ls.load_run(tmp_path / "other").manifest.rescored_from is None
    ls.rescore(tmp_path / "run", out=tmp_path / "other", overwrite=True)
    assert ls.load_run(tmp_path / "other").manifest.rescored_from is not None


def test_a_run_is_never_rescored_into_itself(tmp_path: Path) -> None:
    ls.score([row()], judge=scripted(), out=tmp_path / "run")
    with pytest.raises(OptionError, match="is the run itself"):
        ls.rescore(tmp_path / "run", out=tmp_path / "run" / ".." / "run", overwrite=True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"contexts": []}, r"results\.jsonl:1: context_relevance cannot be scored again: .*0 contexts of 1"),
        ({"scores": {}}, r"results\.jsonl:1 holds no score of context_relevance"),
        ({"claims": "none"}, r"results\.jsonl:1: not a results line"),
    ],
)
def test_a_line_that_was_changed_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    ls.score([row()], judge=scripted(), out=tmp_path / "run")
    path = tmp_path / "run" / "results.jsonl"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change) + "\n")
    with pytest.raises(RunError, match=told):
        ls.rescore(tmp_path / "run", out=tmp_path / "other")
    assert not (tmp_path / "other").exists()
