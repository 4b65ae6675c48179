"""An instance in the units of the models: fractions, a solver's units, without finished tasks.

Solvers apply feasibility tolerances absolutely: about 1e-7, whether times are microseconds or
seconds since 1970. Time 0 is therefore the first instant that matters, and time and load are
scaled by powers of two, exactly, to about a thousand units.

A float means the decimal that it prints. A schedule in floats is checked with a tolerance: it is
the rounding of a schedule in exact numbers that may miss each deadline by one allowance,
`FLOATING` times the relative deadline and 64 units in the last place
(`dlopt.problems.admission.violations`), and that may leave out no more than `FLOATING` of a load.
In instances in floats, tasks are therefore due later by just that allowance, and a task of which
no more remains counts as finished, in every model in the same way: what is proven holds for all
schedules that `dlopt.check` accepts. Exact instances are stated as they are. Schedules that are
made here use half of the allowance (`ScaledInstance.latest_end`), so that they pass the check when
they are rounded. At a POSIX date 64 units in the last place are 24 microseconds, whatever the
deadlines: where that is more than a millionth of the shortest of them, results say so in their
`reason`, and bounds hold, but are weak.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.models.common.solver_units import power_of_two
from dlopt.problems.admission.data import Instance, Task
from dlopt.problems.admission.state_times import channel_free_of, remaining_of


@dataclass(frozen=True, slots=True)
class ScaledTask:
    """A task of which some load remains to be planned.

    Parameters
    ----------
    index : int
        Among the tasks of the instance.
    release, due : Fraction
        Nothing is sent before the release; everything is computed by the due date.
    load : Fraction
        What remains.
    weight : Fraction
        Objective value of accepting the task.
    mandatory : bool
        Whether the task must be accepted.
    """

    index: int
    release: Fraction
    due: Fraction
    load: Fraction
    weight: Fraction
    mandatory: bool


@dataclass(frozen=True, slots=True)
class ScaledInstance:
    """An instance in a solver's units, with the conversions back.

    Parameters
    ----------
    instance : Instance
        As given.
    tasks : tuple of ScaledTask
    finished : frozenset of int
        Tasks of which nothing remains, or no more than the checker lets a schedule leave out, by
        their indices in the instance: accepting them takes no capacity.
    value_of_finished : Fraction
        Objective value of accepting these.
    tau, chi, free : tuple of Fraction, shape (nodes,)
    theta_cm, theta_cp : Fraction
    origin : Fraction
        The instant 0, in the instance's units.
    time_unit, load_unit : Fraction
        Powers of two: one unit of the model in the instance's units.
    """

    instance: Instance
    tasks: tuple[ScaledTask, ...]
    finished: frozenset[int]
    value_of_finished: Fraction
    tau: tuple[Fraction, ...]
    chi: tuple[Fraction, ...]
    free: tuple[Fraction, ...]
    theta_cm: Fraction
    theta_cp: Fraction
    origin: Fraction
    time_unit: Fraction
    load_unit: Fraction

    @classmethod
    def from_instance(cls, instance: Instance, objective: str = "accepted") -> ScaledInstance:
        """Scale an instance.

        Parameters
        ----------
        instance : Instance
        objective : {"accepted", "accepted-load", "accepted-weight", "reject-ratio"}
            Weights of the tasks: their loads for ``accepted-load``, those that they have for
            ``accepted-weight``, else 1.

        Examples
        --------
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 8, 1, 4),), now=9)
        >>> scaled = ScaledInstance.from_instance(instance)
        >>> [(int(scaled.unscale_instant(t.release)), t.mandatory) for t in scaled.tasks]
        [(9, True)]
        """
        channel = channel_free_of(instance, exact)
        remaining, promised = remaining_of(instance, exact), instance.promised
        is_float = not instance.exact
        allowance, rounding = is_float * exact(FLOATING), is_float * ROUNDING
        tasks: list[ScaledTask] = []
        finished, value_of_finished = set(), Fraction(0)
        for index, task in enumerate(instance.tasks):
            left, weight = remaining[task.id], objective_weight(task, objective)
            if left <= allowance * exact(task.load):
                finished.add(index)
                value_of_finished += weight
                continue
            arrival, deadline = exact(task.arrival), exact(task.deadline)
            release = max(arrival, exact(instance.now), channel)
            due = (arrival + deadline + allowance * deadline) / (1 - rounding)
            tasks.append(ScaledTask(index, release, due, left, weight, task.id in promised))
        origin = min((task.release for task in tasks), default=channel)
        time_unit = power_of_two(max((task.due - origin for task in tasks), default=origin))
        load_unit = power_of_two(max((task.load for task in tasks), default=origin))
        return cls.in_units(
            instance, tasks, finished, value_of_finished, origin, time_unit, load_unit
        )

    @classmethod
    def in_units(
        cls,
        instance: Instance,
        tasks: Iterable[ScaledTask],
        finished: Iterable[int],
        value_of_finished: Fraction,
        origin: Fraction,
        time_unit: Fraction,
        load_unit: Fraction,
    ) -> ScaledInstance:
        """Return the instance in given units, of tasks in the instance's units."""
        cluster, cost_unit = instance.cluster, time_unit / load_unit
        scaled_tasks = (
            replace(
                task,
                release=(task.release - origin) / time_unit,
                due=(task.due - origin) / time_unit,
                load=task.load / load_unit,
            )
            for task in tasks
        )
        return cls(
            instance,
            tuple(scaled_tasks),
            frozenset(finished),
            value_of_finished,
            tuple(exact(cluster.tau_of(node)) / cost_unit for node in range(cluster.nodes)),
            tuple(exact(cluster.chi_of(node)) / cost_unit for node in range(cluster.nodes)),
            tuple((exact(instant) - origin) / time_unit for instant in instance.free_times),
            exact(cluster.theta_cm) / time_unit,
            exact(cluster.theta_cp) / time_unit,
            origin,
            time_unit,
            load_unit,
        )

    def restricted_to(self, tasks: Iterable[int]) -> ScaledInstance:
        """Return the instance in which these tasks must be accepted, and there are no others."""
        return replace(self, tasks=tuple(replace(self.tasks[i], mandatory=True) for i in tasks))

    def value(self, tasks: Iterable[int]) -> Fraction:
        """Return the objective value of accepting some tasks."""
        return sum((self.tasks[i].weight for i in tasks), self.value_of_finished)

    @property
    def max_value(self) -> Fraction:
        """The objective value of accepting everything."""
        return self.value(range(len(self.tasks)))

    @property
    def nodes(self) -> range:
        """The nodes."""
        return range(len(self.free))

    @property
    def overhead(self) -> Fraction:
        """Set-up time of a chunk, of transmission and computation."""
        return self.theta_cm + self.theta_cp

    def unit_time(self, node: int) -> Fraction:
        """Return how long a unit of load occupies a node: tau + chi."""
        return self.tau[node] + self.chi[node]

    def earliest_start(self, task: ScaledTask, node: int) -> Fraction:
        """Return the earliest start of a chunk of a task on a node."""
        return max(task.release, self.free[node])

    def max_load(self, task: ScaledTask, node: int) -> Fraction:
        """Return how much of a task one chunk on a node can do; 0 or less if nothing."""
        time = task.due - self.earliest_start(task, node) - self.overhead
        return min(task.load, time / self.unit_time(node))

    def min_chunks(self, task: ScaledTask) -> int | None:
        """Return the fewest nodes that can do a task by itself, None if all of them cannot.

        Examples
        --------
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> tasks = (Task("a", 0, 3, 4), Task("b", 0, 9, 4))
        >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
        >>> [scaled.min_chunks(task) for task in scaled.tasks]
        [2, None]
        """
        done = Fraction(0)
        loads = sorted((self.max_load(task, node) for node in self.nodes), reverse=True)
        for count, load in enumerate(loads, 1):
            if load <= 0:
                break
            done += load
            if done >= task.load:
                return count
        return None

    @property
    def value_granularity(self) -> Fraction:
        """The largest number of which all objective values are multiples.

        Values are counted without `value_of_finished`.
        """
        return rational_gcd(task.weight for task in self.tasks) or Fraction(1)

    def latest_end(self, task: ScaledTask) -> Fraction:
        """Return when a schedule that is made here must end a task, in the instance's units.

        It is the deadline plus half of what the checker allows in floats.
        """
        original = self.instance.tasks[task.index]
        deadline = exact(original.arrival) + exact(original.deadline)
        return (deadline + self.unscale_instant(task.due)) / 2

    def unscale_instant(self, instant: Fraction) -> Fraction:
        """Return an instant in the instance's units."""
        return instant * self.time_unit + self.origin

    def unscale_duration(self, duration: Fraction) -> Fraction:
        """Return a duration in the instance's units."""
        return duration * self.time_unit


def rational_gcd(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are integer multiples; 0 if there are none.

    Examples
    --------
    >>> rational_gcd([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    divisor = Fraction(0)
    for number in numbers:
        denominator = math.lcm(divisor.denominator, number.denominator)
        divisor = Fraction(
            math.gcd(int(divisor * denominator), int(number * denominator)), denominator
        )
    return divisor


def objective_weight(task: Task, objective: str, otherwise: Fraction = Fraction(1)) -> Fraction:
    """Return what accepting a task adds to an objective: its load, its weight, or what all have.

    Examples
    --------
    >>> task = Task("a", 0, load=3, deadline=4, weight=2)
    >>> names = "accepted-load", "accepted-weight", "accepted"
    >>> [int(objective_weight(task, name)) for name in names]
    [3, 2, 1]
    """
    if objective == "accepted-load":
        return exact(task.load)
    return exact(task.weight) if objective == "accepted-weight" else otherwise
