"""`localscore cache`: stats, prune, clear."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ByteSize, TypeAdapter, ValidationError

from localscore.cache import cache_path
from localscore.cache.store import Stats, Store, begun_anew, opened
from localscore.cli.app import app, say
from localscore.cli.options import setting
from localscore.errors import CacheDamaged, OptionError

cache = typer.Typer(
    help="Verdicts that were given already: how many, and removing them.", no_args_is_help=True
)
app.add_typer(cache, name="cache")

File = Annotated[
    Path | None, setting("cache", "--cache", metavar="FILE", help="The user's, where not given.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]

_SECONDS = {"h": 3600, "d": 86400, "w": 7 * 86400}


@cache.command()
def stats(file: File = None, as_json: Json = False) -> None:
    """Tell where the cache is, how large, and whose verdicts it holds.

    Example: localscore cache stats --json
    """
    _, told = _done(file, lambda store: 0)
    if as_json:
        typer.echo(json.dumps(asdict(told)))
        return
    typer.echo(f"{told.path}: {_count(told.verdicts)}, {_size(told.bytes)}")
    for judge, verdicts in told.judges.items():
        typer.echo(f"  {judge}: {verdicts:,}")
    if told.oldest is not None and told.newest is not None:
        typer.echo(f"  given {_date(told.oldest)} to {_date(told.newest)}")


@cache.command()
def prune(
    older_than: Annotated[
        str | None, typer.Option(metavar="AGE", help="Remove verdicts given longer ago: 12h, 30d, 8w.")
    ] = None,
    max_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Then the oldest, down to 500MB, 2GiB, …")
    ] = None,
    file: File = None,
    as_json: Json = False,
) -> None:
    """Remove old verdicts.

    Example: localscore cache prune --older-than 30d --max-size 1GB
    """
    if older_than is None and max_size is None:
        raise OptionError("What to remove was not said.", hint="Give --older-than, --max-size, or both.")
    before = time.time() - _age(older_than) if older_than is not None else None
    max_bytes = _bytes(max_size) if max_size is not None else None
    _tell(*_done(file, lambda store: store.prune(before=before, max_bytes=max_bytes)), as_json=as_json)


@cache.command()
def clear(file: File = None, as_json: Json = False) -> None:
    """Remove all verdicts."""
    _tell(*_done(file, Store.clear), as_json=as_json)


def _done(file: Path | None, work: Callable[[Store], int]) -> tuple[int, Stats]:
    """Return how many verdicts some work has removed, and what is left; nothing where there is no cache yet."""
    path = file or cache_path()
    if not path.exists():
        return 0, Stats(str(path), 0, 0, {}, None, None)
    with closing(opened(path)) as store:
        try:
            return work(store), store.stats()
        except CacheDamaged as error:
            with closing(begun_anew(store, error)) as anew:
                return 0, anew.stats()


def _tell(removed: int, left: Stats, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"removed": removed, **asdict(left)}))
    else:
        say(f"Removed {_count(removed)}; {left.path} holds {_count(left.verdicts)}, {_size(left.bytes)}.")


def _age(told: str) -> float:
    """Return the seconds that an age tells.

    >>> _age("12h"), _age("30d")
    (43200.0, 2592000.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", told.strip())
    if match is None:
        raise OptionError(f"--older-than {told}: expected hours, days or weeks, such as 12h, 30d or 8w.")
    return float(match[1]) * _SECONDS[match[2]]


def _bytes(told: str) -> int:
    """Return the bytes that a size tells.

    >>> _bytes("1.5kB"), _bytes("2KiB")
    (1500, 2048)
    """
    try:
        size = int(TypeAdapter(ByteSize).validate_python(told.strip()))
    except (ValidationError, OverflowError):
        size = -1
    if size < 0:
        raise OptionError(f"--max-size {told}: expected a size such as 500MB or 2GiB.")
    return size


def _count(verdicts: int) -> str:
    return f"{verdicts:,} verdict{'s' * (verdicts != 1)}"


def _size(size: int) -> str:
    return ByteSize(size).human_readable(decimal=True, separator=" ")


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
