"""Which reservations are kept after a failure or a late end, and on which nodes.

What has begun keeps its nodes. Of the others, a reservation whose nodes are still free keeps them;
the others that asked for a number of nodes get other ones, in the order in which they were made.
Mandatory reservations come first. Tasks give way: of those that have begun, too, what is not sent
yet is planned again where a reservation needs its node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.books import fewest_broken
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals, ReservedWindow
from dlopt.heuristics.multistage.reservation_facts import (
    AcceptedReservation,
    ReservationFacts,
    on_nodes,
)

MAX_PLACED_RESERVATIONS = 20_000
"""Reservations that are placed, over all trials, in search of a selection that breaks fewer. Chosen
by hand: about a second on a hundred nodes; with more, fewer reservations may be broken."""


class KeptReservations(NamedTuple):
    """Facts with the reservations that are kept."""

    facts: ReservationFacts
    broken: tuple[AcceptedReservation, ...]
    least: bool
    """Whether it is proven that no other selection breaks fewer."""


def keep_reservations(facts: ReservationFacts, now: Number) -> KeptReservations:
    """Break as few reservations as possible, mandatory ones first of all kept.

    Parameters
    ----------
    facts : ReservationFacts
        Their reservations may have nodes out of service, or overlap with what has begun.
    now : Number
    """
    begun = tuple(one for one in facts.reservations if one.has_begun(now))
    waiting = [one for one in facts.reservations if not one.has_begun(now)]
    waiting.sort(key=lambda one: one.made)
    kept = replace(facts, reservations=begun)
    broken: list[AcceptedReservation] = []
    least = True
    for mandatory in (True, False):
        group = [one for one in waiting if one.content.mandatory == mandatory]
        later = [one for one in waiting if mandatory and not one.content.mandatory]
        kept, lost, proven = _keep_group(kept, group, later, now)
        broken += lost
        least = least and proven
    return KeptReservations(kept, tuple(broken), least)


def _keep_group(
    facts: ReservationFacts,
    group: list[AcceptedReservation],
    later: list[AcceptedReservation],
    now: Number,
) -> KeptReservations:
    """Keep as many of a group as possible around the reservations of facts.

    Nodes that chunks which are not sent would use are taken late, those of later reservations last.
    """
    by_name = {one.id: one for one in group}
    placement = _Placement(facts, later, now)

    def first_to_miss(names: Sequence[str]) -> str | None:
        found = placement.place([by_name[name] for name in names])
        return found if isinstance(found, str) else None

    trials = MAX_PLACED_RESERVATIONS // max(len(group), 1)
    selection = fewest_broken(tuple(by_name), first_to_miss, trials=trials)
    placed = placement.place([by_name[name] for name in selection.kept])
    assert not isinstance(placed, str)  # the selection was placed before
    lost = tuple(by_name[name] for name in selection.broken)
    return KeptReservations(facts.with_reservations(*placed), lost, selection.least)


class _Placement:
    """Places reservations around what has begun and what is reserved already."""

    def __init__(
        self, facts: ReservationFacts, later: list[AcceptedReservation], now: Number
    ) -> None:
        begun = tuple(chunk for chunk in facts.chunks if chunk.transmission_start < now)
        fixed = replace(facts, chunks=begun).fixed_intervals(now)
        self._hard, self._nodes = fixed
        self._chunks = replace(facts, reservations=()).fixed_intervals(now).state
        self._later = (
            replace(facts, chunks=(), reservations=tuple(later)).fixed_intervals(now).state
        )
        self._index = {node: place for place, node in enumerate(self._nodes)}

    def place(self, group: Sequence[AcceptedReservation]) -> list[AcceptedReservation] | str:
        """Return reservations with the nodes that they get, or which one gets none."""
        state = self._hard.copy()
        placed: dict[str, AcceptedReservation] = {}
        for one in group:
            nodes = [self._index[node] for node in one.window.nodes if node in self._index]
            if len(nodes) == len(one.window.nodes) and _is_free(state, one.window, nodes):
                placed[one.id] = one
                state.reserve(on_nodes(one.window, self._index))
        for one in group:
            if one.id not in placed:
                window = self._other_nodes(state, one)
                if window is None:
                    return one.id
                state.reserve(on_nodes(window, self._index))
                placed[one.id] = one._replace(window=window)
        return [placed[one.id] for one in group]

    def _other_nodes(self, state: BusyIntervals, one: AcceptedReservation) -> ReservedWindow | None:
        """Return the window of a reservation on other nodes, if it may have any and they are free.

        It keeps those of its nodes that are free.
        """
        window = one.window
        if isinstance(one.content.nodes, tuple) or state.channel_busy(window.start, window.io_end):
            return None
        free = [
            place
            for place in range(len(self._nodes) - 1, -1, -1)
            if not state.node_busy(place, window.start, window.end)
        ]
        own = set(window.nodes)
        free.sort(
            key=lambda place: (
                self._nodes[place] not in own,
                self._later.node_busy(place, window.start, window.end),
                self._chunks.node_busy(place, window.start, window.end),
            )
        )
        if len(free) < len(window.nodes):
            return None
        chosen = free[: len(window.nodes)]
        return window._replace(nodes=tuple(sorted(self._nodes[place] for place in chosen)))


def _is_free(state: BusyIntervals, window: ReservedWindow, nodes: list[int]) -> bool:
    return not state.channel_busy(window.start, window.io_end) and not any(
        state.node_busy(node, window.start, window.end) for node in nodes
    )
