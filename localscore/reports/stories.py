"""The samples of a page as compact JSON: every text once, nothing that is not shown.

    {"metrics": [{"name", "title", "scale"}],
     "levels": ["high", …],                     the order of a context's probabilities
     "texts": ["…"],                            each distinct context
     "samples": [{"id", "query", "answer"?, "truth"?,
                  "scores": [{"score", "status", "band"?, "expected"?, "confidence"?, "reason", "cause"?} | null],
                  "contexts": [{"text", "level"?, "used"?, "levels"?, "use"?,      text: a place in `texts`
                                "matters"?, "p"?}],
                  "sufficient"?, "sufficiency"?, "missing"?: ["…"],
                  "claims"?: [{"text", "supported", "p"?, "at"?: [context, start, end], "quote"?}],
                  "said"?: [...],               the claims of the answer, in the same shape
                  "margin"?,                    of the verdict nearest to a coin toss
                  "differences"?: [number | null]}]}

`scores` and `differences` are in the order of `metrics`. `at` counts UTF-16 units, as JavaScript does. A quote that is
not in its context, which only a file that was changed by hand holds, is given as `quote`.
"""

from __future__ import annotations

from typing import Any

from localscore.reports.close_calls import calls_of
from localscore.reports.differences import Differences
from localscore.reports.figures import Figures
from localscore.results import ClaimVerdict, ContextVerdict, SampleResult, ScoreResult
from localscore.runs import Run
from localscore.verdicts import LEVELS

Json = dict[str, Any]


def stories(run: Run, told: Figures, comparison: Differences | None = None) -> Json:
    """Return the samples of a run as the page's script reads them."""
    places: dict[str, int] = {}
    names = [metric.name for metric in told.metrics]
    samples = [_sample(result, names, places) for result in run.results]
    if comparison is not None:
        by_metric = {difference.metric: difference.by_sample for difference in comparison.metrics}
        for sample in samples:
            sample["differences"] = [by_metric.get(name, {}).get(sample["id"]) for name in names]
    return {
        "metrics": [{"name": m.name, "title": m.title, "scale": m.scale} for m in told.metrics],
        "levels": list(LEVELS),
        "texts": list(places),
        "samples": samples,
    }


def _sample(result: SampleResult, names: list[str], places: dict[str, int]) -> Json:
    sample = result.sample
    verdicts = {context.index: context for context in result.contexts}
    ranks = {one.index: {"matters": one.relevant, "p": one.probability} for one in result.ranked}
    margins = [call.margin for call in calls_of(result)]
    sufficiency = result.sufficiency
    return _known(
        id=result.id,
        query=sample.query,
        answer=sample.answer,
        truth=sample.ground_truth,
        scores=[_score(result.scores.get(name)) for name in names],
        contexts=[
            _context(places.setdefault(text, len(places)), verdicts.get(i)) | _known(**ranks.get(i, {}))
            for i, text in enumerate(sample.contexts)
        ],
        sufficient=sufficiency.sufficient if sufficiency is not None else None,
        sufficiency=sufficiency.probability if sufficiency is not None else None,
        missing=list(result.missing) or None,
        claims=[_claim(claim, sample.contexts) for claim in result.claims] or None,
        said=[_claim(claim, sample.contexts) for claim in result.answer_claims] or None,
        margin=min(margins, default=None),
    )


def _score(score: ScoreResult | None) -> Json | None:
    if score is None:
        return None
    return _known(
        score=score.score,
        status=score.status,
        band=score.band,
        expected=score.expected,
        confidence=score.confidence,
        reason=score.reason,
        cause=score.cause.code if score.cause is not None else None,
    )


def _context(place: int, verdict: ContextVerdict | None) -> Json:
    if verdict is None:
        return {"text": place}
    levels = verdict.probabilities.get("level")
    return _known(
        text=place,
        level=verdict.level,
        used=verdict.used,
        levels=[levels.get(level, 0.0) for level in LEVELS] if levels else None,
        use=verdict.probabilities.get("used", {}).get("true"),
    )


def _claim(claim: ClaimVerdict, contexts: tuple[str, ...]) -> Json:
    told = _known(text=claim.text, supported=claim.supported, p=claim.probability)
    if claim.evidence is not None:
        quote, place = claim.evidence.quote, claim.evidence.context
        text = contexts[place] if 0 <= place < len(contexts) else ""
        start = text.find(quote)
        if start >= 0:
            told["at"] = [place, _units(text[:start]), _units(text[: start + len(quote)])]
        else:
            told["quote"] = quote
    return told


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _known(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
