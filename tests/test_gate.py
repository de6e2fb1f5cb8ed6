from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localscore.errors import OptionError, RunError
from localscore.gate import Check, Thresholds, Verdict, gate, unreadable
from localscore.reports.gate import junit, markdown
from localscore.thresholds import Settings, found_from, parsed
from tests.runs import numbered, run_of

RECALL = "context_recall"


def outcomes(verdict: Verdict) -> list[str]:
    return [check.outcome for check in verdict.checks]


@pytest.mark.parametrize(
    ("scores", "least", "outcome"),
    [
        ([0.8], 0.8, "met"),
        ([0.7, 0.9], 0.8, "met"),
        ([0.1] * 3, 0.1, "met"),  # their float sum is more than 0.3, and 0.7 + 0.1 less than 0.8
        ([0.7, 0.1, 0.1], 0.3, "met"),
        ([0.79, 0.8], 0.8, "not met"),
        ([0.0], 0, "met"),
        ([0.33, 0.33, 0.34], 0.3333333333333333, "met"),
        ([0.33, 0.33, 0.34], 0.3333333333333334, "not met"),
    ],
)
def test_a_mean_meets_a_threshold_that_it_reaches_exactly(
    scores: list[float], least: float, outcome: str
) -> None:
    assert gate(run_of(numbered(scores)), Thresholds(min={RECALL: least})).outcome == outcome


@given(st.lists(st.integers(0, 100), min_size=1, max_size=40))
def test_no_mean_of_hundredths_misses_itself(hundredths: list[int]) -> None:
    mean = sum(hundredths) / len(hundredths) / 100
    if round(mean, 4) != mean:
        return  # not a threshold that a person would write
    run = run_of(numbered([h / 100 for h in hundredths]))
    if sum(hundredths) * 100 == round(mean * 10_000) * len(hundredths):
        assert gate(run, Thresholds(min={RECALL: mean})).outcome == "met"
        zero = run_of(numbered([0.0] * len(hundredths)))
        assert gate(zero, Thresholds(max_drop={RECALL: mean}), baseline=run).outcome == "met"


def test_a_number_is_told_with_as_many_digits_as_tell_it_from_its_threshold() -> None:
    [check] = gate(run_of(numbered([0.8, 0.79999998])), Thresholds(min={RECALL: 0.8})).checks
    assert (check.outcome, check.found) == ("not met", "0.79999999 over 2 samples")


def test_what_failed_is_not_in_the_mean_and_is_told() -> None:
    [check] = gate(run_of(numbered([0.9, None])), Thresholds(min={RECALL: 0.9})).checks
    assert (check.outcome, check.found) == ("met", "0.9 over 1 of 2 samples")


@pytest.mark.parametrize(("most", "outcome"), [(0, "not met"), (1, "met"), (2, "met")])
def test_failed_scores_are_counted(most: int, outcome: str) -> None:
    assert gate(run_of(numbered([0.9, None])), Thresholds(max_failed=most)).outcome == outcome


@pytest.mark.parametrize(
    ("before", "after", "most", "outcome"),
    [
        ([0.8, 0.8], [0.8, 0.7], 0.05, "met"),
        ([0.8, 0.8], [0.8, 0.69], 0.05, "not met"),
        (
            [0.3, 0.3, 0.3],
            [0.2, 0.2, 0.2],
            0.1,
            "met",
        ),  # 0.3 − 0.2 is less than 0.1 in floats, 0.4 − 0.3 more
        ([0.4, 0.4], [0.3, 0.3], 0.1, "met"),
        ([0.5], [0.9], 0, "met"),
        ([None, 0.5], [0.1, 0.5], 0, "met"),
    ],
)
def test_a_drop_is_that_of_the_samples_of_both_runs(
    before: list[float | None], after: list[float | None], most: float, outcome: str
) -> None:
    runs = run_of(numbered(after)), run_of(numbered(before))
    assert gate(runs[0], Thresholds(max_drop={RECALL: most}), baseline=runs[1]).outcome == outcome


def test_a_drop_that_may_be_chance_is_met_where_only_significant_ones_count() -> None:
    before = run_of(numbered([0.5] * 20))
    noisy = run_of(numbered([0.0, 0.9] * 10))
    worse = run_of(numbered([0.4, 0.3] * 10))
    for significant, run, outcome in (
        (False, noisy, "not met"),
        (True, noisy, "met"),
        (True, worse, "not met"),
    ):
        thresholds = Thresholds(max_drop={RECALL: 0.02}, significant=significant)
        assert gate(run, thresholds, baseline=before).outcome == outcome


