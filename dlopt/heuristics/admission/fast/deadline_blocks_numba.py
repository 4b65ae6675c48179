"""The tree of `deadline_tree` as sorted blocks in arrays, compiled for floats (extra ``fast``).

Blocks of up to `BLOCK_SIZE` tasks by deadline, each with the sum of its works and its least slack.
A query visits every block, which takes a microsecond for a thousand of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dlopt.heuristics.admission.fast.deadline_arrays_numba import (
    COUNT,
    DUE,
    FREE,
    ORDER,
    SUPPLY,
    WORK,
    Array,
    admit_task,
    append_task,
    find_overloaded,
    insert_task,
    remove_task,
    set_first_work,
    split_at,
    update_block,
)
from dlopt.heuristics.admission.fast.dispatcher import QueueEntry

BLOCK_SIZE = 256
"""Tasks of a block, at the most. Chosen by hand: an update costs O(size), a query O(n / size)."""
OVERLOADED_BATCH = 64
"""Overloaded tasks that one call of the compiled code returns, at the most. Chosen by hand."""


class DeadlineBlocks:
    """The waiting tasks: `dlopt.heuristics.admission.fast.deadline_tree.DeadlineTree` for floats.

    Complexity: O(n / size + size) for blocks of `BLOCK_SIZE`, all of it compiled.

    Examples
    --------
    >>> from dlopt.heuristics.admission.records import QueuedTask
    >>> blocks = DeadlineBlocks()
    >>> for number, (load, due) in enumerate([(3.0, 9.0), (1.0, 4.0), (2.0, 12.0)]):
    ...     blocks.insert(QueueEntry(QueuedTask((due, number), "", 0.0, load, due), load), due)
    >>> blocks.split((5.0, 0))
    (1.0, 6.0)
    """

    def __init__(self) -> None:
        self._entries: dict[int, QueueEntry] = {}
        self._first: QueueEntry | None = None
        self._found = np.empty(OVERLOADED_BATCH, dtype=np.int64)
        self._works = np.empty(OVERLOADED_BATCH)
        self._arrays = _arrays(16)
        self._removals: list[tuple[int, bool, bool]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[QueueEntry]:
        _, numbers, _, index, sizes = self._arrays
        for block in index[ORDER, : sizes[0]]:
            for number in numbers[block, : index[COUNT, block]]:
                yield self._entries[int(number)]

    def first(self) -> QueueEntry | None:
        """Return the task with the least key."""
        return self._first

    def split(self, key: tuple[float, int]) -> tuple[float, float | None]:
        """Return the work before a key, and the least slack after it, None if nothing is."""
        before, slack = split_at(*self._arrays, *key)
        return before, None if slack == np.inf else slack

    def overloaded_after(
        self, key: tuple[float, int], deficit: float
    ) -> Iterator[tuple[QueueEntry, float]]:
        """Yield the tasks after a key with more work up to them than supply less a deficit."""
        due, number = key
        while True:
            count = find_overloaded(*self._arrays, due, number, deficit, self._found, self._works)
            found = self._found[:count].tolist()
            for number, work in zip(found, self._works[:count].tolist(), strict=True):
                entry = self._entries[number]
                due = float(entry.task.key[0])
                yield entry, work
            if count < len(self._found):
                return
            number += 1

    def insert(self, entry: QueueEntry, supply: float) -> None:
        """Insert a task, with its remaining load as work."""
        self._reserve(1)
        insert_task(*self._arrays, *entry.task.key, entry.remaining, supply)
        self._note(entry)

    def load(self, entries: Sequence[QueueEntry], supplies: Sequence[float]) -> None:
        """Insert tasks in their order into empty blocks, which they fill by half."""
        size = BLOCK_SIZE // 2
        filled = -(-len(entries) // size)
        self._reserve(filled)
        cells, numbers, blocks, index, sizes = self._arrays
        for position in range(filled):
            chosen = slice(position * size, (position + 1) * size)
            part, sizes[1] = entries[chosen], sizes[1] - 1
            block = index[FREE, sizes[1]]
            index[ORDER, position], index[COUNT, block] = block, len(part)
            numbers[block, : len(part)] = [entry.task.key[1] for entry in part]
            cells[DUE, block, : len(part)] = [entry.task.key[0] for entry in part]
            cells[WORK, block, : len(part)] = [entry.remaining for entry in part]
            cells[SUPPLY, block, : len(part)] = supplies[chosen]
            update_block(cells, blocks, index, block)
        sizes[0] = filled
        for entry in entries:
            self._note(entry)

    def admit(self, entry: QueueEntry, supply: float, deficit: float) -> bool:
        """Insert a task unless the work up to it or a later one exceeds supply less deficit."""
        self._reserve(1)
        admitted: bool = admit_task(
            *self._arrays, *entry.task.key, entry.remaining, supply, deficit
        )
        if admitted:
            self._note(entry)
        return admitted

    def remove(self, key: tuple[float, int]) -> QueueEntry:
        """Remove a task, which must be there, by its key."""
        self._removals.append(remove_task(*self._arrays, *key))
        return self._forget(key[1])

    def reduce_first(self, work: float) -> None:
        """Change the work of the first task, or remove the task if no work is left."""
        if work:
            set_first_work(*self._arrays, float(work))
        else:
            assert self._first is not None
            due, number = self._first.task.key
            self.remove((float(due), number))

    def put_back(self, entry: QueueEntry, supply: float) -> None:
        """Undo the last removal of a task since `commit`: the blocks are those of before."""
        position, is_last, was_alone = self._removals.pop()
        if is_last:
            self._reserve(1)
            place = position, was_alone
            append_task(*self._arrays, *place, *entry.task.key, entry.remaining, supply)
            self._note(entry)
        else:
            self.insert(entry, supply)

    def commit(self) -> None:
        """Forget how to put back what was removed."""
        self._removals.clear()

    def _forget(self, number: int) -> QueueEntry:
        entry = self._entries.pop(number)
        if entry is self._first:
            self._first = next(iter(self), None)
        return entry

    def _note(self, entry: QueueEntry) -> None:
        self._entries[entry.task.key[1]] = entry
        if self._first is None or entry.task.key < self._first.task.key:
            self._first = entry

    def _reserve(self, free: int) -> None:
        """Double the number of blocks until so many are free."""
        while self._arrays[-1][1] < free:
            cells, numbers, blocks, index, sizes = self._arrays
            old = numbers.shape[0]
            larger = _arrays(2 * old)
            larger[0][:, :old], larger[1][:old], larger[2][:, :old] = cells, numbers, blocks
            larger[3][:, :old] = index
            larger[3][FREE, sizes[1] : sizes[1] + old] = np.arange(old, 2 * old)
            larger[4][:] = sizes[0], sizes[1] + old
            self._arrays = larger


def _arrays(blocks: int) -> tuple[Array, ...]:
    index = np.zeros((3, blocks), dtype=np.int64)
    index[FREE] = np.arange(blocks)
    return (
        np.zeros((3, blocks, BLOCK_SIZE)),
        np.zeros((blocks, BLOCK_SIZE), dtype=np.int64),
        np.zeros((2, blocks)),
        index,
        np.array([0, blocks], dtype=np.int64),
    )
