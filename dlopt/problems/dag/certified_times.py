"""The times of a program of task graphs on a grid, by groups of machines.

All times are rounded down. So every schedule of the instance, with its starts rounded down to the
grid, is one of the rounded times: of two tasks one after the other, or of a task and its
completion, the later instant is no less than the sum of the parts, each rounded down.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from itertools import product

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.certificate_units import TimeGrid
from dlopt.problems.dag.checker_times import CheckerTimes, first_tasks, last_tasks
from dlopt.problems.dag.data import Edge, Instance
from dlopt.problems.step_formulation import TaskTimes, Times

Groups = tuple[tuple[int, ...], ...]


class DagTimes:
    """The times of an instance on a grid, by groups of machines; tasks of all graphs in a row.

    Parameters
    ----------
    instance : Instance
    grid : TimeGrid
    groups : tuple of tuple of int
        All machines, each in one of them.

    Attributes
    ----------
    tasks : list of (int, int)
        Graph and task.
    transfers : callable
        Returns how long an edge takes at least, by groups; None of two tasks without an edge.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", (Task("a", work=3), Task("b", work=5)), absolute_deadline=4)
    >>> instance = Instance((Machine("m"), Machine("n", power=2)), (graph,))
    >>> times = DagTimes(instance, TimeGrid(Fraction(1), Fraction(0)), ((0,), (1,)))
    >>> times.costs, times.due(0)
    (((3, 1), (5, 2)), 4)
    """

    def __init__(self, instance: Instance, grid: TimeGrid, groups: Groups) -> None:
        self.instance, self.grid, self.groups = instance, grid, groups
        self.times = CheckerTimes(instance)
        self.transfers = cache(self._transfers)  # many rows are about one edge
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

    @cached_property
    def costs(self) -> Times:
        """The least time that each task takes in each group; None where it cannot run."""
        return self._least_times(self._duration)

    @cached_property
    def releases(self) -> Times:
        """The earliest start of each task in each group."""
        return self._least_times(self._release)

    @cached_property
    def deliveries(self) -> Times:
        """The least time from the end of each task in each group until its output is there."""
        return self._least_times(self._delivery)

    def task_times(self, last: int, order: tuple[int, ...] = ()) -> TaskTimes:
        """Return the times of all schedules that are complete by an instant.

        `order` is that of the tasks by which groups are numbered that may be exchanged.
        """
        latest = tuple(
            tuple(
                None if cost is None or out is None else last - out - cost
                for cost, out in zip(costs, deliveries, strict=True)
            )
            for costs, deliveries in zip(self.costs, self.deliveries, strict=True)
        )
        return TaskTimes(
            self.costs,
            self.releases,
            latest,
            tuple(map(len, self.groups)),
            all_run=True,
            transfers=self.transfers,
            exchangeable=cache(self.are_exchangeable),
            order=order,
        )

    def are_exchangeable(self, one: int, other: int) -> bool:
        """Tell whether exchanging the machines of two groups changes no time of the program."""
        rows = (*self.costs, *self.releases, *self.deliveries)
        if len(self.groups[one]) != len(self.groups[other]) or any(
            r[one] != r[other] for r in rows
        ):
            return False
        swap = list(range(len(self.groups)))
        swap[one], swap[other] = other, one
        for edge in self.edges:
            times = self.transfers(*edge)
            assert times is not None  # it is an edge
            for g, h in product(range(len(swap)), (one, other)):
                same = times[g][h] == times[swap[g]][swap[h]]
                if not same or times[h][g] != times[swap[h]][swap[g]]:
                    return False
        return True

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

    def due(self, graph: int) -> int | None:
        """Return the due date of a graph; in floats as late as the checker of plans may allow.

        A graph that is complete by its due date is so on the grid, too, as both are rounded down.
        """
        given = self.instance.graphs[graph].absolute_deadline
        if given is None:
            return None
        date = exact(given)
        if not self.instance.exact:
            first = min(exact(one.arrival) for one in self.instance.graphs)
            drift = DRIFT * len(self.tasks) * max(date - first, Fraction(0))
            date += 2 * (exact(FLOATING) * self._shortest + ROUNDING * date + drift)
        return self.grid.instant(date)

    @cached_property
    def _shortest(self) -> Fraction:
        """The time of the shortest task where it is fastest, of those that take any time."""
        machines = range(len(self.instance.machines))
        rows = (
            [self.times.duration(*task, machine) for machine in machines] for task in self.tasks
        )
        fastest = (min(time for time in row if time is not None) for row in rows)
        return min((time for time in fastest if time), default=Fraction(0))

    def _least_times(self, time: Callable[[int, int], int | None]) -> Times:
        """Return the least time of each task in each group; None where there is none."""
        return tuple(
            tuple(
                min((t for m in group if (t := time(task, m)) is not None), default=None)
                for group in self.groups
            )
            for task in range(len(self.tasks))
        )

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
