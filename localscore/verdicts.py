"""What a judge may say. The class *is* the JSON schema that the judge is held to.

A verdict is *closed* when its language is finite: every field is a `Literal`, a `bool` or a bounded `int`.
Closed verdicts are decided from the probabilities of their legal values. All others are *open* and are
generated under their schema.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticSerializationError

from localscore.errors import OptionError, SchemaViolation, UnparsableOutput

Level = Literal["high", "medium", "low", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)


class Verdict(BaseModel):
    """Base of everything a judge may say; custom questions derive from it too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def spelled(self) -> str:
        """Return the verdict as the judge writes it: JSON with a space after `:` and `,`.

        >>> Relevance(level="high").spelled()
        '{"level": "high"}'
        """
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False)

    def label(self) -> str:
        """Return the short name under which a closed verdict's probability is kept.

        >>> Usage(used=True).label(), Relevance(level="low").label()
        ('true', 'low')
        """
        values = self.model_dump(mode="json").values()
        return ", ".join(v if isinstance(v, str) else json.dumps(v) for v in values)


V = TypeVar("V", bound=Verdict)


class Relevance(Verdict):
    """How relevant one context is to the query."""

    level: Level


class Usage(Verdict):
    """Whether the answer draws on one context."""

    used: bool


class Sufficiency(Verdict):
    """Whether the contexts together hold what the query needs."""

    sufficient: bool


class Attribution(Verdict):
    """Whether the contexts support one claim."""

    supported: bool


class Evidence(Verdict):
    """The number of the sentence, counted from 1 over all contexts, that supports a claim best."""

    sentence: Annotated[int, Field(ge=1)]

    @classmethod
    def among(cls, sentences: int) -> type[Evidence]:
        """Return the closed verdict over `sentences` numbered sentences.

        >>> [v.sentence for v in legal_values(Evidence.among(3))]
        [1, 2, 3]
        """
        return _evidence_among(sentences)


MAX_CLAIMS = 16
"""Claims that may be found in one piece of text (see `localscore.texts.pieces`)."""

MAX_MISSING = 4
"""Missing items that may be named; the default penalties are exhausted by four."""

Statement = Annotated[str, Field(min_length=2, max_length=300)]


class Claims(Verdict):
    """The atomic claims of a text, in its order."""

    claims: Annotated[tuple[Statement, ...], Field(max_length=MAX_CLAIMS)]


class MissingContext(Verdict):
    """What the query needs and no context gives."""

    missing: Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_MISSING)]


@lru_cache(maxsize=512)
def _evidence_among(sentences: int) -> type[Evidence]:
    bounded = Annotated[int, Field(ge=1, le=sentences)]
    return create_model("Evidence", __base__=Evidence, __doc__=Evidence.__doc__, sentence=(bounded, ...))


def legal_values(verdict: type[V]) -> tuple[V, ...]:
    """Return every value of a closed verdict in its declared order; nothing for an open one.

    >>> [v.level for v in legal_values(Relevance)]
    ['high', 'medium', 'low', 'none']
    >>> legal_values(Claims)
    ()
    """
    return cast("tuple[V, ...]", _legal_values(verdict))


@lru_cache(maxsize=512)
def _legal_values(verdict: type[Verdict]) -> tuple[Verdict, ...]:
    columns = {name: _legal_field(f.annotation, f.metadata) for name, f in verdict.model_fields.items()}
    if not all(columns.values()):
        return ()
    rows = itertools.product(*columns.values())
    values = tuple(verdict.model_validate(dict(zip(columns, row, strict=True))) for row in rows)
    if len({value.label() for value in values}) < len(values):
        raise OptionError(
            f"Two values of {verdict.__name__} have the same label; expected each to have its own."
        )
    return values


def _legal_field(annotation: Any, metadata: list[Any]) -> tuple[Any, ...]:
    if annotation is bool:
        return (True, False)
    if annotation is NoneType:
        return (None,)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if annotation is int:
        low = next((m.ge for m in metadata if isinstance(m, Ge)), None)
        high = next((m.le for m in metadata if isinstance(m, Le)), None)
        if isinstance(low, int) and isinstance(high, int):
            return tuple(range(low, high + 1))
    return ()


@lru_cache(maxsize=512)
def schema(verdict: type[Verdict]) -> dict[str, Any]:
    """Return the JSON schema that the judge is held to; not to be changed, since it is made once."""
    return verdict.model_json_schema()


def certainty(verdict: Verdict) -> dict[str, float]:
    """Return the probabilities of a closed verdict that is beyond doubt; none for an open one.

    >>> certainty(Usage(used=False))
    {'true': 0.0, 'false': 1.0}
    """
    return dict(_certain(verdict)) if legal_values(type(verdict)) else {}


@lru_cache(maxsize=4096)
def _certain(verdict: Verdict) -> Mapping[str, float]:
    return {label: float(value == verdict) for label, value in _by_label(type(verdict)).items()}


def decided(verdict: type[V], probabilities: Mapping[str, float]) -> tuple[V, dict[str, float]]:
    """Return the most probable value, and all probabilities rounded as they are kept.

    The choice is made on the kept digits, so that what is stored always explains the verdict; of values that
    are level, the first in the schema's order is taken.

    >>> decided(Usage, {"false": 0.50004, "true": 0.49996})[0]
    Usage(used=True)
    """
    by_label = _by_label(verdict)
    kept = {label: round(probabilities[label], 4) for label in by_label}
    label = max(kept, key=kept.__getitem__)
    return by_label[label], kept


@lru_cache(maxsize=512)
def _by_label(verdict: type[V]) -> dict[str, V]:
    return {value.label(): value for value in legal_values(verdict)}


def parsed(verdict: type[V], written: str | Mapping[str, Any]) -> V:
    """Return the verdict that was written, as JSON text or as its fields.

    Raises:
        UnparsableOutput: the text is not JSON.
        SchemaViolation: the JSON is not this verdict.

    >>> parsed(Usage, '{"used": true}')
    Usage(used=True)
    """
    fields = _json(written) if isinstance(written, str) else written
    try:
        found = verdict.model_validate(fields)
        if not legal_values(verdict):
            found.model_dump_json()  # half a character pair is no text
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, d['loc'])) or 'object'}: {d['msg']}" for d in error.errors())
    except PydanticSerializationError as error:
        told = str(error)
    else:
        return found
    raise SchemaViolation(f"The judge wrote {fields!r}; expected {verdict.__name__}: {told}.")


def _json(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError as error:
        raise UnparsableOutput(f"The judge wrote {written[:80]!r}, which is not JSON: {error}") from None
