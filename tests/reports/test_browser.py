"""The pages in a browser: what a reader does, and that nothing leaves them.

They need Chromium (`CHROMIUM`, or one on the path); axe-core comes with the package axe-playwright-python.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from localscore import api
from localscore.judges.scripted import ScriptedJudge
from localscore.reports.agreement_page import agreement_page
from localscore.reports.run_page import run_page
from tests.conftest import VERDICTS
from tests.reports import made_up
from tests.reports.test_numbers import row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
ODD = "a b/ü%?#:</script>\u202e\u2028😀\"'"
HOSTILE = "<img src=http://example.org/x.png onerror=window.hurt=1><script>window.hurt=1</script>\u202e"


class Reader:
    """A page that is open, and all that it said or asked for."""

    def __init__(self, browser: Browser, path: Path, address: str = "", **options: Any) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        context.on("request", lambda request: self.asked.append(request.url))
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path.as_uri() + address)
        self.own = path.as_uri()

    def rows(self) -> list[str]:
        """The ids of the rows shown."""
        return self.page.locator("tr.row .id").all_inner_texts()

    def status(self) -> str:
        """What is told of the list."""
        return self.page.locator('[role="status"]').inner_text()

    def quiet(self) -> bool:
        """Whether it said nothing and asked for nothing but itself."""
        return not self.said and {url.split("#")[0] for url in self.asked} == {self.own}

    def search(self, text: str) -> None:
        """Type into the search field and wait until the list has changed."""
        before = self.status()
        self.page.get_by_role("searchbox").fill(text)
        self.page.wait_for_function(
            "before => document.querySelector('[role=status]').textContent !== before", arg=before
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on the path; name one in CHROMIUM")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 124 samples beside a baseline: made-up ones, and some that are odd."""
    long = "Nothing to see, " * 65_000 + "that is. Ann opened the gate in 1931. Still nothing."
    odd = [
        row(ODD, HOSTILE, [HOSTILE, "Ann."], truth=HOSTILE) | {"answer": HOSTILE},
        row("last", "Who is last?", []),
        row("none", "Who has no truth?", ["Ann."], truth=""),
    ]
    rows = made_up.rows(120, 30)
    run = api.score([*rows, *odd], judge=made_up.judge(failing=0.3))
    said = VERDICTS | {"claims": {"claims": ["Ann opened the gate."]}, "evidence": {"sentence": 2}}
    judge = ScriptedJudge(lambda inquiry: said[inquiry.question])
    gate = api.score([row("long", "Who opened the gate?", [long])], judge=judge)
    run = replace(run, results=(*run.results, *gate.results))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(run_page(run, api.score(rows, judge=made_up.judge(lean=0.1))), encoding="utf-8")
    return path


@pytest.fixture
def reader(browser: Browser, path: Path) -> Iterator[Reader]:
    reader = Reader(browser, path)
    yield reader
    assert reader.quiet(), (reader.said, reader.asked)
    reader.page.context.close()


def column(reader: Reader, number: int) -> list[float]:
    cells = reader.page.locator(f"tr.row > :nth-child({number}) .score").all_inner_texts()
    return [float(cell) for cell in cells if cell != "–"]


def test_rows_are_shown_in_the_order_of_the_file_and_in_pages(reader: Reader) -> None:
    assert reader.rows()[:2] == ["sample-0", "sample-1"]
    assert reader.status() == "124 samples, 1 to 50 shown"
    reader.page.get_by_role("button", name="Next").click()
    reader.page.get_by_role("button", name="Next").click()
    assert len(reader.rows()) == 24
    assert reader.rows()[-1] == "long"
    assert reader.page.get_by_role("button", name="Next").is_disabled()


def test_a_heading_sorts_lowest_first_then_highest_then_as_in_the_file(reader: Reader) -> None:
    heading = reader.page.get_by_role("columnheader", name="Context relevance", exact=True)
    heading.get_by_role("button").click()
    scores = column(reader, 2)
    assert (heading.get_attribute("aria-sort"), scores) == ("ascending", sorted(scores))
    heading.get_by_role("button").press("Enter")
    scores = column(reader, 2)
    assert (heading.get_attribute("aria-sort"), scores) == ("descending", sorted(scores, reverse=True))
    assert reader.page.evaluate("document.activeElement.textContent").startswith("Context relevance")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") is None
    assert reader.rows()[0] == "sample-0"


def test_a_filter_leaves_what_it_says(reader: Reader) -> None:
    bands = reader.page.get_by_role("combobox", name="Context recall")
    told = next(name for name in bands.locator("option").all_inner_texts() if name.startswith("failed"))
    bands.select_option(told)
    assert told == f"failed ({len(reader.rows())})"
    assert set(reader.page.locator("tr.row > :nth-child(4) .band").all_inner_texts()) == {"failed"}
    reader.page.get_by_role("button", name="Reset").click()
    assert reader.status() == "124 samples, 1 to 50 shown"


def test_all_words_are_searched_for_in_all_texts(reader: Reader) -> None:
    reader.search("OPENED gate")
    assert reader.rows() == ["long"]
    reader.search("nowhere to be found")
    assert (reader.rows(), reader.status()) == ([], "0 of 124 samples")
    reader.search("sample-117")
    assert reader.rows() == ["sample-117"]


def test_a_missing_item_finds_its_samples(reader: Reader) -> None:
    item = reader.page.locator("button[data-find]").first
    item.click()
    assert re.match(r"\d+ of 124 samples", reader.status())
    assert reader.page.get_by_role("searchbox").input_value() == item.inner_text()


