"""What a book learns about chunks in progress, where they may be in the way of reservations.

A chunk that ends late takes its node, or the channel, from what follows there: from reservations,
which get other nodes if they can, and are broken if not; and from chunks that are committed, whose
loads are planned again. A small part of a task that ends early frees nothing before it was to end:
else the time before a reservation could be divided into ever smaller chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from dlopt.arithmetic import Number
from dlopt.books import Consequences
from dlopt.heuristics.admission.chunk_progress import (
    MIN_REPLANNED_SHARE,
    ProgressBook,
    is_later,
)
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.heuristics.multistage.busy_intervals import ReservedWindow
from dlopt.heuristics.multistage.savable_reservation_book import SavableReservationBook
from dlopt.problems.admission.data import Chunk
from dlopt.problems.validated_record import NonNegative, Record


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
        return self._take_time(facts.released(kept_waiting(facts, self.now), self._queued), missed)

    def _progressed(self, chunk: Chunk, received: Number, computed: Number) -> Chunk:
        """Return a chunk with other ends, not earlier ones if it is small."""
        if chunk.load < MIN_REPLANNED_SHARE * self._queued[chunk.task].load:
            ends = _ChunkEnds(received, computed)
            received = max(self._cast(ends.received), chunk.transmission_end)
            computed = max(self._cast(ends.computed), chunk.computation_end)
        return super()._progressed(chunk, received, computed)


@dataclass(frozen=True, slots=True)
class _ChunkEnds(Record):
    received: NonNegative
    computed: NonNegative


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


def kept_waiting(facts: StreamFacts, now: Number) -> Iterator[Chunk]:
    """Yield the committed chunks whose node or channel is still used by what has begun."""
    begun = tuple(chunk for chunk in facts.chunks if chunk.transmission_start < now)
    busy = replace(facts, chunks=begun)
    free, channel = busy.free_times(now), busy.channel_free(now)
    for chunk in facts.not_begun(now):
        start: Number = chunk.transmission_start
        sends = chunk.transmission_end > start
        if start < free[chunk.node] or (sends and start < channel):
            yield chunk
