"""An instance as the mapping heuristics look at it: durations, earliest starts, deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from dlopt.arithmetic import Number, exact, is_exact, simplest
from dlopt.problems.bag.data import Instance, Placement, Solution
from dlopt.problems.bag.goals import origin
from dlopt.problems.bag.network import transfer_times
from dlopt.problems.validated_record import numbers_of


@dataclass(frozen=True)
class Case:
    """The numbers of an instance, all exact or all floats.

    Instants count from the first one at which a task is known and a machine is ready: so floats
    that stand for dates lose nothing when durations are added to them.

    Parameters
    ----------
    instance : Instance
    home : bool, default False
        Whether a task may run at its own site only.

    Examples
    --------
    >>> case = Case(Instance(etc=((4, 2), (3, None))))
    >>> case.rows, case.earliest(1, 0)
    (((4, 2), (3, None)), 0)
    """

    instance: Instance
    home: bool = False
    _sent: dict[tuple[int, Any], tuple[Any, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def exact(self) -> bool:
        """Whether no number of the instance is a float."""
        etc = self.instance.etc
        if etc is None:
            return self.instance.exact
        if float in set(map(type, chain.from_iterable(etc))):
            return False
        parts = (self.instance.tasks, self.instance.machines, self.instance.links)
        return is_exact(numbers_of(parts))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The identities of the tasks."""
        return tuple(task.id for task in self.instance.all_tasks)

    @cached_property
    def sites(self) -> tuple[int, ...]:
        """The site of each machine."""
        return tuple(machine.site for machine in self.instance.all_machines)

    @cached_property
    def origin(self) -> Number:
        """The instant from which all others count."""
        return origin(self.instance, "makespan")

    @cached_property
    def ready(self) -> tuple[Any, ...]:
        """When each machine is free at first."""
        return tuple(self.instant(machine.ready) for machine in self.instance.all_machines)

    @cached_property
    def deadlines(self) -> tuple[Any, ...]:
        """The deadline of each task, or None."""
        ends = (task.absolute_deadline for task in self.instance.all_tasks)
        return tuple(None if end is None else self.instant(end) for end in ends)

    @cached_property
    def arrivals(self) -> tuple[tuple[Any, ...], ...]:
        """When each task, with its input, can be at each site: shape (tasks, sites)."""
        return tuple(
            tuple(self.instant(task.release) + sent for sent in self.sent(task.site, task.input))
            for task in self.instance.all_tasks
        )

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """How long each task takes on each machine; None where it may not run."""
        count = range(len(self.sites))
        instance, etc = self.instance, self.instance.etc
        rows: tuple[tuple[Any, ...], ...]
        if etc is None:
            rows = tuple(tuple(self._row(task)) for task in range(len(instance.tasks)))
        elif self.exact or set(map(type, chain.from_iterable(etc))) == {float}:
            rows = etc
        else:
            rows = tuple(
                tuple(None if time is None else float(time) for time in row) for row in etc
            )
        if not self.home:
            return rows
        return tuple(
            tuple(row[k] if self.sites[k] == task.site else None for k in count)
            for task, row in zip(instance.all_tasks, rows, strict=True)
        )

    def _row(self, task: int) -> Iterator[Any]:
        """Yield how long a task takes on each machine, dividing once for each power."""
        work = self.instance.tasks[task].work
        if isinstance(work, float):
            yield from (work / power for power in self._powers)
            return
        known: dict[Any, Any] = {}
        for index, machine in enumerate(self.instance.machines):
            if machine.power not in known:
                known[machine.power] = self.number(self.instance.duration(task, index))
            yield known[machine.power]

    @cached_property
    def _powers(self) -> tuple[float, ...]:
        return tuple(float(machine.power) for machine in self.instance.machines)

    def number(self, number: Number) -> Any:
        """Return a number of the instance in the numbers of the case."""
        return number if self.exact else float(number)

    def instant(self, number: Number) -> Any:
        """Return an instant of the instance as one since the origin."""
        if self.origin == 0:
            return self.number(number)
        since = exact(number) - exact(self.origin)
        return simplest(since) if self.exact else float(since)

    def stated(self, instant: Any) -> Any:
        """Return an instant since the origin as the instance states it."""
        if self.origin == 0:
            return instant
        date = exact(self.origin) + exact(instant)
        return simplest(date) if self.exact else float(date)

    def sent(self, site: int, data: Number) -> tuple[Any, ...]:
        """Return how long data takes from a site to each site."""
        if (site, data) not in self._sent:
            times = transfer_times(self.instance, site, data)
            self._sent[site, data] = tuple(map(self.number, times))
        return self._sent[site, data]

    def duration(self, task: int, machine: int) -> Any:
        """Return how long a task takes on a machine; None if it cannot run there."""
        time = self.instance.duration(task, machine)
        return time if time is None else self.number(time)

    def earliest(self, task: int, machine: int) -> Any:
        """Return when a task, with its input, can be where a machine stands."""
        return self.arrivals[task][self.sites[machine]]

    def stranded(self) -> str | None:
        """Return the first task that must be run and may not run anywhere, if there is one."""
        for name, row, end in zip(self.names, self.rows, self.deadlines, strict=True):
            if end is None and all(time is None for time in row):
                return name
        return None


class Board:
    """Machines to which tasks are appended, one after the other.

    Parameters
    ----------
    case : Case
    late : bool
        Whether a task that will miss its deadline is run, or else dropped.

    Attributes
    ----------
    free : list of Number
        When each machine is free again, since the origin.

    Examples
    --------
    >>> board = Board(Case(Instance(etc=((4, 2), (3, 1)))), late=False)
    >>> board.place(0, 1)
    True
    >>> board.end(1, 1), board.best(1, (0, 1))
    (3, 0)
    """

    def __init__(self, case: Case, *, late: bool) -> None:
        self.case = case
        self.late = late
        self.free: list[Any] = list(case.ready)
        self.placements: list[Placement] = []

    def end(self, task: int, machine: int) -> Any:
        """Return when a task would end on a machine; it must be able to run there."""
        case = self.case
        start = max(self.free[machine], case.earliest(task, machine))
        return start + case.rows[task][machine]

    def best(self, task: int, machines: Iterable[int]) -> int:
        """Return the machine on which a task would end first, of equals the first."""
        case, free = self.case, self.free
        sites, here, row = case.sites, case.arrivals[task], case.rows[task]

        def end(machine: int) -> Any:  # as `end`, which would look up the same again and again
            return max(free[machine], here[sites[machine]]) + row[machine]

        return min(machines, key=end)

    def place(self, task: int, machine: int) -> bool:
        """Append a task; return whether it is run."""
        case, end = self.case, self.end(task, machine)
        due = case.deadlines[task]
        late = due is not None and end > due
        if late and not self.late:
            return False
        start = max(self.free[machine], case.earliest(task, machine))
        dates = case.stated(start), case.stated(end)
        self.placements.append(Placement(case.names[task], machine, *dates, late))
        self.free[machine] = end
        return True

    def place_all(self, choices: Iterable[tuple[int, int]]) -> Solution:
        """Append tasks in an order, and return the plan."""
        for task, machine in choices:
            self.place(task, machine)
        return self.plan()

    def plan(self) -> Solution:
        """Return the plan so far, in the order in which tasks were placed."""
        return Solution(tuple(self.placements))


def usable(row: Sequence[Any]) -> list[int]:
    """Return the machines on which a task may run.

    Examples
    --------
    >>> usable((4, None, 2))
    [0, 2]
    """
    return [machine for machine, time in enumerate(row) if time is not None]
