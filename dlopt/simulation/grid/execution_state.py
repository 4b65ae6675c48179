"""State of a running grid: jobs, subtasks, attempts and nodes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
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


class Subtask:
    """A task of a graph, as schedulers know it."""

    __slots__ = (
        "after",
        "attempt",
        "costs",
        "data_from",
        "data_in",
        "data_out",
        "duplicate_attempts",
        "index",
        "job",
        "level",
        "mapped_node",
        "missing",
        "producer",
        "rank",
        "round_trip_times",
        "sent_in",
        "sent_out",
        "state",
        "tries",
        "work",
    )

    def __init__(self, job: Job, index: int) -> None:
        self.job, self.index = job, index
        self.state = SubtaskState.WAITING
        self.missing = 0  # predecessors whose results are not known yet
        self.after: list[Subtask] = []
        self.data_from: list[tuple[Subtask, Number]] = []
        self.data_in: Number = 0  # the largest of its data: transfers are concurrent
        self.data_out: Number = 0
        self.sent_in: Number = 0  # the sum of its data: the traffic
        self.sent_out: Number = 0
        self.level: Number = 0  # static b-level
        self.rank: Rank = (0, 0, 0)  # deadline less level, job, index: low first
        self.work: Any = None
        self.costs: tuple[Any, ...] | None = None  # on each machine, if it has no work
        self.round_trip_times: list[Number] = []  # on the nodes of its LAN, see `LanNodes`
        self.attempt: Attempt | None = None
        self.duplicate_attempts: list[Attempt] = []
        self.mapped_node: Node | None = None  # by its graph, under competitive scheduling
        self.producer: Node | None = None  # whose result counts
        self.tries = 0

    def time_on(self, node: Node) -> Number:
        """Return its estimated execution time on a node that can run it."""
        time: Number = self.work / node.power if self.costs is None else self.costs[node.index]
        return time


class Attempt:
    """One execution of a subtask: it is sent to a node, runs there, and its result returns."""

    __slots__ = (
        "arrived",
        "due",
        "duration",
        "end",
        "estimate",
        "expected_known",
        "fate",
        "freed",
        "is_duplicate",
        "known",
        "node",
        "sent",
        "start",
        "state",
        "subtask",
    )

    def __init__(self, subtask: Subtask, node: Node, sent: Number) -> None:
        self.subtask, self.node, self.sent = subtask, node, sent
        self.state = AttemptState.IN_TRANSIT
        self.is_duplicate = False  # taken back while it runs or returns
        self.arrived: Number = sent
        self.due: Number | None = None
        self.estimate: Number = 0  # estimated execution time
        self.duration: Number = 0  # actual execution time, without failures
        self.expected_known: Number = sent
        self.start: Any = None
        self.end: Any = None
        self.known: Number | None = None
        self.freed: Number | None = None
        self.fate = "unfinished"


class Node:
    """A machine: its true state, and the state that its scheduler assumes."""

    __slots__ = (
        "assigned",
        "back_at",
        "busy",
        "down_since",
        "free",
        "index",
        "lan",
        "latency",
        "machine",
        "place",
        "power",
        "presumed_since",
        "queue",
        "running",
        "unit",
        "up",
        "wasted",
    )

    def __init__(
        self, index: int, place: int, machine: Machine, latency: Number, unit: Number, power: Number
    ) -> None:
        assert machine.lan is not None  # see `check_fits`
        self.index, self.place, self.machine, self.lan = index, place, machine, machine.lan
        self.latency, self.unit, self.power = latency, unit, power
        self.up = True
        self.back_at: Any = 0  # when it recovers; None for never
        self.down_since: Any = None
        self.queue: deque[Attempt] = deque()  # in the order in which they were sent
        self.running: Attempt | None = None
        self.assigned: list[Attempt] = []  # those that the scheduler assumes to be there
        self.free: Number = 0  # when the scheduler expects it to be free (EMFT)
        self.presumed_since: Number | None = None
        self.busy: Number = 0
        self.wasted: Number = 0


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


class Job:
    """A task graph on its way through the grid."""

    __slots__ = (
        "arrival",
        "decided",
        "due",
        "estimate",
        "graph",
        "home",
        "index",
        "input",
        "lan",
        "last_known",
        "left",
        "lost",
        "needs_eligibility",
        "output",
        "reason",
        "received",
        "returned",
        "subtasks",
        "table",
        "waiting",
    )

    def __init__(self, index: int, graph: Graph, number: Callable[[Number], Number]) -> None:
        self.index, self.graph = index, graph
        assert graph.lan is not None  # see `check_fits`
        self.home: int = graph.lan
        self.arrival = number(graph.arrival)
        due = graph.absolute_deadline
        self.due = None if due is None else number(due)
        self.input, self.output = number(graph.input), number(graph.output)
        self.lan: int | None = None
        self.decided: Any = None
        self.received: Number | None = None
        self.returned: Number | None = None
        self.last_known: Number | None = None
        self.estimate: Number | None = None  # reference for its response; None without bids
        self.reason = ""
        self.lost = 0  # subtasks that had to be sent again
        self.subtasks = _subtasks(self, graph, number)
        self.left = len(self.subtasks)
        # Whether some subtasks may be unable to run on some nodes.
        self.needs_eligibility = any(subtask.costs is not None for subtask in self.subtasks)
        self.waiting = sorted(self.subtasks, key=lambda subtask: subtask.rank)
        self.table: Any = None  # arrays for compiled bids


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
