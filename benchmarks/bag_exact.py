"""How much can be proven of independent tasks: ``python -m benchmarks.bag_exact --help``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from benchmarks.measure import Report, run
from dlopt.api import solve
from dlopt.arithmetic import exact
from dlopt.formats.etc import parse_etc
from dlopt.generation.bag import of_matrix, small
from dlopt.result import Limits, Status

DATA = Path(os.environ.get("DLOPT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SECONDS = 60.0
"""In how many seconds a matrix of 512 x 16 must come ..."""
NEAR = 0.01
"""... so close to the best value that is known."""
COUNT = 20


def matrices(report: Report) -> None:
    """Table 1."""
    report.table(
        f"1. Makespans of Braun et al.'s matrices, {SECONDS:.0f} s, 2 threads",
        *("matrix", "bound", "s", "min-min", "value", "best known", "above it", "gap", "s in all"),
    )
    folder, worst = DATA / "etc_braun", 0.0
    lines = (folder / "makespans.csv").read_text().splitlines()[1:]
    for line in lines[:2] if report.quick else lines:
        name, _, _, _, best, *_ = line.split(",")
        times = parse_etc((folder / name).read_text().splitlines(), name=name)
        instance = of_matrix(times)
        begun = time.perf_counter()
        bound = solve(instance, "bound-lp").bound
        bounded = time.perf_counter() - begun
        begun = time.perf_counter()
        found = solve(instance, limits=Limits(time_s=SECONDS, threads=2))
        seconds = time.perf_counter() - begun
        above = float(found.value) / float(best) - 1
        worst = max(worst, above)
        start = solve(instance, "min-min").value
        report.row(
            *(name, bound, bounded, start, found.value, float(best)),
            *(f"{above:.2%}", f"{float(found.gap):.2%}", seconds),
        )
    text = f"within {NEAR:.0%} of the best known value"
    report.target(text, f"{worst:.2%}", worst <= NEAR)


def grids(report: Report) -> None:
    """Table 2."""
    report.table(
        f"2. Critical tasks in time, then all, of {COUNT} small grids",
        *("tasks x machines", "grids", "proven", "median s", "gds / optimum", "edf / optimum"),
    )
    for tasks, machines in ((8, 3), (16, 5)):
        seconds, proven, shares = [], 0, {"gds": 0.0, "edf": 0.0}
        count = 5 if report.quick else COUNT
        for seed in range(count):
            instance = small(tasks=tasks, machines=machines, tightness=1, seed=seed)
            begun = time.perf_counter()
            found = solve(instance, limits=Limits(time_s=SECONDS))
            seconds.append(time.perf_counter() - begun)
            proven += found.status is Status.OPTIMAL
            for name in shares:
                met = solve(instance, name, objective="accepted").value
                shares[name] += float(exact(met) / max(found.bound[1], 1)) / count
        middle = sorted(seconds)[count // 2]
        report.row(f"{tasks} x {machines}", count, proven, middle, *shares.values())


TABLES = {1: matrices, 2: grids}


if __name__ == "__main__":
    sys.exit(run("bag_exact", TABLES))
