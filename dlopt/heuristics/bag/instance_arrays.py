"""Instance arrays for mapping heuristics, and the partial schedule to which they append tasks."""

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
class InstanceArrays:
    """The numbers of an instance, all exact or all floats.

    Instants count from the first one at which a task is known and a machine is ready: so floats
    that stand for dates lose nothing when durations are added to them.

    Parameters
    ----------
    instance : Instance
    home_only : bool, default False
        Whether a task may run at its own site only.

    Examples
    --------
    >>> arrays = InstanceArrays(Instance(etc=((4, 2), (3, None))))
    >>> arrays.durations, arrays.earliest_start(1, 0)
    (((4, 2), (3, None)), 0)
    """

    instance: Instance
    home_only: bool = False
    _transfers: dict[tuple[int, Any], tuple[Any, ...]] = field(
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
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks."""
        return tuple(task.id for task in self.instance.all_tasks)

    @cached_property
    def machine_sites(self) -> tuple[int, ...]:
        """The site of each machine."""
        return tuple(machine.site for machine in self.instance.all_machines)

    @cached_property
    def origin(self) -> Number:
        """The instant from which all others count."""
        return origin(self.instance, "makespan")

    @cached_property
    def ready(self) -> tuple[Any, ...]:
        """When each machine is ready."""
        return tuple(self.since_origin(machine.ready) for machine in self.instance.all_machines)

    @cached_property
    def deadlines(self) -> tuple[Any, ...]:
        """The deadline of each task, or None."""
        dates = (task.absolute_deadline for task in self.instance.all_tasks)
        return tuple(None if date is None else self.since_origin(date) for date in dates)

    @cached_property
    def arrivals(self) -> tuple[tuple[Any, ...], ...]:
        """When each task, with its input, can be at each site: shape (tasks, sites)."""
        return tuple(
            tuple(
                self.since_origin(task.release) + time
                for time in self.transfer_times(task.site, task.input)
            )
            for task in self.instance.all_tasks
        )

    @cached_property
    def durations(self) -> tuple[tuple[Any, ...], ...]:
        """The duration of each task on each machine; None where it may not run."""
        machines = range(len(self.machine_sites))
        instance, etc = self.instance, self.instance.etc
        rows: tuple[tuple[Any, ...], ...]
        if etc is None:
            rows = tuple(tuple(self._duration_row(task)) for task in range(len(instance.tasks)))
        elif self.exact or set(map(type, chain.from_iterable(etc))) == {float}:
            rows = tuple(map(tuple, etc))
        else:
            rows = tuple(
                tuple(None if time is None else float(time) for time in row) for row in etc
            )
        if not self.home_only:
            return rows
        return tuple(
            tuple(row[k] if self.machine_sites[k] == task.site else None for k in machines)
            for task, row in zip(instance.all_tasks, rows, strict=True)
        )

    def _duration_row(self, task: int) -> Iterator[Any]:
        """Yield the duration of a task on each machine, dividing once for each power."""
        work = self.instance.tasks[task].work
        if isinstance(work, float):
            yield from (work / power for power in self._powers)
            return
        known: dict[Any, Any] = {}
        for index, machine in enumerate(self.instance.machines):
            if machine.power not in known:
                known[machine.power] = self.to_number(self.instance.duration(task, index))
            yield known[machine.power]

    @cached_property
    def _powers(self) -> tuple[float, ...]:
        return tuple(float(machine.power) for machine in self.instance.machines)

    def to_number(self, number: Number) -> Any:
        """Return a number of the instance, as a float if the arrays are floats."""
        return number if self.exact else float(number)

    def since_origin(self, date: Number) -> Any:
        """Return a date of the instance as an instant since the origin."""
        if self.origin == 0:
            return self.to_number(date)
        since = exact(date) - exact(self.origin)
        return simplest(since) if self.exact else float(since)

    def to_date(self, instant: Any) -> Any:
        """Return an instant since the origin as a date of the instance."""
        if self.origin == 0:
            return instant
        date = exact(self.origin) + exact(instant)
        return simplest(date) if self.exact else float(date)

    def transfer_times(self, site: int, data: Number) -> tuple[Any, ...]:
        """Return how long data takes from a site to each site."""
        if (site, data) not in self._transfers:
            times = transfer_times(self.instance, site, data)
            self._transfers[site, data] = tuple(map(self.to_number, times))
        return self._transfers[site, data]

    def duration(self, task: int, machine: int) -> Any:
        """Return how long a task takes on a machine; None if it cannot run there."""
        time = self.instance.duration(task, machine)
        return time if time is None else self.to_number(time)

    def earliest_start(self, task: int, machine: int) -> Any:
        """Return when a task, with its input, can be at the site of a machine."""
        return self.arrivals[task][self.machine_sites[machine]]

    def task_without_machine(self) -> str | None:
        """Return the first task that must be run and may not run anywhere, if there is one."""
        rows = zip(self.task_ids, self.durations, self.deadlines, strict=True)
        for task_id, row, deadline in rows:
            if deadline is None and all(time is None for time in row):
                return task_id
        return None


class PartialSchedule:
    """Machines to which tasks are appended, one after another.

    Parameters
    ----------
    arrays : InstanceArrays
    run_late : bool
        Whether a task that will miss its deadline is run, or else dropped.

    Attributes
    ----------
    free : list of Number
        When each machine is free again, since the origin.

    Examples
    --------
    >>> partial = PartialSchedule(InstanceArrays(Instance(etc=((4, 2), (3, 1)))), run_late=False)
    >>> partial.place(0, 1)
    True
    >>> partial.completion_time(1, 1), partial.earliest_machine(1, (0, 1))
    (3, 0)
    """

    def __init__(self, arrays: InstanceArrays, *, run_late: bool) -> None:
        self.arrays = arrays
        self.run_late = run_late
        self.free: list[Any] = list(arrays.ready)
        self.placements: list[Placement] = []

    def completion_time(self, task: int, machine: int) -> Any:
        """Return when a task would end on a machine that can run it."""
        arrays = self.arrays
        start = max(self.free[machine], arrays.earliest_start(task, machine))
        return start + arrays.durations[task][machine]

    def earliest_machine(self, task: int, machines: Iterable[int]) -> int:
        """Return the machine on which a task would end first, of equal ones the first."""
        arrays, free = self.arrays, self.free
        sites, arrivals = arrays.machine_sites, arrays.arrivals[task]
        durations = arrays.durations[task]

        def end(machine: int) -> Any:  # `completion_time`, without repeated lookups
            return max(free[machine], arrivals[sites[machine]]) + durations[machine]

        return min(machines, key=end)

    def place(self, task: int, machine: int) -> bool:
        """Append a task; return whether it is run."""
        arrays, end = self.arrays, self.completion_time(task, machine)
        deadline = arrays.deadlines[task]
        late = deadline is not None and end > deadline
        if late and not self.run_late:
            return False
        start = max(self.free[machine], arrays.earliest_start(task, machine))
        dates = arrays.to_date(start), arrays.to_date(end)
        self.placements.append(Placement(arrays.task_ids[task], machine, *dates, late))
        self.free[machine] = end
        return True

    def place_all(self, pairs: Iterable[tuple[int, int]]) -> Solution:
        """Append pairs of task and machine in their order; return the schedule."""
        for task, machine in pairs:
            self.place(task, machine)
        return self.to_solution()

    def to_solution(self) -> Solution:
        """Return the schedule so far, in the order in which tasks were placed."""
        return Solution(tuple(self.placements))


def eligible_machines(row: Sequence[Any]) -> list[int]:
    """Return the machines on which a task may run, from its durations.

    Examples
    --------
    >>> eligible_machines((4, None, 2))
    [0, 2]
    """
    return [machine for machine, time in enumerate(row) if time is not None]