def test_a_sample_opens_and_closes_by_keyboard(reader: Reader) -> None:
    button = reader.page.locator("tr.row button").nth(1)
    button.focus()
    reader.page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    article = reader.page.get_by_role("article", name="Sample sample-1", exact=True)
    for told in ("Query", "Answer", "Reference answer", "Contexts", "Context 5", "Sufficiency"):
        assert told in article.inner_text()
    reader.page.keyboard.press("Tab")
    assert reader.page.evaluate("document.activeElement.textContent") == "link to this sample"
    reader.page.keyboard.press("Escape")
    assert button.get_attribute("aria-expanded") == "false"
    assert reader.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_evidence_is_marked_in_its_context(browser: Browser, path: Path) -> None:
    reader = Reader(browser, path, "#long")
    marks = reader.page.locator("article mark")
    assert marks.all_inner_texts() == ["Ann opened the gate in 1931."] * 2
    context = reader.page.locator(".contexts .text")
    assert len(context.inner_text()) < 2000, "a long context is collapsed"
    assert "[…]" in context.inner_text()
    reader.page.get_by_role("button", name="Show all 1,0").click()
    assert len(context.inner_text()) > 1_000_000
    assert reader.quiet()


def test_a_link_opens_its_sample(browser: Browser, path: Path) -> None:
    reader = Reader(browser, path, "#sample-117")
    assert reader.page.get_by_role("article", name="Sample sample-117").is_visible()
    assert reader.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    reader.page.evaluate("location.hash = 'last'")
    reader.page.get_by_role("article", name="Sample last").wait_for()
    reader.page.evaluate("location.hash = '%'")
    assert reader.quiet()


def test_an_id_may_hold_any_characters(browser: Browser, path: Path) -> None:
    reader = Reader(browser, path, "#last")
    reader.page.evaluate("id => { location.hash = address(id) }", ODD)
    story = reader.page.locator("article.story", has=reader.page.locator("h3 bdi", has_text="</script>"))
    story.wait_for()
    address = story.get_by_role("link").get_attribute("href")
    again = Reader(browser, path, address or "")
    assert again.page.locator("article h3 bdi").text_content() == ODD
    assert reader.quiet()
    assert again.quiet()


def test_a_near_verdict_leads_to_its_sample(reader: Reader) -> None:
    link = reader.page.locator('section[aria-labelledby=":look"] a').first
    link.click()
    assert reader.page.get_by_role("article", name=f"Sample {link.inner_text()}", exact=True).is_visible()
    assert reader.page.url.endswith(link.get_attribute("href") or "?")


def test_hostile_texts_do_nothing(browser: Browser, path: Path) -> None:
    reader = Reader(browser, path, "#last")
    reader.page.evaluate("id => { location.hash = address(id) }", ODD)
    reader.page.locator("article.story").nth(1).wait_for(state="attached")
    assert HOSTILE in (reader.page.locator("main").text_content() or "")
    assert reader.page.evaluate("window.hurt") is None
    assert reader.page.locator("img").count() == 0
    isolated = "e => getComputedStyle(e).unicodeBidi"
    for texts in (reader.page.locator("article .text"), reader.page.locator("article bdi")):
        for text in texts.all():
            assert "isolate" in text.evaluate(isolated)
    assert reader.quiet()


def test_hostile_texts_do_nothing_in_a_notebook_which_has_no_policy(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    rows = [row(HOSTILE, HOSTILE, [HOSTILE], truth=HOSTILE) | {"answer": HOSTILE}]
    run = api.score(rows, judge=made_up.judge(name=HOSTILE))
    path.write_text(run._repr_html_() + run.results[0]._repr_html_(), encoding="utf-8")
    reader = Reader(browser, path)
    assert (reader.page.locator("body").text_content() or "").count(HOSTILE) >= 5
    assert reader.page.evaluate("window.hurt") is None
    assert reader.quiet()


def test_the_policy_stops_what_should_come_in_all_the_same(browser: Browser, path: Path) -> None:
    reader = Reader(browser, path)
    image = "document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x.png>')"
    with reader.page.expect_event("requestfailed") as refused:
        reader.page.evaluate(image)
    assert refused.value.failure == "csp"
    script = "document.body.append(Object.assign(document.createElement('script'), {text: 'hurt = 1'}))"
    reader.page.evaluate(script)
    assert reader.page.evaluate("window.hurt") is None
    assert any("Content Security Policy" in line for line in reader.said)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_serious(browser: Browser, path: Path, scheme: str, width: int) -> None:
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    reader = Reader(browser, path, "#sample-3", **options)
    reader.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert serious(reader) == []
    assert reader.page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_an_agreement(browser: Browser, tmp_path: Path, scheme: str) -> None:
    from localscore import agreement, labelled
    from tests.cli.test_agree import judgments
    from tests.conftest import scripted

    records = labelled.read(judgments(tmp_path / "j", 20))
    told = agreement.agree(records.items, scripted(), others=records.others)
    path = tmp_path / "agreement.html"
    path.write_text(agreement_page(told), encoding="utf-8")
    reader = Reader(browser, path, color_scheme=scheme)
    assert serious(reader) == []
    assert reader.quiet()


def serious(reader: Reader) -> list[str]:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    reader.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = reader.page.evaluate("axe.run()")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical", "moderate")
        for node in violation["nodes"][:3]
    ]
