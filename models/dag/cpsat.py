"""Constraint program for task graphs: the part that both formulations share.

With `s_j` the start of job `j`, `C_g` the completion of graph `g`, `d_g` its due date and `U_g`
whether it is late::

    minimise    C  or  sum_g U_g  or  sum_g C_g           one level of the objective
    subject to  C = max_g C_g                             makespan
                C_g <= d_g  or  U_g = 1                   graphs with a due date
                sum_g U_g <= U                            optional: level proven before
                head_j <= s_j <= E_g - tail_j - c_j       E_g: latest completion looked at
                objective >= lower bound                  redundant
                C, C_g, s_j integer, U_g in {0, 1}

`cpsat_cumulative` and `cpsat_alternatives` add machines, precedence constraints and transfers.
Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dlopt.backends import cpsat
from dlopt.models.dag.heads_and_tails import HeadsTails
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule

NO_FIXED_JOBS: Mapping[int, int] = MappingProxyType({})
"""No job has a fixed machine."""


class CpSatModel:
    """Variables and constraints that do not depend on how machines are chosen.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
    latest_completions : sequence of int, shape (graphs,)
        Upper bounds of the completions: only schedules within them are searched.
    max_late_graphs : int, optional
        The number of late graphs must not be larger.
    fixed_machines : mapping of int to int
        Jobs with a fixed machine.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        latest_completions: list[int],
        max_late_graphs: int | None = None,
        fixed_machines: Mapping[int, int] = NO_FIXED_JOBS,
    ) -> None:
        self.scaled, self.heads_tails = scaled, heads_tails
        self.latest_completions, self.fixed_machines = latest_completions, fixed_machines
        self.model: Any = cpsat.new_model()
        self.starts = [self._new_start(job) for job in range(len(scaled.jobs))]
        self.completions = [
            self.model.new_int_var(self._earliest_completion(graph), latest, f"C{graph}")
            for graph, latest in enumerate(latest_completions)
        ]
        self.late: list[Any] = [None] * len(latest_completions)
        self.makespan: Any = None
        self.objective: Any = None
        self._add_late_indicators()
        if max_late_graphs is not None:
            late = [literal for literal in self.late if literal is not None]
            self.model.add(sum(late) <= max_late_graphs)

    def minimise(self, level: ObjectiveLevel, lower_bound: int) -> None:
        """Set the objective to one level, and state a lower bound of it."""
        model = self.model
        if level == "makespan":
            self.makespan = model.new_int_var(lower_bound, max(self.latest_completions), "C")
            model.add_max_equality(self.makespan, self.completions)
            self.objective = self.makespan
        elif level == "tardy-graphs":
            self.objective = sum(late for late in self.late if late is not None)
        else:
            self.objective = sum(self.completions)
        model.add(self.objective >= lower_bound)
        model.minimize(self.objective)

    def require_improvement(self, value: int) -> None:
        """Admit only schedules with a smaller objective value."""
        self.model.add(self.objective < value)

    def hint(self, schedule: Schedule) -> None:
        """Hint the value of every variable in a schedule."""
        for job, start in enumerate(schedule.starts):
            self.model.add_hint(self.starts[job], start)
        completions = schedule.completions(self.scaled)
        for graph, end in enumerate(completions):
            self.model.add_hint(self.completions[graph], end)
            if self.late[graph] is not None:
                self.model.add_hint(self.late[graph], end > (self.scaled.due_dates[graph] or 0))
        if self.makespan is not None:
            self.model.add_hint(self.makespan, max(completions))

    def _earliest_completion(self, graph: int) -> int:
        jobs = self.scaled.jobs_of_graph[graph]
        return int(self.heads_tails.completion_bounds[jobs].min(axis=1).max())

    def _eligible(self, job: int) -> list[int]:
        """Return the machines on which the graph of a job can still be complete in time."""
        latest = self.latest_completions[self.scaled.jobs[job][0]]
        machines = (
            (self.fixed_machines[job],)
            if job in self.fixed_machines
            else self.scaled.eligible_machines[job]
        )
        return [p for p in machines if self.heads_tails.completion_bounds[job, p] <= latest]

    def _latest_start(self, job: int, machine: int) -> int:
        """Return the latest start of a job on a machine."""
        latest = self.latest_completions[self.scaled.jobs[job][0]]
        tail = self.heads_tails.tails[job, machine] + self.heads_tails.costs[job, machine]
        return latest - int(tail)

    def _new_start(self, job: int) -> Any:
        machines = self._eligible(job)
        first = min(int(self.heads_tails.heads[job, machine]) for machine in machines)
        last = max(self._latest_start(job, machine) for machine in machines)
        return self.model.new_int_var(first, last, f"s{job}")

    def _add_late_indicators(self) -> None:
        """A graph that is not late is complete by its due date."""
        for graph, due in enumerate(self.scaled.due_dates):
            if due is not None:
                late = self.model.new_bool_var(f"late{graph}")
                due = min(due, self.latest_completions[graph])  # keeps CP-SAT's integers small
                self.model.add(self.completions[graph] <= due).only_enforce_if(~late)
                self.late[graph] = late
