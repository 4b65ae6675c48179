"""What a book learns about chunks in progress, where they may be in the way of reservations.

A chunk that ends late takes its node, or the channel, from what follows there: from reservations,
which get other nodes if they can, and are broken if not; and from chunks that are committed, which
are sent later, around the reservations. Where a small part of a task ends early, nothing is planned
again: else the time before a reservation could be divided into ever smaller chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dlopt.arithmetic import Number
from dlopt.books import Consequences
from dlopt.heuristics.admission.progress_book import (
    MIN_REPLANNED_SHARE,
    ProgressBook,
    is_later,
)
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.heuristics.multistage.busy_intervals import ReservedWindow
from dlopt.heuristics.multistage.reservation_facts import ReservationFacts
from dlopt.heuristics.multistage.savable_reservation_book import SavableReservationBook
from dlopt.problems.admission.data import Chunk


class ReservationProgressBook(ProgressBook, SavableReservationBook):
    """A book of tasks and reservations that takes reports of chunks that end early or late."""

    def _delays(self, former: Chunk, chunk: Chunk, committed: Iterable[Chunk]) -> bool:
        """Tell whether a chunk that ends otherwise than before delays a chunk or a reservation."""
        if super()._delays(former, chunk, committed):
            return True
        waiting = (one for one in self._accepted.values() if not one.has_begun(self.now))
        return is_later(chunk, former) and any(reaches_into(chunk, one.window) for one in waiting)

    def _take_delay(self, facts: StreamFacts, missed: Collection[str]) -> Consequences:
        """Go on from facts in which a chunk is late, and break as few promises as possible."""

        def break_tasks(kept: StreamFacts) -> Consequences:
            return super(ReservationProgressBook, self)._take_delay(kept, missed)

        return self._break_around_reservations(facts, break_tasks)

    def _possible_start(self, facts: StreamFacts, chunk: Chunk, start: Number) -> Number:
        """Return when a chunk can be sent, from an instant on, around the reservations.

        In floats, it may be sent where it reaches into one by no more than rounding.
        """
        assert isinstance(facts, ReservationFacts)
        sends = chunk.transmission_end - chunk.transmission_start
        lasts = chunk.computation_end - chunk.transmission_start
        uses = [
            (one.window.start, one.window.end, lasts)
            for one in facts.reservations
            if chunk.node in one.window.nodes
        ]
        if sends:
            uses += [(one.window.start, one.window.io_end, sends) for one in facts.reservations]
        before = None
        while before != start:
            before = start
            for begin, end, length in uses:
                if self._is_after(end, max(start, begin)) and self._is_after(start + length, begin):
                    start = end
        return start

    def _take_earlier_end(self, chunk: Chunk, facts: StreamFacts) -> None:
        """Go on from facts in which a chunk ends early, with the plan as it is if it is small."""
        if chunk.load < MIN_REPLANNED_SHARE * self._queued[chunk.task].load:
            self._keep(facts)
        else:
            super()._take_earlier_end(chunk, facts)


def reaches_into(chunk: Chunk, window: ReservedWindow) -> bool:
    """Tell whether a chunk uses a node or the channel while it is reserved.

    Examples
    --------
    >>> chunk = Chunk("a", 0, 2, 0, 2, 2, 6)
    >>> [reaches_into(chunk, ReservedWindow(5, 5, 9, nodes)) for nodes in ((0,), (1,))]
    [True, False]
    >>> reaches_into(chunk, ReservedWindow(1, 3, 9, (1,)))
    True
    """
    start, sent = chunk.transmission_start, chunk.transmission_end
    on_channel = max(start, window.start) < min(sent, window.io_end)
    on_node = max(start, window.start) < min(chunk.computation_end, window.end)
    return on_channel or (chunk.node in window.nodes and on_node)
