"""The whole command line where there is no network, and under a tracer that would see an attempt to reach one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from localscore.judges import store
from localscore.judges.cards import card_named
from tests.cli.test_agree import judgments
from tests.conftest import SMALL

ROOT = Path(__file__).parent.parent
NAMESPACE = ["unshare", "--map-root-user", "--net"]
TRACER = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,bind"]

COMMANDS = """
set -e
run() { "$PYTHON" -m tests.closed_off "$@"; }
run score examples/rag.jsonl --judge x --out "$DIR/run"
run score examples/rag.jsonl --judge x --json --metrics context_recall
run explain "$DIR/run" fully-relevant
run report "$DIR/run" --baseline "$DIR/run" --out "$DIR/report.html"
run export "$DIR/run" --format csv --out "$DIR/rag.csv"
run agree "$DIR/judgments" --judge x --out "$DIR/agree"
run metrics
run models list
run cache stats
run doctor --judge x --json
"$PYTHON" - <<PY
import localscore as ls
from tests.conftest import scripted
run = ls.score("examples/rag.jsonl", judge=scripted(), out="$DIR/api")
assert ls.load_run("$DIR/api").summary == run.summary
PY
"""


def problem(command: list[str]) -> str:
    """Says why a command cannot be used here; nothing where it can."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed"
    done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{command[0]} is not allowed here: {done.stderr.strip()}"


def needs(*commands: list[str]) -> None:
    """Skips a test where one of the commands, or the kernel, does not allow it."""
    for command in commands:
        if told := problem(command):
            pytest.skip(told)


def done_in(prefix: list[str], script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in the source tree, behind a prefix, with an empty home."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "DIR": str(folder),
        "HOME": str(folder / "nobody"),
        "LOCALSCORE_HOME": str(folder / "home"),
    }
    return subprocess.run(
        [*prefix, "sh", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every command has been run, once, cut off and traced as far as this machine allows it."""
    folder = tmp_path_factory.mktemp("everything")
    judgments(folder / "judgments")
    namespace = [] if problem(NAMESPACE) else NAMESPACE
    tracer = [] if problem(TRACER) else [*TRACER, "-o", str(folder / "trace")]
    alone = "test $(grep -c : /proc/net/dev) = 1 || exit 9\n" if namespace else ""
    done = done_in([*namespace, *tracer], alone + COMMANDS, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_everything_works_where_there_is_no_network(everything: Path) -> None:
    needs(NAMESPACE)
    for name in ("run/results.jsonl", "report.html", "rag.csv", "agree/agreement.html", "api/summary.json"):
        assert (everything / name).stat().st_size > 0


def test_no_connection_is_attempted(everything: Path) -> None:
    needs(TRACER)
    assert attempts(everything / "trace") == []


def test_the_tracer_would_have_seen_an_attempt(tmp_path: Path) -> None:
    needs(TRACER)
    trace = tmp_path / "trace"
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    done_in([*TRACER, "-o", str(trace)], f'"$PYTHON" -c "{code}"', tmp_path)
    assert len(attempts(trace)) == 1


@pytest.mark.judge
def test_a_real_judge_judges_where_there_is_no_network_and_attempts_nothing(tmp_path: Path) -> None:
    needs(NAMESPACE, TRACER)
    if not store.installed(card_named(SMALL)):
        pytest.skip(f"the judge {SMALL} is not here; run: localscore models pull {SMALL}")
    script = (
        f'export LOCALSCORE_HOME="{store.home()}"\n'
        f'"$PYTHON" -m localscore score examples/rag.jsonl --judge {SMALL} --device cpu --limit 1 --no-cache '
        '--verify full --out "$DIR/run"'
    )
    done = done_in([*NAMESPACE, *TRACER, "-o", str(tmp_path / "trace")], script, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "run" / "summary.json").is_file()
    assert attempts(tmp_path / "trace") == []


def attempts(trace: Path) -> list[str]:
    """The traced calls that have an address of a network, the loopback included."""
    return [line for line in trace.read_text().splitlines() if re.search(r"AF_(INET6?|PACKET|VSOCK)", line)]
