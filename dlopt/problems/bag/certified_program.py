"""What a certificate proves of independent tasks.

Makespan: that the step formulation (`dlopt.problems.step_formulation`) of all schedules that end
by an instant `T` of a grid is infeasible; each machine is a group. Numbers of tasks on time: that
no point of the same formulation, in which a variable says that a task runs on time, has more than
so many; levels of an objective are added up, each weighted with more than all later ones can be.
Flowtime: that no assignment of tasks to positions on machines costs less, where a task that `q`
others follow on its machine delays ``q + 1`` ends by its duration::

    minimise    sum_{j,k,q} (a_k + (q + 1) p_jk) y_j_k_q        a_k: first start on machine k
    subject to  sum_{k,q} y_j_k_q >= 1                          position_j
                sum_j y_j_k_q <= 1,  y >= 0                     place_k_q

The last position of a machine stands for all later ones, whose costs are higher; it may hold any
number of tasks. Source: Horn 1973.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.allowance import DRIFT
from dlopt.problems.bag.checker_times import duration, times_from
from dlopt.problems.bag.data import Instance, Solution, Task
from dlopt.problems.bag.goals import OBJECTIVES, origin
from dlopt.problems.certificate_units import TimeGrid, stated_grid, stated_number
from dlopt.problems.step_formulation import StepProgram, TaskTimes
from dlopt.result import Result, Value

_POSITION = re.compile(r"y_(0|[1-9]\d{0,6})_(0|[1-9]\d{0,6})_(0|[1-9]\d{0,6})", re.ASCII)
_POSITION_ROW = re.compile(r"(?:task_(\d{1,7})|place_(\d{1,7})_(\d{1,7}))(?:_[GL])?", re.ASCII)


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Only its objective matters: each one has a program of its own.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Value or None, str or None)
        A bound on the value of every schedule, level by level if the objective has levels; None if
        the certificate does not say of which program it is. And a flaw, or None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.bag.bound_methods import bound_lp
    >>> instance = Instance(etc=((1, 1), (1, 1), (1, 1)))
    >>> result = bound_lp(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(2, 1), None))
    """
    grid = stated_grid(certificate.remarks)
    if grid is None:
        return None, "its remarks do not state unit and origin of this instance"
    times = BagTimes(instance, grid)
    if times.first_start < grid.origin:
        return None, "a task can start before the origin"
    if result.objective in ("makespan", "flowtime") and instance.deadlines:
        return None, "tasks with deadlines may be left out"
    if result.objective == "makespan":
        return _proven_makespan(times, certificate)
    if result.objective == "flowtime":
        return _proven_flowtime(times, certificate)
    return _proven_counts(times, result.objective, certificate)


class BagTimes:
    """The times of an instance on a grid.

    Parameters
    ----------
    instance : Instance
    grid : TimeGrid
    """

    def __init__(self, instance: Instance, grid: TimeGrid) -> None:
        self.instance, self.grid = instance, grid
        self.tasks, machines = instance.all_tasks, instance.all_machines
        self.durations = [
            [duration(instance, task, machine) for machine in range(len(machines))]
            for task in range(len(self.tasks))
        ]
        transfers: dict[tuple[int, Fraction], list[Fraction]] = {}
        for task in self.tasks:
            key = task.site, exact(task.input)
            if key not in transfers:
                transfers[key] = times_from(instance, *key)
        self.starts = [
            [
                max(
                    exact(machine.ready),
                    exact(task.release) + transfers[task.site, exact(task.input)][machine.site],
                )
                for machine in machines
            ]
            for task in self.tasks
        ]
        self.first_start = min(
            start
            for starts, row in zip(self.starts, self.durations, strict=True)
            for start, time in zip(starts, row, strict=True)
            if time is not None
        )
        self.costs = tuple(
            tuple(None if time is None else grid.duration(time) for time in row)
            for row in self.durations
        )
        self.releases = tuple(tuple(map(grid.instant, row)) for row in self.starts)

    def step_times(self, last: int | None) -> TaskTimes:
        """Return the times of schedules that end by an instant; by the deadlines if it is None."""
        latest = []
        for task, costs in zip(self.tasks, self.costs, strict=True):
            due = self._due(task) if last is None else last
            latest.append(tuple(None if c is None or due is None else due - c for c in costs))
        sizes = (1,) * len(self.costs[0])
        return TaskTimes(self.costs, self.releases, tuple(latest), sizes, all_run=last is not None)

    @cached_property
    def _shortest(self) -> Fraction:
        """The shortest time of a task on a machine."""
        return min(time for row in self.durations for time in row if time is not None)

    def _due(self, task: Task) -> int | None:
        """Return when a task has to end, in floats as late as the checker of plans may allow."""
        if task.absolute_deadline is None:
            return None
        date = exact(task.absolute_deadline)
        if not self.instance.exact:
            since = max(date - exact(origin(self.instance, "makespan")), Fraction(0))
            date += 2 * exact(FLOATING) * self._shortest + 3 * ROUNDING * date
            date += 2 * DRIFT * len(self.tasks) * since
        return self.grid.instant(date)


