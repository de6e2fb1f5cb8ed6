"""Whether localscore can do its work on this machine, and what to do where it cannot."""

from __future__ import annotations

import platform
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from localscore import inquiries, lock, offline
from localscore.errors import LocalscoreError, NetworkRefused, VerdictError
from localscore.judges import Judge
from localscore.judges.cards import find_card
from localscore.judges.memory import free_disk, free_memory, told
from localscore.judges.store import home, verify

if TYPE_CHECKING:
    from localscore.judges.machine import Machine

State = Literal["ok", "note", "wrong"]

_LEAST_DISK = 1_000_000_000
"""Bytes for runs, caches and a small judge."""
_SMOKE = (
    inquiries.relevance("When did the bridge open?", "The bridge opened in 1931."),
    inquiries.claims("The bridge opened in 1931, and Ann opened it."),
)
"""A closed question and an open one."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    """`note` is what should be known and stops nothing."""
    found: str
    todo: str = ""


def examine(
    judge: str | None, *, load: Callable[[str], Judge], machine: Callable[[], Machine]
) -> Iterator[Check]:
    """Look at everything that judging needs, cheapest first; yield each finding as soon as it is there.

    Args:
        judge: whose files, memory and answers to look at; those checks are left out where none is named.
        load: makes a judge of that name.
        machine: looks for torch and a GPU; what it raises is told as well.
    """
    yield _python()
    yield from _packages()
    yield _switches()
    yield _disk()
    try:
        yield from _machine(machine)
    except Exception as error:  # a torch that is broken may raise anything when it is imported
        yield Check(
            "torch", "wrong", f"cannot be used: {type(error).__name__}: {error}",
            "Install the torch of constraints.txt again.",
        )  # fmt: skip
        return
    if judge is None:
        yield Check("judge", "note", "none was named", "localscore doctor --judge NAME looks at one as well.")
        return
    files = _files(judge)
    if files is not None:
        yield files
        if files.state == "wrong":
            return
    yield from _smoke(judge, load)


def _python() -> Check:
    found = f"{platform.python_version()} in {sys.prefix}, localscore {version('localscore')}"
    return Check("python", "ok", found)


def _packages() -> Iterator[Check]:
    found = lock.packages()
    unfit = [package for package in found if not package.right]
    other = [package for package in found if package.right and not package.as_locked]
    for package in unfit:
        there = f"{package.installed} is installed" if package.installed else "is not installed"
        pinned = f"{package.name}=={package.locked}" if package.locked else f"{package.name}{package.wanted}"
        yield Check(
            package.name,
            "wrong",
            f"{there}; expected {package.wanted or 'any version'}",
            f"pip install '{pinned}'",
        )
    if other:
        names = ", ".join(f"{package.name} {package.installed} (lock: {package.locked})" for package in other)
        yield Check(
            "lock", "note", f"{len(other)} of {len(found)} packages differ: {names}",
            f"The tested versions: pip install --constraint {lock.lock_file()} localscore",
        )  # fmt: skip
    else:
        right = len(found) - len(unfit)
        yield Check("lock", "ok", f"{right} packages are as in {lock.lock_file().name}")


def _switches() -> Check:
    """Look whether the switches are set, and try the guard."""
    todo = "Report this: nothing may leave this process."
    if not offline.enforced():
        return Check("offline", "wrong", "the guard is not up, or a switch is not set", todo)
    try:
        socket.getaddrinfo("guard.invalid", 443)
    except NetworkRefused:
        return Check(
            "offline", "ok", f"the guard refuses connections; {', '.join(sorted(offline.SWITCHES))} are set"
        )
    except OSError:
        pass
    return Check("offline", "wrong", "the guard let a name be looked up", todo)


def _disk() -> Check:
    free = free_disk(home())
    found = f"{told(free)} free where judges are kept, {home()}"
    if free < _LEAST_DISK:
        return Check("disk", "wrong", found, "Free some, or say another place with LOCALSCORE_HOME.")
    return Check("disk", "ok", found)


def _machine(look: Callable[[], Machine]) -> Iterator[Check]:
    found = look()
    build = f"built for CUDA {found.cuda}" if found.cuda else "built for CPUs"
    yield Check("torch", "ok", f"{found.torch}, {build}")
    todo = (
        "Install a torch for this driver, or a newer driver; --device cpu works meanwhile."
        if found.wrong
        else ""
    )
    yield Check("gpu", "wrong" if found.wrong else "ok", found.told, todo)
    yield Check("memory", "ok", f"{told(free_memory())} free")


def _files(judge: str) -> Check | None:
    """Read every file of a judge that has a card; a folder or file is looked at when it is loaded."""
    card = find_card(judge)
    if card is None:
        return None
    try:
        files = verify(card)
    except LocalscoreError as error:
        return Check("files", "wrong", error.message, error.hint)
    unpinned = [file.path for file in card.files if file.sha256 is None]
    if unpinned:
        return Check("files", "note", f"{len(files)} read; the card knows no sha256 of {', '.join(unpinned)}")
    return Check("files", "ok", f"{len(files)} read, each as its card says, in {Path(files[0][0]).parent}")


def _smoke(name: str, load: Callable[[str], Judge]) -> Iterator[Check]:
    """Load the judge, which looks at its files and the memory, and put a closed and an open question to it."""
    start = time.monotonic()
    try:
        judge = load(name)
    except LocalscoreError as error:
        yield Check("judge", "wrong", error.message, error.hint)
        return
    told_of = ", ".join(
        str(judge.identity.details[key]) for key in _ARITHMETIC if key in judge.identity.details
    )
    where = f" ({told_of})" if told_of else ""
    yield Check("judge", "ok", f"{judge.identity.name}{where} after {time.monotonic() - start:.1f} s")
    for inquiry in _SMOKE:
        yield _asked(judge, inquiry)


_ARITHMETIC = ("backend", "device", "dtype", "quantize")


def _asked(judge: Judge, inquiry: inquiries.Inquiry[Any]) -> Check:
    start = time.monotonic()
    try:
        [answer] = judge.decide([inquiry])
    except Exception as error:  # whatever a judge raises, the other checks have been told
        hint = error.hint if isinstance(error, LocalscoreError) else "Another dtype or judge may work."
        return Check(inquiry.question, "wrong", f"{type(error).__name__}: {error}", hint)
    seconds = time.monotonic() - start
    if isinstance(answer, VerdictError):
        return Check(
            inquiry.question, "wrong", f"{answer.code}: {answer.message}", answer.hint or "Try another judge."
        )
    return Check(inquiry.question, "ok", f"a verdict in {seconds:.2f} s")
