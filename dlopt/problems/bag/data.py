"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge

from dlopt.arithmetic import Number, is_exact, is_less, simplest
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.validated_record import Header, Items, NonNegative, Positive, Record, numbers_of

Index = Annotated[int, Ge(0)]
Priority = Literal["critical", "firm", "soft"]

PRIORITIES: tuple[Priority, ...] = ("critical", "firm", "soft")
"""From what matters most."""


@dataclass(frozen=True, slots=True)
class Site(Record):
    """A place with machines; what moves within it takes no time."""

    id: str


@dataclass(frozen=True, slots=True)
class Machine(Record):
    """A machine that runs one task at a time.

    Parameters
    ----------
    id : str
    site : int, default 0
        0-based.
    power : Number, default 1
        Work that it does in a unit of time; not given where there is a matrix.
    ready : Number, default 0
        It is busy until then.
    """

    id: str
    site: Index = 0
    power: Positive = 1
    ready: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Link(Record):
    """A connection of two sites, in both directions.

    Parameters
    ----------
    between : tuple of int, length 2
        The sites (0-based).
    bandwidth : Number
        Data in a unit of time.
    latency : Number, default 0
    """

    between: Items[Index]
    bandwidth: Positive
    latency: NonNegative = 0

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if it does not connect two sites."""
        between = known.get("between")
        if between is not None and len(between) != 2:
            yield Fault("between", len(between), "must name two sites")
        elif between is not None and between[0] == between[1]:
            yield Fault("between", between[0], "must name two different sites")


@dataclass(frozen=True, slots=True)
class Task(Record):
    """A task that needs no other.

    Parameters
    ----------
    id : str
    work : Number, optional
        What a machine of power 1 does in so much time; not given where there is a matrix.
    site : int, default 0
        Where it is at first (0-based).
    release : Number, default 0
        It is known, and its input can be sent, from then on.
    input, output : Number, default 0
        Data. The input must be where the task runs before it starts; what is sent back afterwards
        delays nothing, and counts in the ratio of communication to computation only.
    priority : {"critical", "firm", "soft"}, default "firm"
    absolute_deadline : Number, optional
        A task that has none must be run.
    """

    id: str
    work: Positive | None = None
    site: Index = 0
    release: NonNegative = 0
    input: NonNegative = 0
    output: NonNegative = 0
    priority: Priority = "firm"
    absolute_deadline: NonNegative | None = None


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """Machines at sites, links between these, and tasks.

    Parameters
    ----------
    tasks : tuple of Task
        May be left out where `etc` is given: the tasks are called ``t0``, ``t1``, ... then.
    machines : tuple of Machine
        May be left out where `etc` is given, too: ``m0``, ``m1``, ...
    sites : tuple of Site
        By default there is one.
    links : tuple of Link
        The links must connect all sites.
    etc : tuple of tuple of (Number or None), shape (tasks, machines), optional
        How long each task takes on each machine; None where it cannot run.
    ccr_thresholds : tuple of Number, length 2
        Below the first ratio of communication to computation a task is computation-intensive,
        above the second communication-intensive.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> instance = Instance(etc=((4, 2), (3, None)))
    >>> instance.duration(0, 1), instance.duration(1, 1)
    (2, None)
    >>> [task.id for task in instance.all_tasks]
    ['t0', 't1']
    """

    problem: ClassVar[str] = "bag"

    tasks: Items[Task] = ()
    machines: Items[Machine] = ()
    sites: Items[Site] = (Site("home"),)
    links: Items[Link] = ()
    etc: Items[Items[Positive | None]] | None = None
    ccr_thresholds: Items[Positive] = (Fraction(1, 2), 2)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: identities, references, shapes, links."""
        for name in ("tasks", "machines", "sites"):
            yield from _duplicate_id_faults(name, known.get(name, ()))
        if "sites" in known:
            yield from _site_faults(known)
        if "etc" in known:
            etc, tasks, machines = (known.get(name) for name in ("etc", "tasks", "machines"))
            if etc is None:
                yield from _speed_faults(tasks, machines)
            else:
                yield from _matrix_faults(etc, tasks or (), machines or ())
        limits = known.get("ccr_thresholds")
        if limits is not None and (len(limits) != 2 or is_less(limits[1], limits[0])):
            yield Fault("ccr_thresholds", list(limits), "must be two numbers in ascending order")

    @property
    def all_tasks(self) -> tuple[Task, ...]:
        """The tasks, also where only the matrix says that they exist."""
        if self.tasks or self.etc is None:
            return tuple(self.tasks)
        return _tasks(len(self.etc))

    @property
    def all_machines(self) -> tuple[Machine, ...]:
        """The machines, also where only the matrix says that they exist."""
        if self.machines or self.etc is None:
            return tuple(self.machines)
        return _machines(len(self.etc[0]))

    def duration(self, task: int, machine: int) -> Any:
        """Return how long a task takes on a machine; None if it cannot run there."""
        if self.etc is not None:
            return self.etc[task][machine]
        work, power = self.tasks[task].work, self.machines[machine].power
        if isinstance(work, float) or isinstance(power, float):
            return work / power  # type: ignore[operator]
        return simplest(Fraction(work) / power)  # type: ignore[arg-type]

    @property
    def deadlines(self) -> bool | None:
        """True if any task has a deadline, else None."""
        return any(task.absolute_deadline is not None for task in self.tasks) or None

    @property
    def critical_tasks(self) -> bool | None:
        """True if any task is critical, and any has a deadline, so that some may be late; or None.

        Examples
        --------
        >>> machines = (Machine("m"),)
        >>> for due in (None, 3):
        ...     tasks = (Task("a", 1, priority="critical"), Task("b", 1, absolute_deadline=due))
        ...     print(Instance(tasks, machines).critical_tasks)
        None
        True
        """
        critical = any(task.priority == "critical" for task in self.tasks)
        return True if critical and self.deadlines else None

    @property
    def without_deadlines(self) -> bool | None:
        """True if no task has a deadline, so that all must be run; else None."""
        return None if self.deadlines else True

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        return is_exact(numbers_of(self))


