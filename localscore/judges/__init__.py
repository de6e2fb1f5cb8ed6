"""Judges: what answers inquiries. Only the modules of this folder import torch, transformers, outlines and llama_cpp.

    cards.py        one TOML file per known judge: where its files come from and what they must be
    store.py        brings a judge's files here, checks them, converts GGUF once
    loading.py      a name, folder or file → a judge
    machine.py      what torch can compute with here
    memory.py       what a judge needs of memory and disk, and what there is
    gguf.py         GGUF → safetensors
    harmless.py     refuses folders from which something could run
    complete.py     refuses judges that are damaged or lack weights
    answering.py    inquiries → judgments, whoever reads; holds them to JSON schemas
    huggingface.py  a judge that reads with transformers
    llamacpp/       a judge that reads a GGUF file with llama.cpp
    chat.py         prompts → token ids
    arithmetic.py   device, number format, and the kernels of its matrices
    units.py        inquiries → what is read in one pass, and back to judgments
    reading.py      token ids → scores of a transformers model, each shared beginning read once
    deciding.py     scores → a closed verdict
    writing.py      scores → an open verdict
    scripted.py     a judge that answers from a function, for tests and examples

All of localscore asks through `Judge.decide`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.results import Judgment


@dataclass
class TokenCount:
    """What a judge has cost since it was made."""

    read: int = 0
    """Tokens of prompts that went through the model; what was kept of a beginning is not read again."""
    written: int = 0
    """Tokens of open verdicts."""
    passes: int = 0
    """How often the model was called."""
    cached: int = 0
    """Verdicts that a cache gave, for which none of this was spent."""


@dataclass(frozen=True)
class JudgeIdentity:
    """Who judged: everything about a judge that may change a verdict."""

    name: str
    fingerprint: str
    """A hash of the judge's files, arithmetic and software."""
    details: dict[str, Any] = field(default_factory=dict)
    """What the fingerprint was made of, in words."""
    exact: bool = True
    """Whether the same question always gets the same bytes for an answer, whatever else is in the run."""
    noise: float = 0.0
    """Values of a closed verdict whose probabilities are nearer to each other than this are a tie."""


class LoadedAs(NamedTuple):
    """How a judge was loaded, for those who load it again in another process."""

    name: str
    options: dict[str, Any]
    """Further arguments of `load_judge`."""


class Judge(Protocol):
    """Answers inquiries. The one method is all that a backend needs to have.

    One that gains from answering the inquiries of many samples together says of how many in `samples_at_once`.
    """

    @property
    def identity(self) -> JudgeIdentity:
        """Who judges."""

    @property
    def tokens(self) -> TokenCount:
        """What it has cost so far."""

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry, in order, as soon as its answer is known.

        An answer that could not be had is handed back as the `VerdictError` that says why; the others go on.
        """
