"""What a book with reservations knows of the past, and what of it is still to come."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.heuristics.admission.stream_facts import NodeChange, StreamFacts
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    ReservedWindow,
    TimedChunk,
)
from dlopt.problems.admission.data import Chunk
from dlopt.problems.multistage.data import Reservation


class AcceptedReservation(NamedTuple):
    """An accepted reservation."""

    content: Reservation
    """As it was submitted."""
    window: ReservedWindow
    """When it holds the channel and which nodes, as far as it is known now."""
    made: int
    """The place of the promise in the order of all promises."""

    @property
    def id(self) -> str:
        """Its identity."""
        return self.content.id

    def has_begun(self, now: Number) -> bool:
        """Tell whether it started before an instant."""
        return self.window.start < now


@dataclass(frozen=True, slots=True)
class ReservationFacts(StreamFacts):
    """What a plan must start from: as `StreamFacts`, with reservations.

    Parameters
    ----------
    reservations : tuple of AcceptedReservation
        Those that are not over.
    broken : tuple of AcceptedReservation
        Those that had begun on nodes that failed.
    """

    reservations: tuple[AcceptedReservation, ...] = ()
    broken: tuple[AcceptedReservation, ...] = ()

    def with_reservations(self, *changed: AcceptedReservation) -> Self:
        """Return the facts with reservations, in place of those that have their identities."""
        new = {one.id for one in changed}
        kept = (one for one in self.reservations if one.id not in new)
        return replace(self, reservations=(*kept, *changed))

    def without_reservations(self, identities: Collection[str]) -> Self:
        """Return the facts as if reservations had never been there."""
        kept = tuple(one for one in self.reservations if one.id not in identities)
        return replace(self, reservations=kept)

    def only_reservations(self, identities: Collection[str]) -> Self:
        """Return the facts as if no reservations but these had ever been there."""
        kept = tuple(one for one in self.reservations if one.id in identities)
        return replace(self, reservations=kept)

    def with_nodes(self, change: NodeChange, now: Number, tasks: Mapping[str, QueuedTask]) -> Self:
        """Return the facts with other nodes; what has begun on a node that fails is broken."""
        facts = StreamFacts.with_nodes(self, change, now, tasks)
        failed = set(change.failed)
        broken = tuple(
            one
            for one in self.reservations
            if one.has_begun(now) and not failed.isdisjoint(one.window.nodes)
        )
        facts = facts.without_reservations({one.id for one in broken})
        return replace(facts, broken=(*self.broken, *broken))

    def without_reserved_nodes(self, now: Number, tasks: Mapping[str, QueuedTask]) -> Self:
        """Return the facts with the chunks taken back that lie in reservations and can wait.

        These may have other nodes or end later than when the chunks were planned, but they hold the
        channel at no other time.
        """
        reserved = [(one.window, set(one.window.nodes)) for one in self.reservations]
        return self.released(
            [
                chunk
                for chunk in self.not_begun(now)
                if any(
                    chunk.node in nodes
                    and max(chunk.transmission_start, window.start)
                    < min(chunk.computation_end, window.end)
                    for window, nodes in reserved
                )
            ],
            tasks,
        )

    def fixed_intervals(self, now: Number) -> FixedIntervals:
        """Return when the nodes in service are busy with all that is not planned again."""
        index = {node: place for place, node in enumerate(self.ready)}
        # What is completed on a node out of service still occupies the channel.
        elsewhere = (chunk.transmission_end for chunk in self.chunks if chunk.node not in index)
        state = BusyIntervals.of(list(self.ready.values()), max((self.channel, *elsewhere)), now)
        chunks = tuple(
            timed(chunk, index[chunk.node]) for chunk in self.chunks if chunk.node in index
        )
        state.allocate(FixedPlan(chunks))
        for one in self.reservations:
            state.reserve(on_nodes(one.window, index))
        state.purge(now)
        return FixedIntervals(state, tuple(self.ready))


class FixedIntervals(NamedTuple):
    """When nodes are busy, and which node each of them is."""

    state: BusyIntervals
    nodes: tuple[int, ...]


def timed(chunk: Chunk, node: int) -> TimedChunk:
    """Return a chunk as the planner sees it, on another number of its node."""
    return TimedChunk(
        node, chunk.load, chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    )


def on_nodes(window: ReservedWindow, number: Mapping[int, int]) -> ReservedWindow:
    """Return a window with other numbers of its nodes, and without those that have none.

    Examples
    --------
    >>> on_nodes(ReservedWindow(0, 0, 4, (2, 5)), {5: 0}).nodes
    (0,)
    """
    return window._replace(nodes=tuple(sorted(number[n] for n in window.nodes if n in number)))
