"""Answers → report: every contestant measured on all records, on those of each set, and in each language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from localscore.agreement import contestants, measures
from localscore.agreement.answers import Answer
from localscore.agreement.contestants import Columns
from localscore.agreement.measures import Floats, Measure
from localscore.agreement.reliability import ece, reliability
from localscore.agreement.report import JUDGE, OVERLAP, Bin, Estimate, KindAgreement, Row, Slice
from localscore.labelled import KINDS, Kind, Other
from localscore.verdicts import LEVELS


class _Compared(NamedTuple):
    """A measure, and the columns of people and contestant that it compares."""

    measure: Measure
    gold: str
    said: str


_BINARY = {
    "balanced_accuracy": _Compared(measures.BALANCED_ACCURACY, "yes", "yes"),
    "f1": _Compared(measures.F1, "yes", "yes"),
    "auroc": _Compared(measures.AUROC, "yes", "chance"),
    "kappa": _Compared(measures.KAPPA, "yes", "yes"),
    "accuracy": _Compared(measures.ACCURACY, "yes", "yes"),
}

MEASURES: dict[Kind, dict[str, _Compared]] = {
    "relevance": {
        "quadratic_kappa": _Compared(measures.QUADRATIC_KAPPA, "grade", "grade"),
        "kappa": _Compared(measures.KAPPA, "grade", "grade"),
        "accuracy": _Compared(measures.ACCURACY, "grade", "grade"),
        "spearman": _Compared(measures.SPEARMAN, "grade", "expected"),
        "balanced_accuracy": _Compared(measures.BALANCED_ACCURACY, "yes", "yes"),
        "auroc": _Compared(measures.AUROC, "yes", "chance"),
        "binary_kappa": _Compared(measures.KAPPA, "yes", "yes"),
        "binary_accuracy": _Compared(measures.ACCURACY, "yes", "yes"),
    },
    "attribution": _BINARY,
    "usage": _BINARY,
    "sufficiency": _BINARY | {"missing_named": _Compared(measures.MEAN, "named", "named")},
    "claims": {name: _Compared(measures.MEAN, name, name) for name in ("f1", "precision", "recall")},
}
"""What is measured of each kind. Of relevance the last four are about at least `medium` against less."""

HEADLINES: dict[Kind, tuple[str, ...]] = {
    "relevance": ("quadratic_kappa", "balanced_accuracy", "binary_accuracy"),
    "attribution": ("balanced_accuracy", "accuracy"),
    "usage": ("balanced_accuracy", "accuracy"),
    "sufficiency": ("balanced_accuracy", "accuracy"),
    "claims": ("f1",),
}
"""By which measure contestants are compared: the first that is defined for the records at hand."""


def measured(answers: Sequence[Answer], others: Iterable[Other] = ()) -> dict[Kind, KindAgreement]:
    """Return how well a judge agrees with people in each kind of question that it was asked.

    Verdicts that could not be had are counted, and are in no measure of any contestant.
    """
    others = tuple(others)
    by_kind = {kind: [answer for answer in answers if answer.kind == kind] for kind in KINDS}
    return {kind: _kind(kind, of_kind, others) for kind, of_kind in by_kind.items() if of_kind}


def _kind(kind: Kind, answers: Sequence[Answer], others: Sequence[Other]) -> KindAgreement:
    judged = [answer for answer in answers if answer.verdict is not None]
    table = _Table(
        kind,
        judged,
        contestants.people(kind, judged),
        {
            JUDGE: contestants.judge(kind, judged),
            OVERLAP: contestants.word_overlap(kind, judged),
            **contestants.others(kind, judged, others),
        },
    )
    every = _slice("all", "all", table)
    sets, languages = (sorted({of(answer) for answer in judged}) for of in (_set, _lang))
    timed = [answer.seconds for answer in answers if answer.seconds is not None]
    seconds = sum(timed)
    return KindAgreement(
        records=len(answers),
        failed=dict(Counter(answer.cause.code for answer in answers if answer.cause is not None)),
        seconds=round(seconds, 1),
        samples_per_minute=round(60 * len(timed) / seconds, 1) if seconds else None,
        finding=_finding(every),
        slices=(
            every,
            *(_slice("set", name, table.where([a.set == name for a in judged])) for name in sets),
            *(_slice("lang", name, table.where([a.lang == name for a in judged])) for name in languages),
        ),
        reliability=table.of_verdict(),
        reliability_yes=table.of_yes(),
    )


def _set(answer: Answer) -> str:
    return answer.set


def _lang(answer: Answer) -> str:
    return answer.lang


class _Table(NamedTuple):
    """Some records of a kind, and what people and every contestant said of them."""

    kind: Kind
    answers: Sequence[Answer]
    gold: Columns
    said: Mapping[str, Columns]

    def where(self, there: Sequence[bool]) -> _Table:
        """Return the rows for which this is true."""
        at = np.array(there)
        return _Table(
            self.kind,
            [answer for answer, here in zip(self.answers, there, strict=True) if here],
            _at(self.gold, at),
            {name: _at(columns, at) for name, columns in self.said.items()},
        )

    @property
    def clusters(self) -> list[str]:
        return [answer.cluster for answer in self.answers]

    def of_verdict(self) -> tuple[Bin, ...]:
        """Return the reliability of the verdicts given, where people gave exact ones."""
        told = [a for a in self.answers if a.probabilities and not a.binary]
        given = [str(a.verdict).lower() if isinstance(a.verdict, bool) else str(a.verdict) for a in told]
        probabilities = [a.probabilities[label] for a, label in zip(told, given, strict=True)]
        return reliability(probabilities, [a.verdict == a.gold for a in told])

    def of_yes(self) -> tuple[Bin, ...]:
        """Return the reliability of a yes."""
        chance = self.said[JUDGE].get("chance")
        return reliability(chance.tolist(), (self.gold["yes"] == 1).tolist()) if chance is not None else ()


def _at(columns: Columns, there: npt.NDArray[np.bool_]) -> Columns:
    return {name: column[there] for name, column in columns.items()}


def _slice(by: Literal["all", "set", "lang"], name: str, table: _Table) -> Slice:
    kind, gold, said, clusters = table.kind, table.gold, table.said, table.clusters
    judge = _estimates(kind, gold, said[JUDGE], clusters)
    headline = next((one for one in HEADLINES[kind] if judge[one].value is not None), HEADLINES[kind][-1])
    compared = MEASURES[kind][headline]

    def row(contestant: str, columns: Columns, n: int) -> Row:
        ahead = None
        if contestant != JUDGE:
            both = said[JUDGE][compared.said], columns[compared.said]
            ahead = measures.difference(compared.measure, gold[compared.gold], *both, clusters)
        estimates = judge if contestant == JUDGE else _estimates(kind, gold, columns, clusters)
        confusion = _confusion(gold, columns)
        return Row(name=contestant, n=n, measures=estimates, ahead=ahead, confusion=confusion)

    spoken = {one: int((~np.isnan(columns[_main(kind)])).sum()) for one, columns in said.items()}
    return Slice(
        by=by,
        name=name,
        n=len(table.answers),
        clusters=len(set(clusters)),
        headline=headline,
        ece=ece(table.of_verdict()),
        ece_yes=ece(table.of_yes()),
        rows=tuple(
            row(one, columns, spoken[one])
            for one, columns in said.items()
            if spoken[one] or one in (JUDGE, OVERLAP)
        ),
    )


def _main(kind: Kind) -> str:
    """Return the column that a contestant who says anything fills."""
    return "f1" if kind == "claims" else "yes"


def _estimates(kind: Kind, gold: Columns, said: Columns, clusters: Sequence[str]) -> dict[str, Estimate]:
    silence = np.full(len(clusters), np.nan)
    return {
        name: measures.estimated(
            compared.measure, gold[compared.gold], said.get(compared.said, silence), clusters
        )
        for name, compared in MEASURES[kind].items()
    }


def _confusion(gold: Columns, said: Columns) -> dict[str, dict[str, int]]:
    """Return people's verdicts with the contestant's and how often, most first; nothing for claims."""
    labels = [*reversed(LEVELS)] if "grade" in said else ["no", "yes"]
    column = "grade" if "grade" in said else "yes"
    if column not in said:
        return {}
    pairs = Counter(_pairs(gold[column], said[column]))
    order = list(enumerate(labels))[::-1]
    return {label: {other: pairs[i, j] for j, other in order} for i, label in order}


def _pairs(gold: Floats, said: Floats) -> list[tuple[int, int]]:
    there = ~np.isnan(gold) & ~np.isnan(said)
    return list(zip(gold[there].astype(int).tolist(), said[there].astype(int).tolist(), strict=True))


def _finding(every: Slice) -> str:
    """Say whether the judge is better than word overlap."""
    judge, overlap = every.row(JUDGE), every.row(OVERLAP)
    ahead, name = overlap.ahead, every.headline.replace("_", " ")
    if ahead is None or ahead.value is None or ahead.low is None or ahead.high is None:
        return f"Whether the judge is better than word overlap cannot be told from these {every.n} records."
    word = "cannot be told apart from"
    if ahead.low > 0 or ahead.high < 0:
        word = "is better than" if ahead.low > 0 else "is not better than"
    both = f"{judge.measures[every.headline].value:.2f} against {overlap.measures[every.headline].value:.2f}"
    return (
        f"On {ahead.n} records the judge {word} word overlap: {name} {both}, "
        f"a difference of {ahead.value:+.2f} [{ahead.low:+.2f}, {ahead.high:+.2f}]."
    )
