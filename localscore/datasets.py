"""Rows → samples, with file and line in every complaint."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from localscore import readers
from localscore.columns import Columns
from localscore.errors import DataError, OptionError
from localscore.samples import TOOL_RESULTS, RowError, Sample
from localscore.shelf import Shelf

CONTEXTS_FROM = ("column", TOOL_RESULTS)
"""Where the contexts of a row may be."""


@dataclass(frozen=True)
class Dataset:
    """Samples, and where they came from."""

    samples: Sequence[Sample]
    """They are on the disk, so that there may be more than fit into memory."""
    source: str
    sha256: str
    """Of the samples, whatever their file's format or columns."""
    columns: Mapping[str, str]
    """For each field of a sample the column that held it, or `tool-results`."""
    complaints: tuple[str, ...] = ()
    """The rows that were left out on request, each with file and line."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How it was read: mapping, limit, skip_bad_rows, and where the contexts are."""


def read(
    data: str | Path | Iterable[Mapping[str, Any]],
    *,
    mapping: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    needs: Collection[str] = (),
    contexts_from: str = "column",
    split_contexts: str | None = None,
) -> Dataset:
    """Read samples from a file or a folder of files, from standard input (`-`), or from rows in memory.

    Args:
        data: the file (see `localscore.readers`), or rows: mappings, or a data frame.
        mapping: `{their column: our field}`, before what is recognised (see `localscore.tools.ALIASES`).
        skip_bad_rows: leave rows that cannot be read out, and list them in `complaints`.
        limit: read only the first so many good rows.
        needs: fields beyond query and contexts that a row must have.
        contexts_from: `column`, or `tool-results`: what tools returned in the messages of answer or query.
        split_contexts: what stands between contexts that were joined to one text.

    Raises:
        DataError: no file, no rows, or bad rows; all of them are listed.
        OptionError: a mapping that cannot be meant, or columns that two fields could be meant for.

    >>> dataset = read([{"question": "Who ran?", "contexts": ["Ann ran."], "answer": "Ann."}])
    >>> dataset.samples[0].query, dict(dataset.columns)["query"]
    ('Who ran?', 'question')
    """
    _check_options(contexts_from, split_contexts)
    source = str(data) if isinstance(data, str | Path) else "rows"
    columns = Columns(mapping, besides=["contexts"] if contexts_from == TOOL_RESULTS else [])
    shelf, digest = Shelf(), hashlib.sha256()
    complaints: list[str] = []
    known: dict[str, str] = {}
    empty = True
    for row in readers.rows(data):
        empty = False
        if isinstance(row, str):
            complaints.append(row)
            continue
        columns.see(row.columns)
        try:
            sample = Sample.from_row(
                row.columns,
                default_id=row.name,
                names=columns.names,
                needs=needs,
                contexts_from=contexts_from,
                separator=split_contexts,
            )
        except RowError as error:
            complaints.extend(f"{row.where}: {problem}" for problem in error.problems)
            continue
        if sample.id in known:
            complaints.append(f"{row.where}: id {sample.id!r} is also that of row {known[sample.id]}")
            continue
        known[sample.id] = row.name
        line = sample.model_dump_json().encode()
        shelf.add(line)
        digest.update(line + b"\n")
        if len(known) == limit:
            break
    if empty:
        raise DataError(f"{source} holds no rows.", hint="Expected rows, for example one JSON object a line.")
    columns.check_mapping()
    if complaints and not (skip_bad_rows and known):
        _refuse(source, complaints, skip_bad_rows)
    options = {
        "mapping": dict(mapping or {}),
        "limit": limit,
        "skip_bad_rows": skip_bad_rows,
        "contexts_from": contexts_from,
        "split_contexts": split_contexts,
    }
    names = columns.names | ({"contexts": TOOL_RESULTS} if contexts_from == TOOL_RESULTS else {})
    printable = source.encode("utf-8", "replace").decode()
    return Dataset(shelf.samples(), printable, digest.hexdigest(), names, tuple(complaints), options)


def _check_options(contexts_from: str, split_contexts: str | None) -> None:
    if contexts_from not in CONTEXTS_FROM:
        raise OptionError(f"contexts_from is {contexts_from!r}; expected {' or '.join(CONTEXTS_FROM)}.")
    if split_contexts == "":
        raise OptionError(
            "split_contexts is empty; expected what stands between the contexts, for example |."
        )


def _refuse(source: str, complaints: list[str], skip_bad_rows: bool) -> NoReturn:
    rows = f"{len(complaints)} problem{'s' * (len(complaints) != 1)}"
    if skip_bad_rows:
        raise DataError(f"{source} has no good rows ({rows}):", complaints)
    hint = "Nothing was scored. Mend the rows, name columns with --map theirs=ours, or pass --skip-bad-rows."
    raise DataError(f"{source} cannot be read ({rows}):", complaints, hint=hint)
