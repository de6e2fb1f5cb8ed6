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
from localscore.readers import Row
from localscore.samples import TOOL_RESULTS, RowError, Sample
from localscore.shelf import Shelf, Shelved

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
    options = {
        "mapping": dict(mapping or {}),
        "limit": limit,
        "skip_bad_rows": skip_bad_rows,
        "contexts_from": contexts_from,
        "split_contexts": split_contexts,
    }
    intake = Intake(options, needs)
    for row in readers.rows(data):
        intake.take(row)
        if len(intake.samples) == limit:
            break
    source = str(data) if isinstance(data, str | Path) else "rows"
    intake.check(source)
    dataset = intake.dataset(source)
    if dataset.complaints and not (skip_bad_rows and dataset.samples):
        _refuse(source, dataset.complaints, skip_bad_rows)
    return dataset


class Intake:
    """Turns rows into samples, one at a time, and remembers what it has seen."""

    def __init__(self, options: Mapping[str, Any], needs: Collection[str] = ()) -> None:
        """Take the options of a dataset, and the fields that a row must have."""
        self._options = options
        self._contexts_from = options["contexts_from"]
        self._separator = options["split_contexts"]
        _check_options(self._contexts_from, self._separator)
        besides = ["contexts"] if self._contexts_from == TOOL_RESULTS else []
        self._columns = Columns(options["mapping"], besides=besides)
        self._needs = needs
        self._shelf, self._digest = Shelf(Sample.model_validate_json), hashlib.sha256()
        self._known: dict[str, str] = {}
        self._complaints: list[str] = []

    @property
    def samples(self) -> Shelved[Sample]:
        """The samples of all good rows so far."""
        return self._shelf.things()

    def take(self, row: Row | str) -> list[str]:
        """Keep the sample of a row; return what is wrong with it, if anything is."""
        complaints = [row] if isinstance(row, str) else self._kept(row)
        self._complaints.extend(complaints)
        return complaints

    def _kept(self, row: Row) -> list[str]:
        self._columns.see(row.columns)
        try:
            sample = Sample.from_row(
                row.columns,
                default_id=row.name,
                names=self._columns.names,
                needs=self._needs,
                contexts_from=self._contexts_from,
                separator=self._separator,
            )
        except RowError as error:
            return [f"{row.where}: {problem}" for problem in error.problems]
        if sample.id in self._known:
            return [f"{row.where}: id {sample.id!r} is also that of row {self._known[sample.id]}"]
        self._known[sample.id] = row.name
        line = sample.model_dump_json().encode()
        self._shelf.add(line)
        self._digest.update(line + b"\n")
        return []

    def check(self, source: str) -> None:
        """Check that there was something.

        Raises:
            DataError: there was no row.
            OptionError: a mapped column was in none.
        """
        if not self._known and not self._complaints:
            hint = "Expected rows, for example one JSON object a line."
            raise DataError(f"{source} holds no rows.", hint=hint)
        self._columns.check_mapping()

    def dataset(self, source: str) -> Dataset:
        """Return what was taken so far."""
        tool_results = {"contexts": TOOL_RESULTS} if self._contexts_from == TOOL_RESULTS else {}
        return Dataset(
            self.samples,
            source.encode("utf-8", "replace").decode(),
            self._digest.hexdigest(),
            self._columns.names | tool_results,
            tuple(self._complaints),
            self._options,
        )


def _check_options(contexts_from: str, split_contexts: str | None) -> None:
    if contexts_from not in CONTEXTS_FROM:
        raise OptionError(f"contexts_from is {contexts_from!r}; expected {' or '.join(CONTEXTS_FROM)}.")
    if split_contexts == "":
        raise OptionError(
            "split_contexts is empty; expected what stands between the contexts, for example |."
        )


def _refuse(source: str, complaints: Sequence[str], skip_bad_rows: bool) -> NoReturn:
    rows = f"{len(complaints)} problem{'s' * (len(complaints) != 1)}"
    if skip_bad_rows:
        raise DataError(f"{source} has no good rows ({rows}):", complaints)
    hint = "Nothing was scored. Mend the rows, name columns with --map theirs=ours, or pass --skip-bad-rows."
    raise DataError(f"{source} cannot be read ({rows}):", complaints, hint=hint)
