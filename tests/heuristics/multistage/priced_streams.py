"""Streams of tasks and reservations, of which some are rejected for their bid prices."""

import random
from fractions import Fraction

from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task

F = Fraction
PRICED = "priced-multi-stage"


def arriving(instance):
    both = (*instance.reservations, *instance.tasks)
    return sorted(both, key=lambda one: one.arrival)


def decided(head, one):
    return head.submit(one) if isinstance(one, Task) else head.reserve(one)


def busy_stream(seed, *, tasks=45, wanted=12, large=False):
    """Return a stream in which some tasks are rejected for their price, in exact numbers.

    With `large` some take the channel for so long that urgent ones are late.
    """
    rng = random.Random(seed)
    arrival, jobs = F(0), []
    for index in range(tasks):
        arrival += F(rng.randint(0, 4), 2)
        load = F(rng.choice([1, 1, 2, 3, 8]), rng.choice([1, 2]))
        due = rng.randint(6, 30)
        if large:
            load, due = (F(24), 150) if rng.random() < 1 / 8 else (load / 4, F(due, 4))
        jobs.append(Task(f"t{index}", arrival, load, due))
    kept = []
    for index in range(wanted):
        at = F(rng.randint(0, int(arrival)))
        start = at + rng.randint(0, 12)
        end = start + rng.randint(1, 6)
        ratio = rng.choice([0, F(1, 4), F(1, 2)])
        nodes = rng.choice([1, 2, (0,), (2, 1)])
        kept.append(Reservation(f"r{index}", at, start, end, io_ratio=ratio, nodes=nodes))
    kept.sort(key=lambda one: one.arrival)
    return Instance(Cluster(3, F(1, 2), 3), tuple(jobs), tuple(kept))
