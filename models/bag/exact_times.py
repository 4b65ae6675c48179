"""The times of an instance as the fractions that they are, since the first possible start."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.bag import goals
from dlopt.problems.bag.data import Instance
from dlopt.problems.bag.network import transfer_times

_FAR = 2**20
"""A length is far from others if it is so many times what all tasks take where they are short."""


@dataclass(frozen=True)
class Times:
    """When and for how long tasks can run on machines.

    Parameters
    ----------
    origin : Fraction
        The first instant at which some task can start. All other instants count from here, so
        that what is rounded, or called equal, is small next to a plan and not next to a date.
    lengths : tuple of tuple of (Fraction or None), shape (tasks, machines)
        None where a task cannot run.
    arrivals : tuple of tuple of Fraction, shape (tasks, machines)
        When machine and input are there; where a task cannot run, when it can start elsewhere.
    dues : tuple of (Fraction or None), shape (tasks,)
        Of instances in floats a little later than stated: no less than the check of a plan allows
        in all, at the tolerance of floats. So what is proven impossible is impossible for every
        plan that passes the check.
    promised : tuple of (Fraction or None), shape (tasks,)
        By when tasks end in our own plans. Of instances in floats later than stated by half of
        what the check of a plan allows one instant.
    """

    origin: Fraction
    lengths: tuple[tuple[Fraction | None, ...], ...]
    arrivals: tuple[tuple[Fraction, ...], ...]
    dues: tuple[Fraction | None, ...]
    promised: tuple[Fraction | None, ...]

    @classmethod
    def of(cls, instance: Instance) -> Times:
        """Return the times of an instance.

        Examples
        --------
        >>> from dlopt.problems.bag import Machine, Task
        >>> machines = (Machine("m", power=2, ready=8), Machine("n", ready=7))
        >>> times = Times.of(Instance((Task("t", 3, absolute_deadline=11),), machines))
        >>> [str(length) for length in times.lengths[0]], [int(a) for a in times.arrivals[0]]
        (['3/2', '3'], [1, 0])
        >>> int(times.origin), int(times.dues[0])
        (7, 4)
        """
        lengths, instants = _lengths(instance), _arrivals(instance)
        origin = _first(lengths, instants)
        arrivals = {id(row): _each(lambda one: one - origin, row) for row in instants}
        shortest = min(length for row in lengths for length in row if length is not None)
        dues = tuple(
            None if task.absolute_deadline is None else exact(task.absolute_deadline) - origin
            for task in instance.all_tasks
        )
        dates = lengths, tuple(arrivals[id(row)] for row in instants)
        if instance.exact:
            return cls(origin, *dates, dues, dues).only(lengths)
        relaxation = _Relaxation(instance, shortest)
        late, promised = (
            tuple(None if due is None else due + by(due + origin) for due in dues)
            for by in (relaxation.in_all, relaxation.once)
        )
        times = cls(origin, *dates, late, promised)
        return times.only(lengths)

    def only(self, lengths: tuple[tuple[Fraction | None, ...], ...]) -> Times:
        """Return the times where fewer tasks can run; instants elsewhere do not matter."""
        rows = (
            here if _runs_everywhere(row) else _without(row, here)
            for row, here in zip(lengths, self.arrivals, strict=True)
        )
        return replace(self, lengths=lengths, arrivals=tuple(rows))


class _Relaxation:
    """By how much deadlines in floats are relaxed.

    Parameters
    ----------
    instance : Instance
    shortest : Fraction
        The shortest duration.
    """

    def __init__(self, instance: Instance, shortest: Fraction) -> None:
        self._off = exact(FLOATING) * shortest
        self._drift = DRIFT * len(instance.all_tasks)
        self._first = exact(goals.origin(instance, "makespan"))

    def once(self, date: Fraction) -> Fraction:
        """Return half of what the check of a plan allows a deadline."""
        return (self._off + ROUNDING * date) / 2

    def in_all(self, date: Fraction) -> Fraction:
        """Return more than the check allows a deadline and the plan before it together."""
        since = max(date - self._first, Fraction(0))
        return 2 * self._off + 3 * ROUNDING * date + 2 * self._drift * since


def in_reach(times: Times) -> Times:
    """Return the times without machines that a task cannot leave before some plan has ended.

    No plan that ends as early has a task there; a machine that is ready in a hundred years does
    not make the horizon a hundred years long, nor does a machine on which a task takes so long.
    Times are as they were if arrivals are all equal and lengths are not that far apart.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> machines = Machine("m"), Machine("n", ready=10**9)
    >>> near = in_reach(Times.of(Instance((Task("t", 3),), machines)))
    >>> [None if length is None else int(length) for length in near.lengths[0]]
    [3, None]
    """
    together = len({instant for row in times.arrivals for instant in _distinct(row)}) == 1
    if together and _longest(times) <= _FAR * sum(map(_shortest, times.lengths)):
        return times
    free = [Fraction(0)] * len(times.lengths[0])
    for row, here in sorted(zip(times.lengths, times.arrivals, strict=True), key=_ready):
        end, machine = min(
            (max(free[k], here[k]) + length, k)
            for k, length in enumerate(row)
            if length is not None
        )
        free[machine] = end
    last = max(free)
    near = (
        tuple(
            None if length is None or start + length > last else length
            for length, start in zip(row, here, strict=True)
        )
        for row, here in zip(times.lengths, times.arrivals, strict=True)
    )
    return times.only(tuple(near))


def _longest(times: Times) -> Fraction:
    return max(length for row in times.lengths for length in row if length is not None)


def _shortest(row: Iterable[Fraction | None]) -> Fraction:
    return min(length for length in row if length is not None)


def _ready(pair: tuple[object, tuple[Fraction, ...]]) -> Fraction:
    return min(pair[1])


def _without(row: Iterable[Fraction | None], here: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return when a task arrives, and the first of these where it cannot run."""
    able = [length is not None for length in row]
    first = min(instant for instant, one in zip(here, able, strict=True) if one)
    return tuple(instant if one else first for instant, one in zip(here, able, strict=True))


