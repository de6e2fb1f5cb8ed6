"""A bundle of small wheels and a made-up judge: made twice, installed without a network, and damaged in every way."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from localscore import bundle
from localscore.bundle import Target, wheels
from localscore.bundle.packing import SUMS
from localscore.errors import DownloadFailed, JudgeDamaged, OptionError
from localscore.judges import store
from localscore.judges.cards import Card
from tests.judges.test_store import WHOLE, card, file_of
from tests.test_air_gap import NAMESPACE, needs

pytest.importorskip("cyclonedx")

OWN = version("localscore")
SCRIPT = "import sys, tiny\ndef main():\n    print(tiny.NAME, *sys.argv[1:])\n"


def wheel(folder: Path, name: str, its_version: str, files: dict[str, str], metadata: str = "") -> Path:
    """Writes a wheel, the same bytes each time."""
    path = folder / f"{name}-{its_version}-py3-none-any.whl"
    info = f"{name}-{its_version}.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {its_version}\n{metadata}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for at, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        record += f"{at},sha256={digest},{len(content)}\n"
    with zipfile.ZipFile(path, "w") as archive:
        for at, content in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            archive.writestr(zipfile.ZipInfo(at), content)
    return path


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    entry = {
        f"localscore-{OWN}.dist-info/entry_points.txt": "[console_scripts]\nlocalscore = localscore:main\n"
    }
    needed = "License-Expression: Apache-2.0\nRequires-Dist: tiny>=1\n"
    wheel(folder, "localscore", OWN, {"localscore/__init__.py": SCRIPT} | entry, needed)
    licence = {"tiny-1.5.dist-info/licenses/LICENSE": "Do as you like.\n"}
    wheel(folder, "tiny", "1.5", {"tiny.py": "NAME = 'tiny'\n"} | licence, "License-Expression: MIT\n")
    wheel(folder, "unneeded", "1.0", {"unneeded.py": ""})
    return folder


@pytest.fixture(scope="module")
def judge() -> Card:
    return card(file_of(WHOLE), file_of(b'{"a": 1}', "b.json"))


@pytest.fixture(scope="module")
def made(
    mirror: Path, judge: Card, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bundle.Bundled, list[str]]:
    """A bundle, and what was told while it was made."""
    folder, told = tmp_path_factory.mktemp("made"), list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALSCORE_HOME", str(folder / "home"))
        put(folder / "home")
        return bundle.make(judge, folder / "b.tar", target=Target(), mirror=mirror, tell=told.append), told


def put(home: Path) -> None:
    (home / "judges" / "fake").mkdir(parents=True)
    (home / "judges" / "fake" / "fake.gguf").write_bytes(WHOLE)
    (home / "judges" / "fake" / "b.json").write_bytes(b'{"a": 1}')


@pytest.fixture
def unpacked(made: tuple[bundle.Bundled, list[str]], tmp_path: Path) -> Path:
    with tarfile.open(made[0].path) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    return tmp_path / "unpacked" / f"localscore-{OWN}-fake"


def sh(
    folder: Path, *arguments: str, prefix: tuple[str, ...] = (), home: Path | None = None
) -> tuple[int, str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home or folder / "nobody"), "PYTHON": sys.executable}
    done = subprocess.run(
        [*prefix, "sh", "install.sh", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_what_is_needed_is_inside_and_nothing_else(unpacked: Path) -> None:
    names = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert names == {
        SUMS,
        "install.sh",
        "constraints.txt",
        "sbom.cdx.json",
        "cards/fake.json",
        "judges/fake/b.json",
        "judges/fake/fake.gguf",
        "licences/fake/LICENCE",
        "licences/localscore/LICENCE",
        "licences/tiny/licenses-LICENSE",
        f"wheels/localscore-{OWN}-py3-none-any.whl",
        "wheels/tiny-1.5-py3-none-any.whl",
    }
    assert (unpacked / "licences/tiny/licenses-LICENSE").read_text() == "Do as you like.\n"
    assert "Apache-2.0" in (unpacked / "licences/localscore/LICENCE").read_text()


def test_the_bill_of_materials_names_every_part_with_its_sha256(unpacked: Path) -> None:
    bom = json.loads((unpacked / "sbom.cdx.json").read_text())
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["name"]: part for part in bom["components"]}
    assert parts.keys() == {"localscore", "tiny", "fake/fake.gguf", "fake/b.json"}
    assert parts["tiny"]["purl"] == "pkg:pypi/tiny@1.5"
    assert parts["tiny"]["licenses"] == [{"license": {"name": "MIT"}}]
    found = hashlib.sha256((unpacked / "wheels/tiny-1.5-py3-none-any.whl").read_bytes()).hexdigest()
    assert parts["tiny"]["hashes"] == [{"alg": "SHA-256", "content": found}]
    assert parts["fake/fake.gguf"]["type"] == "machine-learning-model"


def test_size_and_content_are_told_before_it_is_written(made: tuple[bundle.Bundled, list[str]]) -> None:
    told = made[1]
    assert told[0].startswith("fake (0.0 GB) and ")
    assert any("wheels/tiny-1.5" in line for line in told)
    assert "bytes in all, in 12 files" in told[-1]


def test_the_same_content_gives_the_same_bytes_and_an_interrupted_one_goes_on(
    made: tuple[bundle.Bundled, list[str]],
    mirror: Path,
    judge: Card,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    put(tmp_path / "home")
    os.utime(tmp_path / "home/judges/fake/b.json", (1, 1))
    asked: list[str] = []
    pip = wheels._pip

    def failing(arguments: list[str]) -> None:
        pip(arguments)
        asked.append(arguments[0])
        if len(asked) == 1:
            raise DownloadFailed("the connection broke")

    monkeypatch.setattr(wheels, "_pip", failing)

    def make() -> bundle.Bundled:
        return bundle.make(judge, tmp_path / "b.tar", mirror=mirror, tell=print)

    with pytest.raises(DownloadFailed):
        make()
    assert not (tmp_path / "b.tar").exists()
    [tiny] = tmp_path.rglob("tiny-1.5-*.whl")
    before = tiny.stat().st_mtime_ns
    assert make().sha256 == made[0].sha256
    assert tiny.stat().st_mtime_ns == before
    assert (tmp_path / "b.tar").read_bytes() == made[0].path.read_bytes()


def test_a_bundle_is_installed_without_a_network_into_an_empty_home(unpacked: Path, tmp_path: Path) -> None:
    needs(NAMESPACE)
    home = tmp_path / "new home"
    code, told = sh(unpacked, prefix=tuple(NAMESPACE), home=home)
    assert code == 0, told
    assert "tiny models verify fake" in told
    installed = str(home / "localscore/bin/localscore")
    done = subprocess.run(
        [*NAMESPACE, installed, "score", "rag.jsonl"],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "tiny score rag.jsonl\n"
    assert (home / ".local/share/localscore/judges/fake/fake.gguf").read_bytes() == WHOLE


def test_a_flipped_byte_in_any_file_is_refused_by_its_name(unpacked: Path) -> None:
    assert sh(unpacked, "--check")[0] == 0
    paths = sorted(path for path in unpacked.rglob("*") if path.is_file())
    for number in range(200):
        path = paths[number % len(paths)]
        content = path.read_bytes()
        place = number * 7919 % len(content)
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << number % 8]) + content[place + 1 :])
        if path.name == "install.sh":  # a script that was changed cannot be trusted to check itself
            done = subprocess.run(
                ["sha256sum", "--check", "--quiet", SUMS],
                cwd=unpacked,
                capture_output=True,
                text=True,
                check=False,
            )
            code, told = done.returncode, done.stdout + done.stderr
        else:
            code, told = sh(unpacked, "--check")
        assert (code, str(path.relative_to(unpacked)) in told) == (1, True), (path, place, told)
        path.write_bytes(content)


@pytest.mark.parametrize("name", ["judges/fake/extra.py", "wheels/localscore-99-py3-none-any.whl"])
def test_a_file_that_was_added_or_is_gone_is_refused_by_its_name(name: str, unpacked: Path) -> None:
    (unpacked / name).write_text("x")
    code, told = sh(unpacked)
    assert (code, name in told, "REFUSED" in told) == (1, True, True)
    (unpacked / name).unlink()
    (unpacked / "judges/fake/b.json").unlink()
    code, told = sh(unpacked)
    assert (code, "judges/fake/b.json" in told, "REFUSED" in told) == (1, True, True)


def test_a_judge_that_is_damaged_is_not_packed(
    mirror: Path, judge: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    put(tmp_path / "home")
    (store.home() / "judges/fake/b.json").write_bytes(b'{"a": 2}')
    with pytest.raises(JudgeDamaged, match=r"b\.json"):
        bundle.make(judge, tmp_path / "b.tar", mirror=mirror, tell=print)
    assert not (tmp_path / "b.tar").exists()


def test_a_mirror_without_localscore_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    with pytest.raises(OptionError, match=r"There is no localscore-.* in .*mirror"):
        wheels.fetch(Target(), tmp_path / "parts", mirror=tmp_path / "mirror")


def test_a_package_that_is_not_there_is_named(judge: Card, mirror: Path, tmp_path: Path) -> None:
    only = tmp_path / "mirror"
    only.mkdir()
    own = next(mirror.glob("localscore-*"))
    (only / own.name).write_bytes(own.read_bytes())
    with pytest.raises(DownloadFailed, match="tiny"):
        wheels.fetch(Target(), tmp_path / "parts", mirror=only)


@pytest.mark.parametrize(
    "options", [{"platform": "win_amd64"}, {"platform": "linux"}, {"python": "3"}, {"python": "x"}]
)
def test_a_machine_that_pip_has_no_word_for_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(OptionError, match="expected"):
        Target(**options)  # type: ignore[arg-type]
