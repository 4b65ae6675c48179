"""What a book of divisible tasks learns about the chunks that are being sent or computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dlopt.arithmetic import Number, shown, simplest
from dlopt.books import Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.replanning_engine import ReplanningEngine
from dlopt.heuristics.admission.stream_facts import is_in_the_way
from dlopt.problems.admission.data import Chunk


class ProgressEngine(ReplanningEngine):
    """An engine that is told when a chunk ends earlier or later than planned."""

    def upcoming_chunks(self) -> tuple[Chunk, ...]:
        """Return the chunks that have not begun to be sent by now, in the order of their starts."""
        with self._lock:
            facts = self._facts()
            chunks = [*facts.not_begun(self.now), *self._planned_chunks()]
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
            Later ends may break promises, that to the task itself among them. A task that is only
            late because of what has begun is completed late, if no other promise is in its way.

        Raises
        ------
        InvalidInstanceError
            If an instant is no number, or impossible.
        NotApplicableError
            If the node has no such chunk, or the algorithm cannot plan again on a busy cluster.

        Notes
        -----
        What was planned stays where it is if the chunk leaves its node and the channel in time for
        it, unless it can be planned anew with all promises kept. Else the chunks that would be
        delayed are planned again, and as few promises as possible are broken.

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
            facts, order = self._facts(), tuple(self._decisions)
            former = self._chunk_on(identity, node)
            chunk = self._progressed(former, received, computed)
            facts = facts.with_chunk(former, chunk)
            task = self._queued[identity]
            if not self._delays(former, chunk, facts.not_begun(self.now)):
                self._free_time(facts)
                done = Consequences()
            else:
                done = self._take_time(facts.without_chunks_in_the_way(chunk, self._queued))
            self._sent = [one for one in self._sent if one is not former]
            late = chunk.computation_end > max(former.computation_end, task.deadline)
            broken = {*done.broken, identity} if late and self._promises else {*done.broken}
            return replace(done, broken=tuple(name for name in order if name in broken))

    def _delays(self, former: Chunk, chunk: Chunk, committed: Iterable[Chunk]) -> bool:
        """Tell whether a chunk that ends otherwise than before delays another one."""
        later = (
            chunk.transmission_end > former.transmission_end
            or chunk.computation_end > former.computation_end
        )
        return later and any(
            is_in_the_way(chunk, other) for other in (*committed, *self._planned_chunks())
        )

    def _chunk_on(self, identity: str, node: int) -> Chunk:
        """Return the chunk of a task that is being sent to a node or computed there."""
        for chunk in reversed(self._sent):
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
