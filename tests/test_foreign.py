from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.errors import DataError, OptionError, RunError
from localscore.foreign import beside
from localscore.runs import Run
from tests.readers.test_formats import FORMATS
from tests.runs import run_of

OURS = {"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.5}


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "theirs.json"
    path.write_text(json.dumps(rows))
    return path


def of_format(name: str, **options: Any) -> Run:
    """A run of the samples of a tool's export, with scores 1, 0.5 and 0."""
    samples = read(FORMATS / name, **options).samples
    ids = [sample.id for sample in samples]
    scores = dict(zip(ids, (1.0, 0.5, 0.0), strict=True))
    queries = {sample.id: sample.query for sample in samples}
    return run_of(scores, relevance=scores, query=queries.get)


TOOLS: dict[str, tuple[str, dict[str, Any], list[tuple[str, str, float]]]] = {
    "ragas": ("ragas.csv", {}, [("context_recall", "context_recall", 2.5 / 3)]),
    "DeepEval": (
        "deepeval.json",
        {},
        [
            ("context_recall", "Contextual Recall", 2.5 / 3),
            ("context_relevance", "Contextual Relevancy", 2.5 / 3),
        ],
    ),
    "Mastra": (
        "mastra.json",
        {"contexts_from": "tool-results"},
        [("context_relevance", "context-relevance-scorer", 2.5 / 3)],
    ),
    "TruLens": ("trulens.jsonl", {}, [("context_relevance", "Context Relevance", (0.5 + 0.665 + 1) / 3)]),
}


@pytest.mark.parametrize(("name", "options", "told"), TOOLS.values(), ids=TOOLS)
def test_the_scores_in_a_tools_export_are_found(
    name: str, options: dict[str, Any], told: list[tuple[str, str, float]]
) -> None:
    found = beside(of_format(name, **options), FORMATS / name)
    assert (found.paired_by, found.unpaired) == ("id", 0)
    assert [(one.metric, one.theirs) for one in found.metrics] == [(ours, theirs) for ours, theirs, _ in told]
    for one, (_, _, mean) in zip(found.metrics, told, strict=True):
        assert one.n == 3
        assert one.our_mean == 0.5
        assert one.their_mean == pytest.approx(mean, abs=1e-6)


def test_means_and_correlations_by_a_pencil(tmp_path: Path) -> None:
    # ours 1, 0.5, 0, 0.5; theirs 0.9, 0.6, 0.3, 0.2: means 0.5 each; covariance 0.3 of 0.5 and 0.3 (sums of squares).
    theirs = zip(OURS, (0.9, 0.6, 0.3, 0.2), strict=True)
    rows = [{"id": id, "context_recall": score} for id, score in theirs]
    [one] = beside(run_of(OURS), written(tmp_path, rows)).metrics
    assert (one.n, one.our_mean, one.their_mean) == (4, 0.5, 0.5)
    assert one.pearson == pytest.approx(0.3 / (0.5 * 0.3) ** 0.5, abs=1e-6)
    # ranks 4, 2.5, 1, 2.5 and 4, 3, 2, 1: covariance 3 of 4.5 and 5
    assert one.spearman == pytest.approx(3 / (4.5 * 5) ** 0.5, abs=1e-6)
    assert [(apart.id, apart.ours, apart.theirs) for apart in one.apart][:2] == [
        ("c", 0.0, 0.3),
        ("d", 0.5, 0.2),
    ]


def test_ours_are_put_on_their_scale(tmp_path: Path) -> None:
    rows = [{"id": id, "context_recall": score} for id, score in OURS.items()]
    ours = {id: score * 10 for id, score in OURS.items()}
    [one] = beside(run_of(ours, scale=10), written(tmp_path, rows)).metrics
    assert (one.our_mean, one.their_mean, one.pearson) == (0.5, 0.5, 1.0)


def test_rows_are_paired_by_id_whatever_their_order(tmp_path: Path) -> None:
    rows = [{"id": id, "context_recall": OURS[id]} for id in "dcba"] + [{"id": "z", "context_recall": 0}]
    found = beside(run_of(OURS), written(tmp_path, rows))
    assert (found.paired_by, found.unpaired, found.metrics[0].pearson) == ("id", 1, 1.0)


def test_rows_without_ids_are_paired_by_their_order(tmp_path: Path) -> None:
    rows = [{"context_recall": score} for score in OURS.values()]
    found = beside(run_of(OURS), written(tmp_path, rows))
    assert (found.paired_by, found.unpaired, found.metrics[0].pearson) == ("order", 0, 1.0)


def test_a_row_of_another_question_is_refused(tmp_path: Path) -> None:
    rows = [{"question": f"Q {id}?", "context_recall": 1} for id in "abdc"]
    with pytest.raises(RunError, match="'Q d\\?', but sample 'c' asks 'Q c\\?'"):
        beside(run_of(OURS), written(tmp_path, rows))


def test_rows_that_are_fewer_and_without_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="has 1 rows and the run 4 samples"):
        beside(run_of(OURS), written(tmp_path, [{"context_recall": 1}]))


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="'a' more than once"):
        beside(run_of(OURS), written(tmp_path, [{"id": "a", "context_recall": 1}] * 2))


def test_metrics_of_other_names_are_mapped(tmp_path: Path) -> None:
    file = written(
        tmp_path, [{"id": id, "my recall": str(score), "latency": 3} for id, score in OURS.items()]
    )
    with pytest.raises(RunError, match="no metric of this run, which has context_recall") as caught:
        beside(run_of(OURS), file)
    assert "--map their_metric=our_metric" in caught.value.hint
    [one] = beside(run_of(OURS), file, mapping={"my recall": "context_recall"}).metrics
    assert (one.theirs, one.pearson) == ("my recall", 1.0)
    with pytest.raises(OptionError, match="no metric 'recall'"):
        beside(run_of(OURS), file, mapping={"my recall": "recall"})


def test_what_has_no_score_by_one_of_the_two_does_not_count(tmp_path: Path) -> None:
    rows = [{"id": id, "context_recall": score} for id, score in zip("abcd", (1, None, 0, True), strict=True)]
    [one] = beside(run_of(OURS | {"c": None}), written(tmp_path, rows)).metrics
    assert (one.n, one.our_mean, one.pearson, one.spearman) == (1, 1.0, None, None)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "theirs.jsonl"
    file.write_text('{"id": "a", "context_recall": 1}\n{')
    with pytest.raises(DataError, match=":2: not JSON"):
        beside(run_of(OURS), file)


def test_what_run_evals_hands_over_is_read_and_its_scores_are_found(tmp_path: Path) -> None:
    tool = {"role": "tool", "content": '["Ann ran."]'}
    scoring = {
        "input": {"inputMessages": [{"role": "user", "content": "Who ran?"}]},
        "output": [tool, {"role": "assistant", "content": "Ann."}],
    }
    row = {
        "item": {"input": "Who ran?", "groundTruth": "Ann ran."},
        "targetResult": {"text": "Ann.", "scoringData": scoring},
        "scorerResults": {"context-recall-scorer": {"score": 0.5}, "tone": {"score": 1}},
    }
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps(row))
    [sample] = read(file, contexts_from="tool-results").samples
    told = (sample.query, sample.contexts, sample.answer, sample.ground_truth)
    assert told == ("Who ran?", ("Ann ran.",), "Ann.", "Ann ran.")
    [one] = beside(run_of({"1": 1.0}, query="Who ran?"), file).metrics
    assert (one.theirs, one.their_mean) == ("context-recall-scorer", 0.5)
