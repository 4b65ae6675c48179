"""Speed of the rules for independent tasks: ``python -m benchmarks.bag --help``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Report, interleaved, once, run
from dlopt import solve
from dlopt.generation.bag import braun, gds
from dlopt.heuristics.bag import batch
from dlopt.heuristics.bag.case import Case
from dlopt.problems.bag import Instance, success_ratios
from dlopt.registry import method

CHOICES: tuple[batch.Choice, ...] = ("min-min", "max-min", "sufferage")
SMALL, LARGE, FASTER, GRID = 0.05, 30.0, 50, 60.0
"""Seconds at 512 x 16 and 8,192 x 256; times faster than the textbook; seconds of GDS."""


def textbook(case: Case, choice: str) -> list[tuple[int, int]]:
    """Return the steps of a batch rule with every end computed anew in every step: O(n^2 m).

    An end is what it is anywhere here: a task waits for the machine and for its input.
    """
    times = case.rows
    here = [[case.earliest(task, k) for k in range(len(row))] for task, row in enumerate(times)]
    free = [0.0] * len(times[0])
    machines = range(len(free))
    left, steps = list(range(len(times))), []
    while left:
        chosen: tuple[float, int, int, float] | None = None
        for task in left:
            row, earliest = times[task], here[task]
            first = second = float("inf")
            where = 0
            for machine in machines:
                end = max(free[machine], earliest[machine]) + row[machine]
                if end < first:
                    first, second, where = end, first, machine
                elif end < second:
                    second = end
            key = {"min-min": first, "max-min": -first}.get(choice, first - second)
            if chosen is None or key < chosen[0]:
                chosen = (key, task, where, first)
        assert chosen is not None
        _, task, machine, end = chosen
        left.remove(task)
        steps.append((task, machine))
        free[machine] = end
    return steps


def matrices(tasks: int, machines: int) -> dict[str, Instance]:
    """Return matrices of high heterogeneity, consistent and not."""
    return {
        kind: braun(tasks=tasks, machines=machines, consistency=kind, seed=1)
        for kind in ("consistent", "inconsistent")
    }


def answered(name: str, instance: Instance) -> Callable[[], Any]:
    """Return a call of a method as the registry has it: numbers read, mapped, and a plan made."""
    function = method("bag", name).load()
    return lambda: function(instance, objective="makespan")


def mapping(report: Report) -> None:
    """Table 1: seconds from an instance to a plan."""
    report.table(
        "1. Seconds from an instance to a plan",
        *("matrix", *CHOICES, "mct"),
    )
    sizes = ((512, 16), (2048, 64)) if report.quick else ((512, 16), (2048, 64), (8192, 256))
    for tasks, machines in sizes:
        worst = 0.0
        for kind, instance in matrices(tasks, machines).items():
            names = (*CHOICES, "mct")
            if tasks > 5000:
                found = {name: once(answered(name, instance)) for name in names}
            else:
                found = interleaved({name: answered(name, instance) for name in names}, 7)
            spent = {name: timing.median for name, timing in found.items()}
            report.row(f"{tasks} x {machines}, {kind}", *spent.values())
            worst = max(worst, *(spent[name] for name in CHOICES))
        limit = {512: SMALL, 8192: LARGE}.get(tasks)
        if limit is not None:
            text = f"{tasks} x {machines}: at most {1e3 * limit:.0f} ms each"
            report.target(text, f"{1e3 * worst:.0f} ms", worst <= limit)


def against_textbook(report: Report) -> None:
    """Table 2: the same steps by the loop of the textbook, and by the plain twin."""
    report.table(
        "2. Times faster than the loop of the textbook",
        *("matrix", "rule", "seconds", "plain twin", "textbook", "ratio"),
    )
    tasks, machines = (512, 16) if report.quick else (2048, 64)
    least = float("inf")
    for kind, instance in matrices(tasks, machines).items():
        for choice in CHOICES if kind == "consistent" else CHOICES[:1]:
            fast = interleaved(
                {choice: lambda c=choice, i=instance: batch.ordered(Case(i), c, late=False)}, 5
            )[choice]
            twin = once(lambda c=choice, i=instance: list(batch.stepwise(Case(i), c, late=False)))
            slow = once(lambda c=choice, i=instance: textbook(Case(i), c))
            if not fast.answer == twin.answer == slow.answer:
                raise RuntimeError(f"{choice} on {kind}: three ways, more than one order")
            ratio = slow.median / fast.median
            least = min(least, ratio)
            spent = (fast.median, twin.median, slow.median)
            report.row(f"{tasks} x {machines}, {kind}", choice, *spent, ratio)
    if not report.quick:
        text = f"{tasks} x {machines}: at least {FASTER} x the textbook"
        report.target(text, f"{least:.0f} x", least >= FASTER)


def grids(report: Report) -> None:
    """Table 3: GDS at the scale of the paper."""
    report.table(
        "3. A grid of 17 sites with 20 to 50 machines each, 5,000 tasks",
        *("load, method", "seconds", "critical", "overall"),
    )
    worst = 0.0
    for load in (1,) if report.quick else (0.7, 1, 1.5):
        instance = gds(tasks=5000, load=load, seed=1)
        for name in ("gds", "gds-without-shuffle", "edf", "priority-edf"):
            timing = once(lambda name=name, instance=instance: solve(instance, name))
            critical, overall = success_ratios(instance, timing.answer.solution)
            seconds = timing.answer.runtime_s
            report.row(f"{load}, {name}", seconds, float(critical or 0), float(overall))
            worst = max(worst, seconds) if name.startswith("gds") else worst
    report.target(f"GDS: at most {GRID:.0f} s", f"{worst:.1f} s", worst <= GRID)


TABLES = {1: mapping, 2: against_textbook, 3: grids}


if __name__ == "__main__":
    sys.exit(run("bag", TABLES))
