"""Whatever holds rows → rows, one at a time.

    rows.py       what readers give: a row with where it stands, or a complaint
    jsonl.py      JSONL                       ┐
    document.py   JSON                        │
    table.py      CSV, TSV                    │ one kind of file each
    arrow.py      Parquet, Arrow, data frames ┘
    growing.py    a JSONL file that others append to
    packed.py     gzip and Zstandard around them
    refused.py    what is not read, and what to do with it

A file is known by its beginning, whatever it is called; only tables and JSON look at the name too.
"""

from __future__ import annotations

import io
import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from localscore.errors import DataError
from localscore.readers import arrow, document, jsonl, packed, table
from localscore.readers.refused import refused
from localscore.readers.rows import Reader, Row, Rows, row_or_complaint

__all__ = ["STDIN", "SUFFIXES", "Row", "Rows", "rows"]

STDIN = "-"

SUFFIXES = {
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".json": document.read,
    ".csv": table.read,
    ".tsv": table.read,
    ".parquet": arrow.read_parquet,
    ".arrow": arrow.read_file,
    ".arrows": arrow.read_stream,
    ".feather": arrow.read_file,
}
"""What the names of files that are read end with, maybe followed by one of `packed.SUFFIXES`."""

_BESIDE_ROWS = {"dataset_info.json", "state.json", "dataset_dict.json"}
"""What `datasets` saves beside the rows."""

_MAGIC: dict[bytes, Reader] = {
    arrow.PARQUET: arrow.read_parquet,
    arrow.ARROW_FILE: arrow.read_file,
    arrow.ARROW_STREAM: arrow.read_stream,
}


def rows(data: str | Path | Iterable[Mapping[str, Any]]) -> Rows:
    """Give the rows of a file, of standard input (`-`), of the files in a folder, of a data frame, or of an iterable.

    Raises:
        DataError: nothing there, or nothing that is read.
        OptionError: a library that is needed for it is not installed.

    >>> [row.columns for row in rows([{"question": "Who?"}])]
    [{'question': 'Who?'}]
    """
    if isinstance(data, str | Path):
        source = str(data)
        if source == STDIN:
            return _standard_input()
        return _folder(Path(source)) if Path(source).is_dir() else _file(source)
    if hasattr(data, "__arrow_c_stream__"):
        return arrow.read_frame(data)
    if isinstance(data, Mapping):
        keys = ", ".join(map(str, data))
        hint = "Expected rows, each a mapping. Of a dict of splits, give one split."
        raise DataError(f"The data is one mapping with {keys or 'nothing in it'}.", hint=hint)
    return (row_or_complaint(f"row {n}", str(n), row, "a mapping") for n, row in enumerate(data, 1))


def _standard_input() -> Rows:
    try:
        buffer: Any = sys.stdin.buffer
        stream = io.BufferedReader(buffer)
    except AttributeError as error:  # it may be closed
        raise DataError(f"<stdin> cannot be read: {error}") from None
    try:
        yield from _of(stream, "<stdin>")
    finally:
        if not stream.closed:  # pyarrow closes what it has read
            stream.detach()


def _file(source: str) -> Rows:
    try:
        file = Path(source).open("rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        hint = f"Give a file ({', '.join(SUFFIXES)}), a folder of such files, or - for standard input."
        raise DataError(f"There is no file {source!r}.", hint=hint) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read: {error}") from None
    with file:
        yield from _of(file, source)


def _folder(folder: Path) -> Rows:
    files = [path for path in sorted(folder.rglob("*")) if _suffix(path.name) in SUFFIXES and path.is_file()]
    files = [path for path in files if path.name not in _BESIDE_ROWS and not path.name.startswith((".", "_"))]
    if not files:
        hint = f"What is read is named {', '.join(SUFFIXES)}, maybe with {', '.join(packed.SUFFIXES)} behind."
        raise DataError(f"The folder {str(folder)!r} holds no file that is read.", hint=hint)
    for path in files:
        inside = path.relative_to(folder).as_posix()
        for row in _file(str(path)):
            yield row._replace(name=f"{inside}:{row.name}") if isinstance(row, Row) else row


def _of(stream: io.BufferedReader, name: str) -> Rows:
    """Give the rows of an open file; where it ends before its end, a complaint is the last."""
    read = 0
    try:
        for row in _read(stream, name):
            read += 1
            yield row
    except (EOFError, OSError, zlib.error) as error:
        yield f"{name}:{read + 1}: the file cannot be read further: {error}"


def _read(stream: io.BufferedReader, name: str) -> Rows:
    beginning = stream.peek(10_000)
    for magic, unpacked in packed.PACKED.items():
        if beginning.startswith(magic):
            return _read(unpacked(stream), name)
    if (other := refused(beginning)) is not None:
        hint = other.remedy.replace("FILE", name)
        raise DataError(f"{name}:1:1: is {other.what}; expected rows.", hint=hint)
    return _reader(beginning, name)(stream, name)


def _reader(beginning: bytes, name: str) -> Reader:
    """Return what reads a file that begins like this."""
    for magic, reader in _MAGIC.items():
        if beginning.startswith(magic):
            return reader
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"{", b"]"):
        return document.read
    if text.startswith(b"{"):
        spread = re.match(rb'\{\s*\n\s*"', text) is not None
        return document.read if spread or _suffix(name) == ".json" else jsonl.read
    named = SUFFIXES.get(_suffix(name))
    return table.read if named is table.read or table.is_table(beginning) else jsonl.read


def _suffix(name: str) -> str:
    r"""Return what a file's name ends with, but for what says that it is packed.

    >>> _suffix("rag.CSV.gz"), _suffix("rag.jsonl")
    ('.csv', '.jsonl')
    """
    for packing in packed.SUFFIXES:
        name = name.removesuffix(packing)
    return Path(name).suffix.lower()
