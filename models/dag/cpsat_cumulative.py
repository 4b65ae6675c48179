"""Constraint program for groups of identical machines without communication.

Only the number of jobs that run at a time on each group `k` of `m_k` identical machines is decided;
the literal `x_jk` says that job `j` runs on group `k`, where it takes `c_jk`::

    minimise    an objective of `dlopt.models.dag.cpsat`
    subject to  sum_k x_jk = 1                                one group for each job
                #{j : x_jk, s_j <= t < s_j + c_jk} <= m_k     cumulative, for each instant t
                head_jk <= s_j <= E_g - tail_jk - c_jk        if x_jk
                s_j >= s_i + sum_k c_ik x_ik                  arcs (i, j)
                C_g >= s_j + sum_k c_jk x_jk + delivery_j     last jobs of graph g
                sum_j c_jk x_jk <= m_k C                      work (redundant)
                x_jk in {0, 1}

Machines are assigned afterwards: a job takes one that is free at its start, and as at most `m_k`
jobs run at a time, one always is. Source: ours, with the cumulative constraint for identical
parallel machines.
"""

from __future__ import annotations

from typing import Any

from dlopt.models.dag.cpsat import CpSatModel
from dlopt.models.dag.heads_and_tails import HeadsTails
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule, left_shifted


class CumulativeModel(CpSatModel):
    """A cumulative constraint for each group of identical machines.

    Parameters
    ----------
    scaled : ScaledInstance
        Without transfers that take time, and without graphs that stay in one LAN.
    heads_tails, latest_completions, max_late_graphs
        See `CpSatModel`.

    Examples
    --------
    >>> from dlopt.backends import cpsat
    >>> from dlopt.models.dag.lower_bounds import compute_heads_tails
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> from dlopt.result import Limits
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k + 1) for k in range(4)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> program = CumulativeModel(scaled, compute_heads_tails(scaled), latest_completions=[9])
    >>> program.minimise("makespan", lower_bound=0)
    >>> outcome = cpsat.optimise(program.model, Limits())
    >>> program.schedule(outcome.value_of).completions(scaled)
    [5]
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        latest_completions: list[int],
        max_late_graphs: int | None = None,
    ) -> None:
        super().__init__(scaled, heads_tails, latest_completions, max_late_graphs)
        self.group_choice: list[dict[int, Any]] = []
        self.ends: list[Any] = []
        intervals: list[list[Any]] = [[] for _ in scaled.identical_machines]
        for job in range(len(scaled.jobs)):
            self._add_job(job, intervals)
        for group, machines in zip(intervals, scaled.identical_machines, strict=True):
            if len(group) > len(machines):
                self.model.add_cumulative(group, [1] * len(group), len(machines))
        self._add_precedence()

    def minimise(self, level: ObjectiveLevel, lower_bound: int) -> None:
        """Set the objective to one level, with the work of all jobs as a bound of it."""
        super().minimise(level, lower_bound)
        if level == "makespan" and len(self.scaled.identical_machines) > 1:
            self._add_group_workload()

    def hint(self, schedule: Schedule) -> None:
        """Hint the value of every variable in a schedule."""
        super().hint(schedule)
        group_of = {
            machine: group
            for group, machines in enumerate(self.scaled.identical_machines)
            for machine in machines
        }
        for job, machine in enumerate(schedule.machines):
            for group, literal in self.group_choice[job].items():
                self.model.add_hint(literal, group == group_of[machine])

    def schedule(self, value_of: Any) -> Schedule:
        """Return the schedule of an assignment of values, with a machine for every job."""
        scaled = self.scaled
        starts = [value_of(start) for start in self.starts]
        free = [0] * scaled.machine_count
        machines = [0] * len(starts)
        for job in sorted(range(len(starts)), key=lambda job: (starts[job], job)):
            literals = self.group_choice[job]
            group = next((g for g, literal in literals.items() if value_of(literal)), None)
            members = scaled.identical_machines[self._only_group(job) if group is None else group]
            cost = scaled.cost(job, members[0])
            machines[job] = members[0]
            if cost:  # of the free machines, the one that became free last: least idle time
                idle = (p for p in members if free[p] <= starts[job])
                machines[job] = max(idle, key=free.__getitem__)
                free[machines[job]] = starts[job] + cost
        return left_shifted(scaled, machines, starts)

    def _eligible_groups(self, job: int) -> list[int]:
        eligible = set(self._eligible(job))
        groups = enumerate(self.scaled.identical_machines)
        return [group for group, machines in groups if machines[0] in eligible]

    def _only_group(self, job: int) -> int:
        return self._eligible_groups(job)[0]

    def _add_job(self, job: int, intervals: list[list[Any]]) -> None:
        """A job runs on a machine of one group, for as long as it takes there."""
        model, scaled, start = self.model, self.scaled, self.starts[job]
        groups = self._eligible_groups(job)
        firsts = [scaled.identical_machines[group][0] for group in groups]
        if len(groups) == 1:
            cost = scaled.cost(job, firsts[0])
            self.group_choice.append({})
            self.ends.append(start + cost)
            if cost:
                intervals[groups[0]].append(
                    model.new_fixed_size_interval_var(start, cost, f"i{job}")
                )
            return
        literals = {group: model.new_bool_var(f"x{job}_{group}") for group in groups}
        model.add_exactly_one(literals.values())
        for (group, literal), first in zip(literals.items(), firsts, strict=True):
            cost = scaled.cost(job, first)
            latest = self._latest_start(job, first)
            model.add(start <= latest).only_enforce_if(literal)
            model.add(start >= int(self.heads_tails.heads[job, first])).only_enforce_if(literal)
            if cost:
                name = f"i{job}_{group}"
                interval = model.new_optional_fixed_size_interval_var(start, cost, literal, name)
                intervals[group].append(interval)
        self.group_choice.append(literals)
        self.ends.append(
            start
            + sum(
                scaled.cost(job, first) * literal
                for first, literal in zip(firsts, literals.values(), strict=True)
            )
        )

    def _add_precedence(self) -> None:
        """A job starts after its predecessors have ended; last jobs complete their graph."""
        scaled = self.scaled
        for arc in scaled.arcs:
            self.model.add(self.starts[arc.target] >= self.ends[arc.source])
        for job, (graph, _) in enumerate(scaled.jobs):
            delivery = scaled.delivery_times[job][0]
            if delivery or not scaled.outgoing[job]:
                self.model.add(self.completions[graph] >= self.ends[job] + delivery)

    def _add_group_workload(self) -> None:
        """The machines of a group do no more work than fits before the makespan."""
        for group, machines in enumerate(self.scaled.identical_machines):
            terms = []
            for job, literals in enumerate(self.group_choice):
                cost = self.scaled.costs[job][machines[0]]
                if group in literals:
                    terms.append(cost * literals[group])
                elif not literals and self._only_group(job) == group:
                    terms.append(cost)
            self.model.add(sum(terms) <= len(machines) * self.makespan)
