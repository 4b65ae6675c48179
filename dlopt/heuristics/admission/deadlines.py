"""The earliest deadline with which a task that a queue rejects would be accepted.

A later deadline need not help. It moves a task back in the order, gives it fewer nodes, or both, so
that the tasks after it find other ready times and may miss; the earliest accepted deadline may even
be earlier than a rejected one. But the schedule depends on the deadline through comparisons alone:
all deadlines between two breakpoints, at which the result of a comparison changes, are decided
equally, and a breakpoint is decided as what follows it. So the earliest accepted deadline is a
breakpoint, and each is tried.

Lin et al. 2005, section 5, say that the head node negotiates a feasible deadline with
the client whose task is rejected, and not how it finds one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import nextafter, ulp
from typing import NamedTuple, Protocol

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.mcdf import plan_mcdf
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import QueuedTask, Rejection

_ROUNDING_UNITS_TRIED = (0, 4, 256)
"""Units in the last place by which a float deadline is tried later, for rounding. Chosen by hand:
the answer is late by the largest of them at the most."""
_MIN_RELATIVE_STEP = 2.0**-40
"""Least relative distance of two breakpoints in floats, so that the search ends. Chosen by hand."""


class AdmissionDecider(Protocol):
    """A queue that can be asked for its decision."""

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield candidates for the earliest accepted deadline, ascending."""


class PositionInOrder(NamedTuple):
    """A position in the order, and the deadlines that lead to it: from `low` to before `high`."""

    nodes: ReadyTimes
    not_before: Number
    low: Number
    high: Number | None


def earliest(decider: AdmissionDecider, new: QueuedTask) -> Number | None:
    """Return the earliest relative deadline with which a task is accepted, or None.

    In floats it is late by the largest of `_ROUNDING_UNITS_TRIED` at the most.
    """
    for relative, tried in tried_deadlines(decider, new):
        if decider.would_reject(tried) is None:
            return relative
    return None


def tried_deadlines(
    decider: AdmissionDecider, new: QueuedTask
) -> Iterator[tuple[Number, QueuedTask]]:
    """Yield the relative deadlines that are tried, ascending, each with the task that has it."""
    fixed = new.key[0] != new.deadline  # an order of arrivals
    for due in decider.deadlines(new):
        for relative in _relative(due, new.arrival):
            if relative > 0:
                deadline = new.arrival + relative
                key = new.key if fixed else (deadline, new.key[1])
                yield relative, new._replace(key=key, deadline=deadline)


def _relative(due: Number, arrival: Number) -> Iterator[Number]:
    relative = due - arrival
    if not isinstance(relative, float):
        yield relative
        return
    while arrival + relative < due:
        relative = nextafter(relative, due)
    for units in _ROUNDING_UNITS_TRIED:
        yield relative + units * ulp(due)


def deadlines_at_positions(
    task_planner: TaskPlanner, places: Iterable[PositionInOrder], load: Number
) -> Iterator[Number]:
    """Yield the deadlines at which the placement changes, position by position."""
    for nodes, not_before, low, high in places:
        for due in task_planner.deadlines(nodes, not_before, load, low):
            if high is not None and due >= high:
                break
            yield due


def mwf_positions(
    task_planner: OprEprPlanner, new: QueuedTask, tasks: Sequence[QueuedTask]
) -> Iterator[tuple[int, Number, Number | None]]:
    """Yield the positions of a new task in the order of MWF, as its deadline grows.

    Parameters
    ----------
    task_planner : OprEprPlanner
    new : QueuedTask
    tasks : sequence of QueuedTask
        Sorted in the order of MWF at the arrival of the new one.

    Yields
    ------
    tuple of (int, Number, Number or None)
        The number of tasks before the new one, and the interval of deadlines that leads to it.
    """
    now, work = new.arrival, task_planner.work(new.load)
    others = []
    for task in tasks:
        fewest = task_planner.fewest(task.load, task.deadline - now)
        assert fewest is not None  # it is planned
        others.append(task_planner.derivative(task.load, fewest))

    def before(n: int) -> int:
        own = task_planner.derivative(new.load, n)
        return sum(other >= own for other in others)

    for count, numbers in groupby(range(work.most, 0, -1), key=before):
        same = list(numbers)
        low, high = work.time(same[0]), same[-1] - 1
        yield count, now + low, now + work.time(high) if high else None


def mcdf_deadlines(
    task_planner: OprEprPlanner,
    nodes: ReadyTimes,
    new: QueuedTask,
    tasks: list[QueuedTask],
    channel: bool,
) -> Iterator[Number]:
    """Yield the deadlines at which the new task needs fewer nodes at some instant under MCDF.

    Parameters
    ----------
    task_planner : OprEprPlanner
    nodes : ReadyTimes
    new : QueuedTask
    tasks : list of QueuedTask
        The others.
    channel : bool
    """
    now, work = new.arrival, task_planner.work(new.load)
    due = now + work.time(work.most)
    number, later = new.key[1], list[Number]()

    def on_examined(task: QueuedTask, instant: Number, fewest: int | None) -> None:
        """Record with which deadline the new task would be found to need fewer nodes."""
        if task.key[1] == number:
            fewer = work.most if fewest is None else fewest - 1
            if fewer:
                later.append(instant + work.time(fewer))

    while True:
        yield due
        new = new._replace(key=(due, number), deadline=due)
        later.clear()
        plan_mcdf(task_planner, nodes.copy(), sorted([new, *tasks]), now, channel, on_examined)
        if not later:
            return
        due = min(later)
        if isinstance(due, float):
            due = max(due, new.deadline * (1 + _MIN_RELATIVE_STEP))