@lru_cache(maxsize=8)  # they are requested repeatedly
def _tasks(count: int) -> tuple[Task, ...]:
    return tuple(Task(f"t{index}") for index in range(count))


@lru_cache(maxsize=8)
def _machines(count: int) -> tuple[Machine, ...]:
    return tuple(Machine(f"m{index}") for index in range(count))


@dataclass(frozen=True, slots=True)
class Placement(Record):
    """Where and when a task runs.

    Parameters
    ----------
    task : str
    machine : int
        0-based.
    start, end : Number
    late : bool, default False
        It is run though it will miss its deadline, and does not count as met.
    """

    task: str
    machine: int
    start: Number
    end: Number
    late: bool = False


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """The placements; tasks with a deadline that have none are dropped."""

    placements: Items[Placement]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> for fault in faults({"etc": [[1, 2], [None, None], [3]]}):
    ...     print(fault)
    etc[1]: must name a machine that can run the task, got [None, None]
    etc[2]: must have one entry for each of the 2 machines, got 1
    """
    if isinstance(data, Mapping):  # what is left out is known, unlike what is wrong by itself
        data = {**_DEFAULTS, **data}
    return validated_record.examine(Instance, data)[1]


_DEFAULTS: Mapping[str, Any] = {
    "tasks": (),
    "machines": (),
    "sites": (Site("home"),),
    "links": (),
    "etc": None,
}


def _duplicate_id_faults(name: str, entries: tuple[Any, ...]) -> Iterable[Fault]:
    seen: Counter[str] = Counter()
    for index, entry in enumerate(entries):
        seen[entry.id] += 1
        if not entry.id:
            yield Fault(f"{name}[{index}].id", entry.id, "must not be empty")
        elif seen[entry.id] > 1:
            yield Fault(f"{name}[{index}].id", entry.id, f"must be given to one of the {name} only")


def _site_faults(known: Mapping[str, Any]) -> Iterable[Fault]:
    """Yield the sites that do not exist, or cannot be reached."""
    sites, links = known["sites"], known.get("links")
    if not sites:
        yield Fault("sites", list(sites), "must not be empty")
        return
    tasks, machines = known.get("tasks", ()), known.get("machines", ())
    strange = list(_unknown_site_faults(len(sites), tasks, machines, links or ()))
    yield from strange
    if links is not None and not strange:
        yield from _unreachable_sites(sites, links)


def _unknown_site_faults(
    count: int, tasks: tuple[Task, ...], machines: tuple[Machine, ...], links: tuple[Link, ...]
) -> Iterable[Fault]:
    rule = f"must be one of the sites 0 to {count - 1}"
    entries = [("tasks", entry) for entry in tasks] + [("machines", entry) for entry in machines]
    counts: Counter[str] = Counter()
    for name, entry in entries:
        if entry.site >= count:
            yield Fault(f"{name}[{counts[name]}].site", entry.site, rule)
        counts[name] += 1
    for index, link in enumerate(links):
        for place, site in enumerate(link.between):
            if site >= count:
                yield Fault(f"links[{index}].between[{place}]", site, rule)


def _unreachable_sites(sites: tuple[Site, ...], links: tuple[Link, ...]) -> Iterable[Fault]:
    """Yield the sites that cannot be reached from the first."""
    reached, fresh = {0}, [0]
    neighbours: dict[int, set[int]] = {index: set() for index in range(len(sites))}
    for link in links:
        source, target = link.between
        neighbours[source].add(target)
        neighbours[target].add(source)
    while fresh:
        near = neighbours[fresh.pop()] - reached
        reached |= near
        fresh += near
    for index, site in enumerate(sites):
        if index not in reached:
            rule = f"must be connected with site {sites[0].id} by links"
            yield Fault(f"sites[{index}]", site.id, rule)


def _speed_faults(
    tasks: tuple[Task, ...] | None, machines: tuple[Machine, ...] | None
) -> Iterable[Fault]:
    for name, entries in (("tasks", tasks), ("machines", machines)):
        if entries is not None and not entries:
            yield Fault(name, [], "must not be empty where there is no etc")
    for index, task in enumerate(tasks or ()):
        if task.work is None:
            yield Fault(f"tasks[{index}].work", None, "must be given where there is no etc")


def _matrix_faults(
    etc: tuple[tuple[Any, ...], ...], tasks: tuple[Task, ...], machines: tuple[Machine, ...]
) -> Iterable[Fault]:
    if not etc or not etc[0]:
        yield Fault("etc", list(etc), "must not be empty")
        return
    if tasks and len(etc) != len(tasks):
        rule = f"must have one row for each of the {len(tasks)} tasks"
        yield Fault("etc", len(etc), rule)
    columns = len(machines) or len(etc[0])
    for index, row in enumerate(etc):
        if len(row) != columns:
            rule = f"must have one entry for each of the {columns} machines"
            yield Fault(f"etc[{index}]", len(row), rule)
        elif all(time is None for time in row):
            yield Fault(f"etc[{index}]", list(row), "must name a machine that can run the task")
    for index, task in enumerate(tasks):
        if task.work is not None:
            yield Fault(f"tasks[{index}].work", task.work, "must not be given together with etc")
    for index, machine in enumerate(machines):
        if machine.power != 1:
            yield Fault(
                f"machines[{index}].power", machine.power, "must not be given together with etc"
            )
