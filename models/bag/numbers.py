"""The times of an instance as the fractions that they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, exact
from dlopt.problems.bag import Instance, transfer_times


@dataclass(frozen=True)
class Times:
    """When and for how long tasks can run on machines.

    Parameters
    ----------
    lengths : tuple of tuple of (Fraction or None), shape (tasks, machines)
        None where a task cannot run.
    arrivals : tuple of tuple of Fraction, shape (tasks, machines)
        When machine and input are there.
    dues : tuple of (Fraction or None), shape (tasks,)
        Of instances in floats a little later than stated: by half of what the check of a plan
        allows an instant to be off for being a float, and a quarter of its tolerance. So what is
        proven impossible is impossible for plans that pass the check by less.
    """

    lengths: tuple[tuple[Fraction | None, ...], ...]
    arrivals: tuple[tuple[Fraction, ...], ...]
    dues: tuple[Fraction | None, ...]

    @classmethod
    def of(cls, instance: Instance) -> Times:
        """Return the times of an instance.

        Examples
        --------
        >>> from dlopt.problems.bag import Machine, Task
        >>> machines = (Machine("m", power=2, ready=1), Machine("n"))
        >>> times = Times.of(Instance((Task("t", 3, absolute_deadline=4),), machines))
        >>> [str(length) for length in times.lengths[0]], [int(a) for a in times.arrivals[0]]
        (['3/2', '3'], [1, 0])
        """
        lengths = _lengths(instance)
        shortest = min(length for row in lengths for length in row if length is not None)
        floats = not instance.exact
        spare, unsure = floats * shortest * exact(SOLVER) / 4, floats * ROUNDING / 2
        dues = tuple(
            None
            if task.absolute_deadline is None
            else exact(task.absolute_deadline) * (1 + unsure) + spare
            for task in instance.all_tasks
        )
        return cls(lengths, _arrivals(instance), dues)


def _lengths(instance: Instance) -> tuple[tuple[Fraction | None, ...], ...]:
    if instance.etc is not None:
        return tuple(
            tuple(None if time is None else exact(time) for time in row) for row in instance.etc
        )
    powers = [exact(machine.power) for machine in instance.machines]
    works = [exact(task.work or 0) for task in instance.tasks]
    return tuple(tuple(work / power for power in powers) for work in works)


def _arrivals(instance: Instance) -> tuple[tuple[Fraction, ...], ...]:
    machines = [(machine.site, exact(machine.ready)) for machine in instance.all_machines]
    sent: dict[tuple[int, Fraction], tuple[Fraction, ...]] = {}
    rows: dict[tuple[int, Fraction, Fraction], tuple[Fraction, ...]] = {}
    found = []
    for task in instance.all_tasks:
        key = task.site, exact(task.input), exact(task.release)
        if key not in rows:
            if key[:2] not in sent:
                sent[key[:2]] = transfer_times(instance, task.site, key[1], exactly=True)
            there = sent[key[:2]]
            rows[key] = tuple(
                max(key[2] + exact(there[site] if site != task.site else 0), ready)
                for site, ready in machines
            )
        found.append(rows[key])
    return tuple(found)
