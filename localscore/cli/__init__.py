"""The command line: read options, make one call, print. Data goes to stdout, talk to stderr.

    app.py         the commands' common ground: errors, exit status, consoles
    options.py     the options that several commands share
    settings.py    what the environment and the project's file set of them
    completing.py  what a shell offers after them
    score.py       score, metrics
    watch.py       watch
    config.py      init, config
    rescore.py     rescore
    compare.py     compare
    gate.py        gate
    agree.py       agree
    calibrate.py   calibrate
    explain.py     explain
    report.py      report, export
    cache.py       cache stats, prune, clear
    bundle.py      bundle
    doctor.py      doctor
    models.py      models list, pull, path, verify

Each module adds its commands to the one `app`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from localscore.cli.app import run

    run()