def _proven_makespan(
    times: BagTimes, certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    last = stated_number(certificate.remarks, "makespan")
    if last is None or last.denominator != 1:
        return None, "its remarks do not state the makespan"
    if certificate.claim is not None:
        return None, "it does not claim that there is no schedule"
    value = times.grid.time_of(int(last) + 1)
    return value, StepProgram(times.step_times(int(last)), certificate).flaw()


def _proven_counts(
    times: BagTimes, objective: str, certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    """Return the numbers of tasks that are met at most, level by level."""
    if certificate.claim is None:
        return None, "it claims that there is no schedule, but tasks may be left out"
    base = len(times.tasks) + 1
    levels = OBJECTIVES[objective].levels or (objective,)
    weights = [sum_weights(levels, task, base) for task in times.tasks]
    always = sum(
        w for w, t in zip(weights, times.tasks, strict=True) if t.absolute_deadline is None
    )
    program = StepProgram(times.step_times(None), certificate)
    flaw = program.flaw() or _cost_flaw(program, weights)
    total = int((always - certificate.claim) // 1)
    values = []
    for _ in levels:
        total, digit = divmod(total, base)
        values.append(digit)
    values[-1] += total * base
    return tuple(reversed(values)) if len(levels) > 1 else values[0], flaw


def sum_weights(levels: tuple[str, ...], task: Task, base: int) -> int:
    """Return the weight of a task that is met, over all levels: the first one weighs most.

    Examples
    --------
    >>> sum_weights(("critical", "all"), Task("a", 1, priority="critical"), base=10)
    11
    """
    weight = 0
    for level in levels:
        weight = weight * base + (level in ("accepted", "all", task.priority))
    return weight


def _cost_flaw(program: StepProgram, weights: list[int]) -> str | None:
    """Every way to run a task on time must have its weight; nothing else may have a cost."""
    found = program.program.costs.items()
    costs = {tuple(program.columns[column]): cost for column, cost in found}
    for task, weight in enumerate(weights):
        for group in range(len(program.times.sizes)):
            window = program.times.window(task, group)
            cost_of_task = 0 if window is None else costs.pop((task, group, window[2]), 0)
            if window is not None and cost_of_task != -weight:
                return f"task {task} does not count as it should"
    return "its costs are not those of the objective" if any(costs.values()) else None


def _proven_flowtime(
    times: BagTimes, certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    if certificate.claim is None:
        return None, "it claims that there is no schedule, but there is one"
    count, grid = len(times.tasks), times.grid
    releases = sum((exact(task.release) for task in times.tasks), Fraction(0))
    value = certificate.claim * grid.unit + count * grid.origin - releases
    return value, PositionProgram(times, certificate).flaw()


class PositionProgram:
    """The assignment of tasks to positions that a certificate states."""

    def __init__(self, times: BagTimes, program: StatedProgram) -> None:
        self.times, self.program = times, program
        found = [_POSITION.fullmatch(name) for name in program.names]
        self.columns = [tuple(map(int, match.groups())) for match in found if match is not None]
        self.places = Counter(task for task, _, _ in self.columns)
        machines = range(len(times.costs[0]))
        self.depths = [
            max((q for _, k, q in self.columns if k == machine), default=0) for machine in machines
        ]

    def flaw(self) -> str | None:
        """Return what some schedule may not satisfy, or None if there is nothing."""
        times, tasks, machines = self.times, range(len(self.times.tasks)), range(len(self.depths))
        if sum(self.depths) > len(self.program.names):
            return "positions are missing"
        expected: dict[tuple[int, ...], int] = {
            (j, k, q): self._first(k) + (q + 1) * cost
            for j in tasks
            for k in machines
            if (cost := times.costs[j][k]) is not None
            for q in range(self.depths[k] + 1)
        }
        known = {key: column for column, key in enumerate(self.columns)}
        if len(self.columns) < len(self.program.names) or known.keys() != expected.keys():
            return "its columns are not the positions of all tasks"
        costs = self.program.costs
        if any(costs.get(column, 0) != expected[key] for key, column in known.items()):
            return "its costs are not those of the positions"
        for name, row in self.program.constraints:
            if not self._holds(name, row):
                return f"{name}: it is no constraint of the assignment"
        return None

    def _first(self, machine: int) -> int:
        """Return the first instant at which a machine can start a task."""
        pairs = zip(self.times.costs, self.times.releases, strict=True)
        return min(release[machine] for cost, release in pairs if cost[machine] is not None)

    def _holds(self, name: str, row: StatedConstraint) -> bool:
        """Tell whether every assignment satisfies a row."""
        columns = [self.columns[column] for column in row.terms]
        if name.startswith("y_"):
            return len(columns) == 1 and row.sign == 1 and row.side <= 0 < min(row.terms.values())
        match = _POSITION_ROW.fullmatch(name)
        if match is None or any(a != 1 for a in row.terms.values()):
            return False
        task, machine, place = (None if text is None else int(text) for text in match.groups())
        if task is not None:
            # of a task that there is not, no column would be in it: 0 >= 1
            of_task = task in self.places and len(columns) == self.places[task]
            return (of_task and all(j == task for j, _, _ in columns)) and (
                row.side <= 1 if row.sign == 1 else row.sign == -1 and row.side >= 1
            )
        assert machine is not None  # one of the two is in the name
        limited = machine < len(self.depths) and place != self.depths[machine]
        limited = limited or place == len(self.times.tasks) - 1
        at_place = all((k, q) == (machine, place) for _, k, q in columns)
        return limited and at_place and row.sign == -1 and row.side >= 1
