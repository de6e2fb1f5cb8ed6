"""Kinds of files that are not read, told by their beginning, and what to do with them."""

from __future__ import annotations

from typing import NamedTuple


class Refused(NamedTuple):
    """A kind of file that is not read."""

    what: str
    remedy: str
    """With FILE for its name."""
    beginnings: tuple[bytes, ...]


REFUSED = (
    Refused("bzip2", "Unpack it: bzip2 -dc FILE | localscore score - …", (b"BZh",)),
    Refused("xz", "Unpack it: xz -dc FILE | localscore score - …", (b"\xfd7zXZ\x00",)),
    Refused("a ZIP archive or a spreadsheet", "Unpack it, or export its rows as CSV.", (b"PK\x03\x04",)),
    Refused("SQLite", "Export its rows as CSV or as one JSON object a line.", (b"SQLite format 3\x00",)),
    Refused(
        "UTF-16",
        "Convert it: iconv -f UTF-16 -t UTF-8 FILE | localscore score - …",
        (b"\xff\xfe", b"\xfe\xff", b"{\x00", b"\x00{", b"[\x00", b"\x00["),  # some have no mark
    ),
)


def refused(beginning: bytes) -> Refused | None:
    r"""Return what a file is that is not read, where its beginning tells.

    >>> refused(b"BZh91AY").what, refused(b'{"query": "Who?"}')
    ('bzip2', None)
    """
    return next((kind for kind in REFUSED if beginning.startswith(kind.beginnings)), None)
