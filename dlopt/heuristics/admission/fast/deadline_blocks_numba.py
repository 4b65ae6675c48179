"""The tree of `deadline_tree` as sorted blocks in arrays, compiled for floats (extra ``fast``).

Blocks of up to `BLOCK_SIZE` tasks by deadline, each with the sum of its works and its least slack.
A query visits every block, which takes a microsecond for a thousand of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dlopt.heuristics.admission.fast.dispatcher import QueueEntry

BLOCK_SIZE = 256
"""Tasks of a block, at the most. Chosen by hand: an update costs O(size), a query O(n / size)."""
_DUE, _WORK, _SUPPLY = range(3)
_SUM, _SLACK = range(2)
_COUNT, _ORDER, _FREE = range(3)
OVERLOADED_BATCH = 64
"""Overloaded tasks that one call of the compiled code returns, at the most. Chosen by hand."""

Array: TypeAlias = NDArray[Any]

_compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True)

# Arguments of all functions below: `cells[what, block, place]` and `numbers[block, place]` of the
# tasks; `blocks[what, block]`; `index[_COUNT, block]`, `index[_ORDER, position]`,
# `index[_FREE, ...]`; `sizes` has how many blocks are in order, and how many are free. One by one,
# because a tuple of arrays takes numba microseconds more.


@_compiled
def _place(  # pragma: no cover
    cells: Array, numbers: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[int, int]:
    """Return position and place of the first task that is not before a key."""
    low, high = 0, sizes[0]
    while low < high:
        middle = (low + high) // 2
        block = index[_ORDER, middle]
        last = index[_COUNT, block] - 1
        at = cells[_DUE, block, last]
        if at < due or (at == due and numbers[block, last] < number):
            low = middle + 1
        else:
            high = middle
    position = low
    if position == sizes[0]:
        return position, 0
    block = index[_ORDER, position]
    low, high = 0, index[_COUNT, block]
    while low < high:
        middle = (low + high) // 2
        at = cells[_DUE, block, middle]
        if at < due or (at == due and numbers[block, middle] < number):
            low = middle + 1
        else:
            high = middle
    return position, low


@_compiled
def _update_block(  # pragma: no cover
    cells: Array, blocks: Array, index: Array, block: int
) -> None:
    """Recompute the sum of works and the least slack of a block."""
    work, slack = 0.0, np.inf
    for i in range(index[_COUNT, block]):
        work += cells[_WORK, block, i]
        slack = min(slack, cells[_SUPPLY, block, i] - work)
    blocks[_SUM, block], blocks[_SLACK, block] = work, slack


@_compiled
def _split(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[float, float]:
    """Return the work before a key, and the least slack after it."""
    position, place = _place(cells, numbers, index, sizes, due, number)
    before = 0.0
    for p in range(position):
        before += blocks[_SUM, index[_ORDER, p]]
    if position == sizes[0]:
        return before, np.inf
    block = index[_ORDER, position]
    for i in range(place):
        before += cells[_WORK, block, i]
    work, slack = 0.0, np.inf
    for i in range(place, index[_COUNT, block]):
        work += cells[_WORK, block, i]
        slack = min(slack, cells[_SUPPLY, block, i] - work)
    for p in range(position + 1, sizes[0]):
        block = index[_ORDER, p]
        slack = min(slack, blocks[_SLACK, block] - work)
        work += blocks[_SUM, block]
    return before, slack


@_compiled
def _overloaded_after(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    sizes: Array,
    due: float,
    number: int,
    deficit: float,
    found: Array,
    works: Array,
) -> int:
    """Fill `found` and `works` with tasks after a key that are overloaded with a deficit."""
    position, place = _place(cells, numbers, index, sizes, due, number)
    work, count = 0.0, 0
    for p in range(position):
        work += blocks[_SUM, index[_ORDER, p]]
    for p in range(position, sizes[0]):
        block = index[_ORDER, p]
        first = place if p == position else 0
        for i in range(first):
            work += cells[_WORK, block, i]
        if first == 0 and deficit + work <= blocks[_SLACK, block]:
            work += blocks[_SUM, block]
            continue
        for i in range(first, index[_COUNT, block]):
            work += cells[_WORK, block, i]
            if deficit + work > cells[_SUPPLY, block, i]:
                found[count], works[count] = numbers[block, i], work
                count += 1
                if count == len(found):
                    return count
    return count


@_compiled
def _insert(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    sizes: Array,
    due: float,
    number: int,
    work: float,
    supply: float,
) -> None:
    """Insert a task; at least one block must be free."""
    position, place = _place(cells, numbers, index, sizes, due, number)
    if position == sizes[0]:
        if position == 0:
            sizes[1] -= 1
            block = index[_FREE, sizes[1]]
            index[_ORDER, 0], index[_COUNT, block] = block, 0
            sizes[0] = 1
        else:
            position -= 1
        place = index[_COUNT, index[_ORDER, position]]
    block = index[_ORDER, position]
    count = index[_COUNT, block]
    if count == numbers.shape[1]:
        sizes[1] -= 1
        other, half = index[_FREE, sizes[1]], count // 2
        for i in range(half, count):
            numbers[other, i - half] = numbers[block, i]
            for what in range(3):
                cells[what, other, i - half] = cells[what, block, i]
        index[_COUNT, block], index[_COUNT, other] = half, count - half
        for p in range(sizes[0], position + 1, -1):
            index[_ORDER, p] = index[_ORDER, p - 1]
        index[_ORDER, position + 1] = other
        sizes[0] += 1
        _update_block(cells, blocks, index, other)
        if place > half:
            _update_block(cells, blocks, index, block)
            block, place = other, place - half
        count = index[_COUNT, block]
    for i in range(count, place, -1):
        numbers[block, i] = numbers[block, i - 1]
        for what in range(3):
            cells[what, block, i] = cells[what, block, i - 1]
    numbers[block, place] = number
    cells[_DUE, block, place] = due
    cells[_WORK, block, place] = work
    cells[_SUPPLY, block, place] = supply
    index[_COUNT, block] = count + 1
    _update_block(cells, blocks, index, block)


@_compiled
def _admit(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    sizes: Array,
    due: float,
    number: int,
    work: float,
    supply: float,
    deficit: float,
) -> bool:
    """Insert a task unless some slack is too small then."""
    before, slack = _split(cells, numbers, blocks, index, sizes, due, number)
    owed = deficit + before + work
    if owed > supply or owed > slack:
        return False
    _insert(cells, numbers, blocks, index, sizes, due, number, work, supply)
    return True


@_compiled
def _delete(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    sizes: Array,
    position: int,
    place: int,
) -> bool:
    """Delete the task at a place of the block at a position, and the block if it was the last.

    Return whether it was the last of its block in the order: an insertion may choose another.
    """
    block = index[_ORDER, position]
    count = index[_COUNT, block] - 1
    index[_COUNT, block] = count
    for i in range(place, count):
        numbers[block, i] = numbers[block, i + 1]
        for what in range(3):
            cells[what, block, i] = cells[what, block, i + 1]
    if count == 0:
        sizes[0] -= 1
        for p in range(position, sizes[0]):
            index[_ORDER, p] = index[_ORDER, p + 1]
        index[_FREE, sizes[1]] = block
        sizes[1] += 1
    else:
        _update_block(cells, blocks, index, block)
    is_last: bool = place == count
    return is_last


@_compiled
def _append(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    sizes: Array,
    position: int,
    is_new: bool,
    due: float,
    number: int,
    work: float,
    supply: float,
) -> None:
    """Insert a task as the last of the block at a position, or alone in a new block there."""
    if is_new:
        sizes[1] -= 1
        block = index[_FREE, sizes[1]]
        for p in range(sizes[0], position, -1):
            index[_ORDER, p] = index[_ORDER, p - 1]
        index[_ORDER, position], index[_COUNT, block] = block, 0
        sizes[0] += 1
    block = index[_ORDER, position]
    place = index[_COUNT, block]
    numbers[block, place] = number
    cells[_DUE, block, place] = due
    cells[_WORK, block, place] = work
    cells[_SUPPLY, block, place] = supply
    index[_COUNT, block] = place + 1
    _update_block(cells, blocks, index, block)


@_compiled
def _reduce_first(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, work: float
) -> None:
    """Change the work of the first task."""
    block = index[_ORDER, 0]
    cells[_WORK, block, 0] = work
    _update_block(cells, blocks, index, block)


@_compiled
def _remove(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[int, bool, bool]:
    """Remove the task with a key.

    Return the position of its block, whether it was the last of it, and whether it was alone.
    """
    position, place = _place(cells, numbers, index, sizes, due, number)
    before = sizes[0]
    is_last = _delete(cells, numbers, blocks, index, sizes, position, place)
    return position, is_last, sizes[0] < before


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
        for block in index[_ORDER, : sizes[0]]:
            for number in numbers[block, : index[_COUNT, block]]:
                yield self._entries[int(number)]

    def first(self) -> QueueEntry | None:
        """Return the task with the least key."""
        return self._first

    def split(self, key: tuple[float, int]) -> tuple[float, float | None]:
        """Return the work before a key, and the least slack after it, None if nothing is."""
        before, slack = _split(*self._arrays, *key)
        return before, None if slack == np.inf else slack

    def overloaded_after(
        self, key: tuple[float, int], deficit: float
    ) -> Iterator[tuple[QueueEntry, float]]:
        """Yield the tasks after a key with more work up to them than supply less a deficit."""
        due, number = key
        while True:
            count = _overloaded_after(*self._arrays, due, number, deficit, self._found, self._works)
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
        _insert(*self._arrays, *entry.task.key, entry.remaining, supply)
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
            block = index[_FREE, sizes[1]]
            index[_ORDER, position], index[_COUNT, block] = block, len(part)
            numbers[block, : len(part)] = [entry.task.key[1] for entry in part]
            cells[_DUE, block, : len(part)] = [entry.task.key[0] for entry in part]
            cells[_WORK, block, : len(part)] = [entry.remaining for entry in part]
            cells[_SUPPLY, block, : len(part)] = supplies[chosen]
            _update_block(cells, blocks, index, block)
        sizes[0] = filled
        for entry in entries:
            self._note(entry)

    def admit(self, entry: QueueEntry, supply: float, deficit: float) -> bool:
        """Insert a task unless the work up to it or a later one exceeds supply less deficit."""
        self._reserve(1)
        admitted: bool = _admit(*self._arrays, *entry.task.key, entry.remaining, supply, deficit)
        if admitted:
            self._note(entry)
        return admitted

    def remove(self, key: tuple[float, int]) -> QueueEntry:
        """Remove a task, which must be there, by its key."""
        self._removals.append(_remove(*self._arrays, *key))
        return self._forget(key[1])

    def reduce_first(self, work: float) -> None:
        """Change the work of the first task, or remove the task if no work is left."""
        if work:
            _reduce_first(*self._arrays, float(work))
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
            _append(*self._arrays, *place, *entry.task.key, entry.remaining, supply)
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
            larger[3][_FREE, sizes[1] : sizes[1] + old] = np.arange(old, 2 * old)
            larger[4][:] = sizes[0], sizes[1] + old
            self._arrays = larger


def _arrays(blocks: int) -> tuple[Array, ...]:
    index = np.zeros((3, blocks), dtype=np.int64)
    index[_FREE] = np.arange(blocks)
    return (
        np.zeros((3, blocks, BLOCK_SIZE)),
        np.zeros((blocks, BLOCK_SIZE), dtype=np.int64),
        np.zeros((2, blocks)),
        index,
        np.array([0, blocks], dtype=np.int64),
    )
