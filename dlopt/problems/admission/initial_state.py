"""Validation of the initial state of an instance.

The chunks that were sent before may have taken more or less time than the costs say: the times of
committed chunks are not compared with the costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import FLOATING, Number, exact, is_less, shown
from dlopt.errors import Fault
from dlopt.problems.cluster import Cluster

_FLOAT_ALLOWANCE = 1 + exact(FLOATING)
"""Factor that allows for the rounding of floats in a state, which come from computations: relative
1e-9, as for all formulas in floats."""


def later_of(one: Any, other: Any) -> Any:
    """Return the larger of two numbers, the first one if they are equal; see `is_less`."""
    return other if is_less(one, other) else one


def committed_faults(
    committed: Sequence[Any], cluster: Cluster | None, tasks: Sequence[Any], now: Number | None
) -> Iterable[Fault]:
    """Yield the faults of committed chunks: references, times, and loads."""
    arrivals = {task.id: task.arrival for task in reversed(tasks)}  # the first of a name
    for index, chunk in enumerate(committed):
        path = f"committed[{index}]"
        if cluster is not None and not 0 <= chunk.node < cluster.nodes:
            rule = f"must be one of the nodes 0 to {cluster.nodes - 1}"
            yield Fault(f"{path}.node", chunk.node, rule)
        if now is not None and is_less(now, chunk.start):
            rule = f"must not lie after now, {shown(now, 15)}"
            yield Fault(f"{path}.start", chunk.start, rule)
        if is_less(chunk.start, arrivals.get(chunk.task, 0)):
            rule = f"must not lie before the task arrives, {shown(arrivals[chunk.task], 15)}"
            yield Fault(f"{path}.start", chunk.start, rule)
        if is_less(chunk.end, chunk.start):
            yield Fault(f"{path}.end", chunk.end, "must not lie before the start")
    yield from _overcommitted_tasks(committed, tasks)


def _overcommitted_tasks(committed: Sequence[Any], tasks: Sequence[Any]) -> Iterable[Fault]:
    """Yield the tasks of which more is committed than their load."""
    done: dict[str, Fraction] = defaultdict(Fraction)
    for chunk in committed:
        done[chunk.task] += exact(chunk.load)
    for index, task in enumerate(tasks):
        sent = done.pop(task.id, Fraction(0))
        if sent > exact(task.load) * _FLOAT_ALLOWANCE:
            rule = f"must not be less than what is committed of it, {shown(sent, 15)}"
            yield Fault(f"tasks[{index}].load", task.load, rule)
