from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore.compare import compare
from localscore.display import ROWS_SHOWN
from localscore.errors import OutputTruncated
from localscore.judges.scripted import ScriptedJudge
from localscore.results import SampleResult
from localscore.runs import Run
from tests.conftest import VERDICTS, sample, scripted
from tests.runs import numbered, run_of

HOSTILE = (
    """<img src=x onerror="hurt()"><script>hurt()</script></td>'"&lt;\u202e $\\href{javascript:hurt()}{x}$"""
)
TAGS = {"div", "p", "strong", "bdi", "table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {
    ("class", "localscore tex2jax_ignore mathjax_ignore"),
    ("style", "text-align: left"),
    ("scope", "row"),
    ("scope", "col"),
}


class Seen(HTMLParser):
    """What a browser finds in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.open: list[str] = []
        self.isolated: list[str] = []
        self.text = self.bare = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "bdi" in self.open:
            self.isolated.append(data)
        else:
            self.bare += data


def hostile_run(**verdicts: Any) -> Run:
    """A run that holds the same bad text in every place that a row, a judge or a folder has for one."""
    script = VERDICTS | {
        "sufficiency": {"sufficient": False},
        "missing_context": {"missing": [HOSTILE]},
        "claims": {"claims": [HOSTILE]},
        **verdicts,
    }
    judge = ScriptedJudge(lambda inquiry: script[inquiry.question], name=HOSTILE)
    fields = dict.fromkeys(("id", "query", "answer", "ground_truth"), HOSTILE)
    run = ls.score([{**fields, "contexts": [HOSTILE]}], judge=judge)
    return replace(run, folder=Path(HOSTILE))


def pieces() -> dict[str, str]:
    run, other = hostile_run(), hostile_run(attribution={"supported": False})
    failed = ls.ScoreResult.failed(OutputTruncated(HOSTILE))
    shown: dict[str, Any] = {
        "run": run,
        "sample": run.results[0],
        "score": run.results[0].scores["context_recall"],
        "failed": failed,
        "failed sample": run.results[0].model_copy(update={"scores": {HOSTILE: failed}}),
        "comparison": compare(run, other),
    }
    return {name: one._repr_html_() for name, one in shown.items()}


@pytest.mark.parametrize("name", pieces())
def test_hostile_texts_stay_texts(name: str) -> None:
    html = pieces()[name]
    seen = Seen(html)
    assert seen.tags <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert seen.open == []
    assert html.startswith('<div class="localscore tex2jax_ignore mathjax_ignore">')
    assert any(HOSTILE in text for text in seen.isolated)
    assert "\u202e" in seen.text
    assert "\u202e" not in seen.bare


def test_a_sample_shows_its_verdicts_and_counts_from_one() -> None:
    judge = scripted(sufficiency={"sufficient": False})
    row = {
        "id": "a",
        "query": "Who?",
        "contexts": ["One.", "Two."],
        "answer": "It.",
        "ground_truth": "Truth.",
    }
    text = Seen(ls.score([row], judge=judge).results[0]._repr_html_()).text
    for told in (
        "Who?",
        "It.",
        "Truth.",
        "One.",
        "Two.",
        "high",
        "yes",
        "Missing: the price",
        "Ann opened the bridge.",
    ):
        assert told in text
    assert "2 / 2 × 1 = 1.00" in text


def test_a_run_says_who_judged() -> None:
    html = ls.score([sample().model_dump()], judge=scripted())._repr_html_()
    assert "1 sample, judged by scripted" in Seen(html).text


def test_a_run_of_many_samples_is_told_by_its_first() -> None:
    small, large = (run_of(numbered([0.5] * n))._repr_html_() for n in (ROWS_SHOWN, 500))
    assert "more samples" not in small
    assert "and 490 more samples" in large
    assert len(large) < len(small) + 100


def test_a_sample_of_many_contexts_and_long_texts_stays_small() -> None:
    run = ls.score([sample(contexts=("word " * 10_000,) * 100).model_dump()], judge=scripted())
    html = run.results[0]._repr_html_()
    assert "and 90 more contexts" in html
    assert len(html) < 10_000


def test_scores_that_could_not_be_had_have_a_dash_and_a_cause() -> None:
    def broken(inquiry: Any) -> Any:
        raise OutputTruncated("The limit was reached.")

    run = ls.score([sample().model_dump()], judge=ScriptedJudge(broken))
    assert "failed" in run._repr_html_()
    assert "No score: The limit was reached." in run.results[0]._repr_html_()
    assert Seen(run._repr_html_()).text.count("–") >= 2


def test_a_comparison_shows_its_numbers_and_what_moved() -> None:
    text = Seen(compare(run_of({"a": 0.2, "b": 0.4}), run_of({"a": 0.7, "b": 0.4}))._repr_html_()).text
    for told in ("0.300", "0.550", "+0.250", "0.20"):
        assert told in text
    assert "Compared anyway" not in text
    text = compare(run_of({"a": 0.2}), run_of({"a": 0.2}, judge="other"), anyway=True)._repr_html_()
    assert "Compared anyway, with" in text


def test_what_has_no_place_in_a_file_is_replaced() -> None:
    run = replace(run_of({"a": 0.5}), folder=Path("r\udcfcns"))  # a name of Latin 1
    assert "in <bdi>r\ufffdns</bdi>" in run._repr_html_()


def test_contexts_are_shown_whether_or_not_they_were_judged() -> None:
    run = ls.score([sample().model_dump()], judge=scripted(), metrics=[ls.ContextRecall()])
    html = run.results[0]._repr_html_()
    assert "Bananas are yellow." in html
    assert "level" not in html


def test_a_line_that_was_changed_by_hand_is_shown_all_the_same() -> None:
    line = ls.score([sample().model_dump()], judge=scripted()).results[0].model_dump()
    line["contexts"][0]["index"] = 7
    line["contexts"][1]["probabilities"] = {}
    assert "Bananas are yellow." in SampleResult.model_validate(line)._repr_html_()


def test_showing_results_imports_neither_torch_nor_numpy() -> None:
    code = (
        "import sys; from localscore.results import ScoreResult, SampleResult; from localscore.runs import Run\n"
        "heavy = ('torch', 'transformers', 'numpy', 'jinja2')\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "score = ScoreResult(score=1, value=1, status='scored', reason='given')\n"
        "line = dict(id='a', scores={'context_recall': score}, sample=dict(id='a', query='Q?', contexts=[]))\n"
        "html = score._repr_html_() + SampleResult.model_validate(line)._repr_html_()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["[]", "['jinja2']"]
