"""A sample: what was asked, what was retrieved, what was answered, and what would have been right.

`Sample.from_row` reads it from a row in the words of localscore, ragas, DeepEval or Mastra.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_core import PydanticSerializationError

from localscore.errors import OptionError

ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query", "user_input", "question", "input", "input.inputMessages", "prompt"),
    "contexts": (
        "contexts",
        "retrieved_contexts",
        "retrieval_context",
        "options.context",
        "documents",
        "passages",
    ),
    "answer": ("answer", "response", "actual_output", "output", "prediction"),
    "ground_truth": ("ground_truth", "reference", "expected_output", "groundTruth", "expected", "target"),
    "id": ("id",),
}
"""For each field of a sample the column names that are recognised, ours first; a dot goes into an object."""

DEEPEST = 100
"""Levels that other columns may be nested; JSON readers give up not far beyond."""

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
    ) -> Sample:
        """Return the sample in a row.

        Args:
            row: the columns of the row.
            default_id: the id of a row that has none.
            names: for each field the column that holds it, as `recognise` returns it.
            needs: fields that must be there although a sample can do without them.

        Raises:
            RowError: a field is missing or of a wrong type; its message lists all of them.

        >>> row = {"question": "Who?", "contexts": ["Ann."], "answer": "Ann", "lang": "en"}
        >>> sample = Sample.from_row(row, default_id="1", names=recognise([row]))
        >>> sample.query, sample.id, sample.metadata
        ('Who?', '1', {'lang': 'en'})
        """
        fields: dict[str, Any] = {"id": default_id}
        for field, name in names.items():
            value = _look_up(row, name)
            if value is not _ABSENT:
                fields[field] = _message_text(value, _ROLES[field]) if field in _ROLES else value
        if isinstance(fields["id"], int) and not isinstance(fields["id"], bool):
            fields["id"] = str(fields["id"])
        taken = {name if name in row else name.split(".")[0] for name in names.values()}
        fields["metadata"] = {key: value for key, value in row.items() if key not in taken}
        problems = [_missing(field, row) for field in needs if fields.get(field) is None]
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
        query = _message_text(source, "user")
        answer = _message_text(run.get("output"), "assistant")
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
            names = {name: name for name in ALIASES}
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


def recognise(rows: Iterable[Mapping[str, Any]], mapping: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return for each field of a sample the column that holds it in these rows.

    Args:
        rows: the rows whose columns are looked at.
        mapping: `{their column: our field}`, which goes before what is recognised.

    Raises:
        OptionError: the mapping names an unknown field, or a column that no row has; or two columns could be
            meant for one field and neither is ours.

    >>> recognise([{"user_input": "q", "retrieved_contexts": [], "reference": "r"}])
    {'query': 'user_input', 'contexts': 'retrieved_contexts', 'ground_truth': 'reference'}
    >>> recognise([{"frage": "q", "contexts": []}], {"frage": "query"})
    {'query': 'frage', 'contexts': 'contexts'}
    """
    rows = list(rows)
    names: dict[str, str] = {}
    for theirs, ours in (mapping or {}).items():
        if ours in names:
            raise OptionError(
                f"--map: {names[ours]!r} and {theirs!r} are both mapped to {ours!r}; expected one."
            )
        if ours not in ALIASES:
            raise OptionError(
                f"--map {theirs}={ours}: there is no field {ours!r}.",
                hint=f"Fields are {', '.join(ALIASES)}; write --map their_column=field.",
            )
        if rows and all(_look_up(row, theirs) is _ABSENT for row in rows):
            columns = ", ".join(sorted({str(key) for row in rows for key in row}))
            raise OptionError(
                f"--map {theirs}={ours}: no row has a column {theirs!r}.", hint=f"Columns are {columns}."
            )
        names[ours] = theirs
    for field, aliases in ALIASES.items():
        if field in names:
            continue
        present = [a for a in aliases if any(_recognisable(row, a, field) for row in rows)]
        if field in present or len(present) == 1:
            names[field] = present[0]
        elif present:
            raise OptionError(
                f"Two columns could be the {field}: {' and '.join(repr(name) for name in present)}.",
                hint=f"Say which, for example --map {present[0]}={field}.",
            )
    return {field: names[field] for field in ALIASES if field in names}


def has_messages(value: object) -> bool:
    """Return whether an input or output has the shape of an agent's: a list of messages."""
    if isinstance(value, Mapping):
        value = value.get("inputMessages")
    return isinstance(value, list) and bool(value) and all(_role(message) for message in value)


class _Absent:
    pass


_ABSENT = _Absent()


def _look_up(row: Mapping[str, Any], name: str) -> Any:
    if name in row:
        return row[name]
    value: Any = row
    for key in name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return _ABSENT
        value = value[key]
    return value


def _recognisable(row: Mapping[str, Any], name: str, field: str) -> bool:
    value = _look_up(row, name)
    if value is _ABSENT:
        return False
    # `input` is the query of DeepEval as a text, and holds the messages of Mastra as an object.
    return not (field == "query" and isinstance(value, Mapping))


def _role(message: object) -> str | None:
    return message.get("role") if isinstance(message, Mapping) else None


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(_depth, inner), default=0)


class _NoText:
    """Messages without a text of the role that was looked for."""

    def __init__(self, role: str) -> None:
        self.role = role


def _message_text(value: object, role: str) -> object:
    """Return the text of the first message of a role; what is not a list of messages as it is."""
    if not isinstance(value, list):
        return value
    text = _content_text(next((message for message in value if _role(message) == role), None))
    return text if text is not None else _NoText(role)


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
        return next(
            filter(None, texts), texts[0] if texts else None
        )  # an empty `content` gives way to `parts`
    return None


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type", "text") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    return None


def _missing(field: str, row: Mapping[str, Any]) -> str:
    known, here = ", ".join(ALIASES[field]), ", ".join(map(str, row))
    return f"missing {field!r} (recognised columns: {known}; columns here: {here or 'none'})"


def _told(detail: Any, names: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """Say one complaint of pydantic in the words of the row."""
    field = str(detail["loc"][0])
    column = names.get(field, field)
    if detail["type"] == "missing":
        return _missing(field, row)
    where = repr(column) + "".join(f"[{i}]" for i in detail["loc"][1:])
    if detail["type"] == "value_error":
        return f"{where} {detail['ctx']['error']!s}"
    expected = "a list of texts" if detail["loc"] == ("contexts",) else "a text"
    return f"{where} is {_kind(detail['input'])}; expected {expected}"


def _kind(value: object) -> str:
    if isinstance(value, _NoText):
        return f"without a message of the {value.role} that has text"
    kinds = {
        str: "a text",
        bool: "true or false",
        dict: "an object",
        list: "a list",
    }
    return "null" if value is None else kinds.get(type(value), f"the number {value!r}")
