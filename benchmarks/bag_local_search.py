"""Local search over GDS against EDF that rejects late tasks.

The grid of figures 7 to 10 of Liu, Baskiyar and Li 2007 (17 sites of 20 to 50 machines; a load of 1
is 2,500 tasks), and small grids compared with proven optima. All methods run on the same instances
in the same process; times are those of the processor.
``python -m benchmarks.bag_local_search --help``
"""

from __future__ import annotations

import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.bag_runs import BASE, experiments, pooled
from dlopt import solve
from dlopt.generation.bag import gds
from dlopt.heuristics.bag.gds import GdsScheduler
from dlopt.heuristics.bag.gds_local_search import GdsLocalSearch
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.plotting.line_charts import Curve, DataPoint, Panel, plot_curves
from dlopt.problems.bag import Instance
from dlopt.result import Limits, Status
from dlopt.simulation.replications import estimate

TASKS = (1000, 1500, 2000, 2500, 3000)
METHODS = ("gds", "edf", "gds-local-search")
SHARE = 0.95
"""Share of the runs in which the local search has to be at least as good as EDF."""
TICKET_RUNS = 3
"""Tickets are counted in so many runs of each size."""
SECONDS = 20.0
"""Limit of each proof of an optimum."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Tasks on time (critical, all) by method, a bound of the latter, processor times, tickets."""

    values: dict[str, tuple[int, int]]
    bound: float
    seconds: dict[str, float]
    tickets: tuple[int, int] | None


def outcome(instance: Instance, bound: float, seed: int) -> Outcome:
    """Return what the methods attain on an instance; every schedule is verified."""
    values, seconds = {}, {}
    for name in METHODS:
        begun = time.process_time()
        found = solve(instance, name, objective="critical-then-all")
        seconds[name] = time.process_time() - begun
        assert isinstance(found.value, tuple) and not found.violations
        values[name] = int(found.value[0]), int(found.value[1])
    counts = tickets(instance) if seed < TICKET_RUNS else None
    return Outcome(values, bound, seconds, counts)


def tickets(instance: Instance) -> tuple[int, int]:
    """Return how many tickets GDS sends, and how many the local search sends after it."""
    scheduler = GdsScheduler(InstanceArrays(instance))
    scheduler.run()
    search = GdsLocalSearch(scheduler, "critical-then-all")
    for _ in search.steps():
        pass
    return scheduler.messages.tickets, search.tickets


def grid_outcomes(tasks: int, runs: int) -> list[Outcome]:
    """Return outcomes on the paper's grid; the bound pools all machines and sends nothing."""
    grids = (gds(tasks=tasks, load=tasks / BASE, seed=seed) for seed in range(runs))
    return [outcome(grid, round(pooled(grid)[1] * tasks), seed) for seed, grid in enumerate(grids)]


def small_outcomes(tasks: int, runs: int) -> list[Outcome]:
    """Return outcomes on small grids whose optimum is proven, which is the bound."""
    parameters = experiments(runs, quick=False)["small"].points[tasks]
    found = []
    for seed in range(runs):
        grid = gds(seed=seed, **parameters)
        best = solve(grid, objective="critical-then-all", limits=Limits(time_s=SECONDS))
        if best.status is Status.OPTIMAL and isinstance(best.value, tuple):
            found.append(outcome(grid, float(best.value[1]), seed))
    return found


