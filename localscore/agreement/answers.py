"""Human-labelled records → what a judge said of them: a line of `answers.jsonl` each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from localscore import inquiries
from localscore.engine import MORE_ROOM
from localscore.errors import JudgeBroke, OutputTruncated, RunError, VerdictCountMismatch, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import Judge
from localscore.labelled import Kind, Labelled, Opinion
from localscore.metrics import Plan, ask, ask_each
from localscore.results import Cause, Features, Judgment
from localscore.texts import meaningful

ANSWERS = "answers.jsonl"


class Answer(BaseModel):
    """What people, the judge and word overlap said of one record."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    id: str
    set: str
    lang: str
    cluster: str
    """Records of one cluster are not independent of each other."""
    binary: bool
    """Whether people only told at least `medium` from less."""
    key: str
    """A hash of what was asked."""
    gold: Opinion
    """What people said."""
    verdict: Opinion | None
    """What the judge said; none where it could not be had."""
    probabilities: dict[str, float] = {}
    """Of each legal value of a closed verdict, by label."""
    features: Features | None = None
    """What a calibrated verdict was made of."""
    overlap: float | tuple[str, ...]
    """What word overlap says: a number from 0 to 1, or for claims the sentences."""
    gold_missing: tuple[str, ...] = ()
    """What people found missing, where they named it."""
    missing_answer: tuple[str, ...] = ()
    """The words that would have answered it, where known."""
    missing: tuple[str, ...] = ()
    """What the judge found missing; it is asked where people named something and it found that too little."""
    cause: Cause | None = None
    """Why there is no verdict."""
    seconds: float | None
    """How long the judge took; none where a verdict came from the cache."""


class _Said(NamedTuple):
    verdict: Opinion
    probabilities: dict[str, float]
    features: Features | None = None
    missing: tuple[str, ...] = ()


def answer(item: Labelled, judge: Judge, overlap: float | tuple[str, ...]) -> Answer:
    """Ask a judge about a record; a verdict that could not be had is told by its cause.

    >>> from localscore.judges.scripted import ScriptedJudge
    >>> item = Labelled("relevance", "1", "high", "Who ran?", ("Ann ran.",))
    >>> said = answer(item, ScriptedJudge(lambda inquiry: {"level": "low"}), 0.5)
    >>> said.gold, said.verdict, said.probabilities["low"]
    ('high', 'low', 1.0)

    Raises:
        JudgeBroke: the judge raised something that is no `VerdictError`.
    """
    start, cached = time.monotonic(), judge.tokens.cached
    said, cause = None, None
    try:
        said = _driven(_plan(item), judge)
    except VerdictError as error:
        message = str(error).encode("utf-8", "replace").decode()  # it may quote anything
        cause = Cause(code=error.code, message=message)
    return Answer(
        kind=item.kind,
        id=item.id,
        set=item.set,
        lang=item.lang,
        cluster=item.cluster,
        binary=item.binary,
        key=key(item),
        gold=item.gold,
        verdict=said.verdict if said is not None else None,
        probabilities=said.probabilities if said is not None else {},
        features=said.features if said is not None else None,
        overlap=overlap,
        gold_missing=item.missing,
        missing_answer=item.missing_answer,
        missing=said.missing if said is not None else (),
        cause=cause,
        seconds=round(time.monotonic() - start, 3) if judge.tokens.cached == cached else None,
    )


def key(item: Labelled) -> str:
    """Return a hash of what is asked about a record; it changes with the wording of the question."""
    return "-".join(inquiry.key[:16] for inquiry in item.inquiries())


def load_answers(path: Path) -> list[Answer]:
    """Read `answers.jsonl`; a last line that was cut while it was written is left out.

    Raises:
        RunError: a line that is no answer.
    """
    lines = path.read_bytes().split(b"\n")
    answers = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            answers.append(Answer.model_validate_json(line))
        except ValidationError as error:
            told = error.errors()[0]
            where = ".".join(map(str, told["loc"]))
            raise RunError(f"{path}:{number} is no answer: {where} {told['msg']}.") from None
    return answers


def _plan(item: Labelled) -> Plan[_Said]:
    """Ask what is to be asked of a record; nothing here knows who answers."""
    found = yield from ask_each(item.inquiries())
    if item.kind == "claims":
        return _Said(meaningful(claim for one in found for claim in one.verdict.claims), {})
    [[verdict], probabilities] = found[0].verdict.model_dump().values(), dict(found[0].probabilities)
    if item.kind == "sufficiency" and not verdict and item.missing:
        named = yield from ask(inquiries.missing_context(item.text, item.contexts))
        return _Said(verdict, probabilities, found[0].features, meaningful(named.verdict.missing))
    return _Said(verdict, probabilities, found[0].features)


def _driven(plan: Plan[_Said], judge: Judge) -> _Said:
    try:
        asked = next(plan)
        while True:
            asked = plan.send(_judgments(asked, judge))
    except StopIteration as stop:
        said: _Said = stop.value
        return said


def _judgments(asked: Sequence[Inquiry[Any]], judge: Judge) -> list[Judgment]:
    answers = _decided(asked, judge)
    cut = [i for i, answer in enumerate(answers) if isinstance(answer, OutputTruncated)]
    if cut:
        again = [replace(asked[i], room=MORE_ROOM * asked[i].room) for i in cut]
        for i, more in zip(cut, _decided(again, judge), strict=True):
            answers[i] = more
    for one in answers:
        if isinstance(one, VerdictError):
            raise one
    return [one for one in answers if isinstance(one, Judgment)]


def _decided(asked: Sequence[Inquiry[Any]], judge: Judge) -> list[Judgment | VerdictError]:
    try:
        answers = list(judge.decide(asked))
    except Exception as error:
        raise JudgeBroke(
            f"The judge broke: {type(error).__name__}: {error}",
            hint="What was answered before is kept; the same command carries on.",
        ) from error
    if len(answers) != len(asked):
        raise VerdictCountMismatch(f"The judge gave {len(answers)} verdicts; expected {len(asked)}.")
    return answers
