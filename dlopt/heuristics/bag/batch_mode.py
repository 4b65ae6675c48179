"""Batch mode: of all tasks that are left, which one is next, and where.

Every step takes, of each task, the machine on which it would end first; then Min-min places the
task that ends first, Max-min the one that ends last, and Sufferage the one that would lose most if
it had to take its second best machine. Of equal tasks and machines the first is taken.

Source: Chen 2001, section 2.3.1, after Maheswaran et al. 1999 and Braun et al. 2001. Sufferage is
meant as in the latter comparisons: one task a step. (The first text places several a pass.)

`ordered` takes the fast way of :mod:`dlopt.heuristics.bag.batch_mode_numpy` where that gives the
same answer; `stepwise` is its twin for all numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from dlopt.heuristics.bag.instance_arrays import Board, Case, usable

Choice: TypeAlias = Literal["min-min", "max-min", "sufferage"]


def ordered(case: Case, choice: Choice, *, late: bool) -> list[tuple[int, int]]:
    """Return tasks in the order in which they are placed, each with its machine.

    Tasks that are dropped are among them, when their turn comes.

    Complexity: O(n^2 log m + n m) for tasks n and machines m, in operations on arrays of all
    tasks that are left, 1 + log2 m of them a step (four times as many for sufferage).

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> case = Case(Instance(etc=((4, 2), (3, 2), (9, 5))))
    >>> ordered(case, "min-min", late=False), ordered(case, "max-min", late=False)
    ([(0, 1), (1, 0), (2, 1)], [(2, 1), (0, 0), (1, 0)])
    """
    from dlopt.heuristics.bag import batch_mode_numpy

    program = batch_mode_numpy.Program.of(case)
    if program is None:
        return list(stepwise(case, choice, late=late))
    return batch_mode_numpy.ordered(program, choice, late=late)


def stepwise(case: Case, choice: Choice, *, late: bool) -> Iterator[tuple[int, int]]:
    """Yield what `ordered` returns, in whatever numbers the instance has.

    Complexity: O(n^2 + n m + r m), where r rows are computed anew: a row is, when its best or
    second best machine gets a task.
    """
    board = Board(case, late=late)
    machines = {task: usable(row) for task, row in enumerate(case.rows)}
    left = {task: _two_best(board, task, can) for task, can in machines.items() if can}
    while left:
        task = min(left, key=lambda one: _key(left[one], choice))
        (_, machine), _ = left.pop(task)
        yield task, machine
        if board.place(task, machine):
            for other, (first, second) in left.items():
                if machine in (first[1], second and second[1]):
                    left[other] = _two_best(board, other, machines[other])


_Ends: TypeAlias = tuple[tuple[Any, int], tuple[Any, int] | None]
"""The first end with its machine, and the second best where there is one."""


def _two_best(board: Board, task: int, machines: list[int]) -> _Ends:
    ends = sorted((board.end(task, machine), machine) for machine in machines)[:2]
    return ends[0], ends[1] if len(ends) > 1 else None


def _key(ends: _Ends, choice: Choice) -> Any:
    """Return what is least for the task that is next."""
    (first, _), second = ends
    if choice == "min-min":
        return first
    if choice == "max-min":
        return -first
    # A task that can run on one machine only would lose most.
    return (1, first - second[0]) if second is not None else (0, 0)
