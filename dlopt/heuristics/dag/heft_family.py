"""Schedulers for heterogeneous machines: HEFT, CPOP, PEFT, and HEFT that looks ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.levels import Means, bottom, top
from dlopt.heuristics.dag.list_scheduling import by_priority
from dlopt.heuristics.dag.partial_schedule import Board


def first_to_finish(board: Board, task: int) -> None:
    """Place a task where it ends first, or where its output arrives first."""
    extra = board.flat.outbound.get(task)
    machine, start, _ = board.earliest_finish(task, board.ready(task), extra)
    board.place(task, machine, start)


def first_to_start(board: Board, task: int) -> None:
    """Place a task where it starts first."""
    machine, start, _ = board.earliest_start(task, board.ready(task))
    board.place(task, machine, start)


def heft(board: Board) -> None:
    """Place tasks by falling b-level, each where it ends first."""
    rank = bottom(board.flat, Means.of(board.flat))
    by_priority(board, [-level for level in rank], lambda task: first_to_finish(board, task))


def cpop(board: Board) -> None:
    """Place ready tasks by falling t-level + b-level; critical ones on one machine a graph."""
    flat = board.flat
    means = Means.of(flat)
    up = bottom(flat, means)
    length = [a + b for a, b in zip(top(flat, means), up, strict=True)]
    machine_of: dict[int, int] = {}
    for path in critical_paths(flat, means, up):
        machine = _cheapest(flat, path)
        machine_of |= {task: machine for task in path if flat.costs[task][machine] is not None}

    def put(task: int) -> None:
        machine = machine_of.get(task)
        if machine is None:
            first_to_finish(board, task)
        else:
            board.place(task, machine, board.slot(task, machine, board.ready(task)[machine]))

    by_priority(board, [-level for level in length], put)


def critical_paths(flat: Flat, means: Means, up: Sequence[Any]) -> list[list[int]]:
    """Return of each graph a path as long as its longest; of equal ones the first.

    Parameters
    ----------
    flat : Flat
    means : Means
    up : sequence, shape (tasks,)
        The b-levels.
    """
    entry: dict[int, int] = {}
    for task, graph in enumerate(flat.graph_of):
        if not flat.before[task] and (graph not in entry or up[task] > up[entry[graph]]):
            entry[graph] = task
    latency, unit = means.transfer
    paths = []
    for task in entry.values():
        path = [task]
        while flat.after[path[-1]]:
            ways = [(latency + data * unit + up[to], -to) for to, data in flat.after[path[-1]]]
            path.append(-max(ways)[1])
        paths.append(path)
    return paths


def _cheapest(flat: Flat, path: Sequence[int]) -> int:
    """Return the machine that can run most of a path, and of such ones takes least for it."""

    def price(machine: int) -> tuple[int, Any]:
        costs = [flat.costs[task][machine] for task in path]
        return costs.count(None), sum(cost for cost in costs if cost is not None)

    return min(range(flat.machines), key=price)


def peft(board: Board) -> None:
    """Place ready tasks by falling mean of optimistic costs, each where end + cost is least."""
    flat = board.flat
    means = Means.of(flat)
    table = optimistic_costs(flat, means)
    rank = []
    for costs, row in zip(flat.costs, table, strict=True):
        some = [value for cost, value in zip(costs, row, strict=True) if cost is not None]
        whole = sum(some)
        rank.append(whole / len(some) if flat.floating else whole * (means.scale // len(some)))

    def put(task: int) -> None:
        machine, start, _ = board.earliest_finish(task, board.ready(task), table[task])
        board.place(task, machine, start)

    by_priority(board, [-level for level in rank], put)


def optimistic_costs(flat: Flat, means: Means) -> list[list[Any]]:
    """Return what is left after each task ends on each machine, were all machines idle.

    Of the task after it, the best machine counts, with the mean transfer to any but the same; the
    output of the graph, if it is sent, comes last. Complexity: O(edges x machines).
    """
    table: list[list[Any]] = [[] for _ in range(flat.count)]
    with_cost: list[list[Any]] = [[] for _ in range(flat.count)]
    nothing = [means.weight[0] * 0] * flat.machines
    for task in reversed(flat.order):
        row = flat.outbound.get(task, nothing)
        for target, data in flat.after[task]:
            there = with_cost[target]
            moved = min(value for value in there if value is not None)
            moved += means.latency + data * means.unit
            row = [
                max(
                    old,
                    moved if here is None or flat.counted or here > moved else here,
                )
                for old, here in zip(row, there, strict=True)
            ]
        table[task] = row
        with_cost[task] = [
            None if cost is None else cost + value
            for cost, value in zip(flat.costs[task], row, strict=True)
        ]
    return table


def lookahead(board: Board) -> None:
    """Place tasks by falling b-level, each where the last of its successors ends first.

    Successors are placed on trial, by falling b-level, each where it ends first; what they wait
    for beside this task counts if it is placed already.
    """
    flat = board.flat
    rank = bottom(flat, Means.of(flat))
    after = [
        sorted((target for target, _ in some), key=lambda target: (-rank[target], target))
        for some in flat.after
    ]

    def put(task: int) -> None:
        if not after[task]:
            first_to_finish(board, task)
            return
        ready = board.ready(task)
        chosen: tuple[Any, Any, int, Any] | None = None
        for machine, cost in enumerate(flat.costs[task]):
            if cost is None:
                continue
            start = board.slot(task, machine, ready[machine])
            with board.trial():
                board.place(task, machine, start)
                last = max(_end_on_trial(board, target) for target in after[task])
            found = (last, start + cost, machine, start)
            if chosen is None or found < chosen:
                chosen = found
        assert chosen is not None  # every task runs somewhere
        board.place(task, *chosen[2:])

    by_priority(board, [-level for level in rank], put)


def _end_on_trial(board: Board, task: int) -> Any:
    """Place a task where it ends first, and return when it (or its output) does."""
    extra = board.flat.outbound.get(task)
    machine, start, end = board.earliest_finish(task, board.ready(task), extra)
    board.place(task, machine, start)
    return end
