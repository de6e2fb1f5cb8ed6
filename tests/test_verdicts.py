from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from localscore.verdicts import (
    LEVELS,
    Attribution,
    Claims,
    Evidence,
    MissingContext,
    Relevance,
    Sufficiency,
    Usage,
    Verdict,
    legal_values,
)


class Tone(Verdict):
    """A question of one's own with several fields."""

    rude: bool
    stars: Annotated[int, Field(ge=0, le=1)]
    language: Literal["en", "日本語"]
    note: None


class Remark(Verdict):
    """Half closed is open."""

    rude: bool
    text: str


class Count(Verdict):
    """Bounded on one side only."""

    count: Annotated[int, Field(le=9)]


CLOSED: dict[type[Verdict], list[dict[str, object]]] = {
    Relevance: [{"level": level} for level in ("high", "medium", "low", "none")],
    Usage: [{"used": True}, {"used": False}],
    Sufficiency: [{"sufficient": True}, {"sufficient": False}],
    Attribution: [{"supported": True}, {"supported": False}],
    Evidence.among(3): [{"sentence": 1}, {"sentence": 2}, {"sentence": 3}],
    Evidence.among(1): [{"sentence": 1}],
    Tone: [
        {"rude": rude, "stars": stars, "language": language, "note": None}
        for rude in (True, False)
        for stars in (0, 1)
        for language in ("en", "日本語")
    ],
}
closed = pytest.mark.parametrize("verdict", CLOSED, ids=lambda verdict: verdict.__name__)


@closed
def test_a_closed_verdict_has_its_legal_values_in_declared_order(verdict: type[Verdict]) -> None:
    assert [value.model_dump() for value in legal_values(verdict)] == CLOSED[verdict]


@pytest.mark.parametrize("verdict", [Claims, MissingContext, Evidence, Remark, Count])
def test_an_open_verdict_has_no_legal_values(verdict: type[Verdict]) -> None:
    assert legal_values(verdict) == ()


@closed
def test_every_legal_value_reads_back_from_its_spelling(verdict: type[Verdict]) -> None:
    values = legal_values(verdict)
    assert tuple(verdict.model_validate_json(value.spelled()) for value in values) == values


@closed
def test_every_legal_value_has_a_label_of_its_own(verdict: type[Verdict]) -> None:
    labels = [value.label() for value in legal_values(verdict)]
    assert len(set(labels)) == len(labels)


TONE = Tone(rude=False, stars=1, language="日本語", note=None)


@pytest.mark.parametrize(
    ("verdict", "spelled", "label"),
    [
        (Relevance(level="none"), '{"level": "none"}', "none"),
        (Usage(used=False), '{"used": false}', "false"),
        (Evidence(sentence=12), '{"sentence": 12}', "12"),
        (TONE, '{"rude": false, "stars": 1, "language": "日本語", "note": null}', "false, 1, 日本語, null"),
    ],
)
def test_a_verdict_is_spelled_and_labelled(verdict: Verdict, spelled: str, label: str) -> None:
    assert (verdict.spelled(), verdict.label()) == (spelled, label)


@pytest.mark.parametrize(
    ("verdict", "fields"),
    [
        (Relevance, {"level": "High"}),
        (Relevance, {"level": "high", "score": 0.9}),
        (Relevance, {}),
        (Evidence, {"sentence": 0}),
        (Evidence.among(3), {"sentence": 0}),
        (Evidence.among(3), {"sentence": 4}),
        (Claims, {"claims": ["ok"] * 17}),
        (Claims, {"claims": ["x"]}),
        (Claims, {"claims": ["x" * 301]}),
        (MissingContext, {"missing": []}),
        (MissingContext, {"missing": ["ok"] * 5}),
    ],
)
def test_what_was_not_asked_for_is_refused(verdict: type[Verdict], fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        verdict.model_validate(fields)


@pytest.mark.parametrize(
    ("verdict", "fields"),
    [
        (Claims, {"claims": []}),
        (Claims, {"claims": ["x" * 300] * 16}),
        (MissingContext, {"missing": ["ok"]}),
        (MissingContext, {"missing": ["ok"] * 4}),
    ],
)
def test_lists_are_accepted_up_to_their_bounds(verdict: type[Verdict], fields: dict[str, list[str]]) -> None:
    [(name, statements)] = fields.items()
    assert getattr(verdict.model_validate(fields), name) == tuple(statements)


def test_evidence_among_as_many_sentences_is_one_class() -> None:
    assert Evidence.among(3) is Evidence.among(3)


def test_a_verdict_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Usage(used=True).used = False  # type: ignore[misc]


def test_the_levels_are_those_of_the_contract_best_first() -> None:
    assert LEVELS == ("high", "medium", "low", "none")
