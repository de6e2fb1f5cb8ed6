"""Files that transformers read → a judge that is whole, or the error that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localscore.errors import JudgeUnusable, LocalscoreError


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn whatever the readers of a judge's files raise into one error that names the judge.

    Raises:
        JudgeUnusable: the files cannot be read.
    """
    try:
        yield
    except LocalscoreError:
        raise
    except Exception as error:  # a damaged file may raise anything, from KeyError to the parsers' own errors
        raise JudgeUnusable(
            f"The judge {path} cannot be read: {type(error).__name__}: {error}",
            hint="Its files may be damaged, or of a kind that this version of transformers does not know.",
        ) from error


def check_complete(loading: Mapping[str, Any], path: Path) -> None:
    """Refuse a model of which weights are missing, which transformers would fill with random numbers.

    Raises:
        JudgeUnusable: there are such weights.
    """
    lacking = sorted(map(str, [*loading.get("missing_keys", ()), *loading.get("mismatched_keys", ())]))
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise JudgeUnusable(
            f"The judge {path} is incomplete: its files do not hold {', '.join(lacking[:3])}{more}.",
            hint="Copy or download it again.",
        )