def row(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the cells of a row: means, critical / all, and of the difference half its interval."""
    for name in METHODS:
        means = (statistics.fmean(one.values[name][level] for one in outcomes) for level in (0, 1))
        yield " / ".join(f"{mean:,.1f}" for mean in means)
    yield f"{statistics.fmean(one.bound for one in outcomes):,.1f}"
    mean, half = estimate([difference(one) for one in outcomes])
    yield f"{mean:+.1f}" + ("" if half is None else f" ± {half:.1f}")
    yield f"{sum(difference(one) >= 0 for one in outcomes)} of {len(outcomes)}"
    distance = sum(one.bound - one.values["gds"][1] for one in outcomes)
    won = sum(one.values["gds-local-search"][1] - one.values["gds"][1] for one in outcomes)
    yield f"{100 * won / distance:.0f} %" if distance else "-"
    for name in METHODS:
        yield f"{statistics.fmean(one.seconds[name] for one in outcomes):.2f}"
    counts = [one.tickets for one in outcomes if one.tickets is not None]
    for which in (0, 1):
        yield f"{statistics.fmean(count[which] for count in counts):,.0f}" if counts else "-"


def difference(one: Outcome) -> int:
    """Return how many more tasks of all are on time than by EDF."""
    return one.values["gds-local-search"][1] - one.values["edf"][1]


HEADS = (
    "tasks",
    *METHODS,
    "bound",
    "to EDF",
    "no fewer than EDF",
    "won back",
    *(f"{name}, s" for name in METHODS),
    "tickets of GDS",
    "further tickets",
)


def targets(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, bool]]:
    """Yield each target with its measurement, and whether it is met."""
    good = sum(difference(one) >= 0 for one in outcomes)
    yield (
        f"at least as many tasks as EDF in {SHARE:.0%} of the runs: {good} of {len(outcomes)}",
        good >= SHARE * len(outcomes),
    )
    mean, half = estimate([difference(one) for one in outcomes])
    yield f"more than EDF in the mean: {mean:+.2f} ± {half or 0:.2f}", mean > (half or 0)
    worse = sum(one.values["gds-local-search"] < one.values["gds"] for one in outcomes)
    yield f"never worse than GDS, critical tasks first: worse in {worse}", worse == 0
    critical = sum(one.values["gds-local-search"][0] < one.values["edf"][0] for one in outcomes)
    yield f"never fewer critical tasks than EDF: fewer in {critical}", critical == 0


def draw(path: Path, outcomes: Mapping[int, Sequence[Outcome]]) -> None:
    """Draw which share of all tasks is on time, and critical and on time, over their number."""
    panels: list[Panel] = []
    for level, label in ((1, "on time (% of all tasks)"), (0, "critical and on time (%)")):
        curves = [
            Curve(
                name,
                tuple(
                    _point(tasks, [one.values[name][level] for one in found])
                    for tasks, found in outcomes.items()
                ),
            )
            for name in METHODS
        ]
        if level:
            bounds = (
                _point(tasks, [one.bound for one in found]) for tasks, found in outcomes.items()
            )
            curves.append(Curve("upper bound", tuple(bounds)))
        panels.append((label, tuple(curves)))
    title = "The grid of Liu, Baskiyar and Li 2007: GDS, EDF, and local search over GDS"
    plot_curves(panels, path, axis="tasks", title=title)


def _point(tasks: int, counts: Sequence[float]) -> DataPoint:
    return DataPoint(tasks, *estimate([100 * count / tasks for count in counts]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of the grid and one of small grids, then the targets."""
    parser = ArgumentParser(prog="python -m benchmarks.bag_local_search", description=main.__doc__)
    parser.add_argument("--runs", type=int, default=20, help="instances of each size")
    parser.add_argument("--tasks", type=int, nargs="*", default=TASKS)
    parser.add_argument("--small", type=int, nargs="*", default=(8, 12, 16, 20))
    parser.add_argument("--plot", type=Path, help="draw the grid's rows here")
    given = parser.parse_args(arguments)
    found: list[Outcome] = []
    drawn: dict[int, list[Outcome]] = {}
    for kind, sizes, measured in (
        ("grid", given.tasks, grid_outcomes),
        ("small", given.small, small_outcomes),
    ):
        print(f"| {' | '.join((kind, *HEADS[1:]))} |\n|{'---|' * len(HEADS)}")
        for size in sizes:
            outcomes = measured(size, given.runs)
            print(f"| {size:,} | {' | '.join(row(outcomes))} |", flush=True)
            if kind == "grid":
                found += outcomes
                drawn[size] = outcomes
        print()
    if given.plot and drawn:
        draw(given.plot, drawn)
    missed = 0
    for words, met in targets(found) if found else ():
        missed += not met
        print(f"{'PASS' if met else 'FAIL'}  {words}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
