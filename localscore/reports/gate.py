"""What a gate came to: for a terminal, as JUnit XML, and as Markdown for the pages of a CI."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich import box
from rich.table import Table
from rich.text import Text

from localscore.gate import Outcome, Verdict

_COLOURS: dict[Outcome, str] = {"met": "green", "not met": "red", "not checked": "yellow"}
_MARKS: dict[Outcome, str] = {"met": "✅ met", "not met": "❌ not met", "not checked": "⚠️ not checked"}


def gate_table(verdict: Verdict) -> Table:
    """Return a row per threshold."""
    table = Table(title=f"{verdict.run}: {verdict.outcome}", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("threshold", "wanted", "found", "outcome"):
        table.add_column(name, overflow="fold")
    for check in verdict.checks:
        outcome = Text(check.outcome, style=_COLOURS[check.outcome])
        table.add_row(Text(check.name), Text(check.wanted), Text(check.found), outcome)
    return table


def markdown(verdict: Verdict) -> str:
    """Return a table for a page of a CI, such as GitHub's step summary."""
    head = [f"### {_MARKS[verdict.outcome]}: `{_cell(verdict.run)}`", ""]
    rows = [("threshold", "wanted", "found", "outcome"), ("---",) * 4]
    rows += [(c.name, c.wanted, _cell(c.found), _MARKS[c.outcome]) for c in verdict.checks]
    return "\n".join(head + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def _cell(text: str) -> str:
    r"""Return a text that stays within its cell and means nothing to Markdown or HTML.

    >>> _cell("a|b\n<c>")
    'a\\|b &lt;c>'
    """
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def junit(verdict: Verdict) -> bytes:
    """Return JUnit XML: a test case per threshold; one that could not be checked is an error, not a failure."""
    outcomes = [check.outcome for check in verdict.checks]
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("not met")),
        "errors": str(outcomes.count("not checked")),
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": _legal(f"localscore gate {verdict.run}"), **counts})
    for check in verdict.checks:
        attributes = {"classname": "localscore.gate", "name": _legal(f"{check.name} {check.wanted}")}
        case = SubElement(suite, "testcase", attributes)
        if check.outcome != "met":
            tag = "failure" if check.outcome == "not met" else "error"
            message = _legal(f"{check.name}: wanted {check.wanted}; found {check.found}")
            SubElement(case, tag, {"message": message, "type": check.outcome}).text = message
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _legal(text: str) -> str:
    r"""Replace the characters that XML 1.0 has no way to write.

    >>> _legal("a\x00b<\ud800")
    'a�b<�'
    """
    return _NOT_XML.sub("\ufffd", text)
