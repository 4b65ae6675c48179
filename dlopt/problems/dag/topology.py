"""Topological orders and cycles of one task graph, without recursion."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence


def successors_of(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return of every task those that an edge leads to, in the order of the edges."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
    return after


def topological(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the tasks in an order in which every edge leads forward.

    Tasks of a cycle, and their descendants, are left out. Complexity: O(tasks + edges).

    Examples
    --------
    >>> topological([[2], [2], []]), topological([[1], [2], [1]])
    ([0, 1, 2], [0])
    """
    waiting = [0] * len(after)
    for targets in after:
        for target in targets:
            waiting[target] += 1
    ready = deque(task for task, count in enumerate(waiting) if count == 0)
    order = []
    while ready:
        task = ready.popleft()
        order.append(task)
        for target in after[task]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return order


def cycle(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the tasks of one cycle, along its edges, from the smallest; empty if there is none.

    Examples
    --------
    >>> cycle([[1], [2], [3, 1], []]), cycle([[1], []])
    ([1, 2], [])
    """
    ordered = set(topological(after))
    if len(ordered) == len(after):
        return []
    before = {
        target: task
        for task, targets in enumerate(after)
        for target in targets
        if task not in ordered
    }
    task = next(task for task in range(len(after)) if task not in ordered)
    seen: dict[int, None] = {}
    while task not in seen:  # backwards: what is not ordered waits for such a task
        seen[task] = None
        task = before[task]
    walk = list(seen)
    found = walk[walk.index(task) :][::-1]
    least = found.index(min(found))
    return found[least:] + found[:least]
