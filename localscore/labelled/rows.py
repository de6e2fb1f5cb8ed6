"""The rows of each kind of file, and how they are told apart: by their fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from localscore.labelled.records import Kind, Labelled, Opinion
from localscore.verdicts import LEVELS, Level

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class Row(BaseModel, ABC):
    """What rows of all kinds have."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    set: str = "all"
    lang: str = "en"
    query: str = ""

    @abstractmethod
    def items(self) -> Iterable[Labelled]:
        """Return what people gave a verdict on in this row."""

    def _item(self, kind: Kind, gold: Opinion, text: str, **more: Any) -> Labelled:
        cluster = self.query or text
        return Labelled(kind, self.id, gold, text, set=self.set, lang=self.lang, cluster=cluster, **more)


class _RelevanceRow(Row):
    query: Text
    passage: Text
    level: Level | None = None
    grade: Annotated[int, Field(ge=0, le=3)] | None = None
    scale: Literal["graded", "binary"] = "graded"

    @model_validator(mode="after")
    def _one_verdict(self) -> _RelevanceRow:
        if self.level is None and self.grade is None:
            raise ValueError("expected a 'level', or a 'grade' from 0 to 3")
        if self.level and self.grade is not None and self.level != LEVELS[3 - self.grade]:
            raise ValueError(f"'level' is {self.level}, but 'grade' is {self.grade}")
        return self

    def items(self) -> Iterable[Labelled]:
        level = self.level or LEVELS[3 - (self.grade or 0)]
        binary = self.scale == "binary"
        yield self._item("relevance", level, self.query, contexts=(self.passage,), binary=binary)


class _AttributionRow(Row):
    claim: Text
    contexts: Texts
    label: Literal["yes", "no"]

    def items(self) -> Iterable[Labelled]:
        yield self._item("attribution", self.label == "yes", self.claim, contexts=self.contexts)


class _UsageRow(Row):
    query: Text
    contexts: Texts
    answer: Text
    used: tuple[bool, ...]

    @model_validator(mode="after")
    def _one_verdict_a_context(self) -> _UsageRow:
        if len(self.used) != len(self.contexts):
            raise ValueError(f"'used' has {len(self.used)} verdicts for {len(self.contexts)} contexts")
        return self

    def items(self) -> Iterable[Labelled]:
        for number, (context, used) in enumerate(zip(self.contexts, self.used, strict=True)):
            item = self._item("usage", used, self.query, contexts=(context,), answer=self.answer)
            yield replace(item, id=f"{self.id}/{number}")


class _SufficiencyRow(Row):
    query: Text
    contexts: Texts
    sufficient: bool
    missing: tuple[str, ...] = ()
    missing_answer: tuple[str, ...] = ()

    def items(self) -> Iterable[Labelled]:
        wanting = {"missing": self.missing, "missing_answer": self.missing_answer}
        more = {} if self.sufficient else wanting
        yield self._item("sufficiency", self.sufficient, self.query, contexts=self.contexts, **more)


class _ClaimsRow(Row):
    text: Text
    claims: Texts

    def items(self) -> Iterable[Labelled]:
        yield self._item("claims", self.claims, self.text)


class Other(BaseModel):
    """What another judge said of a record."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    kind: str = Field(alias="shape")
    model: str
    pred: bool | int | str | None = None
    """Its verdict; none where what it wrote could not be read."""
    score: float | None = None


MODELS: tuple[tuple[set[str], type[Row] | type[Other]], ...] = (
    ({"query", "passage"}, _RelevanceRow),
    ({"claim", "contexts", "label"}, _AttributionRow),
    ({"query", "contexts", "answer", "used"}, _UsageRow),
    ({"query", "contexts", "sufficient"}, _SufficiencyRow),
    ({"text", "claims"}, _ClaimsRow),
    ({"id", "shape", "model"}, Other),
)


def recognised(row: dict[str, Any]) -> type[Row] | type[Other] | None:
    """Return what a row with these fields is; none where it is of no kind.

    >>> recognised({"id": "1", "text": "Ann ran.", "claims": ["Ann ran."]}).__name__
    '_ClaimsRow'
    """
    return next((model for fields, model in MODELS if fields <= row.keys()), None)


def told(problem: Mapping[str, Any]) -> str:
    """Say one complaint of pydantic in the words of the row."""
    if problem["type"] == "missing":
        return f"missing {str(problem['loc'][0])!r}"
    if problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    field = "".join(f"[{at}]" if isinstance(at, int) else str(at) for at in problem["loc"])
    if problem["type"] == "string_pattern_mismatch":
        return f"{field!r} is blank; expected a text"
    said = problem["msg"].removeprefix("Input should be ")
    return f"{field!r} is {problem['input']!r:.60}; expected {said}"
