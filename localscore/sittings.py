"""One sitting of a run: results come, are written and counted, and make a run; none stays in memory."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from localscore.judges import Judge
from localscore.manifests import Manifest
from localscore.results import SampleResult
from localscore.runs import RESULTS, Run, RunWriter, recording
from localscore.samples import Sample
from localscore.shelf import Shelf
from localscore.summary import Tally


class Sitting:
    """What has come of a run so far, in earlier sittings and in this one."""

    def __init__(self, judge: Judge, manifest: Manifest) -> None:
        self.tally = Tally(manifest.judge.get("noise", 0.0))
        self.failed: dict[int, Sample] = {}
        """Kept samples with a score that could not be had, by their number."""
        self._judge, self._before, self._began = judge, replace(judge.tokens), time.monotonic()
        self._manifest = manifest
        self._writer: RunWriter | None = None
        self._shelf = Shelf(SampleResult.model_validate_json)
        self._starts = array("Q", [0])

    @property
    def results(self) -> int:
        """How many samples have a result."""
        return len(self._starts) - 1

    def take(self, result: SampleResult) -> None:
        """Take the result of the next sample."""
        line = _line(result)
        if self._writer is None:
            self._shelf.add(line[:-1])
        else:
            self._writer.write(line)
        self._count(line, result)

    def mend(self, again: Mapping[int, SampleResult]) -> None:
        """Put results in the place of those that had failed."""
        if self._writer is None or not again:
            return
        path = self._writer.folder / RESULTS
        self.tally, self._starts = Tally(self._manifest.judge.get("noise", 0.0)), array("Q", [0])

        def lines() -> Iterator[bytes]:
            with path.open("rb") as file:
                for number, line in enumerate(file):
                    result = again.get(number)
                    if result is None:
                        self._count(line, SampleResult.model_validate_json(line))
                        yield line
                    else:
                        self._count(new := _line(result), result)
                        yield new

        self._writer.replace(lines())
        self.failed = {}

    def finished(self, samples: int, manifest: Manifest | None = None) -> Run:
        """Write summary and manifest, and return the run.

        Args:
            samples: how many were put to the judge in this sitting.
            manifest: what the run is, where that has changed since it began.
        """
        spent, before = self._judge.tokens, self._before
        told = (manifest or self._manifest).finished_with(
            {"read": spent.read - before.read, "written": spent.written - before.written, "samples": samples},
            cached=spent.cached - before.cached,
            near_ties=self.tally.near_ties,
            seconds=time.monotonic() - self._began,
        )
        folder = self._writer.folder if self._writer else None
        run = Run(self._results(), told, folder, self.tally.summary)
        if self._writer is not None:
            self._writer.finish(run)
        return run

    def _results(self) -> Sequence[SampleResult]:
        if self._writer is None:
            return self._shelf.things()
        file = (self._writer.folder / RESULTS).open("rb")
        return Shelf(SampleResult.model_validate_json, file, self._starts).things()

    def _kept(self, line: bytes, result: SampleResult) -> None:
        if result.failed:
            self.failed[self.results] = result.sample
        self._count(line, result)

    def _count(self, line: bytes, result: SampleResult) -> None:
        self.tally.add(result)
        self._starts.append(self._starts[-1] + len(line))


@contextmanager
def sitting(
    judge: Judge, manifest: Manifest, samples: Sequence[Sample], out: Path | None, *, overwrite: bool = False
) -> Iterator[Sitting]:
    """Begin a sitting, or carry the run of a folder on.

    Raises:
        RunError: see `localscore.runs.recording`.
    """
    found = Sitting(judge, manifest)
    if out is None:
        yield found
        return
    with recording(out, manifest, samples, overwrite=overwrite, on_kept=found._kept) as writer:
        found._writer = writer
        yield found


def _line(result: SampleResult) -> bytes:
    return result.model_dump_json().encode() + b"\n"
