"""Speed of admission decisions: ``python -m benchmarks.admission --help``."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from statistics import median

from benchmarks.timing import Report, run
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import QueuedTask
from tests.heuristics.reference.admission_engine import ReferenceQueue

TAU = 1.0
"""Unit transmission time, as in Mamat 2011, section 5.4."""
CHI = 1000.0
"""Unit processing time, as in Mamat 2011, section 5.4."""
LOAD = 1000.0
"""Mean and standard deviation of the loads. Chosen by hand."""
BUSY = 1e6
"""Instant at which the cluster becomes free. Chosen by hand, so that all tasks have to wait."""
WORKLOADS = {"tight": 1.6, "medium": 3.0, "loose": 10.0}
"""How many times longer than needed the deadlines of a queue are spread. Chosen by hand."""
FASTER = {512: 20, 4096: 50}
"""Targets, set by hand, by nodes: how many times faster than the reference implementation EDF-IIT-2
must be with 3000 tasks waiting."""


def tasks(
    length: int, nodes: int, earliest: float, spread: float, seed: int
) -> Iterator[QueuedTask]:
    """Yield tasks that have to wait until the cluster, busy until `BUSY`, is free.

    Arrivals are 0.001 apart; loads are normal, mean and deviation 1000, drawn again until they
    are positive; absolute deadlines are uniform from `earliest` to `spread` times as late, from
    `BUSY` on, as the cluster needs for all of them at full rate.
    """
    rng = random.Random(f"{length}/{nodes}/{seed}")
    beta = CHI / (TAU + CHI)
    rate = min(nodes / (TAU + CHI), (1 - beta**nodes) / TAU)
    needed = length * 1.3 * LOAD / rate
    for number in range(1, length + 1):
        load = rng.gauss(LOAD, LOAD)
        while load <= 0:
            load = rng.gauss(LOAD, LOAD)
        deadline = BUSY + rng.uniform(earliest, spread) * needed
        arrival = 1e-3 * number
        key = deadline, number
        yield QueuedTask(key, str(number), arrival, load, deadline)


def fill_queue(
    algorithm: str, length: int, nodes: int, spread: float, extra: int, reference: bool = False
) -> tuple[PlannedQueue, list[QueuedTask]]:
    """Return a queue with `length` tasks waiting, and more tasks that arrive after them.

    MWF and MCDF may put the earliest deadline last: theirs are no earlier than all tasks need.
    """
    rng = random.Random(f"{length}/{nodes}")
    parsed = Algorithm.parse(algorithm)
    earliest = 0.02 * spread if parsed.order in ("fifo", "edf") else 1.0
    arriving = list(tasks(length + extra, nodes, earliest, spread, seed=0))
    ready = [BUSY] * nodes
    kind = ReferenceQueue if reference else PlannedQueue
    queue = kind(parsed, (TAU, CHI, 0.0, 0.0), ready, 0.0)
    rng.shuffle(arriving)
    refused = queue.load_promised(arriving[:length], 1e-3 * length)
    if refused is not None:
        raise RuntimeError(f"{algorithm}: the queue is not feasible: {refused}")
    later = [task._replace(arrival=2e-3 * length) for task in arriving[length:]]
    return queue, later


def decisions(queue: PlannedQueue, arriving: list[QueuedTask]) -> list[float]:
    """Return the seconds that each decision takes."""
    spent = []
    for task in arriving:
        begun = time.perf_counter()
        queue.try_admit(task)
        spent.append(time.perf_counter() - begun)
    return spent


def by_queue_length(report: Report) -> None:
    """Table 1: a decision with 5, 300 and 3000 tasks waiting, sound and as printed."""
    names = ("edf-iit-2", "edf-opr-mn", "edf-epr-mn", "edf-opr-an", "mwf-opr-mn", "mcdf")
    report.table(
        "1. Microseconds per decision (median), medium deadlines",
        *("algorithm, nodes", "5", "5 literal", "300", "300 literal", "3000", "3000 literal"),
    )
    for nodes in (512, 1024):
        for name in names:
            cells: list[object] = []
            for length in (5, 300, 3000):
                for literal in ("", ":literal"):
                    if report.quick and length == 3000:
                        cells.append(None)
                        continue
                    count = 40 if length < 3000 else 9
                    spread = WORKLOADS["loose" if name.endswith("an") else "medium"]
                    queue, arriving = fill_queue(name + literal, length, nodes, spread, count)
                    cells.append(1e6 * median(decisions(queue, arriving)))
            report.row(f"{name}, {nodes}", *cells)


def against_straightforward(report: Report) -> None:
    """Table 2: EDF-IIT-2 by groups and suffixes against planning the whole queue node by node."""
    report.table(
        "2. EDF-IIT-2 with 3000 tasks waiting: milliseconds per decision",
        *("nodes", "workload", "fast", "fast, whole queue", "straightforward", "ratio", "whole"),
    )
    ratios: dict[int, list[float]] = {}
    for nodes in (512, 1024, 2048, 4096):
        if report.quick and nodes > 512:
            continue
        for name, spread in WORKLOADS.items():
            queue, arriving = fill_queue("edf-iit-2", 3000, nodes, spread, 9)
            first = QueuedTask((0.0, -1), "first", arriving[0].arrival, 1e-9, 1e15)
            fast = median(decisions(queue, arriving))
            whole, _ = fill_queue("edf-iit-2", 3000, nodes, spread, 9)
            whole_queue_time = median(decisions(whole, [first]))
            reference, arriving = fill_queue("edf-iit-2", 3000, nodes, spread, 9, reference=True)
            slow = median(decisions(reference, arriving[: 3 if nodes < 2048 else 1]))
            ratios.setdefault(nodes, []).append(slow / fast)
            times = (1e3 * fast, 1e3 * whole_queue_time, 1e3 * slow)
            report.row(nodes, name, *times, slow / fast, slow / whole_queue_time)
    for nodes, least in FASTER.items():
        if nodes in ratios:
            text = f"EDF-IIT-2, {nodes} nodes, 3000 waiting: median at least {least} x"
            ratio = median(ratios[nodes])
            report.target(text, f"{ratio:.0f} x", ratio >= least)


TABLES = {1: by_queue_length, 2: against_straightforward}


if __name__ == "__main__":
    sys.exit(run("admission", TABLES))
