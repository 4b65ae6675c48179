"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, MinLen

from dlopt.aliases import renamed_property
from dlopt.arithmetic import Number, exact, is_exact, is_less, shown
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.coreservation.benefit_functions import shape_faults, step
from dlopt.problems.validated_record import Header, Items, NonNegative, Positive, Record, numbers_of

Index = Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True)
class Machine(Record):
    """A machine, and how much of its CPU can be reserved.

    Parameters
    ----------
    id : str
    capacity : Number or tuple of (from, value)
        One number for all time, or a step function: from each instant on its value holds until
        the next. The first instant is 0.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> Machine("m", ((0, 100), (50, 0), (60, 100))).steps[1]
    (50, 0)
    >>> Machine("m", 70).steps
    ((0, 70),)
    """

    id: str
    capacity: NonNegative | Items[tuple[NonNegative, NonNegative]]

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield an empty name, and the faults of a step function."""
        if not known.get("id", "?"):
            yield Fault("id", "", "must not be empty")
        steps = known.get("capacity")
        if not isinstance(steps, tuple):
            return
        if not steps:
            yield Fault("capacity", steps, "must not be empty")
            return
        for index, pair in enumerate(steps):
            if len(pair) != 2:
                rule = "must be a pair of an instant and the capacity from then on"
                yield Fault(f"capacity[{index}]", len(pair), rule)
                return
        if steps[0][0] != 0:
            yield Fault("capacity[0][0]", steps[0][0], "must be 0: capacity is needed from then on")
        for index, (before, after) in enumerate(pairwise(steps), start=1):
            if not is_less(before[0], after[0]):
                rule = f"must lie after the instant before, {shown(before[0], 15)}"
                yield Fault(f"capacity[{index}][0]", after[0], rule)

    @property
    def steps(self) -> tuple[tuple[Any, Any], ...]:
        """The capacity as pairs of an instant and the value from then on."""
        return self.capacity if isinstance(self.capacity, tuple) else ((0, self.capacity),)


@dataclass(frozen=True, slots=True)
class Holding(Record):
    """CPU that is reserved already, in ``[start, end)``.

    Parameters
    ----------
    machine : int
        0-based.
    start, end : Number
    cpu : Number
        Holdings may together exceed the capacity; then nothing is left, and that is all.
    """

    machine: Index
    start: NonNegative
    end: NonNegative
    cpu: NonNegative

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if the window is empty."""
        yield from _window_faults(known)


@dataclass(frozen=True, slots=True)
class Part(Record):
    """CPU that a request needs on one machine.

    Parameters
    ----------
    cpu : Number
        The requested amount.
    cpu_min : Number, optional
        The least amount that it accepts; by default all it requests. With 0 it is a best-effort
        part: it may get nothing, with benefit 0, and a solution states that as a share of 0. The
        benefit must not jump at share 0 then: of a jump the upper value counts.
    benefit : tuple of (share, benefit)
        The benefit of a share of `cpu`, from 0 to 1, see
        `dlopt.problems.coreservation.benefit_functions`. By default only the whole share has
        a benefit.
    machine : int, optional
        The machine on which it must be (0-based); by default it floats: any one will do.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> Part(40, 10, benefit=((0, 0), (1, 1))).least
    10
    >>> Part(40).hard
    True
    >>> Part(40, 0, benefit=((0, 0), (0, 0.5), (1, 1)))
    Traceback (most recent call last):
        ...
    dlopt.errors.InvalidInstanceError: cpu_min: must be positive, for the benefit jumps at 0, got 0
    """

    cpu: Positive
    cpu_min: NonNegative | None = None
    benefit: Items[tuple[NonNegative, NonNegative]] = step()  # noqa: RUF009
    machine: Index | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults of the benefit function, and a least share above the whole."""
        cpu, least = known.get("cpu"), known.get("cpu_min")
        if cpu is not None and least is not None and is_less(cpu, least):
            yield Fault("cpu_min", least, f"must be at most cpu, {shown(cpu, 15)}")
        points = known.get("benefit", step())
        wrong = tuple(shape_faults(points))
        if not wrong and least == 0 and points[1][0] == 0 < points[1][1]:
            yield Fault("cpu_min", least, "must be positive, for the benefit jumps at 0")
        yield from wrong

    @property
    def least(self) -> Any:
        """The least CPU that it accepts."""
        return self.cpu if self.cpu_min is None else self.cpu_min

    @property
    def hard(self) -> bool:
        """Whether it accepts nothing less than it requests."""
        return exact(self.least) == exact(self.cpu)


@dataclass(frozen=True, slots=True)
class Request(Record):
    """A request for CPU shares, all of them in one window and all or none.

    Parameters
    ----------
    id : str
    arrival : Number
    start, end : Number
        The window ``[start, end)``; `start` not before `arrival`, `end` after `start`.
    priority : Number
        What its benefit counts for; positive.
    parts : tuple of Part
        At least one. Several may be on the same machine.

    Raises
    ------
    InvalidInstanceError
        With every fault.
    """

    id: str
    arrival: NonNegative
    start: NonNegative
    end: NonNegative
    priority: Positive
    parts: Annotated[Items[Part], MinLen(1)]

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults of the window."""
        arrival, start = known.get("arrival"), known.get("start")
        if arrival is not None and start is not None and is_less(start, arrival):
            rule = f"must not lie before the arrival, {shown(arrival, 15)}"
            yield Fault("start", start, rule)
        yield from _window_faults(known)
        if not known.get("id", "?"):
            yield Fault("id", "", "must not be empty")


