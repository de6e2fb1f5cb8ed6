"""Files that are written whole or not at all, and folders that one process writes at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from localscore.errors import RunError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder while it is written, so that two processes cannot spoil it."""
    lock = FileLock(folder / ".lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        hint = "Wait until it is done, or choose another --out."
        raise RunError(f"Another process is writing {str(folder)!r}.", hint=hint) from None
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file whole or not at all; its content may come in pieces."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
