"""Streams solved to proven optimality: ``python -m benchmarks.admission_exact --help``."""

from __future__ import annotations

import random
import sys
import time
from collections import defaultdict
from fractions import Fraction
from statistics import fmean, mean, median, quantiles
from typing import Any

from benchmarks.timing import Report, run
from dlopt import solve
from dlopt.arithmetic import exact
from dlopt.models.admission.methods import bound_fluid, bound_window, exact_plan
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Status

COUNT = 100
"""Small instances. Chosen by hand: enough for means and deciles, few enough for an hour."""
SEED = 2024
"""Of the small instances."""
SECONDS = 60.0
"""Seconds within which an instance must be solved to proven optimality (a target, set by hand)."""
SHARE = 0.8
"""Share of the instances that must be (a target, set by hand)."""
MIDDLE = {(4, 8): 0.95, (4, 12): 0.8, (8, 12): 0.7, (16, 20): 0.6}
"""Nodes and tasks of middle-sized streams, and the share of each size that must be solved to proven
optimality (targets, set by hand)."""
ONLINE = ("edf-iit-2", "edf-iit-an", "priced")
"""Algorithms that learn of tasks as they arrive, of which the best one counts."""
LARGE = 2_000
"""Tasks of the largest instance."""
LARGE_SECONDS = 30.0
"""Seconds within which it must be bounded by one linear program (a target, set by hand)."""


def small(count: int = COUNT, seed: int = SEED) -> list[Instance]:
    """Return streams of 4 to 6 tasks on 2 to 4 nodes, in integers, with tau = 1.

    chi is 1 to 4, loads 1 to 8, arrivals 0 to 10. Relative deadlines reach from what the task
    alone needs on all nodes to two and a half times as much.
    """
    rng = random.Random(seed)
    sizes = (f"small-{seed}-{number}" for number in range(count))
    return [drawn(rng, rng.randint(2, 4), rng.randint(4, 6), 10, name) for name in sizes]


def middle(nodes: int, tasks: int, number: int) -> Instance:
    """Return a stream of a given size, drawn like the small ones: a task in two units of time."""
    rng = random.Random(f"{nodes} {tasks} {number}")
    return drawn(rng, nodes, tasks, 2 * tasks, f"{nodes}x{tasks}-{number}")


def drawn(rng: random.Random, nodes: int, tasks: int, last: int, name: str) -> Instance:
    """Return a stream whose tasks arrive from 0 to `last`."""
    chi, parameters = rng.randint(1, 4), []
    for _ in range(tasks):
        arrival, load = rng.randint(0, last), rng.randint(1, 8)
        needed = load / (1 - Fraction(chi, 1 + chi) ** nodes)
        least, most = int(needed) + 1, max(int(needed) + 2, int(needed * 5 / 2) + 2)
        parameters.append((arrival, load, rng.randint(least, most)))
    stream = (Task(str(k), *task) for k, task in enumerate(sorted(parameters)))
    return Instance(Cluster(nodes, 1, chi), tuple(stream), name=name)


def large(tasks: int, ratio: float, seed: int = 0) -> Instance:
    """Return a stream as the papers draw them: 16 nodes, chi = 100, system load 1.

    Arrivals are Poisson, loads normal (mean 200), relative deadlines uniform around `ratio` times
    what the average load needs on all nodes.
    """
    rng = random.Random(seed)
    nodes, chi, average = 16, 100, 200
    share = 1 - (chi / (1 + chi)) ** nodes
    needed, arrival, stream = average / share, 0.0, []
    for k in range(tasks):
        arrival += rng.expovariate(1 / needed)
        load = max(1, round(rng.gauss(average, average / 3)))
        deadline = max(rng.uniform(ratio / 2, 3 * ratio / 2) * needed, 1.01 * load / share)
        stream.append(Task(str(k), round(arrival), load, round(deadline)))
    return Instance(Cluster(nodes, 1, chi), tuple(stream))


