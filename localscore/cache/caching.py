"""A judge that keeps what another one says."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from localscore.cache.store import Store, begun_anew, opened
from localscore.errors import CacheDamaged, CacheError, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges import Judge, JudgeIdentity, TokenCount
from localscore.judges.calibrated import CalibratedJudge
from localscore.metrics.base import answered
from localscore.results import Judgment
from localscore.verdicts import legal_values

log = logging.getLogger("localscore")


class VerdictCache:
    """Verdicts kept in a file, for as long as it can be used: no trouble with it ends a run.

    A damaged file is set aside and a new one begun. Where it cannot be opened, nothing is kept; where it cannot be
    written any more, as on a full disk, what is in it is still read. Either is told once, as a warning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store: Store | None = None
        self._writable = True
        try:
            self._store = opened(path)
        except CacheError as error:
            self._go_on_without(error)

    def get(self, key: str, inquiry: Inquiry[Any]) -> Judgment | None:
        """Return the judgment kept for an inquiry."""
        if self._store is None:
            return None
        try:
            kept = self._store.get(key)
            return None if kept is None else self._judgment(kept, inquiry)
        except CacheDamaged as error:
            self._begin_anew(error)
        except CacheError as error:
            self._go_on_without(error)
        return None

    def put(self, key: str, judgment: Judgment, *, judge: str) -> None:
        """Keep a judgment; it is in the file when this returns."""
        if self._store is None or not self._writable:
            return
        told = judgment.model_dump_json(include=set(Judgment.model_fields)).encode()
        try:
            self._store.put(key, told, judge=judge)
        except CacheDamaged as error:
            self._begin_anew(error)
        except CacheError as error:
            self._writable = False
            log.warning("%s No more verdicts are kept.", error.message)

    def remove(self, keys: Sequence[str]) -> None:
        """Let go of judgments."""
        if self._store is None:
            return
        try:
            for key in keys:
                self._store.remove(key)
        except CacheError as error:
            self._go_on_without(error)

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def _judgment(self, kept: bytes, inquiry: Inquiry[Any]) -> Judgment:
        try:
            judgment = Judgment.model_validate_json(kept)
            answered(inquiry, judgment)
        except (ValidationError, VerdictError) as error:
            raise CacheDamaged(
                f"The cache {str(self.path)!r} holds a row that is no verdict on {inquiry.question}."
            ) from error
        return judgment

    def _begin_anew(self, error: CacheDamaged) -> None:
        assert self._store is not None
        try:
            self._store = begun_anew(self._store, error)
        except CacheError as worse:
            self._go_on_without(worse)

    def _go_on_without(self, error: CacheError) -> None:
        self._store = None
        log.warning("%s Judging goes on without it.", error.message)


class CachedJudge:
    """A judge that gives what is kept, asks another one for the rest, and keeps that as soon as it is given.

    Only judgments that answer what was asked are kept, never failures. They are kept as the inner judge gave them, so
    whatever is made of them goes around this judge, not into it.

    >>> from tempfile import TemporaryDirectory
    >>> from localscore import inquiries
    >>> from localscore.judges.scripted import ScriptedJudge
    >>> inner = ScriptedJudge(lambda inquiry: {"level": "high"})
    >>> with TemporaryDirectory() as folder:
    ...     judge = CachedJudge(inner, VerdictCache(Path(folder) / "verdicts.sqlite"))
    ...     for _ in range(2):
    ...         [judgment] = judge.decide([inquiries.relevance("Who?", "Ann.")])
    >>> judgment.verdict, len(inner.asked), judge.tokens.cached
    ({'level': 'high'}, 1, 1)
    """

    def __init__(self, judge: Judge, cache: VerdictCache) -> None:
        self.judge = judge
        self.cache = cache

    @property
    def identity(self) -> JudgeIdentity:
        """Who judges: the inner judge."""
        return self.judge.identity

    @property
    def tokens(self) -> TokenCount:
        """What the inner judge has cost, and how many verdicts cost nothing."""
        return self.judge.tokens

    @property
    def samples_at_once(self) -> int:
        """How many samples the inner judge can make use of side by side."""
        return int(getattr(self.judge, "samples_at_once", 1))

    def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
        """Answer each inquiry in order; see `localscore.judges.Judge.decide`."""
        keys = [self._key(inquiry) for inquiry in inquiries]
        kept = [self.cache.get(key, inquiry) for key, inquiry in zip(keys, inquiries, strict=True)]
        missing = [inquiry for inquiry, known in zip(inquiries, kept, strict=True) if known is None]
        given = iter(self.judge.decide(missing) if missing else ())
        new: list[str] = []
        surplus: list[Judgment | VerdictError] = []
        for key, inquiry, known in zip(keys, inquiries, kept, strict=True):
            if known is not None:
                self.tokens.cached += 1
                yield known
                continue
            answer = next(given, None)
            if answer is None:
                break
            if _answers(answer, inquiry):
                self.cache.put(key, answer, judge=self.identity.name)
                new.append(key)
            yield answer
        else:
            surplus = list(given)
            if not surplus:
                return
        self.cache.remove(new)  # too many or too few: which belongs to which cannot be known
        yield from surplus

    def _key(self, inquiry: Inquiry[Any]) -> str:
        room = None if legal_values(inquiry.verdict) else inquiry.room
        told = json.dumps([self.identity.fingerprint, inquiry.key, room])
        return hashlib.sha256(told.encode()).hexdigest()


@contextmanager
def cached(judge: Judge, path: str | Path | None) -> Iterator[Judge]:
    """Give a judge that keeps its verdicts in a file, as long as this is open; the judge itself without a file.

    Of a calibrated judge those are kept that its calibrations are applied to.
    """
    if path is None:
        yield judge
        return
    cache = VerdictCache(Path(path))
    try:
        if isinstance(judge, CalibratedJudge):
            yield judge.asking(CachedJudge(judge.judge, cache))
        else:
            yield CachedJudge(judge, cache)
    finally:
        cache.close()


def _answers(answer: object, inquiry: Inquiry[Any]) -> TypeGuard[Judgment]:
    if not isinstance(answer, Judgment):
        return False
    try:
        answered(inquiry, answer)
    except VerdictError:
        return False
    return True
