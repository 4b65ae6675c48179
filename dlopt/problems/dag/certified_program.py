"""What a certificate proves of task graphs: that no schedule has a makespan.

The program is the step formulation (`dlopt.problems.step_formulation`) of all schedules that are
complete by an instant `T` of a grid. If it is infeasible, every schedule of the times that are
rounded down to the grid ends at ``T + 1`` or later, as these start at whole instants, and those of
the instance end no earlier. Remarks state the grid (``unit``, ``origin``), the instant
(``makespan``) and the groups of machines. Rules about LANs are left out, which is a relaxation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import product

from dlopt.arithmetic import exact
from dlopt.certificates import StatedProgram
from dlopt.problems.certificate_units import TimeGrid, stated_grid, stated_number
from dlopt.problems.dag.checker_times import CheckerTimes, first_tasks, last_tasks
from dlopt.problems.dag.data import Edge, Instance, Solution
from dlopt.problems.step_formulation import StepProgram, TaskTimes
from dlopt.result import Result

Groups = tuple[tuple[int, ...], ...]
_GROUPS = re.compile(r"[0-9]{1,6}( [0-9]{1,6})*(; [0-9]{1,6}( [0-9]{1,6})*)*")


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Only its objective matters: the makespan, or the response time of a single graph.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        A bound on the objective value of every schedule, and a flaw, or None.

    Notes
    -----
    Complexity: linear in the program, and in tasks, edges and pairs of machines of the edges that
    it names.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.dag.bound_methods import bound_work
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=3) for k in range(5)))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> result = bound_work(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(9, 1), None))
    """
    origin = min(exact(graph.arrival) for graph in instance.graphs)
    counts_from = Fraction(0)
    if result.objective == "total-response-time" and len(instance.graphs) == 1:
        counts_from = origin
    elif result.objective != "makespan":
        return None, f"certificates do not support the objective {result.objective}"
    grid, last = stated_grid(certificate.remarks), stated_number(certificate.remarks, "makespan")
    groups = stated_groups(certificate.remarks, len(instance.machines))
    if grid is None or last is None or last.denominator != 1 or groups is None:
        missing = "unit, origin, makespan and machine groups"
        return None, f"its remarks do not state {missing} of this instance"
    if grid.origin > origin:
        return None, "a graph arrives before the origin"
    if certificate.claim is not None:
        return None, "it does not claim that there is no schedule"
    value = grid.time_of(int(last) + 1) - counts_from
    times = DagTimes(instance, grid, groups).task_times(int(last))
    return value, StepProgram(times, certificate).flaw()


def stated_groups(remarks: Mapping[str, str], machines: int) -> Groups | None:
    """Return the groups of machines that a remark states; None if they are no partition.

    Examples
    --------
    >>> stated_groups({"machine groups": "0 2; 1"}, 3), stated_groups({"machine groups": "0"}, 3)
    (((0, 2), (1,)), None)
    """
    text = remarks.get("machine groups", "")
    if not _GROUPS.fullmatch(text):
        return None
    groups = tuple(tuple(map(int, part.split())) for part in text.split("; "))
    return groups if sorted(sum(groups, ())) == list(range(machines)) else None


class DagTimes:
    """The times of an instance on a grid, by groups of machines; tasks of all graphs in a row.

    Parameters
    ----------
    instance : Instance
    grid : TimeGrid
    groups : tuple of tuple of int
        All machines, each in one of them.
    """

    def __init__(self, instance: Instance, grid: TimeGrid, groups: Groups) -> None:
        self.instance, self.grid, self.groups = instance, grid, groups
        self.times = CheckerTimes(instance)
        self.tasks = [
            (g, t) for g, one in enumerate(instance.graphs) for t in range(len(one.tasks))
        ]
        number = {pair: task for task, pair in enumerate(self.tasks)}
        self.edges: dict[tuple[int, int], Edge] = {
            (number[g, edge.source], number[g, edge.target]): edge
            for g, one in enumerate(instance.graphs)
            for edge in one.edges
        }
        self.entries = {
            number[g, t] for g, one in enumerate(instance.graphs) for t in first_tasks(one)
        }
        self.exits = {
            number[g, t] for g, one in enumerate(instance.graphs) for t in last_tasks(one)
        }

    def task_times(self, last: int) -> TaskTimes:
        """Return the times of all schedules that are complete by an instant."""
        costs, releases, latest = [], [], []
        for task in range(len(self.tasks)):
            row = self._least(self._duration, task)
            costs.append(row)
            releases.append(self._least(self._release, task))
            delivery = self._least(self._delivery, task)
            latest.append(
                tuple(
                    None if cost is None or out is None else last - out - cost
                    for cost, out in zip(row, delivery, strict=True)
                )
            )
        return TaskTimes(
            tuple(costs),
            tuple(releases),
            tuple(latest),
            tuple(map(len, self.groups)),
            all_run=True,
            transfers=cache(self._transfers),  # many rows are about one edge
        )

    def _least(self, time: Callable[[int, int], int | None], task: int) -> tuple[int | None, ...]:
        """Return the least time of a task in each group; None where there is none."""
        rows = ([time(task, machine) for machine in group] for group in self.groups)
        return tuple(min((t for t in row if t is not None), default=None) for row in rows)

    def _duration(self, task: int, machine: int) -> int | None:
        cost = self.times.duration(*self.tasks[task], machine)
        return None if cost is None else self.grid.duration(cost)

    def _release(self, task: int, machine: int) -> int:
        graph = self.instance.graphs[self.tasks[task][0]]
        first = task in self.entries
        wait = self.times.input_time(graph, machine) if first else Fraction(0)
        return self.grid.instant(exact(graph.arrival) + wait)

    def _delivery(self, task: int, machine: int) -> int:
        graph = self.instance.graphs[self.tasks[task][0]]
        last = task in self.exits
        return self.grid.duration(self.times.output_time(graph, machine)) if last else 0

    def _transfers(self, source: int, target: int) -> list[list[int]] | None:
        edge = self.edges.get((source, target))
        if edge is None:
            return None
        return [
            [
                min(
                    self.grid.duration(self.times.transfer(edge.data, p, q))
                    for p, q in product(group, other)
                )
                for other in self.groups
            ]
            for group in self.groups
        ]
