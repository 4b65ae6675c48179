"""Speed and memory of the grid of LANs: ``python -m benchmarks.grid --help``."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.timing import Report, run
from dlopt.child_processes import end_with_parent
from dlopt.simulation.grid import GridOutcome
from dlopt.simulation.grid.sweep import GridExperiment

SECONDS = 60
"""In which 2,000 tasks on 100 LANs of 10 nodes must be simulated, on one core."""
MINUTES = 30
"""In which such a sweep must be done."""
BYTES = 3_000
"""That a task which is over may keep."""
FEW = 60
"""Tasks that have more bids than are worth a compiler."""
LINEAR = 1.5
"""By how much the memory for a live task may differ between few and many of them."""


def speed(report: Report) -> None:
    """Table 1: CPU seconds and events per second; one core, without a trace."""
    columns = ("tasks", "CPU s", "seconds", "events", "events/CPU s", "CPU s for 1000")
    report.table("1. Speed", "case", *columns)
    cases = {
        "100 x 10, as in the thesis": GridExperiment(),
        "100 x 10, interval 2000 s": GridExperiment(interval=2000),
        "100 x 10, literal": GridExperiment(variant="literal"),
        "100 x 10, tiers": GridExperiment(topology="tiers"),
    }
    if not report.quick:
        cases |= {
            "100 x 10, interval 1000 s": GridExperiment(interval=1000),
            "100 x 10, all LANs bid": GridExperiment(bidders=0),
            "1 x 1000": GridExperiment(topology="flat", lans=1, nodes=1000, gateways=100),
        }
    GridExperiment(lans=10, tasks=60).run()  # a compiler is loaded
    for name, case in cases.items():
        spent, outcome = _timed(case)
        rate, each = outcome.events / spent, 1000 * spent / case.tasks
        report.row(name, case.tasks, spent, outcome.seconds, outcome.events, rate, each)
        if case == GridExperiment():
            text = f"{spent:.1f} CPU s, {rate:.0f} events/s"
            report.target(f"2,000 tasks in {SECONDS} s on one core", text, spent < SECONDS)


def _timed(case: GridExperiment) -> tuple[float, GridOutcome]:
    """Return the CPU seconds of a case; other work on the machine does not count."""
    gc.collect()
    begun = time.process_time()
    outcome = case.run().outcome
    return time.process_time() - begun, outcome


def series(report: Report) -> None:
    """Table 3: a sweep over queue sizes and seeds, from some of its cells; 3,000 tasks each."""
    report.table("3. 3,000 tasks x 8 SWQ sizes x 10 seeds on 2 cores", "SWQ", "CPU s", "events")
    sizes = (1, 3, 20)
    spent = []
    GridExperiment(lans=10, tasks=60).run()
    for size in sizes:
        seconds, outcome = _timed(GridExperiment(tasks=3000, queue_size=size))
        report.row(size, seconds, outcome.events)
        spent.append(seconds)
    minutes = 80 * sum(spent) / len(spent) / 2 / 60
    text = f"80 x the mean CPU seconds / 2 cores: {minutes:.1f} min"
    report.target(f"a sweep in {MINUTES} minutes", text, minutes < MINUTES)


def memory(report: Report) -> None:
    """Table 2: the most memory at once, each case in a process of its own.

    Tasks that all arrive at once are all live; those that arrive one by one are soon over.
    """
    title = "2. Memory, 100 x 10 nodes (at once) and 10 x 10 (one by one)"
    report.table(title, "case", "tasks", "most at once", "MB", "KB for each more")
    _peak(GridExperiment(tasks=FEW))  # a compiler that runs for the first time takes more
    sizes = (500, 1000, 2000, 4000)[: 3 if report.quick else 4]
    shares = _growth(
        report, "all at once", [GridExperiment(tasks=size, interval=1) for size in sizes]
    )
    ratio = max(shares) / min(shares)
    report.target("memory linear in the tasks at once", f"ratio {ratio:.2f}", ratio < LINEAR)
    sizes = (500, 2000) if report.quick else (1000, 5000)
    ended = _growth(
        report, "one by one", [GridExperiment(lans=10, tasks=tasks) for tasks in sizes]
    )[-1]
    report.target(f"{BYTES} bytes a task that is over", f"{ended:.0f}", ended < BYTES)


def _growth(report: Report, name: str, cases: Sequence[GridExperiment]) -> list[float]:
    """Return what each task takes by which a case has more than the one before."""
    found: list[float] = []
    before = None
    for case in cases:
        peak, live = _peak(case)
        if before is not None:
            found.append((peak - before[0]) / (case.tasks - before[1]))
        report.row(name, case.tasks, live, peak / 1e6, found[-1] / 1e3 if found else None)
        before = peak, case.tasks
    return found


def _peak(case: GridExperiment) -> tuple[int, int]:
    """Return the most bytes at once, and the most tasks, of a process that simulates a case."""
    with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as pool:
        return pool.submit(_measured, case).result()


def _measured(case: GridExperiment) -> tuple[int, int]:
    live = case.run().outcome.most_live
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))  # since the process began
    return 1024 * int(peak.split()[1]), live


if __name__ == "__main__":
    sys.exit(run("grid", {1: speed, 2: memory, 3: series}))
