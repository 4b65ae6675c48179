"""Compiled functions on sorted blocks of tasks in arrays, for `deadline_blocks_numba`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

DUE, WORK, SUPPLY = range(3)
SUM, SLACK = range(2)
COUNT, ORDER, FREE = range(3)

Array: TypeAlias = NDArray[Any]

_compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True)

# Arguments of all functions below: `cells[what, block, place]` and `numbers[block, place]` of the
# tasks; `blocks[what, block]`; `index[COUNT, block]`, `index[ORDER, position]`,
# `index[FREE, ...]`; `sizes` has how many blocks are in order, and how many are free. One by one,
# because a tuple of arrays takes numba microseconds more.


@_compiled
def find_place(  # pragma: no cover
    cells: Array, numbers: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[int, int]:
    """Return position and place of the first task that is not before a key."""
    low, high = 0, sizes[0]
    while low < high:
        middle = (low + high) // 2
        block = index[ORDER, middle]
        last = index[COUNT, block] - 1
        at = cells[DUE, block, last]
        if at < due or (at == due and numbers[block, last] < number):
            low = middle + 1
        else:
            high = middle
    position = low
    if position == sizes[0]:
        return position, 0
    block = index[ORDER, position]
    low, high = 0, index[COUNT, block]
    while low < high:
        middle = (low + high) // 2
        at = cells[DUE, block, middle]
        if at < due or (at == due and numbers[block, middle] < number):
            low = middle + 1
        else:
            high = middle
    return position, low


@_compiled
def update_block(  # pragma: no cover
    cells: Array, blocks: Array, index: Array, block: int
) -> None:
    """Recompute the sum of works and the least slack of a block."""
    work, slack = 0.0, np.inf
    for i in range(index[COUNT, block]):
        work += cells[WORK, block, i]
        slack = min(slack, cells[SUPPLY, block, i] - work)
    blocks[SUM, block], blocks[SLACK, block] = work, slack


@_compiled
def split_at(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[float, float]:
    """Return the work before a key, and the least slack after it."""
    position, place = find_place(cells, numbers, index, sizes, due, number)
    before = 0.0
    for p in range(position):
        before += blocks[SUM, index[ORDER, p]]
    if position == sizes[0]:
        return before, np.inf
    block = index[ORDER, position]
    for i in range(place):
        before += cells[WORK, block, i]
    work, slack = 0.0, np.inf
    for i in range(place, index[COUNT, block]):
        work += cells[WORK, block, i]
        slack = min(slack, cells[SUPPLY, block, i] - work)
    for p in range(position + 1, sizes[0]):
        block = index[ORDER, p]
        slack = min(slack, blocks[SLACK, block] - work)
        work += blocks[SUM, block]
    return before, slack


@_compiled
def find_overloaded(  # pragma: no cover
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
    position, place = find_place(cells, numbers, index, sizes, due, number)
    work, count = 0.0, 0
    for p in range(position):
        work += blocks[SUM, index[ORDER, p]]
    for p in range(position, sizes[0]):
        block = index[ORDER, p]
        first = place if p == position else 0
        for i in range(first):
            work += cells[WORK, block, i]
        if first == 0 and deficit + work <= blocks[SLACK, block]:
            work += blocks[SUM, block]
            continue
        for i in range(first, index[COUNT, block]):
            work += cells[WORK, block, i]
            if deficit + work > cells[SUPPLY, block, i]:
                found[count], works[count] = numbers[block, i], work
                count += 1
                if count == len(found):
                    return count
    return count


@_compiled
def place_task(  # pragma: no cover
    cells: Array,
    numbers: Array,
    blocks: Array,
    index: Array,
    block: int,
    place: int,
    due: float,
    number: int,
    work: float,
    supply: float,
) -> None:
    """Put a task at a place of a block that is not full, before those that are there."""
    count = index[COUNT, block]
    for i in range(count, place, -1):
        numbers[block, i] = numbers[block, i - 1]
        for what in range(3):
            cells[what, block, i] = cells[what, block, i - 1]
    numbers[block, place] = number
    cells[DUE, block, place] = due
    cells[WORK, block, place] = work
    cells[SUPPLY, block, place] = supply
    index[COUNT, block] = count + 1
    update_block(cells, blocks, index, block)


@_compiled
def insert_task(  # pragma: no cover
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
    position, place = find_place(cells, numbers, index, sizes, due, number)
    if position == sizes[0]:
        if position == 0:
            sizes[1] -= 1
            block = index[FREE, sizes[1]]
            index[ORDER, 0], index[COUNT, block] = block, 0
            sizes[0] = 1
        else:
            position -= 1
        place = index[COUNT, index[ORDER, position]]
    block = index[ORDER, position]
    count = index[COUNT, block]
    if count == numbers.shape[1]:
        sizes[1] -= 1
        other, half = index[FREE, sizes[1]], count // 2
        for i in range(half, count):
            numbers[other, i - half] = numbers[block, i]
            for what in range(3):
                cells[what, other, i - half] = cells[what, block, i]
        index[COUNT, block], index[COUNT, other] = half, count - half
        for p in range(sizes[0], position + 1, -1):
            index[ORDER, p] = index[ORDER, p - 1]
        index[ORDER, position + 1] = other
        sizes[0] += 1
        update_block(cells, blocks, index, other)
        if place > half:
            update_block(cells, blocks, index, block)
            block, place = other, place - half
    place_task(cells, numbers, blocks, index, block, place, due, number, work, supply)


@_compiled
def admit_task(  # pragma: no cover
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
    before, slack = split_at(cells, numbers, blocks, index, sizes, due, number)
    owed = deficit + before + work
    if owed > supply or owed > slack:
        return False
    insert_task(cells, numbers, blocks, index, sizes, due, number, work, supply)
    return True


@_compiled
def delete_task(  # pragma: no cover
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
    block = index[ORDER, position]
    count = index[COUNT, block] - 1
    index[COUNT, block] = count
    for i in range(place, count):
        numbers[block, i] = numbers[block, i + 1]
        for what in range(3):
            cells[what, block, i] = cells[what, block, i + 1]
    if count == 0:
        sizes[0] -= 1
        for p in range(position, sizes[0]):
            index[ORDER, p] = index[ORDER, p + 1]
        index[FREE, sizes[1]] = block
        sizes[1] += 1
    else:
        update_block(cells, blocks, index, block)
    is_last: bool = place == count
    return is_last


@_compiled
def append_task(  # pragma: no cover
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
        block = index[FREE, sizes[1]]
        for p in range(sizes[0], position, -1):
            index[ORDER, p] = index[ORDER, p - 1]
        index[ORDER, position], index[COUNT, block] = block, 0
        sizes[0] += 1
    block = index[ORDER, position]
    place = index[COUNT, block]
    place_task(cells, numbers, blocks, index, block, place, due, number, work, supply)


@_compiled
def set_first_work(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, work: float
) -> None:
    """Change the work of the first task."""
    block = index[ORDER, 0]
    cells[WORK, block, 0] = work
    update_block(cells, blocks, index, block)


@_compiled
def remove_task(  # pragma: no cover
    cells: Array, numbers: Array, blocks: Array, index: Array, sizes: Array, due: float, number: int
) -> tuple[int, bool, bool]:
    """Remove the task with a key.

    Return the position of its block, whether it was the last of it, and whether it was alone.
    """
    position, place = find_place(cells, numbers, index, sizes, due, number)
    before = sizes[0]
    is_last = delete_task(cells, numbers, blocks, index, sizes, position, place)
    return position, is_last, sizes[0] < before
