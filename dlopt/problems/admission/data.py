"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import MinLen

from dlopt.arithmetic import Number, is_exact, is_less, shown
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.admission.initial_state import committed_faults, later_of
from dlopt.problems.admission.state_times import channel_free_of, free_times_of, remaining_of
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Header, Items, NonNegative, Positive, Record, numbers_of


@dataclass(frozen=True, slots=True)
class Task(Record):
    """A divisible task.

    Parameters
    ----------
    id : str
    arrival : Number
    load : Number
        In units of load; positive.
    deadline : Number
        Relative to the arrival.
    remaining : Number, optional
        What of the load is still to be planned, for a task that arrived before ``now``. By
        default the load without its committed chunks.
    weight : Number, default 1
        Value of accepting the task, for the objective ``accepted-weight`` and for bid prices;
        positive.
    """

    LATER_FIELDS = frozenset({"weight"})

    id: str
    arrival: NonNegative
    load: Positive
    deadline: NonNegative
    remaining: NonNegative | None = None
    weight: Positive = 1

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if more remains than the whole load."""
        load, remaining = known.get("load"), known.get("remaining")
        if load is not None and remaining is not None and is_less(load, remaining):
            yield Fault("remaining", remaining, f"must not exceed the load, {shown(load, 15)}")

    @property
    def absolute_deadline(self) -> Any:
        """When all of the task must be computed."""
        return self.arrival + self.deadline


@dataclass(frozen=True, slots=True)
class Commitment(Record):
    """A chunk that was sent, or begun to be sent, before ``now``; nothing can change it.

    Parameters
    ----------
    task : str
        Identity of a task, which need not be among those of the instance.
    node : int
        0-based.
    start : Number
        Of the transmission; not after ``now``.
    load : Number
    end : Number
        Of the computation: the node is free from then on.
    """

    task: str
    node: int
    start: NonNegative
    load: NonNegative
    end: NonNegative


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """A cluster in its initial state, and the tasks that will arrive.

    Parameters
    ----------
    cluster : Cluster
    tasks : tuple of Task
        In the order of their arrivals; of those that arrive at one instant, the first one is
        decided first. Tasks that arrived before `now` are promised already: no plan may reject
        them.
    now : Number, default 0
        Nothing new is sent before this instant.
    ready_times : tuple of Number, shape (nodes,), optional
        When each node becomes free; by default at once.
    channel_ready : Number, default 0
        When the head node can send again.
    committed : tuple of Commitment
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 6, 30), Task("b", 1, 1, 2)))
    >>> [task.absolute_deadline for task in instance.tasks]
    [30, 3]
    """

    problem: ClassVar[str] = "admission"

    cluster: Cluster
    tasks: Annotated[Items[Task], MinLen(1)]
    now: NonNegative = 0
    ready_times: Items[NonNegative] = ()
    channel_ready: NonNegative = 0
    committed: Items[Commitment] = ()

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: order, identities, lengths and references."""
        tasks, now, cluster = known.get("tasks", ()), known.get("now"), known.get("cluster")
        yield from _task_faults(tasks, now)
        ready, committed = known.get("ready_times"), known.get("committed", ())
        if cluster is not None and ready and len(ready) != cluster.nodes:
            rule = f"must have one entry for each of the {cluster.nodes} nodes"
            yield Fault("ready_times", len(ready), rule)
        yield from committed_faults(committed, cluster, tasks, now)

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        return is_exact(numbers_of(self))

    @property
    def free_times(self) -> tuple[Any, ...]:
        """When each node can be sent to: from `now` on, ready, and done with what is committed."""
        return free_times_of(self)

    @property
    def channel_free(self) -> Any:
        """When the channel can be used: from `now` on, ready, and done with what is committed."""
        return channel_free_of(self)

    @property
    def remaining(self) -> dict[str, Any]:
        """What of each task's load is still to be planned, by the task's identity."""
        return remaining_of(self)

    @property
    def weights(self) -> tuple[Number, ...] | None:
        """The weights of the tasks, in their order; None if they are all 1."""
        return weights_of(self.tasks)

    @property
    def promised(self) -> frozenset[str]:
        """Identities of the tasks that arrived before `now`, which are accepted already."""
        return frozenset(task.id for task in self.tasks if is_less(task.arrival, self.now))


