"""What a book of divisible tasks knows of the past, and what of it is still to come."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.problems.admission.data import Chunk


class NodeChange(NamedTuple):
    """A change of the nodes in service."""

    new: tuple[int, ...]
    """They are free from now on."""
    removed: tuple[int, ...]
    """They complete what has begun; other chunks on them are taken back."""
    failed: tuple[int, ...]
    """All chunks on them that are not over are taken back."""


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What a plan must start from: nodes, chunks that are not planned again, and loads that are.

    Parameters
    ----------
    ready : dict of int to Number
        When each node in service was ready first. Nodes out of service are not in it.
    channel : Number
        When the channel was ready first.
    chunks : tuple of Chunk
        Those that have begun, and those of tasks that are committed whole.
    waiting : tuple of QueuedTask
        Tasks with the loads that are to be planned.
    """

    ready: dict[int, Number]
    channel: Number
    chunks: tuple[Chunk, ...]
    waiting: tuple[QueuedTask, ...]

    def free_times(self, now: Number) -> dict[int, Number]:
        """Return when each node in service is free, not before an instant."""
        free = {node: max(ready, now) for node, ready in self.ready.items()}
        for chunk in self.chunks:
            end: Number = chunk.computation_end
            if free.get(chunk.node, end) < end:
                free[chunk.node] = end
        return free

    def channel_free(self, now: Number) -> Number:
        """Return when the channel is free, not before an instant."""
        return max((now, self.channel, *(chunk.transmission_end for chunk in self.chunks)))

    def chunks_of(self, identity: str) -> list[Chunk]:
        """Return the chunks of a task."""
        return [chunk for chunk in self.chunks if chunk.task == identity]

    def with_chunks(self, chunks: Iterable[Chunk]) -> Self:
        """Return the facts with further chunks."""
        return replace(self, chunks=(*self.chunks, *chunks))

    def with_waiting(self, *tasks: QueuedTask) -> Self:
        """Return the facts with further loads to plan."""
        more = (task for task in tasks if task.load > 0)
        return replace(self, waiting=tuple(sorted((*self.waiting, *more))))

    def without(self, identities: Collection[str]) -> Self:
        """Return the facts as if some tasks had never been there."""
        return replace(
            self,
            chunks=tuple(chunk for chunk in self.chunks if chunk.task not in identities),
            waiting=tuple(task for task in self.waiting if task.id not in identities),
        )

    def only(self, identities: Collection[str]) -> Self:
        """Return the facts as if no tasks but these had ever been there."""
        return replace(
            self,
            chunks=tuple(chunk for chunk in self.chunks if chunk.task in identities),
            waiting=tuple(task for task in self.waiting if task.id in identities),
        )

    def released(self, gone: Iterable[Chunk], tasks: Mapping[str, QueuedTask]) -> Self:
        """Return the facts with chunks taken back: their loads are to be planned again.

        Parameters
        ----------
        gone : iterable of Chunk
        tasks : mapping of str to QueuedTask
            The tasks that they belong to; their loads do not matter.
        """
        lost = list(gone)
        if not lost:
            return self
        waiting = {task.id: task for task in self.waiting}
        for chunk in lost:
            before = waiting.get(chunk.task, tasks[chunk.task]._replace(load=0 * chunk.load))
            waiting[chunk.task] = before._replace(load=before.load + chunk.load)
        kept = tuple(chunk for chunk in self.chunks if all(chunk is not one for one in lost))
        return replace(self, chunks=kept, waiting=()).with_waiting(*waiting.values())

    def with_late_end(self, identity: str, end: Number) -> Self:
        """Return the facts with a later end of the chunks of a task that end last."""
        latest = max(chunk.computation_end for chunk in self.chunks_of(identity))
        return replace(
            self,
            chunks=tuple(
                replace(chunk, computation_end=end)
                if chunk.task == identity and chunk.computation_end == latest
                else chunk
                for chunk in self.chunks
            ),
        )

    def without_overlaps(self, identity: str, tasks: Mapping[str, QueuedTask]) -> Self:
        """Return the facts with the chunks taken back whose nodes a task needs longer."""
        own = self.chunks_of(identity)
        return self.released(
            [
                chunk
                for chunk in self.chunks
                if chunk.task != identity
                and any(
                    chunk.node == other.node
                    and other.transmission_start <= chunk.transmission_start < other.computation_end
                    for other in own
                )
            ],
            tasks,
        )

    def with_nodes(self, change: NodeChange, now: Number, tasks: Mapping[str, QueuedTask]) -> Self:
        """Return the facts with other nodes from an instant on.

        Parameters
        ----------
        change : NodeChange
        now : Number
        tasks : mapping of str to QueuedTask
            As of `released`.
        """
        gone = {*change.removed, *change.failed}
        ready = {node: at for node, at in self.ready.items() if node not in gone}
        ready.update(dict.fromkeys(change.new, now))
        lost = [
            chunk
            for chunk in self.chunks
            if chunk.computation_end > now
            and (
                chunk.node in change.failed
                or (chunk.node in change.removed and chunk.transmission_start >= now)
            )
        ]
        return replace(self.released(lost, tasks), ready=ready)

    def not_begun(self, now: Number) -> Iterator[Chunk]:
        """Yield the chunks whose transmission has not begun before an instant."""
        return (chunk for chunk in self.chunks if chunk.transmission_start >= now)


def ended_at(chunks: Iterable[Chunk], now: Number, end: Number) -> Iterator[Chunk]:
    """Yield the chunks of a task that ends early.

    What has begun is cut off at the end; what has not is left out unless it ends by then.

    Examples
    --------
    >>> begun, later = Chunk("a", 0, 2, 0, 2, 2, 6), Chunk("a", 1, 1, 2, 3, 3, 7)
    >>> [(chunk.node, chunk.computation_end) for chunk in ended_at([begun, later], 1, 5)]
    [(0, 5)]
    """
    for chunk in chunks:
        if chunk.computation_end <= end:
            yield chunk
        elif chunk.transmission_start < now:
            yield replace(
                chunk,
                transmission_end=min(chunk.transmission_end, end),
                computation_start=min(chunk.computation_start, end),
                computation_end=end,
            )
