"""With which deadlines a task that a queue rejects would be accepted.

A later deadline need not help. It moves a task back in the order, gives it fewer nodes, or both, so
that those behind it find other nodes and may miss; the earliest deadline that is accepted may even
be earlier than one that is refused. But the plan depends on the deadline by comparisons alone:
between two deadlines at which one of them changes, all are decided alike, and at these the answer
is that of what follows. So the earliest is among them, and each is tried.

Lin et al. 2005, section 5, say that the head node negotiates a feasible deadline with
the client whose task is rejected, and not how it finds one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import nextafter, ulp
from typing import Any, NamedTuple, Protocol

from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.mcdf import plan_mcdf
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import QueuedTask, Rejection

_ROUNDING_UNITS_TRIED = (0, 4, 256)
"""In floats a deadline is tried, and so many units in its last place later, for rounding."""
_MIN_RELATIVE_STEP = 2.0**-40
"""In floats a deadline that changes something lies at least this much of it behind the last."""


class AdmissionDecider(Protocol):
    """A queue that says what it would decide."""

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return which task would miss if one that arrives now were accepted; nothing changes."""

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""

    def deadlines(self, new: QueuedTask) -> Iterator[Any]:
        """Yield the deadlines of which the earliest that is accepted, if any, is one; ascending."""


class PositionInOrder(NamedTuple):
    """A place in the order, and the deadlines that lead to it: from `low` to before `high`."""

    nodes: ReadyTimes
    not_before: Any
    low: Any
    high: Any | None


def earliest(decider: AdmissionDecider, new: QueuedTask) -> Any | None:
    """Return the earliest relative deadline with which a task is accepted, or None.

    In floats it is late by as many units in the last place as `_ROUNDING_UNITS_TRIED` has at the most.
    """
    arrival, number = new.arrival, new.key[1]
    fixed = new.key[0] != new.deadline  # an order of arrivals
    for due in decider.deadlines(new):
        for relative in _relative(due, arrival):
            deadline = arrival + relative
            key = new.key if fixed else (deadline, number)
            tried = new._replace(key=key, deadline=deadline)
            if relative > 0 and decider.would_reject(tried) is None:
                return relative
    return None


def _relative(due: Any, arrival: Any) -> Iterator[Any]:
    relative = due - arrival
    if not isinstance(relative, float):
        yield relative
        return
    while arrival + relative < due:
        relative = nextafter(relative, due)
    for units in _ROUNDING_UNITS_TRIED:
        yield relative + units * ulp(due)


def deadlines_at_positions(
    task_planner: TaskPlanner, places: Iterable[PositionInOrder], load: Any
) -> Iterator[Any]:
    """Yield the deadlines at which what a task is given changes, place by place."""
    for nodes, not_before, low, high in places:
        for due in task_planner.deadlines(nodes, not_before, load, low):
            if high is not None and due >= high:
                break
            yield due


def ranks(
    task_planner: OprEprPlanner, new: QueuedTask, tasks: Sequence[QueuedTask]
) -> Iterator[tuple[int, Any, Any | None]]:
    """Yield before how many of some tasks MWF serves none but the new one, by its deadline.

    Parameters
    ----------
    placer : Together
    new : Waiting
    tasks : sequence of Waiting
        In the order of MWF at the arrival of the new one.

    Yields
    ------
    tuple of (int, Number, Number or None)
        How many tasks come before the new one, and from when to before when it is due then.
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
) -> Iterator[Any]:
    """Yield the deadlines at which the new task needs fewer nodes at some instant under MCDF.

    Parameters
    ----------
    placer : Together
    nodes : Nodes
    new : Waiting
    tasks : list of Waiting
        The others.
    channel : bool
    """
    now, work = new.arrival, task_planner.work(new.load)
    due = now + work.time(work.most)
    number, later = new.key[1], list[Any]()

    def on_examined(task: QueuedTask, instant: Any, fewest: int | None) -> None:
        """Note with which deadline a look at the new task would find that it needs less."""
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
