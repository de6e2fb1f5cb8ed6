"""Parquet, Arrow files and streams, and data frames. Read some hundred rows at a time."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from localscore.extras import extra
from localscore.readers.rows import Row, Rows

PARQUET, ARROW_FILE, ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""How these files begin."""

AT_ONCE = 256
"""Rows that are in memory."""


def read_parquet(stream: io.BufferedReader, name: str) -> Rows:
    """Give the rows of a Parquet file."""
    parquet = extra("pyarrow.parquet", of="parquet", what="Parquet")
    with _seekable(stream) as file:
        yield from _rows(lambda: parquet.ParquetFile(file).iter_batches(AT_ONCE), name)


def read_file(stream: io.BufferedReader, name: str) -> Rows:
    """Give the rows of an Arrow IPC file, which is also Feather's format."""
    ipc = extra("pyarrow.ipc", of="parquet", what="Arrow")
    with _seekable(stream) as file:
        yield from _rows(lambda: _batches(ipc.open_file(file)), name)


def read_stream(stream: io.BufferedReader, name: str) -> Rows:
    """Give the rows of an Arrow IPC stream, as `datasets` saves them."""
    ipc = extra("pyarrow.ipc", of="parquet", what="Arrow")
    yield from _rows(lambda: ipc.open_stream(stream), name)


def read_frame(frame: Any) -> Rows:
    """Give the rows of what speaks Arrow's stream protocol: frames of pandas and polars, tables of pyarrow."""
    pyarrow = extra(
        "pyarrow", of="parquet", what=f"{type(frame).__module__.split('.')[0]}'s {type(frame).__name__}"
    )
    yield from _rows(lambda: pyarrow.RecordBatchReader.from_stream(frame), "")


def _batches(file: Any) -> Iterator[Any]:
    yield from (file.get_batch(number) for number in range(file.num_record_batches))


def _rows(batches: Callable[[], Iterable[Any]], name: str) -> Rows:
    """Give the rows of record batches; whatever pyarrow says against them is a complaint about the next row."""
    pyarrow = extra("pyarrow", of="parquet", what="Arrow")
    before, number = f"{name}: " if name else "", 0
    try:
        for batch in batches():
            for start in range(0, batch.num_rows, AT_ONCE):
                for columns in batch.slice(start, AT_ONCE).to_pylist():
                    number += 1
                    yield Row(f"{before}row {number}", str(number), columns)
    except (pyarrow.ArrowException, OSError) as error:
        yield f"{before}row {number + 1}: cannot be read: {error}"


@contextmanager
def _seekable(stream: io.BufferedReader) -> Iterator[IO[bytes]]:
    """Give a file whose parts can be read in any order; what is unpacked or piped is copied to the disk."""
    if isinstance(stream.raw, io.FileIO) and stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy
