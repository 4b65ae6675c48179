"""The solution checker: placements against every constraint of the problem."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.bag.checker_times import duration, times_from
from dlopt.problems.bag.data import Instance, Placement, Solution, Task
from dlopt.problems.bag.exact_timeline import StatedRun, exact_starts
from dlopt.problems.bag.goals import origin
from dlopt.problems.checking import Checker
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation

KINDS = (
    "unknown-task",
    "unknown-machine",
    "duplicate-task",
    "task-missing",
    "ineligible-machine",
    "duration",
    "starts-before-release",
    "starts-before-input",
    "machine-not-ready",
    "deadline",
    "machine-overlap",
    "earlier-than-possible",
)
"""The kinds of violation that `violations` tells apart."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        Instants may be off by `tolerance` times the shortest duration of any task, and by 64
        units in the last place; what is off does not add up, see the notes.

    Returns
    -------
    tuple of Violation
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    A machine runs one task at a time, without pause. A task runs once, on a machine that can run
    it, when it is released, its input has come and the machine is ready; it ends by its deadline
    unless the plan says that it is late. A task without a deadline must be run.

    With a tolerance, a plan that breaks no rule is also compared with the exact schedule of the
    same machines and the same order, in which every task starts as early as it can: no instant may
    lie before the exact one by more than instants may be off, once, and the rounding errors of as
    many sums of floats as there are tasks, which count from the first instant of the instance. So a
    plan in floats is a rounding of an exact plan. Complexity: O(n log n + t s), where t different
    amounts of data are sent between s sites.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine
    >>> tasks = (Task("a", 2, absolute_deadline=4), Task("b", 1, absolute_deadline=2))
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> plan = Solution((Placement("a", 0, 0, 2), Placement("b", 0, 2, 3)))
    >>> print(*violations(instance, plan))
    deadline on task b at 3 by 1
    """
    return tuple(_Checker(instance, solution, tolerance).violations())


def allowed_gain(instance: Instance, name: str, bound: Fraction, tolerance: float) -> Fraction:
    """Return by how much a schedule that `violations` accepts may be better than exact ones.

    Parameters
    ----------
    instance : Instance
    name : str
        An objective. ``flowtime`` counts the end of every task, ``makespan`` one.
    bound : Fraction
        A bound on the value of every exact schedule.
    tolerance : float
        As in `violations`; not 0.

    Returns
    -------
    Fraction
        What ends may lie before those of the exact plan, see `violations`. 0 for numbers of tasks.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine
    >>> tasks = (Task("a", 1.0, release=2**46), Task("b", 2, release=2**46))
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> round(float(allowed_gain(instance, "makespan", Fraction(2**46 + 3), 1e-9)), 12)
    1.000000001
    >>> round(float(allowed_gain(instance, "flowtime", Fraction(4), 1e-9)), 12)
    2.000000002
    """
    if name not in ("makespan", "flowtime"):
        return Fraction(0)
    checker = _Checker(instance, Solution(()), tolerance)
    tasks, first = instance.all_tasks, exact(origin(instance, "makespan"))
    if name == "makespan":
        ends, count = bound, 1
    else:
        ends = bound + sum((exact(task.release) for task in tasks), Fraction(0))
        count = len(tasks)
    drift = DRIFT * len(tasks) * max(ends - count * first, Fraction(0))
    return count * checker.tolerance * checker.time_scale + ROUNDING * ends + drift


class _Checker(Checker):
    """The checker of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.solution = instance, solution
        self.tasks = {task.id: (index, task) for index, task in enumerate(instance.all_tasks)}
        self.machines = instance.all_machines
        self._transfer_times: dict[tuple[int, Fraction], list[Fraction]] = {}

    def violations(self) -> Iterator[Violation]:
        found = False
        for violation in self._local_violations():
            found = True
            yield violation
        if self.tolerance and not found:
            yield from self._accumulated_violations()

    def _local_violations(self) -> Iterator[Violation]:
        """Yield what is broken between two placements, or by one."""
        counts = Counter(placement.task for placement in self.solution.placements)
        for name, (_, task) in self.tasks.items():
            if counts[name] > 1:
                yield Violation("duplicate-task", f"task {name}", amount=counts[name])
            elif counts[name] == 0 and task.absolute_deadline is None:
                yield Violation("task-missing", f"task {name}")
        for placement in self.solution.placements:
            if placement.task not in self.tasks:
                yield Violation("unknown-task", f"task {placement.task}")
            elif not 0 <= placement.machine < len(self.machines):
                yield Violation(
                    "unknown-machine", f"task {placement.task}", amount=placement.machine
                )
            else:
                yield from self._placement_violations(placement, *self.tasks[placement.task])
        yield from self._machine_violations()

    def _placement_violations(
        self, placement: Placement, index: int, task: Task
    ) -> Iterator[Violation]:
        """Yield where a task does not run as it must."""
        resource, start, end = f"task {task.id}", exact(placement.start), exact(placement.end)
        needed = duration(self.instance, index, placement.machine)
        if needed is None:
            yield Violation("ineligible-machine", resource, start, end)
        elif abs(end - start - needed) > self.time_tolerance(end):
            yield Violation("duration", resource, start, end, end - start - needed)
        machine = self.machines[placement.machine]
        here = exact(task.release) + self._transmission(task, machine.site)
        earliest = {
            "starts-before-release": exact(task.release),
            "starts-before-input": here,
            "machine-not-ready": exact(machine.ready),
        }
        for kind, instant in earliest.items():
            if instant - start > self.time_tolerance(instant):
                yield Violation(kind, resource, start, amount=instant - start)
        if task.absolute_deadline is not None and not placement.late:
            missed = end - exact(task.absolute_deadline)
            if missed > self.time_tolerance(end):
                yield Violation("deadline", resource, end, amount=missed)

    def _machine_violations(self) -> Iterator[Violation]:
        """Yield where a machine runs two tasks at a time."""
        busy: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for placement in self.solution.placements:
            busy[placement.machine].append((exact(placement.start), exact(placement.end)))
        for machine, spans in busy.items():
            resource = f"machine {self._name(machine)}"
            yield from self.overlap_violations("machine-overlap", resource, overlaps(spans))

    def _accumulated_violations(self) -> Iterator[Violation]:
        """Yield where a task runs before it can in the exact plan of the same order."""
        busy: dict[int, list[StatedRun]] = defaultdict(list)
        for placement in self.solution.placements:
            index, task = self.tasks[placement.task]
            length = duration(self.instance, index, placement.machine)
            assert length is not None  # nothing runs where it cannot
            earliest = self._earliest(task, placement.machine)
            here = StatedRun(
                exact(placement.start), exact(placement.end), task.id, length, earliest
            )
            busy[placement.machine].append(here)
        drift = DRIFT * len(self.solution.placements)
        first = exact(origin(self.instance, "makespan"))
        for runs in busy.values():
            for run, start in exact_starts(runs, self.tolerance * self.time_scale):
                end = start + run.length
                early = max(start - run.start, end - run.end)
                if early > self.time_tolerance(end) + drift * (end - first):
                    resource = f"task {run.task}"
                    yield Violation("earlier-than-possible", resource, run.start, start, early)

    def _earliest(self, task: Task, machine: int) -> Fraction:
        """Return when a machine is ready and has the input of a task."""
        own = self.machines[machine]
        return max(exact(own.ready), exact(task.release) + self._transmission(task, own.site))

    def _name(self, machine: int) -> str:
        known = 0 <= machine < len(self.machines)
        return self.machines[machine].id if known else str(machine)

    def _transmission(self, task: Task, site: int) -> Fraction:
        """Return how long the input of a task takes to a site."""
        if site == task.site:
            return Fraction(0)
        key = task.site, exact(task.input)
        if key not in self._transfer_times:
            self._transfer_times[key] = times_from(self.instance, *key)
        return self._transfer_times[key][site]

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest duration of any task on any machine."""
        instance = self.instance
        if instance.etc is not None:
            return min(exact(time) for row in instance.etc for time in row if time is not None)
        works = (exact(task.work or 0) for task in instance.tasks)
        return min(works) / max(exact(machine.power) for machine in instance.machines)
