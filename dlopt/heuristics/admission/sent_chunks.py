"""The chunks that a book has sent, by task, and when those of each task have ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlopt.arithmetic import Number
from dlopt.books import ExpiryQueue
from dlopt.problems.admission.data import Chunk


class SentChunks:
    """Chunks by task.

    Notes
    -----
    Complexity: O(log n) to add a chunk and to find a task that has ended, with `n` tasks.

    Examples
    --------
    >>> sent = SentChunks([Chunk("a", 0, 1, 0, 1, 1, 4), Chunk("b", 1, 1, 1, 2, 2, 3)])
    >>> list(sent.take_ended(3)), [chunk.task for chunk in sent.take("b")]
    (['b'], ['b'])
    >>> [chunk.task for chunk in sent]
    ['a']
    """

    def __init__(self, chunks: Iterable[Chunk] = ()) -> None:
        self._by_task: dict[str, list[Chunk]] = {}
        self._ends = ExpiryQueue()
        self.add(chunks)

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks."""
        for chunk in chunks:
            task, end = chunk.task, chunk.computation_end
            known = self._by_task.get(task)
            if known is None:
                self._by_task[task] = [chunk]
            else:
                known.append(chunk)
            before = self._ends.get(task)
            if before is None or before < end:
                self._ends[task] = end

    def replace(self, chunks: Iterable[Chunk]) -> None:
        """Have these chunks instead; tasks without any still end when they were noted to end."""
        self._by_task = {}
        latest: dict[str, Number] = {}
        for chunk in chunks:
            self._by_task.setdefault(chunk.task, []).append(chunk)
            end = latest.get(chunk.task, chunk.computation_end)
            latest[chunk.task] = max(end, chunk.computation_end)
        for task, end in latest.items():
            self._ends[task] = end

    def __iter__(self) -> Iterator[Chunk]:
        """Yield all chunks in the order of their transmissions."""
        chunks = [chunk for chunks in self._by_task.values() for chunk in chunks]
        return iter(sorted(chunks, key=_transmission_start))

    def __contains__(self, task: str) -> bool:
        return task in self._by_task

    def take_ended(self, now: Number) -> Iterator[str]:
        """Yield each task once of which all chunks have ended, until further ones are added."""
        return self._ends.take_until(now)

    def note_end(self, task: str, end: Number) -> None:
        """Record that a task, which may have no chunks, ends at an instant."""
        self._ends[task] = end

    def take(self, task: str) -> list[Chunk]:
        """Return the chunks of a task, and forget them."""
        self._ends.pop(task, None)
        return self._by_task.pop(task, [])


def _transmission_start(chunk: Chunk) -> Number:
    return chunk.transmission_start
