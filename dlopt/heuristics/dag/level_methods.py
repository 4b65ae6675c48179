"""Lists by level as registered methods, of fixed priority and of one that follows the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from dlopt.heuristics.dag.heft_family import first_to_finish, first_to_start
from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.levels import Means, bottom, top
from dlopt.heuristics.dag.list_scheduling import by_best_pair, by_priority
from dlopt.heuristics.dag.methods import schedule
from dlopt.heuristics.dag.partial_schedule import Board
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result

MachineRule: TypeAlias = Literal["eft", "est"]
Fill: TypeAlias = Callable[[Board, MachineRule], None]


class ListMethod(Protocol):
    """What every method of this module is.

    Parameters
    ----------
    instance : Instance
    objective : str, optional
        What the plan is valued by; it is made the same way for all.
    limits, hint, seed
        Not used.
    insertion : bool, default False
        Whether a task may go between two that are placed already.
    machine_rule : {"eft", "est"}, default "eft"
        Whether a task goes where it ends first, or where it starts first.
    """

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: Solution | None = None,
        seed: int = 0,
        insertion: bool = False,
        machine_rule: MachineRule = "eft",
    ) -> Result[Solution]:
        """Return a plan; of equal priorities the first task is taken."""


def _method(fill: Fill) -> ListMethod:
    def method(
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: Solution | None = None,
        seed: int = 0,
        insertion: bool = False,
        machine_rule: MachineRule = "eft",
    ) -> Result[Solution]:
        return schedule(instance, objective, insertion, lambda board: fill(board, machine_rule))

    return method


def _static(keys: Callable[[Flat], Sequence[Any]]) -> ListMethod:
    """Return the method that always takes the ready task of the least key."""

    def fill(board: Board, machine_rule: MachineRule) -> None:
        put = first_to_finish if machine_rule == "eft" else first_to_start
        by_priority(board, keys(board.flat), lambda task: put(board, task))

    return _method(fill)


def _rising_t(flat: Flat) -> list[Any]:
    return top(flat, Means.of(flat))


def _falling_b(flat: Flat) -> list[Any]:
    return [-level for level in bottom(flat, Means.of(flat))]


def _falling_static_b(flat: Flat) -> list[Any]:
    return [-level for level in bottom(flat, Means.of(flat), static=True)]


def _falling_p(flat: Flat) -> list[Any]:
    return [-weight for weight in Means.of(flat).weight]


def _falling_b_minus_t(flat: Flat) -> list[Any]:
    means = Means.of(flat)
    return [t - b for t, b in zip(top(flat, means), bottom(flat, means), strict=True)]


def _rising_slack(flat: Flat) -> list[Any]:
    """Return deadline less static b-level; what has no deadline comes last, by that level."""
    means = Means.of(flat)
    factor = flat.scale * means.scale
    due = [graph.absolute_deadline for graph in flat.instance.graphs]
    keys: list[tuple[int, Any]] = []
    for graph, level in zip(flat.graph_of, bottom(flat, means, static=True), strict=True):
        deadline = due[graph]
        keys.append((1, -level) if deadline is None else (0, deadline * factor - level))
    return keys


def _earliest_pair(board: Board, machine_rule: MachineRule) -> None:
    """Take the pair that ends (or starts) first; of equal ones that of the largest b-level."""
    level = bottom(board.flat, Means.of(board.flat), static=True)
    where = board.earliest_finish if machine_rule == "eft" else board.earliest_start

    def score(task: int, ready: Sequence[Any]) -> tuple[Any, int, Any]:
        machine, start, end = where(task, ready)
        return (end if machine_rule == "eft" else start, -level[task]), machine, start

    by_best_pair(board, score)


def _highest_b_minus_start(board: Board, machine_rule: MachineRule) -> None:
    """Take the pair of the largest b-level less start; by ends, with the task's mean cost."""
    means = Means.of(board.flat)
    level, scale = bottom(board.flat, means), means.scale

    def score(task: int, ready: Sequence[Any]) -> tuple[Any, int, Any]:
        if machine_rule == "eft":
            machine, start, end = board.earliest_finish(task, ready)
            return end * scale - means.weight[task] - level[task], machine, start
        machine, start, _ = board.earliest_start(task, ready)
        return start * scale - level[task], machine, start

    by_best_pair(board, score)


t_level = _static(_rising_t)
"""The least t-level first: those that can start early. Source: Chen 2001, section 2.3.2."""

b_level = _static(_falling_b)
"""The largest b-level first: the longest way to the end. Source: Chen 2001, section 2.3.2."""

static_b_level = _static(_falling_static_b)
"""The same without transfers. Source: Chen 2001, section 2.3.2."""

p_level = _static(_falling_p)
"""Of the ready tasks the longest first. Source: Chen 2001, section 2.3.2."""

b_minus_t = _static(_falling_b_minus_t)
"""The largest difference of b-level and t-level first. Source: Chen 2001, section 2.3.2."""

deadline_list = _static(_rising_slack)
"""The least deadline less static b-level first, over all graphs; those without a deadline last.

Source: Chen 2001, section 3.3.
"""

dynamic_t_level = _method(_earliest_pair)
"""After each placement the pair of ready task and machine that ends (or starts) first.

Source: Chen 2001, section 2.3.2; by starts it is ETF of Hwang, Chow, Anger and Lee 1989.
"""

dynamic_b_minus_t = _method(_highest_b_minus_start)
"""After each placement the pair of the largest b-level less start.

The t-level of a ready task is its earliest start as the plan stands; b-levels of what is not
placed do not change. By ends, the mean cost less the cost on the machine is added, as in DLS of
Sih and Lee 1993. Source: Chen 2001, section 2.3.2.
"""
