"""Every error of localscore, in one tree.

    LocalscoreError                 whatever localscore raises on purpose
    ├── OptionError                 an option that cannot be meant: a scale of NaN, an unknown metric
    ├── DataError                   rows that cannot be read; lists every one with file and line
    ├── RunError                    a run folder that cannot be read, or that holds another run
    ├── ScoreFailed                 a score that could not be had, where the run was to end with the first such
    ├── NetworkRefused              something in this process wanted to open a connection
    ├── CacheError                  a cache of verdicts that cannot be opened or written
    │   └── CacheDamaged            it is not what was written there; it is set aside, never trusted
    ├── JudgeError                  a judge that cannot be used
    │   ├── UnknownJudge            no card, folder or file of that name
    │   ├── JudgeMissing            a known judge whose files are not here yet
    │   ├── JudgeDamaged            files that are not what their card says
    │   ├── JudgeUnusable           no weights, no chat template, a format that is not read
    │   │   └── JudgeUnsafe         files that could run code, or that lead elsewhere
    │   ├── TooLarge                memory or disk does not suffice for it
    │   ├── CalibrationError        a calibration that is not one
    │   ├── JudgeBroke              it raised something in the middle of a run
    │   └── DownloadFailed          `models pull` could not bring it
    └── VerdictError                one verdict that could not be had; becomes a score's `cause`
        ├── OutputTruncated         the token limit was reached before the verdict was complete
        ├── UnparsableOutput        what the judge wrote is not JSON
        ├── SchemaViolation         JSON, but not the verdict that was asked for
        ├── VerdictCountMismatch    more or fewer verdicts than were asked for
        ├── ContextTooLong          the prompt does not fit into the judge's window
        ├── OutOfMemory             the device had no memory left for this prompt
        ├── NotANumber              the judge's probabilities are NaN or infinite
        └── JudgeFailed             the judge broke in another way

`OptionError` and `DataError` are `ValueError`s as well, so that callers who know nothing of localscore
catch what they expect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class LocalscoreError(Exception):
    """Whatever localscore raises on purpose; `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class OptionError(LocalscoreError, ValueError):
    """An option that cannot be meant."""


class DataError(LocalscoreError, ValueError):
    """Rows that cannot be read.

    `complaints` names each of them, as `file:line: what was found, what was expected`.
    """

    def __init__(self, message: str, complaints: Sequence[str] = (), *, hint: str = "") -> None:
        super().__init__("\n".join([message, *complaints]), hint=hint)
        self.complaints = tuple(complaints)


class RunError(LocalscoreError):
    """A run folder that cannot be read, or that holds another run."""


class ScoreFailed(LocalscoreError):
    """A score that could not be had, in a run that was to end with the first such; its row is kept."""


class CacheError(LocalscoreError):
    """A cache of verdicts that cannot be opened or written."""


class CacheDamaged(CacheError):
    """A cache that is not what was written there, or was written by another version."""


class NetworkRefused(LocalscoreError):
    """Something in this process wanted to leave this machine; the message names the module that asked."""


class JudgeError(LocalscoreError):
    """A judge that cannot be used."""


class UnknownJudge(JudgeError):
    """No card, folder or file of that name."""


class JudgeMissing(JudgeError):
    """A known judge whose files are not on this machine yet."""


class JudgeDamaged(JudgeError):
    """Files that are not what their card says."""


class JudgeUnusable(JudgeError):
    """A folder or file that holds no judge that can be used."""


class JudgeUnsafe(JudgeUnusable):
    """A folder with something in it that could run, or that leads out of it; nothing of it was run."""


class TooLarge(JudgeError):
    """A judge for which memory or disk does not suffice; said before anything is loaded or downloaded."""


class CalibrationError(JudgeError):
    """A file or a card with a calibration that is not one, or verdicts of people that none can be fitted to."""


class JudgeBroke(JudgeError):
    """A judge that raised something in the middle of a run; the rows finished before are kept."""


class DownloadFailed(JudgeError):
    """A judge that could not be brought here."""


class VerdictError(LocalscoreError):
    """One verdict that could not be had.

    It never becomes a score: the score has the status `failed` and this error as its cause.
    """

    code: ClassVar[str] = "judge_failed"


class OutputTruncated(VerdictError):
    """The token limit was reached before the verdict was complete."""

    code = "output_truncated"


class UnparsableOutput(VerdictError):
    """What the judge wrote is not JSON."""

    code = "unparsable_output"


class SchemaViolation(VerdictError):
    """JSON, but not the verdict that was asked for."""

    code = "schema_violation"


class VerdictCountMismatch(VerdictError):
    """More or fewer verdicts than were asked for."""

    code = "verdict_count_mismatch"


class ContextTooLong(VerdictError):
    """The prompt does not fit into the judge's window; nothing was cut."""

    code = "context_too_long"


class OutOfMemory(VerdictError):
    """The device had no memory left for this prompt."""

    code = "out_of_memory"


class NotANumber(VerdictError):
    """The judge's probabilities are NaN or infinite."""

    code = "not_a_number"


class JudgeFailed(VerdictError):
    """The judge broke in a way that has no name of its own."""

    code = "judge_failed"
