"""The exact versions that localscore is tested with, and how those that are installed differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Package:
    """A package that localscore needs, directly or through another."""

    name: str
    wanted: str
    """What the packages that need it ask for; empty where any version will do."""
    locked: str | None
    """The version of the lock."""
    installed: str | None

    @property
    def right(self) -> bool:
        """Whether it is there, in a version that those who need it can use."""
        if self.installed is None:
            return False
        return Requirement(f"{self.name}{self.wanted}").specifier.contains(self.installed, prereleases=True)

    @property
    def as_locked(self) -> bool:
        """Whether it is the version that localscore is tested with; a build tag such as `+cpu` makes no difference."""
        return self.locked is None or (self.installed or "").partition("+")[0] == self.locked


def lock_file() -> Path:
    """Return where the lock is: inside an installed package, or beside it in a source tree."""
    package = Path(str(files("localscore")))
    in_source_tree = (package.parent / "pyproject.toml").exists()
    return (package.parent if in_source_tree else package) / "constraints.txt"


def locked() -> dict[str, str]:
    """Return the version of every package in the lock, by its canonical name.

    >>> sorted(locked())[:2]
    ['accelerate', 'annotated-doc']
    """
    found = {}
    for line in lock_file().read_text(encoding="utf-8").splitlines():
        name, equals, its_version = line.partition("#")[0].strip().partition("==")
        if equals:
            found[str(canonicalize_name(name))] = its_version
    return found


def packages(root: str = "localscore", versions: Mapping[str, str] | None = None) -> list[Package]:
    """Return the packages that a distribution needs to run, with all that they need, in alphabetical order."""
    versions = locked() if versions is None else versions
    asked: dict[str, list[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(root, frozenset())]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for requirement in map(Requirement, _requires(name)):
            marker = requirement.marker
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
                continue
            needed = str(canonicalize_name(requirement.name))
            asked.setdefault(needed, []).append(str(requirement.specifier))
            waiting.append((needed, frozenset(requirement.extras)))
    return [
        Package(name, ",".join(filter(None, wanted)), versions.get(name), _version(name))
        for name, wanted in sorted(asked.items())
        if name != root
    ]


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
