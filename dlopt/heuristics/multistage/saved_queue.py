"""The planner of a book with reservations as plain data, and of such data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlopt.arithmetic import Number, NumberField
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.saved_planners import plain_task, queued_task
from dlopt.heuristics.multistage.algorithm_names import queue_around
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    TimedChunk,
    insert_interval,
)
from dlopt.heuristics.multistage.queue import MultiStageQueue, ScheduledTask
from dlopt.heuristics.multistage.reference_planner import ReferenceBusyIntervals
from dlopt.heuristics.multistage.saved_records import SavedPlan, SavedQueue


def plain_queue(queue: MultiStageQueue, nodes: Sequence[int]) -> PlainData:
    """Return a queue as `json.dumps` takes it, without the tasks that have begun.

    Parameters
    ----------
    queue : MultiStageQueue
    nodes : sequence of int
        The numbers of its nodes.
    """
    fixed = queue.committed_state
    return {
        "nodes": list(nodes),
        "channel": _plain_intervals(fixed.channel),
        "intervals": [{"busy": _plain_intervals(busy)} for busy in fixed.nodes],
        "waiting": [_plain_plan(planned) for planned in queue.waiting],
    }


def saved_queue(
    saved: SavedQueue,
    costs: tuple[Number, Number],
    cast: NumberField,
    *,
    reference: bool,
    prices: BidPrices | None = None,
) -> MultiStageQueue:
    """Return the queue of data that are valid by themselves.

    Parameters
    ----------
    saved : SavedQueue
    costs : tuple of Number
        ``(tau, chi)``.
    cast : callable
        Converts numbers into those that the queue computes in.
    reference : bool
        Whether it is of the reference implementation.
    prices : BidPrices, optional
        Those that it decides with.
    """
    fixed = saved_intervals(saved, cast)
    queue = queue_around(costs, _as_reference(fixed) if reference else fixed, prices)
    queue.load_plans([_scheduled(one, cast) for one in saved.waiting])
    return queue


def saved_intervals(saved: SavedQueue, cast: NumberField) -> BusyIntervals:
    """Return when nodes and channel are busy with what is promised or begun."""
    nodes = [list(map(cast, one.busy)) for one in saved.intervals]
    return BusyIntervals(list(map(cast, saved.channel)), nodes)


def _as_reference(busy: BusyIntervals) -> ReferenceBusyIntervals:
    return ReferenceBusyIntervals(_pairs(busy.channel), [_pairs(node) for node in busy.nodes])


def _scheduled(one: SavedPlan, cast: NumberField) -> ScheduledTask:
    chunks = (
        TimedChunk(chunk.node, *map(cast, (chunk.load, chunk.start, chunk.sent, chunk.end)))
        for chunk in one.chunks
    )
    return ScheduledTask(queued_task(one, cast), FixedPlan(tuple(chunks)))


def _plain_plan(planned: ScheduledTask) -> PlainData:
    task, plain = planned.task, plain_number
    return plain_task(task) | {
        "chunks": [
            {
                "node": node,
                "load": plain(load),
                "start": plain(start),
                "sent": plain(sent),
                "end": plain(end),
            }
            for node, load, start, sent, end in planned.chunks
        ],
    }


def _plain_intervals(busy: Sequence[Any]) -> list[Any]:
    """Return busy times as a flat list; the reference implementation has unsorted pairs."""
    flat = list(busy)
    if busy and isinstance(busy[0], tuple):
        flat = []
        for start, end in busy:
            insert_interval(flat, start, end)
    return list(map(plain_number, flat))


def _pairs(flat: list[Number]) -> list[tuple[Number, Number]]:
    return list(zip(flat[::2], flat[1::2], strict=True))
