"""What is put to the judge: a prompt, and the type of verdict expected.

The wording of each question is a text file in `localscore/prompts`; this module fills it in. A prompt is a
sequence of *chunks*. A chunk border (`~~~` in the file) ends a beginning that several inquiries share: a judge
reads each beginning once. Closed questions about the same text are asked `together`, so that a judge reads the text
and all of them in one pass.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Generic, NamedTuple

from localscore.errors import OptionError
from localscore.fencing import MARK, beginnings, fenced
from localscore.texts import sentences
from localscore.verdicts import (
    Attribution,
    Claims,
    Evidence,
    MissingContext,
    Relevance,
    Sufficiency,
    Usage,
    V,
    Verdict,
    legal_values,
    schema,
)

QUESTIONS = (
    "relevance",
    "usage",
    "sufficiency",
    "missing_context",
    "claims",
    "attribution",
    "evidence",
)


class Span(NamedTuple):
    """Where a text stands in a prompt."""

    chunk: int
    """Counted from the last chunk, which is -1."""
    start: int
    stop: int


@dataclass(frozen=True)
class Inquiry(Generic[V]):
    """One thing put to the judge.

    >>> inquiry = relevance("Who opened it?", "Ann opened it.")
    >>> inquiry.verdict.__name__, inquiry.texts["context"]
    ('Relevance', 'Ann opened it.')
    """

    question: str
    """The name of its prompt file."""
    chunks: tuple[str, ...]
    """The prompt, cut where shared beginnings end."""
    verdict: type[V]
    """The verdict expected; its JSON schema is what the judge is held to."""
    room: int = 0
    """The most tokens that an open verdict may take."""
    beside: tuple[Inquiry[Any], ...] = ()
    """Where it is asked together with others: all of them, itself among these, each as if asked alone."""
    compared: Span | None = None
    """Where the text stands that is compared with the contexts, if it does so in one of the last two chunks."""
    measured: bool = False
    """Whether the information in that text is wanted beside the verdict; see `measuring`."""
    texts: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """What was filled into the prompt, by name, for judges that are functions."""
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The names of the prompt files that it was filled into."""

    def __post_init__(self) -> None:
        if not self.room and not legal_values(self.verdict):
            raise OptionError(
                f"{self.verdict.__name__} is an open verdict, so its inquiry needs room for tokens.",
                hint="Give room=…, or close it: fields of Literal, bool, or int with ge and le.",
            )

    @cached_property
    def alone(self) -> Inquiry[V]:
        """The same as if it was asked alone."""
        return replace(self, beside=()) if self.beside else self

    @property
    def prompt(self) -> str:
        """The prompt in one piece, without the chat template of any judge."""
        return "".join(self.chunks)

    @cached_property
    def key(self) -> str:
        """A hash of everything that decides the verdict, apart from the judge."""
        sent = _listing(one.sent for one in (self, *self.beside))
        return hashlib.sha256(sent.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @cached_property
    def sent(self) -> str:
        """What decides the verdict, were it asked alone, as JSON."""
        compared = json.dumps(self.compared if self.measured else None)
        return _listing([*map(json.dumps, self.chunks), _schema(self.verdict), compared])


def _listing(parts: Iterable[str]) -> str:
    """Return a list of what is JSON already, as JSON."""
    return f"[{', '.join(parts)}]"


@lru_cache(maxsize=512)
def _schema(verdict: type[Verdict]) -> str:
    return json.dumps(schema(verdict), sort_keys=True)


def together(*inquiries: Inquiry[Any]) -> tuple[Inquiry[Any], ...]:
    """Return the inquiries as ones that are always put to the judge in one pass.

    What they have in common but the last chunk is the text that they are about. Which of them are still
    unanswered changes nothing in how the others are computed.

    >>> level, used = together(relevance("Who?", "Ann."), usage("Who?", "Ann.", "Ann."))
    >>> [inquiry.verdict.__name__ for inquiry in used.beside]
    ['Relevance', 'Usage']

    Raises:
        OptionError: they are not closed questions about the same text.
    """
    beside = tuple(inquiry.alone for inquiry in inquiries)
    same = {inquiry.chunks[:-1] for inquiry in inquiries}
    if len(same) > 1 or () in same or not all(legal_values(inquiry.verdict) for inquiry in inquiries):
        raise OptionError("Only closed questions about the same text can be asked together.")
    return tuple(replace(inquiry, beside=beside) for inquiry in inquiries)


def measuring(inquiry: Inquiry[V], questions: Collection[str]) -> Inquiry[V]:
    """Return an inquiry that also asks how much information is in what is compared with the contexts.

    That is the query, answer or claim. Where the contexts tell much of it, it holds less than without them
    (`without_contexts`). It is asked for where the question, or one that it is asked together with, is among
    `questions`, and becomes `Judgment.bits`.

    >>> inquiry = usage("Who ran?", "Ann ran.", "It was Ann.")
    >>> inquiry.compared, measuring(inquiry, {"usage"}).measured
    (Span(chunk=-1, start=23, stop=34), True)
    """

    def told(one: Inquiry[Any]) -> bool:
        return one.compared is not None and one.question in questions

    in_text = inquiry.compared is not None and inquiry.compared.chunk == -2  # which is read together or kept
    beside = inquiry.beside or ((inquiry,) if in_text else ())
    return replace(
        inquiry,
        measured=told(inquiry),
        beside=tuple(replace(one, measured=told(one)) for one in beside),
    )


def worded(inquiry: Inquiry[V], prompts: Mapping[str, str]) -> Inquiry[V]:
    """Return an inquiry in other words, where there are such for one of its prompt files.

    >>> worded(relevance("Qui ?", "Anne."), {"relevance": "Ce texte est-il pertinent ?"}).chunks[-1]
    'Ce texte est-il pertinent ?'
    """
    if not inquiry.files or not prompts:
        return inquiry
    other = _inquiry(inquiry.verdict, inquiry.files, room=inquiry.room, prompts=prompts, **inquiry.texts)
    beside = tuple(worded(one, prompts) for one in inquiry.beside)
    return replace(other, measured=inquiry.measured, beside=beside)


def without_contexts(inquiry: Inquiry[Any]) -> Inquiry[Any]:
    """Return the same closed question about no contexts: what the judge thinks before it has seen any.

    >>> without_contexts(attribution("Ann ran.", ("Ann ran.",))).prompt == attribution("Ann ran.", ()).prompt
    True
    """
    texts = inquiry.texts
    match inquiry.question:
        case "relevance":
            return relevance(texts["query"], "")
        case "usage":
            return usage(texts["query"], "", texts["answer"])
        case "sufficiency":
            return sufficiency(texts["query"], ())
        case "attribution":
            return attribution(texts["claim"], ())
    raise OptionError(f"{inquiry.question!r} is not asked about contexts.")


_COMPARED = {"relevance": "query", "usage": "answer", "sufficiency": "query", "attribution": "claim"}
"""What is compared with the contexts, by the name of the question."""


@dataclass(frozen=True)
class NumberedSentence:
    """A sentence of a context, as the evidence question offers it."""

    context: int
    text: str


def numbered_sentences(contexts: Sequence[str]) -> tuple[NumberedSentence, ...]:
    """Return the sentences of all contexts in the order of their numbers.

    Contexts are shown in the order of their texts, so that their rank decides nothing.

    >>> [s.context for s in numbered_sentences(["Bob ran. He swam.", "", "Ann sang."])]
    [2, 0, 0]
    """
    order = sorted(range(len(contexts)), key=lambda i: contexts[i])
    return tuple(NumberedSentence(i, sentence) for i in order for sentence in sentences(contexts[i]))


def relevance(query: str, context: str) -> Inquiry[Relevance]:
    """How relevant is this context to the query?"""
    return _inquiry(Relevance, ["one_context", "relevance"], query=query, context=context)


def usage(query: str, context: str, answer: str) -> Inquiry[Usage]:
    """Does the answer draw on this context?"""
    return _inquiry(Usage, ["one_context", "usage"], query=query, context=context, answer=answer)


def sufficiency(query: str, contexts: tuple[str, ...]) -> Inquiry[Sufficiency]:
    """Do the contexts together hold what the query needs?"""
    return _inquiry(Sufficiency, ["all_contexts", "sufficiency"], query=query, contexts=_listed(contexts))


def missing_context(query: str, contexts: tuple[str, ...]) -> Inquiry[MissingContext]:
    """What does the query need that no context gives?"""
    files = ["all_contexts", "missing_context"]
    return _inquiry(MissingContext, files, room=160, query=query, contexts=_listed(contexts))


def claims(text: str) -> Inquiry[Claims]:
    """Which atomic claims does this text make?"""
    # A token is rarely less than two bytes, so this is about twice what repeating the text would take.
    room = 128 + len(text.encode("utf-8", "replace")) // 2
    return _inquiry(Claims, ["claims"], room=room, text=text)


def attribution(claim: str, contexts: tuple[str, ...]) -> Inquiry[Attribution]:
    """Do the contexts support this claim?"""
    return _inquiry(
        Attribution, ["all_contexts", "one_claim", "attribution"], claim=claim, contexts=_listed(contexts)
    )


def evidence(claim: str, contexts: tuple[str, ...]) -> Inquiry[Evidence]:
    """Which sentence of the contexts supports this claim best?"""
    among = Evidence.among(len(numbered_sentences(contexts)))
    return _inquiry(among, ["all_contexts", "one_claim", "evidence"], claim=claim, contexts=_listed(contexts))


@lru_cache(maxsize=1)
def prompts_hash() -> str:
    """Return the sha256 over all prompt files and the mark of fences; it changes with every change of a wording."""
    folder = files("localscore") / "prompts"
    named = sorted((item.name, item.read_text(encoding="utf-8")) for item in folder.iterdir())
    return hashlib.sha256(json.dumps([MARK, named]).encode()).hexdigest()


@lru_cache(maxsize=256)
def _listed(contexts: tuple[str, ...]) -> str:
    """Lay out the contexts with every sentence numbered, so that evidence can be named by its number."""
    lines: list[str] = []
    numbered = enumerate(numbered_sentences(contexts), 1)
    for text, (_, group) in enumerate(groupby(numbered, key=lambda pair: pair[1].context), 1):
        lines.append(f"Text {text}:")
        lines += [
            f"[{number}] {fenced(sentence.text, _beginnings(), first=False)}" for number, sentence in group
        ]
    return "\n".join(lines)


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    return beginnings(["Text 1:", *map(template_of, prompt_names())])


@lru_cache(maxsize=1)
def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompt files."""
    return tuple(
        sorted(item.name.removesuffix(".txt") for item in (files("localscore") / "prompts").iterdir())
    )


def slots(template: str) -> tuple[str, ...]:
    r"""Return the names of the texts that are filled into a template, in its order, and where its chunks end.

    >>> slots("Text: {context}\n~~~\nQuery: {query}\n")
    ('context', '~~~', 'query')
    """
    return tuple(name.strip("{}") for name in re.findall(r"\{\w+\}|^~~~$", template, flags=re.MULTILINE))


@lru_cache(maxsize=32)
def template_of(name: str) -> str:
    """Return the wording of a prompt file."""
    return (files("localscore") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def asking(question: str, template: str, verdict: type[V], *, room: int = 0, **texts: str) -> Inquiry[V]:
    r"""Return an inquiry of your own.

    Args:
        question: its name, in results.
        template: the prompt, with slots such as `{answer}`; a line `~~~` ends a beginning that several share.
        verdict: what the judge may say: a `Verdict` of one field (`Literal`, `bool`, `int` with `ge` and `le`), or an
            open one.
        room: the most tokens that an open verdict may take.
        texts: what is filled in. No line of theirs can be taken for one of the prompt (`localscore.fencing`).

    Raises:
        OptionError: a slot without a text or a text without a slot, or an open verdict without room.

    >>> from localscore.verdicts import Usage
    >>> asking("polite", "Text:\n{text}\n\nIs it polite?", Usage, text="Thanks.\nIs it so? Yes.").prompt
    'Text:\nThanks.\n> Is it so? Yes.\n\nIs it polite?'
    """
    wanted = {name for name in slots(template) if name != "~~~"}
    if wanted != texts.keys():
        raise OptionError(
            f"The prompt of {question!r} has slots for {sorted(wanted)}; got texts for {sorted(texts)}."
        )
    return _made(question, template, verdict, room, texts, beginnings([template]))


def _inquiry(
    verdict: type[V],
    parts: Sequence[str],
    *,
    room: int = 0,
    prompts: Mapping[str, str] | None = None,
    **texts: str,
) -> Inquiry[V]:
    own = prompts or {}
    template = "".join(f"{own[name].strip()}\n" if name in own else template_of(name) for name in parts)
    known = _beginnings() | beginnings(own.values())
    return _made(parts[-1], template, verdict, room, texts, known, files=tuple(parts))


def _made(
    question: str,
    template: str,
    verdict: type[V],
    room: int,
    texts: Mapping[str, str],
    known: Collection[str],
    files: tuple[str, ...] = (),
) -> Inquiry[V]:
    """Fill texts into a template, fenced; contexts that are listed are fenced already."""
    safe = {
        name: text
        if name == "contexts" and files
        else fenced(text, known, first=_begins_a_line(name, template))
        for name, text in texts.items()
    }
    filled = [
        (text, places) for text, places in (_filled(chunk, safe) for chunk in _chunks(template)) if text
    ]
    compared = [
        Span(number - len(filled), *places[_COMPARED[question]])
        for number, (_, places) in enumerate(filled)
        if number >= len(filled) - 2 and _COMPARED.get(question) in places and files
    ]
    return Inquiry(
        question,
        tuple(text for text, _ in filled),
        verdict,
        room,
        compared=compared[-1] if compared else None,
        texts=texts,
        files=files,
    )


@lru_cache(maxsize=64)
def _begins_a_line(name: str, template: str) -> bool:
    return re.search(rf"^\{{{name}\}}", template, flags=re.MULTILINE) is not None


@lru_cache(maxsize=64)
def _chunks(template: str) -> tuple[tuple[str, ...], ...]:
    """Return the chunks of a template, each as its pieces; every second piece is a slot."""
    chunks = re.split(r"^~~~\n", template.removesuffix("\n"), flags=re.MULTILINE)
    return tuple(tuple(re.split(r"(\{\w+\})", chunk)) for chunk in chunks)


def _filled(pieces: Sequence[str], texts: Mapping[str, str]) -> tuple[str, dict[str, tuple[int, int]]]:
    """Fill texts into a chunk of a template, and tell where each of them is."""
    filled = ""
    places: dict[str, tuple[int, int]] = {}
    for number, piece in enumerate(pieces):
        text = texts.get(piece[1:-1]) if number % 2 else None
        if text is None:
            filled += piece
        else:
            places[piece[1:-1]] = len(filled), len(filled) + len(text)
            filled += text
    return filled, places
