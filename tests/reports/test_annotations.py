from __future__ import annotations

import json

from localscore.reports.annotations import to_openinference, to_otel
from tests.reports.test_numbers import run_of


def test_phoenix_gets_an_annotation_per_sample_and_metric() -> None:
    run = run_of()
    data = json.loads(to_openinference(run))["data"]
    found = {(one["span_id"], one["name"]): one for one in data}
    assert len(data) == len(found) == sum(len(result.scores) for result in run.results)
    for result in run.results:
        for name, score in result.scores.items():
            one = found[result.id, name]
            assert one["result"]["score"] == score.score
            assert one["result"]["explanation"] == score.reason
            assert one["result"]["label"] == (score.band or score.status)


def test_a_score_that_a_rule_gave_is_said_to_be_code() -> None:
    data = json.loads(to_openinference(run_of()))["data"]
    kinds = {(one["metadata"]["status"], one["annotator_kind"]) for one in data}
    assert {("scored", "LLM"), ("failed", "LLM")} <= kinds
    assert all((kind == "CODE") == status.startswith("no_") for status, kind in kinds)


def test_opentelemetry_gets_an_event_per_sample_and_metric_without_what_is_not_there() -> None:
    run = run_of()
    events = [json.loads(line) for line in to_otel(run).decode().splitlines()]
    assert {event["event_name"] for event in events} == {"gen_ai.evaluation.result"}
    assert len(events) == sum(len(result.scores) for result in run.results)
    for event in events:
        attributes = event["attributes"]
        assert None not in attributes.values()
        failed = attributes["localscore.status"] == "failed"
        assert ("gen_ai.evaluation.score.value" in attributes) == (not failed)
        assert ("error.type" in attributes) == failed
