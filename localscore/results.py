"""What comes out: a score with its reason, the verdicts it rests on, and one line of `results.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from localscore.display import fragment
from localscore.errors import VerdictError
from localscore.samples import Sample
from localscore.verdicts import Level, Verdict

Status = Literal["scored", "no_context", "no_ground_truth", "no_claims", "not_scorable", "failed"]

Probabilities = Mapping[str, float]
"""The probability that the judge gave to each legal value, by the value's label; 4 decimals."""


Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Features(_Frozen):
    """What a calibrated verdict is made of."""

    probabilities: dict[str, float]
    """What the judge says, by label."""
    without: dict[str, float] | None = None
    """What it says where there are no contexts."""
    bits: Finite | None = None
    """The information in the query, answer or claim, given the contexts."""
    bits_without: Finite | None = None
    """The same where there are no contexts."""
    overlap: Finite = 0.0
    """The share of words in common, 0 to 1."""

    @property
    def saved(self) -> float:
        """The bits of information that the contexts take away; below zero where they mislead.

        >>> features = Features(probabilities={}, bits=20.0, bits_without=50.0)
        >>> features.saved, features.explained
        (30.0, 0.6)
        """
        return 0.0 if self.bits is None or self.bits_without is None else self.bits_without - self.bits

    @property
    def explained(self) -> float:
        """The share of the information that the contexts take away, at most 1."""
        return self.saved / self.bits_without if self.bits_without else 0.0


class Judgment(_Frozen):
    """A verdict as the judge gave it."""

    verdict: dict[str, Any]
    """The verdict's fields, as JSON."""
    probabilities: dict[str, float] | None = None
    """For a closed verdict the probability of each legal value, by label, rounded to 4 decimals."""
    bits: Finite | None = None
    """Where it was asked for: the information in the query, answer or claim, given all before it; 2 decimals."""
    features: Features | None = None
    """What a calibrated verdict was made of."""
    prompt_tokens: int = 0
    """Length of the prompt; how many of them had to be read anew is a matter of the run, not of the verdict."""
    written_tokens: int = 0

    @property
    def margin(self) -> float | None:
        """The distance between the two most probable values of a closed verdict that has two."""
        first, *others = sorted((self.probabilities or {"": 1.0}).values(), reverse=True)
        return round(first - others[0], 4) if others else None

    @classmethod
    def of(cls, verdict: Verdict, probabilities: Probabilities | None = None, **tokens: int) -> Judgment:
        """Return the judgment that holds this verdict."""
        known = dict(probabilities) if probabilities is not None else None
        return cls(verdict=verdict.model_dump(mode="json"), probabilities=known, **tokens)


class Quote(_Frozen):
    """A verbatim sentence of a context, and the context's index, counted from 0."""

    context: int
    quote: str
    probability: float | None = None


class ContextVerdict(_Frozen):
    """What was found of one context; `index` counts from 0."""

    index: int
    level: Level
    used: bool
    probabilities: dict[str, dict[str, float]] = {}
    pieces: int = 1
    """Into how many overlapping pieces it was cut, to fit into the judge's window."""


class ClaimVerdict(_Frozen):
    """What was found of one claim of the ground truth, or of the answer."""

    text: str
    supported: bool
    probability: float | None = None
    """The probability of the verdict given, whichever it is."""
    evidence: Quote | None = None


class RankedContext(_Frozen):
    """Whether a context is of use for the ground truth, or else the answer; `index` counts from 0."""

    index: int
    relevant: bool
    probability: float | None = None
    """The probability of the verdict given; none where no judge was needed."""


class SufficiencyVerdict(_Frozen):
    """Whether the contexts together suffice for the query."""

    sufficient: bool
    probability: float | None = None


class Findings(_Frozen):
    """The verdicts that a score rests on, in a readable order."""

    contexts: tuple[ContextVerdict, ...] = ()
    sufficiency: SufficiencyVerdict | None = None
    missing: tuple[str, ...] = ()
    claims: tuple[ClaimVerdict, ...] = ()
    """Of the ground truth."""
    answer_claims: tuple[ClaimVerdict, ...] = ()
    ranked: tuple[RankedContext, ...] = ()


class Cause(_Frozen):
    """Why a score could not be had, and what to do about it."""

    code: str
    message: str


class ScoreResult(_Frozen):
    """A score, or the cause that there is none."""

    score: Finite | None
    """Rounded to two decimals, half up; between 0 and `scale`."""
    value: Finite | None
    """The same, unrounded."""
    status: Status
    band: str | None = None
    """The interpretation band of a judged score."""
    reason: str
    """Written by code from the verdicts and the arithmetic, so that it cannot contradict the score."""
    expected: Finite | None = None
    """The formula's value with each closed verdict replaced by its probabilities; 4 decimals."""
    confidence: Finite | None = None
    """The mean probability of the closed verdicts that were given, 0 to 1; 4 decimals."""
    cause: Cause | None = None
    findings: Findings = Field(default=Findings(), exclude=True)
    """The verdicts; a results line holds them once for all its scores."""

    @classmethod
    def failed(cls, error: VerdictError) -> ScoreResult:
        """Return the result of a score whose verdict could not be had.

        >>> from localscore.errors import OutputTruncated
        >>> result = ScoreResult.failed(OutputTruncated("The limit of 64 tokens was reached."))
        >>> result.score, result.status, result.cause.code
        (None, 'failed', 'output_truncated')
        """
        message = str(error).encode("utf-8", "replace").decode()  # it may quote anything
        cause = Cause(code=error.code, message=message)
        return cls(score=None, value=None, status="failed", reason=f"No score: {cause.message}", cause=cause)

    def _repr_html_(self) -> str:
        return fragment("score.html", score=self)


class KeptJudgment(Judgment):
    """A judgment as a results line keeps it, with the key of the inquiry that it answers."""

    question: str
    key: str

    @classmethod
    def kept(cls, judgment: Judgment, *, question: str, key: str) -> KeptJudgment:
        """Return a judgment with what it answers."""
        fields = {name: getattr(judgment, name) for name in Judgment.model_fields}
        return cls.model_construct(**fields, question=question, key=key)


class Refusal(_Frozen):
    """An inquiry that was too long for the judge, and was therefore asked in parts."""

    question: str
    key: str
    code: str


class ScoredSample(_Frozen):
    """What a line of `results.jsonl` holds before its judgments: scores, the verdicts they rest on, the sample."""

    model_config = ConfigDict(extra="ignore")

    id: str
    scores: dict[str, ScoreResult]
    contexts: tuple[ContextVerdict, ...] = ()
    sufficiency: SufficiencyVerdict | None = None
    missing: tuple[str, ...] = ()
    claims: tuple[ClaimVerdict, ...] = ()
    answer_claims: tuple[ClaimVerdict, ...] = ()
    ranked: tuple[RankedContext, ...] = ()
    sample: Sample

    def findings(self, names: Iterable[str]) -> Findings:
        """Return its verdicts of the kinds named, which are fields of `Findings`."""
        return Findings.model_construct(**{name: getattr(self, name) for name in names})

    @property
    def failed(self) -> bool:
        """Whether at least one score could not be had."""
        return any(score.status == "failed" for score in self.scores.values())

    def _repr_html_(self) -> str:
        return fragment("sample.html", result=self)


class SampleResult(ScoredSample):
    """One line of `results.jsonl`: a scored sample, and each judgment."""

    model_config = ConfigDict(extra="forbid")

    judgments: tuple[KeptJudgment, ...] = ()
    refused: tuple[Refusal, ...] = ()
    """What the judge could not take in one piece; the judgments of its parts are among those above."""
