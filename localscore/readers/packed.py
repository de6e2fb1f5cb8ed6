"""gzip and Zstandard: files in files. Unpacked as they are read."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Any

from localscore.extras import extra

SUFFIXES = (".gz", ".zst", ".zstd")


def gunzipped(stream: io.BufferedReader) -> io.BufferedReader:
    """Return what a gzip file holds."""
    return io.BufferedReader(gzip.GzipFile(fileobj=stream))


def unzstd(stream: io.BufferedReader) -> io.BufferedReader:
    """Return what a Zstandard file holds."""
    pyarrow = extra("pyarrow", of="parquet", what="Zstandard")
    return io.BufferedReader(_Raw(pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, "r"), "zstd")))


PACKED: dict[bytes, Callable[[io.BufferedReader], io.BufferedReader]] = {
    b"\x1f\x8b": gunzipped,
    b"\x28\xb5\x2f\xfd": unzstd,
}
"""How these files begin."""


class _Raw(io.RawIOBase):
    """A stream of pyarrow as one of Python."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._stream.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)
