"""Constraint program for groups of identical machines, with a literal for every job and machine.

The program of `dlopt.models.dag.cpsat_alternatives`, where nothing is sent, with the cumulative
constraints of `dlopt.models.dag.cpsat_cumulative`, which are redundant here. In their symbols, with
`y_jk` whether job `j` runs on group `k`::

    minimise    an objective of `dlopt.models.dag.cpsat`
    subject to  the constraints of `dlopt.models.dag.cpsat_alternatives`
                sum_{p in k} x_jp = y_jk                      groups k of identical machines
                #{j : y_jk, s_j <= t < s_j + c_jk} <= m_k     cumulative, for each instant t

The cumulative program alone decides starts. If durations are many units of time, starts have as
many values, and its bound may rise by one unit at a time. A choice of machines determines loads,
whatever the unit: four jobs of 10^5 to 10^6 units on two machines took the cumulative program more
than 8 s, and take this one 0.01 s. Source: ours.
"""

from __future__ import annotations

from dlopt.models.dag.cpsat_alternatives import AlternativesModel
from dlopt.models.dag.heads_and_tails import HeadsTails
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule


class CombinedModel(AlternativesModel):
    """A literal for every job and machine, and a cumulative constraint for each group of machines.

    Parameters
    ----------
    scaled : ScaledInstance
        Without transfers that take time.
    heads_tails, latest_completions, max_late_graphs
        See `dlopt.models.dag.cpsat.CpSatModel`.

    Examples
    --------
    >>> from dlopt.backends import cpsat
    >>> from dlopt.models.dag.lower_bounds import compute_heads_tails
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> from dlopt.result import Limits
    >>> works = 312_415, 926_535, 897_932, 384_627
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=work) for k, work in enumerate(works)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> program = CombinedModel(scaled, compute_heads_tails(scaled), [sum(works)])
    >>> program.minimise("makespan", lower_bound=0)
    >>> outcome = cpsat.optimise(program.model, Limits())
    >>> outcome.value, 384_627 + 897_932
    (1282559, 1282559)
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        latest_completions: list[int],
        max_late_graphs: int | None = None,
    ) -> None:
        super().__init__(scaled, heads_tails, latest_completions, max_late_graphs)
        self.runs_on_group: list[tuple[int, list[int], object]] = []
        for group in scaled.identical_machines:
            if len(group) > 1:
                self._add_cumulative(group)

    def hint(self, schedule: Schedule) -> None:
        """Hint the value of every variable in a schedule."""
        super().hint(schedule)
        for job, group, literal in self.runs_on_group:
            self.model.add_hint(literal, schedule.machines[job] in group)

    def _add_cumulative(self, group: list[int]) -> None:
        """A group runs no more jobs at a time than it has machines."""
        intervals = [
            self._interval(job, group)
            for job, literals in enumerate(self.assign)
            if group[0] in literals and self.scaled.cost(job, group[0])
        ]
        if len(intervals) > len(group):
            self.model.add_cumulative(intervals, [1] * len(intervals), len(group))

    def _interval(self, job: int, group: list[int]) -> object:
        """Return the interval of a job, present if the job runs on a group."""
        literals, cost = self.assign[job], self.scaled.cost(job, group[0])
        start, name = self.starts[job], f"c{job}_{group[0]}"
        if len(literals) == len(group):
            return self.model.new_fixed_size_interval_var(start, cost, name)
        present = self.model.new_bool_var(f"y{job}_{group[0]}")
        self.model.add(sum(literals[machine] for machine in group) == present)
        self.runs_on_group.append((job, group, present))
        return self.model.new_optional_fixed_size_interval_var(start, cost, present, name)
