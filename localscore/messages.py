"""Messages of an agent → what was asked, what was answered, what its tools returned.

A message is `{"role": …, "content": …}`, its content a text, a list of parts, or an object of these, as OpenAI,
Anthropic, the AI SDK, LangChain and Mastra write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ROLES = {"human": "user", "ai": "assistant"}
"""LangChain's words."""


class NoText:
    """Messages without a text of the role that was looked for."""

    def __init__(self, role: str) -> None:
        self.role = role


def has_messages(value: object) -> bool:
    """Return whether an input or output has the shape of an agent's: a list of messages."""
    if isinstance(value, Mapping):
        value = value.get("inputMessages")
    return isinstance(value, list) and bool(value) and all(_role(message) for message in value)


def message_text(value: object, role: str) -> object:
    """Return the text of the first message of a role that has any; what is not a list of messages as it is.

    >>> message_text([{"role": "user", "content": [{"type": "text", "text": "Who?"}]}], "user")
    'Who?'
    """
    if not isinstance(value, list):
        return value
    contents = (_content_text(message) for message in value if _role(message) == role)
    texts = [text for text in contents if text is not None]
    return next((text for text in texts if text.strip()), texts[0] if texts else NoText(role))


def tool_results(value: object) -> list[Any]:
    """Return what the tools returned in these messages, in order, each call's result once.

    >>> tool_results([{"role": "tool", "content": "Ann ran."}, {"role": "assistant", "content": "Ann."}])
    ['Ann ran.']
    """
    if isinstance(value, Mapping):
        value = value.get("inputMessages")
    found: dict[object, Any] = {}
    for message in value if isinstance(value, list) else ():
        for call, result in _results(message):
            found.setdefault(call if call is not None else object(), result)
    return list(found.values())


def _results(message: object) -> Iterator[tuple[object, Any]]:
    if not isinstance(message, Mapping):
        return
    content = message.get("content")
    if _role(message) == "tool" and not _parts(content):
        yield message.get("tool_call_id"), content
    for holder in (content, message):
        if isinstance(holder, Mapping):
            for part in [*_list(holder.get("parts")), *_list(holder.get("toolInvocations"))]:
                yield from _part_result(part)
    for part in _list(content):
        yield from _part_result(part)


def _part_result(part: object) -> Iterator[tuple[object, Any]]:
    if not isinstance(part, Mapping):
        return
    inner = part.get("toolInvocation")
    call = inner if isinstance(inner, Mapping) else part
    name = call.get("toolCallId") or call.get("tool_use_id") or call.get("toolUseId")
    if call.get("type") == "tool_result":  # Anthropic
        yield name, call.get("content")
    elif call.get("type") == "tool-result" or call.get("state") in (
        "result",
        "output-available",
    ):  # AI SDK, Mastra
        result = call.get("result", call.get("output"))
        typed = isinstance(result, Mapping) and result.get("type") in ("text", "json", "content")
        yield name, result["value"] if typed and "value" in result else result


def _parts(content: object) -> bool:
    """Return whether a tool message's content is parts that say themselves what they are."""
    kinds = ("tool_result", "tool-result")
    return any(isinstance(part, Mapping) and part.get("type") in kinds for part in _list(content))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _role(message: object) -> str | None:
    if not isinstance(message, Mapping):
        return None
    role = message.get("role") or (message.get("type") if "content" in message else None)
    return _ROLES.get(role, role) if isinstance(role, str) else None


def _content_text(content: object) -> str | None:
    """Return the text of a message's content: a string, parts (the last text counts), or an object of these."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part for part in map(_part_text, content) if part is not None]
        return texts[-1] if texts else None
    if isinstance(content, Mapping):
        found = [_content_text(content[key]) for key in ("content", "text", "parts") if key in content]
        texts = [text for text in found if text is not None]
        # an empty `content` gives way to `parts`
        return next(filter(None, texts), texts[0] if texts else None)
    return None


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type", "text") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    return None
