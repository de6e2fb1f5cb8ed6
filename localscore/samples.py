"""A sample: what was asked, what was retrieved, what was answered, and what would have been right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_core import PydanticSerializationError

from localscore.columns import ABSENT, look_up, missing, without
from localscore.contexts import Contexts, ContextsError, contexts_in, contexts_of_results
from localscore.errors import OptionError
from localscore.messages import NoText, has_messages, message_text, tool_results
from localscore.tools import FIELDS

DEEPEST = 100
"""Levels that other columns may be nested; JSON readers give up not far beyond."""

TOOL_RESULTS = "tool-results"
"""In place of a column: the contexts are what the tools returned in a row's messages."""

_ROLES = {"query": "user", "answer": "assistant"}


def _valid_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"is a text that is not valid Unicode (character {error.start + 1})") from None
    return text


Text = Annotated[str, AfterValidator(_valid_unicode)]


class Sample(BaseModel):
    """One row to score."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Text
    """Unique in its file; the line number where the row has none."""
    query: Text
    contexts: tuple[Text, ...]
    """What the retriever returned, in its order."""
    answer: Text | None = None
    """What the system said."""
    ground_truth: Text | None = None
    """A trusted reference answer."""
    metadata: dict[str, Any] = {}
    """The row's other columns, kept as they are."""

    @field_validator("contexts", mode="before")
    @classmethod
    def _list_of_text(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is blank; expected a text")
        return value

    @classmethod
    def from_row(
        cls,
        row: Mapping[str, Any],
        *,
        default_id: str,
        names: Mapping[str, str],
        needs: Collection[str] = (),
        contexts_from: str = "column",
        separator: str | None = None,
    ) -> Sample:
        """Return the sample in a row.

        Args:
            row: the columns of the row.
            default_id: the id of a row that has none.
            names: for each field the column that holds it, as `recognise` returns it.
            needs: fields that must be there although a sample can do without them.
            contexts_from: `column`, or `tool-results` of the messages.
            separator: what stands between contexts that are one text.

        Raises:
            RowError: a field is missing or of a wrong type; its message lists all of them.

        >>> row = {"question": "Who?", "contexts": ["Ann."], "answer": "Ann", "lang": "en"}
        >>> names = {"query": "question", "contexts": "contexts", "answer": "answer"}
        >>> sample = Sample.from_row(row, default_id="1", names=names)
        >>> sample.query, sample.id, sample.metadata
        ('Who?', '1', {'lang': 'en'})
        """
        values = {
            field: value for field, name in names.items() if (value := look_up(row, name)) is not ABSENT
        }
        fields: dict[str, Any] = {"id": default_id, **values, "metadata": without(row, names.values())}
        problems: list[str] = []
        try:
            column = names.get("contexts", "contexts")
            if contexts_from == TOOL_RESULTS:
                column = TOOL_RESULTS
                found: object = _tool_results(values)
            else:
                found = contexts_in(values.get("contexts"), one=_is_one(column), separator=separator)
            if isinstance(found, Contexts):
                fields["contexts"] = found.texts
                fields["metadata"] |= {column: found.others} if found.others else {}
        except ContextsError as error:
            fields["contexts"] = ()
            problems.append(f"{column!r}{error}")
        for field, role in _ROLES.items():
            if field in fields:
                fields[field] = message_text(fields[field], role)
        if isinstance(fields["id"], int) and not isinstance(fields["id"], bool):
            fields["id"] = str(fields["id"])
        problems += [missing(field, row) for field in needs if fields.get(field) is None]
        try:
            sample = cls.model_validate(fields)
        except ValidationError as error:
            problems.extend(_told(detail, names, row) for detail in error.errors())
        if problems:
            raise RowError(problems)
        if _depth(sample.metadata) > DEEPEST:
            raise RowError([f"its other columns are nested deeper than {DEEPEST} levels"])
        try:
            sample.model_dump_json()
        except PydanticSerializationError as error:
            raise RowError([f"its other columns cannot be written as JSON: {error}"]) from None
        return sample

    @classmethod
    def from_run(
        cls, run: Mapping[str, Any], contexts: Sequence[str], *, ground_truth: str | None = None
    ) -> Sample:
        """Return the sample in one run of an agent: `{"input": …, "output": …, "groundTruth": …}`.

        Raises:
            OptionError: no text of the user in the input.

        >>> run = {"input": {"inputMessages": [{"role": "user", "content": "Who?"}]}, "output": "Ann"}
        >>> Sample.from_run(run, ["Ann."]).query
        'Who?'
        """
        source = run.get("input")
        if isinstance(source, Mapping):
            source = source.get("inputMessages", source.get("query"))
        query = message_text(source, "user")
        answer = message_text(run.get("output"), "assistant")
        if not isinstance(query, str) or not query.strip():
            raise OptionError("The run's input has no user message with text.", hint=_RUN_HINT)
        if answer is not None and not isinstance(answer, str):
            raise OptionError("The run's output has no assistant message with text.", hint=_RUN_HINT)
        try:
            return cls(
                id=str(run.get("runId") or run.get("id") or "1"),
                query=query,
                contexts=tuple(contexts),
                answer=answer,
                ground_truth=ground_truth,
            )
        except ValidationError as error:
            names = {name: name for name in FIELDS}
            raise OptionError("; ".join(_told(detail, names, run) for detail in error.errors())) from None


_RUN_HINT = (
    "Expected {'input': text or {'inputMessages': [{'role': 'user', 'content': …}]}, "
    "'output': text or [{'role': 'assistant', 'content': …}]}."
)


class RowError(ValueError):
    """What is wrong with one row, field by field."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


def _tool_results(values: Mapping[str, Any]) -> Contexts:
    """Return what the answer's messages say that tools returned, or the query's where there is nothing."""
    given = [values[field] for field in ("answer", "query") if has_messages(values.get(field))]
    if not given:
        raise ContextsError(" of which messages? Neither query nor answer is a list of messages")
    return contexts_of_results(next(filter(None, map(tool_results, given)), []))


def _is_one(column: str) -> bool:
    """Return whether a column's name promises one text and not a list.

    >>> _is_one("context"), _is_one("outputs.context"), _is_one("contexts"), _is_one("options.context")
    (True, True, False, False)
    """
    return column.rsplit(".", 1)[-1] in ("context", "reference") and column != "options.context"


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(_depth, inner), default=0)


def _told(detail: Any, names: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """Say one complaint of pydantic in the words of the row."""
    field = str(detail["loc"][0])
    column = names.get(field, field)
    if detail["type"] == "missing":
        return missing(field, row)
    where = repr(column) + "".join(f"[{i}]" for i in detail["loc"][1:])
    if detail["type"] == "value_error":
        return f"{where} {detail['ctx']['error']!s}"
    expected = "a list of texts" if detail["loc"] == ("contexts",) else "a text"
    joined = expected == "a list of texts" and isinstance(detail["input"], str)
    hint = "; if it is several that were joined, add for example --split-contexts '|'" if joined else ""
    return f"{where} is {_kind(detail['input'])}; expected {expected}{hint}"


def _kind(value: object) -> str:
    if isinstance(value, NoText):
        return f"without a message of the {value.role} that has text"
    kinds = {
        str: "a text",
        bool: "true or false",
        dict: "an object",
        list: "a list",
    }
    return "null" if value is None else kinds.get(type(value), f"the number {value!r}")
