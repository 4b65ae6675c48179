"""What every CP-SAT program of task graphs has: starts, completions, objectives, a hint."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from dlopt.backends import cpsat
from dlopt.models.dag.heads_and_tails import Windows
from dlopt.models.dag.scaled_instance import Case
from dlopt.models.dag.schedules import Plan

Level: TypeAlias = Literal["makespan", "late-graphs", "response"]

NONE: Mapping[int, int] = MappingProxyType({})


class Program:
    """A program over plans, as far as it is the same however machines are chosen.

    Parameters
    ----------
    case : Case
    windows : Windows
    latest : sequence of int, shape (graphs,)
        No graph is complete later in the plans that are looked at.
    most_late : int, optional
        No more graphs are late.
    kept : mapping of int to int
        Jobs that keep the machine that they have.
    """

    def __init__(
        self,
        case: Case,
        windows: Windows,
        latest: list[int],
        most_late: int | None = None,
        kept: Mapping[int, int] = NONE,
    ) -> None:
        self.case, self.windows, self.latest, self.kept = case, windows, latest, kept
        self.model: Any = cpsat.new_model()
        self.starts = [self._start(job) for job in range(len(case.jobs))]
        self.complete = [
            self.model.new_int_var(self._earliest(graph), end, f"C{graph}")
            for graph, end in enumerate(latest)
        ]
        self.late: list[Any] = [None] * len(latest)
        self.end: Any = None
        self.goal: Any = None
        self._add_lateness()
        if most_late is not None:
            self.model.add(sum(late for late in self.late if late is not None) <= most_late)

    def minimise(self, level: Level, least: int) -> None:
        """Set the objective, and a bound of it that is known."""
        model = self.model
        if level == "makespan":
            self.end = model.new_int_var(least, max(self.latest), "C")
            model.add_max_equality(self.end, self.complete)
            self.goal = self.end
        elif level == "late-graphs":
            self.goal = sum(late for late in self.late if late is not None)
        else:
            self.goal = sum(self.complete)
        model.add(self.goal >= least)
        model.minimize(self.goal)

    def beat(self, worth: int) -> None:
        """Look only for what is better."""
        self.model.add(self.goal < worth)

    def hint(self, plan: Plan) -> None:
        """Give every variable its value in a plan."""
        for job, start in enumerate(plan.starts):
            self.model.add_hint(self.starts[job], start)
        done = plan.completions(self.case)
        for graph, end in enumerate(done):
            self.model.add_hint(self.complete[graph], end)
            if self.late[graph] is not None:
                self.model.add_hint(self.late[graph], end > (self.case.due[graph] or 0))
        if self.end is not None:
            self.model.add_hint(self.end, max(done))

    def _earliest(self, graph: int) -> int:
        members = self.case.members[graph]
        return int(self.windows.ways[members].min(axis=1).max())

    def _usable(self, job: int) -> list[int]:
        """Return the machines on which a job can still be in time."""
        end = self.latest[self.case.jobs[job][0]]
        places = (self.kept[job],) if job in self.kept else self.case.places[job]
        return [p for p in places if self.windows.ways[job, p] <= end]

    def _last(self, job: int, place: int) -> int:
        """Return the latest start of a job on a machine."""
        end = self.latest[self.case.jobs[job][0]]
        return end - int(self.windows.tails[job, place] + self.windows.costs[job, place])

    def _start(self, job: int) -> Any:
        places = self._usable(job)
        first = min(int(self.windows.heads[job, place]) for place in places)
        last = max(self._last(job, place) for place in places)
        return self.model.new_int_var(first, last, f"s{job}")

    def _add_lateness(self) -> None:
        """A graph that is not late is complete by its deadline."""
        for graph, due in enumerate(self.case.due):
            if due is not None:
                late = self.model.new_bool_var(f"late{graph}")
                due = min(due, self.latest[graph])  # a date far away is no integer of CP-SAT's
                self.model.add(self.complete[graph] <= due).only_enforce_if(~late)
                self.late[graph] = late
