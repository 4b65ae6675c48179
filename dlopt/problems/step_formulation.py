"""The step formulation of schedules, as the checkers of certificates state it.

A binary variable ``z_j_g_t`` says that task `j` has started by instant `t` on a machine of group
`g`. Tasks, groups and instants count from 0; instants are whole units of time since an origin. Let
`r` be the earliest and `l` the latest start of a task on the machines of a group, `c` the least
time that it takes there, and `n` the number of machines of a group. Every schedule with integral
starts satisfies, for any choice of instants ``t_g``::

    assigned    sum_g z_j_g_t_g <= 1                                  a task runs once
                sum_g z_j_g_t_g >= 1   if t_g >= l for all g          it has started by the latest
    release     z_j_g_t <= 0           if t < r
    monotone    z_j_g_t <= z_j_g_s     if t <= s                      what has started stays so
    precedence  sum_h z_j_h_t_h <= sum_g z_i_g_s_g                    i sends its data to j
                       if s_g >= t_h - transfer(g, h) - c_i_g
    capacity    sum_{j,t} a_j_t z_j_g_t <= n (b - a)                  work in [a, b)
    conflict    z_i_g_b - z_i_g_a' + z_j_g_d - z_j_g_c' <= 1          n = 1, a' = a - 1, c' = c - 1
                       if b < c + c_j_g  and  d < a + c_i_g
    symmetry    z_j_g_t <= sum_i z_i_h_t_i       h = g - 1, groups that may be exchanged
                       if t_i >= l for all i before j

The left side of ``capacity`` may count no task for more than it occupies its machine within
[a, b), whenever it starts. By ``conflict``, two tasks do not start on one machine at instants from
`a` to `b` and from `c` to `d`, which all overlap. By ``symmetry``, groups that may be exchanged are
used in the order of their first tasks, by an order of the tasks that the program states: of a
schedule in which they are not, the machines can be exchanged such that they are. A program of such
rows is a relaxation, however few there are. Source: the step variables of Pritsker, Watters and
Wolfe 1969; aggregated capacity is the energetic reasoning of Erschler, Lopez and Thuriot 1991.

The models state such programs themselves; a proof holds only if these rules accept its program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dlopt.certificates import StatedConstraint, StatedProgram

Times = tuple[tuple[int | None, ...], ...]
"""By task and group; None where a task cannot run."""

_COLUMN = re.compile(r"z_(0|[1-9]\d{0,8})_(0|[1-9]\d{0,8})_(0|[1-9]\d{0,15})", re.ASCII)
_INSTANT = re.compile(r"(0|-?[1-9]\d{0,15})", re.ASCII)


class Column(NamedTuple):
    """A variable: whether a task has started by an instant on a machine of a group."""

    task: int
    group: int
    instant: int


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """The times of an instance, rounded down to a grid.

    Parameters
    ----------
    costs : tuple of tuple of (int or None), shape (tasks, groups)
        The least time that a task takes on a machine of a group; None where it cannot run.
    releases : the same
        Its earliest start.
    latest : the same
        Its latest start that is allowed.
    sizes : tuple of int
        The number of machines of each group.
    all_run : bool
        Whether every task must run; else those that do not run start by no instant.
    transfers : callable
        Returns, for two tasks of which the second needs data of the first, how long that takes at
        least, by their groups; None if it needs none.
    exchangeable : callable
        Tells of two groups whether exchanging their machines changes no time.
    order : tuple of int
        The tasks, in the order by which exchangeable groups are numbered; empty if they are not.
    """

    costs: Times
    releases: Times
    latest: Times
    sizes: tuple[int, ...]
    all_run: bool
    transfers: Callable[[int, int], Sequence[Sequence[int]] | None] = lambda source, target: None
    exchangeable: Callable[[int, int], bool] = lambda group, other: False
    order: tuple[int, ...] = ()

    def window(self, task: int, group: int) -> tuple[int, int, int] | None:
        """Return cost, earliest and latest start of a task; None if it cannot run in time."""
        cost = self.costs[task][group]
        earliest, latest = self.releases[task][group], self.latest[task][group]
        if cost is None or earliest is None or latest is None or earliest > latest:
            return None
        return cost, earliest, latest


class StepProgram:
    """The program of a certificate, compared with the times of an instance.

    Parameters
    ----------
    times : TaskTimes
    program : StatedProgram

    Attributes
    ----------
    columns : list of Column
        Empty if the names of the columns are others.

    Examples
    --------
    Two tasks of 2 units on one machine, which has 3:

    >>> from dlopt.formats.vipr.certificate import Certificate, Constraint
    >>> both = ((2,), (2,))
    >>> times = TaskTimes(both, ((0,), (0,)), ((1,), (1,)), (1,), all_run=True)
    >>> row = Constraint({0: Fraction(2), 1: Fraction(2)}, -1, Fraction(3))
    >>> names, nothing = ("z_0_0_1", "z_1_0_1"), frozenset()
    >>> for name in ("capacity_0_0_3", "capacity_0_0_2"):
    ...     program = Certificate(names, nothing, {}, ((name, row),), None, ())
    ...     print(StepProgram(times, program).flaw())
    None
    capacity_0_0_2: it counts task 0 for more than it occupies in the interval
    """

    def __init__(self, times: TaskTimes, program: StatedProgram) -> None:
        self.times, self.program = times, program
        found = [_COLUMN.fullmatch(name) for name in program.names]
        self.columns = [Column(*map(int, match.groups())) for match in found if match is not None]
        tasks, groups = len(times.costs), len(times.sizes)
        known = all(one.task < tasks and one.group < groups for one in self.columns)
        if not known or len(self.columns) < len(found):
            self.columns = []

    def flaw(self) -> str | None:
        """Return a constraint that some schedule may violate, or None if there is none."""
        if not self.columns and self.program.names:
            return "its columns are not those of the instance"
        for name, constraint in self.program.constraints:
            flaw = self._row_flaw(name, constraint)
            if flaw is not None:
                return f"{name}: {flaw}"
        return None

    def _row_flaw(self, name: str, row: StatedConstraint) -> str | None:
        family, *numbers = name.removesuffix("_L").removesuffix("_G").split("_")
        if family == "z":
            return self._bound_flaw(name, row)
        rules: Mapping[str, Callable[[StatedConstraint, list[int]], str | None]] = {
            "assigned": self._assigned_flaw,
            "release": self._release_flaw,
            "monotone": self._monotone_flaw,
            "precedence": self._precedence_flaw,
            "capacity": self._capacity_flaw,
            "conflict": self._conflict_flaw,
            "symmetry": self._symmetry_flaw,
        }
        if family not in rules or not all(map(_INSTANT.fullmatch, numbers)):
            return "it is no constraint of the step formulation"
        if row.sign != -1 and (family, row.sign) != ("assigned", 1):
            return "it has the wrong direction"
        return rules[family](row, [int(number) for number in numbers])

    def _bound_flaw(self, name: str, row: StatedConstraint) -> str | None:
        """A variable is between 0 and 1."""
        if list(row.terms.values()) != [1]:
            return "it is no bound of a variable"
        holds = row.side <= 0 if row.sign == 1 else row.sign == -1 and row.side >= 1
        return None if holds else "a variable may be smaller or larger"

    def _assigned_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """A task starts once, and by the latest start of some group if all run."""
        terms, task = self._terms(row), numbers[0] if numbers else -1
        if not 0 <= task < len(self.times.costs) or any(one.task != task for one, _ in terms):
            return "it is not about one task"
        if any(a != 1 for _, a in terms):
            return "a coefficient is not 1"
        by_group = {one.group: one.instant for one, _ in terms}
        if len(by_group) < len(terms):
            return "a group is in it twice"
        if row.sign == -1:
            return None if row.side >= 1 else "a task may start once"
        if not self.times.all_run or row.side > 1:
            return "a task may not start"
        for group in range(len(self.times.sizes)):
            window = self.times.window(task, group)
            if window is not None and by_group.get(group, -1) < window[2]:
                return "the task may start later"
        return None

    def _release_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """A task has not started before it can."""
        terms = self._terms(row)
        if len(terms) != 1 or terms[0][1] <= 0 or row.side < 0:
            return "it does not say that a task has not started"
        one = terms[0][0]
        window = self.times.window(one.task, one.group)
        possible = window is not None and window[1] <= one.instant
        return "the task may have started" if possible else None

    def _monotone_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """What has started stays so."""
        terms = sorted(self._terms(row))
        if row.side < 0 or [a for _, a in terms] != [1, -1]:
            return "it does not compare two instants"
        (one, _), (other, _) = terms
        return None if one[:2] == other[:2] else "it is not about one task on one group"

    def _precedence_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """What has started had the data of its predecessor, which has ended before."""
        if len(numbers) < 2:
            return "it does not name two tasks"
        source, target = numbers[:2]
        tasks = range(len(self.times.costs))
        known = source in tasks and target in tasks
        transfers = self.times.transfers(source, target) if known else None
        if transfers is None:
            return "the second task needs no data of the first"
        started: dict[int, int] = {}
        before: dict[int, int] = {}
        for one, a in self._terms(row):
            side = {(target, 1): started, (source, -1): before}.get((one.task, int(a)))
            if side is None or a.denominator != 1 or one.group in side:
                return "it is not about its two tasks, each group once"
            side[one.group] = one.instant
        if row.side < 0:
            return "its right-hand side is negative"
        for h, instant in started.items():
            for g in range(len(self.times.sizes)):
                window = self.times.window(source, g)
                if window is not None:
                    latest = instant - transfers[g][h] - window[0]
                    if latest >= window[1] and before.get(g, -1) < min(latest, window[2]):
                        return "the predecessor may start later"
        return None

    def _capacity_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """The machines of a group do no more in an interval than it is long."""
        if len(numbers) < 3:
            return "it names no group and interval"
        group, start, end = numbers[:3]
        if not 0 <= group < len(self.times.sizes) or start > end:
            return "there is no such group or interval"
        if row.side < self.times.sizes[group] * (end - start):
            return "the machines may do more"
        steps: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
        for one, a in self._terms(row):
            if one.group != group:
                return "it is not about one group"
            steps[one.task].append((one.instant, a))
        for task, terms in steps.items():
            window = self.times.window(task, group)
            if window is not None and not _is_dominated(sorted(terms), window, start, end):
                return f"it counts task {task} for more than it occupies in the interval"
        return None

    def _conflict_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """Two tasks do not both start on one machine within windows where all starts overlap."""
        ends: dict[int, int] = {}
        before: dict[int, int] = {}
        groups = {one.group for one, _ in self._terms(row)}
        for one, a in self._terms(row):
            side = {1: ends, -1: before}.get(int(a)) if a.denominator == 1 else None
            if side is None or one.task in side:
                return "it is not about two windows"
            side[one.task] = one.instant
        if len(ends) != 2 or len(groups) != 1 or not before.keys() <= ends.keys():
            return "it is not about two tasks on one group"
        if self.times.sizes[groups.pop()] > 1 or row.side < 1:
            return "two tasks may run at a time"
        (task, end), (other, other_end) = ends.items()
        group = next(one.group for one, _ in self._terms(row))
        window, other_window = self.times.window(task, group), self.times.window(other, group)
        if window is None or other_window is None:
            return "a task cannot run there"
        (cost, first, _), (other_cost, other_first, _) = window, other_window
        first = max(first, before.get(task, -1) + 1)
        other_first = max(other_first, before.get(other, -1) + 1)
        overlap = end < other_first + other_cost and other_end < first + cost
        return None if overlap and cost and other_cost else "the tasks may run one after the other"

    def _symmetry_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """A task runs on a group only if one before it does on the group before."""
        terms = self._terms(row)
        ones = [one for one, a in terms if a == 1]
        if len(ones) != 1 or row.side < 0 or ones[0].task not in self.times.order:
            return "it does not say what is needed for one task to start"
        (one,) = ones
        if one.group == 0 or not self.times.exchangeable(one.group - 1, one.group):
            return "the group may not be exchanged with the one before"
        before = {other.task: other.instant for other, a in terms if a == -1}
        if len(before) + 1 < len(terms) or any(o.group != one.group - 1 for o, a in terms if a < 0):
            return "it is not about the group before, each task once"
        for task in self.times.order[: self.times.order.index(one.task)]:
            window = self.times.window(task, one.group - 1)
            if window is not None and before.get(task, -1) < window[2]:
                return "a task before it may start later"
        return None

    def _terms(self, row: StatedConstraint) -> list[tuple[Column, Fraction]]:
        return [(self.columns[column], a) for column, a in row.terms.items()]


def _is_dominated(
    terms: Iterable[tuple[int, Fraction]], window: tuple[int, int, int], start: int, end: int
) -> bool:
    """Tell whether terms count a task for no more than it occupies of an interval.

    A task that starts at `s` is counted for the terms of the instants from `s` on: a step function.
    What it occupies rises, stays and falls in `s`, so the least in a step is at one of its ends.
    """
    cost, earliest, latest = window
    counted = sum((a for _, a in terms), Fraction(0))
    low = earliest
    for instant, a in terms:
        high = min(instant, latest)
        if low <= high:
            inside = min(max(0, min(s + cost, end) - max(s, start)) for s in (low, high))
            if counted > inside:
                return False
            low = high + 1
        counted -= a
    return True
