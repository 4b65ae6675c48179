"""Reproduce figure 4.5 of Mamat 2011: the execution time of one task over the number of nodes.

``python -m benchmarks.papers.execution --help``
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import dlopt
from benchmarks.papers import cli_arguments
from benchmarks.papers.figure_files import picture
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.plotting.line_charts import Curve, DataPoint
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance

FIGURES = ("4.5",)
NODES = 256
"""The cluster of section 4.5; figure 4.5 names none."""
LOAD = 1000
"""A task of average size; figure 4.5 names none."""
SET_UP = (0, 500)
FREE = OptimalPartition(1, 1000)
DRAWN = sorted({round(2 ** (k / 4)) for k in range(16, 33)} | {63})
"""So many nodes; the exact method need not use all of them."""


def times(cost: int, nodes: range) -> list[float]:
    """Return the execution times of the formula, E(load, n)."""
    rule = replace(FREE, theta_cm=cost, theta_cp=cost)
    return [float(rule.execution_time(LOAD, n)) for n in nodes]


def proven(cost: int, n: int) -> float:
    """Return the least completion time on `n` nodes that are free, as the exact method proves."""
    instance = Instance(Cluster(n, 1, 1000, cost, cost), (0,) * n, LOAD)
    optimum = dlopt.solve(instance, objective="completion").value
    assert optimum is not None and not isinstance(optimum, tuple)
    return float(optimum)


def main() -> int:
    """Draw the curves; print the claims as a Markdown table."""
    wanted = cli_arguments.parser("execution", main.__doc__, FIGURES).parse_args()
    nodes = range(1, NODES + 1)
    found = {cost: times(cost, nodes) for cost in SET_UP}
    exact = {cost: {n: proven(cost, n) for n in DRAWN} for cost in SET_UP}
    panels = [
        (
            f"time / 1000, set-up costs of {cost}",
            (
                Curve("E(load, n)", tuple(DataPoint(n, found[cost][n - 1] / 1000) for n in DRAWN)),
                Curve("proven optimum", tuple(DataPoint(n, exact[cost][n] / 1000) for n in DRAWN)),
            ),
        )
        for cost in SET_UP
    ]
    wanted.out.mkdir(parents=True, exist_ok=True)
    note = f"tau 1, chi 1000, load {LOAD}"
    path = wanted.out / "fig-4.5.svg"
    picture(panels, path, title="Mamat 2011, figure 4.5", note=note, axis="nodes")
    print("| figure | claim | ours |\n|---|---|---|")
    steps = [later < earlier for earlier, later in pairwise(found[0])]
    row("without set-up costs every node more helps", all(steps), f"{sum(steps)} of {len(steps)}")
    best = min(nodes, key=lambda n: found[500][n - 1])
    star = replace(FREE, theta_cm=500, theta_cp=500).n_star(LOAD, NODES)
    text = f"least at {best} nodes; n* is {star}"
    row("with set-up costs it does up to n* nodes only", best == star < NODES, text)
    used = [(cost, n) for cost in SET_UP for n in DRAWN if cost == 0 or n <= best]
    far = max(abs(found[cost][n - 1] / exact[cost][n] - 1) for cost, n in used)
    words = "up to n* nodes no plan takes less (not of the chapter)"
    row(words, far < 1e-6, f"{len(used)} sizes, at most {far:.1g} from the proven optimum")
    flat = max(exact[500][n] for n in DRAWN if n >= best) / exact[500][best] - 1
    words = "beyond n* nodes no plan takes less than on n* (not of the chapter)"
    row(words, abs(flat) < 1e-6, f"{sum(n > best for n in DRAWN)} sizes, at most {flat:.1g} off")
    return 0


def row(words: str, good: bool, numbers: str) -> None:
    """Print a row of the table."""
    print(f"| 4.5 | {words} | **{'holds' if good else 'does not'}**: {numbers} |")


if __name__ == "__main__":
    sys.exit(main())
