"""Verdicts that were given already, so that none is paid for twice.

    caching.py  a judge that asks another one only for what is not kept yet
    store.py    the file: SQLite, with a check of every row

A verdict is kept as soon as it is given, under a hash of all that was sent and of the judge. Texts under judgment are
not kept, but verdicts of open questions (claims, missing items) are made of them.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from localscore.cache.caching import CachedJudge, VerdictCache, cached

__all__ = ["CachedJudge", "VerdictCache", "cache_path", "cached"]


def cache_path() -> Path:
    """Return where verdicts are kept where nobody says otherwise.

    `LOCALSCORE_CACHE`, or else `verdicts.sqlite` in `LOCALSCORE_HOME` or the user's cache folder.
    """
    if told := os.environ.get("LOCALSCORE_CACHE"):
        return Path(told).expanduser()
    home = os.environ.get("LOCALSCORE_HOME")
    return (Path(home) if home else user_cache_path("localscore")) / "verdicts.sqlite"
