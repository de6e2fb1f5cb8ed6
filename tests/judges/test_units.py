from __future__ import annotations

from typing import Any

import pytest

from localscore import inquiries
from localscore.errors import OptionError
from localscore.inquiries import Inquiry
from localscore.judges.deciding import START, legal_strings
from localscore.judges.units import MEASURED, Asked, Found, Pass, Segment, Unit, asked_together
from localscore.results import Judgment


class Characters:
    """A chat tokenizer with one token per character and no frame."""

    def chunks(self, chunks: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(map(ord, chunk)) for chunk in chunks)

    def span(self, text: str, start: int, stop: int) -> range:
        return range(start, stop)


def asked(*together: Inquiry[Any]) -> Asked:
    chat: Any = Characters()
    return Asked.of(
        together, chat, lambda verdict: legal_strings(verdict, lambda text: tuple(map(ord, text)))
    )


def text(segment: Segment) -> str:
    return "".join(map(chr, segment.tokens))


BOTH = inquiries.together(inquiries.relevance("Who?", "Ann."), inquiries.usage("Who?", "Ann.", "Ann."))


def test_questions_about_a_text_follow_it_side_by_side() -> None:
    unit = asked(*BOTH).unit
    context, level, used = unit.segments
    assert text(context) == "Text:\nAnn.\n\nQuery: Who?\n\n"
    assert (context.after, level.after, used.after) == (START, 0, 0)
    assert text(level).endswith('{"level": "')
    assert text(used).endswith('{"used": ')
    assert ["".join(map(chr, segment.wanted)) for segment in unit.segments] == ["", "hmln", "tf"]
    assert "".join(map(chr, unit.beginning[-1])).startswith("You rate texts")


def test_a_unit_is_the_same_whichever_of_its_questions_are_still_open() -> None:
    assert asked(*BOTH).unit == asked(BOTH[0]).unit == asked(BOTH[1]).unit


def test_each_inquiry_is_decided_from_its_own_forks() -> None:
    first, second = asked(*BOTH).judgments([Found([]), Found([0.0, 5.0, 0.0, 0.0]), Found([0.0, 9.0])])
    assert isinstance(first, Judgment)
    assert isinstance(second, Judgment)
    assert (first.verdict, second.verdict) == ({"level": "medium"}, {"used": False})
    assert first.prompt_tokens == len(BOTH[0].prompt + '{"level": "')


def test_a_score_that_is_no_number_fails_its_inquiry_alone() -> None:
    first, second = asked(*BOTH).judgments(
        [Found([]), Found([0.0, float("nan"), 0.0, 0.0]), Found([0.0, 9.0])]
    )
    assert getattr(first, "code", None) == "not_a_number"
    assert isinstance(second, Judgment)


def test_a_fork_within_a_number_follows_the_digits_before_it() -> None:
    contexts = (" ".join(f"It was {n}." for n in range(12)),)
    claim = inquiries.evidence("It was 3.", contexts)
    segments = asked(claim).unit.segments
    assert [segment.after for segment in segments] == [START, 0]
    assert text(segments[1]) == "1"
    assert len(segments[0].wanted) == 9


def test_units_in_one_pass_share_what_their_beginnings_share() -> None:
    def unit(*beginning: int) -> Unit:
        return Unit(tuple((token,) for token in beginning), (Segment((8,), START), Segment((9,), 0)))

    found = Pass.of([unit(1, 2, 3), unit(1, 2, 4), unit(1, 5)])
    assert found.beginning == ((1,),)
    laid = [(segment.tokens[0], segment.after) for segment in found.segments]
    assert laid == [(2, -1), (3, 0), (8, 1), (9, 2), (4, 0), (8, 4), (9, 5), (5, -1), (8, 7), (9, 8)]
    assert [list(place) for place in found.places] == [[2, 3], [5, 6], [8, 9]]


def test_a_unit_alone_has_its_whole_beginning_before_it() -> None:
    unit = asked(*BOTH).unit
    found = Pass.of([unit])
    assert (found.beginning, found.segments) == (unit.beginning, unit.segments)


def test_inquiries_are_grouped_by_what_they_are_asked_with() -> None:
    other = inquiries.together(inquiries.relevance("Who?", "Bob."))
    alone = inquiries.sufficiency("Who?", ("Ann.",))
    groups = list(asked_together([*BOTH, *other, alone, BOTH[1]]))
    assert groups == [BOTH, other, (alone,), (BOTH[1],)]


def test_only_closed_questions_about_one_text_can_be_asked_together() -> None:
    for pair in (
        (inquiries.relevance("Who?", "Ann."), inquiries.relevance("Who?", "Bob.")),
        (inquiries.claims("Ann."), inquiries.claims("Ann.")),
    ):
        with pytest.raises(OptionError, match="about the same text"):
            inquiries.together(*pair)


def test_what_an_inquiry_is_asked_with_is_part_of_its_key() -> None:
    alone = inquiries.relevance("Who?", "Ann.")
    assert len({alone.key, BOTH[0].key, BOTH[1].key}) == 3


def test_of_a_long_text_the_beginning_is_measured() -> None:
    used = inquiries.usage("Who?", "Ann.", "Ann ran. " * 100)
    [measured] = inquiries.together(used)
    unit = asked(inquiries.measuring(measured, {"usage"})).unit
    spans = [segment.measured for segment in unit.segments if segment.measured]
    start = len("Answer that was given: ")
    assert spans == [range(start, start + MEASURED)]
