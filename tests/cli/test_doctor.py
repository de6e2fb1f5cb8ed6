from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localscore import doctor, lock
from localscore.doctor import Check, examine
from localscore.errors import TooLarge
from localscore.judges import Judge, machine
from localscore.judges.machine import Machine
from localscore.judges.scripted import ScriptedJudge
from tests.cli.test_cli import Shell, shell  # noqa: F401  (a fixture)
from tests.conftest import scripted

CPU = Machine(torch="2.13.0+cpu", cuda=None, driver=None, gpu=None, gpu_memory=0)


def found(judge: Judge | None = None, *, name: str = "./folder", of: Machine = CPU) -> dict[str, Check]:
    checks = examine(name if judge else None, load=lambda _: judge or scripted(), machine=lambda: of)
    return {check.name: check for check in checks}


def test_a_well_machine_is_told_line_by_line(
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "this_machine", lambda: CPU)
    code, out, _ = shell("doctor", "--judge", "./folder")
    assert code == 0
    for told in (
        "python: 3.",
        "lock: ",
        "offline: the guard refuses",
        "torch: 2.13.0+cpu, built for CPUs",
        "GB free",
    ):
        assert told in out
    assert "no GPU is used: this torch was built for CPUs alone" in out
    assert "relevance: a verdict in 0.0" in out
    assert "claims: a verdict in 0.0" in out
    assert "WRONG" not in out


def test_a_program_gets_one_object_and_status_1_where_something_is_wrong(
    shell: Shell,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "this_machine", lambda: CPU)
    shell.judge = scripted(claims="no JSON")
    code, out, _ = shell("doctor", "--judge", "./folder", "--json")
    told = json.loads(out)
    assert (code, told["ok"]) == (1, False)
    [wrong] = [check for check in told["checks"] if check["state"] == "wrong"]
    assert (wrong["name"], wrong["found"].split(":")[0]) == ("claims", "unparsable_output")
    assert wrong["todo"]


def test_without_a_judge_its_checks_are_left_out() -> None:
    checks = found()
    assert checks["judge"].state == "note"
    assert not checks.keys() & {"files", "relevance", "claims"}


def test_a_judge_that_is_not_here_is_wrong_and_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path))
    checks = list(examine("starter", load=lambda _: pytest.fail("it was loaded"), machine=lambda: CPU))
    assert (checks[-1].name, checks[-1].state) == ("files", "wrong")
    assert "models pull qwen2.5-coder-1.5b" in checks[-1].todo


def test_a_judge_that_does_not_fit_is_wrong_with_what_would() -> None:
    def load(_: str) -> Judge:
        raise TooLarge("It needs 8 GB.", hint="--judge smollm2-135m")

    [*_, last] = examine("./folder", load=load, machine=lambda: CPU)
    assert last == Check("judge", "wrong", "It needs 8 GB.", "--judge smollm2-135m")


def test_a_judge_that_breaks_is_wrong_and_both_questions_are_asked() -> None:
    class Broken(ScriptedJudge):
        def decide(self, inquiries: Any) -> Any:
            raise RuntimeError("CUDA error")

    checks = found(Broken(lambda _: {}))
    assert {checks[name].state for name in ("relevance", "claims")} == {"wrong"}
    assert "CUDA error" in checks["claims"].found


@pytest.mark.parametrize(
    ("of", "state", "told"),
    [
        (CPU, "ok", "built for CPUs alone"),
        (Machine("2.13.0", "12.8", None, None, 0), "ok", "no NVIDIA driver"),
        (Machine("2.13.0", "12.8", "535.1", None, 0), "wrong", "finds none with the driver 535.1"),
        (Machine("2.13.0", "12.8", "570.1", "H200", 10**11), "ok", "H200, 100.0 GB free, driver 570.1"),
    ],
)
def test_the_gpu_is_named_or_why_there_is_none(of: Machine, state: str, told: str) -> None:
    check = found(of=of)["gpu"]
    assert check.state == state
    assert told in check.found


def test_a_torch_that_cannot_be_imported_is_wrong() -> None:
    def broken() -> Machine:
        raise ImportError("libtorch.so")

    [*_, last] = examine("x", load=lambda _: scripted(), machine=broken)
    assert (last.name, last.state) == ("torch", "wrong")


@pytest.mark.parametrize(
    ("package", "name", "state"),
    [
        (lock.Package("rich", ">=14", "15.0.0", None), "rich", "wrong"),
        (lock.Package("rich", ">=14,<16", "15.0.0", "13.0.0"), "rich", "wrong"),
        (lock.Package("rich", ">=14", "15.0.0", "14.1.0"), "lock", "note"),
        (lock.Package("torch", ">=2.6", "2.13.0", "2.13.0+cpu"), "lock", "ok"),
    ],
)
def test_packages_are_held_against_what_is_needed_and_against_the_lock(
    package: lock.Package, name: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "packages", lambda: [package])
    check = found()[name]
    assert check.state == state
    assert state != "wrong" or "pip install 'rich==15.0.0'" in check.todo


def test_a_full_disk_and_an_open_process_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "free_disk", lambda _: 10)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    checks = found()
    assert {checks[name].state for name in ("disk", "offline")} == {"wrong"}


def test_every_package_that_is_needed_is_in_the_lock() -> None:
    needed = lock.packages()
    assert {"torch", "outlines", "pydantic"} <= {package.name for package in needed}
    assert [package.name for package in needed if package.locked is None and package.installed] == []
