"""An instance as flat sequences of floats, forwards and backwards in time, for many list passes.

They are lists for the interpreter, and numpy arrays for compiled code, see
`dlopt.heuristics.dag.list_passes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, MutableSequence, Sequence
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.dag.instance_arrays import InstanceArrays

Floats: TypeAlias = MutableSequence[float]
Integers: TypeAlias = MutableSequence[int]

MAX_TIME = 1e300
"""Bound of all times together: beyond it floats could overflow."""


class Sequences(NamedTuple):
    """How a list of floats, or of integers, becomes a sequence that functions take."""

    floats: Callable[[list[float]], Floats]
    integers: Callable[[list[int]], Integers]


LISTS = Sequences(list, list)


class Direction(NamedTuple):
    """Tasks, transfers and machines, in one direction of time.

    Backwards, predecessors are those that need the data, and releases are what follows the end.

    Attributes
    ----------
    cost_row, costs : sequence
        The row of each task; rows of costs by machine, infinite where it cannot run.
    release_row, releases, delivery_row, deliveries : sequence
        The same for the earliest start of tasks, and for what follows their end.
    first_predecessor, predecessor, data : sequence
        Predecessors of task t are `predecessor[first_predecessor[t]:first_predecessor[t + 1]]`.
    first_successor, successor : sequence
    machine_class, latency, time_per_data : sequence
        The class of each machine; transfers between two classes, row by row.
    machine_count, class_count, local_transfers_counted : int
    """

    cost_row: Integers
    costs: Floats
    release_row: Integers
    releases: Floats
    delivery_row: Integers
    deliveries: Floats
    first_predecessor: Integers
    predecessor: Integers
    data: Floats
    first_successor: Integers
    successor: Integers
    machine_class: Integers
    latency: Floats
    time_per_data: Floats
    machine_count: int
    class_count: int
    local_transfers_counted: int


class FlatInstance(NamedTuple):
    """An instance in both directions of time; instants count from the first arrival.

    Attributes
    ----------
    forward, backward : Direction
    graph_of, arrival, deadline : sequence
        The graph of each task; of each graph its arrival, and its deadline (infinite if none).
    """

    forward: Direction
    backward: Direction
    graph_of: Integers
    arrival: Floats
    deadline: Floats

    @classmethod
    def from_arrays(
        cls, arrays: InstanceArrays, sequences: Sequences = LISTS
    ) -> FlatInstance | None:
        """Return the instance in sequences of the given kind; None if floats could overflow.

        Complexity: O(rows x machines + tasks + edges).

        Examples
        --------
        >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
        >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)), (Edge(0, 1, data=1),))
        >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
        >>> flat = FlatInstance.from_arrays(arrays)
        >>> flat.forward.costs, flat.forward.predecessor, flat.backward.predecessor
        ([2.0, 2.0, 3.0, 3.0], [0], [1])
        """
        try:
            flat = _flattened(arrays, sequences)
        except OverflowError:
            return None
        return flat if _horizon(flat) <= MAX_TIME else None


def _flattened(arrays: InstanceArrays, sequences: Sequences) -> FlatInstance:
    tasks = range(arrays.task_count)
    floats, integers = sequences
    first = min(arrays.arrival)
    none = [0] * arrays.machine_count
    costs = _rows((id(row) for row in arrays.costs), arrays.costs.__getitem__)
    releases = _rows(
        ((arrays.arrival[task], id(arrays.input_times.get(task))) for task in tasks),
        lambda task: [
            arrays.arrival[task] - first + time for time in arrays.input_times.get(task, none)
        ],
    )
    deliveries = _rows(
        (id(arrays.output_times.get(task)) for task in tasks),
        lambda task: arrays.output_times.get(task, none),
    )
    before, after = _neighbours(arrays.predecessors), _neighbours(arrays.successors)

    def direction(
        starts: tuple[list[int], list[float]],
        ends: tuple[list[int], list[float]],
        predecessors: tuple[list[int], list[int], list[float]],
        successors: tuple[list[int], list[int], list[float]],
        transposed: bool,
    ) -> Direction:
        matrices = [_matrix(rows, transposed) for rows in (arrays.latency, arrays.time_per_data)]
        return Direction(
            cost_row=integers(costs[0]),
            costs=floats(costs[1]),
            release_row=integers(starts[0]),
            releases=floats(starts[1]),
            delivery_row=integers(ends[0]),
            deliveries=floats(ends[1]),
            first_predecessor=integers(predecessors[0]),
            predecessor=integers(predecessors[1]),
            data=floats(predecessors[2]),
            first_successor=integers(successors[0]),
            successor=integers(successors[1]),
            machine_class=integers(arrays.machine_class),
            latency=floats(matrices[0]),
            time_per_data=floats(matrices[1]),
            machine_count=arrays.machine_count,
            class_count=len(arrays.latency),
            local_transfers_counted=int(arrays.local_transfers_counted),
        )

    dates = [graph.absolute_deadline for graph in arrays.instance.graphs]
    return FlatInstance(
        direction(releases, deliveries, before, after, False),
        direction(deliveries, releases, after, before, True),
        integers(arrays.graph_of),
        floats([float(arrays.arrival[task] - first) for task in arrays.first_task]),
        floats([math.inf if at is None else _date(arrays, at, first) for at in dates]),
    )


def _date(arrays: InstanceArrays, instant: Number, first: Number) -> float:
    """Return an instant of the instance, counted from the first arrival."""
    return float(exact(instant) * arrays.scale - arrays.origin - exact(first))


def _rows(
    keys: Iterable[Hashable], row: Callable[[int], Iterable[Number | None]]
) -> tuple[list[int], list[float]]:
    """Return the row of each task and all different rows, one after the other."""
    number: dict[Hashable, int] = {}
    of_task: list[int] = []
    flat: list[float] = []
    for task, key in enumerate(keys):
        if key not in number:
            number[key] = len(number)
            flat += [math.inf if entry is None else float(entry) for entry in row(task)]
        of_task.append(number[key])
    return of_task, flat


def _neighbours(
    lists: Sequence[Sequence[tuple[int, Number]]],
) -> tuple[list[int], list[int], list[float]]:
    first = [0]
    task: list[int] = []
    data: list[float] = []
    for pairs in lists:
        for other, amount in pairs:
            task.append(other)
            data.append(float(amount))
        first.append(len(task))
    return first, task, data


def _matrix(rows: Sequence[Sequence[Number]], transposed: bool) -> list[float]:
    return [
        float(entry) for row in (zip(*rows, strict=True) if transposed else rows) for entry in row
    ]


def _horizon(flat: FlatInstance) -> float:
    """Return an upper bound of the end of every list schedule."""
    forward = flat.forward
    longest_task = max(cost for cost in forward.costs if cost < math.inf)
    transfer = max(forward.latency) + max(forward.data, default=0.0) * max(forward.time_per_data)
    ends = max(forward.releases) + max(forward.deliveries)
    return float(ends + len(forward.cost_row) * (longest_task + transfer))
