"""Certified gaps of co-reservation: ``python -m benchmarks.coreservation --help``.

A row is one instance; with ``--rows FILE`` rows are kept there as they come, and those that are
there already are not run again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.rows import Rows, kept, plain
from benchmarks.timing import Report, solver_output_to_stderr
from dlopt import solve
from dlopt.formats import binpack
from dlopt.generation.bin_packing_requests import bin_packing_instance
from dlopt.generation.coreservation import min5, overloaded
from dlopt.models.coreservation.ruin_and_recreate.parallel import is_available
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import Instance
from dlopt.result import Limits, Result, Status

SIZES = {20: 1, 50: 3, 100: 5, 300: 7}
"""Requests of the overloaded instances, and the target of the median gap in %."""
PROVEN = (4, 6, 8, 10)
"""Requests of the instances that must be proven."""
MIN5, MIN5_GAP = 300, 2
SEEDS = tuple(range(10))
"""The published ones."""
CLASSES = {"binpack1.txt": "u120", "binpack5.txt": "t60"}
PACKED = 0.9
PACKED_OVER_TIME = 110 / 127
SECONDS, THREADS = 60.0, 2
DATA = Path(os.environ.get("DLOPT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def compile_moves() -> None:
    """Compile the moves of ruin and recreate in advance: their time must not count."""
    if is_available():
        RuinAndRecreate(ScaledInstance.from_instance(min5(requests=2)), {}, fast=True).run(1)


FORM = plain("packing", "name")


@dataclass
class SolvedInstances:
    """The rows of instances by name; those that are missing are solved on demand."""

    kept: Rows[dict[str, Any]]
    seconds: float

    def get(self, name: str, make: Callable[[], Instance], objective: str) -> dict[str, Any]:
        """Return the row of an instance, solving it if it is not there."""
        if (name,) not in self.kept.by_key:
            compile_moves()
            limits = Limits(time_s=self.seconds, threads=THREADS)
            instance, begun = make(), time.perf_counter()
            with solver_output_to_stderr():
                found = solve(instance, objective=objective, limits=limits)
            seconds = time.perf_counter() - begun
            self.kept.add({"name": name, "seconds": seconds, **_to_row(found)})
        return self.kept.by_key[name,]


def _to_row(found: Result[Any]) -> dict[str, Any]:
    value, bound = (
        [float(n) for n in (one if isinstance(one, tuple) else (one,))]
        for one in (found.value, found.bound)
    )
    return {
        "status": str(found.status),
        "value": value,
        "bound": bound,
        "gap": 100 * abs(value[0] - bound[0]) / abs(value[0]) if value[0] else 0.0,
    }


def _gaps(
    report: Report,
    solved: SolvedInstances,
    family: str,
    size: int,
    make: Callable[[int], Instance],
    most: float,
) -> None:
    """Solve a size for all seeds, and compare the median gap with its target."""
    found = []
    for seed in WANTED:
        row = solved.get(f"{family}-{size}-{seed}", lambda seed=seed: make(seed), "benefit")  # type: ignore[misc]
        found.append(row["gap"])
        report.row(
            f"{family} {size}, seed {seed}",
            *row["value"],
            *row["bound"],
            row["gap"],
            row["seconds"],
        )
    text = f"{family}, {size} requests: median gap at most {most} %"
    middle, worst = median(found), max(found)
    report.target(text, f"{middle:.2f} %, worst {worst:.2f} %", middle <= most)


def gaps(report: Report, solved: SolvedInstances, sizes: tuple[int, ...]) -> None:
    """Table 1: the certified gap of overloaded machines, and of Min's own setting."""
    title = f"1. Certified gap in % after {solved.seconds:.0f} s on {THREADS} threads, benefit"
    report.table(title, "instance", "value", "bound", "gap %", "seconds")
    for size, most in SIZES.items():
        if size in sizes:
            make: Callable[[int], Instance] = lambda seed, size=size: overloaded(  # noqa: E731
                requests=size, seed=seed
            )
            _gaps(report, solved, "overloaded", size, make, most)
    if MIN5 in sizes:
        _gaps(report, solved, "min-5", MIN5, lambda seed: min5(requests=MIN5, seed=seed), MIN5_GAP)


