"""Gaps of list schedulers to proven bounds: ``python -m benchmarks.list_scheduling --help``.

Every instance is a row of a file; a run that was interrupted goes on with what is missing. Times
are those of the processor. `list-plus` makes as many moves as take at most 20 times HEFT's time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.dag_exact import data
from benchmarks.rows import kept, records
from benchmarks.timing import Report, solver_output_to_stderr
from dlopt import Limits, registry, solve
from dlopt.formats import detection, stg
from dlopt.generation import generate
from dlopt.generation.dag import FAMILIES
from dlopt.generation.task_graph_conversion import instance_of, machine_set
from dlopt.heuristics.dag import methods
from dlopt.heuristics.dag.list_plus import list_plus
from dlopt.heuristics.dag.list_search import compiled_functions
from dlopt.problems.dag import Instance

MAX_TIME_RATIO = 20
"""Target: time of `list-plus`, as a multiple of HEFT's."""
MAX_GAP_RATIO = 1 / 3
"""Target: its mean gap, as a share of HEFT's."""
POWERS = (1, 1, 2, 4)
"""Powers of the machines of workflows."""
BANDWIDTH = 10**7
"""Bytes a second between them."""
MAX_TASKS_OF_EXACT = 400
"""Tasks up to which the exact method gives the bound; beyond it is `bound-fernandez`."""
SHORTEST_S = 0.05
"""Seconds of a sample: shorter calls are repeated within it."""
CALIBRATIONS = 8
"""Runs of `list-plus`, at most, to find how many moves take as long as they may."""
PEERS = tuple(
    entry.name
    for entry in registry.methods("dag")
    if entry.kind == "heuristic" and entry.name not in ("list-plus", "heft")
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured of an instance; a row of the file. `peers` has ``name=value=seconds``."""

    group: str
    name: str
    tasks: int
    machines: int
    bound: float
    proven: str
    heft: float
    heft_s: float
    plus: float
    plus_s: float
    moves: int
    peers: str

    def gap(self, value: float) -> float:
        """Return the gap of a value to the bound."""
        return value / self.bound - 1 if self.bound else 0.0

    def of_peers(self) -> dict[str, tuple[float, float]]:
        """Return value and seconds of each peer."""
        parts = [entry.split("=") for entry in self.peers.split()]
        return {name: (float(value), float(seconds)) for name, value, seconds in parts}


FORM = records("instance", Measurement, lambda row: (row.group, row.name))
Case = tuple[str, str, Callable[[], Instance]]


def families(seeds: int) -> Iterator[Case]:
    """Yield an instance of every generated family with its own defaults, for each seed."""
    for seed in range(seeds):
        for family in FAMILIES:
            yield (
                "families",
                f"{family}/{seed}",
                lambda f=family, s=seed: generate("dag", f, seed=s),
            )


def standard(every: int) -> Iterator[Case]:
    """Yield graphs of STG on 2, 4, 8 and 16 identical machines, without communication."""
    for size in (50, 100):
        for path in sorted((data() / "stg" / str(size)).glob("*.stg"))[::every]:
            for machines in (2, 4, 8, 16):
                yield (
                    f"STG {size}",
                    f"{path.stem}/{machines}",
                    lambda p=path, m=machines: instance_of(stg.read(p), machine_set(m)),
                )


def workflows() -> Iterator[Case]:
    """Yield workflows of WfCommons on four machines of different powers."""
    for path in sorted((data() / "wfcommons").glob("*-*.json")):
        if "schema" not in path.name:
            yield (
                "WfCommons",
                path.stem,
                lambda p=path: instance_of(
                    detection.read(p), machine_set(powers=POWERS, bandwidth=BANDWIDTH)
                ),
            )


def cpu_seconds(task: Callable[[], Any]) -> float:
    """Return the seconds of the processor for one call, the least of three samples."""
    samples = []
    for _ in range(3):
        begun, calls = time.process_time(), 0
        while calls == 0 or time.process_time() - begun < SHORTEST_S:
            task()
            calls += 1
        samples.append((time.process_time() - begun) / calls)
    return min(samples)


def calibrated(instance: Instance, budget_s: float) -> tuple[float, float, int]:
    """Return value, seconds and moves of `list-plus` with as many moves as the budget allows."""
    best, moves = (0.0, 0.0, 0), 50
    for _ in range(CALIBRATIONS):
        limits = Limits(work=moves)
        found: Any = list_plus(instance, limits=limits)
        spent = cpu_seconds(lambda limits=limits: list_plus(instance, limits=limits))
        if spent <= budget_s and moves > best[2]:
            best = float(found.value), spent, moves
        if 0.9 * budget_s <= spent <= budget_s:
            break
        moves = max(1, int(moves * min(8.0, 0.96 * budget_s / spent)))
    return best


def proven_bound(instance: Instance, seconds: float) -> tuple[float, bool]:
    """Return a lower bound of the makespan, and whether an optimum is proven."""
    tasks = sum(len(graph.tasks) for graph in instance.graphs)
    method = "exact" if tasks <= MAX_TASKS_OF_EXACT else "bound-fernandez"
    proof: Any = solve(instance, method, limits=Limits(time_s=seconds))
    weaker: Any = solve(instance, "bound-fernandez")
    bound = max(float(found.bound) for found in (proof, weaker) if found.bound is not None)
    return bound, proof.status == "optimal"


def measured(group: str, name: str, instance: Instance, seconds: float) -> Measurement:
    """Measure all methods on an instance."""
    bound, proven = proven_bound(instance, seconds)
    value: Any = methods.heft(instance).value
    heft_s = cpu_seconds(lambda: methods.heft(instance))
    plus, plus_s, moves = calibrated(instance, MAX_TIME_RATIO * heft_s)
    peers = []
    for peer in PEERS:
        function = registry.method("dag", peer).load()
        begun = time.process_time()
        found: Any = function(instance, objective="makespan")
        spent = time.process_time() - begun
        peers.append(f"{peer}={float(found.value):.12g}={spent:.4g}")
    return Measurement(
        group,
        name,
        sum(len(graph.tasks) for graph in instance.graphs),
        len(instance.machines),
        bound,
        str(proven),
        float(value),
        heft_s,
        plus,
        plus_s,
        moves,
        " ".join(peers),
    )


def summary(report: Report, rows: Sequence[Measurement]) -> None:
    """Print a line for each group and the targets, and a line for each peer."""
    columns = ("instances", "proven", "heft", "list-plus", "share", "time ratio", "moves")
    report.table("1. Mean gaps to the proven bound, %", "group", *columns)
    groups = list(dict.fromkeys(row.group for row in rows))
    parts = [(group, [row for row in rows if row.group == group]) for group in groups]
    by_family = [row for row in rows if row.group == "families"]
    for family in dict.fromkeys(row.name.split("/")[0] for row in by_family):
        parts.append((family, [row for row in by_family if row.name.startswith(f"{family}/")]))
    for group, own in parts:
        heft = fmean(row.gap(row.heft) for row in own)
        plus = fmean(row.gap(row.plus) for row in own)
        ratios = [row.plus_s / row.heft_s for row in own]
        cells = [100 * heft, 100 * plus, plus / heft if heft else None, max(ratios)]
        proven = sum(row.proven == "True" for row in own)
        report.row(group, len(own), proven, *cells, int(median(row.moves for row in own)))
        if group in groups:
            text = f"{group}: mean gap at most a third of HEFT's, in at most 20 times its time"
            passed = plus <= MAX_GAP_RATIO * heft and max(ratios) <= MAX_TIME_RATIO
            shown = f"{100 * plus:.2f} % of {100 * heft:.2f} %, {max(ratios):.1f} x"
            report.target(text, shown, passed)
    report.table(
        "2. Methods: mean gap, %, and how list-plus compares",
        *("method", *groups, "list-plus no worse, %", "median time by heft's"),
    )
    for peer in ("heft", *PEERS):
        values = [
            (row, *((row.heft, row.heft_s) if peer == "heft" else row.of_peers()[peer]))
            for row in rows
        ]
        gaps = [
            100 * fmean(row.gap(value) for row, value, _ in values if row.group == group)
            for group in groups
        ]
        no_worse = fmean(row.plus <= value * (1 + 1e-12) for row, value, _ in values)
        ratio = median(spent / row.heft_s for row, _, spent in values)
        report.row(peer, *gaps, 100 * no_worse, ratio)


def main() -> int:
    """Run what the command line asks for; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.list_scheduling", description=__doc__
    )
    parser.add_argument("rows", type=Path, help="the file of rows; what it has is not run again")
    parser.add_argument("--sets", default="families,stg,wfcommons", help="which, with commas")
    parser.add_argument("--seeds", type=int, default=3, help="of each generated family")
    parser.add_argument("--every", type=int, default=10, metavar="N", help="each N-th STG graph")
    parser.add_argument("--seconds", type=float, default=15.0, help="for each bound")
    wanted = parser.parse_args()
    sets: dict[str, Callable[[], Iterator[Case]]] = {
        "families": lambda: families(wanted.seeds),
        "stg": lambda: standard(wanted.every),
        "wfcommons": workflows,
    }
    compiled_functions()  # loads them, for all runs of list-plus
    report = Report(quick=False)
    with kept(wanted.rows, FORM) as known:
        for chosen in wanted.sets.split(","):
            for group, name, make in sets[chosen]():
                if (group, name) not in known.by_key:
                    with solver_output_to_stderr():
                        row = measured(group, name, make(), wanted.seconds)
                    known.add(row)
                    print(f"{group} {name}: {row.heft:g} {row.plus:g} {row.bound:g}", flush=True)
        summary(report, list(known))
    return 1 if any(not target["passed"] for target in report.targets) else 0


if __name__ == "__main__":
    sys.exit(main())
