"""A judge that answers from a function, for tests and examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from localscore.errors import JudgeFailed, SchemaViolation, UnparsableOutput, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import JudgeIdentity, TokenCount
from localscore.results import Judgment
from localscore.verdicts import Verdict, legal_values

Answer = Verdict | Mapping[str, Any] | Judgment | str
"""A verdict, its fields, a judgment with probabilities, or the text that a model would have written."""


class ScriptedJudge:
    """A judge that answers from a function.

    The function gets the inquiry: `inquiry.question` is its name, `inquiry.verdict` the type expected,
    `inquiry.texts` what was filled into the prompt. What it raises becomes the cause of a failed score.

    >>> from localscore import inquiries
    >>> judge = ScriptedJudge(lambda inquiry: {"level": "high"})
    >>> [judgment] = judge.decide([inquiries.relevance("Who?", "Ann.")])
    >>> judgment.verdict, judgment.probabilities["high"]
    ({'level': 'high'}, 1.0)
    """

    def __init__(self, answer: Callable[[Inquiry[Any]], Answer], *, name: str = "scripted") -> None:
        self._answer = answer
        self.identity = JudgeIdentity(name=name, fingerprint=name)
        self.tokens = TokenCount()
        self.asked: list[Inquiry[Any]] = []
        """Every inquiry put to this judge, in order."""

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry from the function."""
        for inquiry in inquiries:
            self.asked.append(inquiry)
            try:
                yield _judgment(inquiry, self._answer(inquiry))
            except VerdictError as error:
                yield error
            except Exception as error:  # a script may stand for a backend that breaks in any way
                yield JudgeFailed(f"{type(error).__name__}: {error}")


def _judgment(inquiry: Inquiry[Any], answer: Answer) -> Judgment:
    if isinstance(answer, Judgment):
        return answer
    verdict = parsed(inquiry.verdict, answer if isinstance(answer, str) else _fields(answer))
    legal = legal_values(inquiry.verdict)
    probabilities = {value.label(): float(value == verdict) for value in legal} if legal else None
    return Judgment.of(verdict, probabilities)


def _fields(answer: Verdict | Mapping[str, Any]) -> dict[str, Any]:
    return answer.model_dump(mode="json") if isinstance(answer, Verdict) else dict(answer)


def parsed(verdict: type[Verdict], written: str | Mapping[str, Any]) -> Verdict:
    """Return the verdict that was written, as JSON text or as its fields.

    Raises:
        UnparsableOutput: the text is not JSON.
        SchemaViolation: the JSON is not this verdict.
    """
    fields = _json(written) if isinstance(written, str) else written
    try:
        return verdict.model_validate(fields)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, d['loc'])) or 'object'}: {d['msg']}" for d in error.errors())
        raise SchemaViolation(f"The judge wrote {fields!r}; expected {verdict.__name__}: {told}.") from None


def _json(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError as error:
        raise UnparsableOutput(f"The judge wrote {written[:80]!r}, which is not JSON: {error}") from None