def proofs(report: Report, solved: SolvedInstances, sizes: tuple[int, ...]) -> None:
    """Table 2: small instances are proven."""
    title = f"2. Proofs within {solved.seconds:.0f} s, benefit"
    report.table(title, "instance", "value", "bound", "gap %", "seconds")
    proven = total = 0
    for size in (size for size in PROVEN if size in sizes):
        for seed in WANTED:
            row = solved.get(
                f"overloaded-{size}-{seed}",
                lambda size=size, seed=seed: overloaded(requests=size, seed=seed),  # type: ignore[misc]
                "benefit",
            )
            total, proven = total + 1, proven + (row["status"] == Status.OPTIMAL)
            name = f"overloaded {size}, seed {seed}"
            report.row(name, *row["value"], *row["bound"], row["gap"], row["seconds"])
    if total:
        report.target("up to 10 requests: all proven", f"{proven} of {total}", proven == total)


def packings(report: Report, solved: SolvedInstances, sizes: tuple[int, ...]) -> None:
    """Table 3: Falkenauer's bin packing instances."""
    title = f"3. Fewest bins within {solved.seconds:.0f} s"
    report.table(title, "class", "items", "proven", "of", "median s", "worst s")
    for file, name in CLASSES.items():
        path = DATA / "binpack" / "orlib" / file
        if not path.is_file():
            print(f"{name}: no data, set DLOPT_DATA to the folder that holds binpack")
            continue
        found = [
            solved.get(f"{name}-{label}", lambda made=made: made, "rejections-then-machines")  # type: ignore[misc]
            for label, made in _falkenauer(path)
        ]
        good = sum(row["status"] == Status.OPTIMAL for row in found)
        times = [row["seconds"] for row in found]
        report.row(name, len(found), good, len(found), median(times), max(times))
        text = f"Falkenauer {name}: at least {PACKED:.0%} at the proven optimum"
        report.target(text, f"{good} of {len(found)}", good >= PACKED * len(found))


def _falkenauer(path: Path) -> Iterator[tuple[str, Instance]]:
    """Yield the problems of a file of the OR-Library, with some machines more than it says."""
    for problem in binpack.read(path, "orlib"):
        yield problem.name, bin_packing_instance(problem, machines=(problem.best_known or 0) + 5)


def packings_over_time(report: Report, solved: SolvedInstances, sizes: tuple[int, ...]) -> None:
    """Table 4: temporal bin packing, with as many machines as first fit decreasing needs."""
    title = f"4. Fewest bins of items with a start and an end within {solved.seconds:.0f} s"
    report.table(title, "set", "number", "proven", "gaps of 1", "larger", "median s", "worst s")
    folder = DATA / "binpack" / "temporal"
    proven = total = 0
    for group in sorted(path for path in folder.glob("*") if path.is_dir()):
        found = [
            solved.get(
                path.relative_to(folder).as_posix(),
                lambda path=path: bin_packing_instance(*binpack.read(path, "temporal")),  # type: ignore[misc]
                "rejections-then-machines",
            )
            for path in sorted(group.rglob("*_*.txt"))
        ]
        gaps = [row["value"][1] - row["bound"][1] for row in found]
        good = sum(row["status"] == Status.OPTIMAL for row in found)
        times = [row["seconds"] for row in found]
        report.row(
            group.name,
            len(found),
            good,
            gaps.count(1),
            sum(gap > 1 for gap in gaps),
            median(times),
            max(times),
        )
        total, proven = total + len(found), proven + good
    if not total:
        print("temporal bin packing: no data, set DLOPT_DATA to the folder that holds binpack")
        return
    text = f"temporal bin packing: at least {PACKED_OVER_TIME:.0%} at the proven optimum"
    report.target(text, f"{proven} of {total}", proven >= PACKED_OVER_TIME * total)


TABLES = {1: gaps, 2: proofs, 3: packings, 4: packings_over_time}
WANTED: tuple[int, ...] = SEEDS


def main() -> int:
    """Run what the command line asks for; return 1 if a target is missed."""
    global WANTED
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coreservation")
    parser.add_argument("--tables", default="1234", help="which ones, e.g. 12 (default: all)")
    parser.add_argument("--sizes", help="numbers of requests, e.g. 20,50 (default: all)")
    parser.add_argument("--seeds", help="e.g. 0,1 (default: the ten published ones)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each instance")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="keep rows there, and resume")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there, too")
    asked = parser.parse_args()
    sizes = tuple(map(int, asked.sizes.split(","))) if asked.sizes else (*SIZES, *PROVEN)
    if asked.seeds:
        WANTED = tuple(map(int, asked.seeds.split(",")))
    report = Report(False)
    with kept(asked.rows, FORM) as rows:
        solved = SolvedInstances(rows, asked.seconds)
        for number, table in TABLES.items():
            if str(number) in asked.tables:
                table(report, solved, sizes)
    if asked.json:
        report.write(asked.json)
    missed = sum(not target["passed"] for target in report.targets)
    print(f"\n{len(report.targets)} targets, {missed} missed", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
