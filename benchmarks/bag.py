"""Speed of the rules for independent tasks: ``python -m benchmarks.bag --help``.

Seconds are those of the processor: what takes long would suffer more from other processes than
what is over at once, and a ratio of the two would flatter the latter.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.timing import Report, run
from dlopt import solve
from dlopt.generation.bag import braun, gds
from dlopt.heuristics.bag import batch_mode
from dlopt.heuristics.bag.instance_arrays import Case
from dlopt.problems.bag import Instance, success_ratios
from dlopt.registry import method

CHOICES: tuple[batch_mode.Choice, ...] = ("min-min", "max-min", "sufferage")
SMALL, LARGE, FASTER, GRID = 0.05, 30.0, 50, 60.0
"""Seconds at 512 x 16 and 8,192 x 256; times faster than the textbook; seconds of GDS."""


def timed(task: Callable[[], Any], rounds: int = 1) -> tuple[float, Any]:
    """Return the median seconds of the processor, after a warm-up if there are several rounds."""
    spent = []
    for _ in range(rounds + (rounds > 1)):
        gc.collect()
        begun = time.process_time()
        answer = task()
        spent.append(time.process_time() - begun)
    return statistics.median(spent[-rounds:]), answer


def textbook(case: Case, choice: str) -> list[tuple[int, int]]:
    """Return the steps of a batch rule with every end computed anew in every step: O(n^2 m).

    That is what Braun et al. 2001 print: for each task that is left the machine on which it ends
    first, then the task, then the ready times again. All tasks are there from the start, so that
    the loop has nothing else to ask: one sum and one comparison (two for sufferage) for each task
    and machine.
    """
    times = case.rows
    free = [0.0] * len(times[0])
    left, steps = list(range(len(times))), []
    sufferage, sign = choice == "sufferage", -1 if choice == "max-min" else 1
    while left:
        chosen: tuple[float, int, int, float] | None = None
        for task in left:
            first = second = float("inf")
            where = 0
            for machine, length in enumerate(times[task]):
                end = free[machine] + length
                if end < first:
                    first, second, where = end, first, machine
                elif sufferage and end < second:
                    second = end
            key = first - second if sufferage else sign * first
            if chosen is None or key < chosen[0]:
                chosen = (key, task, where, first)
        assert chosen is not None
        _, task, machine, end = chosen
        left.remove(task)
        steps.append((task, machine))
        free[machine] = end
    return steps


def anew(case: Case, choice: str) -> list[tuple[int, int]]:
    """Return the same steps, with every end computed anew by operations on arrays."""
    import numpy as np

    times = np.array(case.rows)
    free, left, steps = np.zeros(times.shape[1]), np.arange(len(times)), []
    while left.size:
        ends = times[left] + free
        first = ends.min(axis=1)
        if choice == "sufferage":
            keys = first - np.partition(ends, 1, axis=1)[:, 1]
        else:
            keys = first if choice == "min-min" else -first
        row = int(keys.argmin())
        machine = int(ends[row].argmin())
        steps.append((int(left[row]), machine))
        free[machine] = ends[row, machine]
        left = np.delete(left, row)
    return steps


def matrices(tasks: int, machines: int) -> dict[str, Instance]:
    """Return matrices of high heterogeneity."""
    return {
        kind: braun(tasks=tasks, machines=machines, consistency=kind, seed=1)
        for kind in ("consistent", "semi-consistent", "inconsistent")
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
            rounds = 1 if tasks > 5000 else 7
            spent = {name: timed(answered(name, instance), rounds)[0] for name in names}
            report.row(f"{tasks} x {machines}, {kind}", *spent.values())
            worst = max(worst, *(spent[name] for name in CHOICES))
        limit = {512: SMALL, 8192: LARGE}.get(tasks)
        if limit is not None:
            text = f"{tasks} x {machines}: at most {1e3 * limit:.0f} ms each"
            report.target(text, f"{1e3 * worst:.0f} ms", worst <= limit)


def against_textbook(report: Report) -> None:
    """Table 2: the same steps by the loop of the textbook, on arrays, and by the plain twin."""
    report.table(
        "2. Times faster than the loop of the textbook",
        *("matrix, rule", "seconds", "textbook", "ratio", "arrays", "ratio", "plain twin"),
    )
    least = float("inf")
    for tasks, machines in ((512, 16),) if report.quick else ((512, 16), (2048, 64)):
        for kind, instance in matrices(tasks, machines).items():
            for choice in CHOICES:
                fast, steps = timed(
                    lambda c=choice, i=instance: batch_mode.ordered(Case(i), c, late=False), 7
                )
                slow, first = timed(lambda c=choice, i=instance: textbook(Case(i), c))
                arrays, second = timed(lambda c=choice, i=instance: anew(Case(i), c))
                twin, third = None, steps
                if tasks < 1000:
                    twin, third = timed(
                        lambda c=choice, i=instance: list(
                            batch_mode.stepwise(Case(i), c, late=False)
                        )
                    )
                if not steps == first == second == third:
                    raise RuntimeError(f"{choice} on {kind}: several ways, more than one order")
                least = min(least, slow / fast) if tasks > 1000 else least
                report.row(
                    *(f"{tasks} x {machines}, {kind}, {choice}", fast, slow, slow / fast),
                    *(arrays, arrays / fast, twin),
                )
    if not report.quick:
        text = f"2048 x 64: at least {FASTER} x the textbook, whatever the matrix and the rule"
        report.target(text, f"{least:.0f} x", least >= FASTER)


def grids(report: Report) -> None:
    """Table 3: GDS at the scale of the paper."""
    report.table(
        "3. A grid of 17 sites with 20 to 50 machines each, 5,000 tasks; plans checked",
        *("load, method", "seconds", "critical", "overall"),
    )
    worst = 0.0
    for load in (1,) if report.quick else (0.7, 1, 1.5):
        instance = gds(tasks=5000, load=load, seed=1)
        for name in ("gds", "gds-without-shuffle", "edf", "priority-edf"):
            seconds, found = timed(lambda name=name, instance=instance: solve(instance, name))
            critical, overall = success_ratios(instance, found.solution)
            report.row(f"{load}, {name}", seconds, float(critical or 0), float(overall))
            worst = max(worst, seconds) if name.startswith("gds") else worst
    report.target(f"GDS: at most {GRID:.0f} s", f"{worst:.1f} s", worst <= GRID)


TABLES = {1: mapping, 2: against_textbook, 3: grids}


if __name__ == "__main__":
    sys.exit(run("bag", TABLES))
