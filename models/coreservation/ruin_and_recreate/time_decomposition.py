"""Stretches of time in which threads move in one plan at once: what one changes meets no other.

A move changes wishes that overlap the one it starts from, and machines as long as any of those
last. Time is cut at random places, again and again; wishes whose moves would cross a cut wait.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dlopt.models.coreservation.ruin_and_recreate.state import State
from dlopt.models.coreservation.scaled_instance import Case

_MOVABLE = 1 / 2
"""So many of the wishes must be free to move at once."""
_BETTER = 1e-12


class Region(NamedTuple):
    """What one thread may change.

    Parameters
    ----------
    centres : array of int
        Wishes that moves may start from.
    jobs : array of int
        All jobs that may change.
    """

    centres: Any
    jobs: Any


class Regions:
    """Cuts time for several threads.

    Parameters
    ----------
    case : Case
        With at least one wish.
    near : sequence of sequence of int
        As `near` returns it.
    threads : int
    """

    def __init__(self, case: Case, near: Sequence[Sequence[int]], threads: int) -> None:
        wishes, jobs = case.wishes, case.jobs
        self.threads = threads
        self._moves = (
            np.array([min(wishes[k].start for k in around) for around in near]),
            np.array([max(wishes[k].end for k in around) for around in near]),
        )
        self._jobs = np.array([job.start for job in jobs]), np.array([job.end for job in jobs])
        self._starts = np.sort([wish.start for wish in wishes])

    def cut(self, draw: float) -> list[Region]:
        """Return the regions of all threads that have wishes to start from.

        There is a cut for each thread, and as many wishes from one to the next; what is before the
        first cut and after the last belongs to the first thread. A number from 0 to 1 says where.
        """
        ranks = (np.arange(self.threads) + draw) / self.threads * len(self._starts)
        cuts = self._starts[ranks.astype(int)]
        pairs = zip(self._inside(cuts, *self._moves), self._inside(cuts, *self._jobs), strict=True)
        return [Region(centres, jobs) for centres, jobs in pairs if len(centres)]

    def _inside(self, cuts: Any, start: Any, end: Any) -> list[Any]:
        """Return for each thread what no cut crosses in its stretches of time."""
        first = np.searchsorted(cuts, start, "right")
        whose = np.where(first == np.searchsorted(cuts, end), first % self.threads, -1)
        return [np.flatnonzero(whose == thread) for thread in range(self.threads)]

    @property
    def movable(self) -> float:
        """How many of the wishes are free to move at once."""
        return sum(len(region.centres) for region in self.cut(1 / 2)) / len(self._starts)


def near(case: Case) -> list[list[int]]:
    """Return the wishes that share an instant with each, itself first."""
    starts = [wish.start for wish in case.wishes]
    longest = max((wish.end - wish.start for wish in case.wishes), default=0)
    found = []
    for centre, one in enumerate(case.wishes):
        first = bisect_right(starts, one.start - longest - 1)
        last = bisect_right(starts, one.end - 1)
        others = (k for k in range(first, last) if case.wishes[k].end > one.start)
        found.append([centre, *(k for k in others if k != centre)])
    return found


def at_once(case: Case, threads: int) -> int:
    """Return how many threads may move in one plan, of so many at the most."""
    around = near(case) if case.wishes and threads > 1 else []
    for fewer in range(threads, 1, -1):
        if around and Regions(case, around, fewer).movable >= _MOVABLE:
            return fewer
    return 1


def parted(state: State, regions: Sequence[Region]) -> list[State]:
    """Return the plan as each thread sees it, with room of its own to work in."""
    own = ("around", "involved", "waiting", "moved", "wanted", "keys")
    return [
        state._replace(
            worth=np.full(2, state.worth[0]),
            best_machine=state.machine.copy(),
            best_units=state.units.copy(),
            centres=region.centres,
            **{name: np.zeros_like(getattr(state, name)) for name in own},
        )
        for region in regions
    ]


def merge(state: State, regions: Sequence[Region], parts: Sequence[State]) -> None:
    """Add up what threads changed; the best plans of all regions together may be the best plan."""
    before = state.worth[0]
    best = before + sum(part.worth[1] - before for part in parts)
    state.worth[0] = before + sum(part.worth[0] - before for part in parts)
    if best > state.worth[1] + _BETTER:
        state.worth[1] = best
        state.best_machine[:], state.best_units[:] = state.machine, state.units
        for (_, jobs), part in zip(regions, parts, strict=True):
            state.best_machine[jobs] = part.best_machine[jobs]
            state.best_units[jobs] = part.best_units[jobs]
