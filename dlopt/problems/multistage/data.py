"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from dlopt.aliases import renamed_property
from dlopt.arithmetic import Number, is_exact, is_less, shown
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.admission.data import Chunk, Commitment, Decision, Task, weights_of
from dlopt.problems.admission.data import Instance as Stream
from dlopt.problems.admission.initial_state import later_of
from dlopt.problems.admission.state_times import channel_free_of, free_times_of
from dlopt.problems.cluster import MAX_NODES, Cluster
from dlopt.problems.validated_record import Header, Items, NonNegative, Record, numbers_of


@dataclass(frozen=True, slots=True)
class Reservation(Record):
    """An advance reservation: nodes from `start` to `end`, and the channel at its beginning.

    Parameters
    ----------
    id : str
    arrival : Number
        When it is requested; not after `start`.
    start, end : Number
        The nodes are reserved in ``[start, end)``; `end` lies after `start`.
    io_end : Number, optional
        The channel is reserved in ``[start, io_end)``: nothing is sent to any other node then.
    io_ratio : Number, optional
        Instead of `io_end`: the share of the window in which the channel is reserved, 0 to 1.
        By default it is not reserved at all.
    nodes : int or tuple of int
        How many nodes, or which (0-based).
    mandatory : bool, default False
        It is not refused: maintenance.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> Reservation("r", 0, 4, 8, io_ratio=0.25, nodes=2).channel_end
    5.0
    """

    id: str
    arrival: NonNegative
    start: NonNegative
    end: NonNegative
    io_end: NonNegative | None = None
    io_ratio: Annotated[Number, Ge(0), Le(1)] | None = None
    nodes: Annotated[int, Ge(1), Le(MAX_NODES)] | Items[Annotated[int, Ge(0)]] = 1
    mandatory: bool = False

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: windows, and nodes that are named twice."""
        arrival, start, end = (known.get(name) for name in ("arrival", "start", "end"))
        io_end, ratio, nodes = (known.get(name) for name in ("io_end", "io_ratio", "nodes"))
        if arrival is not None and start is not None and is_less(start, arrival):
            rule = f"must not lie before the arrival, {shown(arrival, 15)}"
            yield Fault("start", start, rule)
        if start is not None and end is not None and not is_less(start, end):
            yield Fault("end", end, f"must lie after the start, {shown(start, 15)}")
        if io_end is not None and ratio is not None:
            yield Fault("io_ratio", ratio, "must not be given together with io_end")
        if io_end is not None and start is not None and is_less(io_end, start):
            yield Fault("io_end", io_end, f"must not lie before the start, {shown(start, 15)}")
        if io_end is not None and end is not None and is_less(end, io_end):
            yield Fault("io_end", io_end, f"must not lie after the end, {shown(end, 15)}")
        if isinstance(nodes, tuple):
            if not nodes:
                yield Fault("nodes", nodes, "must name a node")
            for node, count in Counter(nodes).items():
                if count > 1:
                    yield Fault("nodes", node, "must be named once")

    @property
    def channel_end(self) -> Any:
        """When the channel is free again."""
        if self.io_end is not None:
            return self.io_end
        if not self.io_ratio:
            return self.start  # a float of the other end would round it
        return self.start + (self.end - self.start) * self.io_ratio

    @property
    def count(self) -> int:
        """How many nodes it requests."""
        return self.nodes if isinstance(self.nodes, int) else len(self.nodes)


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """A cluster in its initial state, and the tasks and reservations that will arrive.

    Parameters
    ----------
    cluster : Cluster
    tasks : tuple of Task
        In the order of their arrivals, as in `dlopt.problems.admission`.
    reservations : tuple of Reservation
        In the order of their arrivals. At one instant reservations are decided before tasks.
    now : Number, default 0
        Nothing new is sent before this instant. What arrived before is promised: no plan may
        reject it. Promised reservations name their nodes.
    ready_times : tuple of Number, shape (nodes,), optional
    channel_ready : Number, default 0
    committed : tuple of Commitment
        See `dlopt.problems.admission.Instance`; reservations have no part in them.
    task_weight, reservation_weight : Number, default 1
        Weight of an acceptance in the objective ``accepted``.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.
    """

    problem: ClassVar[str] = "multistage"

    cluster: Cluster
    tasks: Items[Task] = ()
    reservations: Items[Reservation] = ()
    now: NonNegative = 0
    ready_times: Items[NonNegative] = ()
    channel_ready: NonNegative = 0
    committed: Items[Commitment] = ()
    task_weight: NonNegative = 1
    reservation_weight: NonNegative = 1

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: order, identities, lengths and references."""
        yield from Stream.cross_field_faults(known)
        tasks, reservations = known.get("tasks", ()), known.get("reservations", ())
        if not tasks and not reservations and {"tasks", "reservations"} <= set(known):
            yield Fault("tasks", tasks, "must not be empty where there is no reservation")
        yield from _reservation_faults(reservations, known.get("cluster"), known.get("now"))

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        return is_exact(numbers_of(self))

    @property
    def weights(self) -> tuple[Number, ...] | None:
        """The weights of the tasks, in their order; None if they are all 1."""
        return weights_of(self.tasks)

    @property
    def promised(self) -> frozenset[str]:
        """Identities of the reservations that arrived before `now`, which are accepted already."""
        return frozenset(r.id for r in self.reservations if is_less(r.arrival, self.now))

    @property
    def free_times(self) -> tuple[Any, ...]:
        """When each node can be sent to, but for reservations."""
        return free_times_of(self)

    @property
    def channel_free(self) -> Any:
        """When the channel can be used, but for reservations."""
        return channel_free_of(self)

    @property
    def stream(self) -> Stream | None:
        """The tasks alone, as an instance of `admission`; None if there are none."""
        if not self.tasks:
            return None
        return Stream(
            self.cluster,
            self.tasks,
            now=self.now,
            ready_times=self.ready_times,
            channel_ready=self.channel_ready,
            committed=self.committed,
        )


