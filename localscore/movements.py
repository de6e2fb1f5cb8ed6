"""Which verdicts on a sample differ between two runs, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from localscore.metrics import METRICS
from localscore.results import ClaimVerdict, ContextVerdict, Findings, RankedContext, SampleResult
from localscore.texts import shorten

Kind = Callable[[SampleResult, SampleResult], Iterator[str]]


def movements(metric: str, before: SampleResult, after: SampleResult) -> Iterator[str]:
    """Yield what differs between two results of one sample among the verdicts that a metric rests on.

    Contexts and claims are told apart by their texts; contexts are counted from 1.
    """
    finds = METRICS[metric].finds if metric in METRICS else tuple(Findings.model_fields)
    for kind in finds:
        yield from _KINDS[kind](before, after)


def _contexts(before: SampleResult, after: SampleResult) -> Iterator[str]:
    one, other = _by_text(before), _by_text(after)
    for text, verdict in one.items():
        now = other.get(text)
        if now is None:
            continue
        place = f"context {verdict.index + 1}"
        place += f", now {now.index + 1}" if now.index != verdict.index else ""
        if verdict.level != now.level:
            yield f"{place}: {verdict.level} → {now.level}"
        if verdict.used != now.used:
            yield f"{place}: {_used(verdict)} → {_used(now)}"
    yield from _in_one("gone", [_told(verdict) for text, verdict in one.items() if text not in other])
    yield from _in_one("new", [_told(now) for text, now in other.items() if text not in one])


def _in_one(word: str, told: Sequence[str]) -> Iterator[str]:
    if told:
        yield f"{word}: {', '.join(told)}"


def _by_text(result: SampleResult) -> dict[str, ContextVerdict]:
    found: dict[str, ContextVerdict] = {}
    for text, verdict in zip(result.sample.contexts, result.contexts, strict=False):
        found.setdefault(text, verdict)
    return found


def _told(verdict: ContextVerdict) -> str:
    return f"context {verdict.index + 1} ({verdict.level}, {_used(verdict)})"


def _used(verdict: ContextVerdict) -> str:
    return "used" if verdict.used else "unused"


def _sufficiency(before: SampleResult, after: SampleResult) -> Iterator[str]:
    one, other = before.sufficiency, after.sufficiency
    if one is not None and other is not None and one.sufficient != other.sufficient:
        words = ("contexts suffice" if s.sufficient else "contexts do not suffice" for s in (one, other))
        yield " → ".join(words)


def _missing(before: SampleResult, after: SampleResult) -> Iterator[str]:
    yield from (f"no longer missing: {shorten(item)}" for item in _only(before.missing, after.missing))
    yield from (f"now missing: {shorten(item)}" for item in _only(after.missing, before.missing))


def _only(items: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    yield from (item for item in items if item not in others)


def _claims(before: SampleResult, after: SampleResult) -> Iterator[str]:
    yield from _of_claims(before.claims, after.claims)


def _answer_claims(before: SampleResult, after: SampleResult) -> Iterator[str]:
    yield from _of_claims(before.answer_claims, after.answer_claims)


def _of_claims(before: Sequence[ClaimVerdict], after: Sequence[ClaimVerdict]) -> Iterator[str]:
    one = {claim.text: claim for claim in before}
    other = {claim.text: claim for claim in after}
    for text, claim in one.items():
        if text in other and other[text].supported != claim.supported:
            yield f"{_quoted(claim)}: {_supported(claim)} → {_supported(other[text])}"
    for word, these, those in (("gone", one, other), ("new", other, one)):
        told = [f"{_quoted(c)} ({_supported(c)})" for text, c in these.items() if text not in those]
        yield from _in_one(word, told)


def _ranked(before: SampleResult, after: SampleResult) -> Iterator[str]:
    one, other = (dict(zip(r.sample.contexts, r.ranked, strict=False)) for r in (before, after))
    for text, context in one.items():
        now = other.get(text)
        place = f"context {context.index + 1}"
        if now is not None and now.index != context.index:
            place += f", now {now.index + 1}"
        if now is not None and (now.relevant != context.relevant or now.index != context.index):
            yield f"{place}: {_matters(context)} → {_matters(now)}"
    for word, these, those in (("gone", one, other), ("new", other, one)):
        told = [f"context {c.index + 1} ({_matters(c)})" for text, c in these.items() if text not in those]
        yield from _in_one(word, told)


def _matters(context: RankedContext) -> str:
    return "relevant" if context.relevant else "not relevant"


def _quoted(claim: ClaimVerdict) -> str:
    return f"claim “{shorten(claim.text)}”"


def _supported(claim: ClaimVerdict) -> str:
    return "supported" if claim.supported else "not supported"


_KINDS: dict[str, Kind] = {
    "contexts": _contexts,
    "sufficiency": _sufficiency,
    "missing": _missing,
    "claims": _claims,
    "answer_claims": _answer_claims,
    "ranked": _ranked,
}
