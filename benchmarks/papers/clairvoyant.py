"""Bracket of the clairvoyant optimum of a stream: a lower bound, and a feasible solution.

The bound is `bound-fluid`: no schedule with any number of chunks rejects less. The solution is that
of an online algorithm that gets only some tasks: the smaller ones up to some size, or those that it
can all accept, the smallest first. The other tasks are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from benchmarks.papers.fluid import fluid_bound
from dlopt.generation.paper_workloads import WORKLOADS
from dlopt.generation.workload import Workload
from dlopt.simulation import simulate

PLANNERS = ("edf-opr-mn", "edf-iit-2", "mwf-opr-mn")
"""They take turns; the best of their plans counts."""
SHARES = tuple(number / 20 for number in range(20, 9, -1))
"""Of the tasks that are shown, the smaller ones."""
_FINEST = 150
"""Groups of less than one in so many tasks are not taken apart."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a family of `WORKLOADS`."""

    family: str
    load: float
    seed: int
    parameters: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, family: str, load: float, seed: int, parameters: Mapping[str, Any]) -> Stream:
        """Return the stream of these parameters; those that have their defaults are left out."""
        usual = signature(WORKLOADS[family]).parameters
        given = {name: value for name, value in parameters.items() if value != usual[name].default}
        return cls(family, load, seed, tuple(sorted(given.items())))

    def drawn(self) -> Workload:
        """Return its tasks."""
        family = WORKLOADS[self.family]
        return family(seed=self.seed, system_load=self.load, **dict(self.parameters))


@dataclass(frozen=True, slots=True)
class Bracket:
    """Clairvoyant reject ratios of a stream: a lower bound `bound`, and an upper bound `found`."""

    stream: Stream
    tasks: int
    bound: float
    found: float


def bracket(stream: Stream) -> Bracket:
    """Bound the reject ratio of a stream from below, and from above by a plan that is checked."""
    workload = stream.drawn()
    count, found = len(workload), most_accepted(workload)
    if found == count:
        return Bracket(stream, count, 0.0, 0.0)
    bound = fluid_bound(workload.instance(), "accepted", count)
    return Bracket(stream, count, 1 - bound / count, 1 - found / count)


def most_accepted(workload: Workload) -> int:
    """Return how many tasks the best plan accepts that is found; it is checked.

    Raises
    ------
    RuntimeError
        If that plan breaks a rule.
    """
    order = sorted(range(len(workload)), key=workload.loads.__getitem__)
    tried = [
        (order[: round(share * len(order))], planner) for planner in PLANNERS for share in SHARES
    ]
    tried.insert(1, (accepted(workload, order, PLANNERS[0]), PLANNERS[0]))
    counts: list[int] = []
    for shown, planner in tried:
        counts.append(_count(substream(workload, shown), planner))
        if counts[-1] == len(order):
            break
    shown, planner = tried[counts.index(max(counts))]
    checked = simulate(substream(workload, shown), planner, check=True)
    if checked.violations or checked.tasks - checked.rejected != max(counts):
        raise RuntimeError(f"{planner} broke a rule: {checked}")
    return max(counts)


def _count(workload: Workload, planner: str) -> int:
    outcome = simulate(workload, planner)
    return outcome.tasks - outcome.rejected


def accepted(workload: Workload, order: list[int], planner: str) -> list[int]:
    """Return tasks that an algorithm accepts all of if it sees no others, by their positions.

    They come in the order that is given; what does not fit is taken apart, down to single tasks
    or, of long streams, to small groups.
    """
    kept: list[int] = []
    waiting = [order]
    while waiting:
        group = waiting.pop()
        if _count(substream(workload, [*kept, *group]), planner) == len(kept) + len(group):
            kept += group
        elif len(group) > 1 and len(group) * _FINEST > len(order):
            half = len(group) // 2
            waiting += [group[half:], group[:half]]
    return kept


def substream(workload: Workload, tasks: Iterable[int]) -> Workload:
    """Return a stream of some tasks only."""
    shown = sorted(tasks)
    arrivals, loads, deadlines = (
        tuple(column[i] for i in shown)
        for column in (workload.arrivals, workload.loads, workload.deadlines)
    )
    return replace(
        workload, arrivals=arrivals, loads=loads, deadlines=deadlines, realised_load=None
    )
