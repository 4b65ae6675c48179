"""Runs for Min's figures 4.3-4.7 and 5.9-5.13: one method on one instance, stored rows.

Points of different figures with the same instance (300 requests of figure 5.9, 10 machines of
figure 5.10) share their rows.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import dlopt
from benchmarks.coreservation import compile_moves
from benchmarks.papers.coreservation_points import (
    BOUND,
    FAMILIES,
    METHODS,
    OBJECTIVES,
    Experiment,
    Parameters,
)
from benchmarks.rows import form_of, kept
from benchmarks.rows import stored as read_stored
from dlopt.generation.request_distributions import QUARTERS
from dlopt.problems.coreservation import Instance, Solution, objective
from dlopt.result import NO_LIMITS, Limits
from dlopt.simulation.process_pool import imap_unordered

PATIENCE = 120.0
"""Limit of a bound, far above what its linear program takes."""


@dataclass(frozen=True, slots=True)
class MethodRun:
    """One method on one instance."""

    family: str
    parameters: tuple[tuple[str, float | str], ...]
    seed: int
    label: str
    goal: str = "benefit"
    limit: float | None = None

    @classmethod
    def of(cls, family: str, parameters: Parameters, *rest: Any) -> MethodRun:
        """Return a run without the parameters that have their defaults."""
        usual = inspect.signature(FAMILIES[family]).parameters
        given = {name: x for name, x in parameters.items() if x != usual[name].default}
        return cls(family, tuple(sorted(given.items())), *rest)

    def run(self) -> MethodRunRow:
        """Decide the instance, and return what came of it."""
        instance = _instance(self.family, self.parameters, self.seed)
        name, options = METHODS[self.label]
        limits = NO_LIMITS if self.limit is None else Limits(time_s=self.limit, threads=1)
        begun = time.perf_counter()
        result = dlopt.solve(instance, name, objective=self.goal, limits=limits, **options)
        took = round(time.perf_counter() - begun, 2)
        values: dict[str, float] = {}
        if result.solution is not None:
            values = {it: _number(objective(instance, result.solution, it)) for it in OBJECTIVES}
            values["reserved"] = _reserved(instance, result.solution)
        elif result.bound is not None:
            values[self.goal] = _number(result.bound)
        return MethodRunRow(self, len(instance.requests), values, took, result.reason or "")


@dataclass(frozen=True, slots=True)
class MethodRunRow:
    """A run and its results."""

    run: MethodRun
    requests: int
    values: Mapping[str, float]
    seconds: float
    reason: str = ""

    def to_data(self) -> dict[str, Any]:
        """Return plain data."""
        run = {name: getattr(self.run, name) for name in MethodRun.__slots__}
        mine = {name: getattr(self, name) for name in MethodRunRow.__slots__ if name != "run"}
        return {**run, "parameters": dict(self.run.parameters), **mine}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> MethodRunRow:
        """Return the row of plain data."""
        parameters = tuple(data.pop("parameters").items())
        run = MethodRun(parameters=parameters, **{k: data.pop(k) for k in _PLAIN})
        return cls(run, **data)


_PLAIN = tuple(name for name in MethodRun.__slots__ if name != "parameters")

FORM = form_of("cell", MethodRunRow.to_data, MethodRunRow.from_data, attrgetter("run"))
"""Format of the rows; the files call a run a cell."""


@lru_cache(maxsize=1)
def _instance(family: str, parameters: tuple[tuple[str, Any], ...], seed: int) -> Instance:
    return FAMILIES[family](seed=seed, **dict(parameters))


def _number(value: Any) -> float:
    return float(value)  # none of these measures has levels


def _reserved(instance: Instance, plan: Solution) -> float:
    """Return the CPU that a part gets on average, nothing if it is rejected, in percent."""
    parts = sum(len(one.parts) for one in instance.requests)
    return float(sum(share.cpu for share in plan.shares)) / parts / QUARTERS


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The runs of a campaign."""

    experiments: Mapping[str, Experiment] = field(default_factory=dict)
    seeds: int = 10
    proofs: int = 1
    limit: float = 24.0
    suffix: str = ""

    def run_of(self, figure: str, x: float, label: str, measure: str, seed: int) -> MethodRun:
        """Return the run that gives a measure of a method at a point."""
        it = self.experiments[figure]
        if label not in it.exact:
            return MethodRun.of(it.family, it.points[x], seed, label + self.suffix)
        limit = PATIENCE if label == BOUND else self.limit
        return MethodRun.of(it.family, it.points[x], seed, label, measure, limit)

    def runs(self) -> list[MethodRun]:
        """Return all runs, the most informative first, seed by seed: any stop leaves a fair part.

        First the heuristics; then bounds, clairvoyant plans, exact batches, of the benefit first.
        """
        ranked = sorted(self._ranked(), key=itemgetter(0))
        return list(dict.fromkeys(run for _, run in ranked))

    def _ranked(self) -> Iterator[tuple[tuple[int, int, int], MethodRun]]:
        """Yield all runs, some several times, with ranks by method, measure and seed."""
        for figure, it in self.experiments.items():
            for x, (number, measure) in product(it.points, enumerate(it.measures)):
                for label in it.methods:
                    for seed in range(self.seeds):
                        yield (0, 0, seed), self.run_of(figure, x, label, measure, seed)
                for label in it.best(measure, x):
                    rank = list(METHODS).index(label), 0 if measure == "benefit" else number
                    for seed in range(self.proofs):
                        yield (*rank, seed), self.run_of(figure, x, label, measure, seed)


def rows_of(
    runs: Sequence[MethodRun], path: Path | None, processes: int
) -> dict[MethodRun, MethodRunRow]:
    """Return the rows of all runs; those in the file are kept, new ones are added to it.

    Raises
    ------
    SolverError
        If a worker process ended unexpectedly.
    """
    with kept(path, FORM) as found:
        todo = [run for run in runs if run not in found.by_key]
        if any(run.limit is not None for run in todo):
            compile_moves()  # once for all processes
        begun = time.perf_counter()
        for number, row in enumerate(
            imap_unordered(MethodRun.run, todo, processes) if todo else (), start=1
        ):
            found.add(row)
            spent = time.perf_counter() - begun
            line = f"\r{number} of {len(todo)} runs, {spent:.0f} s"
            print(line, end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return found.by_key  # type: ignore[return-value]


def stored(path: Path | None) -> list[MethodRunRow]:
    """Return the rows of a file."""
    return read_stored(path, FORM)
