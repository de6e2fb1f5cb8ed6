"""The packages of a bundle, brought by pip for another machine; nothing of theirs is run."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from localscore import lock
from localscore.errors import DownloadFailed, OptionError
from localscore.offline import connected

Torch = Literal["cpu", "cuda"]

_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|authors)[^/]*$")


def _glibc_minor() -> str:
    """Return the minor version of this machine's C library, or a common one where it has another kind."""
    kind, its_version = platform.libc_ver()
    return its_version.split(".")[1] if kind == "glibc" else "28"


@dataclass(frozen=True)
class Target:
    """The machine that a bundle is for.

    Raises:
        OptionError: a platform or a version that pip has no word for.
    """

    platform: str = f"manylinux_2_{_glibc_minor()}_{platform.machine()}"
    """The newest that it runs: its C library's version and its processor."""
    python: str = f"{sys.version_info.major}.{sys.version_info.minor}"
    torch: Torch = "cpu"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"manylinux_2_\d+_\w+", self.platform):
            raise OptionError(
                f"platform is {self.platform!r}; expected manylinux_2_GLIBC_PROCESSOR.",
                hint="manylinux_2_28_x86_64 is for glibc 2.28 or newer; `ldd --version` tells which there is.",
            )
        if not re.fullmatch(r"3\.\d+", self.python):
            raise OptionError(f"python is {self.python!r}; expected a version such as 3.11.")

    @property
    def platforms(self) -> list[str]:
        """Return every tag that the platform can run, newest first.

        >>> Target("manylinux_2_17_x86_64").platforms[:2], len(Target("manylinux_2_17_x86_64").platforms)
        (['manylinux_2_17_x86_64', 'manylinux2014_x86_64'], 16)
        """
        _, _, minor, processor = self.platform.split("_", 3)
        old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
        tags = []
        for number in range(int(minor), 4, -1):
            tags.append(f"manylinux_2_{number}_{processor}")
            if number in old:
                tags.append(f"{old[number]}_{processor}")
        return tags

    @property
    def options(self) -> list[str]:
        """Return what pip is told of it."""
        told = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", self.python]
        return [*told, *(part for tag in (*self.platforms, "any") for part in ("--platform", tag))]

    @property
    def name(self) -> str:
        """Return it as a part of a file's name."""
        return f"{self.platform}-py{self.python}-{self.torch}"


@dataclass(frozen=True)
class Wheel:
    """A package, as far as its file tells."""

    path: Path
    name: str
    version: str
    licence: str

    @classmethod
    def of(cls, path: Path) -> Wheel:
        """Read a wheel's metadata.

        Raises:
            DownloadFailed: the file is no wheel; half a download, say.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                [name] = [n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
                told = Parser().parsestr(archive.read(name).decode("utf-8", "replace"), headersonly=True)
        except (zipfile.BadZipFile, ValueError) as error:
            raise DownloadFailed(
                f"{path} is not a whole wheel: {error}", hint="Remove it and run again."
            ) from None
        return cls(path, str(told["Name"]), str(told["Version"]), _licence(told))

    def licences(self) -> dict[str, bytes]:
        """Return the texts of its licences, by file name."""
        with zipfile.ZipFile(self.path) as archive:
            names = [n for n in archive.namelist() if ".dist-info/" in n and _LICENCE.search(n)]
            return {name.partition("/")[2].replace("/", "-"): archive.read(name) for name in sorted(names)}


def _licence(told: Message) -> str:
    classes = [
        line.rpartition(" :: ")[2]
        for line in map(str, told.get_all("Classifier") or ())
        if line.startswith("License ::")
    ]
    said = (
        told["License-Expression"] or "; ".join(classes) or (told["License"] or "").strip().partition("\n")[0]
    )
    return str(said)[:200] or "not said"


def fetch(target: Target, folder: Path, *, mirror: Path | None = None) -> list[Wheel]:
    """Bring localscore and all that it needs into a folder; wheels that are there are not downloaded again.

    Args:
        target: the machine that they are for.
        folder: where they come.
        mirror: a folder of wheels to take all of them from, localscore's own too; pip's index where not given.

    Raises:
        DownloadFailed: pip could not bring one, or the lock's version is not there for that machine.
        OptionError: localscore runs from no source tree, so that its own wheel cannot be built, and no mirror has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with connected():
        own = _own_wheel(folder, mirror)
        common = ["download", "--dest", str(folder), "--constraint", str(lock.lock_file()), *target.options]
        if mirror is not None:
            source = ["--no-index", "--find-links", str(mirror)]
        else:
            source = ["--find-links", str(folder)]
            torch = f"torch=={lock.locked()['torch']}{'+cpu' if target.torch == 'cpu' else ''}"
            if not list(folder.glob(f"{torch.replace('==', '-')}-*.whl")):
                # Its builds for CPUs are in an index of their own, which is asked for nothing else.
                index = ["--index-url", _CPU_INDEX] if target.torch == "cpu" else []
                _pip([*common, "--no-deps", *index, torch])
            source.append(torch)
        _pip([*common, *source, str(own)])
    return sorted((Wheel.of(path) for path in folder.glob("*.whl")), key=lambda wheel: wheel.path.name)


def _own_wheel(folder: Path, mirror: Path | None) -> Path:
    """Return localscore's own wheel: of the mirror, or built anew, since its source may have changed."""
    pattern = f"localscore-{version('localscore')}-*.whl"
    if mirror is not None and (there := list(mirror.glob(pattern))):
        return there[0]
    tree = lock.lock_file().parent
    if mirror is not None or not (tree / "pyproject.toml").is_file():
        raise OptionError(
            f"There is no {pattern} in {mirror}." if mirror is not None
            else "localscore's own wheel cannot be built here: it runs from no source tree.",
            hint="Run this in a clone of its repository, or give a folder with its wheel to --wheels.",
        )  # fmt: skip
    _pip(["wheel", "--no-deps", "--wheel-dir", str(folder), str(tree)])
    return next(folder.glob(pattern))


def _pip(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-color", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DownloadFailed(
            f"pip could not bring the packages: {_reason(done.stdout, done.stderr)}",
            hint="What came is kept; the same command goes on. A package may ask for a newer --platform (its glibc) or "
            "another --python-version.",
        )


def _reason(out: str, err: str) -> str:
    r"""Return what pip says of its failure, with the packages that do not go together where it names them.

    >>> _reason("…\nThe conflict is caused by:\n    a 1 depends on b>=2\n\nTo fix …", "WARNING: x\nERROR: No.")
    'a 1 depends on b>=2 ERROR: No.'
    """
    _, _, conflict = out.partition("The conflict is caused by:\n")
    causes = [line.strip() for line in conflict.partition("\n\n")[0].splitlines()]
    errors = [line for line in err.splitlines() if line.startswith("ERROR:")]
    return " ".join([*causes, *errors]) or "it failed without a reason."
