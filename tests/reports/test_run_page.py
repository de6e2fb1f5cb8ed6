"""The page as text: what it holds, what it may do, and that what was judged cannot leave its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import pytest

import localscore as ls
from localscore import Run
from localscore.judges.scripted import ScriptedJudge
from localscore.reports.figures import figures
from localscore.reports.pages import SCRIPTS, STYLE, asset
from localscore.reports.run_page import link, run_page
from localscore.reports.stories import stories
from localscore.results import Quote
from tests.conftest import VERDICTS
from tests.reports.test_numbers import ROWS, row, run_of

HOSTILE = (
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u2028 \u202egnp.exe {{ 7*7 }} 😀"
)


def data_of(page: str) -> Any:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(text)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    page = run_page(run_of())
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)">', page)
    style = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    script = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (*style, *script)]
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert " style=" not in page, "a style attribute is forbidden by the policy"
    assert not re.search(r"<[^>]* on\w+=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


@pytest.mark.parametrize("name", [STYLE, *SCRIPTS])
def test_style_and_scripts_cannot_end_their_tags_and_ask_for_nothing(name: str) -> None:
    text = asset(name)
    for forbidden in ("</s", "<!--", "http:", "https:", "url(", "innerHTML", "eval(", "\r", "fetch("):
        assert forbidden not in text


def test_hostile_texts_stay_texts() -> None:
    def judge(inquiry: Any) -> Any:
        if inquiry.question == "missing_context":
            return {"missing": [HOSTILE]}
        if inquiry.question == "claims":
            return {"claims": [HOSTILE]}
        return (VERDICTS | {"sufficiency": {"sufficient": False}})[inquiry.question]

    hostile = row(HOSTILE, HOSTILE, [HOSTILE], truth=HOSTILE) | {"answer": HOSTILE}
    page = run_page(run_of([hostile], judge))
    clean = run_page(run_of([row("1", "Who?", ["A"])], judge))
    for tag in ("<script", "</script", "<img", "<!--"):
        assert page.count(tag) == clean.count(tag)
    assert "{{ 7*7 }}" in page
    [sample] = data_of(page)["samples"]
    assert sample["id"] == sample["query"] == sample["answer"] == HOSTILE


def test_half_a_pair_of_units_becomes_a_replacement_character() -> None:
    run = run_of(ROWS[:1])
    broken = run.results[0].sample.model_copy(update={"query": "half \ud800"})
    page = run_page(Run((run.results[0].model_copy(update={"sample": broken}),), run.manifest))
    assert data_of(page)["samples"][0]["query"] == "half \ufffd"
    page.encode()


def test_a_context_is_stored_once_and_a_quote_as_its_place() -> None:
    text = "😀 Ann opened it. Bob closed it."
    rows = [row("1", "Who?", [text]), row("2", "Who then?", ["Bananas.", text])]
    run = run_of(rows, lambda inquiry: VERDICTS[inquiry.question])
    told = stories(run, figures(run))
    assert told["texts"] == [text, "Bananas."]
    [claim, _] = told["samples"][0]["claims"]
    context, start, end = claim["at"]
    utf16 = text.encode("utf-16-le")
    assert (context, utf16[2 * start : 2 * end].decode("utf-16-le")) == (0, "😀 Ann opened it.")
    [later, _] = run.results[0].claims
    changed = later.model_copy(update={"evidence": Quote(context=0, quote="not there")})
    result = run.results[0].model_copy(update={"claims": (changed,)})
    [sample] = stories(Run((result,), run.manifest), figures(run))["samples"]
    assert sample["claims"][0]["quote"] == "not there"


def test_prompts_and_other_columns_stay_at_home() -> None:
    page = run_page(run_of([ROWS[0] | {"salary": "a secret column"}]))
    assert "a secret column" not in page
    assert "Answer with" not in page


def test_what_is_not_known_is_said() -> None:
    page = run_page(run_of())
    assert "has not been measured" in page
    assert "Nothing has been measured for this judge." in page
    assert "1 score could not be had" in page


def test_a_run_without_samples_has_a_page() -> None:
    run = run_of(ROWS[:1])
    assert "0 samples" in run_page(Run((), run.manifest))


def test_a_run_in_which_everything_failed_has_a_page() -> None:
    def broken(inquiry: Any) -> Any:
        raise RuntimeError("no")

    page = run_page(run_of(ROWS[:2], broken))
    assert "No sample has a score." in page


def test_links_have_no_colon_before_them() -> None:
    assert link(":judge") == "#%3Ajudge"
    assert link("a/b?c#d%") == "#a%2Fb%3Fc%23d%25"


def test_the_page_is_the_same_each_time() -> None:
    run = run_of()
    assert run_page(run, run) == run_page(run, run)


def test_the_claims_of_an_answer_and_what_matters_are_told_too() -> None:
    metrics = [ls.ContextRecall(), ls.Faithfulness(), ls.ContextPrecision()]
    run = ls.score(ROWS[:1], judge=ScriptedJudge(lambda i: VERDICTS[i.question]), metrics=metrics)
    [sample] = stories(run, figures(run))["samples"]
    assert [claim["text"] for claim in sample["said"]] == VERDICTS["claims"]["claims"]
    assert all(context["matters"] is True and context["p"] == 1.0 for context in sample["contexts"])
    assert "Claims of the answer" in run_page(run)
