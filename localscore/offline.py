"""No packet leaves: the switches that tell libraries so, and a guard for those that do not listen.

`enforce` is called by the command line before anything else and by `load_judge`; it lasts as long as the process.
`models pull` and `bundle` alone open it again, for as long as they take, with `connected`.

The guard is an audit hook, which Python code cannot take off: connecting, sending to an address and looking a name
up raise `NetworkRefused` unless they stay on this machine. It sees what Python does; what a library does below
Python, and other processes, it cannot see: see docs/air-gap.md for how those are watched.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

from localscore.errors import NetworkRefused

SWITCHES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DISABLE_SAFETENSORS_CONVERSION": "1",
    "DO_NOT_TRACK": "1",
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
"""Environment variables with which the libraries are told, before they are imported, that there is no network."""

_ADDRESS_OF: dict[str, int] = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.bind": 1}
"""Audit events of a socket, and which of their arguments is the address; see Python's table of audit events."""
_HOST_OF: dict[str, int] = {
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.getnameinfo": 0,
}
_RESOLVED_FIRST = {
    "connect": "socket.connect",
    "connect_ex": "socket.connect",
    "sendto": "socket.sendto",
    "bind": "socket.bind",
}
"""Methods that look a host's name up before they raise their audit event; the event is raised for them before."""
_CARRIERS = {
    "socket", "ssl", "http", "urllib", "asyncio", "selectors", "concurrent", "threading",
    "urllib3", "requests", "httpx", "httpx2", "httpcore", "httpcore2", "anyio",
}  # fmt: skip
"""What carries other modules' connections, and is not who asked."""


class _State:
    hooked = False
    closed = False
    before: dict[str, str | None]
    """What the switches were before."""


def enforce() -> None:
    """Set the switches and close this process off from every network; doing so again changes nothing.

    >>> enforce()
    >>> socket.create_connection(("192.0.2.1", 443))
    Traceback (most recent call last):
    localscore.errors.NetworkRefused: localscore.offline wanted to look up 192.0.2.1.
    localscore works without a network; only `models pull` and `bundle` may open a connection.
    """
    if not _State.closed:
        _State.before = {name: os.environ.get(name) for name in SWITCHES}
        _State.closed = True
    os.environ.update(SWITCHES)
    if not _State.hooked:
        _State.hooked = True
        sys.addaudithook(_hook)
        for name, event in _RESOLVED_FIRST.items():
            setattr(socket.socket, name, _audited_first(getattr(socket.socket, name), event))


def enforced() -> bool:
    """Return whether the guard is up and every switch is set."""
    return _State.closed and all(os.environ.get(name) == value for name, value in SWITCHES.items())


@contextmanager
def connected() -> Iterator[None]:
    """Open the process for as long as something is brought here that the user asked for."""
    closed = _State.closed
    if closed:
        _State.closed = False
        for name, value in _State.before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    try:
        yield
    finally:
        if closed:
            enforce()


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or not _State.closed:
        return
    if event in _ADDRESS_OF:
        asked, address = arguments[0], arguments[_ADDRESS_OF[event]]
        if not _stays_here(asked.family, address):
            wanted = "listen on" if event == "socket.bind" else "connect to"
            raise _refusal(f"{wanted} {_told(address)}")
    elif event in _HOST_OF:
        host = arguments[_HOST_OF[event]]
        host = host[0] if isinstance(host, tuple) else host
        if not _is_here(host):
            raise _refusal(f"look up {_text(host)}")


def _audited_first(method: Callable[..., Any], event: str) -> Callable[..., Any]:
    @wraps(method)
    def audited(self: socket.socket, *arguments: Any) -> Any:
        if arguments:
            sys.audit(event, self, arguments[-1])
        return method(self, *arguments)

    return audited


def _stays_here(family: int, address: Any) -> bool:
    if address is None:  # sent on a socket that is connected already
        return True
    if family in (socket.AF_INET, socket.AF_INET6):
        return isinstance(address, tuple) and bool(address) and _is_here(address[0])
    return family in (socket.AF_UNIX, getattr(socket, "AF_NETLINK", None))


def _is_here(host: Any) -> bool:
    """Return whether a host is this machine, without asking anybody.

    >>> [_is_here(host) for host in (None, "", "localhost", "127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0")]
    [True, True, True, True, True, True, True]
    >>> [_is_here(host) for host in ("example.org", "localhost.org", "10.0.0.1", "::ffff:10.0.0.1")]
    [False, False, False, False]
    """
    name = _text(host)
    if name in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified


def _text(host: Any) -> str:
    if host is None:
        return ""
    return host.decode("utf-8", "replace") if isinstance(host, bytes | bytearray) else str(host)


def _told(address: Any) -> str:
    if isinstance(address, tuple) and len(address) >= 2 and isinstance(address[0], str | bytes):
        return f"{_text(address[0])}, port {address[1]}"
    return repr(address)


def _refusal(what: str) -> NetworkRefused:
    return NetworkRefused(
        f"{_asker()} wanted to {what}.",
        hint="localscore works without a network; only `models pull` and `bundle` may open a connection.",
    )


def _asker() -> str:
    """Return the module that asked: the nearest frame that is not this module or a carrier of connections."""
    own = nearest = __name__
    here = sys._getframe()
    frame: FrameType | None = here
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "?"))
        if frame.f_code.co_filename != here.f_code.co_filename:
            nearest = name if nearest == own else nearest
            if name.partition(".")[0] not in _CARRIERS:
                return name
        frame = frame.f_back
    return nearest
