from __future__ import annotations

import _socket
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from localscore import offline
from localscore.errors import DownloadFailed, NetworkRefused
from localscore.judges import store
from tests.judges.test_store import HUB, card

FAR, DARK = ("192.0.2.1", 9), "nowhere.invalid"


@pytest.fixture(autouse=True)
def guard() -> None:
    offline.enforce()


def udp() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "connect": lambda: socket.socket().connect(FAR),
    "connect_ex": lambda: socket.socket().connect_ex(FAR),
    "connect to a name": lambda: socket.socket().connect((DARK, 9)),
    "connect below the class": lambda: _socket.socket.connect(socket.socket(), FAR),
    "IPv6": lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 9)),
    "IPv4 in IPv6": lambda: socket.socket(socket.AF_INET6).connect(("::ffff:192.0.2.1", 9)),
    "sendto": lambda: udp().sendto(b"x", FAR),
    "sendto with flags": lambda: udp().sendto(b"x", 0, FAR),
    "sendto a name": lambda: udp().sendto(b"x", (DARK, 9)),
    "sendmsg": lambda: udp().sendmsg([b"x"], [], 0, FAR),
    "bind": lambda: udp().bind((DARK, 0)),
    "getaddrinfo": lambda: socket.getaddrinfo(DARK, 443),
    "gethostbyname": lambda: socket.gethostbyname(DARK),
    "gethostbyname_ex": lambda: socket.gethostbyname_ex(DARK),
    "gethostbyaddr": lambda: socket.gethostbyaddr("192.0.2.1"),
    "getnameinfo": lambda: socket.getnameinfo(FAR, 0),
    "create_connection": lambda: socket.create_connection(FAR),
    "urllib": lambda: urllib.request.urlopen(f"http://{DARK}/"),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_would_leave_this_machine_is_refused_and_names_who_asked(attempt: str) -> None:
    with pytest.raises(NetworkRefused, match=f"^{__name__} wanted to") as caught:
        ATTEMPTS[attempt]()
    assert any(far in caught.value.message for far in ("192.0.2.1", "2001:db8::1", DARK))
    assert "models pull" in caught.value.hint


def test_a_library_that_asks_is_named_and_not_what_carries_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub as hub
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # a library that does not heed its switch
    with pytest.raises(NetworkRefused, match=r"^huggingface_hub\S* wanted to look up huggingface\.co"):
        hub.get_hf_file_metadata(hub.hf_hub_url("org/fake", "config.json"))


def test_this_machine_can_be_talked_to() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as us,
    ):
        peer, _ = server.accept()
        us.sendall(b"here")
        assert peer.recv(4) == b"here"
        peer.close()
    one, other = socket.socketpair()
    one.sendmsg([b"x"])
    assert other.recv(1) == b"x"
    one.close()
    other.close()
    assert socket.getaddrinfo("localhost", 80)


def test_the_guard_opens_for_a_pull_alone_and_closes_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path))
    seen: list[Any] = []

    def from_hub(*_: object) -> None:
        seen.append((offline.enforced(), os.environ.get("HF_HUB_OFFLINE")))
        raise DownloadFailed("no network")

    monkeypatch.setattr(store, "_from_hub", from_hub)
    with pytest.raises(DownloadFailed):
        store.pull(card(hub=HUB))
    assert seen == [(False, None)]
    assert offline.enforced()
    with pytest.raises(NetworkRefused):
        socket.getaddrinfo(DARK, 1)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["models", "list"], ["score", "/nowhere", "--judge", "x"]]
)
def test_every_command_is_closed_off_before_anything_else(arguments: list[str]) -> None:
    code = f"""if True:
        import atexit, os, socket, sys
        from localscore import offline
        from localscore.cli import main
        @atexit.register
        def told():
            heavy = [name for name in ("torch", "transformers", "huggingface_hub") if name in sys.modules]
            print("closed", offline.enforced(), heavy)
        sys.argv = ["localscore", *{arguments!r}]
        main()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "closed True []"


def test_no_option_opens_the_network() -> None:
    help_ = subprocess.run(
        [sys.executable, "-m", "localscore", "score", "--help"], capture_output=True, text=True, check=True
    )
    assert "network" not in help_.stdout