def weights_of(tasks: Iterable[Task]) -> tuple[Number, ...] | None:
    """Return the weights of tasks; None if they are all 1.

    Examples
    --------
    >>> weights_of([Task("a", 0, 1, 4), Task("b", 0, 1, 4, weight=2)])
    (1, 2)
    """
    weights = tuple(task.weight for task in tasks)
    return weights if any(weight != 1 for weight in weights) else None


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """The acceptance or rejection of a task.

    Parameters
    ----------
    task : str
    accepted : bool
    at : Number
        When it was decided.
    promised : bool, default True
        Whether an acceptance promises the deadline. Algorithms without admission control promise
        nothing, so their misses are no violations.
    missed : str, optional
        Of a rejection: the first task that would miss its deadline, the new one or another.
    by : Number, optional
        By how much, in the unit `of`.
    of : {"time", "load", "price"}, optional
        Whether `by` is how late the task would be, or how much of its load would be left at its
        deadline; or how much time of channel or nodes it takes beyond what bid prices allow.
    """

    task: str
    accepted: bool
    at: Number
    promised: bool = True
    missed: str | None = None
    by: Number | None = None
    of: Literal["time", "load", "price"] | None = None

    @property
    def reason(self) -> str | None:
        """Why the task was rejected, in words; None if it was accepted."""
        if self.accepted:
            return None
        if self.missed is None:
            return "rejected"
        if self.by is None:
            return f"task {self.missed} would miss its deadline"
        if self.of == "price":
            return f"task {self.missed} takes {shown(self.by)} more time than the bid prices allow"
        if self.of == "load":
            return f"{shown(self.by)} of the load of task {self.missed} would miss its deadline"
        return f"task {self.missed} would miss its deadline by {shown(self.by)}"


@dataclass(frozen=True, slots=True)
class Chunk(Record):
    """A part of a task's load: sent to a node, then computed there.

    Parameters
    ----------
    task : str
    node : int
        0-based.
    load : Number
    transmission_start, transmission_end : Number
    computation_start, computation_end : Number
    """

    task: str
    node: int
    load: Number
    transmission_start: Number
    transmission_end: Number
    computation_start: Number
    computation_end: Number


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """The decisions, one a task, and the chunks of the accepted tasks, each in any order."""

    decisions: Items[Decision]
    chunks: Items[Chunk]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> task = {"id": "a", "arrival": 3, "load": 1, "deadline": 2}
    >>> cluster = {"nodes": 1, "tau": 1, "chi": 1}
    >>> for fault in faults({"cluster": cluster, "tasks": [task, {**task, "arrival": 1}]}):
    ...     print(fault)
    tasks[1].id: must be given to one task only, got 'a'
    tasks[1].arrival: must not lie before the arrival of the task before, 3, got 1
    """
    if isinstance(data, Mapping):
        data = {"now": 0, **data}  # faults next to a default are reported, too
    return validated_record.examine(Instance, data)[1]


def _task_faults(tasks: tuple[Task, ...], now: Number | None) -> Iterable[Fault]:
    seen: Counter[str] = Counter()
    before: Number | None = None
    for index, task in enumerate(tasks):
        seen[task.id] += 1
        if not task.id:
            yield Fault(f"tasks[{index}].id", task.id, "must not be empty")
        if seen[task.id] > 1:
            yield Fault(f"tasks[{index}].id", task.id, "must be given to one task only")
        if before is not None and is_less(task.arrival, before):
            rule = f"must not lie before the arrival of the task before, {shown(before, 15)}"
            yield Fault(f"tasks[{index}].arrival", task.arrival, rule)
        if task.remaining is not None and now is not None and not is_less(task.arrival, now):
            rule = "is for tasks that arrived before now only"
            yield Fault(f"tasks[{index}].remaining", task.remaining, rule)
        before = task.arrival if before is None else later_of(before, task.arrival)
