"""Tasks whose weights differ: how much weight is accepted, ``python -m benchmarks.weighted_tasks``.

For the streams of figure 4.6 of Mamat 2011, with set-up costs and without: the share of all weight
that the algorithms of the papers accept, that ``priced`` accepts if it does not know the weights,
and that it accepts at prices for a unit of weight.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product, starmap
from pathlib import Path
from typing import Any

from benchmarks.better import percent
from benchmarks.timing import Report
from dlopt import Admission
from dlopt.generation.paper_workloads import mamat4
from dlopt.problems.admission import Instance
from dlopt.simulation.replications import estimate

PAPERS = ("edf-iit-2", "edf-opr-an", "mwf-opr-mn", "mwf-epr-mn", "mcdf")
"""Of the sound algorithms of the papers, those that reject least on these streams."""
WEIGHTS: Mapping[str, Callable[[random.Random], int]] = {
    "1 to 10": lambda draw: draw.randint(1, 10),
    "10 of one in five, else 1": lambda draw: 1 if draw.randrange(5) else 10,
}
SET_UP: Mapping[str, Mapping[str, Any]] = {
    "with set-up costs": {},
    "without": {"theta_cm": 0, "theta_cp": 0},
}
LOADS = (0.5, 1.0)
FIRST_SEED = 100
"""The constants of the bid prices were chosen on seeds before it."""
PRICED = "priced"
BLIND = "priced, weights unknown"


def accepted_share(stream: Instance, name: str, *, knows_weights: bool = True) -> float:
    """Return the share of all weight that an algorithm accepts."""
    engine = Admission(stream.cluster, name, exact_numbers=False)
    total = accepted = 0.0
    for task in stream.tasks:
        weight = float(task.weight)
        total += weight
        if engine.submit(task if knows_weights else replace(task, weight=1)).accepted:
            accepted += weight
    return accepted / total


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the streams, and how weights are drawn."""

    costs: str
    load: float
    weights: str

    def shares(self, seeds: range, horizon: float) -> dict[str, list[float]]:
        """Return what each algorithm accepts, one number a seed."""
        found: dict[str, list[float]] = defaultdict(list)
        for seed in seeds:
            stream = self.stream(seed, horizon)
            for name in (*PAPERS, PRICED):
                found[name].append(accepted_share(stream, name))
            found[BLIND].append(accepted_share(stream, PRICED, knows_weights=False))
        return found

    def stream(self, seed: int, horizon: float) -> Instance:
        """Return the stream of a seed, with weights."""
        workload = mamat4(system_load=self.load, horizon=horizon, seed=seed, **SET_UP[self.costs])
        plain, draw = workload.instance(), random.Random(f"weights {seed}")
        drawn = WEIGHTS[self.weights]
        return replace(
            plain, tasks=tuple(replace(task, weight=drawn(draw)) for task in plain.tasks)
        )


def measure(report: Report, seeds: range, horizon: float) -> None:
    """Add the table and the targets."""
    report.table(
        "Accepted weight in percent of all weight",
        *("costs, load, weights", "best of the papers", "accepts", BLIND, PRICED, "difference"),
    )
    targets = []
    for setting in starmap(Setting, product(SET_UP, LOADS, WEIGHTS)):
        found = setting.shares(seeds, horizon)
        best = max(PAPERS, key=lambda name: sum(found[name]))
        name = f"{setting.costs}, {setting.load}, {setting.weights}"
        gain = estimate([a - b for a, b in zip(found[PRICED], found[best], strict=True)])
        shown = [percent(estimate(found[one])) for one in (best, BLIND, PRICED)]
        report.row(name, best, *shown, percent(gain))
        known = estimate([a - b for a, b in zip(found[PRICED], found[BLIND], strict=True)])
        targets.append((f"{name}: no less than the best of the papers", gain))
        targets.append((f"{name}: no less than without the weights", known))
    for name, gain in targets:
        report.target(name, f"{percent(gain)} points", gain.mean + (gain.half_width or 0) >= 0)


def main() -> int:
    """Print the table and the targets; the exit code says whether all are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--horizon", type=float, default=2e6)
    parser.add_argument("--markdown", type=Path)
    wanted = parser.parse_args()
    report = Report(quick=False)
    measure(report, range(FIRST_SEED, FIRST_SEED + wanted.seeds), wanted.horizon)
    if wanted.markdown:
        command = f"python -m benchmarks.weighted_tasks --seeds {wanted.seeds}"
        report.write_markdown(wanted.markdown, f"{command} --horizon {wanted.horizon:g}")
    return int(not all(one["passed"] for one in report.targets))


if __name__ == "__main__":
    sys.exit(main())
