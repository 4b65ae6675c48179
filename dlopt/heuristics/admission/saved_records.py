"""The records of which snapshots of books of divisible tasks consist."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.fast.algorithm_names import Events
from dlopt.problems.admission.data import Chunk, Decision, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import NonNegative, Positive, Record

Index = Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True)
class SavedTask(Record):
    """A waiting task of a planner.

    Parameters
    ----------
    task : str
    number : int
        Of the decision on it.
    rank : Number
        Tasks are sorted by their ranks, and those of one rank by their numbers.
    arrival : Number
        When the planner got it.
    load : Number
        What of it is still to be sent.
    deadline : Number
        Absolute.
    weight : Number, default 1
    """

    task: str
    number: Index
    rank: Number
    arrival: NonNegative
    load: Positive
    deadline: NonNegative
    weight: Positive = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class SavedPlacement(Record):
    """The nodes and times that a waiting task is given, in the order of `SavedTask`."""

    nodes: Annotated[int, Ge(1)]
    not_before: NonNegative
    start: NonNegative
    sent: NonNegative
    end: NonNegative


@dataclass(frozen=True, slots=True)
class SavedEstimates(Record):
    """What the minimal repair of the published test estimates of a waiting task."""

    completion: Number
    slack: Number


@dataclass(frozen=True, slots=True)
class SavedLast(Record):
    """The task of which a part was sent last, and its number if some of its load waits."""

    completion: Number
    number: Index | None = None


@dataclass(frozen=True, slots=True)
class SavedPlanner(Record):
    """A planner.

    Parameters
    ----------
    nodes : tuple of int
        The numbers of its nodes.
    ready_times : tuple of Number, shape (nodes,)
        When each is free of what was sent.
    channel : Number
        When the channel is free of it.
    fast : bool
        Whether it admits tasks without a plan.
    waiting : tuple of SavedTask
        In their order.
    placements : tuple of SavedPlacement
        One a waiting task, if there is a plan.
    last_arrival : Number, optional
        When the last task was admitted without a plan.
    estimates : tuple of SavedEstimates
        One a waiting task, for the minimal repair of the published test.
    last_sent : SavedLast, optional
        For the minimal repair of the published test.
    """

    nodes: tuple[Index, ...]
    ready_times: tuple[NonNegative, ...]
    channel: NonNegative
    fast: bool
    waiting: tuple[SavedTask, ...]
    placements: tuple[SavedPlacement, ...] = ()
    last_arrival: NonNegative | None = None
    estimates: tuple[SavedEstimates, ...] = ()
    last_sent: SavedLast | None = None


@dataclass(frozen=True, slots=True)
class SavedForecastTask(Record):
    """A task or a reservation of the forecast of bid prices, and what it takes of the resources."""

    arrival: NonNegative
    deadline: NonNegative
    channel: NonNegative
    nodes: NonNegative
    weight: Positive = 1
    advance: NonNegative | None = None


@dataclass(frozen=True, slots=True)
class SavedCancellation(Record):
    """A promise that was taken back or broken, and its deadline."""

    task: str
    deadline: NonNegative


@dataclass(frozen=True, slots=True)
class StreamSnapshot(Record):
    """The state of a book of divisible tasks, without its header and its planner.

    Parameters
    ----------
    algorithm : str
    exact_numbers : bool
        As the engine takes it.
    reference : bool
        Of former releases: whether the plans came from a second implementation of equal decisions.
    cluster : Cluster
        As it was at first.
    now : Number
    next_number : int
        Of the next decision.
    node_count : int
        Of all nodes that there have been.
    nodes : tuple of int
        Those in service.
    ready_times : tuple of Number, shape (nodes in service,)
        When each was ready first.
    channel_ready : Number
        When the channel was ready first.
    failed : tuple of int
        Nodes that failed, and were not repaired.
    tasks : tuple of Task
        As they were submitted last, in the order of the last decisions on them.
    decisions : tuple of Decision
        One a task.
    numbers : tuple of int
        One a decision, ascending.
    cancelled : tuple of SavedCancellation
    ended : tuple of str
        Tasks that ended early.
    outdated : bool
        Whether the plan ignores some of the time that is free.
    sent : tuple of Chunk
        Those that have begun to be sent, or are committed.
    """

    algorithm: str
    exact_numbers: bool
    reference: bool
    cluster: Cluster
    now: NonNegative
    next_number: Index
    node_count: Annotated[int, Ge(1)]
    nodes: tuple[Index, ...]
    ready_times: tuple[NonNegative, ...]
    channel_ready: NonNegative
    failed: tuple[Index, ...]
    tasks: tuple[Task, ...]
    decisions: tuple[Decision, ...]
    numbers: tuple[Index, ...]
    cancelled: tuple[SavedCancellation, ...]
    ended: tuple[str, ...]
    outdated: bool
    sent: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Snapshot(StreamSnapshot):
    """The state of a book of divisible tasks.

    Parameters
    ----------
    compiled : bool
        As `dlopt.Admission` takes it.
    planner : SavedPlanner
    tie_break, threshold
        Options of the algorithm, where it has them.
    forecast : tuple of SavedForecastTask
        Of an algorithm with bid prices, in the order of the decisions.
    on_fewest : tuple of int
        Numbers of the tasks that are planned on the fewest nodes, of those that waited at the last
        decision, where an algorithm with bid prices chooses for each task.

    Notes
    -----
    The other parameters are those of `StreamSnapshot`.
    """

    compiled: bool
    planner: SavedPlanner
    tie_break: Events | None = None
    threshold: Index | None = None
    forecast: tuple[SavedForecastTask, ...] = ()
    on_fewest: tuple[Index, ...] = ()
