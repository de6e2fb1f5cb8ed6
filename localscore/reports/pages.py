"""Self-contained HTML pages: templates, style and scripts of `reports/html`, in one file that asks for nothing.

A page forbids itself everything by its Content-Security-Policy, but for its own style and script, which are named by
their hashes. What was judged is escaped by the templates and put into the page as text by the script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from localscore.templates import encodable, environment

STYLE = "page.css"
SCRIPTS = ("page.js", "story.js", "samples.js")


def page(template: str, *, data: Any = None, **names: Any) -> str:
    """Return a page made from a template.

    Args:
        template: a file of `reports/html`.
        data: what the page's script reads; a page without it has no script.
        names: what the template shows. It is escaped, whatever it holds.
    """
    style = Markup(asset(STYLE))
    script = Markup("\n".join(map(asset, SCRIPTS)) if data is not None else "")
    text = (
        _environment()
        .get_template(template)
        .render(
            style=style,
            script=script,
            policy=policy(style, script),
            data=embedded(data),
            version=version("localscore"),
            **names,
        )
    )
    return encodable(text)


def embedded(data: Any) -> Markup:
    r"""Return data as JSON that cannot end the script tag it stands in.

    >>> embedded({"text": "</script><!--"})
    Markup('{"text":"\\u003c/script\\u003e\\u003c!--"}')
    """
    return htmlsafe_json_dumps(data, dumps=_compact)


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy of a page with this one style and this one script.

    >>> policy("", "").split("; ")[0]
    "default-src 'none'"
    """
    sources = [f"style-src '{_hash(style)}'"]
    sources += [f"script-src '{_hash(script)}'"] if script else []
    return "; ".join(["default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"])


@lru_cache(maxsize=16)
def asset(name: str) -> str:
    """Return the text of a file of `reports/html`."""
    return (files("localscore") / "reports" / "html" / name).read_text(encoding="utf-8")


def _compact(data: Any, **options: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), **options)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return environment(asset)
