"""The planner of a book with reservations as plain data, and of such data."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number, NumberField
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.saved_planners import plain_task, queued_task
from dlopt.heuristics.multistage.algorithm_names import queue_around
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    TimedChunk,
)
from dlopt.heuristics.multistage.queue import MultiStageQueue, ScheduledTask
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
        "channel": list(map(plain_number, fixed.channel)),
        "intervals": [{"busy": list(map(plain_number, busy))} for busy in fixed.nodes],
        "waiting": [_plain_plan(planned) for planned in queue.waiting],
    }


def saved_queue(
    saved: SavedQueue,
    costs: tuple[Number, Number],
    cast: NumberField,
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
    prices : BidPrices, optional
        Those that it decides with.
    """
    queue = queue_around(costs, saved_intervals(saved, cast), prices)
    queue.load_plans([_scheduled(one, cast) for one in saved.waiting])
    return queue


def saved_intervals(saved: SavedQueue, cast: NumberField) -> BusyIntervals:
    """Return when nodes and channel are busy with what is promised or begun."""
    nodes = [list(map(cast, one.busy)) for one in saved.intervals]
    return BusyIntervals(list(map(cast, saved.channel)), nodes)


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
