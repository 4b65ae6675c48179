"""What GDS ranks by: ratios of communication to computation, capacities, neighbours.

Source: Liu, Baskiyar and Li 2007, equations (1), (2) and (6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction
from typing import Any

from dlopt.heuristics.bag.immediate_mode import due_key
from dlopt.heuristics.bag.instance_arrays import Case
from dlopt.problems.bag.data import PRIORITIES


class Kind(IntEnum):
    """What a task does most, in the order in which GDS serves tasks."""

    COMMUNICATION = 0
    NEUTRAL = 1
    COMPUTATION = 2


class Grid:
    """Sites, who is next to whom, and how much each computes.

    Attributes
    ----------
    machines : tuple of tuple of int
        Of each site.
    capacities : tuple of Number
        Eq. (2): the mean power of the machines of each site, 0 where there are none. Beside a
        matrix the power of a machine is the mean, over the tasks that it can run, of what it
        does of a task in a unit of time.
    bandwidths : tuple of dict
        Of each site: its neighbours, with the bandwidth of the best link.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Link, Machine, Site, Task
    >>> machines = (Machine("m", 0), Machine("n", 1, power=2), Machine("o", 1, power=4))
    >>> sites, links = (Site("a"), Site("b")), (Link((0, 1), bandwidth=5),)
    >>> tasks = (Task("t", 3, input=4, output=1, absolute_deadline=9),)
    >>> grid = Grid(Case(Instance(tasks, machines, sites, links)))
    >>> grid.capacities, grid.ccr(0)
    ((Fraction(1, 1), Fraction(3, 1)), Fraction(1, 1))
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        instance = case.instance
        count = len(instance.sites)
        held: list[list[int]] = [[] for _ in range(count)]
        for index, site in enumerate(case.sites):
            held[site].append(index)
        self.machines = tuple(map(tuple, held))
        powers = self._powers()
        self.capacities = tuple(_mean([powers[k] for k in own]) for own in held)
        self.bandwidths: tuple[dict[int, Any], ...] = tuple({} for _ in range(count))
        self._links: list[dict[int, list[tuple[Any, Any]]]] = [
            defaultdict(list) for _ in range(count)
        ]
        for link in instance.links:
            width, latency = case.number(link.bandwidth), case.number(link.latency)
            for here, there in (link.between, link.between[::-1]):
                beside = self.bandwidths[here]
                beside[there] = max(width, beside.get(there, width))
                self._links[here][there].append((width, latency))

    def _powers(self) -> list[Any]:
        case, instance = self.case, self.case.instance
        if instance.etc is None:
            return [case.number(machine.power) for machine in instance.machines]
        columns = zip(*case.rows, strict=True)
        return [_mean([_over(1, time) for time in own if time is not None]) for own in columns]

    def ccr(self, task: int) -> Any:
        """Return eq. (1), communication by computation, or None where there is no neighbour.

        Communication is the mean time that input and output take to a neighbour of the task's
        site; computation is the task's work by the mean capacity of the neighbours; beside a
        matrix, its mean time on their machines.
        """
        case = self.case
        one = case.instance.all_tasks[task]
        beside = self.bandwidths[one.site]
        if not beside:
            return None
        data = case.number(one.input) + case.number(one.output)
        sent = [
            min(latency + _over(data, width) for width, latency in self._links[one.site][there])
            for there in beside
        ]
        computing = self._computing(task, list(beside))
        return None if computing is None else _over(_mean(sent), computing)

    def _computing(self, task: int, sites: Sequence[int]) -> Any:
        """Return how long a task takes at some sites on average; None if it cannot run there."""
        case = self.case
        work = case.instance.all_tasks[task].work
        if work is not None:
            capacity = _mean([self.capacities[site] for site in sites])
            return _over(case.number(work), capacity) if capacity else None
        times = [case.duration(task, k) for site in sites for k in self.machines[site]]
        found = [time for time in times if time is not None]
        return _mean(found) if found else None

    def kind(self, task: int) -> Kind:
        """Return what a task does most, by the thresholds of the instance; neutral if unknown."""
        ccr = self.ccr(task)
        low, high = self.case.instance.ccr_thresholds
        if ccr is None or low <= ccr <= high:
            return Kind.NEUTRAL
        return Kind.COMMUNICATION if ccr > high else Kind.COMPUTATION

    def neighbours(self, site: int, kind: Kind) -> list[int]:
        """Return the neighbours of a site, the one that suits a kind of task best first.

        By capacity, by bandwidth, or by eq. (6), the sum of both shares; of equals the first.
        """
        beside = self.bandwidths[site]
        widths = sum(beside.values())
        powers = sum(self.capacities[there] for there in beside)

        def merit(there: int) -> Any:
            if kind is Kind.COMPUTATION:
                return self.capacities[there]
            if kind is Kind.COMMUNICATION:
                return beside[there]
            share = _over(self.capacities[there], powers) if powers else 0
            return share + _over(beside[there], widths)

        return sorted(sorted(beside), key=merit, reverse=True)

    def rank(self, task: int) -> tuple[Any, ...]:
        """Return the key by which tasks are ranked: priority, kind, deadline."""
        priority = self.case.instance.all_tasks[task].priority
        return PRIORITIES.index(priority), self.kind(task), due_key(self.case.deadlines[task])

    def ranked(self) -> tuple[int, ...]:
        """Return all tasks by rank, of equals the first one first."""
        return tuple(sorted(range(len(self.case.names)), key=self.rank))


def _over(top: Any, bottom: Any) -> Any:
    if isinstance(top, float) or isinstance(bottom, float):
        return top / bottom
    return Fraction(top) / bottom


def _mean(numbers: Sequence[Any]) -> Any:
    return _over(sum(numbers), len(numbers)) if numbers else 0
