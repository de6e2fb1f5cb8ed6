"""Wheels, a judge and a script → one tar file."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from localscore import lock
from localscore.bundle.sbom import sbom
from localscore.bundle.wheels import Target, Wheel, fetch
from localscore.errors import OptionError
from localscore.judges import store
from localscore.judges.cards import Card
from localscore.judges.memory import check_disk, told

Content = Path | bytes
SUMS = "SHA256SUMS"
_LAST = "# sha256 of the lines above: "


@dataclass(frozen=True)
class Bundled:
    """A bundle that was made."""

    path: Path
    sha256: str
    bytes: int
    packages: int


def make(
    card: Card,
    out: Path,
    *,
    target: Target | None = None,
    mirror: Path | None = None,
    tell: Callable[[str], None],
) -> Bundled:
    """Make a bundle with a judge; what was brought already, by this or an earlier try, is not brought again.

    Args:
        card: the judge.
        out: the tar file; `OUT.parts` beside it holds what was downloaded until it is complete.
        target: the machine that it is for; one like this where not given.
        mirror: a folder of wheels to take the packages from, instead of pip's index.
        tell: gets a line on each step, what will be inside first.

    Raises:
        DownloadFailed: a package or the judge could not be had.
        JudgeDamaged: the judge's files are not what its card says.
        OptionError: `out` is no tar file, or the library for the bill of materials is missing.
        TooLarge: the disk has no room for it.
    """
    target = target or Target()
    if out.suffix != ".tar":
        raise OptionError(f"--out {out}: expected a name that ends in .tar.")
    tell(f"{card.name} ({told(card.bytes)}) and {len(lock.packages())} packages or more, for {target.name}:")
    parts = out.with_name(f"{out.name}.parts") / f"{target.name}-{_sha256(lock.lock_file())[:8]}"
    folder = store.pull(card, tell=tell)
    wheels = fetch(target, parts, mirror=mirror)
    content = _content(card, folder, wheels)
    size = sum(len(part) if isinstance(part, bytes) else part.stat().st_size for part in content.values())
    check_disk(out.parent.absolute(), size, f"{out.name}")
    for name, part in sorted(content.items()):
        if isinstance(part, Path):
            tell(f"  {part.stat().st_size:>15,}  {name}")
    tell(f"  {size:>15,}  bytes in all, in {len(content)} files")
    root = f"localscore-{version('localscore')}-{card.name}"
    partial = out.with_name(f".{out.name}.partial")
    _write_tar(partial, root, content)
    partial.replace(out)
    return Bundled(out, _sha256(out), out.stat().st_size, len(wheels))


def _content(card: Card, folder: Path, wheels: list[Wheel]) -> dict[str, Content]:
    """Return everything in a bundle, by its path there."""
    content: dict[str, Content] = {f"wheels/{wheel.path.name}": wheel.path for wheel in wheels}
    content |= {f"judges/{card.name}/{file.path}": folder / file.path for file in card.files}
    content["constraints.txt"] = lock.lock_file()
    content["install.sh"] = files("localscore.bundle").joinpath("install.sh").read_bytes()
    content[f"cards/{card.name}.json"] = (card.model_dump_json(indent=1) + "\n").encode()
    for wheel in wheels:
        texts = wheel.licences() or {"LICENCE": f"{wheel.name} {wheel.version}: {wheel.licence}\n".encode()}
        content |= {f"licences/{wheel.name}/{name}": text for name, text in texts.items()}
    sources = [card.hub and card.hub.repository, card.index and card.index.package, "a folder"]
    source = next(filter(None, sources))
    content[f"licences/{card.name}/LICENCE"] = f"{card.title}, from {source}: {card.licence}\n".encode()
    sums = {name: _sha256(part) for name, part in content.items()}
    by_file = {wheel.path.name: sums[f"wheels/{wheel.path.name}"] for wheel in wheels}
    by_file |= {file.path: sums[f"judges/{card.name}/{file.path}"] for file in card.files}
    content["sbom.cdx.json"] = sbom(wheels, card, by_file)
    sums["sbom.cdx.json"] = _sha256(content["sbom.cdx.json"])
    content[SUMS] = _sums(sums)
    return content


def _sums(sums: Mapping[str, str]) -> bytes:
    """Return the lines that `sha256sum -c` reads, and a last one with which the file can be checked itself."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(sums.items())).encode()
    return lines + f"{_LAST}{_sha256(lines)}\n".encode()


def _sha256(content: Content) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_tar(path: Path, root: str, content: Mapping[str, Content]) -> None:
    """Write a tar whose bytes depend on names and contents alone."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, part in sorted(content.items()):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.mode = 0o755 if name.endswith(".sh") else 0o644
            if isinstance(part, bytes):
                entry.size = len(part)
                tar.addfile(entry, io.BytesIO(part))
            else:
                entry.size = part.stat().st_size
                with part.open("rb") as file:
                    tar.addfile(entry, file)
