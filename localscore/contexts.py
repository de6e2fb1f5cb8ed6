"""What was retrieved → texts: a list, its JSON, or objects with a text in them, whose other fields are kept."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from localscore.columns import look_up, without
from localscore.lines import LineError, parsed_line

TEXTS = (
    "text",
    "content",
    "page_content",
    "pageContent",
    "document.content",  # Phoenix
    "args.context",  # TruLens
    "kwargs.page_content",  # LangChain
    "node.text",  # LlamaIndex
)
"""Where an object may have its text."""

LISTS = (
    "relevantContext",
    "contexts",
    "documents",
    "passages",
    "chunks",
    "results",
    "matches",
    "hits",
    "sources",
    "content",
)
"""Where an object that a tool returned may have what it found."""


class ContextsError(ValueError):
    """What is wrong with a row's contexts, in words that follow the column's name."""


class Contexts(NamedTuple):
    """The texts of a row's contexts, and what else each had."""

    texts: list[Any]
    others: list[dict[str, Any]] | None = None
    """Per context its other fields; none where no context has any."""


def contexts_in(value: object, *, one: bool = False, separator: str | None = None) -> Contexts | object:
    """Return the contexts in a column; what cannot be a list of them as it is.

    Args:
        value: a list of texts or objects, or a text that holds one as JSON or as Python writes it.
        one: whether a plain text is one context.
        separator: what stands between the contexts of a plain text.

    Raises:
        ContextsError: an object without a text, or with two.

    >>> contexts_in('["Ann ran.", "Bo slept."]').texts
    ['Ann ran.', 'Bo slept.']
    >>> contexts_in([{"page_content": "Ann ran.", "metadata": {"page": 7}}])
    Contexts(texts=['Ann ran.'], others=[{'metadata': {'page': 7}}])
    >>> contexts_in("Ann ran.|Bo slept.", separator="|").texts
    ['Ann ran.', 'Bo slept.']
    """
    if isinstance(value, str):
        value = _split(value, one, separator)
    if not isinstance(value, list | tuple):
        return value
    texts, others = [], []
    for number, item in enumerate(value):
        text, other = _text_of(item, number) if isinstance(item, Mapping) else (item, {})
        texts.append(text)
        others.append(other)
    return Contexts(texts, others if any(others) else None)


def contexts_of_results(results: list[Any]) -> Contexts:
    """Return what tools returned as contexts: a text is one, and so is each thing that a search found.

    An object in which no text can be told is shown as its JSON.

    >>> contexts_of_results(["Ann ran.", {"results": [{"text": "Bo slept.", "score": 0.7}]}])
    Contexts(texts=['Ann ran.', 'Bo slept.'], others=[{}, {'score': 0.7}])
    """
    texts, others = [], []
    for item in (item for result in results for item in _found(result)):
        try:
            text, other = _text_of(item, 0) if isinstance(item, Mapping) else (item, {})
        except ContextsError:
            text, other = item, {}
        texts.append(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
        others.append(other)
    return Contexts(texts, others if any(others) else None)


def _found(result: object) -> list[Any]:
    if isinstance(result, str):
        result = _read(result) if result.lstrip().startswith(("[", "{")) else result
    if isinstance(result, Mapping):
        lists = (result[name] for name in LISTS if isinstance(result.get(name), list))
        return list(next(lists, [result]))
    if isinstance(result, list):
        return result
    return [] if result is None else [result]


def _split(text: str, one: bool, separator: str | None) -> object:
    if text.lstrip().startswith("["):
        found = _read(text)
        if isinstance(found, list):
            return found
    if separator is not None:
        return text.split(separator)
    return [text] if one else text


def _read(text: str) -> object:
    """Return what a text holds as JSON, or as Python writes it, which pandas puts into CSV; else the text."""
    try:
        return parsed_line(text)
    except LineError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _text_of(item: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    found = {name: text for name in TEXTS if isinstance(text := look_up(item, name), str)}
    if len(set(found.values())) != 1:
        has = (
            " and ".join(map(repr, found)) or f"no text; its fields are {', '.join(map(str, item)) or 'none'}"
        )
        raise ContextsError(f"[{number}] has {has}; expected one of {', '.join(TEXTS[:4])}")
    return next(iter(found.values())), without(item, found)
