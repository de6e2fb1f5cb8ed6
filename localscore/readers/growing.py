"""A JSONL file that others append to."""

from __future__ import annotations

import io
import os
from pathlib import Path

from localscore.errors import DataError
from localscore.readers import jsonl
from localscore.readers.rows import Rows


class Growing:
    r"""Gives the rows of the lines that were appended since it was asked last; a line counts once its end is there.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "live.jsonl"
    >>> growing = Growing(path)
    >>> list(growing.rows())
    []
    >>> path.write_text('{"query": "Who?"}\n{"que')
    23
    >>> [row.where.rsplit("/")[-1] for row in growing.rows()], list(growing.rows())
    (['live.jsonl:1'], [])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0
        """Bytes."""
        self._lines = 0
        self._file: tuple[int, int] | None = None

    def rows(self) -> Rows:
        """Give what is new; nothing where the file is not there yet.

        Raises:
            DataError: the file cannot be read, or is not the one that was read before.
        """
        try:
            with self.path.open("rb") as file:
                self._check(file)
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:
            if self._file is not None:
                raise self._replaced("is gone") from None
            return
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error}") from None
        whole = new[: new.rfind(b"\n") + 1]
        first = self._lines + 1
        self._read += len(whole)
        self._lines += len(whole.splitlines())
        yield from jsonl.read(io.BufferedReader(io.BytesIO(whole)), str(self.path), first=first)

    def _check(self, file: io.BufferedReader) -> None:
        status = os.fstat(file.fileno())
        if self._file not in (None, (status.st_dev, status.st_ino)):
            raise self._replaced("is another file than before")
        if status.st_size < self._read:
            raise self._replaced("is shorter than before")
        self._file = status.st_dev, status.st_ino

    def _replaced(self, what: str) -> DataError:
        return DataError(
            f"{self.path} {what}; expected that lines are only appended.",
            hint="What was scored is kept. Watch the new file with another --out.",
        )
