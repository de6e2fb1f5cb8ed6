"""Files → samples, with file and line in every complaint."""

from __future__ import annotations

import codecs
import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from localscore.errors import DataError
from localscore.lines import LineError, other_format, parsed_line
from localscore.samples import RowError, Sample, recognise

STDIN = "-"


@dataclass(frozen=True)
class Dataset:
    """Samples, and where they came from."""

    samples: tuple[Sample, ...]
    source: str
    sha256: str
    """Of the samples, whatever their file's format or columns."""
    columns: Mapping[str, str]
    """For each field of a sample the column that held it."""
    complaints: tuple[str, ...] = ()
    """The rows that were left out on request, each with file and line."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How it was read: mapping, limit, skip_bad_rows."""


@dataclass(frozen=True)
class _Row:
    where: str
    line: int
    columns: dict[str, Any]


def read(
    data: str | Path | Iterable[Mapping[str, Any]],
    *,
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    needs: Collection[str] = (),
) -> Dataset:
    """Read samples from a JSONL file, from standard input (`-`), or from rows in memory.

    Args:
        data: the file, or the rows as mappings.
        mapping: `{their column: our field}`, before what is recognised (see `localscore.samples.ALIASES`).
        skip_bad_rows: leave rows that cannot be read out, and list them in `complaints`.
        limit: read only the first so many good rows.
        needs: fields beyond query and contexts that a row must have.

    Raises:
        DataError: no file, no rows, or bad rows; all of them are listed.
        OptionError: a mapping that cannot be meant, or columns that two fields could be meant for.

    >>> dataset = read([{"question": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann."}])
    >>> dataset.samples[0].query, dict(dataset.columns)["query"]
    ('Who ran?', 'question')
    """
    source = str(data) if isinstance(data, str | Path) else "rows"
    printable = source.encode("utf-8", "replace").decode()
    rows = list(_file_rows(source) if isinstance(data, str | Path) else _memory_rows(data))
    if not rows:
        raise DataError(f"{source} holds no rows.", hint="Expected one JSON object a line.")
    columns = recognise([row.columns for row in rows if isinstance(row, _Row)], mapping)
    complaints: list[str] = []
    samples: dict[str, Sample] = {}
    lines: dict[str, int] = {}
    for row in rows:
        if limit is not None and len(samples) >= limit:
            break
        if isinstance(row, str):
            complaints.append(row)
            continue
        try:
            sample = Sample.from_row(row.columns, default_id=str(row.line), names=columns, needs=needs)
        except RowError as error:
            complaints.extend(f"{row.where}: {problem}" for problem in error.problems)
            continue
        if sample.id in samples:
            complaints.append(f"{row.where}: id {sample.id!r} is also that of row {lines[sample.id]}")
            continue
        samples[sample.id], lines[sample.id] = sample, row.line
    if complaints and not (skip_bad_rows and samples):
        _refuse(source, complaints, skip_bad_rows)
    chosen = tuple(samples.values())
    options = {"mapping": dict(mapping or {}), "limit": limit, "skip_bad_rows": skip_bad_rows}
    return Dataset(chosen, printable, _hash(chosen), columns, tuple(complaints), options)


def _refuse(source: str, complaints: list[str], skip_bad_rows: bool) -> NoReturn:
    rows = f"{len(complaints)} problem{'s' * (len(complaints) != 1)}"
    if skip_bad_rows:
        raise DataError(f"{source} has no good rows ({rows}):", complaints)
    hint = "Nothing was scored. Mend the rows, name columns with --map theirs=ours, or pass --skip-bad-rows."
    raise DataError(f"{source} cannot be read ({rows}):", complaints, hint=hint)


def _file_rows(source: str) -> Iterator[_Row | str]:
    """Yield the rows of a file in order, and in place of each that cannot be read the complaint about it."""
    name = "<stdin>" if source == STDIN else source
    try:
        content = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
    except FileNotFoundError:
        hint = "Give the path of a JSONL file, or - for stdin."
        raise DataError(f"There is no file {source!r}.", hint=hint) from None
    except IsADirectoryError:
        raise DataError(f"{source!r} is a folder; expected a JSONL file.") from None
    except (OSError, AttributeError) as error:  # standard input may be closed
        raise DataError(f"{name} cannot be read: {error}") from None
    if (other := other_format(content)) is not None:
        raise DataError(f"{name}:1:1: is {other.what}; expected a JSON object a line.", hint=other.hint(name))
    for number, raw in enumerate(content.removeprefix(codecs.BOM_UTF8).splitlines(), 1):
        where = f"{name}:{number}"
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            hint = "convert the file, for example with iconv -f LATIN1 -t UTF-8"
            yield f"{where}: byte {error.start + 1} is not UTF-8; {hint}"
            continue
        if not text.strip():
            continue
        try:
            row = parsed_line(text)
        except LineError as error:
            yield f"{where}: not JSON at column {error.column}: {error}"
        else:
            if isinstance(row, dict):
                yield _Row(where, number, row)
            else:
                yield f"{where}: is {type(row).__name__}; expected an object"


def _memory_rows(data: Iterable[Mapping[str, Any]]) -> Iterator[_Row | str]:
    for number, row in enumerate(data, 1):
        where = f"row {number}"
        if isinstance(row, Mapping):
            yield _Row(where, number, dict(row))
        else:
            yield f"{where}: is {type(row).__name__}; expected a mapping"


def _hash(samples: Iterable[Sample]) -> str:
    digest = hashlib.sha256()
    for sample in samples:
        digest.update(sample.model_dump_json().encode() + b"\n")
    return digest.hexdigest()
