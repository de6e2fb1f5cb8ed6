"""Untidy rows and a judge that may say anything → what has to hold all the same.

python -m tests.faults.fuzzing --rows 100000 looks further than the tests do; see scripts/fuzz.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import localscore as ls
from localscore import datasets, verdicts
from localscore.errors import DataError, OptionError, OutputTruncated
from localscore.inquiries import Inquiry
from localscore.judges.scripted import Answer, ScriptedJudge
from localscore.reports.exports import to_csv, to_markdown
from localscore.reports.run_page import run_page
from localscore.results import Judgment
from localscore.runs import load_run
from localscore.verdicts import legal_values
from tests.faults.languages import LANGUAGES, UNTIDY

TEXT = st.sampled_from([*LANGUAGES.values(), *UNTIDY.values()]) | st.text(max_size=40)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TEXTS = st.lists(TEXT, max_size=5)
GOOD = st.fixed_dictionaries(
    {"query": TEXT.filter(str.strip), "contexts": TEXTS, "answer": TEXT},
    optional={"ground_truth": TEXT, "note": ANYTHING, "id": TEXT | st.integers()},
)
COLUMN = st.sampled_from(["query", "contexts", "answer", "ground_truth", "id", "question", "note"]) | TEXT
BAD = st.dictionaries(COLUMN, ANYTHING | TEXTS, max_size=6)
ROWS = st.lists(GOOD | GOOD | GOOD | BAD, min_size=1, max_size=20)
"""Of two rows about one can be scored."""

METRICS = st.builds(
    lambda scale, penalties, recall: [
        ls.ContextRelevance(scale=scale, penalties=penalties),
        ls.ContextRecall(scale=recall),
    ],
    st.floats(0, 1e9),
    st.builds(ls.Penalties, *[st.floats(0, 10)] * 3),
    st.sampled_from([0, 0.001, 1, 3, 10, 100]),
)


def erratic(seed: int) -> ScriptedJudge:
    """A judge that mostly gives some legal verdict, and now and then garbage, NaN or an error."""

    def answer(inquiry: Inquiry[Any]) -> Answer:
        random = Random(f"{seed}{inquiry.key}")
        kind = random.random()
        if kind < 0.03:
            return random.choice(["", "{", "null", '{"level": "huge"}', '{"claims": 3}', "\ud800", "[" * 99])
        if kind < 0.05:
            raise random.choice(
                [OutputTruncated("cut"), ValueError("broken \ud800"), MemoryError("none left")]
            )
        values = legal_values(inquiry.verdict)
        if not values:
            texts = [
                random.choice([*LANGUAGES.values(), *UNTIDY.values(), "", "<item>"])
                for _ in range(random.randrange(6))
            ]
            field = "claims" if inquiry.verdict is verdicts.Claims else "missing"
            return {field: texts}
        shares = [random.random() for _ in values]
        given = {v.label(): round(s / sum(shares), 4) for v, s in zip(values, shares, strict=True)}
        if kind < 0.07:
            given[values[0].label()] = random.choice([math.nan, math.inf, -1.0])
        return Judgment.of(values[shares.index(max(shares))], given)

    return ScriptedJudge(answer)


def check(rows: Sequence[Any], metrics: Sequence[ls.Metric], seed: int, folder: Path) -> Counter[str]:
    """Read, score, write, read again, rescore and show rows; return what became of them.

    Raises:
        AssertionError: a score that is none, or a failure without a cause.
    """
    data, out = folder / "rag.jsonl", folder / "run"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    try:
        dataset = datasets.read(data, skip_bad_rows=True, needs=["answer"])
    except (DataError, OptionError):
        return Counter({"refused": len(rows)})
    assert len(dataset.samples) + len({c.split(": ")[0] for c in dataset.complaints}) == len(rows)
    run = ls.score(dataset, judge=erratic(seed), metrics=metrics, out=out, overwrite=True)
    told = Counter({"refused": len(rows) - len(run.results)})
    scales = {metric.name: metric.scale for metric in metrics}
    for result in run.results:
        for name, score in result.scores.items():
            told[score.status] += 1
            if score.status in ("failed", "not_scorable"):
                assert (score.score, score.value) == (None, None)
                assert score.status == "not_scorable" or (score.cause is not None and score.cause.message)
                continue
            numbers = [score.score, score.value, score.expected]
            assert all(number is None or math.isfinite(number) for number in numbers)
            assert score.score is not None
            assert 0 <= score.score <= max(scales[name], round(scales[name], 2)) + 0.005
            assert score.reason
    kept = load_run(out)
    assert [result.model_dump_json() for result in kept.results] == [r.model_dump_json() for r in run.results]
    again = ls.rescore(kept, metrics=metrics)
    assert [result.scores for result in again.results] == [result.scores for result in run.results]
    for shown in (run_page(kept).encode("utf-8", "strict"), to_csv(kept), to_markdown(kept)):
        assert shown
    return told


def main() -> None:
    """Check so many rows, with other examples each time."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=main.__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    told: Counter[str] = Counter()
    done = 0

    with tempfile.TemporaryDirectory() as folder:

        @settings(
            max_examples=10**9,
            deadline=None,
            database=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(ROWS, METRICS, st.integers(0, 2**32))
        def look(rows: list[Any], metrics: list[ls.Metric], seed: int) -> None:
            nonlocal done
            if done >= options.rows:
                raise _Enough
            told.update(check(rows, metrics, seed, Path(folder)))
            done += len(rows)
            if done // 5_000 != (done - len(rows)) // 5_000:
                print(f"{done} rows: {dict(told)}", flush=True)

        try:
            look()
        except _Enough:
            print(f"{done} rows, nothing found: {dict(told)}")


class _Enough(Exception):
    """So many rows as were wanted are checked."""


if __name__ == "__main__":
    main()
