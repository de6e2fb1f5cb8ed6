"""What `agreement.json` holds: how well a judge agrees with people, beside word overlap and other judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from localscore.calibration import Calibration
from localscore.errors import RunError
from localscore.labelled import Kind

AGREEMENT = "agreement.json"

JUDGE, OVERLAP = "judge", "word overlap"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Frozen):
    """A measure, its 95 % interval, and the number of records it rests on; none where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int


class Row(_Frozen):
    """One contestant over the records of a slice that it said something of."""

    name: str
    n: int
    measures: dict[str, Estimate]
    ahead: Estimate | None = None
    """By how much the judge is ahead of this one in the headline measure, on the records that both judged."""
    confusion: dict[str, dict[str, int]] = {}
    """People's verdicts, for each of them the contestant's, and how often."""


class Slice(_Frozen):
    """Some of the records of a kind: all, those of a set, or those in a language."""

    by: Literal["all", "set", "lang"]
    name: str
    n: int
    """Records that the judge gave a verdict on."""
    clusters: int
    """Independent groups among them: different queries, mostly."""
    headline: str
    """The measure by which contestants are compared here."""
    ece: float | None
    """Expected calibration error of the probability of the verdict given, in ten bins."""
    ece_yes: float | None
    """The same of the probability of a yes (of relevance, of at least `medium`)."""
    rows: tuple[Row, ...]
    """The judge first, then word overlap, then other judges."""

    def row(self, name: str) -> Row:
        """Return the row of a contestant."""
        return next(row for row in self.rows if row.name == name)


class Bin(_Frozen):
    """Verdicts of about the same probability: how often they were right."""

    low: float
    high: float
    n: int
    probability: float
    """Their mean probability."""
    right: float
    """The share of them that people agree with."""


class KindAgreement(_Frozen):
    """How well the judge agrees with people in one kind of question."""

    records: int
    failed: dict[str, int]
    """How many verdicts could not be had, by cause; they are in no measure."""
    seconds: float
    samples_per_minute: float | None
    finding: str
    """Whether the judge is better than word overlap, in one sentence."""
    slices: tuple[Slice, ...]
    """All records first."""
    reliability: tuple[Bin, ...]
    """Of the verdict given."""
    reliability_yes: tuple[Bin, ...]
    """Of a yes (of relevance, of at least `medium`)."""

    @property
    def all(self) -> Slice:
        """Every record of this kind."""
        return self.slices[0]


class Agreement(_Frozen):
    """How well a judge agrees with people: what `agreement.json` holds."""

    judge: dict[str, Any]
    """Name, fingerprint, and what that was made of."""
    prompts: str
    """The sha256 of the wording of all questions."""
    source: str
    options: dict[str, Any] = {}
    started: str
    finished: str | None = None
    """When it was measured; none while records are still asked."""
    seconds: float = 0.0
    samples_per_minute: float | None = None
    kinds: dict[Kind, KindAgreement] = {}
    calibration: dict[str, Calibration] = {}
    """With what the measures were made, each record by one that was fitted without its cluster."""

    def finished_with(self, kinds: dict[Kind, KindAgreement], finished: str) -> Agreement:
        """Return the agreement now that everything is asked and measured."""
        seconds = sum(kind.seconds for kind in kinds.values())
        records = sum(kind.records for kind in kinds.values())
        update = {
            "kinds": kinds,
            "finished": finished,
            "seconds": round(seconds, 1),
            "samples_per_minute": round(60 * records / seconds, 1) if seconds else None,
        }
        return self.model_copy(update=update)


def load_agreement(folder: Path, name: str = AGREEMENT) -> Agreement:
    """Read a folder's `agreement.json`, or another file of its kind.

    Raises:
        RunError: it is not there, or is none of this version of localscore.
    """
    path = folder / name
    try:
        return Agreement.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error}") from None
    except ValidationError as error:
        raise RunError(f"{path} is not an agreement of this version of localscore: {error}") from None
