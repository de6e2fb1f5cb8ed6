"""Puts human-labelled records to a judge, keeps its answers in a folder, and measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localscore.agreement.answers import ANSWERS, Answer, answer, key, load_answers
from localscore.agreement.report import AGREEMENT, Agreement, KindAgreement, load_agreement
from localscore.errors import RunError
from localscore.extras import extra
from localscore.files import alone, write_whole
from localscore.inquiries import prompts_hash
from localscore.judges import Judge
from localscore.labelled import Kind, Labelled, Other
from localscore.overlap import overlaps

Listener = Callable[[int], None]
"""Told how many records are answered."""

_Known = dict[tuple[Kind, str], Answer]


def measured(answers: Sequence[Answer], others: Iterable[Other] = ()) -> dict[Kind, KindAgreement]:
    """Return how well a judge agrees with people, by kind of question, from its answers alone.

    Args:
        answers: what people, judge and word overlap said (`load_answers`).
        others: what other judges said of the same records.

    Raises:
        OptionError: the extra `agree` is not installed.
    """
    require_statistics()
    from localscore.agreement import comparing

    return comparing.measured(answers, others)


def require_statistics() -> None:
    """Refuse to go on where scikit-learn or SciPy are missing.

    Raises:
        OptionError: the extra `agree` is not installed.
    """
    for module in ("scipy.stats", "sklearn.metrics"):
        extra(module, of="agree", what="The measuring of agreement")


def agree(
    items: Sequence[Labelled],
    judge: Judge,
    *,
    others: Iterable[Other] = (),
    corpus: Sequence[Labelled] | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    source: str = "",
    options: Mapping[str, Any] | None = None,
    listener: Listener | None = None,
) -> Agreement:
    """Put records to a judge, one after the other, and measure how well it agrees with people.

    Args:
        items: the records (`localscore.labelled.read`, `chosen`).
        judge: who is asked.
        others: what other judges said of the same records.
        corpus: all records, from which word overlap learns how rare words are; these ones where not given.
        out: a folder for `answers.jsonl` and `agreement.json`. Answers that are there already, of the same judge to
            the same prompts, are kept; those that could not be had are asked for again.
        overwrite: ask everything again where `out` holds answers of another judge or to other prompts.
        source: where the records came from, for the report.
        options: how they were chosen, for the report.
        listener: told after every record how many are answered.

    Raises:
        JudgeBroke: the judge raised something that is no `VerdictError`; the answers are kept.
        OptionError: the extra `agree` is not installed.
        RunError: `out` cannot be written, or holds answers of another judge or to other prompts.

    >>> from localscore.judges.scripted import ScriptedJudge
    >>> items = [Labelled("claims", "1", ("Ann ran.",), "Ann ran.")]
    >>> agreement = agree(items, ScriptedJudge(lambda inquiry: {"claims": ["Ann ran."]}))
    >>> agreement.kinds["claims"].all.row("judge").measures["f1"].value
    1.0
    """
    require_statistics()
    corpus = items if corpus is None else corpus
    shares = {(item.kind, item.id): share for item, share in zip(corpus, overlaps(corpus), strict=True)}
    agreement = Agreement(
        judge={
            "name": judge.identity.name,
            "fingerprint": judge.identity.fingerprint,
            **judge.identity.details,
        },
        prompts=prompts_hash(),
        source=source,
        options=dict(options or {}),
        started=_now(),
    )
    with _keeping(out, agreement, overwrite=overwrite) as folder:
        answers = []
        known = folder.carry_on(items, shares)
        for number, item in enumerate(items, 1):
            said = known.get((item.kind, item.id))
            if said is None:
                said = answer(item, judge, shares[item.kind, item.id])
                folder.append(said)
            answers.append(said)
            if listener is not None:
                listener(number)
        agreement = agreement.finished_with(measured(answers, others), _now())
        folder.write(agreement)
    return agreement


class _Folder:
    """Where answers and agreement are kept; nowhere, where no folder is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.earlier: list[Answer] = []
        """The answers of earlier sittings."""

    def carry_on(self, items: Sequence[Labelled], shares: Mapping[tuple[Kind, str], Any]) -> _Known:
        """Return the earlier answers to these records, and put the file in order.

        An answer stays if it could be had, to the very question that would be asked now. What word overlap says
        is renewed, since it rests on all records at hand.
        """
        asked = {(item.kind, item.id): item for item in items}
        kept: _Known = {}
        for old in self.earlier:
            at = old.kind, old.id
            if at not in asked:
                kept[at] = old
            elif old.verdict is not None and old.key == key(asked[at]) and old.gold == asked[at].gold:
                kept[at] = old.model_copy(update={"overlap": shares[at]})
        if self.path is not None:
            write_whole(self.path / ANSWERS, b"".join(map(_line, kept.values())))
        return kept

    def append(self, said: Answer) -> None:
        """Keep one more answer; it is on its way to the disk when this returns."""
        if self.path is not None:
            with (self.path / ANSWERS).open("ab") as file:
                file.write(_line(said))

    def write(self, agreement: Agreement) -> None:
        """Write `agreement.json`, whole or not at all."""
        if self.path is not None:
            content = agreement.model_dump_json(indent=2).encode() + b"\n"
            write_whole(self.path / AGREEMENT, content)


@contextmanager
def _keeping(path: Path | None, agreement: Agreement, *, overwrite: bool) -> Iterator[_Folder]:
    """Open a folder for the answers of this judge, with those that are in it already."""
    folder = _Folder(path)
    if path is None:
        yield folder
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        with alone(path):
            if (path / ANSWERS).exists() and not overwrite:
                _check_same(load_agreement(path), agreement, path)
                folder.earlier = load_answers(path / ANSWERS)
            folder.write(agreement)
            yield folder
    except OSError as error:
        hint = "What was written is kept; the same command carries on."
        raise RunError(f"The folder {str(path)!r} cannot be written: {error}", hint=hint) from error


def _check_same(earlier: Agreement, now: Agreement, path: Path) -> None:
    hint = "Choose another --out, or pass --overwrite to ask everything again."
    if earlier.judge.get("fingerprint") != now.judge["fingerprint"]:
        name = earlier.judge.get("name")
        raise RunError(f"{str(path)!r} holds answers of another judge ({name}).", hint=hint)
    if earlier.prompts != now.prompts:
        raise RunError(f"{str(path)!r} holds answers to other prompts.", hint=hint)


def _line(said: Answer) -> bytes:
    return said.model_dump_json().encode() + b"\n"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
