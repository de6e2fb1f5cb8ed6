"""A judge that answers from a function, for tests and examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from localscore.errors import JudgeFailed, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import JudgeIdentity, TokenCount
from localscore.results import Judgment
from localscore.verdicts import Verdict, certainty, parsed

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
    return Judgment.of(verdict, certainty(verdict) or None)


def _fields(answer: Verdict | Mapping[str, Any]) -> dict[str, Any]:
    return answer.model_dump(mode="json") if isinstance(answer, Verdict) else dict(answer)
