"""How far a run is, on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from localscore import engine
from localscore.cli.app import say, talk
from localscore.judges import Judge

SECONDS_BETWEEN_LINES = 15


@contextmanager
def progress_shown(samples: int | None, judge: Judge, *, quiet: bool) -> Iterator[engine.Listener | None]:
    """Show how far a run of so many samples is: a bar on a terminal, a plain line now and then elsewhere."""
    if quiet:
        yield None
    elif talk.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=talk, transient=True) as bar:
            task = bar.add_task("samples", total=samples)
            clock = _Clock(judge)

            def show(progress: engine.Progress) -> None:
                bar.update(task, completed=progress.samples, description=f"samples · {clock.told(progress)}")

            yield show
    else:
        yield _lines(samples, _Clock(judge))


def _lines(samples: int | None, clock: _Clock) -> engine.Listener:
    said = time.monotonic()

    def show(progress: engine.Progress) -> None:
        nonlocal said
        if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            of, remains = "", ""
            if samples is not None:
                of = f" of {samples}"
                if progress.samples:
                    left = clock.seconds / progress.samples * (samples - progress.samples)
                    remains = f", about {left:.0f} s left"
            say(f"{progress.samples}{of} samples · {clock.told(progress)}{remains}")

    return show


class _Clock:
    def __init__(self, judge: Judge) -> None:
        self._start = time.monotonic()
        self._tokens = judge.tokens

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def told(self, progress: engine.Progress) -> str:
        tokens = self._tokens.read + self._tokens.written
        return f"{progress.verdicts} verdicts · {tokens / max(self.seconds, 0.1):.0f} tokens/s"
