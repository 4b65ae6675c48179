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
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.problems.bag import Instance, success_ratios
from dlopt.registry import method

RULES: tuple[batch_mode.BatchRule, ...] = ("min-min", "max-min", "sufferage")
MAX_SECONDS = {512: 0.05, 8192: 30.0}
"""Target: seconds for a matrix of so many tasks, on 16 and on 256 machines."""
MIN_SPEEDUP = 50
"""Target: times faster than the loop of the textbook."""
MAX_GDS_SECONDS = 60.0
"""Target: seconds of GDS for 5,000 tasks."""


def timed(task: Callable[[], Any], rounds: int = 1) -> tuple[float, Any]:
    """Return the median seconds of the processor, after a warm-up if there are several rounds."""
    spent = []
    for _ in range(rounds + (rounds > 1)):
        gc.collect()
        begun = time.process_time()
        answer = task()
        spent.append(time.process_time() - begun)
    return statistics.median(spent[-rounds:]), answer


def textbook(arrays: InstanceArrays, rule: str) -> list[tuple[int, int]]:
    """Return the steps of a batch rule with every end computed again in every step: O(n^2 m).

    That is what Braun et al. 2001 print: for each task that is left the machine on which it ends
    first, then the task, then the ready times again. All tasks are there from the start, so that
    the loop needs nothing else: one sum and one comparison (two for sufferage) for each task
    and machine.
    """
    times = arrays.durations
    free = [0.0] * len(times[0])
    left, steps = list(range(len(times))), []
    sufferage, sign = rule == "sufferage", -1 if rule == "max-min" else 1
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


def recomputed(arrays: InstanceArrays, rule: str) -> list[tuple[int, int]]:
    """Return the same steps, with every end computed again by operations on arrays."""
    import numpy as np

    times = np.array(arrays.durations)
    free, left, steps = np.zeros(times.shape[1]), np.arange(len(times)), []
    while left.size:
        ends = times[left] + free
        first = ends.min(axis=1)
        if rule == "sufferage":
            keys = first - np.partition(ends, 1, axis=1)[:, 1]
        else:
            keys = first if rule == "min-min" else -first
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
        *("matrix", *RULES, "mct"),
    )
    sizes = ((512, 16), (2048, 64)) if report.quick else ((512, 16), (2048, 64), (8192, 256))
    for tasks, machines in sizes:
        worst = 0.0
        for kind, instance in matrices(tasks, machines).items():
            names = (*RULES, "mct")
            rounds = 1 if tasks > 5000 else 7
            spent = {name: timed(answered(name, instance), rounds)[0] for name in names}
            report.row(f"{tasks} x {machines}, {kind}", *spent.values())
            worst = max(worst, *(spent[name] for name in RULES))
        limit = MAX_SECONDS.get(tasks)
        if limit is not None:
            text = f"{tasks} x {machines}: at most {1e3 * limit:.0f} ms each"
            report.target(text, f"{1e3 * worst:.0f} ms", worst <= limit)


def against_textbook(report: Report) -> None:
    """Table 2: the same steps by the textbook loop, on arrays, and by the reference code."""
    report.table(
        "2. Times faster than the loop of the textbook",
        *("matrix, rule", "seconds", "textbook", "ratio", "arrays", "ratio", "reference"),
    )
    least = float("inf")
    for tasks, machines in ((512, 16),) if report.quick else ((512, 16), (2048, 64)):
        for kind, instance in matrices(tasks, machines).items():
            for rule in RULES:
                fast, steps = timed(
                    lambda r=rule, i=instance: batch_mode.map_batch(
                        InstanceArrays(i), r, run_late=False
                    ),
                    7,
                )
                slow, first = timed(lambda r=rule, i=instance: textbook(InstanceArrays(i), r))
                arrays, second = timed(lambda r=rule, i=instance: recomputed(InstanceArrays(i), r))
                reference, third = None, steps
                if tasks < 1000:
                    reference, third = timed(
                        lambda r=rule, i=instance: list(
                            batch_mode.map_by_steps(InstanceArrays(i), r, run_late=False)
                        )
                    )
                if not steps == first == second == third:
                    raise RuntimeError(f"{rule} on {kind}: the implementations disagree")
                least = min(least, slow / fast) if tasks > 1000 else least
                report.row(
                    *(f"{tasks} x {machines}, {kind}, {rule}", fast, slow, slow / fast),
                    *(arrays, arrays / fast, reference),
                )
    if not report.quick:
        text = f"2048 x 64: at least {MIN_SPEEDUP} x the textbook, whatever the matrix and the rule"
        report.target(text, f"{least:.0f} x", least >= MIN_SPEEDUP)


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
    report.target(
        f"GDS: at most {MAX_GDS_SECONDS:.0f} s", f"{worst:.1f} s", worst <= MAX_GDS_SECONDS
    )


TABLES = {1: mapping, 2: against_textbook, 3: grids}


if __name__ == "__main__":
    sys.exit(run("bag", TABLES))
