"""Writes and reads a run folder: `run.json` (`manifests.py`), `results.jsonl` (a line a sample), `summary.json`.

Lines are written as samples are finished. The same command on the same folder carries on after the last whole
line; a folder that holds another run is refused. Times and dates are in the manifest only, so that equal runs
have equal results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from localscore.display import fragment
from localscore.errors import RunError
from localscore.files import alone, write_whole
from localscore.manifests import Manifest, metric_from
from localscore.metrics import Metric
from localscore.results import SampleResult, ScoredSample
from localscore.samples import Sample
from localscore.summary import MetricSummary, summarise

MANIFEST, RESULTS, SUMMARY = "run.json", "results.jsonl", "summary.json"

R = TypeVar("R")


@dataclass(frozen=True)
class Run:
    """The results of scoring some samples, and their manifest."""

    results: Sequence[SampleResult]
    """In the order of the samples; those that were just scored are on disk."""
    manifest: Manifest
    folder: Path | None = None
    counted: dict[str, MetricSummary] | None = field(default=None, repr=False, compare=False)
    """The summary, where it was made while the results came."""

    @cached_property
    def summary(self) -> dict[str, MetricSummary]:
        """Means and counts per metric."""
        return summarise(self.results) if self.counted is None else self.counted

    @property
    def failed(self) -> int:
        """How many scores could not be had."""
        return sum(summary.failed for summary in self.summary.values())

    def metrics(self) -> list[Metric]:
        """Return the metrics that scored this run."""
        return [metric_from(told) for told in self.manifest.metrics]

    def _repr_html_(self) -> str:
        return fragment("run.html", run=self)


class RunWriter:
    """Writes a run folder line by line; see `recording`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines = (folder / RESULTS).open("ab", buffering=0)

    def write(self, line: bytes) -> None:
        """Append one line with its end, whole or not at all; it is on its way to the disk when this returns."""
        whole, written = self._lines.tell(), 0
        try:
            while written < len(line):
                written += self._lines.write(line[written:])
        finally:
            if written < len(line):  # a full disk takes a part of what it is given
                self._lines.truncate(whole)

    def replace(self, lines: Iterable[bytes]) -> None:
        """Put these lines, each with its end, in the place of all that were written, whole or not at all."""
        self._lines.close()
        write_whole(self.folder / RESULTS, lines)
        self._lines = (self.folder / RESULTS).open("ab", buffering=0)

    def finish(self, run: Run) -> None:
        """Write summary and manifest, each whole or not at all."""
        summary = {name: told.model_dump() for name, told in run.summary.items()}
        write_whole(self.folder / SUMMARY, json.dumps(summary, indent=2).encode() + b"\n")
        _write_manifest(self.folder, run.manifest)

    def close(self) -> None:
        """Close the results file."""
        self._lines.close()


