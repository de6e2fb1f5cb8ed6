"""Says what a run like a given one would take with 10⁴ to 10⁸ samples, on a laptop, a workstation, and many GPUs.

From the run: tokens read and written per sample, bytes of results, and the seconds of this machine. Measured here, on
the run's own lines: what a row costs beside the judge, in a worker and in the one process that collects results. From
data sheets: what a GPU computes and reads. Assumed, and to be set by options: how much of that is reached, and prices.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from localscore import engine
from localscore.errors import LocalscoreError
from localscore.manifests import metric_from
from localscore.replay import ReplayJudge
from localscore.results import SampleResult
from localscore.runs import load_run
from localscore.summary import Tally

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
_LINES, _ROUNDS = 200, 3


@dataclass(frozen=True)
class Machine:
    """Workers, and what each can do."""

    name: str
    workers: int
    read: float
    """Tokens a second and worker."""
    written: float
    price: float
    """Dollars an hour and worker."""


@dataclass(frozen=True)
class Row:
    """What one sample takes."""

    read: float
    """Tokens."""
    written: float
    worker: float
    """Seconds beside the judge: plans, verdicts, scores."""
    driver: float
    """Seconds of the process that collects: lines read, counted, written."""
    size: float
    """Bytes of results."""


def times(row: Row, machine: Machine, samples: int, storage: float) -> dict[str, float]:
    """Return the seconds that each part of the work takes; they overlap, so the longest is the time of the run.

    >>> one = Row(read=1000, written=0, worker=0.001, driver=0.0005, size=2000)
    >>> times(one, Machine("8", 8, read=10_000, written=100, price=2), 10_000, storage=2e8)
    {'judge': 125.0, 'rows': 1.25, 'driver': 5.0, 'storage': 0.1}
    """
    share = samples / machine.workers
    return {
        "judge": share * (row.read / machine.read + row.written / machine.written),
        "rows": share * row.worker,
        "driver": samples * row.driver,
        "storage": samples * row.size / storage,
    }


def main() -> None:
    """Print a table."""
    options = _options()
    try:
        row, here = _measured(options.run)
    except LocalscoreError as error:
        raise SystemExit(str(error)) from None
    weights = options.parameters * 2  # bytes, in 16 bits

    def gpus(name: str, count: int, teraflops: float, bandwidth: float, price: float) -> Machine:
        read = options.utilization * teraflops * 1e12 / (2 * options.parameters)
        written = options.bandwidth_share * bandwidth * 1e9 / weights * options.batch
        return Machine(name, count, read, written, price)

    machines = (
        here,
        gpus("workstation, 1 × RTX 4090", 1, 165, 1008, options.price_4090),
        gpus("8 × H100", 8, 989, 3350, options.price_h100),
        gpus("cluster, 100 × H100", 100, 989, 3350, options.price_h100),
    )
    print(
        f"A sample of {options.run}: {row.read:.0f} tokens read, {row.written:.1f} written, "
        f"{row.size:.0f} bytes of results;\n"
        f"beside the judge {1000 * row.worker:.2f} ms in a worker, {1000 * row.driver:.2f} ms in the driver.\n"
    )
    print("| machine | samples | time | bound by | dollars | judge | rows | driver | storage |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for machine in machines:
        for samples in SIZES:
            parts = times(row, machine, samples, options.storage * 1e6)
            # A worker's own rows and its judge take turns; the driver and the storage work beside them.
            worker = parts["judge"] + parts["rows"]
            whole = max(worker, parts["driver"], parts["storage"])
            bound = max(parts, key=lambda name: parts[name])
            dollars = whole / 3600 * machine.price * machine.workers
            cells = [_told(whole), bound, f"{dollars:,.0f}", *map(_told, parts.values())]
            print(f"| {machine.name} | {samples:,} | {' | '.join(cells)} |")


def _measured(run: Path) -> tuple[Row, Machine]:
    """Measure a row, and this machine, on a finished run."""
    found = load_run(run)
    spent, seconds = found.manifest.tokens, found.manifest.seconds
    if not spent or not spent["samples"] or not spent["read"] or not seconds or found.manifest.cached:
        raise SystemExit(
            f"{run} says nothing of what it cost; score a file afresh: localscore score … --no-cache --overwrite"
        )
    results = list(islice(found.results, _LINES))
    lines = [result.model_dump_json().encode() for result in results]
    metrics = [metric_from(told) for told in found.manifest.metrics]

    def worker() -> None:
        for result in results:
            replay = ReplayJudge(result.judgments, result.refused)
            for again in engine.run([result.sample], metrics, replay):
                again.model_dump_json()

    def driver() -> None:
        tally = Tally()
        for line in lines:
            result = SampleResult.model_validate_json(line)
            result.sample.model_dump_json()
            result.model_dump_json()
            tally.add(result)

    row = Row(
        read=spent["read"] / spent["samples"],
        written=spent["written"] / spent["samples"],
        worker=_seconds(worker) / len(lines),
        driver=_seconds(driver) / len(lines),
        size=_mean(map(len, lines)),
    )
    rate = (row.read + row.written) * spent["samples"] / seconds
    return row, Machine("this machine", 1, rate, rate, 0)


def _seconds(work: Callable[[], None]) -> float:
    taken = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return median(taken)


def _mean(numbers: Iterable[int]) -> float:
    told: Sequence[int] = list(numbers)
    return sum(told) / len(told)


def _told(seconds: float) -> str:
    for size, unit in ((86400 * 365, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} s"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/simulate-scale",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("run", type=Path, help="a finished run, of samples like those that will come")
    parser.add_argument("--parameters", type=float, default=1.54e9, help="of the judge")
    parser.add_argument(
        "--utilization", type=float, default=0.3, help="share of a GPU's FLOP/s reached reading"
    )
    parser.add_argument(
        "--bandwidth-share", type=float, default=0.5, help="of a GPU's memory, reached writing"
    )
    parser.add_argument("--batch", type=int, default=1, help="open verdicts written side by side")
    parser.add_argument(
        "--storage", type=float, default=200, help="MB a second that results can be written at"
    )
    parser.add_argument("--price-4090", type=float, default=0.4, help="dollars an hour; an assumption")
    parser.add_argument("--price-h100", type=float, default=2.5, help="dollars an hour; an assumption")
    return parser.parse_args()


if __name__ == "__main__":
    main()