@pytest.mark.parametrize(
    ("thresholds", "options", "told"),
    [
        ({"min": {"context_relevance": 0.5}}, {}, "not scored by context_relevance"),
        ({"max_drop": {RECALL: 0.1}}, {}, "no baseline"),
        ({"max_drop": {RECALL: 0.1}}, {"baseline": RunError("It is gone.")}, "It is gone."),
        ({"max_drop": {RECALL: 0.1}}, {"baseline": run_of({"z": 0.5})}, "No sample is in both"),
        ({"max_drop": {RECALL: 0.1}}, {"baseline": run_of({"a": None})}, "no sample has a score in both"),
        ({"max_drop": {RECALL: 0.1}}, {"baseline": run_of({"a": 0.5}, judge="b")}, "other judges"),
        ({"max_drop": {"context_relevance": 0.1}}, {"baseline": run_of({"a": 0.5})}, "not both scored"),
        ({"max_drop": {RECALL: 0}, "significant": True}, {"baseline": run_of({"a": 0.9})}, "too few"),
    ],
)
def test_what_cannot_be_checked_is_neither_met_nor_not(
    thresholds: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    verdict = gate(run_of({"a": 0.5}), Thresholds(**thresholds), **options)
    assert (verdict.outcome, outcomes(verdict)) == ("not checked", ["not checked"])
    assert told in verdict.checks[0].found


def test_a_mean_that_does_not_exist_cannot_be_checked() -> None:
    assert gate(run_of({"a": None}), Thresholds(min={RECALL: 0})).outcome == "not checked"


def test_a_run_that_was_not_finished_cannot_be_checked() -> None:
    half, whole = run_of({"a": 0.9}, finished=False), run_of({"a": 0.9})
    assert gate(half, Thresholds(min={RECALL: 0.5})).outcome == "not checked"
    assert gate(whole, Thresholds(max_drop={RECALL: 0.5}), baseline=half).outcome == "not checked"


def test_one_threshold_that_is_not_met_outweighs_one_that_cannot_be_checked() -> None:
    verdict = gate(run_of({"a": 0.5}), Thresholds(min={RECALL: 0.9, "context_relevance": 0.5}))
    assert (verdict.outcome, outcomes(verdict)) == ("not met", ["not met", "not checked"])


def test_an_unknown_metric_is_told_with_those_that_are_known() -> None:
    with pytest.raises(OptionError, match=r"(?s)'recal'.*context_relevance, context_recall"):
        gate(run_of({"a": 0.5}), Thresholds(min={"recal": 0.5}))


@pytest.mark.parametrize(
    "wrong",
    [{}, {"min": {RECALL: float("nan")}}, {"max_drop": {RECALL: -0.1}}, {"max_failed": -1}],
)
def test_thresholds_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Thresholds(**wrong)


@pytest.mark.parametrize(
    "pair", ["context_recall", "=0.8", "context_recall=", "context_recall=high", "a=nan", "a=inf"]
)
def test_a_malformed_threshold_is_told_what_is_expected(pair: str) -> None:
    with pytest.raises(OptionError, match="expected METRIC=NUMBER"):
        parsed("--min", [pair])


def test_a_threshold_that_is_given_twice_is_refused() -> None:
    with pytest.raises(OptionError, match="already"):
        parsed("--min", ["a=1", "a=2"])


# From files


def test_settings_are_found_in_a_folder_above(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (below / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (tmp_path / "localscore.toml").write_text(
        '[gate]\nmax-failed = 0\nbaseline = "runs/main"\nsignificant = true\nmin = {context_recall = 0.8}\n'
    )
    assert found_from(below) == Settings(
        min={RECALL: 0.8}, max_failed=0, significant=True, baseline=tmp_path / "runs" / "main"
    )


def test_settings_may_stand_in_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.localscore.gate.max_drop]\ncontext_recall = 0\n")
    assert found_from(tmp_path) == Settings(max_drop={RECALL: 0})


def test_without_a_file_there_are_no_settings(tmp_path: Path) -> None:
    assert found_from(tmp_path) == Settings()


def test_what_is_given_wins_over_a_file() -> None:
    file = Settings({"a": 1, "b": 1}, {"a": 1}, max_failed=3, significant=True, baseline=Path("file"))
    given = Settings({"b": 2}, {}, max_failed=0, significant=False)
    assert given.over(file) == Settings(
        {"a": 1, "b": 2}, {"a": 1}, 0, significant=False, baseline=Path("file")
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[gate]\nminimum = 1", r"localscore\.toml: \[gate\] has minimum, which is not known"),
        ("[gate]\nmin = 0.8", "expected a table of numbers by metric"),
        ('[gate.min]\na = "0.8"', "expected a table of numbers by metric"),
        ("[gate]\nmax_failed = true", "expected a whole number"),
        ("[gate]\nmax_failed = 0.5", "expected a whole number"),
        ("[gate]\nsignificant = 1", "expected true or false"),
        ("[gate]\nbaseline = 1", "expected the folder of a run"),
        ("gate = 1", "expected a table"),
        ("[gate", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_meant_is_told_where(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "localscore.toml").write_text(content)
    with pytest.raises(OptionError, match=told):
        found_from(tmp_path)


# For the pages of a CI

NASTY = "a|b <script>\x00&\ud800\"'`]]>\n\x1b[31m"
CHECKS = (
    Check("min x", "≥ 1", "2", "met"),
    Check("max drop x", "≤ 1", NASTY, "not met"),
    Check("max drop y", "≤ 1", NASTY, "not checked"),
)


def test_junit_is_whole_whatever_is_told() -> None:
    root = ElementTree.fromstring(junit(Verdict(NASTY, CHECKS)))
    [suite] = root
    assert {key: suite.attrib[key] for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]
    assert "a|b <script>\ufffd&\ufffd\"'`]]>" in str(suite[1][0].text)


def test_markdown_has_a_row_per_threshold_whatever_is_told() -> None:
    lines = markdown(Verdict(NASTY, CHECKS)).splitlines()
    assert len(lines) == 2 + 2 + len(CHECKS)
    for line in lines[2:]:
        assert line.replace("\\|", "").count("|") == 5
    assert "<script>" not in "".join(lines)


def test_a_run_that_cannot_be_read_has_its_page_too() -> None:
    verdict = unreadable("runs/x", RunError("It is not there."))
    assert verdict.outcome == "not checked"
    assert "It is not there." in markdown(verdict)
    assert b"<error" in junit(verdict)
