"""Identities with an instant each, from which those whose instant has come are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from dlopt.arithmetic import Number


class ExpiryQueue(dict[str, Number]):
    """Instants by identity, which are found in their order.

    Notes
    -----
    Complexity: O(log n) to set an instant and to take an identity; O(1) to remove one, whose entry
    stays in the queue until its instant has come.

    Examples
    --------
    >>> queue = ExpiryQueue()
    >>> queue["a"], queue["b"], queue["c"] = 5, 2, 3
    >>> del queue["c"]
    >>> queue["b"] = 4
    >>> list(queue.take_until(4)), list(queue.take_until(4)), dict(queue)
    (['b'], [], {'a': 5})
    """

    def __init__(self, instants: Iterable[tuple[str, Number]] = ()) -> None:
        super().__init__()
        self._heap: list[tuple[Number, str]] = []
        for identity, instant in instants:
            self[identity] = instant

    def __setitem__(self, identity: str, instant: Number) -> None:
        super().__setitem__(identity, instant)
        heappush(self._heap, (instant, identity))

    def __reduce__(self) -> tuple[type[ExpiryQueue], tuple[list[tuple[str, Number]]]]:
        """Copy and pickle the instants."""
        return ExpiryQueue, (list(self.items()),)

    def take_until(self, instant: Number) -> Iterator[str]:
        """Remove and yield the identities whose instant is not after this one."""
        while self._heap and self._heap[0][0] <= instant:
            yield from self._take_first()

    def take_before(self, instant: Number) -> Iterator[str]:
        """Remove and yield the identities whose instant is before this one."""
        while self._heap and self._heap[0][0] < instant:
            yield from self._take_first()

    def _take_first(self) -> Iterator[str]:
        due, identity = heappop(self._heap)
        if self.get(identity) == due:
            del self[identity]
            yield identity
