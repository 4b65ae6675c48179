"""All schedulers of anrg-saga against `list-plus`: ``python -m benchmarks.saga_schedulers --help``.

The package must be installed. Its schedules are converted and checked by the rules of dlopt, and
`list-plus` is given the time that each of them took, and 20 times HEFT's. Its networks have
machines of different speeds and no LANs: families are generated with related machines, without
`chen`. Its order of ties follows the hash of names: set PYTHONHASHSEED to repeat a run.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.dag import saga_input
from benchmarks.list_scheduling import (
    MAX_TIME_RATIO,
    Case,
    cpu_seconds,
    proven_bound,
    standard,
    workflows,
)
from benchmarks.rows import kept, records
from benchmarks.timing import Report, solver_output_to_stderr
from dlopt import Limits, check
from dlopt.generation import generate
from dlopt.generation.dag import FAMILIES
from dlopt.heuristics.dag import methods
from dlopt.heuristics.dag.list_plus import list_plus
from dlopt.heuristics.dag.list_search import compiled_functions
from dlopt.problems.dag import Instance, Placement, Solution, objective

LEFT_OUT = {
    "BruteForceScheduler": "tries all schedules",
    "SMTScheduler": "needs a solver of its own, and is exact",
    "HybridScheduler": "is the best of others: stated as the best of all",
}
"""Schedulers that are not run, and why."""
MOVES = (1, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Moves of `list-plus` that are timed: at a given time it makes the most that fit."""
LONGEST_S = 20
"""Seconds after which a scheduler is stopped on an instance."""
SHORT_S = 0.2
"""Seconds up to which calls are timed several times."""
TOLERANCE = 1e-6
"""For the floats of the package."""
MIN_SHARE = 0.95
"""Target: share of the instances in which `list-plus` is no worse."""
EQUAL = 1 + 1e-9
"""Values of floats up to this ratio are equal."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A row of the file. `plus` has ``moves=value=seconds``; `peers` has ``name=value=seconds``,
    or ``name=what went wrong=seconds``.
    """

    group: str
    name: str
    tasks: int
    bound: float
    proven: str
    heft_s: float
    plus: tuple[str, ...]
    peers: tuple[str, ...]

    def value_within(self, seconds: float) -> float | None:
        """Return the value of `list-plus` with the moves that fit; None if none do."""
        parts = [entry.split("=") for entry in self.plus]
        return min((float(v) for _, v, spent in parts if float(spent) <= seconds), default=None)

    @property
    def initial(self) -> float:
        """The value of `list-plus` after one move."""
        return float(self.plus[0].split("=")[1])

    def valid(self) -> dict[str, tuple[float, float]]:
        """Return value and seconds of every scheduler with a valid schedule, and of all."""
        found = {}
        for entry in self.peers:
            name, value, seconds = entry.rsplit("=", 2)
            if value[0].isdigit():
                found[name] = float(value), float(seconds)
        own = [known for name, known in found.items() if "/" not in name]
        if not own:
            return found
        total = sum(seconds for _, seconds in own)
        return {"HybridScheduler": (min(value for value, _ in own), total), **found}

    def invalid(self) -> dict[str, str]:
        """Return what went wrong, by scheduler."""
        parts = [entry.rsplit("=", 2) for entry in self.peers]
        return {name: text for name, text, _ in parts if not text[0].isdigit()}


FORM = records("comparison", Comparison, lambda row: (row.group, row.name))


def related_families(seeds: int) -> Iterator[Case]:
    """Yield an instance on related machines of every family but `chen`, for each seed."""
    for seed in range(seeds):
        for family in FAMILIES:
            if family != "chen":
                yield (
                    "families",
                    f"{family}/{seed}",
                    lambda f=family, s=seed: generate("dag", f, kind="related", seed=s),
                )


def schedulers(parametric: bool) -> dict[str, Any]:
    """Return the schedulers of the package by name."""
    package = importlib.import_module("saga.schedulers")
    found = {name: getattr(package, name)() for name in package.__all__ if name not in LEFT_OUT}
    if parametric:
        components = importlib.import_module("saga.schedulers.parametric.components")
        found |= {f"parametric/{name}": made for name, made in components.schedulers.items()}
    return found


def outcome(instance: Instance, schedule: Any) -> str:
    """Return the makespan of a schedule, or the violations that were found first."""
    (graph,) = instance.graphs
    number = {task.id: index for index, task in enumerate(graph.tasks)}
    machine = {machine.id: index for index, machine in enumerate(instance.machines)}
    solution = Solution(
        tuple(
            Placement(0, number[task.name], machine[node], float(task.start))
            for node, tasks in schedule.items()
            for task in tasks
            if task.name in number
        )
    )
    found = check(instance, solution, tolerance=TOLERANCE)
    if found:
        return str(found[0])
    return f"{float(Fraction(objective(instance, solution, 'makespan'))):.12g}"  # type: ignore[arg-type]


