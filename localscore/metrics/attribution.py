"""The claims of a text, and whether contexts support each: what context recall and faithfulness ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localscore import inquiries
from localscore.inquiries import Inquiry
from localscore.metrics.base import Answered, Plan
from localscore.metrics.parts import Group, ask_parts, halved_group, texts_of, whole_group
from localscore.results import ClaimVerdict, Quote
from localscore.scoring.numbers import exact
from localscore.texts import halves, meaningful, pieces
from localscore.verdicts import Attribution


def attributed_claims(text: str, contexts: tuple[str, ...]) -> Plan[tuple[ClaimVerdict, ...]]:
    """Ask for the claims of a text, and whether the contexts support each of them, by which sentence."""
    claims = yield from _claims(text)
    attributions, quotes = yield from attributed(claims, contexts)
    return tuple(
        ClaimVerdict(
            text=claim,
            supported=answer.verdict.supported,
            probability=answer.probability,
            evidence=quote,
        )
        for claim, answer, quote in zip(claims, attributions, quotes, strict=True)
    )


def told_of(claims: Sequence[ClaimVerdict]) -> dict[str, Any]:
    """Return what a scoring function wants to know of claims, beside whether they are supported."""
    known = all(claim.probability is not None for claim in claims)
    return {
        "claims": [claim.text for claim in claims],
        "evidence": [claim.evidence for claim in claims],
        "probabilities": [_of_support(claim) for claim in claims] if known else None,
    }


def _of_support(claim: ClaimVerdict) -> float:
    """Return the probability that a claim is supported."""
    given = claim.probability or 0.0
    return given if claim.supported else float(1 - exact(given))


def _claims(text: str) -> Plan[tuple[str, ...]]:
    """Ask for the atomic claims of a text, piece by piece, without repeats."""
    found = yield from ask_parts(
        pieces(text), lambda piece: [inquiries.claims(piece)], lambda piece: halves(piece, overlap=False)
    )
    answers = [part.answers[0] for parts in found for part in parts]
    return meaningful(claim for answer in answers for claim in answer.verdict.claims)


def attributed(
    claims: tuple[str, ...], contexts: tuple[str, ...]
) -> Plan[tuple[list[Answered[Attribution]], list[Quote | None]]]:
    """Ask whether the contexts support each claim, and together with it, which sentence would be the evidence.

    Where the contexts do not fit together, a claim is supported if a group of them supports it.
    """
    if not inquiries.numbered_sentences(contexts):
        return [_UNSUPPORTED] * len(claims), [None] * len(claims)

    def questions(asked: tuple[str, Group]) -> tuple[Inquiry[Any], ...]:
        claim, texts = asked[0], texts_of(asked[1])
        return inquiries.together(inquiries.attribution(claim, texts), inquiries.evidence(claim, texts))

    every = tuple(piece for piece in whole_group(contexts) if piece.text.strip())
    found = yield from ask_parts(
        [(claim, every) for claim in claims],
        questions,
        lambda asked: [(asked[0], half) for half in halved_group(asked[1])],
    )
    attributions: list[Answered[Attribution]] = []
    quotes: list[Quote | None] = []
    for groups in found:
        best = max(groups, key=lambda group: group.answers[0].probabilities["true"])
        attribution, chosen = best.answers
        shown = best.part[1]
        sentence = inquiries.numbered_sentences(texts_of(shown))[chosen.verdict.sentence - 1]
        quote = Quote(
            context=shown[sentence.context].context, quote=sentence.text, probability=chosen.probability
        )
        attributions.append(attribution)
        quotes.append(quote if attribution.verdict.supported else None)
    return attributions, quotes


_UNSUPPORTED = Answered.certainly(Attribution(supported=False))
