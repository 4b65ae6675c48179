"""Speed of decisions around advance reservations: ``python -m benchmarks.multistage --help``.

Tables 1 and 2 count seconds of processor time, on which other processes of the machine have less
effect.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.admission_exact import MIDDLE, middle
from benchmarks.timing import Report, run
from dlopt import solve
from dlopt.generation.multistage import reserve
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.heuristics.multistage.busy_intervals import ReservationRequest
from dlopt.heuristics.multistage.queue import MultiStageQueue
from dlopt.io import read
from dlopt.models.multistage.methods import exact_plan
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from dlopt.result import Limits, Status
from tests.heuristics.reference.multistage_engine import ReferenceQueue

TAU = 1.0
"""Unit transmission time (Mamat 2011, section 5.4)."""
CHI = 1000.0
"""Unit processing time (Mamat 2011, section 5.4)."""
LOAD = 2000.0
"""Mean and standard deviation of the loads (Mamat 2011, section 5.4: mean 2000)."""
BUSY = 1e4
"""Instant at which the cluster becomes free. Chosen by hand, so that all tasks have to wait."""
SHARE = 0.7
"""Share of the cluster that the work fills, from `BUSY` to the last deadline. Chosen by hand."""
FASTER = 20
"""Target, set by hand: how many times faster than the reference implementation at 256 nodes, 100
reservations and tasks."""
MEDIAN = 0.05
"""Target, set by hand: seconds of the median decision at most."""
SHIPPED = Path(__file__).parent.parent / "instances" / "multistage"


def _load(rng: random.Random) -> float:
    load = rng.gauss(LOAD, LOAD)
    return load if load > 0 else _load(rng)


def arrivals(
    nodes: int, reservations: int, waiting: int, extra: int, seed: int = 0
) -> tuple[list[ReservationRequest], list[QueuedTask], list[QueuedTask | ReservationRequest]]:
    """Return reservations ahead, tasks that wait for a busy cluster, and what arrives after them.

    Loads are normal, mean and deviation 2000, drawn again until they are positive. Reservations
    are such tasks on 1 to N/4 nodes, from any instant on; deadlines are spread over as long as all
    that work takes at 70 %.
    """
    rng = random.Random(f"{nodes}/{reservations}/{waiting}/{seed}")
    unit = TAU + CHI
    span = (reservations + waiting + extra) * 1.3 * LOAD * unit / nodes / SHARE

    def request() -> ReservationRequest:
        load, count = _load(rng), rng.randint(1, max(1, nodes // 4))
        start = BUSY + rng.uniform(0, span)
        return ReservationRequest(
            start, start + load * TAU, start + load * (TAU + CHI / count), count
        )

    def task(number: int) -> QueuedTask:
        load = _load(rng)
        alone = load * (TAU + CHI / nodes)
        deadline = BUSY + max(rng.uniform(0, span), 3 * alone)
        return QueuedTask((deadline, number), str(number), 0.0, load, deadline)

    ahead = [request() for _ in range(reservations * 3)]
    tasks = [task(number) for number in range(3 * waiting)]
    arriving: list[Any] = [task(3 * waiting + number) for number in range(extra)]
    if reservations:
        arriving += [request() for _ in range(extra // 2)]
        rng.shuffle(arriving)
    return ahead, tasks, arriving


def fill_queue(
    nodes: int, reservations: int, waiting: int, extra: int, reference: bool = False
) -> tuple[MultiStageQueue, list[QueuedTask | ReservationRequest]]:
    """Return a queue with so many reservations and tasks in it, and what arrives then."""
    ahead, tasks, arriving = arrivals(nodes, reservations, waiting, extra)
    queue = MultiStageQueue((TAU, CHI), [BUSY] * nodes, 0.0, 0.0)
    held: list[ReservationRequest] = []
    for request in ahead:
        if len(held) < reservations and isinstance(queue.reserve(request, 0.0), tuple):
            held.append(request)
    for task in tasks:
        if len(queue.waiting) < waiting:
            queue.try_admit(task)
    if len(held) < reservations or len(queue.waiting) < waiting:
        raise RuntimeError(f"only {len(held)} reservations and {len(queue.waiting)} tasks")
    if reference:
        twin = ReferenceQueue((TAU, CHI), [BUSY] * nodes, 0.0, 0.0)
        for request in held:
            twin.reserve(request, 0.0)
        for planned in queue.waiting:
            state = twin.states[-1].copy()
            state.allocate(planned.plan)
            twin.states.append(state)
        twin.waiting = list(queue.waiting)
        return twin, arriving
    return queue, arriving


def decide(queue: MultiStageQueue, arrival: QueuedTask | ReservationRequest) -> tuple[float, bool]:
    """Return the processor seconds that a decision takes, and whether it is to accept."""
    begun = time.process_time()
    if isinstance(arrival, ReservationRequest):
        accepted = isinstance(queue.reserve(arrival, 0.0), tuple)
    else:
        accepted = queue.try_admit(arrival) is None
    return time.process_time() - begun, accepted


def decision_seconds(queue: MultiStageQueue, arrival: QueuedTask | ReservationRequest) -> float:
    """Return the seconds that a decision takes."""
    return decide(queue, arrival)[0]


def by_size(report: Report) -> None:
    """Table 1: a decision with reservations ahead and tasks waiting."""
    report.table(
        "1. Processor milliseconds per decision, tasks and reservations mixed",
        *("nodes", "ahead", "waiting", "median", "worst", "chunks", "accepted"),
    )
    for nodes in (256, 1024):
        for reservations in (0, 10, 100):
            for waiting in (0, 30, 100, 300):
                if report.quick and (nodes > 256 or waiting > 100):
                    continue
                queue, arriving = fill_queue(nodes, reservations, waiting, 20)
                before = len(queue.waiting)
                spent = [1e3 * decision_seconds(queue, arrival) for arrival in arriving]
                chunks = sum(len(planned.chunks) for planned in queue.waiting)
                accepted = len(queue.waiting) - before
                middle = median(spent)
                report.row(nodes, reservations, waiting, middle, max(spent), chunks, accepted)
                text = f"{nodes} nodes, {reservations} ahead, {waiting} waiting: at most 50 ms"
                report.target(text, f"{middle:.1f} ms", middle <= 1e3 * MEDIAN)


def against_straightforward(report: Report) -> None:
    """Table 2: suffixes and bisection against the reference implementation; the same decisions."""
    report.table(
        "2. Processor milliseconds per decision at 256 nodes",
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
        queue, arriving = fill_queue(256, reservations, waiting, 20)
        few = 1 if waiting > 30 else 3
        fast_decisions = [decide(queue, arrival) for arrival in arriving]
        fast = median([seconds for seconds, _ in fast_decisions])
        queue, arriving = fill_queue(256, reservations, waiting, 20)
        whole = decision_seconds(queue, QueuedTask((0.0, -1), "first", 0.0, 1e-6, BUSY + 1e9))
        queue, arriving = fill_queue(256, reservations, waiting, 20, reference=True)
        slow_decisions = [decide(queue, arrival) for arrival in arriving[:few]]
        slow = median([seconds for seconds, _ in slow_decisions])
        same = [yes for _, yes in slow_decisions] == [yes for _, yes in fast_decisions[:few]]
        ratio = slow / fast
        numbers = (1e3 * fast, 1e3 * whole, 1e3 * slow, ratio)
        report.row(f"{reservations}, {waiting}", *numbers, "yes" if same else "no")
        report.target("the same decisions", "yes" if same else "no", same)
        if waiting == 100:
            text = f"256 nodes, 100 reservations, 100 tasks: at least {FASTER} x"
            report.target(text, f"{ratio:.0f} x", ratio >= FASTER)


def shipped(report: Report, limit: float) -> None:
    """Table 3: the clairvoyant optimum of the instances in the repository."""
    report.table("3. Exact: the shipped instances", "instance", "status", "value", "bound", "CPU s")
    for path in sorted(SHIPPED.glob("*.json")):
        instance = read(path)
        assert isinstance(instance, Instance)
        begun = time.process_time()
        found = exact_plan(instance, limits=Limits(time_s=limit))
        spent = time.process_time() - begun
        report.row(path.stem, str(found.status), found.value, found.bound, spent)


def small(seed: int) -> Instance:
    """Return 2 or 3 nodes with 1 to 3 tasks and 1 or 2 reservations, in whole numbers."""
    rng = random.Random(seed)
    nodes, tasks, count = rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 2)
    arriving = sorted(
        (rng.randrange(6), rng.randrange(1, 7), rng.randrange(3, 16)) for _ in range(tasks)
    )
    wanted = []
    for _ in range(count):
        arrival = rng.randrange(6)
        start = arrival + rng.randrange(8)
        end = start + rng.randrange(1, 6)
        io_end = start + rng.randrange(end - start + 1)
        width = rng.randint(1, nodes)
        named = tuple(sorted(rng.sample(range(nodes), width))) if rng.random() < 0.5 else width
        wanted.append((arrival, start, end, io_end, named))
    wanted.sort(key=lambda one: one[0])
    return Instance(
        Cluster(nodes, 1, rng.randint(1, 3)),
        tuple(Task(f"t{index}", *one) for index, one in enumerate(arriving)),
        tuple(
            Reservation(f"r{index}", arrival, start, end, io_end=io_end, nodes=named)
            for index, (arrival, start, end, io_end, named) in enumerate(wanted)
        ),
    )


def proven(report: Report, limit: float, seeds: range) -> None:
    """Table 4: the clairvoyant optimum of small random instances."""
    report.table(
        f"4. Exact: {len(seeds)} random instances of 2 or 3 nodes, {limit:g} s each",
        *("status", "instances", "median s", "worst s", "seeds if not proven"),
    )
    spent: dict[Status, list[tuple[float, int]]] = {}
    for seed in seeds[:20] if report.quick else seeds:
        instance = small(seed)
        begun = time.perf_counter()
        found = exact_plan(instance, limits=Limits(time_s=limit))
        seconds = time.perf_counter() - begun
        if found.solution is not None and violations(instance, found.solution):
            raise RuntimeError(f"seed {seed}: the plan breaks rules")
        spent.setdefault(found.status, []).append((seconds, seed))
    for status, entries in spent.items():
        times = [seconds for seconds, _ in entries]
        named = [str(seed) for _, seed in entries if status is not Status.OPTIMAL]
        shown = " ".join(named) or None
        report.row(str(status), len(entries), median(times), max(times), shown)


def with_three_reservations(nodes: int, tasks: int, number: int) -> Instance:
    """Return a stream of a given size, and three reservations that are requested as they begin.

    The stream is drawn as those of `benchmarks.admission_exact`, with three tasks more, of which
    three become reservations.
    """
    stream = middle(nodes, tasks + 3, number)
    drawn = (reserve(stream, fraction=3 / (tasks + 3), advance=0, seed=seed) for seed in count())
    return next(instance for instance in drawn if len(instance.reservations) == 3)


def middle_sized(report: Report, limit: float, numbers: range) -> None:
    """Table 5: the clairvoyant optimum of streams with three reservations."""
    numbers = numbers[:5] if report.quick else numbers
    report.table(
        f"5. Exact: streams {numbers[0]} to {numbers[-1]} of each size with three reservations, "
        f"{limit:g} s each",
        *("nodes x tasks", "proven", "largest gap", "median s", "worst s", "open"),
    )
    for (nodes, tasks), least in MIDDLE.items():
        gaps, seconds = list[Any](), list[float]()
        for number in numbers:
            instance = with_three_reservations(nodes, tasks, number)
            begun = time.perf_counter()
            found: Any = solve(instance, limits=Limits(time_s=limit))
            seconds.append(time.perf_counter() - begun)
            gaps.append(found.bound - found.value)
        proven, largest = fmean(gap == 0 for gap in gaps), max(gaps)
        left = [str(number) for number, gap in zip(numbers, gaps, strict=True) if gap]
        times = median(seconds), max(seconds)
        report.row(f"{nodes} x {tasks}", f"{proven:.0%}", largest, *times, " ".join(left) or None)
        name = f"{nodes} x {tasks}, three reservations"
        report.target(f"{name}: at least {least:.0%} proven", f"{proven:.0%}", proven >= least)
        report.target(f"{name}: every gap at most one task", str(largest), largest <= 1)


def main() -> int:
    """Run the tables that the command line asks for."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 130))
    parser.add_argument("--streams", type=int, nargs=2, default=(0, 20))
    asked, rest = parser.parse_known_args()
    if {"-h", "--help"} & {*rest}:
        print("tables 3 to 5: --seconds S for each instance")
        print("table 4: --seeds FIRST END; table 5: --streams FIRST END\n")
    sys.argv[1:] = rest
    tables = {
        1: by_size,
        2: against_straightforward,
        3: partial(shipped, limit=asked.seconds),
        4: partial(proven, limit=asked.seconds, seeds=range(*asked.seeds)),
        5: partial(middle_sized, limit=asked.seconds, numbers=range(*asked.streams)),
    }
    return run("multistage", tables)


if __name__ == "__main__":
    sys.exit(main())
