"""Thread safety of the online engines: no promise is lost, and none is made twice.

    python -m benchmarks.threads [--submits 100000] [--threads 4]

Threads that switch every microsecond submit to each kind of engine. Then every accepted task must
be in the schedule, once, and the schedule must be feasible. Printed with it: the time of a decision
with and without the lock, in one thread, median of five runs each.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from dlopt import Admission, CoReservation, MultiStage, check
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request

CLUSTER = Cluster(16, tau=1, chi=100)
MACHINES = (Machine("a", 40), Machine("b", 60))


def stream(head: Any, kind: Any, count: int, thread: int) -> list[Any]:
    """Submit tasks that arrive now, of which about two thirds fit; return them.

    Other threads may move the clock between reading it and submitting: then once more.
    """
    draw, found = random.Random(thread), []
    for k in range(count):
        load, deadline = draw.uniform(10, 90), draw.uniform(300, 1500)
        while len(found) == k:
            task = kind(f"t{thread}-{k}", head.now, load, deadline)
            with contextlib.suppress(InvalidInstanceError):
                head.submit(task)
                found.append(task)
        with contextlib.suppress(InvalidInstanceError, NotApplicableError):
            head.advance(head.now + draw.expovariate(1 / 500))
    return found


def requests(count: int, thread: int) -> list[Request]:
    """Return requests for CPU shares, one after the other."""
    draw = random.Random(thread)
    return [
        Request(f"q{thread}-{k}", 0, k / 3, k / 3 + 2, draw.randint(1, 3), (Part(9),))
        for k in range(count)
    ]


def at_once(work: Callable[[int], None], threads: int) -> None:
    """Run work in several threads that start together and take turns every microsecond."""
    gate, before = threading.Barrier(threads), sys.getswitchinterval()

    def run(number: int) -> None:
        gate.wait()
        work(number)

    sys.setswitchinterval(1e-6)
    try:
        running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)


def streams(
    make: Callable[[], Any], problem: Any, each: int, threads: int
) -> tuple[int, int, bool]:
    """Submit tasks to an engine; return how many, how many it accepted, and if all is well."""
    head, known = make(), {}

    def work(number: int) -> None:
        known.update({one.id: one for one in stream(head, problem.Task, each, number)})

    at_once(work, threads)
    order = tuple(known[decision.task] for decision in head.decisions)
    accepted = sum(decision.accepted for decision in head.decisions)
    valid = not check(problem.Instance(CLUSTER, order), head.plan())
    return len(known), accepted, valid and len(order) == each * threads


def shares(each: int, threads: int) -> tuple[int, int, bool]:
    """Submit requests to `CoReservation`."""
    engine = CoReservation(MACHINES)
    at_once(
        lambda number: [engine.submit([one]) for one in requests(each, number)] and None, threads
    )
    known = {one.id: one for number in range(threads) for one in requests(each, number)}
    order = tuple(known[decision.request] for decision in engine.decisions)
    accepted = sum(decision.accepted for decision in engine.decisions)
    valid = not check(coreservation.Instance(MACHINES, order), engine.plan())
    return len(known), accepted, valid and len(order) == len(known)


def decision_us(guarded: bool) -> float:
    """Return how long a decision of one thread takes, in microseconds."""
    head: Any = Admission(CLUSTER, exact_numbers=False)
    if not guarded:
        head._lock = contextlib.nullcontext()
    draw, now, asked = random.Random(1), 0.0, []
    for k in range(4000):
        now += draw.expovariate(1 / 1000)
        asked.append(admission.Task(f"t{k}", now, draw.uniform(10, 90), 900.0))
    begun = time.perf_counter()
    for one in asked:
        head.submit(one)
        head.advance(one.arrival)
    return (time.perf_counter() - begun) / len(asked) * 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each engine; return 1 if a promise was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submits", type=int, default=100_000, help="over all engines")
    parser.add_argument("--threads", type=int, default=4)
    asked = parser.parse_args(arguments)
    each = asked.submits // (5 * asked.threads)
    runs: dict[str, Callable[[], tuple[int, int, bool]]] = {
        f"Admission {name}": partial(
            streams,
            partial(Admission, CLUSTER, name, exact_numbers=False),
            admission,
            each,
            asked.threads,
        )
        for name in ("edf-iit-2", "fast-edf-iit", "fifo-opr-mn")
    }
    runs |= {
        "MultiStage": lambda: streams(
            lambda: MultiStage(CLUSTER, exact_numbers=False), multistage, each, asked.threads
        ),
        "CoReservation": lambda: shares(each, asked.threads),
    }
    worst = 0
    for name, run in runs.items():
        begun = time.monotonic()
        submitted, accepted, well = run()
        worst |= not well
        took, verdict = time.monotonic() - begun, "PASS" if well else "FAIL"
        print(
            f"{verdict}  {name:22} {submitted:7,} submitted, {accepted:7,} accepted, {took:.0f} s"
        )
    with_lock = median(decision_us(True) for _ in range(5))
    without = median(decision_us(False) for _ in range(5))
    print(f"a decision: {with_lock:.1f} us with the lock, {without:.1f} us without")
    return worst


if __name__ == "__main__":
    sys.exit(main())