def _first(
    lengths: Iterable[Iterable[Fraction | None]], instants: Iterable[Iterable[Fraction]]
) -> Fraction:
    """Return the first instant at which a task can start on a machine that can run it."""
    return min(
        instant
        for row, here in zip(lengths, instants, strict=True)
        for instant in _distinct(here if _runs_everywhere(row) else _able(row, here))
    )


def _runs_everywhere(row: Iterable[Fraction | None]) -> bool:
    return not any(length is None for length in row)  # `in` would compare with each fraction


def _able(row: Iterable[Fraction | None], here: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return tuple(instant for length, instant in zip(row, here, strict=True) if length is not None)


def _distinct(row: Iterable[Fraction]) -> Iterable[Fraction]:
    """Return the objects in a row, each once: comparing fractions is slow, and many are one."""
    return {id(instant): instant for instant in row}.values()


def _each(
    function: Callable[[Fraction], Fraction], row: Iterable[Fraction]
) -> tuple[Fraction, ...]:
    """Return a function of each entry, computed once for each object."""
    done = {id(one): function(one) for one in _distinct(row)}
    return tuple(done[id(one)] for one in row)


def _lengths(instance: Instance) -> tuple[tuple[Fraction | None, ...], ...]:
    if instance.etc is not None:
        return tuple(
            tuple(None if time is None else exact(time) for time in row) for row in instance.etc
        )
    powers = [exact(machine.power) for machine in instance.machines]
    works = [exact(task.work or 0) for task in instance.tasks]
    return tuple(tuple(work / power for power in powers) for work in works)


def _arrivals(instance: Instance) -> tuple[tuple[Fraction, ...], ...]:
    kinds: dict[tuple[int, Number], int] = {}
    machines = [
        kinds.setdefault((one.site, one.ready), len(kinds)) for one in instance.all_machines
    ]
    alike = [(site, exact(ready)) for site, ready in kinds]
    sent: dict[tuple[int, Fraction], tuple[Fraction, ...]] = {}
    rows: dict[tuple[int, Fraction, Fraction], tuple[Fraction, ...]] = {}
    found = []
    for task in instance.all_tasks:
        key = task.site, exact(task.input), exact(task.release)
        if key not in rows:
            if key[:2] not in sent:
                sent[key[:2]] = transfer_times(instance, task.site, key[1], exactly=True)
            there = sent[key[:2]]
            first = [
                max(key[2] + exact(there[site] if site != task.site else 0), ready)
                for site, ready in alike
            ]
            rows[key] = tuple(first[kind] for kind in machines)
        found.append(rows[key])
    return tuple(found)
