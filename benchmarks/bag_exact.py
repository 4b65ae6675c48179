"""How much can be proven of independent tasks: ``python -m benchmarks.bag_exact --help``."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.timing import Report, run
from dlopt.api import solve
from dlopt.arithmetic import exact
from dlopt.formats.etc import parse_etc
from dlopt.generation.bag import instance_from_etc, small
from dlopt.result import Limits, Status

DATA = Path(os.environ.get("DLOPT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SECONDS = 60.0
"""In how many seconds a matrix of 512 x 16 must come ..."""
NEAR = 0.001
"""... so close to the best value that is known."""
COUNT = 20


def matrices(report: Report) -> None:
    """Table 1."""
    report.table(
        f"1. Makespans of Braun et al.'s matrices, {SECONDS:.0f} s, 2 threads",
        *("matrix", "bound", "s", "min-min", "value", "best known", "above it", "gap", "s in all"),
    )
    with (DATA / "etc_braun" / "makespans.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    found = [matrix(report, line) for line in (lines[:2] if report.quick else lines)]
    text = f"within {NEAR:.1%} of the best known value"
    worst = max(above for above, _ in found)
    report.target(text, f"{worst:.3%}", worst <= NEAR)
    off = max(off for _, off in found)
    report.target("bound: that of the file, to 1e-6 or its last digit", f"{off:.1e}", off <= 1)


def matrix(report: Report, line: Mapping[str, str]) -> tuple[float, float]:
    """Solve a matrix; return how far it is above the best known, and the bound off the file's.

    The latter by what is allowed: 1e-6 of it, or half a unit of the only decimal in the file.
    """
    name, best = line["file"], float(line["best_known_solution_verified"])
    times = parse_etc((DATA / "etc_braun" / name).read_text().splitlines(), name=name)
    instance = instance_from_etc(times)
    begun = time.perf_counter()
    bound = solve(instance, "bound-lp").bound
    bounded = time.perf_counter() - begun
    begun = time.perf_counter()
    found = solve(instance, limits=Limits(time_s=SECONDS, threads=2))
    seconds = time.perf_counter() - begun
    above = float(found.value) / best - 1
    start = solve(instance, "min-min").value
    report.row(
        *(name, f"{float(bound):.1f}", bounded, start, f"{float(found.value):.1f}", best),
        *(f"{above:.2%}", f"{float(found.gap):.2%}", seconds),
    )
    stated = float(line["lp_lower_bound_computed"])
    return above, abs(float(bound) - stated) / max(1e-6 * stated, 0.05)


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
