"""The first instant at which several machines have so much free at once."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Protocol

from dlopt.calendar.profile_nodes import Instant, Units


class Profile(Protocol):
    """What is asked of an availability profile."""

    def earliest_start(
        self, amount: Units, duration: Instant, after: Instant, latest_end: Instant
    ) -> Instant | None:
        """Return the first instant with so much free for a duration, or None."""

    def run_end(self, amount: Units, start: Instant) -> Instant:
        """Return the first instant from `start` on with less than an amount."""


def earliest_common_start(
    profiles: Sequence[Profile],
    amounts: Sequence[Units],
    duration: Instant,
    after: Instant,
    latest_end: Instant,
) -> Instant | None:
    """Return the first instant from which on each amount is free on a profile of its own.

    Parameters
    ----------
    profiles : sequence of Profile
    amounts : sequence of Units
        Positive; one per profile that is needed.
    duration, after, latest_end : Number

    Returns
    -------
    Number or None
        None if there are too few profiles, or the latest end is too early.

    Notes
    -----
    An instant will do if and only if, for each of the amounts, at least as many profiles have so
    much free throughout as there are amounts that are no smaller: then the largest amount can go to
    any of its profiles, and so on. Each such condition alone bounds the start from below; they are
    raised in turn until all agree.

    Complexity: for one amount, O((m + r) (q + log m)) with m profiles, r runs that are too short or
    end too early on one of them, and q the time of a question to one profile. Different amounts
    take that for each, and again each time that one of them raises the start.

    Examples
    --------
    >>> from dlopt.calendar.profile_tree import ProfileTree
    >>> profiles = [ProfileTree([(0, 0), (start, 4)]) for start in (3, 1, 2)]
    >>> earliest_common_start(profiles, [2, 2], 5, 0, 100), profiles[1].change(4, 9, -3)
    (2, None)
    >>> earliest_common_start(profiles, [2, 2], 5, 0, 100)
    3
    >>> earliest_common_start(profiles, [4, 1, 1], 5, 0, 100)
    3
    """
    needs = {amount: count for count, amount in enumerate(sorted(amounts, reverse=True), 1)}
    start, agreed = after, 0
    while agreed < len(needs):
        for amount, count in needs.items():
            found = _first_with_one_amount(profiles, count, amount, duration, start, latest_end)
            if found is None:
                return None
            agreed = agreed + 1 if found == start else 1
            start = found
            if agreed >= len(needs):
                break
    return start


def _first_with_one_amount(
    profiles: Sequence[Profile],
    count: int,
    amount: Units,
    duration: Instant,
    after: Instant,
    latest_end: Instant,
) -> Instant | None:
    """Return the first instant at which a number of profiles have an amount for a duration.

    A sweep over the instants at which the amount becomes free on a profile, in their order.
    """
    waiting = []
    for index, profile in enumerate(profiles):
        start = profile.earliest_start(amount, duration, after, latest_end)
        if start is not None:
            waiting.append((start, index))
    heapify(waiting)
    running: list[tuple[Instant, int]] = []  # by the end of the run in which the sweep is
    while len(waiting) + len(running) >= count:
        while running and waiting[0][0] + duration > running[0][0]:
            run_end, index = heappop(running)
            start = profiles[index].earliest_start(amount, duration, run_end, latest_end)
            if start is not None:
                heappush(waiting, (start, index))
            # Runs are left in the order of their ends, so no start that comes later is earlier.
        start, index = heappop(waiting)
        heappush(running, (profiles[index].run_end(amount, start), index))
        if len(running) >= count:
            return start
    return None
