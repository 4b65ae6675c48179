"""Time decomposition: disjoint time windows in which threads move in one assignment at once.

A move changes requests that overlap the one it starts from, and machines as long as any of those
last. Time is cut at random places, again and again; requests whose moves would cross a cut wait, so
no two threads ever read or write the same entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dlopt.models.coreservation.requests import overlapping_requests
from dlopt.models.coreservation.ruin_and_recreate.moves import GAIN_TOLERANCE
from dlopt.models.coreservation.ruin_and_recreate.state import SearchState
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MIN_MOVABLE_SHARE = 1 / 2
"""Share of the requests that must be free to move at once; else each thread has an own assignment.

Chosen by hand: the other requests wait for another cut.
"""


class TimeWindow(NamedTuple):
    """What one thread may change.

    Parameters
    ----------
    centres : array of int
        Requests that moves may start from.
    parts : array of int
        All parts that may change.
    """

    centres: Any
    parts: Any


class TimeWindows:
    """Cuts time into windows for several threads.

    Parameters
    ----------
    scaled : ScaledInstance
        With at least one request.
    neighbours : sequence of sequence of int
        As `dlopt.models.coreservation.requests.overlapping_requests` returns them.
    threads : int
    """

    def __init__(
        self, scaled: ScaledInstance, neighbours: Sequence[Sequence[int]], threads: int
    ) -> None:
        requests, parts = scaled.requests, scaled.parts
        self.threads = threads
        self._move_spans = (
            np.array([min(requests[k].start for k in around) for around in neighbours]),
            np.array([max(requests[k].end for k in around) for around in neighbours]),
        )
        self._part_spans = (
            np.array([part.start for part in parts]),
            np.array([part.end for part in parts]),
        )
        self._starts = np.sort([request.start for request in requests])

    def cut(self, draw: float) -> list[TimeWindow]:
        """Return the windows of all threads that have requests to start from.

        There is a cut for each thread, and as many requests from one to the next; what is before
        the first cut and after the last belongs to the first thread. A number from 0 to 1 says
        where.
        """
        ranks = (np.arange(self.threads) + draw) / self.threads * len(self._starts)
        cuts = self._starts[ranks.astype(int)]
        pairs = zip(
            self._between(cuts, *self._move_spans),
            self._between(cuts, *self._part_spans),
            strict=True,
        )
        return [TimeWindow(centres, parts) for centres, parts in pairs if len(centres)]

    def _between(self, cuts: Any, start: Any, end: Any) -> list[Any]:
        """Return for each thread the spans in its windows that no cut crosses."""
        first = np.searchsorted(cuts, start, "right")
        owner = np.where(first == np.searchsorted(cuts, end), first % self.threads, -1)
        return [np.flatnonzero(owner == thread) for thread in range(self.threads)]

    @property
    def movable_share(self) -> float:
        """The share of the requests that are free to move at once."""
        return sum(len(window.centres) for window in self.cut(1 / 2)) / len(self._starts)


def max_parallel_windows(scaled: ScaledInstance, threads: int) -> int:
    """Return how many threads may move in one assignment, of so many at the most."""
    neighbours = overlapping_requests(scaled.requests) if threads > 1 else []
    for fewer in range(threads, 1, -1):
        if neighbours and TimeWindows(scaled, neighbours, fewer).movable_share >= MIN_MOVABLE_SHARE:
            return fewer
    return 1


def split_state(state: SearchState, windows: Sequence[TimeWindow]) -> list[SearchState]:
    """Return the state as each thread sees it, with buffers of its own."""
    buffers = ("neighbourhood", "raisable", "pending", "moved", "raise_candidates", "sort_keys")
    return [
        state._replace(
            value=np.full(2, state.value[0]),
            best_machine=state.machine.copy(),
            best_units=state.units.copy(),
            centres=window.centres,
            **{name: np.zeros_like(getattr(state, name)) for name in buffers},
        )
        for window in windows
    ]


def merge_states(
    state: SearchState, windows: Sequence[TimeWindow], states: Sequence[SearchState]
) -> None:
    """Add up the changes of all threads; their incumbents together may be the best assignment."""
    before = state.value[0]
    best = before + sum(own.value[1] - before for own in states)
    state.value[0] = before + sum(own.value[0] - before for own in states)
    if best > state.value[1] + GAIN_TOLERANCE:
        state.value[1] = best
        state.best_machine[:], state.best_units[:] = state.machine, state.units
        for (_, parts), own in zip(windows, states, strict=True):
            state.best_machine[parts] = own.best_machine[parts]
            state.best_units[parts] = own.best_units[parts]
