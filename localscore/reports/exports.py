"""A run as a table of a row per sample: CSV, Markdown, Parquet, a frame of pandas."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from localscore.extras import extra
from localscore.reports.annotations import to_openinference, to_otel
from localscore.reports.figures import figures, title
from localscore.results import SampleResult
from localscore.runs import Run
from localscore.suspicion import suspicions
from localscore.verdicts import LEVELS

Row = dict[str, Any]

COUNTS = (
    "contexts",
    *(f"contexts_{level}" for level in LEVELS),
    "contexts_used",
    "missing",
    "claims",
    "supported",
)

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
"""What a spreadsheet may take for a formula; the wide signs as well, which some of them fold."""


def rows(run: Run) -> Iterator[Row]:
    """Give a row per sample: texts, per metric the score and what belongs to it, counts.

    Every row has the same columns. None stands for what there is not.
    """
    names = list(dict.fromkeys(name for result in run.results for name in result.scores))
    for result in run.results:
        yield _row(result, names)


def to_csv(run: Run) -> bytes:
    """Return a run as CSV for spreadsheets (RFC 4180, UTF-8 with a byte order mark).

    A text that a spreadsheet would run as a formula gets an apostrophe before it; Parquet keeps texts as they are.
    """
    written = io.StringIO(newline="")
    lines = csv.writer(written)
    for number, row in enumerate(rows(run)):
        if number == 0:
            lines.writerow(row)
        lines.writerow(map(harmless, row.values()))
    return written.getvalue().encode("utf-8-sig", "replace")


def to_markdown(run: Run) -> bytes:
    """Return a run as Markdown: the means, then a row per sample."""
    means = figures(run).metrics
    lines = [
        "| metric | mean | 95 % interval | scores | failed |",
        "|---|---:|---:|---:|---:|",
        *(
            _line(
                metric.title,
                _number(metric.interval.mean if metric.interval else None),
                f"{_number(metric.interval.low)} to {_number(metric.interval.high)}"
                if metric.interval
                else "–",
                metric.interval.n if metric.interval else 0,
                metric.failed,
            )
            for metric in means
        ),
        "",
        _line("sample", "query", *(cell for metric in means for cell in (metric.title, "band")), "reasons"),
        "|---|---|" + "---:|---|" * len(means) + "---|",
    ]
    for row in rows(run):
        told = [
            cell
            for metric in means
            for cell in (
                _number(row[metric.name]),
                row[f"{metric.name}_band"] or title(row[f"{metric.name}_status"]),
            )
        ]
        reasons = " ".join(filter(None, (row[f"{metric.name}_reason"] for metric in means)))
        lines.append(_line(row["id"], row["query"], *told, reasons))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def to_parquet(run: Run) -> bytes:
    """Return a run as Parquet, its texts as they are.

    Raises:
        OptionError: the extra `parquet` is not installed.
    """
    parquet = extra("pyarrow.parquet", of="parquet", what="Parquet")
    sink = io.BytesIO()
    parquet.write_table(to_arrow(run), sink)
    return sink.getvalue()


def to_pandas(run: Run) -> Any:
    """Return a run as a frame of pandas, a row per sample.

    Raises:
        OptionError: the extra `pandas` is not installed.
    """
    extra("pandas", of="pandas", what="A frame of pandas")
    return to_arrow(run).to_pandas()


def to_arrow(run: Run) -> Any:
    """Return a run as a table of pyarrow, which polars and DuckDB take as well.

    Raises:
        OptionError: the extra `parquet` is not installed.
    """
    pyarrow = extra("pyarrow", of="parquet", what="A table of pyarrow")
    table = list(rows(run))
    columns = list(table[0]) if table else []
    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64(), bool: pyarrow.bool_()}
    fields = [pyarrow.field(name, kinds[column_type(name)]) for name in columns]
    return pyarrow.Table.from_pylist(table, pyarrow.schema(fields))


FORMATS: dict[str, Callable[[Run], bytes]] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "parquet": to_parquet,
    "openinference": to_openinference,
    "otel": to_otel,
}
"""What a run can be exported as."""


def harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    >>> harmless("=1+1"), harmless("Ann"), harmless(-0.5), harmless(None)
    ("'=1+1", 'Ann', -0.5, '')
    """
    if cell is None:
        return ""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def column_type(name: str) -> type:
    """Return what a column holds, so that a column without a value has a type too.

    >>> column_type("context_recall_reason"), column_type("context_recall"), column_type("claims")
    (<class 'str'>, <class 'float'>, <class 'int'>)
    """
    if name in COUNTS:
        return int
    if name == "sufficient":
        return bool
    texts = ("id", "query", "answer", "ground_truth", "missing_items", "suspicious")
    is_text = name in texts or name.endswith(("_status", "_band", "_reason", "_cause"))
    return str if is_text else float


def _row(result: SampleResult, names: list[str]) -> Row:
    sample = result.sample
    row: Row = {
        "id": result.id,
        "query": sample.query,
        "answer": sample.answer,
        "ground_truth": sample.ground_truth,
    }
    for name in names:
        score = result.scores.get(name)
        row |= {
            name: score.score if score else None,
            f"{name}_value": score.value if score else None,
            f"{name}_status": score.status if score else "not_scorable",
            f"{name}_band": score.band if score else None,
            f"{name}_expected": score.expected if score else None,
            f"{name}_confidence": score.confidence if score else None,
            f"{name}_reason": score.reason if score else None,
            f"{name}_cause": score.cause.code if score and score.cause else None,
        }
    judged = bool(result.contexts) or not sample.contexts
    levels = Counter(context.level for context in result.contexts)
    return row | {
        "contexts": len(sample.contexts),
        **{f"contexts_{level}": levels[level] if judged else None for level in LEVELS},
        "contexts_used": sum(context.used for context in result.contexts) if judged else None,
        "sufficient": result.sufficiency.sufficient if result.sufficiency else None,
        "missing": len(result.missing) if result.sufficiency else None,
        "missing_items": "; ".join(result.missing) or None,
        "claims": len(result.claims) or None,
        "supported": sum(claim.supported for claim in result.claims) if result.claims else None,
        "suspicious": "; ".join(f"{one.where}: {one.kind}" for one in suspicions(result)) or None,
    }


def _line(*cells: object) -> str:
    return f"| {' | '.join(_escaped(str(cell)) for cell in cells)} |"


def _escaped(text: str) -> str:
    r"""Return a text as one Markdown cell that shows it as it is.

    >>> _escaped("a | <b> *c*")
    'a \\| &lt;b> \\*c\\*'
    """
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", line)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
