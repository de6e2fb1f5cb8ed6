"""The command line: read options, make one call, print. Data goes to stdout, talk to stderr.

    app.py      the commands' common ground: errors, exit status, consoles
    options.py  which judge, and how it computes
    score.py    score, metrics
    rescore.py  rescore
    compare.py  compare
    gate.py     gate
    agree.py    agree
    calibrate.py  calibrate
    explain.py  explain
    report.py   report, export
    cache.py    cache stats, prune, clear
    bundle.py   bundle
    doctor.py   doctor
    models.py   models list, pull, path, verify

Each module adds its commands to the one `app`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from localscore.cli.app import run

    run()
