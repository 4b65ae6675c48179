"""What a book of divisible tasks learns about the chunks that are being sent or computed.

A chunk that ends early frees its node, and perhaps the channel, for what is planned from then on. A
chunk that ends late delays what follows on its node and on the channel: chunks of tasks that are
committed are sent later, in their order, and the other tasks are planned again. If that breaks
promises, what is committed and has not begun is planned again, too: of each task all of it, or, of
a task of which only a small part is left, nothing. Else a task whose costs are underestimated could
be divided into ever smaller chunks: those that stay are obstacles, and what is planned again is
divided once more to fit between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number, shown, simplest
from dlopt.books import Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.records import DeadlineMiss, Rejection
from dlopt.heuristics.admission.stream_book import StreamBook
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.problems.admission.data import Chunk

MIN_REPLANNED_SHARE = Fraction(1, 200)
"""A task of which a smaller share of the load has not begun to be sent is not planned again: its
chunks are sent later, if need be. Chosen by hand: a smaller one lets tasks be divided into more,
smaller chunks."""


class ProgressBook(StreamBook):
    """A book of tasks that takes reports of chunks that end earlier or later than planned."""

    def upcoming_chunks(self, until: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks that have not begun to be sent by now, in the order of their starts.

        Parameters
        ----------
        until : Number, optional
            Leave out those that start then or later, which saves time.
        """
        with self._lock:
            until = None if until is None else self._instant("until", until)
            facts = self._facts()
            planned = self._own(self.planner.chunks(until))
            chunks = [
                chunk
                for chunk in (*facts.not_begun(self.now), *planned)
                if until is None or chunk.transmission_start < until
            ]
            return tuple(sorted(chunks, key=lambda chunk: chunk.transmission_start))

    def progress(
        self, identity: str, node: int, *, received: Number, computed: Number
    ) -> Consequences:
        """Record when the chunk that a node has of a task is received and computed.

        Parameters
        ----------
        identity : str
        node : int
            To which a chunk of the task has begun to be sent; it is not over before now.
        received, computed : Number
            When its transmission and its computation end as far as is known now, earlier or later
            than the plan says. What is over cannot change.

        Returns
        -------
        Consequences
            Later ends may break promises, that to the task itself among them.

        Raises
        ------
        InvalidInstanceError
            If an instant is no number, or impossible.
        NotApplicableError
            If the node has no such chunk, or the algorithm cannot plan again on a busy cluster.

        Notes
        -----
        See `dlopt.heuristics.admission.progress_book`. As few promises as possible are broken. A
        task to which a promise is broken is given up, unless only what has begun of it is late.

        Examples
        --------
        >>> from dlopt import Admission
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(1, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=3, deadline=9)).accepted
        True
        >>> head.advance(4)  # the computation that was to take from 3 to 6 is done
        >>> head.progress("a", 0, received=3, computed=4).broken
        ()
        >>> head.submit(Task("b", arrival=4, load=2, deadline=4)).accepted
        True
        """
        with self._lock:
            self._require_sound()
            facts, former = self._facts(), self._chunk_on(identity, node)
            chunk = self._progressed(former, received, computed)
            ends = [former.computation_end]
            ends += [one.computation_end for one in facts.chunks_of(identity)]
            kept = (one for one in facts.chunks if one is not former)
            facts = replace(facts, chunks=(*kept, chunk))
            missed = self._missed(self._queued[identity], max(ends), chunk.computation_end)
            done = Consequences(missed)
            if self._delays(former, chunk, facts.not_begun(self.now)):
                done = self._take_delay(facts, missed)
            elif is_later(chunk, former) and isinstance(self._plan(facts), Rejection):
                self._commit_plan(facts)
            else:
                self._take_earlier_end(chunk, facts)
            self._sent.replace([one for one in self._sent if one is not former])
            return done

    def _delays(self, former: Chunk, chunk: Chunk, committed: Iterable[Chunk]) -> bool:
        """Tell whether a chunk that ends otherwise than before delays another one."""
        return is_later(chunk, former) and any(
            is_in_the_way(chunk, other) for other in (*committed, *self._planned_chunks())
        )

    def _take_earlier_end(self, chunk: Chunk, facts: StreamFacts) -> None:
        """Go on from facts in which a chunk ends no later than it was to end."""
        self._free_time(facts)

    def _commit_plan(self, facts: StreamFacts) -> None:
        """Go on from facts in which a chunk is late but in nobody's way, with the plan as it is.

        The former planner does not know of the late chunk: it could send new tasks to its node too
        early. So all that it plans is committed, and a new planner goes on from there.
        """
        committed = replace(facts.with_chunks(self._planned_chunks()), waiting=())
        self._install(committed, self._plan_nothing(committed))

    def _take_delay(self, facts: StreamFacts, missed: Collection[str]) -> Consequences:
        """Go on from facts in which a chunk is late, and break as few promises as possible."""
        released = facts.released(self._replannable_chunks(facts), self._queued)
        return self._break_fewest(facts, released, missed, self._delayed)

    def _replannable_chunks(self, facts: StreamFacts) -> list[Chunk]:
        """Return the committed chunks of the tasks of which enough has not begun to be sent."""
        committed = list(facts.not_begun(self.now))
        unsent: dict[str, Number] = {task.id: task.load for task in facts.waiting}
        for chunk in committed:
            unsent[chunk.task] = unsent.get(chunk.task, 0) + chunk.load
        return [
            chunk
            for chunk in committed
            if unsent[chunk.task] >= MIN_REPLANNED_SHARE * self._queued[chunk.task].load
        ]

    def _delayed(self, facts: StreamFacts) -> StreamFacts | Rejection:
        """Return facts with what has not begun sent when channel and nodes are free, in its order.

        If a promised task misses its deadline then, return the first that does.
        In floats, what is early by no more than rounding stays where it is.
        """
        begun = tuple(chunk for chunk in facts.chunks if chunk.transmission_start < self.now)
        busy = replace(facts, chunks=begun)
        free, channel = busy.free_times(self.now), busy.channel_free(self.now)
        delayed: list[Chunk] = []
        for chunk in sorted(facts.not_begun(self.now), key=lambda one: one.transmission_start):
            start: Number = max(chunk.transmission_start, free[chunk.node])
            if chunk.transmission_end > chunk.transmission_start:
                start = max(start, channel)
            start = self._possible_start(facts, chunk, start)
            by = start - chunk.transmission_start
            if self._is_after(start, chunk.transmission_start):
                chunk = replace(
                    chunk,
                    transmission_start=start,
                    transmission_end=chunk.transmission_end + by,
                    computation_start=chunk.computation_start + by,
                    computation_end=chunk.computation_end + by,
                )
            channel = max(channel, chunk.transmission_end)
            free[chunk.node] = max(free[chunk.node], chunk.computation_end)
            delayed.append(chunk)
        for chunk in delayed if self._promises else ():
            task = self._queued[chunk.task]
            if self._is_after(chunk.computation_end, task.deadline):
                return Rejection(task, DeadlineMiss(chunk.computation_end - task.deadline, "time"))
        return replace(facts, chunks=(*begun, *delayed))

    def _possible_start(self, facts: StreamFacts, chunk: Chunk, start: Number) -> Number:
        """Return when a chunk can be sent, from an instant on, for all that is no chunk."""
        return start

    def _chunk_on(self, identity: str, node: int) -> Chunk:
        """Return the chunk of a task that is being sent to a node or computed there."""
        for chunk in reversed(list(self._sent)):
            if (
                chunk.node == node
                and chunk.task == identity
                and chunk.transmission_start < self.now <= chunk.computation_end
            ):
                return chunk
        raise NotApplicableError(f"node {node} has no chunk of task {identity} at present")

    def _progressed(self, chunk: Chunk, received: Number, computed: Number) -> Chunk:
        """Return a chunk with other ends, or raise the faults of these."""
        end = self._instant("computed", computed)
        if chunk.transmission_end >= self.now:
            sent = self._instant("received", received)
        elif received == simplest(chunk.transmission_end):
            sent = chunk.transmission_end
        else:
            rule = f"must be {shown(simplest(chunk.transmission_end), 15)}: that is over"
            raise InvalidInstanceError([Fault("received", received, rule)])
        if end < sent:
            rule = f"must not lie before received, {shown(simplest(sent), 15)}"
            raise InvalidInstanceError([Fault("computed", computed, rule)])
        return replace(chunk, transmission_end=sent, computation_start=sent, computation_end=end)


def is_later(chunk: Chunk, former: Chunk) -> bool:
    """Tell whether a chunk occupies the channel or its node longer than before.

    Examples
    --------
    >>> former = Chunk("a", 0, 2, 0, 2, 2, 6)
    >>> is_later(Chunk("a", 0, 2, 0, 2, 2, 5), former)
    False
    >>> is_later(Chunk("a", 0, 2, 0, 3, 3, 6), former)
    True
    """
    return (
        chunk.transmission_end > former.transmission_end
        or chunk.computation_end > former.computation_end
    )


def is_in_the_way(sent: Chunk, later: Chunk) -> bool:
    """Tell whether a chunk in progress still uses the channel or the node of a later one.

    Examples
    --------
    >>> sent = Chunk("a", 0, 2, 0, 2, 2, 6)
    >>> is_in_the_way(sent, Chunk("b", 0, 1, 5, 6, 6, 7))
    True
    >>> is_in_the_way(sent, Chunk("b", 1, 1, 2, 3, 3, 4))
    False
    """
    start = later.transmission_start
    if start <= sent.transmission_start:
        return False
    on_channel = start < sent.transmission_end and later.transmission_end > start
    return on_channel or (later.node == sent.node and start < sent.computation_end)
