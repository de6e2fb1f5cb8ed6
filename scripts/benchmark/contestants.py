"""Who is asked: judges, which answer inquiries one by one, and scorers that put a sample into one prompt."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, Field

from benchmark.tasks import Task
from benchmark.writers import LlamaWriter, OutlinesWriter, Writer
from localscore import engine
from localscore.errors import VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import Judge, JudgeIdentity, TokenCount
from localscore.judges.answering import AnsweringJudge
from localscore.judges.cards import card_named
from localscore.judges.loading import load_llamacpp, load_model
from localscore.judges.store import judge_folder
from localscore.results import Judgment, KeptJudgment
from localscore.samples import Sample
from localscore.scoring import context_relevance
from localscore.verdicts import Level, parsed

FLOAT32, INT8 = "ours float32", "ours int8"
_FP16, LLAMA = "ours fp16-weights", "ours llama.cpp"
_NAIVE, _ONE, _ONE_LLAMA = "naive Outlines", "one prompt, Outlines", "one prompt, llama.cpp"
NAMES = (FLOAT32, INT8, _FP16, LLAMA, _NAIVE, _ONE, _ONE_LLAMA)
OF_LLAMA = (LLAMA, _ONE_LLAMA)
"""Those that need llama-cpp-python and a judge that comes as GGUF."""

_CLOSED_ROOM = 32
"""Tokens that plain Outlines may take for a closed verdict; white space included."""


@dataclass
class Outcome:
    """What one contestant did with one sample."""

    seconds: float
    cost: TokenCount
    valid: int
    outputs: int
    one_each: bool
    """Whether there is exactly one verdict for each thing asked about."""
    asked: list[Inquiry[Any]] = field(default_factory=list)
    judgments: dict[str, KeptJudgment] = field(default_factory=dict)
    """By the inquiries' keys; empty for scorers that ask with prompts of their own."""


class Contestant(Protocol):
    """Does tasks; `cold` lets go of what was kept of earlier samples."""

    name: str

    def answer(self, task: Task, sample: Sample) -> Outcome: ...
    def cold(self) -> None: ...


class Judged:
    """A judge that is asked by localscore's engine; notes what it was asked."""

    def __init__(self, name: str, judge: Judge) -> None:
        self.name = name
        self.judge, self.identity, self.tokens = judge, judge.identity, judge.tokens
        self._asked: dict[str, Inquiry[Any]] = {}

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Pass inquiries on to the judge."""
        self._asked |= {inquiry.key: inquiry for inquiry in inquiries}
        return self.judge.decide(inquiries)

    def answer(self, task: Task, sample: Sample) -> Outcome:
        """Score a sample."""
        self._asked, before, start = {}, copy.copy(self.tokens), time.perf_counter()
        [result] = engine.run([sample], [task.metric], self)
        seconds = time.perf_counter() - start
        given = {judgment.key: judgment for judgment in result.judgments}
        asked = list(self._asked.values())
        one_each = len(given) == len(asked)
        return Outcome(seconds, _spent(before, self.tokens), len(given), len(asked), one_each, asked, given)

    def cold(self) -> None:
        """Forget kept beginnings, where the judge keeps any."""
        if isinstance(self.judge, AnsweringJudge):
            self.judge._reader.forget()


class NaiveJudge:
    """Answers every inquiry from its whole prompt, with plain Outlines."""

    def __init__(self, writer: Writer) -> None:
        self.identity = JudgeIdentity("naive", "")
        self.tokens = writer.tokens
        self._writer = writer

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry in order."""
        for inquiry in inquiries:
            written = self._writer.write(inquiry.prompt, inquiry.verdict, inquiry.room or _CLOSED_ROOM)
            try:
                yield Judgment.of(parsed(inquiry.verdict, written))
            except VerdictError as error:
                yield error


class _Strict(BaseModel, extra="forbid"):
    """An object without further fields."""


class _Entry(_Strict):
    index: int
    level: Level
    used: bool
    reasoning: Annotated[str, Field(max_length=160)]


