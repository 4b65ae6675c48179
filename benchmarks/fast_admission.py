"""Speed of FAST-EDF-IIT with many tasks waiting: ``python -m benchmarks.fast_admission``."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

from benchmarks.timing import Report, run
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.hybrid import HybridPlanner
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.planner_factory import Planner, Policy, parse
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import QueuedTask
from tests.heuristics.reference.admission_engine import reference_planner

COSTS = (1.0, 1000.0, 0.0, 0.0)
"""tau, chi, theta_cm and theta_cp, as in the papers."""
LOAD = 1000.0
"""Mean load of a task."""
BUSY = 1e6
"""Instant until which the cluster is busy."""
LITERAL = "fast-edf-iit:literal-dispatched"
R2 = "fast-edf-iit"
FIRST = 3_000
"""Number of the first tasks, of which the mean time of a decision is taken."""
LAST = 17_000
"""Number of all tasks."""
ROUNDS = 5
"""Repetitions, of which the median is taken."""


def tasks(count: int, nodes: int, seed: int = 0) -> list[QueuedTask]:
    """Return tasks that all wait until the cluster, busy until `BUSY`, is free, and all fit.

    Loads are exponential with mean 1000, arrivals 0.001 apart; deadlines are uniform from once to
    twice as late, from `BUSY` on, as all nodes need for all tasks one by one.
    """
    rng = random.Random(f"{count}/{nodes}/{seed}")
    loads = [rng.expovariate(1 / LOAD) for _ in range(count)]
    needed = SupplyBound(*COSTS[:2], nodes=nodes).execution_time(sum(loads))
    made = []
    for number, load in enumerate(loads):
        deadline = BUSY + rng.uniform(1.01, 2.0) * needed
        made.append(QueuedTask((deadline, number), str(number), 1e-3 * number, load, deadline))
    return made


def core(name: str, nodes: int, reference: bool = False, compiled: bool = False) -> Planner:
    """Return an empty core on nodes that are busy until `BUSY`."""
    policy: Policy = HybridAlgorithm(500) if name == "hybrid" else parse(name)
    ready = [BUSY] * nodes
    if reference:
        return reference_planner(policy, COSTS, ready, 0.0, 0.0)
    if isinstance(policy, FastAlgorithm):
        return FastPlanner(policy, COSTS, ready, 0.0, 0.0, compiled=compiled)
    if isinstance(policy, HybridAlgorithm):
        return HybridPlanner(policy, COSTS, ready, 0.0, 0.0, compiled=compiled)
    return PlannedQueue(policy, COSTS, ready, 0.0)


def spent(made: Planner, arriving: list[QueuedTask]) -> list[float]:
    """Return the seconds that each decision takes; all tasks must be admitted."""
    seconds = []
    for task in arriving:
        begun = time.perf_counter()
        refused = made.try_admit(task)
        seconds.append(time.perf_counter() - begun)
        if refused is not None:
            raise RuntimeError(f"the queue is not feasible: {refused}")
    return seconds


def after(name: str, nodes: int, waiting: int, count: int, reference: bool = False) -> list[float]:
    """Return the seconds of decisions with so many tasks waiting, all taken in at once before."""
    drawn = tasks(waiting + count, nodes)
    made = core(name, nodes, reference=reference)
    now = drawn[waiting].arrival
    if made.load_promised(drawn[:waiting], now) is not None:
        raise RuntimeError(f"{name}: the queue is not feasible")
    return spent(made, [task._replace(arrival=now) for task in drawn[waiting:]])


def _micro(seconds: list[float]) -> tuple[float, float]:
    """Return median and 99th percentile in microseconds."""
    return 1e6 * median(seconds), 1e6 * quantiles(seconds, n=100)[98]


def bursts(report: Report) -> None:
    """Table 1: the first 3,000 tasks, and 14,000 more, all admitted."""
    variants: dict[str, Callable[[int], Planner]] = {
        "as printed, O(n)": lambda nodes: core(LITERAL, nodes),
        "R2, O(n)": lambda nodes: core(R2, nodes, reference=True),
        "R2, logarithmic": lambda nodes: core(R2, nodes),
        "R2, compiled": lambda nodes: core(R2, nodes, compiled=True),
    }
    report.table(
        "1. Microseconds per decision, all tasks admitted",
        *("test, nodes", "first 3,000", "99 %", "3,000 to 17,000", "99 %", "burst, s"),
    )
    spent(core(R2, 8, compiled=True), tasks(400, 8))  # compiles
    totals: dict[str, list[float]] = {}
    for nodes in (512, 4096):
        for name, made in variants.items():
            last = LAST if not report.quick else 2 * FIRST
            linear = name.endswith("O(n)")
            rounds = [
                spent(made(nodes), tasks(last, nodes)) for _ in range(1 if linear else ROUNDS)
            ]
            rounds.sort(key=lambda one: sum(one[FIRST:]))
            middle = rounds[len(rounds) // 2]
            total = sum(middle[FIRST:])
            totals.setdefault(name, []).append(total)
            report.row(f"{name}, {nodes}", *_micro(middle[:FIRST]), *_micro(middle[FIRST:]), total)
    if not report.quick:
        for name, most in (("R2, logarithmic", 1.0), ("R2, compiled", 0.1)):
            worst = max(totals[name])
            report.target(
                f"{name}: a burst of 14,000 in under {most:g} s", f"{worst:.3f} s", worst < most
            )


def against_planning(report: Report) -> None:
    """Table 2: R2 against the tests that plan the queue anew."""
    report.table(
        "2. Microseconds per decision against EDF-IIT-2 (median)",
        *("nodes, waiting", "R2", "groups", "straightforward", "groups / R2", "straight / R2"),
    )
    ratios = []
    for nodes in (512, 4096):
        for waiting in (3_000, 17_000):
            if report.quick and (nodes, waiting) != (512, 3_000):
                continue
            fast = median(after(R2, nodes, waiting, 200))
            groups = median(after("edf-iit-2", nodes, waiting, 9))
            slow = None
            if waiting == 3_000:
                slow = median(after("edf-iit-2", nodes, waiting, 2, reference=True))
                ratios.append(slow / fast)
            report.row(
                f"{nodes}, {waiting}",
                *(1e6 * fast, 1e6 * groups, None if slow is None else 1e6 * slow),
                *(groups / fast, None if slow is None else slow / fast),
            )
    least = min(ratios)
    report.target(
        "R2 at least 100 x faster than the straightforward EDF-IIT-2 with 3,000 waiting",
        f"{least:.0f} x",
        least >= 100,
    )


def growth(report: Report) -> None:
    """Table 3: how a decision grows with the queue."""
    report.table(
        "3. R2: microseconds per decision (median) by tasks waiting, 512 nodes",
        *("waiting", "logarithmic", "compiled", "O(n)"),
    )
    found: dict[tuple[int, bool], float] = {}
    for waiting in (1_000, 4_000, 16_000, 64_000):
        cells: list[Any] = []
        for compiled in (False, True):
            rounds = []
            for seed in range(3):
                drawn = tasks(waiting + 1_000, 512, seed)
                made = core(R2, 512, compiled=compiled)
                spent(made, drawn[:waiting])
                rounds.append(median(spent(made, drawn[waiting:])))
            found[waiting, compiled] = median(rounds)
            cells.append(1e6 * median(rounds))
        linear = None
        if waiting <= 4_000:
            drawn = tasks(waiting + 50, 512)
            made = core(R2, 512, reference=True)
            spent(made, drawn[:waiting])
            linear = 1e6 * median(spent(made, drawn[waiting:]))
        report.row(waiting, *cells, linear)
    for compiled, name in ((False, "logarithmic"), (True, "compiled")):
        ratio = found[64_000, compiled] / found[4_000, compiled]
        report.target(
            f"{name}: 64,000 waiting against 4,000: under 2 x", f"{ratio:.2f} x", ratio < 2
        )


TABLES = {1: bursts, 2: against_planning, 3: growth}


if __name__ == "__main__":
    sys.exit(run("fast_admission", TABLES))
