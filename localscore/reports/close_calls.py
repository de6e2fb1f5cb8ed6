"""The verdicts that are nearest to a coin toss: those that a person should look at first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from localscore.results import SampleResult


@dataclass(frozen=True)
class CloseCall:
    """A closed verdict whose two most probable values are near to each other."""

    sample: str
    question: str
    """What was asked, in a word."""
    about: str
    """What it was asked of: a context by its number, a claim, or all contexts."""
    verdict: str
    against: str
    """The value that came second."""
    probability: float
    margin: float
    """The distance between the probabilities of the two, 0 to 1."""


def close_calls(results: Iterable[SampleResult], *, limit: int | None = None) -> list[CloseCall]:
    """Return the verdicts with the smallest margins, nearest to a coin toss first.

    >>> from localscore.results import ClaimVerdict
    >>> from localscore.samples import Sample
    >>> claims = (ClaimVerdict(text="Ann ran.", supported=True, probability=0.52),)
    >>> result = SampleResult(id="7", scores={}, claims=claims, sample=Sample(id="7", query="Who?", contexts=()))
    >>> [(call.sample, call.verdict, call.margin) for call in close_calls([result])]
    [('7', 'supported', 0.04)]
    """
    found = [call for result in results for call in calls_of(result)]
    found.sort(key=lambda call: call.margin)  # stable: ties stay in the order of the samples
    return found[:limit]


def calls_of(result: SampleResult) -> Iterator[CloseCall]:
    """Give a sample's closed verdicts that have probabilities, in the order of its findings."""
    for context in result.contexts:
        about = f"context {context.index + 1}"
        levels = context.probabilities.get("level", {})
        if len(levels) > 1:
            yield _call(result.id, "level", about, levels)
        uses = context.probabilities.get("used", {})
        if len(uses) > 1:
            named = {"used": uses.get("true", 0.0), "not used": uses.get("false", 0.0)}
            yield _call(result.id, "usage", about, named)
    if result.sufficiency is not None and result.sufficiency.probability is not None:
        given = "sufficient", "not sufficient"
        p = result.sufficiency.probability
        yield _call(result.id, "sufficiency", "all contexts", _two(given, result.sufficiency.sufficient, p))
    for ranked in result.ranked:
        if ranked.probability is not None:
            told = _two(("relevant", "not relevant"), ranked.relevant, ranked.probability)
            yield _call(result.id, "rank", f"context {ranked.index + 1}", told)
    for claim in (*result.claims, *result.answer_claims):
        if claim.probability is not None:
            told = _two(("supported", "not supported"), claim.supported, claim.probability)
            yield _call(result.id, "attribution", claim.text, told)


def _two(names: tuple[str, str], yes: bool, probability: float) -> dict[str, float]:
    given, other = names if yes else names[::-1]
    return {given: probability, other: 1 - probability}


def _call(sample: str, question: str, about: str, probabilities: dict[str, float]) -> CloseCall:
    (verdict, first), (against, second), *_ = sorted(probabilities.items(), key=lambda pair: -pair[1])
    return CloseCall(sample, question, about, verdict, against, first, round(first - second, 4))
