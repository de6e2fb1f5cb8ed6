"""Writes and reads a run folder: `run.json` (manifest), `results.jsonl` (a line a sample), `summary.json`.

Lines are written as samples are finished. The same command on the same folder carries on after the last whole
line; a folder that holds another run is refused. Times and dates are in the manifest only, so that equal runs
have equal results.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from localscore.datasets import Dataset
from localscore.display import fragment
from localscore.errors import OptionError, RunError
from localscore.inquiries import prompts_hash
from localscore.judges import JudgeIdentity
from localscore.metrics import METRICS, Metric
from localscore.metrics.written import named
from localscore.results import SampleResult, ScoredSample
from localscore.samples import Sample
from localscore.scoring import Penalties
from localscore.summary import MetricSummary, summarise

MANIFEST, RESULTS, SUMMARY = "run.json", "results.jsonl", "summary.json"

R = TypeVar("R")

PACKAGES = (
    "localscore",
    "torch",
    "transformers",
    "outlines",
    "llguidance",
    "pydantic",
    "sentencex",
    "tokenizers",
)


class Manifest(BaseModel):
    """What a run was: who judged what, how, and when."""

    model_config = ConfigDict(extra="forbid")

    identity: str
    """A hash of judge, prompts and metrics: runs of one identity can be carried on and compared."""
    judge: dict[str, Any]
    """Name, fingerprint, and what that was made of: files with their sha256, device, dtype, chat template.

    `exact`: the same files and options give the same bytes, in any order and when carried on. `noise`: the distance
    of two probabilities below which this arithmetic cannot tell two values apart.
    """
    prompts: str
    """The sha256 of the wording of all questions."""
    metrics: list[dict[str, Any]]
    dataset: dict[str, Any]
    versions: dict[str, str]
    machine: str
    started: str
    finished: str | None = None
    seconds: float | None = None
    tokens: dict[str, int] | None = None
    """Tokens that the judge read and wrote in the last sitting, and how many samples they were for."""
    cached: int | None = None
    """Verdicts of the last sitting that came from the cache, for which no token was read."""
    near_ties: int | None = None
    """Closed verdicts whose two most probable values are nearer to each other than the arithmetic's noise."""
    rescored_from: dict[str, str] | None = None
    """Folder and identity of the run whose verdicts these scores were made of, where it was another."""

    @field_validator("metrics")
    @classmethod
    def _named(cls, metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for told in metrics:
            if not isinstance(told.get("name"), str):
                raise ValueError(f"a metric has no name: {told}")
        return metrics

    @classmethod
    def of(cls, identity: JudgeIdentity, metrics: Sequence[Metric], dataset: Dataset) -> Manifest:
        """Return the manifest of a run that starts now."""
        told = described(metrics)
        return cls(
            identity=_identity(identity.fingerprint, prompts_hash(), told),
            judge={
                "name": identity.name,
                "fingerprint": identity.fingerprint,
                "exact": identity.exact,
                "noise": identity.noise,
                **identity.details,
            },
            prompts=prompts_hash(),
            metrics=told,
            dataset={
                "source": dataset.source,
                "sha256": dataset.sha256,
                "samples": len(dataset.samples),
                "columns": dict(dataset.columns),
                "left_out": list(dataset.complaints),
                "options": dict(dataset.options),
            },
            versions={name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            started=_now(),
        )

    def rescored(self, metrics: Sequence[Metric], *, folder: Path | None) -> Manifest:
        """Return the manifest of a run that scores the same verdicts by other metrics, starting now."""
        told = described(metrics)
        update = {
            "identity": _identity(self.judge.get("fingerprint"), self.prompts, told),
            "metrics": told,
            "versions": self.versions | {"localscore": _version("localscore")},
            "started": _now(),
            "finished": None,
            "seconds": None,
            "tokens": {"read": 0, "written": 0, "samples": 0},
            "rescored_from": {"folder": str(folder or ""), "identity": self.identity},
        }
        return self.model_copy(update=update)

    def finished_now(self, seconds: float) -> Manifest:
        """Return the manifest of the run now that it is finished."""
        return self.model_copy(update={"finished": _now(), "seconds": round(seconds, 1)})

    def finished_with(
        self, results: Sequence[SampleResult], tokens: dict[str, int], *, cached: int = 0, seconds: float
    ) -> Manifest:
        """Return the manifest of the run now that it is finished."""
        noise = self.judge.get("noise", 0.0)
        margins = [judgment.margin for result in results for judgment in result.judgments]
        near_ties = sum(margin is not None and margin <= noise for margin in margins)
        return self.finished_now(seconds).model_copy(
            update={"tokens": tokens, "cached": cached, "near_ties": near_ties}
        )


def described(metrics: Iterable[Metric]) -> list[dict[str, Any]]:
    """Return metrics as a manifest tells of them; `metric_from` reads them back."""
    return [
        {"name": metric.name, **metric.parameters}
        | ({} if METRICS.get(metric.name) is type(metric) else {"class": named(metric)})
        for metric in metrics
    ]


def _identity(fingerprint: str | None, prompts: str, metrics: list[dict[str, Any]]) -> str:
    same = json.dumps([fingerprint, prompts, metrics], sort_keys=True)
    return hashlib.sha256(same.encode()).hexdigest()


@dataclass(frozen=True)
class Run:
    """The results of scoring some samples, and their manifest."""

    results: tuple[SampleResult, ...]
    manifest: Manifest
    folder: Path | None = None

    @property
    def summary(self) -> dict[str, MetricSummary]:
        """Means and counts per metric."""
        return summarise(self.results)

    @property
    def failed(self) -> int:
        """How many scores could not be had."""
        return sum(summary.failed for summary in self.summary.values())

    def metrics(self) -> list[Metric]:
        """Return the metrics that scored this run."""
        return [metric_from(told) for told in self.manifest.metrics]

    def _repr_html_(self) -> str:
        return fragment("run.html", run=self)


def metric_from(told: dict[str, Any]) -> Metric:
    """Return the metric that a manifest describes.

    Raises:
        RunError: it is none of `METRICS`, or was scored with parameters that are not known here.
    """
    fields = {key: value for key, value in told.items() if key != "name"}
    if "class" in told:  # what a file names is never imported: a run may come from anybody
        hint = f"Name it yourself: --metrics {told['class']}"
        raise RunError(f"The metric {told['name']} is none of localscore's own.", hint=hint)
    try:
        if "penalties" in fields:
            fields["penalties"] = Penalties(**fields["penalties"])
        return METRICS[told["name"]](**fields)
    except (KeyError, TypeError, OptionError):
        raise RunError(f"The metric {told} is not known to this version of localscore.") from None


class RunWriter:
    """Writes a run folder line by line; see `recording`."""

    def __init__(self, folder: Path, manifest: Manifest, kept: list[SampleResult]) -> None:
        self.folder = folder
        self.manifest = manifest
        self.kept = kept
        """The results that an earlier sitting has written."""
        self._lines = (folder / RESULTS).open("ab", buffering=0)

    def write(self, result: SampleResult) -> None:
        """Append one result, whole or not at all; it is on its way to the disk when this returns."""
        line, whole = _line(result), self._lines.tell()
        written = 0
        try:
            while written < len(line):
                written += self._lines.write(line[written:])
        finally:
            if written < len(line):  # a full disk takes a part of what it is given
                self._lines.truncate(whole)

    def rewrite(self, results: Iterable[SampleResult]) -> None:
        """Put these results in the place of all that were written, whole or not at all."""
        self.replace(map(_line, results))

    def replace(self, lines: Iterable[bytes]) -> None:
        """Put these lines, each with its end, in the place of all that were written, whole or not at all."""
        self._lines.close()
        write_whole(self.folder / RESULTS, b"".join(lines))
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
    folder: Path, manifest: Manifest, samples: Sequence[Sample], *, overwrite: bool = False
) -> Iterator[RunWriter]:
    """Open a run folder for writing, keeping the results that are already in it.

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
            kept = [] if overwrite else _kept(folder, manifest, samples)
            _cut_results(folder, kept)  # first, so that no row can be taken for one of the new manifest's
            _write_manifest(folder, manifest)
            (folder / SUMMARY).unlink(missing_ok=True)
            writer = RunWriter(folder, manifest, kept)
            try:
                yield writer
            finally:
                writer.close()
    except OSError as error:
        hint = "What was written is kept; the same command carries on."
        raise RunError(f"The run folder {str(folder)!r} cannot be written: {error}", hint=hint) from error


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


def _kept(folder: Path, manifest: Manifest, samples: Sequence[Sample]) -> list[SampleResult]:
    """Return the results already in a folder that this run would give again."""
    hint = "Choose another --out, or pass --overwrite to score everything again."
    if not (folder / RESULTS).exists():
        return []
    if not (folder / MANIFEST).exists():
        raise RunError(f"{str(folder)!r} holds results without a manifest.", hint=hint)
    earlier = load_run(folder)
    if earlier.manifest.identity != manifest.identity:
        raise RunError(
            f"{str(folder)!r} holds a run with {_difference(earlier.manifest, manifest)}.", hint=hint
        )
    if len(earlier.results) > len(samples):
        raise RunError(
            f"{str(folder)!r} holds {len(earlier.results)} results; this run has {len(samples)} samples.",
            hint=hint,
        )
    for result, sample in zip(earlier.results, samples, strict=False):
        if result.sample.model_dump_json() != sample.model_dump_json():
            raise RunError(
                f"{str(folder)!r} holds a run of other data: sample {result.id!r} differs.", hint=hint
            )
    return list(earlier.results)


def _difference(earlier: Manifest, now: Manifest) -> str:
    if earlier.judge.get("fingerprint") != now.judge.get("fingerprint"):
        return f"another judge ({earlier.judge.get('name')})"
    return "other prompts" if earlier.prompts != now.prompts else "other metrics or options"


def _cut_results(folder: Path, kept: Sequence[SampleResult]) -> None:
    """Leave exactly the kept results in the file; a line that was cut in the middle goes."""
    path = folder / RESULTS
    if path.exists():
        whole = sum(len(line) + 1 for line in _whole_lines(path)) if kept else 0
        with path.open("ab") as file:
            file.truncate(whole)


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


def _line(result: SampleResult) -> bytes:
    return result.model_dump_json().encode() + b"\n"


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    write_whole(folder / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