def optima(report: Report) -> None:
    """Table 1."""
    report.table(
        f"1. Clairvoyant optimum of {COUNT} streams, one thread, {SECONDS:.0f} s each, no hint",
        *("nodes x tasks", "streams", "proven", "in fractions", "median s", "90 % s", "longest s"),
        *("fluid / optimum", "window / optimum", "window tight"),
    )
    rows_of: dict[str, list[tuple[float, Any, float, float]]] = defaultdict(list)
    for instance in small(20 if report.quick else COUNT):
        begun = time.perf_counter()
        answer = exact_plan(instance, limits=Limits(time_s=SECONDS))
        seconds = time.perf_counter() - begun
        if answer.solution is None or violations(instance, answer.solution):
            raise RuntimeError(f"{instance.name}: {answer}")
        fluid, window = (
            float(exact(bound(instance).bound) / max(answer.value, 1))
            for bound in (bound_fluid, bound_window)
        )
        row = seconds, answer, fluid, window
        rows_of[f"{instance.cluster.nodes} x {len(instance.tasks)}"].append(row)
        rows_of["all"].append(row)
    for name, rows in sorted(rows_of.items()):
        seconds = [row[0] for row in rows]
        proven = [row for row in rows if row[1].status is Status.OPTIMAL]
        fractions = sum("exact arithmetic" in row[1].reason for row in proven)
        deciles = quantiles(seconds, n=10, method="inclusive") if len(rows) > 1 else seconds * 9
        report.row(
            *(name, len(rows), len(proven), fractions, deciles[4], deciles[8], max(seconds)),
            *(mean(row[k] for row in proven) if proven else None for k in (2, 3)),
            sum(row[3] == 1 for row in proven),
        )
    share = sum(row[1].status is Status.OPTIMAL for row in rows_of["all"]) / len(rows_of["all"])
    text = f"proven within {SECONDS:.0f} s: at least {SHARE:.0%}"
    report.target(text, f"{share:.0%}", share >= SHARE)


def relaxations(report: Report) -> None:
    """Table 2."""
    report.table(
        "2. One linear program for many tasks, with its rational bound",
        *("tasks", "deadlines", "bound", "s"),
    )
    slowest = 0.0
    for tasks in (200, LARGE):
        for ratio in (2.0, 10.0, 100.0):
            begun = time.perf_counter()
            answer = bound_fluid(large(tasks, ratio), relax=True)
            seconds = time.perf_counter() - begun
            report.row(tasks, f"{ratio:g} x", answer.bound, seconds)
            slowest = max(slowest, seconds)
    text = f"{LARGE} tasks bounded within {LARGE_SECONDS:.0f} s"
    report.target(text, f"{slowest:.1f} s", slowest <= LARGE_SECONDS)


def middle_sized(report: Report) -> None:
    """Table 3."""
    limit = SECONDS / 6 if report.quick else SECONDS
    count = 5 if report.quick else COUNT
    report.table(
        f"3. Clairvoyant optimum of {count} streams of each size, two threads, {limit:.0f} s each",
        *("nodes x tasks", "proven", "largest gap", "median s", "accepted", "online", "bound"),
    )
    for (nodes, tasks), least in MIDDLE.items():
        rows = []
        for number in range(count):
            instance = middle(nodes, tasks, number)
            online: Any = max(solve(instance, name).value for name in ONLINE)
            found: Any = solve(instance, limits=Limits(time_s=limit, threads=2))
            rows.append((found, online))
        proven = fmean(found.status is Status.OPTIMAL for found, _ in rows)
        gap = max(found.bound - found.value for found, _ in rows)
        numbers = [(found.runtime_s, found.value, online, found.bound) for found, online in rows]
        seconds, values, onlines, bounds = zip(*numbers, strict=True)
        name = f"{nodes} x {tasks}"
        report.row(
            name, f"{proven:.0%}", gap, median(seconds), *map(fmean, (values, onlines, bounds))
        )
        report.target(f"{name}: at least {least:.0%} proven", f"{proven:.0%}", proven >= least)
        report.target(f"{name}: every gap at most one task", str(gap), gap <= 1)


TABLES = {1: optima, 2: relaxations, 3: middle_sized}


if __name__ == "__main__":
    sys.exit(run("admission_exact", TABLES))
