"""Speed of the heuristics for CPU shares, and what their calendar remembers.

``python -m benchmarks.coreservation_calendar`` prints one table; times are of this process alone.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from fractions import Fraction

from dlopt.calendar import ResourceCalendar
from dlopt.heuristics.coreservation.methods import stream
from dlopt.problems.coreservation import (
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    affine,
    linear,
    staircase,
    step,
    violations,
)

REQUESTS = 10_505
NAMES = ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr", "first-fit")
SHAPES = (step(), linear(), affine(Fraction(1, 4)), staircase(4))


def chapter_four(seed: int, *, floats: bool) -> Instance:
    """Return 10,505 requests of one part for 10 machines of 70 %."""
    rng = random.Random(seed)
    number = float if floats else round
    requests, clock = [], 0.0
    for index in range(REQUESTS):
        clock += rng.expovariate(REQUESTS / 100_000)
        arrival, shape = number(clock), rng.choice(SHAPES)
        start = number(arrival + rng.uniform(0, 4320))
        cpu = number(rng.uniform(20, 70))
        least = cpu / 4 if floats else Fraction(cpu, 4)
        window = arrival, start, start + number(rng.uniform(20, 300))
        part = Part(cpu, None if shape == step() else least, shape)
        requests.append(Request(f"r{index}", *window, rng.randint(1, 100), (part,)))
    return Instance(tuple(Machine(f"m{j}", 70) for j in range(10)), tuple(requests), Batch(50))


def speed() -> None:
    """Print seconds of each method, and of the check of its plan."""
    print(f"{REQUESTS} requests, 10 machines: seconds (of the check)")
    for floats in (False, True):
        instance = chapter_four(1, floats=floats)
        for name in NAMES:
            begun = time.process_time()
            plan = stream(name, instance).solution
            decided = time.process_time()
            assert plan is not None and not violations(instance, plan, 1e-9 if floats else 0)
            checked = time.process_time()
            kind = "floats" if floats else "exact"
            print(f"  {name:10} {kind:7}{decided - begun:6.2f} ({checked - decided:.2f})")


def memory() -> None:
    """Print what a calendar takes for one week, in ever finer slots."""
    print("a week, 10 machines, 1,000 reservations of 2 hours: KiB of the calendar")
    for slots in (10_080, 1_000_000, 604_800_000):
        rng = random.Random(1)
        tracemalloc.start()
        calendar = ResourceCalendar([10**6] * 10)
        for _ in range(1000):
            start = rng.randrange(slots - slots // 84)
            calendar.add_span(rng.randrange(10), start, start + slots // 84, rng.randint(1, 9))
        print(f"  {slots:>11} slots {tracemalloc.get_traced_memory()[0] / 1024:8.0f}")
        tracemalloc.stop()


if __name__ == "__main__":
    speed()
    memory()
