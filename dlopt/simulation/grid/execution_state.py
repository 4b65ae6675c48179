"""State of a running grid: jobs, subtasks, attempts and nodes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from enum import Enum, IntEnum, auto
from typing import Any, TypeAlias

from dlopt.arithmetic import Number
from dlopt.problems.dag import Graph, Instance, Machine
from dlopt.problems.dag.topology import topological


class SubtaskState(IntEnum):
    """Progress of a subtask, in the order in which it is made."""

    WAITING = 0
    """Results of predecessors are missing."""
    READY = 1
    """All results of predecessors are in the LAN."""
    SENT = 2
    """An attempt was sent to a node."""
    DONE = 3
    """Its result is in the LAN."""


class AttemptState(Enum):
    """Progress of an attempt."""

    IN_TRANSIT = auto()
    """Its data is on the way to the node."""
    QUEUED = auto()
    """It waits in the queue of the node."""
    RUNNING = auto()
    RETURNING = auto()
    """Its result is on the way to the scheduler."""
    LOST = auto()
    """The node has failed; the scheduler does not know."""
    OVER = auto()


Rank: TypeAlias = tuple[Number, int, int]
"""Priority of a subtask: latest start, job, topological position; the smallest goes first."""
QueueKey: TypeAlias = Rank | tuple[Number, int, Rank]
"""Key of a ready subtask: its rank, or when it was ready, its job, and its rank."""


@dataclass(slots=True, eq=False)
class Subtask:
    """A task of a graph, as schedulers know it."""

    job: Job
    index: int
    state: SubtaskState = SubtaskState.WAITING
    missing: int = 0  # predecessors whose results are not known yet
    after: list[Subtask] = field(default_factory=list)
    data_from: list[tuple[Subtask, Number]] = field(default_factory=list)
    data_in: Number = 0  # the largest of its data: transfers are concurrent
    data_out: Number = 0
    sent_in: Number = 0  # the sum of its data: the traffic
    sent_out: Number = 0
    level: Number = 0  # static b-level
    rank: Rank = (0, 0, 0)  # deadline less level, job, index: low first
    work: Any = None
    costs: tuple[Any, ...] | None = None  # on each machine, if it has no work
    round_trip_times: list[Number] = field(default_factory=list)  # on the nodes of its LAN
    attempt: Attempt | None = None
    duplicate_attempts: list[Attempt] = field(default_factory=list)
    mapped_node: Node | None = None  # by its graph, under competitive scheduling
    producer: Node | None = None  # whose result counts
    tries: int = 0

    def time_on(self, node: Node) -> Number:
        """Return its estimated execution time on a node that can run it."""
        time: Number = self.work / node.power if self.costs is None else self.costs[node.index]
        return time


@dataclass(slots=True, eq=False)
class Attempt:
    """One execution of a subtask: it is sent to a node, runs there, and its result returns."""

    subtask: Subtask
    node: Node
    sent: Number
    arrived: Number = field(init=False)
    expected_known: Number = field(init=False)
    state: AttemptState = AttemptState.IN_TRANSIT
    is_duplicate: bool = False  # taken back while it runs or returns
    due: Number | None = None
    estimate: Number = 0  # estimated execution time
    duration: Number = 0  # actual execution time, without failures
    start: Any = None
    end: Any = None
    known: Number | None = None
    freed: Number | None = None
    fate: str = "unfinished"

    def __post_init__(self) -> None:
        self.arrived = self.expected_known = self.sent


@dataclass(slots=True, eq=False)
class Node:
    """A machine: its true state, and the state that its scheduler assumes."""

    index: int
    place: int
    machine: Machine
    latency: Number
    unit: Number
    power: Number
    lan: int = field(init=False)
    up: bool = True
    back_at: Any = 0  # when it recovers; None for never
    down_since: Any = None
    queue: deque[Attempt] = field(default_factory=deque)  # in the order in which they were sent
    running: Attempt | None = None
    assigned: list[Attempt] = field(default_factory=list)  # that the scheduler assumes to be there
    free: Number = 0  # when the scheduler expects it to be free (EMFT)
    presumed_since: Number | None = None
    busy: Number = 0
    wasted: Number = 0

    def __post_init__(self) -> None:
        assert self.machine.lan is not None  # see `check_fits`
        self.lan = self.machine.lan


class LanNodes:
    """The nodes of a LAN, and lists of their constant attributes.

    Parameters
    ----------
    nodes : list of Node
    """

    __slots__ = ("arrays", "nodes", "powers", "round_trip_latencies", "unit")

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.powers = [node.power for node in nodes]
        self.round_trip_latencies = [node.latency + node.latency for node in nodes]
        self.unit: Number = nodes[0].unit if nodes else 0  # transfer time per unit of data
        self.arrays: Any = None  # for compiled bids

    def round_trip_times(self, subtask: Subtask) -> list[Number]:
        """Return the execution time of a subtask on each node plus the latencies there and back.

        Infinite where it cannot run.
        """
        if subtask.costs is None:
            work = subtask.work
            return [
                two + work / power
                for two, power in zip(self.round_trip_latencies, self.powers, strict=True)
            ]
        costs = (subtask.costs[node.index] for node in self.nodes)
        return [
            math.inf if cost is None else two + cost
            for two, cost in zip(self.round_trip_latencies, costs, strict=True)
        ]


@dataclass(slots=True, eq=False)
class Job:
    """A task graph on its way through the grid."""

    index: int
    graph: Graph
    number: InitVar[Callable[[Number], Number]]
    home: int = field(init=False)
    arrival: Number = field(init=False)
    due: Number | None = field(init=False)
    input: Number = field(init=False)
    output: Number = field(init=False)
    lan: int | None = None
    decided: Any = None
    received: Number | None = None
    returned: Number | None = None
    last_known: Number | None = None
    estimate: Number | None = None  # reference for its response; None without bids
    reason: str = ""
    lost: int = 0  # subtasks that had to be sent again
    subtasks: list[Subtask] = field(init=False)
    left: int = field(init=False)
    needs_eligibility: bool = field(init=False)
    """Whether some subtasks may be unable to run on some nodes."""
    waiting: list[Subtask] = field(init=False)
    table: Any = None  # arrays for compiled bids

    def __post_init__(self, number: Callable[[Number], Number]) -> None:
        graph = self.graph
        assert graph.lan is not None  # see `check_fits`
        self.home, self.arrival = graph.lan, number(graph.arrival)
        due = graph.absolute_deadline
        self.due = None if due is None else number(due)
        self.input, self.output = number(graph.input), number(graph.output)
        self.subtasks = _subtasks(self, graph, number)
        self.left = len(self.subtasks)
        self.needs_eligibility = any(subtask.costs is not None for subtask in self.subtasks)
        self.waiting = sorted(self.subtasks, key=lambda subtask: subtask.rank)


def _subtasks(job: Job, graph: Graph, number: Callable[[Number], Number]) -> list[Subtask]:
    subtasks = [Subtask(job, index) for index in range(len(graph.tasks))]
    for edge in graph.edges:
        source, target, data = subtasks[edge.source], subtasks[edge.target], number(edge.data)
        source.after.append(target)
        target.data_from.append((source, data))
        target.missing += 1
        target.data_in, source.data_out = max(target.data_in, data), max(source.data_out, data)
        target.sent_in += data
        source.sent_out += data
    for subtask in subtasks:
        if not subtask.missing:
            subtask.data_in = subtask.sent_in = job.input
        if not subtask.after:
            subtask.data_out = subtask.sent_out = job.output
    order = topological([[target.index for target in subtask.after] for subtask in subtasks])
    for index in reversed(order):
        subtask, task = subtasks[index], graph.tasks[index]
        if task.work is not None:
            mean_time = subtask.work = number(task.work)
        else:
            rows = task.costs or ()
            subtask.costs = tuple(None if cost is None else number(cost) for cost in rows)
            costs = [cost for cost in subtask.costs if cost is not None]
            mean_time = sum(costs[1:], costs[0]) / len(costs)
        subtask.level = mean_time + max(
            (target.level for target in subtask.after), default=number(0)
        )
    latest = number(0) if job.due is None else job.due
    places = {index: place for place, index in enumerate(order)}
    for subtask in subtasks:
        # A task without deadline is as urgent as one that is due when it arrives.
        latest_start = (job.arrival if job.due is None else latest) - subtask.level
        subtask.rank = (latest_start, job.index, places[subtask.index])
    return subtasks


def check_fits(instance: Instance) -> str | None:
    """Return why the graphs of an instance cannot run on a grid of LANs; None if they can."""
    if instance.network.convention != "scheduler":
        return "data goes from machine to machine: convention must be scheduler"
    if any(machine.lan is None for machine in instance.machines):
        return "machines belong to no LAN"
    for graph in instance.graphs:
        if graph.lan is None:
            return f"graph {graph.id} has no home LAN"
    return None
