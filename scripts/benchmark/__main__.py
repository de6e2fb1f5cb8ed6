"""Runs the benchmark: `scripts/bench --help`."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from benchmark import backends, report, rows, studies
from benchmark.contestants import FLOAT32, NAMES, OF_LLAMA, contestants
from benchmark.limit import Limit
from benchmark.race import race
from benchmark.tasks import TASKS
from localscore.judges.loading import load_model

_RACES = {task.name: task for task in TASKS}
_STUDIES = ("growth", "memory", "arithmetic", "agreement", "backends", "rows")


def main() -> None:
    """Measure, and write what was found after each task."""
    options = _options()
    wanted = (*_RACES, *_STUDIES) if "all" in options.task else options.task
    tables: list[report.Table] = []
    races = [_RACES[name] for name in wanted if name in _RACES]
    if races:
        everyone = contestants(options.judge, _names(options.contestants))
        for task in races:
            bound = Limit(load_model(options.judge, device="cpu"))
            found = race(
                task, task.samples(options.samples, options.contexts), everyone, bound, options.rounds
            )
            tables.append(report.race_table(found, bound))
            report.write(options.out, options.judge, tables)
        del everyone
    for name in (name for name in wanted if name in _STUDIES):
        if name == "growth":
            tables.append(studies.growth(options.judge, options.rounds))
        elif name == "memory":
            tables.append(studies.memory())
        elif name == "rows":
            tables.append(rows.rows(options.rows))
        elif name == "arithmetic":
            tables.append(studies.arithmetic(options.judge, options.samples))
        elif name == "backends":
            tables.append(
                backends.backends(
                    options.judge,
                    _names(options.contestants),
                    options.data,
                    options.samples,
                    options.calibration,
                )
            )
        else:
            tables.append(studies.agreement(options.judge, options.samples))
        report.write(options.out, options.judge, tables)
    print(report.write(options.out, options.judge, tables))


def _names(asked: list[str]) -> list[str]:
    """Return the contestants asked for; ours in float32 is what all are compared with, so it always runs."""
    names = [FLOAT32, *(name for name in NAMES if name in asked and name != FLOAT32)]
    if importlib.util.find_spec("llama_cpp") is None:
        for name in set(OF_LLAMA).intersection(names):
            print(f"{name!r} is left out: llama-cpp-python is not installed.", file=sys.stderr)
            names.remove(name)
    return names


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--judge", default="qwen2.5-coder-0.5b", help="a card; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--samples", type=int, default=1000, help="take the first so many samples of each task"
    )
    parser.add_argument("--rows", type=int, default=100_000, help="for rows; default: %(default)s")
    parser.add_argument("--contexts", type=int, help="take only samples with so many contexts")
    tasks = ["all", *_RACES, *_STUDIES]
    parser.add_argument(
        "--task", nargs="+", choices=tasks, default=["all"], metavar="TASK", help=", ".join(tasks)
    )
    parser.add_argument(
        "--contestants", nargs="+", choices=NAMES, default=list(NAMES), metavar="NAME", help="; ".join(NAMES)
    )
    parser.add_argument(
        "--data",
        help="for backends: human judgments whose questions are asked, a file or folder; else the samples",
    )
    parser.add_argument("--calibration", default="auto", help="for backends: auto, none, prior, or a file")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"), help="a folder; default: %(default)s")
    return parser.parse_args()


if __name__ == "__main__":
    main()