@contextmanager
def recording(
    folder: Path,
    manifest: Manifest,
    samples: Sequence[Sample],
    *,
    overwrite: bool = False,
    on_kept: Callable[[bytes, SampleResult], None] | None = None,
) -> Iterator[RunWriter]:
    """Open a run folder for writing, keeping the results that are already in it.

    Args:
        folder: where it is, or will be.
        manifest: what the run is.
        samples: what it is of.
        overwrite: keep nothing of what is there.
        on_kept: gets each line that is kept, with its end, and its result.

    Raises:
        RunError: the folder cannot be written, or is being written by another process, or holds another run and
            `overwrite` is not given.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder):
            for name in (MANIFEST, RESULTS, SUMMARY):
                for left in folder.glob(f".{name}.*"):  # by a process that was killed; see `write_whole`
                    left.unlink()
            kept = 0
            for line, result in () if overwrite else _kept(folder, manifest, samples):
                kept += len(line)
                if on_kept is not None:
                    on_kept(line, result)
            _cut_results(folder, kept)  # first, so that no row can be taken for one of the new manifest's
            _write_manifest(folder, manifest)
            (folder / SUMMARY).unlink(missing_ok=True)
            writer = RunWriter(folder)
            try:
                yield writer
            finally:
                writer.close()
    except OSError as error:
        hint = "What was written is kept; the same command carries on."
        raise RunError(f"The run folder {str(folder)!r} cannot be written: {error}", hint=hint) from error


def load_run(folder: str | Path, *, judgments: bool = True) -> Run:
    """Read a run folder.

    Args:
        folder: where it is.
        judgments: whether to read the judgments too, about half of every line; without, results have none.

    Raises:
        RunError: the folder is not a run, or one of its lines cannot be read.
    """
    folder = Path(folder)
    manifest, lines = read_folder(folder)
    read = SampleResult.model_validate_json if judgments else without_judgments
    results = [read_line(read, line, folder, number) for number, line in enumerate(lines, 1)]
    return Run(tuple(results), manifest, folder)


def without_judgments(line: bytes) -> SampleResult:
    """Read a results line but for its judgments, which are about half of it.

    What is left when they are cut off a line is JSON, and has all other fields, only if they are its last field.
    """
    before, found, _ = line.rpartition(b',"judgments":[')
    if found and line.endswith(b"]}"):
        with suppress(ValidationError):
            scored = ScoredSample.model_validate_json(before + b"}")
            if scored.model_fields_set == ScoredSample.model_fields.keys():
                return SampleResult.model_construct(**dict(scored))
    return SampleResult.model_construct(**dict(ScoredSample.model_validate_json(line)))


def read_folder(folder: Path) -> tuple[Manifest, list[bytes]]:
    """Return the manifest of a run folder, and its results lines as they stand.

    Raises:
        RunError: the folder is not a run.
    """
    manifest = load_manifest(folder)
    try:
        return manifest, list(_whole_lines(folder / RESULTS))
    except FileNotFoundError as error:
        raise RunError(f"{str(folder)!r} is not a run folder: {error.filename} is not there.") from None
    except OSError as error:
        raise RunError(f"{str(folder / RESULTS)!r} cannot be read: {error}") from None


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest of a run folder.

    Raises:
        RunError: the folder is not a run, or its manifest is not one of this version.
    """
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError as error:
        raise RunError(f"{str(folder)!r} is not a run folder: {error.filename} is not there.") from None
    except (OSError, ValidationError) as error:
        raise RunError(f"{str(folder / MANIFEST)!r} cannot be read: {error}") from None


def _kept(
    folder: Path, manifest: Manifest, samples: Sequence[Sample]
) -> Iterator[tuple[bytes, SampleResult]]:
    """Give the results already in a folder that this run would give again, each with its line."""
    hint = "Choose another --out, or pass --overwrite to score everything again."
    if not (folder / RESULTS).exists():
        return
    if not (folder / MANIFEST).exists():
        raise RunError(f"{str(folder)!r} holds results without a manifest.", hint=hint)
    earlier = load_manifest(folder)
    if earlier.identity != manifest.identity:
        raise RunError(f"{str(folder)!r} holds a run with {_difference(earlier, manifest)}.", hint=hint)
    there = sum(1 for _ in _whole_lines(folder / RESULTS))
    if there > len(samples):
        raise RunError(
            f"{str(folder)!r} holds {there} results; this run has {len(samples)} samples.", hint=hint
        )
    for number, (line, sample) in enumerate(zip(_whole_lines(folder / RESULTS), samples, strict=False), 1):
        result = read_line(SampleResult.model_validate_json, line, folder, number)
        if result.sample.model_dump_json() != sample.model_dump_json():
            raise RunError(
                f"{str(folder)!r} holds a run of other data: sample {result.id!r} differs.", hint=hint
            )
        yield line + b"\n", result


def _difference(earlier: Manifest, now: Manifest) -> str:
    if earlier.judge.get("fingerprint") != now.judge.get("fingerprint"):
        return f"another judge ({earlier.judge.get('name')})"
    return "other prompts" if earlier.prompts != now.prompts else "other metrics or options"


def _cut_results(folder: Path, kept: int) -> None:
    """Leave exactly so many bytes in the file; a line that was cut in the middle goes."""
    path = folder / RESULTS
    if not kept:
        path.unlink(missing_ok=True)  # and not emptied: an earlier `Run` may still read it
    else:
        with path.open("ab") as file:
            file.truncate(kept)


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from (line[:-1] for line in file if line.endswith(b"\n"))


def read_line(read: Callable[[bytes], R], line: bytes, folder: Path, number: int) -> R:
    """Read one results line of a folder.

    Raises:
        RunError: it cannot be read; says where it is.
    """
    try:
        return read(line)
    except ValidationError as error:
        where = f"{folder / RESULTS}:{number}"
        raise RunError(f"{where}: not a results line of this version of localscore: {error}") from None


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    write_whole(folder / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")
