"""The command line with a scripted judge, for processes of their own: python -m tests.closed_off score …"""

from __future__ import annotations

from typing import Any

from localscore import api
from localscore.cli import main
from localscore.judges.scripted import ScriptedJudge
from tests.conftest import scripted


def load(name: str, **_: Any) -> ScriptedJudge:
    """Stands in for `load_judge`."""
    return scripted()


if __name__ == "__main__":
    setattr(api, "load_judge", load)  # noqa: B010  (as a test's monkeypatch does)
    main()
