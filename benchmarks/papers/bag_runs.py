"""Runs for figures 7 to 10 of Liu, Baskiyar and Li 2007: instances, methods, stored rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

from benchmarks.papers.bag_claims import BASELINES, READINGS
from benchmarks.rows import Rows, records
from dlopt import solve
from dlopt.generation.bag import gds
from dlopt.problems.bag import Instance, success_ratios
from dlopt.result import Limits, Status
from dlopt.simulation.process_pool import imap_unordered

BASE = 2500
"""With so many tasks the load is 1."""
SECONDS = 20.0
"""Limit of each proof of an optimum."""
BLIND = "GDS without CCR"
"""All tasks are called neutral: ranked by priority and deadline alone."""
OPTIMA = {"optimum": "critical-then-all", "most in all": "accepted"}
BOUND = "bound"

METHODS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "GDS": ("gds", {}),
    "GDS without Shuffle": ("gds-without-shuffle", {}),
    BLIND: ("gds", {}),
    "priority-EDF": ("priority-edf", {}),
    "EDF": ("edf", {}),
    "Min-min": ("min-min", {}),
    "Sufferage": ("sufferage", {}),
}
OTHERWISE: Mapping[str, tuple[str, dict[str, Any]]] = {
    f"{label}{READINGS[reading]}": (METHODS[label][0], options)
    for reading, options in (("run late", {"tardy": "run"}), ("at home", {"sites": "home"}))
    for label in BASELINES
}
"""The baselines where late tasks are run, or tasks stay at their site."""
SLIPS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "to the letter": ("gds:literal", {}),
    "a task in every slack": ("gds:literal-every-slack", {}),
    "a task to every neighbour": ("gds:literal-duplicate", {}),
    "Shuffle takes all away": ("gds:literal-evict-all", {}),
    "Shuffle forgets transmissions": ("gds:literal-transmission", {}),
}
"""GDS as printed; with a single slip of what is printed; and as it can be read."""
FEW = 5
"""Runs of those."""

_MIDDLE = {"sites": 5, "fewest": 4, "most": 10, "tasks": 150}
"""A grid of the settings: as many tasks a machine as the large one has."""

SETTINGS: Mapping[str, dict[str, Any]] = {
    "as in figure 7": {},
    "load .7": {"load": 0.7},
    "load 1.5": {"load": 1.5},
    "deadlines tight": {"tightness": 1},
    "deadlines loose": {"tightness": 4},
    "few critical": {"critical": 0.1},
    "many critical": {"critical": 0.6, "firm": 0.2},
    "CCR to 1": {"largest_ccr": 1},
    "CCR from 1": {"least_ccr": 1},
    "tree of links": {"degree": 1},
    "equal machines": {"slowest": 5, "fastest": 5},
    "1 site": {"sites": 1, "fewest": 35, "most": 35},
}


@dataclass(frozen=True, slots=True)
class Experiment:
    """Instances, and how many runs of each method.

    Parameters
    ----------
    axis : str
    points : mapping of (int or str) to dict
        Parameters of the family by abscissa.
    runs : mapping of str to int
        By label; the seeds are 0, 1, ...
    """

    axis: str
    points: Mapping[Any, dict[str, Any]]
    runs: Mapping[str, int]


def experiments(runs: int, *, quick: bool) -> dict[str, Experiment]:
    """Return all experiments."""
    counts: tuple[int, ...] = (1000, 1500, 2000, 2500, 3000)
    counts = counts[::2] if quick else counts
    twelfth = {
        count: {"sites": 5, "fewest": 6, "most": 15, "tasks": count // 12, "load": count / BASE}
        for count in counts
    }
    whole = {count: {"tasks": count, "load": count / BASE} for count in counts}
    tiny = {"sites": 3, "fewest": 1, "most": 2}
    counts = (8, 16) if quick else (8, 12, 16, 20)
    small = {count: {**tiny, "tasks": count, "load": count / 14} for count in counts}
    settings = {words: {**_MIDDLE, **changes} for words, changes in SETTINGS.items()}
    every = dict.fromkeys(METHODS, runs)
    return {
        "grid": Experiment(
            "tasks",
            twelfth if quick else whole,
            {
                **every,
                **dict.fromkeys(OTHERWISE, runs),
                BOUND: runs,
                **dict.fromkeys(SLIPS, min(runs, FEW)),
            },
        ),
        "small": Experiment("tasks", small, {**every, **dict.fromkeys(OPTIMA, runs)}),
        "settings": Experiment("setting", settings, every),
    }


Key = tuple[str, str, str, int, str]
"""The first five fields of a `SuccessRow`."""


@dataclass(frozen=True, slots=True)
class SuccessRow:
    """Success ratios of one method on one instance; the key is in the first five fields."""

    scale: str
    experiment: str
    x: str
    seed: int
    label: str
    critical: float | None
    overall: float | None
    proven: bool
    seconds: float

    @property
    def key(self) -> Key:
        """What it is the result of."""
        return self.scale, self.experiment, self.x, self.seed, self.label


FORM = records("run", SuccessRow, attrgetter("key"))
MEASURES = ("critical", "overall")


def measured(instance: Instance, label: str) -> tuple[float | None, float | None, bool]:
    """Return the success ratios of a method, critical and overall, and whether they are proven.

    There are none if GDS as printed does not end.
    """
    if label == BOUND:
        return *pooled(instance), True
    if label in OPTIMA:
        found = solve(instance, objective=OPTIMA[label], limits=Limits(time_s=SECONDS))
    else:
        name, options = {**METHODS, **OTHERWISE, **SLIPS}[label]
        if label == BLIND:
            instance = replace(instance, ccr_thresholds=(Fraction(1, 10**9), 10**9))
        found = solve(instance, name, objective="critical-then-all", **options)
    if found.solution is None and label in SLIPS:
        return None, None, False
    assert found.solution is not None  # every task has a deadline: none must be run
    critical, overall = success_ratios(instance, found.solution)
    shown = None if critical is None else float(critical)
    return shown, float(overall), found.status is Status.OPTIMAL


def pooled(instance: Instance) -> tuple[float | None, float]:
    """Return bounds of the two ratios by aggregation: all machines as one, no input transfers."""
    tasks = instance.tasks
    power = sum(Fraction(machine.power) for machine in instance.machines)
    critical = [task for task in tasks if task.priority == "critical"]

    def share(some: Sequence[Any]) -> float:
        end = Fraction(0)
        kept: list[Fraction] = []
        for task in sorted(some, key=lambda one: one.absolute_deadline):
            time_taken = Fraction(task.work) / power
            heappush(kept, -time_taken)
            end += time_taken
            if end > Fraction(task.absolute_deadline):
                end += heappop(kept)
        return len(kept) / len(some)

    return share(critical) if critical else None, share(tasks)


@dataclass(frozen=True, slots=True)
class _InstanceRuns:
    """Methods to run on one instance."""

    scale: str
    experiment: str
    x: str
    seed: int
    parameters: Mapping[str, Any]
    labels: tuple[str, ...]

    def key(self, label: str) -> Key:
        """Return what the row of a method is the result of."""
        return self.scale, self.experiment, self.x, self.seed, label

    def run(self) -> list[SuccessRow]:
        """Return a row of each method."""
        instance = gds(seed=self.seed, **self.parameters)
        made = []
        for label in self.labels:
            begun = time.perf_counter()
            found = measured(instance, label)
            made.append(SuccessRow(*self.key(label), *found, round(time.perf_counter() - begun, 3)))
        return made


def rows_of(
    chosen: Mapping[str, Experiment],
    scale: str,
    kept: Rows[SuccessRow],
    processes: int,
) -> list[SuccessRow]:
    """Return all rows, those that are done as they are; seed by seed, so that any stop is fair."""
    found = kept.by_key
    jobs = [
        _InstanceRuns(scale, name, str(x), seed, parameters, labels)
        for name, it in chosen.items()
        for x, parameters in it.points.items()
        for seed in range(max(it.runs.values()))
        for labels in [tuple(label for label, count in it.runs.items() if seed < count)]
    ]
    jobs.sort(key=lambda job: job.seed)
    todo = [
        replace(job, labels=missing)
        for job in jobs
        if (missing := tuple(label for label in job.labels if job.key(label) not in found))
    ]
    for number, made in enumerate(
        imap_unordered(_InstanceRuns.run, todo, processes) if todo else (), start=1
    ):
        for row in made:
            kept.add(row)
        print(f"\r{number} of {len(todo)} instances", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [found[job.key(label)] for job in jobs for label in job.labels]