@dataclass(frozen=True, slots=True)
class Grant(Record):
    """The acceptance or refusal of a reservation.

    Parameters
    ----------
    reservation : str
    accepted : bool
    at : Number
        When it was decided.
    nodes : tuple of int
        Which it gets, if it is accepted.
    conflict : {"nodes", "channel", "task", "price"}, optional
        Of a refusal: too few nodes are free, the channel is not, a task would miss, or bid prices
        are too high.
    missed : str, optional
        The task that would miss.
    """

    FORMER_FIELDS: ClassVar[Mapping[str, str]] = {"because": "conflict"}

    reservation: str
    accepted: bool
    at: Number
    nodes: tuple[int, ...] = ()
    conflict: Literal["nodes", "channel", "task", "price"] | None = None
    missed: str | None = None

    @property
    def reason(self) -> str | None:
        """Why the reservation was refused, in words; None if it was accepted."""
        if self.accepted:
            return None
        words = {
            "nodes": "too few of its nodes are free",
            "channel": "the channel is not free",
            "task": f"task {self.missed} would miss its deadline",
            "price": "it takes more time than the bid prices allow",
        }
        return "refused" if self.conflict is None else words[self.conflict]

    because = renamed_property("because", "conflict")


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """Decisions on tasks and on reservations, one each, and the chunks of accepted tasks."""

    decisions: Items[Decision]
    grants: Items[Grant]
    chunks: Items[Chunk]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> reservations = {"id": "r", "arrival": 3, "start": 2, "end": 2, "nodes": [0, 0]}
    >>> cluster = {"nodes": 1, "tau": 1, "chi": 1}
    >>> for fault in faults({"cluster": cluster, "reservations": [reservations]}):
    ...     print(fault)
    reservations[0].start: must not lie before the arrival, 3, got 2
    reservations[0].end: must lie after the start, 2, got 2
    reservations[0].nodes: must be named once, got 0
    """
    if isinstance(data, Mapping):
        data = {"now": 0, **data}  # faults next to a default are reported, too
    return validated_record.examine(Instance, data)[1]


def _reservation_faults(
    reservations: tuple[Reservation, ...], cluster: Cluster | None, now: Number | None
) -> Iterable[Fault]:
    seen: Counter[str] = Counter()
    before: Number | None = None
    for index, reservation in enumerate(reservations):
        path = f"reservations[{index}]"
        seen[reservation.id] += 1
        if not reservation.id:
            yield Fault(f"{path}.id", reservation.id, "must not be empty")
        if seen[reservation.id] > 1:
            yield Fault(f"{path}.id", reservation.id, "must be given to one reservation only")
        if before is not None and is_less(reservation.arrival, before):
            rule = f"must not lie before the arrival of the one before, {shown(before, 15)}"
            yield Fault(f"{path}.arrival", reservation.arrival, rule)
        before = reservation.arrival if before is None else later_of(before, reservation.arrival)
        if isinstance(reservation.nodes, tuple):
            for node in reservation.nodes:
                if cluster is not None and node >= cluster.nodes:
                    rule = f"must be one of the nodes 0 to {cluster.nodes - 1}"
                    yield Fault(f"{path}.nodes", node, rule)
        elif now is not None and is_less(reservation.arrival, now):
            yield Fault(
                f"{path}.nodes", reservation.nodes, "must be named, for it arrived before now"
            )
