from __future__ import annotations

import csv
import io
import sys

import pytest

from localscore.errors import OptionError
from localscore.reports.exports import column_type, harmless, rows, to_csv, to_markdown, to_pandas, to_parquet
from tests.reports.test_numbers import ROWS, row, run_of


def test_a_row_per_sample_with_scores_and_counts() -> None:
    table = list(rows(run_of()))
    assert [line["id"] for line in table] == ["1", "2", "3", "4"]
    assert table[1]["context_relevance"] == 0.25
    assert (table[1]["contexts_high"], table[1]["contexts_used"], table[1]["missing"]) == (1, 0, 1)
    assert (table[2]["context_recall"], table[2]["context_recall_cause"]) == (None, "output_truncated")
    assert (table[2]["claims"], table[0]["claims"]) == (None, 2), "what failed is not counted as 0"
    assert len({tuple(line) for line in table}) == 1


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "\n-1"])
def test_csv_runs_no_formula(text: str) -> None:
    assert harmless(text).startswith("'")
    written = to_csv(run_of([row(text, "=HYPERLINK(1)", ["A"])])).decode("utf-8-sig")
    [_, line] = csv.reader(io.StringIO(written, newline=""))
    assert line[0] == f"'{text}"
    assert line[1] == "'=HYPERLINK(1)"


def test_csv_is_read_back() -> None:
    text = 'Who, "Ann"?\nWho else?'
    [line] = csv.DictReader(
        io.StringIO(to_csv(run_of([row("1", text, ["A used"])])).decode("utf-8-sig"), newline="")
    )
    assert line["query"] == text
    assert float(line["context_relevance"]) == 1.0


def test_markdown_shows_texts_as_they_are() -> None:
    written = to_markdown(run_of([row("1", "a | <b>\n# *c*?", ["A used"])])).decode()
    assert r"| 1 | a \| &lt;b> \# \*c\*? | 1.00 | excellent |" in written
    assert "| Context relevance | 1.00 | – to – | 1 | 0 |" in written


def test_parquet_keeps_texts_and_types() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    run = run_of([row("=1", "Who?", ["A used"])])
    table = parquet.read_table(pyarrow.BufferReader(to_parquet(run)))
    assert table.to_pylist() == list(rows(run))
    assert str(table.schema.field("context_recall_cause").type) == "string"


def test_the_columns_hold_what_their_type_says() -> None:
    for line in rows(run_of(ROWS)):
        for name, value in line.items():
            assert value is None or isinstance(value, column_type(name)), name


def test_without_pyarrow_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OptionError, match="pyarrow") as caught:
        to_parquet(run_of())
    assert "localscore[parquet]" in caught.value.hint


def test_a_frame_of_pandas_has_the_same_rows() -> None:
    pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    run = run_of(ROWS)
    frame = to_pandas(run)
    assert list(frame["id"]) == [line["id"] for line in rows(run)]
    assert list(frame.columns) == list(next(rows(run)))
    assert frame["context_relevance"].mean() == pytest.approx(run.summary["context_relevance"].mean)
