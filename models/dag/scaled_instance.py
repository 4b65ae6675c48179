"""The instance of the models: the tasks of all graphs as one list of jobs, all times as integers.

Times are multiplied by one common factor (`ScaledInstance.scale`), the least that makes every time
of the instance an integer. If the horizon would then be longer than `MAX_HORIZON`, as for most
floats, times are rounded down to a grid instead. The rounded instance is a relaxation: every
schedule of the instance is no longer in it, so a bound proven for it holds for the instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, gcd, lcm
from typing import Any

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.models.common.solver_units import short_scale
from dlopt.models.common.transitive_reduction import transitive_reduction
from dlopt.problems.allowance import DRIFT
from dlopt.problems.dag.data import Graph, Instance
from dlopt.problems.dag.task_and_transfer_times import cost_of

MAX_HORIZON = 2**40
"""Longest horizon, in units of time of a model: CP-SAT adds up many times in 64-bit integers.
Chosen by hand: it leaves 23 bits for the number of terms."""
GRID_UNITS = 2**30
"""Units of time within the horizon if times have no common unit. Chosen by hand: 2^30 units are
finer than the 1e-6 to which values and bounds of floats are compared, and few enough for CP-SAT.
"""


@dataclass(frozen=True, slots=True)
class Arc:
    """A precedence constraint between two jobs, with the data that is sent along it.

    Parameters
    ----------
    source, target : int
        The predecessor and the successor.
    transfer_times : tuple of int
        How long the transfer takes, for each class of links; see `ScaledInstance.link_class`.
    """

    source: int
    target: int
    transfer_times: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Restriction:
    """Why an instance lacks machines of jobs: some optimal schedule does without them.

    Parameters
    ----------
    complete : ScaledInstance
        The instance with all machines of all jobs, in the same units.
    latest_completions : tuple of int, shape (graphs,)
        Some optimal schedule completes every graph by then. Schedules that do not may be missing,
        or take transfers for shorter than they are.
    sequential_machines : tuple of int, shape (jobs,)
        Of a schedule that does, in the sequence of the jobs.
    """

    complete: ScaledInstance
    latest_completions: tuple[int, ...]
    sequential_machines: tuple[int, ...]


@dataclass(frozen=True)
class ScaledInstance:
    """Jobs on machines, in units of time such that every number is an integer.

    Instants count from the first arrival, so that units are no coarser for dates that are large.

    Parameters
    ----------
    instance : Instance
    origin : Fraction
        The first arrival.
    scale : Fraction
        Units of time of the model in one of the instance.
    exactly_scaled : bool
        Whether every number of the instance is a multiple of a unit. If not, times are rounded
        down: the scaled instance is a relaxation, its bounds hold for the instance, and its
        schedules are re-evaluated with the original data.
    jobs : tuple of (int, int)
        Graph and task of each job. Every arc leads from a job to a later one.
    costs : tuple of tuple of (int or None), shape (jobs, machines)
        The processing time of a job; None where it cannot run.
    release_times : tuple of tuple of int, shape (jobs, machines)
        The arrival of the graph, plus the transfer of its input for jobs without predecessors.
    delivery_times : tuple of tuple of int, shape (jobs, machines)
        The transfer of the output of the graph, for jobs without successors; 0 for others.
    arcs : tuple of Arc
        Of a graph in which no transfer takes time, without those that follow from other arcs.
    link_class : tuple of tuple of int, shape (machines, machines)
        The class of the link from one machine to another: links of a class have the same latency
        and bandwidth.
    restriction : Restriction or None
        None if all machines of all jobs are there.
    """

    instance: Instance
    origin: Fraction
    scale: Fraction
    exactly_scaled: bool
    jobs: tuple[tuple[int, int], ...]
    costs: tuple[tuple[int | None, ...], ...]
    release_times: tuple[tuple[int, ...], ...]
    delivery_times: tuple[tuple[int, ...], ...]
    arcs: tuple[Arc, ...]
    link_class: tuple[tuple[int, ...], ...]
    restriction: Restriction | None = None

    @classmethod
    def from_instance(cls, instance: Instance) -> ScaledInstance:
        """Scale the times of an instance to integers, with all machines of all jobs.

        Examples
        --------
        >>> from dlopt.problems.dag import Edge, Machine, Task
        >>> graph = Graph("g", (Task("a", work=3), Task("b", work=1)), (Edge(0, 1, data=1),))
        >>> machines = Machine("m", power=2), Machine("n")
        >>> scaled = ScaledInstance.from_instance(Instance(machines, (graph,)))
        >>> scaled.scale, scaled.costs, scaled.arcs[0].transfer_times
        (Fraction(2, 1), ((3, 6), (1, 2)), (0, 2))
        """
        scaler = Scaler(instance)
        return scaler.within_horizon(scaler.exactly_scaled())

    @property
    def machine_count(self) -> int:
        """The number of machines."""
        return len(self.link_class)

    @cached_property
    def incoming(self) -> list[list[Arc]]:
        """The arcs into each job."""
        incoming: list[list[Arc]] = [[] for _ in self.jobs]
        for arc in self.arcs:
            incoming[arc.target].append(arc)
        return incoming

    @cached_property
    def outgoing(self) -> list[list[Arc]]:
        """The arcs out of each job."""
        outgoing: list[list[Arc]] = [[] for _ in self.jobs]
        for arc in self.arcs:
            outgoing[arc.source].append(arc)
        return outgoing

    @cached_property
    def jobs_of_graph(self) -> list[list[int]]:
        """The jobs of each graph."""
        jobs: list[list[int]] = [[] for _ in self.instance.graphs]
        for job, (graph, _) in enumerate(self.jobs):
            jobs[graph].append(job)
        return jobs

    @cached_property
    def eligible_machines(self) -> list[list[int]]:
        """The machines that can run each job."""
        return [[p for p, cost in enumerate(row) if cost is not None] for row in self.costs]

    @cached_property
    def arrivals(self) -> list[int]:
        """The arrival of each graph, rounded down."""
        graphs = self.instance.graphs
        return [floor((exact(g.arrival) - self.origin) * self.scale) for g in graphs]

    @cached_property
    def due_dates(self) -> list[int | None]:
        """The due date of each graph, rounded down; it is late if it is complete later.

        Due dates of instances in floats are relaxed by more than the checker of a schedule allows.
        So no schedule that the checker accepts has fewer late graphs than the model proves.
        """
        dates = map(self.relaxed_due_date, self.instance.graphs)
        return [None if d is None else floor((d - self.origin) * self.scale) for d in dates]

    def relaxed_due_date(self, graph: Graph) -> Fraction | None:
        """Return the due date of a graph, later than stated if the instance is in floats."""
        if graph.absolute_deadline is None:
            return None
        date = exact(graph.absolute_deadline)
        if self.instance.exact:
            return date
        drift = DRIFT * len(self.jobs) * max(date - self.origin, Fraction(0))
        return date + 2 * (exact(FLOATING) * self._shortest_cost + ROUNDING * date + drift)

    @cached_property
    def _shortest_cost(self) -> Fraction:
        """The least positive processing time of a task on its fastest machine."""
        graphs, machines = self.instance.graphs, self.instance.machines
        tasks = [task for graph in graphs for task in graph.tasks]
        costs = ([cost_of(task, k, m) for k, m in enumerate(machines)] for task in tasks)
        fastest = (min(exact(cost) for cost in row if cost is not None) for row in costs)
        return min((cost for cost in fastest if cost), default=Fraction(0))

    @cached_property
    def communication_free(self) -> bool:
        """Whether no arc takes time, and input and output take the same on all machines."""
        rows = (*self.release_times, *self.delivery_times)
        return not any(any(arc.transfer_times) for arc in self.arcs) and all(
            len(set(row)) == 1 for row in rows
        )

    @cached_property
    def lans(self) -> list[int] | None:
        """The LAN of each machine, if it matters; None if no graph has to stay in one."""
        if not any(graph.one_lan for graph in self.instance.graphs):
            return None
        return [-1 if m.lan is None else m.lan for m in self.instance.machines]

    @cached_property
    def identical_machines(self) -> list[list[int]]:
        """All machines in groups: those of a group may be exchanged in any schedule."""
        if self.restriction is not None:  # they are so for a certificate, which is about all
            return self.restriction.complete.identical_machines
        columns = list(zip(*self.costs, *self.release_times, *self.delivery_times, strict=True))
        groups: dict[int, list[int]] = {}
        for machine in range(self.machine_count):
            for first, group in groups.items():
                if columns[first] == columns[machine] and self._are_interchangeable(first, machine):
                    group.append(machine)
                    break
            else:
                groups[machine] = [machine]
        return list(groups.values())

    def cost(self, job: int, machine: int) -> int:
        """Return the processing time of a job on a machine that can run it."""
        cost = self.costs[job][machine]
        assert cost is not None  # callers ask for `eligible_machines`
        return cost

    def transfer_time(self, arc: Arc, source: int, target: int) -> int:
        """Return how long the data of an arc takes from one machine to another."""
        return arc.transfer_times[self.link_class[source][target]]

    def to_instance_time(self, units: int) -> Fraction:
        """Return a duration, or an instant since the origin, in the unit of the instance."""
        return units / self.scale

    def _are_interchangeable(self, machine: int, other: int) -> bool:
        """Tell whether exchanging two machines changes no link, and no LAN where LANs matter."""
        if self.lans is not None and self.lans[machine] != self.lans[other]:
            return False
        swap = {machine: other, other: machine}

        def same(p: int, q: int) -> bool:
            return self.link_class[p][q] == self.link_class[swap.get(p, p)][swap.get(q, q)]

        # In both directions: a link may differ from the one back.
        machines = range(self.machine_count)
        return all(same(p, q) and same(q, p) for p in machines for q in (machine, other))


class Scaler:
    """Finds the scale of an instance and builds the scaled instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.paths, self.count = instance.paths, len(instance.machines)
        self.origin = min(exact(graph.arrival) for graph in instance.graphs)
        self.links: dict[tuple[Fraction, Fraction], int] = {}  # latency, time per unit -> class
        self.link_class = tuple(
            tuple(
                self.links.setdefault(self.paths.between(p, q), len(self.links))
                for q in range(self.count)
            )
            for p in range(self.count)
        )
        self.slowness = [1 / exact(machine.power) for machine in instance.machines]

    def exactly_scaled(self) -> ScaledInstance:
        """Return the instance in the longest unit of which all times are multiples."""
        scale = Fraction(self._common_denominator())
        scaled = self.build(scale)
        divisor = gcd(*nonzero_times(scaled))
        return self.build(scale / divisor) if divisor > 1 else scaled

    def within_horizon(self, scaled: ScaledInstance) -> ScaledInstance:
        """Return an instance as it is, or with times rounded down if its horizon is too long."""
        scale = scale_within_horizon(scaled)
        return scaled if scale == scaled.scale else self.build(scale, exactly=False)

    def _common_denominator(self) -> int:
        """Return a multiple of the least common denominator of all times that is fast to find."""
        graphs = self.instance.graphs
        tasks = [task for graph in graphs for task in graph.tasks]
        costs = {cost for task in tasks if task.costs is not None for cost in task.costs}
        works = {task.work for task in tasks} - {None}
        data = {edge.data for graph in graphs for edge in graph.edges}
        ends = [path for graph in graphs for path in self._input_output_paths(graph)]
        common = lcm(
            *_denominators(costs - {None}),
            *_denominators(exact(graph.arrival) - self.origin for graph in graphs),
            *_denominators(latency for latency, _ in self.links),
            *_denominators(latency for latency, _, _ in ends),
            *_denominators(size * unit for _, unit, size in ends),
        )
        by_work = lcm(*_denominators(works)) * lcm(*_denominators(self.slowness))
        by_data = lcm(*_denominators(data)) * lcm(*_denominators(u for _, u in self.links))
        return lcm(common, by_work if works else 1, by_data if data else 1)

    def _input_output_paths(self, graph: Graph) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Yield latency, time per unit and data of input and output, machine by machine."""
        for machine in range(self.count if graph.lan is not None else 0):
            yield (*self.paths.inbound(graph.lan, machine), exact(graph.input))
            yield (*self.paths.outbound(machine, graph.lan), exact(graph.output))

    def build(self, scale: Fraction, exactly: bool = True) -> ScaledInstance:
        """Return the instance in units of which there are `scale` in one of the instance."""
        jobs: list[tuple[int, int]] = []
        costs: list[tuple[int | None, ...]] = []
        release_times: list[tuple[int, ...]] = []
        delivery_times: list[tuple[int, ...]] = []
        arcs: list[Arc] = []
        slowness = [(scale * slow).as_integer_ratio() for slow in self.slowness]
        links = [(scale * latency, scale * unit) for latency, unit in self.links]
        for index, graph in enumerate(self.instance.graphs):
            job_of: dict[int, int] = {}
            paths = list(self._input_output_paths(graph))
            arrival = exact(graph.arrival) - self.origin
            at_arrival = (floor(arrival * scale),) * self.count
            no_delivery = (0,) * self.count
            times = [latency + data * unit for latency, unit, data in paths]
            inputs = tuple(floor((arrival + t) * scale) for t in times[::2]) or at_arrival
            outputs = tuple(floor(t * scale) for t in times[1::2]) or no_delivery
            entries, exits = set(graph.entries), set(graph.exits)
            for task in graph.order:
                job_of[task] = len(jobs)
                jobs.append((index, task))
                data_of_task = graph.tasks[task]
                if data_of_task.costs is None:
                    top, bottom = exact(data_of_task.work or 0).as_integer_ratio()
                    costs.append(tuple(top * t // (bottom * b) for t, b in slowness))
                else:
                    costs.append(
                        tuple(
                            None if c is None else floor(exact(c) * scale)
                            for c in data_of_task.costs
                        )
                    )
                release_times.append(inputs if task in entries else at_arrival)
                delivery_times.append(outputs if task in exits else no_delivery)
            transfers: dict[Fraction, tuple[int, ...]] = {}
            data_of_arc: dict[tuple[int, int], Fraction] = {}
            for edge in graph.edges:
                data = data_of_arc[job_of[edge.source], job_of[edge.target]] = exact(edge.data)
                if data not in transfers:
                    transfers[data] = tuple(floor(latency + data * unit) for latency, unit in links)
            free = not any(map(any, transfers.values()))
            kept = transitive_reduction(data_of_arc) if free else data_of_arc
            arcs += [Arc(*arc, transfers[data_of_arc[arc]]) for arc in kept]
        arcs.sort(key=lambda arc: (arc.source, arc.target))
        return ScaledInstance(
            self.instance,
            self.origin,
            scale,
            exactly,
            tuple(jobs),
            tuple(costs),
            tuple(release_times),
            tuple(delivery_times),
            tuple(arcs),
            self.link_class,
        )


def nonzero_times(scaled: ScaledInstance) -> Iterator[int]:
    """Yield every time of a scaled instance that is not 0."""
    for rows in (set(scaled.costs), set(scaled.release_times), set(scaled.delivery_times)):
        for row in rows:
            yield from (number for number in row if number)
    for transfer_times in {arc.transfer_times for arc in scaled.arcs}:
        yield from (number for number in transfer_times if number)


def scale_within_horizon(scaled: ScaledInstance) -> Fraction:
    """Return the scale of an instance, or that of a grid if its horizon is too long."""
    horizon = sequential_horizon(scaled)
    if horizon > MAX_HORIZON:
        return short_scale(scaled.scale * GRID_UNITS / horizon)
    return scaled.scale


def sequential_horizon(scaled: ScaledInstance) -> int:
    """Return a makespan that all left-shifted schedules meet: all jobs and transfers in a row."""
    processing = sum(max(cost for cost in row if cost is not None) for row in scaled.costs)
    transfers = sum(max(arc.transfer_times) for arc in scaled.arcs)
    latest_release = max(map(max, scaled.release_times))
    return processing + transfers + latest_release + max(map(max, scaled.delivery_times))


def _denominators(numbers: Iterable[Any]) -> set[int]:
    return {exact(number).denominator for number in numbers}
