"""The file that verdicts are kept in: one SQLite table, in WAL mode, that several processes may use at once.

Every row carries a check of its key and content, since SQLite has none for its pages: what is read is what was
written, or the whole file counts as damaged. A damaged file is renamed, and a new one begun.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from localscore.errors import CacheDamaged, CacheError

log = logging.getLogger("localscore")

SCHEMA = 1
"""Goes up with every change of the table, or of what its rows hold."""

APPLICATION = int.from_bytes(b"lscv")
"""Tells a file of ours from another program's database, which is left alone."""

PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

_TABLE = """
CREATE TABLE verdicts (
    key TEXT PRIMARY KEY, judge TEXT NOT NULL, judgment BLOB NOT NULL, mark TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID
"""

_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
"""What SQLite says of a file that is not what was written; `ERROR` is a table or column that is not there."""


@dataclass(frozen=True)
class Stats:
    """What a cache holds."""

    path: str
    bytes: int
    verdicts: int
    judges: dict[str, int]
    """Verdicts by the name of their judge, most first."""
    oldest: int | None
    """When the oldest verdict was given, in seconds since 1970."""
    newest: int | None


class Store:
    """An open cache file. It says what is wrong and repairs nothing; see `opened`.

    Raises:
        CacheDamaged: the file is not what was written there, here as in every method.
        CacheError: it cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _told(path):
            self._database = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with _told(path):
                self._prepare()
                self._file = os.stat(path).st_ino
        except CacheError:
            self.close()
            raise

    def _prepare(self) -> None:
        application, version, tables = (
            self._number(asked)
            for asked in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_master",
            )
        )
        if application == version == tables == 0:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.executescript(
                f"BEGIN; {_TABLE}; PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {SCHEMA}; COMMIT;"
            )
        elif application != APPLICATION:
            raise CacheError(f"{str(self.path)!r} is a database of another program.")
        elif version != SCHEMA:
            raise CacheDamaged(f"The cache {str(self.path)!r} has the schema {version}; expected {SCHEMA}.")
        # A commit is then a write without a wait for the disk: safe from a kill, not needed after a power cut.
        self._database.execute("PRAGMA synchronous = NORMAL")

    def get(self, key: str) -> bytes | None:
        """Return what was put under a key."""
        with _told(self.path):
            row = self._database.execute(
                "SELECT judgment, mark FROM verdicts WHERE key = ?", [key]
            ).fetchone()
        if row is None:
            return None
        judgment, mark = row
        if not isinstance(judgment, bytes) or mark != _mark(key, judgment):
            raise CacheDamaged(f"The cache {str(self.path)!r} holds a row that is not what was written.")
        return judgment

    def put(self, key: str, judgment: bytes, *, judge: str) -> None:
        """Keep something under a key, unless it holds something already; it is in the file when this returns."""
        row = (
            key,
            judge.encode("utf-8", "replace").decode(),
            judgment,
            _mark(key, judgment),
            int(time.time()),
        )
        with _told(self.path):
            self._database.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", row)

    def remove(self, key: str) -> None:
        """Let go of what is under a key."""
        with _told(self.path):
            self._database.execute("DELETE FROM verdicts WHERE key = ?", [key])

    def prune(self, *, before: float | None = None, max_bytes: int | None = None) -> int:
        """Remove the verdicts given before a time, then the oldest until the file is small enough.

        Returns how many were removed.
        """
        count = "SELECT count(*) FROM verdicts"
        with _told(self.path):
            held = self._number(count)
            if before is not None:
                self._database.execute("DELETE FROM verdicts WHERE at < ?", [before])
            self._shrink()
            while max_bytes is not None and self.size > max_bytes and (left := self._number(count)):
                too_many = max(1, round(left * (1 - max_bytes / self.size)))
                self._database.execute(
                    "DELETE FROM verdicts WHERE key IN (SELECT key FROM verdicts ORDER BY at, key LIMIT ?)",
                    [too_many],
                )
                self._shrink()
            return held - self._number(count)

    def clear(self) -> int:
        """Remove all verdicts; return how many they were."""
        with _told(self.path):
            removed = self._database.execute("DELETE FROM verdicts").rowcount
            self._shrink()
        return removed

    def stats(self) -> Stats:
        """Read the whole file, and return what it holds."""
        with _told(self.path):
            [found] = self._database.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise CacheDamaged(f"The cache {str(self.path)!r} is damaged: {found}.")
            judges = dict(
                self._database.execute(
                    "SELECT judge, count(*) FROM verdicts GROUP BY judge ORDER BY 2 DESC, 1"
                )
            )
            oldest, newest = self._database.execute("SELECT min(at), max(at) FROM verdicts").fetchone()
        return Stats(str(self.path), self.size, sum(judges.values()), judges, oldest, newest)

    @property
    def size(self) -> int:
        """The bytes of the file, with what is on its way into it."""
        with _told(self.path):
            return sum(file.stat().st_size for file in _files(self.path)[:2] if file.exists())

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._database.close()

    def is_in_place(self) -> bool:
        """Whether the file that is open is still the one of that name."""
        try:
            return os.stat(self.path).st_ino == self._file
        except OSError:
            return False

    def _number(self, asked: str) -> int:
        [number] = self._database.execute(asked).fetchone()
        return int(number)

    def _shrink(self) -> None:
        self._database.execute("VACUUM")
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def opened(path: Path) -> Store:
    """Open a cache, or begin one; a damaged one is set aside with a message.

    Raises:
        CacheError: it cannot be opened, or is another program's database.
    """
    with _alone(path):
        try:
            return Store(path)
        except CacheDamaged as error:
            _set_aside(path, error)
            return Store(path)


def begun_anew(store: Store, error: CacheDamaged) -> Store:
    """Set aside a cache that was found to be damaged while it was open, and return a new one.

    Raises:
        CacheError: there cannot be a new one.
    """
    store.close()
    with _alone(store.path):
        if store.is_in_place():  # otherwise another process has found the same
            _set_aside(store.path, error)
    return opened(store.path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a cache while it is opened or set aside."""
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=PATIENCE):
            yield


def _set_aside(path: Path, error: CacheDamaged) -> None:
    names = (f"{path.name}.damaged" + (f"-{n}" if n else "") for n in range(10**6))
    aside = next(other for name in names if not (other := path.with_name(name)).exists())
    for file, other in zip(_files(path), _files(aside), strict=True):
        with suppress(FileNotFoundError):
            file.rename(other)
    log.warning("%s It was set aside as %s, and a new one is begun.", error.message, aside.name)


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + more) for more in ("", "-wal", "-shm")]


def _mark(key: str, judgment: bytes) -> str:
    return hashlib.sha256(key.encode() + b"\0" + judgment).hexdigest()[:16]


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say into one error that names the cache."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # what lies above is only more detail
        if code in _DAMAGE:
            raise CacheDamaged(f"The cache {str(path)!r} is damaged: {error}.") from error
        raise CacheError(f"The cache {str(path)!r} cannot be used: {error}.") from error
    except UnicodeDecodeError as error:  # in what SQLite quotes of the file
        raise CacheDamaged(f"The cache {str(path)!r} is damaged: {error}.") from error
    except OSError as error:
        raise CacheError(f"The cache {str(path)!r} cannot be used: {error}.") from error
