"""Speed of decisions around advance reservations: ``python -m benchmarks.multistage --help``."""

from __future__ import annotations

import random
import sys
import time
from statistics import median
from typing import Any

from benchmarks.measure import Report, run
from dlopt.heuristics.admission.orders import Waiting
from dlopt.heuristics.multistage.blocks import Wish
from dlopt.heuristics.multistage.queue import Queue

TAU, CHI, LOAD, BUSY = 1.0, 1000.0, 2000.0, 1e4
SHARE = 0.7
"""How much of the cluster the work fills, from `BUSY` to the last deadline."""
FASTER, MEDIAN = 20, 0.05
"""How many times faster than the straightforward plan, and seconds, at 256 nodes, 100, 100."""


def _load(rng: random.Random) -> float:
    load = rng.gauss(LOAD, LOAD)
    return load if load > 0 else _load(rng)


def arrivals(
    nodes: int, reservations: int, waiting: int, extra: int, seed: int = 0
) -> tuple[list[Wish], list[Waiting], list[Waiting | Wish]]:
    """Return reservations ahead, tasks that wait for a busy cluster, and what arrives behind them.

    Loads are normal, mean and deviation 2000, drawn again until they are positive. Reservations
    are such tasks on 1 to N/4 nodes, from any instant on; deadlines are spread over as long as all
    that work takes at 70 %.
    """
    rng = random.Random(f"{nodes}/{reservations}/{waiting}/{seed}")
    unit = TAU + CHI
    span = (reservations + waiting + extra) * 1.3 * LOAD * unit / nodes / SHARE

    def wish() -> Wish:
        load, count = _load(rng), rng.randint(1, max(1, nodes // 4))
        start = BUSY + rng.uniform(0, span)
        return Wish(start, start + load * TAU, start + load * (TAU + CHI / count), count)

    def task(number: int) -> Waiting:
        load = _load(rng)
        alone = load * (TAU + CHI / nodes)
        deadline = BUSY + max(rng.uniform(0, span), 3 * alone)
        return Waiting((deadline, number), str(number), 0.0, load, deadline)

    ahead = [wish() for _ in range(reservations * 3)]
    tasks = [task(number) for number in range(3 * waiting)]
    behind: list[Any] = [task(3 * waiting + number) for number in range(extra)]
    if reservations:
        behind += [wish() for _ in range(extra // 2)]
        rng.shuffle(behind)
    return ahead, tasks, behind


def filled(
    nodes: int, reservations: int, waiting: int, extra: int, plain: bool = False
) -> tuple[Queue, list[Waiting | Wish]]:
    """Return a queue with so many reservations and tasks in it, and what arrives then."""
    ahead, tasks, behind = arrivals(nodes, reservations, waiting, extra)
    queue = Queue((TAU, CHI), [BUSY] * nodes, 0.0, 0.0)
    held: list[Wish] = []
    for wish in ahead:
        if len(held) < reservations and isinstance(queue.reserve(wish, 0.0), tuple):
            held.append(wish)
    for task in tasks:
        if len(queue.waiting) < waiting:
            queue.offer(task)
    if len(held) < reservations or len(queue.waiting) < waiting:
        raise RuntimeError(f"only {len(held)} reservations and {len(queue.waiting)} tasks")
    if plain:
        twin = Queue((TAU, CHI), [BUSY] * nodes, 0.0, 0.0, plain=True)
        for wish in held:
            twin.reserve(wish, 0.0)
        for planned in queue.waiting:
            state = twin._states[-1].copy()
            state.hold(planned.pieces)
            twin._states.append(state)
        twin.waiting = list(queue.waiting)
        return twin, behind
    return queue, behind


def decided(queue: Queue, one: Waiting | Wish) -> tuple[float, bool]:
    """Return the seconds that a decision takes, and whether it is to accept."""
    begun = time.perf_counter()
    if isinstance(one, Wish):
        accepted = isinstance(queue.reserve(one, 0.0), tuple)
    else:
        accepted = queue.offer(one) is None
    return time.perf_counter() - begun, accepted


def told(queue: Queue, one: Waiting | Wish) -> float:
    """Return the seconds that a decision takes."""
    return decided(queue, one)[0]


def by_size(report: Report) -> None:
    """Table 1: a decision with reservations ahead and tasks waiting."""
    report.table(
        "1. Milliseconds per decision, tasks and reservations mixed",
        *("nodes", "ahead", "waiting", "median", "worst", "chunks", "accepted"),
    )
    for nodes in (256, 1024):
        for reservations in (0, 10, 100):
            for waiting in (0, 30, 100, 300):
                if report.quick and (nodes > 256 or waiting > 100):
                    continue
                queue, behind = filled(nodes, reservations, waiting, 20)
                before = len(queue.waiting)
                spent = [1e3 * told(queue, one) for one in behind]
                chunks = sum(len(planned.pieces) for planned in queue.waiting)
                accepted = len(queue.waiting) - before
                middle = median(spent)
                report.row(nodes, reservations, waiting, middle, max(spent), chunks, accepted)
                if (nodes, reservations, waiting) == (256, 100, 100):
                    text = "256 nodes, 100 reservations, 100 tasks: median at most 50 ms"
                    report.target(text, f"{middle:.1f} ms", middle <= 1e3 * MEDIAN)


def against_straightforward(report: Report) -> None:
    """Table 2: suffixes and bisection against all that waits, node by node; the same decisions."""
    report.table(
        "2. Milliseconds per decision at 256 nodes",
        *(
            "ahead, waiting",
            "fast",
            "fast, whole queue",
            "straightforward",
            "ratio",
            "same decisions",
        ),
    )
    for reservations, waiting in ((10, 10), (10, 30), (100, 100)):
        queue, behind = filled(256, reservations, waiting, 20)
        few = 1 if waiting > 30 else 3
        told_fast = [decided(queue, one) for one in behind]
        fast = median([seconds for seconds, _ in told_fast])
        queue, behind = filled(256, reservations, waiting, 20)
        whole = told(queue, Waiting((0.0, -1), "first", 0.0, 1e-6, BUSY + 1e9))
        queue, behind = filled(256, reservations, waiting, 20, plain=True)
        told_slow = [decided(queue, one) for one in behind[:few]]
        slow = median([seconds for seconds, _ in told_slow])
        same = [yes for _, yes in told_slow] == [yes for _, yes in told_fast[:few]]
        ratio = slow / fast
        numbers = (1e3 * fast, 1e3 * whole, 1e3 * slow, ratio)
        report.row(f"{reservations}, {waiting}", *numbers, "yes" if same else "no")
        report.target("the same decisions", "yes" if same else "no", same)
        if waiting == 100:
            text = f"256 nodes, 100 reservations, 100 tasks: at least {FASTER} x"
            report.target(text, f"{ratio:.0f} x", ratio >= FASTER)


TABLES = {1: by_size, 2: against_straightforward}


if __name__ == "__main__":
    sys.exit(run("multistage", TABLES))