class _Analysis(_Strict):
    contexts: list[_Entry]
    missing: Annotated[list[Annotated[str, Field(max_length=120)]], Field(max_length=4)]
    summary: Annotated[str, Field(max_length=300)]


class _Reason(_Strict):
    reason: Annotated[str, Field(max_length=400)]


_ANALYSE = """You rate the contexts that a search system found for a query, and whether the answer used them.
Levels: "high" answers the query directly, "medium" supports an answer, "low" is only on the same topic, "none" has \
nothing to do with it.

Query: {query}

Answer that was given: {answer}

Contexts:
{contexts}

Give one entry for each of the {count} contexts, with its index, its level, whether the answer used it, and a short \
reasoning. Then list what information is missing, and summarize. Answer with {{"contexts": [{{"index": 0, "level": \
"...", "used": true, "reasoning": "..."}}, ...], "missing": ["..."], "summary": "..."}}."""

_EXPLAIN = """A scorer judged the contexts that were retrieved for a query.

Query: {query}

Verdicts: {verdicts}

Score: {score} of 1

Explain the score in one or two sentences. Answer with {{"reason": "..."}}."""


class OnePrompt:
    """Puts all contexts into one prompt for one JSON answer, then has the reason written: as hosted scorers do."""

    def __init__(self, name: str, writer: Writer) -> None:
        self.name = name
        self._writer = writer

    def answer(self, task: Task, sample: Sample) -> Outcome:
        """Score a sample; after an analysis that is no valid JSON there is nothing to explain."""
        before, start = copy.copy(self._writer.tokens), time.perf_counter()
        valid, one_each = 0, False
        try:
            found = _Analysis.model_validate_json(self._analysis(sample))
            valid, one_each = 1, _indices(found) == list(range(len(sample.contexts)))
            _Reason.model_validate_json(self._reason(sample, found))
            valid = 2
        except ValueError:
            pass
        seconds = time.perf_counter() - start
        return Outcome(seconds, _spent(before, self._writer.tokens), valid, 2, one_each)

    def cold(self) -> None:
        """Let go of what was kept."""
        self._writer.cold()

    def _analysis(self, sample: Sample) -> str:
        contexts = "\n".join(f"[{index}] {text}" for index, text in enumerate(sample.contexts))
        count = len(sample.contexts)
        prompt = _ANALYSE.format(query=sample.query, answer=sample.answer, contexts=contexts, count=count)
        return self._writer.write(prompt, _Analysis, 400 + 100 * count)

    def _reason(self, sample: Sample, found: _Analysis) -> str:
        levels, used = [e.level for e in found.contexts], [e.used for e in found.contexts]
        score = context_relevance(levels, used, found.missing).score
        verdicts = json.dumps(found.model_dump(mode="json"), ensure_ascii=False)
        return self._writer.write(
            _EXPLAIN.format(query=sample.query, verdicts=verdicts, score=score), _Reason, 200
        )


def contestants(judge: str, names: Sequence[str]) -> list[Contestant]:
    """Return the contestants of these names, with the weights of a judge."""
    card = card_named(judge)
    ours = load_model(judge, device="cpu")
    outlines = OutlinesWriter(ours.folder)
    made: dict[str, Contestant] = {
        FLOAT32: Judged(FLOAT32, ours),
        INT8: Judged(INT8, load_model(judge, quantize="int8")),
        _FP16: Judged(_FP16, load_model(judge, quantize="fp16-weights")),
        _NAIVE: Judged(_NAIVE, NaiveJudge(outlines)),
        _ONE: OnePrompt(_ONE, outlines),
    }
    if card.gguf and not set(OF_LLAMA).isdisjoint(names):
        made[LLAMA] = Judged(LLAMA, load_llamacpp(judge))
        made[_ONE_LLAMA] = OnePrompt(_ONE_LLAMA, LlamaWriter(judge_folder(card) / card.gguf))
    return [made[name] for name in NAMES if name in names and name in made]


def _indices(found: _Analysis) -> list[int]:
    return sorted(entry.index for entry in found.contexts)


def _spent(before: TokenCount, after: TokenCount) -> TokenCount:
    return TokenCount(after.read - before.read, after.written - before.written, after.passes - before.passes)
