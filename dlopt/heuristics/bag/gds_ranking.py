"""The rank of tasks in GDS: ratios of communication to computation, capacities, neighbours.

Source: Liu, Baskiyar and Li 2007, equations (1), (2) and (6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction
from typing import Any

from dlopt.heuristics.bag.immediate_mode import deadline_key
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.problems.bag.data import PRIORITIES


class TaskIntensity(IntEnum):
    """Whether communication or computation dominates a task, in the order in which GDS ranks."""

    COMMUNICATION = 0
    NEUTRAL = 1
    COMPUTATION = 2


class SiteNetwork:
    """Sites with their neighbours and computing capacities.

    Attributes
    ----------
    machines : tuple of tuple of int
        Of each site.
    capacities : tuple of Number
        Eq. (2): the mean power of the machines of each site, 0 where there are none. With an ETC
        matrix, the power of a machine is the mean of 1 / time over the tasks that it can run.
    bandwidths : tuple of dict
        Of each site: its neighbours, with the bandwidth of the best link.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Link, Machine, Site, Task
    >>> machines = (Machine("m", 0), Machine("n", 1, power=2), Machine("o", 1, power=4))
    >>> sites, links = (Site("a"), Site("b")), (Link((0, 1), bandwidth=5),)
    >>> tasks = (Task("t", 3, input=4, output=1, absolute_deadline=9),)
    >>> network = SiteNetwork(InstanceArrays(Instance(tasks, machines, sites, links)))
    >>> network.capacities, network.ccr(0)
    ((Fraction(1, 1), Fraction(3, 1)), Fraction(1, 1))
    """

    def __init__(self, arrays: InstanceArrays) -> None:
        self.arrays = arrays
        instance = arrays.instance
        count = len(instance.sites)
        machines: list[list[int]] = [[] for _ in range(count)]
        for index, site in enumerate(arrays.machine_sites):
            machines[site].append(index)
        self.machines = tuple(map(tuple, machines))
        powers = self._machine_powers()
        self.capacities = tuple(_mean([powers[k] for k in of_site]) for of_site in machines)
        self.bandwidths: tuple[dict[int, Any], ...] = tuple({} for _ in range(count))
        self._links: list[dict[int, list[tuple[Any, Any]]]] = [
            defaultdict(list) for _ in range(count)
        ]
        for link in instance.links:
            bandwidth = arrays.to_number(link.bandwidth)
            latency = arrays.to_number(link.latency)
            for source, target in (link.between, link.between[::-1]):
                neighbours = self.bandwidths[source]
                neighbours[target] = max(bandwidth, neighbours.get(target, bandwidth))
                self._links[source][target].append((bandwidth, latency))

    def _machine_powers(self) -> list[Any]:
        arrays, instance = self.arrays, self.arrays.instance
        if instance.etc is None:
            return [arrays.to_number(machine.power) for machine in instance.machines]
        columns = zip(*arrays.durations, strict=True)
        return [
            _mean([_divide(1, time) for time in column if time is not None]) for column in columns
        ]

    def ccr(self, task: int) -> Any:
        """Return eq. (1), communication to computation, or None where there is no neighbour.

        Communication is the mean time that input and output take to a neighbour of the task's
        site; computation is the task's work by the mean capacity of the neighbours; with an ETC
        matrix, its mean time on their machines.
        """
        arrays = self.arrays
        given = arrays.instance.all_tasks[task]
        neighbours = self.bandwidths[given.site]
        if not neighbours:
            return None
        data = arrays.to_number(given.input) + arrays.to_number(given.output)
        transfers = [
            min(
                latency + _divide(data, bandwidth)
                for bandwidth, latency in self._links[given.site][neighbour]
            )
            for neighbour in neighbours
        ]
        computation = self._mean_execution_time(task, list(neighbours))
        return None if computation is None else _divide(_mean(transfers), computation)

    def _mean_execution_time(self, task: int, sites: Sequence[int]) -> Any:
        """Return how long a task takes at some sites on average; None if it cannot run there."""
        arrays = self.arrays
        work = arrays.instance.all_tasks[task].work
        if work is not None:
            capacity = _mean([self.capacities[site] for site in sites])
            return _divide(arrays.to_number(work), capacity) if capacity else None
        times = [arrays.duration(task, k) for site in sites for k in self.machines[site]]
        known = [time for time in times if time is not None]
        return _mean(known) if known else None

    def intensity(self, task: int) -> TaskIntensity:
        """Classify a task by the CCR thresholds of the instance; neutral if unknown."""
        ccr = self.ccr(task)
        low, high = self.arrays.instance.ccr_thresholds
        if ccr is None or low <= ccr <= high:
            return TaskIntensity.NEUTRAL
        return TaskIntensity.COMMUNICATION if ccr > high else TaskIntensity.COMPUTATION

    def neighbours(self, site: int, intensity: TaskIntensity) -> list[int]:
        """Return the neighbours of a site, the most suitable for an intensity first.

        By capacity, by bandwidth, or by eq. (6), the sum of both shares; of equal ones the first.
        """
        bandwidths = self.bandwidths[site]
        total_bandwidth = sum(bandwidths.values())
        total_capacity = sum(self.capacities[neighbour] for neighbour in bandwidths)

        def suitability(neighbour: int) -> Any:
            if intensity is TaskIntensity.COMPUTATION:
                return self.capacities[neighbour]
            if intensity is TaskIntensity.COMMUNICATION:
                return bandwidths[neighbour]
            capacity = self.capacities[neighbour]
            share = _divide(capacity, total_capacity) if total_capacity else 0
            return share + _divide(bandwidths[neighbour], total_bandwidth)

        return sorted(sorted(bandwidths), key=suitability, reverse=True)

    def rank_key(self, task: int) -> tuple[Any, ...]:
        """Return the key by which tasks are ranked: priority, intensity, deadline."""
        priority = self.arrays.instance.all_tasks[task].priority
        deadline = deadline_key(self.arrays.deadlines[task])
        return PRIORITIES.index(priority), self.intensity(task), deadline

    def ranked_tasks(self) -> tuple[int, ...]:
        """Return all tasks by rank, of equal ranks the first one first."""
        return tuple(sorted(range(len(self.arrays.task_ids)), key=self.rank_key))


def _divide(numerator: Any, denominator: Any) -> Any:
    if isinstance(numerator, float) or isinstance(denominator, float):
        return numerator / denominator
    return Fraction(numerator) / denominator


def _mean(numbers: Sequence[Any]) -> Any:
    return _divide(sum(numbers), len(numbers)) if numbers else 0
