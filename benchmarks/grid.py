"""Speed and memory of the grid of LANs: ``python -m benchmarks.grid --help``."""

from __future__ import annotations

import sys
import tracemalloc

from benchmarks.measure import Report, run
from dlopt.simulation.grid.sweep import Case

SECONDS = 60
"""In which 2,000 tasks on 100 LANs of 10 nodes must be simulated, on one core."""
BYTES = 3_000
"""That a task which is over may keep."""
BACKLOG = 3
"""By how much the memory for a live task may differ between a light load and an overload."""


def speed(report: Report) -> None:
    """Table 1: seconds and events per second; one core, without a trace."""
    report.table("1. Speed", "case", "tasks", "seconds", "events", "events/s", "s for 1000 tasks")
    cases = {
        "100 x 10, as in the thesis": Case(),
        "100 x 10, interval 2000 s": Case(interval=2000),
        "100 x 10, literal": Case(variant="literal"),
        "100 x 10, tiers": Case(topology="tiers"),
    }
    if not report.quick:
        cases |= {
            "100 x 10, interval 1000 s": Case(interval=1000),
            "100 x 10, all LANs bid": Case(bidders=0),
            "1 x 1000": Case(topology="flat", lans=1, nodes=1000, gateways=100),
        }
    for name, case in cases.items():
        outcome = case.run().outcome
        rate = outcome.events / outcome.seconds
        each = 1000 * outcome.seconds / case.tasks
        report.row(name, case.tasks, outcome.seconds, outcome.events, rate, each)
        if case == Case():
            text = f"{outcome.seconds:.1f} s, {rate:.0f} events/s"
            report.target(f"2,000 tasks in {SECONDS} s", text, outcome.seconds < SECONDS)


def memory(report: Report) -> None:
    """Table 2: the most memory at once, over what the grid itself takes."""
    report.table("2. Memory", "case", "tasks", "most at once", "MB", "KB each at once")
    size = {"lans": 10, "kappa": 3}
    peaks = []
    for interval in (4000, 1000):
        for tasks in (100, 200, 400):
            case = Case(**size, interval=interval, tasks=tasks)
            empty = _peak(Case(**size, interval=interval, tasks=1))[0]
            peak, live = _peak(case)
            each = (peak - empty - tasks * BYTES / 2) / live / 1e3
            report.row(f"10 x 10, interval {interval} s", tasks, live, (peak - empty) / 1e6, each)
            peaks.append((interval, tasks, peak - empty, live))
    light = [peak for interval, _, peak, _ in peaks if interval == 4000]
    growth = (light[-1] - light[0]) / 300
    report.target(f"{BYTES} bytes a task that is over", f"{growth:.0f}", growth < BYTES)
    live = [(peak - tasks * BYTES / 2) / live for _, tasks, peak, live in peaks]
    ratio = max(live) / min(live)
    report.target("memory linear in the tasks at once", f"ratio {ratio:.2f}", ratio < BACKLOG)


def _peak(case: Case) -> tuple[int, int]:
    """Return the most bytes at once, and the most tasks."""
    tracemalloc.start()
    try:
        live = case.run().outcome.most_live
        return tracemalloc.get_traced_memory()[1], live
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    sys.exit(run("grid", {1: speed, 2: memory}))