def run_scheduler(instance: Instance, scheduler: Any) -> tuple[str, float]:
    """Return the makespan of a scheduler, or what went wrong, and the seconds of the processor."""
    network, graph = saga_input(instance)

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_S)
    begun = time.process_time()
    try:
        schedule = scheduler.schedule(network, graph)
        spent = time.process_time() - begun
        if spent < SHORT_S:  # the first call also builds graphs that the package keeps
            spent = cpu_seconds(lambda: scheduler.schedule(network, graph))
    except TimeoutError:
        return f"no schedule within {LONGEST_S} s", time.process_time() - begun
    except Exception as error:  # whatever the package raises is its outcome
        text = f"{type(error).__name__}: {error}".replace("\n", " ").replace("=", " ")
        return text[:200], time.process_time() - begun
    finally:
        signal.alarm(0)
    return outcome(instance, schedule), spent


def by_list_plus(instance: Instance, longest_s: float) -> Iterator[str]:
    """Yield moves, value and seconds of `list-plus`, up to a time."""
    for moves in MOVES:
        limits = Limits(work=moves)
        begun = time.process_time()
        found: Any = list_plus(instance, limits=limits)
        spent = time.process_time() - begun
        if spent < SHORT_S:
            spent = cpu_seconds(lambda limits=limits: list_plus(instance, limits=limits))
        yield f"{moves}={float(found.value):.12g}={spent:.4g}"
        if spent > longest_s:
            break


def compared(case: Case, seconds: float, parametric: bool) -> Comparison:
    """Run all schedulers on an instance."""
    group, name, make = case
    instance = make()
    bound, proven = proven_bound(instance, seconds)
    peers, longest_s = [], 0.0
    for peer, scheduler in schedulers(parametric).items():
        value, spent = run_scheduler(instance, scheduler)
        peers.append(f"{peer}={value.replace('=', ' ')}={spent:.4g}")
        longest_s += spent
    heft_s = cpu_seconds(lambda: methods.heft(instance))
    plus = tuple(by_list_plus(instance, max(longest_s, MAX_TIME_RATIO * heft_s)))
    tasks = len(instance.graphs[0].tasks)
    return Comparison(group, name, tasks, bound, str(proven), heft_s, plus, tuple(peers))


def summary(report: Report, rows: Sequence[Comparison]) -> None:
    """Print a line for each scheduler with the targets, and what was invalid."""
    by_peer: dict[str, list[tuple[Comparison, float, float]]] = defaultdict(list)
    for row in rows:
        for peer, (value, seconds) in row.valid().items():
            by_peer[peer].append((row, value, seconds))
    names = (
        "valid",
        "mean gap",
        "list-plus",
        "no worse, %",
        "too short",
        "at 20 x HEFT",
        "no worse, %",
    )
    report.table("Mean gaps to the bound, %, at equal time", "scheduler", *names)
    for peer, found in sorted(by_peer.items()):
        theirs, equal, longer = [], [], []
        no_worse, longer_no_worse, too_short = [], [], 0
        for row, value, seconds in found:
            own = row.value_within(seconds)
            too_short += own is None
            own = row.initial if own is None else own
            much = row.value_within(MAX_TIME_RATIO * row.heft_s) or row.initial
            theirs.append(value / row.bound - 1)
            equal.append(own / row.bound - 1)
            longer.append(much / row.bound - 1)
            no_worse.append(own <= value * EQUAL)
            longer_no_worse.append(much <= value * EQUAL)
        means = [100 * fmean(values) for values in (theirs, equal, longer)]
        shares = [fmean(no_worse), fmean(longer_no_worse)]
        cells: list[Any] = [len(found), *means[:2], 100 * shares[0], too_short]
        report.row(peer, *cells, means[2], 100 * shares[1])
        for text, mean, share in (
            ("at equal time", means[1], shares[0]),
            ("at 20 times HEFT's time", means[2], shares[1]),
        ):
            report.target(
                f"{peer}: better in mean, and no worse in 95 %, {text}",
                f"{mean:.2f} % against {means[0]:.2f} %; {100 * share:.1f} %",
                mean <= means[0] and share >= MIN_SHARE,
            )
    for row in rows:
        for peer, text in row.invalid().items():
            print(f"{row.group} {row.name}, {peer}: {text}")


def main() -> int:
    """Run what the command line asks for; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.saga_schedulers", description=__doc__
    )
    parser.add_argument("rows", type=Path, help="the file of rows; what it has is not run again")
    parser.add_argument("--sets", default="families,stg,wfcommons", help="which, with commas")
    parser.add_argument("--seeds", type=int, default=3, help="of each generated family")
    parser.add_argument("--every", type=int, default=30, metavar="N", help="each N-th STG graph")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each bound")
    parser.add_argument("--parametric", action="store_true", help="the 72 parametric ones, too")
    wanted = parser.parse_args()
    sets: dict[str, Callable[[], Iterator[Case]]] = {
        "families": lambda: related_families(wanted.seeds),
        "stg": lambda: standard(wanted.every),
        "wfcommons": workflows,
    }
    compiled_functions()  # loads them, for all runs of list-plus
    report = Report(quick=False)
    with kept(wanted.rows, FORM) as known:
        for case in (case for chosen in wanted.sets.split(",") for case in sets[chosen]()):
            if case[:2] not in known.by_key:
                with solver_output_to_stderr():
                    row = compared(case, wanted.seconds, wanted.parametric)
                known.add(row)
                print(*case[:2], len(row.valid()), *row.invalid().items(), flush=True)
        summary(report, list(known))
    return 1 if any(not target["passed"] for target in report.targets) else 0


if __name__ == "__main__":
    sys.exit(main())