@dataclass(frozen=True, slots=True)
class Batch(Record):
    """Requests are collected and decided together, every `interval`; see `batch_times`."""

    interval: Positive


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """Machines, what is reserved of them already, and the requests that will arrive.

    Parameters
    ----------
    machines : tuple of Machine
    requests : tuple of Request
        In the order of their arrivals.
    batch : Batch, optional
        By default each request is decided at its arrival, by itself.
    holdings : tuple of Holding
        Reserved already; no plan may touch them.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> wanted = Request("r", arrival=0, start=5, end=9, priority=1, parts=(Part(60),))
    >>> Instance((Machine("m", 100),), (wanted,)).exact
    True
    """

    problem: ClassVar[str] = "coreservation"

    machines: Annotated[Items[Machine], MinLen(1)]
    requests: Annotated[Items[Request], MinLen(1)]
    batch: Batch | None = None
    holdings: Items[Holding] = ()

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: order, identities and references."""
        machines, requests = known.get("machines"), known.get("requests", ())
        yield from _duplicate_id_faults("machines", machines or ())
        yield from _duplicate_id_faults("requests", requests)
        for index, (before, after) in enumerate(pairwise(requests), start=1):
            if is_less(after.arrival, before.arrival):
                instant = shown(before.arrival, 15)
                rule = f"must not lie before the arrival of the one before, {instant}"
                yield Fault(f"requests[{index}].arrival", after.arrival, rule)
        if machines is not None:
            yield from _unknown_machine_faults(len(machines), requests, known.get("holdings", ()))

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        return is_exact(numbers_of(self))


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """The acceptance or rejection of a request.

    Parameters
    ----------
    request : str
    accepted : bool
    at : Number
        When it was decided: not before its arrival, nor after its batch.
    reason : str, optional
        Of a rejection: why.
    """

    FORMER_FIELDS: ClassVar[Mapping[str, str]] = {"because": "reason"}

    request: str
    accepted: bool
    at: Number
    reason: str | None = None

    because = renamed_property("because", "reason")


@dataclass(frozen=True, slots=True)
class Share(Record):
    """CPU that a part of a request holds on a machine for the window of the request.

    Parameters
    ----------
    request : str
    part : int
        0-based.
    machine : int
        0-based.
    cpu : Number
        0 for a part that accepts nothing and gets nothing; it names a machine all the same.
    """

    request: str
    part: int
    machine: int
    cpu: Number


@dataclass(frozen=True, slots=True)
class Change(Record):
    """A step in building a schedule: `cpu` more (less, if negative) for a part on a machine.

    Parameters
    ----------
    request : str
    part, machine : int
        0-based.
    cpu : Number
    """

    request: str
    part: int
    machine: int
    cpu: Number


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """Decisions, one a request, and what the parts of accepted requests hold.

    Parameters
    ----------
    decisions : tuple of Decision
    shares : tuple of Share
        One for each part of each accepted request, also for one that gets nothing.
    changes : tuple of Change
        How the plan was made, step by step. Where it is given, every intermediate state must keep
        the capacities, and the last one must be the plan.
    """

    decisions: Items[Decision]
    shares: Items[Share]
    changes: Items[Change] = ()


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> part = {"cpu": 5, "machine": 1, "benefit": [[0, 0], [1, 1], [1, 0.5]]}
    >>> wanted = {"id": "r", "arrival": 3, "start": 2, "end": 2, "priority": 0, "parts": [part]}
    >>> machines = [{"id": "m", "capacity": [[1, 5]]}]
    >>> for fault in faults({"machines": machines, "requests": [wanted]}):
    ...     print(fault)
    machines[0].capacity[0][0]: must be 0: capacity is needed from then on, got 1
    requests[0].priority: must be positive, got 0
    requests[0].parts[0].benefit[2][1]: must not fall below that of the point before, 1, got 0.5
    requests[0].start: must not lie before the arrival, 3, got 2
    requests[0].end: must lie after the start, 2, got 2
    """
    return validated_record.examine(Instance, data)[1]


def _window_faults(known: Mapping[str, Any]) -> Iterable[Fault]:
    start, end = known.get("start"), known.get("end")
    if start is not None and end is not None and not is_less(start, end):
        yield Fault("end", end, f"must lie after the start, {shown(start, 15)}")


def _duplicate_id_faults(name: str, entries: tuple[Any, ...]) -> Iterable[Fault]:
    seen: Counter[str] = Counter()
    for index, entry in enumerate(entries):
        seen[entry.id] += 1
        if seen[entry.id] > 1:
            yield Fault(f"{name}[{index}].id", entry.id, f"must be given to one of the {name} only")


def _unknown_machine_faults(
    count: int, requests: tuple[Request, ...], holdings: tuple[Holding, ...]
) -> Iterable[Fault]:
    rule = f"must be one of the machines 0 to {count - 1}"
    for index, one in enumerate(requests):
        for place, part in enumerate(one.parts):
            if part.machine is not None and part.machine >= count:
                yield Fault(f"requests[{index}].parts[{place}].machine", part.machine, rule)
    for index, holding in enumerate(holdings):
        if holding.machine >= count:
            yield Fault(f"holdings[{index}].machine", holding.machine, rule)
