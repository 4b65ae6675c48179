"""Immediate mode: tasks one by one, in an order, each to a machine by some rule.

Source: Chen 2001, section 2.3.1, after Maheswaran et al. 1999; Braun et al. 2001 call the same
rules fast greedy (MCT), UDA (MET) and OLB where all tasks are known at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dlopt.heuristics.bag.instance_arrays import Board, Case, usable
from dlopt.problems.bag.data import PRIORITIES

Rule: TypeAlias = Callable[[Board, int, Sequence[int]], int]
"""Takes the board, a task and the machines on which it may run; returns one of these."""


def assigned(board: Board, order: Sequence[int], rule: Rule) -> None:
    """Append tasks in an order, each to the machine that the rule says.

    Complexity: O(n m) steps for tasks n, machines m and a rule that is linear.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> board = Board(Case(Instance(etc=((4, 2), (3, 2)))), late=False)
    >>> assigned(board, (0, 1), completion)
    >>> [placed.machine for placed in board.plan().placements]
    [1, 0]
    """
    for task in order:
        machines = usable(board.case.rows[task])
        if machines:
            board.place(task, rule(board, task, machines))


def completion(board: Board, task: int, machines: Sequence[int]) -> int:
    """Return the machine on which the task ends first (MCT)."""
    return board.best(task, machines)


def execution(board: Board, task: int, machines: Sequence[int]) -> int:
    """Return the machine on which the task takes least, whatever waits there (MET)."""
    row = board.case.rows[task]
    return min(machines, key=lambda machine: row[machine])


def next_free(board: Board, task: int, machines: Sequence[int]) -> int:
    """Return the machine that is free next, whatever the task takes there (OLB)."""
    return min(machines, key=lambda machine: board.free[machine])


def best_of(percent: int) -> Rule:
    """Return the rule that looks for the first end among the fastest machines only (KPB).

    Parameters
    ----------
    percent : int
        The subset has so many percent of all machines, rounded down, but one at the least.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> board = Board(Case(Instance(etc=((4, 2, 3), (5, 1, 2)))), late=False)
    >>> board.place(0, 1)
    True
    >>> best_of(67)(board, 1, (0, 1, 2)), best_of(34)(board, 1, (0, 1, 2))
    (2, 1)
    """

    def rule(board: Board, task: int, machines: Sequence[int]) -> int:
        row = board.case.rows[task]
        count = max(1, len(row) * percent // 100)
        fastest = sorted(machines, key=lambda machine: row[machine])[:count]
        return board.best(task, sorted(fastest))

    return rule


def switching(low: int, high: int) -> Rule:
    """Return the rule that goes to and fro between MCT and MET (SA).

    It begins with MCT. Once the machine that is free first is so for at least `high` percent of
    the last one's time, loads are even enough and MET takes over, until that share is down to
    `low` percent. Where no machine is busy yet, the share is 0. Times count from the first instant
    at which a task is known and a machine is ready.

    Parameters
    ----------
    low, high : int
        Percent, ``0 <= low < high``.
    """
    even = False

    def rule(board: Board, task: int, machines: Sequence[int]) -> int:
        nonlocal even
        share, whole = 100 * min(board.free), max(board.free)
        if whole > 0:
            even = share > low * whole if even else share >= high * whole
        return (execution if even else completion)(board, task, machines)

    return rule


def by_release(case: Case) -> list[int]:
    """Return the tasks as they arrive, of equals the first."""
    tasks = case.instance.all_tasks
    return sorted(range(len(tasks)), key=lambda task: tasks[task].release)


def by_deadline(case: Case) -> list[int]:
    """Return the tasks by deadline; those without one come last."""
    return sorted(range(len(case.names)), key=lambda task: due_key(case.deadlines[task]))


def by_priority(case: Case) -> list[int]:
    """Return the tasks by priority, then by deadline."""
    tasks = case.instance.all_tasks
    return sorted(by_deadline(case), key=lambda task: PRIORITIES.index(tasks[task].priority))


def due_key(end: Any) -> tuple[bool, Any]:
    """Return a key that sorts deadlines, with none last."""
    return end is None, 0 if end is None else end
