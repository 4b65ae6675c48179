"""Planners of divisible tasks as plain data, and of such data."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number, NumberField
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.heuristics.admission.bid_prices import ForecastTask, ResourceTimes
from dlopt.heuristics.admission.records import (
    Estimates,
    LastSent,
    Placement,
    PlannerContent,
    QueuedTask,
    StoredTask,
)
from dlopt.heuristics.admission.saved_records import (
    SavedForecastTask,
    SavedPlanner,
    SavedTask,
)


def plain_planner(content: PlannerContent, nodes: Sequence[int]) -> PlainData:
    """Return a planner as `json.dumps` takes it.

    Parameters
    ----------
    content : PlannerContent
    nodes : sequence of int
        The numbers of its nodes.
    """
    plain = plain_number
    data: PlainData = {
        "nodes": list(nodes),
        "ready_times": list(map(plain, content.ready)),
        "channel": plain(content.channel),
        "fast": content.fast,
        "waiting": [plain_task(task) for task, _, _ in content.tasks],
    }
    if not content.fast:
        data["placements"] = [
            {
                "nodes": place.nodes,
                "not_before": plain(place.not_before),
                "start": plain(place.start),
                "sent": plain(place.sent),
                "end": plain(place.end),
            }
            for _, place, _ in content.tasks
            if place is not None
        ]
    if content.last_arrival is not None:
        data["last_arrival"] = plain(content.last_arrival)
    if content.last_sent is not None:
        completion, number = content.last_sent
        data["last_sent"] = {"completion": plain(completion), "number": number}
    estimates = [
        {"completion": plain(stored.estimates.completion), "slack": plain(stored.estimates.slack)}
        for stored in content.tasks
        if stored.estimates is not None
    ]
    if estimates:
        data["estimates"] = estimates
    return data


def saved_content(saved: SavedPlanner, cast: NumberField) -> PlannerContent:
    """Return the content of a planner whose data are valid.

    Parameters
    ----------
    saved : SavedPlanner
    cast : callable
        Converts numbers into those that the planner computes in.
    """
    tasks = [StoredTask(queued_task(one, cast)) for one in saved.waiting]
    for index, place in enumerate(saved.placements):
        times = map(cast, (place.not_before, place.start, place.sent, place.end))
        tasks[index] = tasks[index]._replace(placement=Placement(place.nodes, *times))
    for index, one in enumerate(saved.estimates):
        estimates = Estimates(cast(one.completion), cast(one.slack))
        tasks[index] = tasks[index]._replace(estimates=estimates)
    last = saved.last_sent
    return PlannerContent(
        tuple(map(cast, saved.ready_times)),
        cast(saved.channel),
        tuple(tasks),
        saved.fast,
        None if saved.last_arrival is None else cast(saved.last_arrival),
        None if last is None else LastSent(cast(last.completion), last.number),
    )


def plain_task(task: QueuedTask) -> PlainData:
    """Return a waiting task as `json.dumps` takes it."""
    data: PlainData = {
        "task": task.id,
        "number": task.key[1],
        "rank": plain_number(task.key[0]),
        "arrival": plain_number(task.arrival),
        "load": plain_number(task.load),
        "deadline": plain_number(task.deadline),
    }
    return data | plain_weight(task.weight)


def queued_task(saved: SavedTask, cast: NumberField) -> QueuedTask:
    """Return a waiting task in the numbers that its planner computes in."""
    numbers = map(cast, (saved.arrival, saved.load, saved.deadline, saved.weight))
    return QueuedTask((saved.rank, saved.number), saved.task, *numbers)


def plain_forecast_task(task: ForecastTask) -> PlainData:
    """Return a task of a forecast as `json.dumps` takes it."""
    data: PlainData = {
        "arrival": plain_number(task.arrival),
        "deadline": plain_number(task.deadline),
        "channel": plain_number(task.times.channel),
        "nodes": plain_number(task.times.nodes),
    }
    if task.advance is not None:
        data["advance"] = plain_number(task.advance)
    return data | plain_weight(task.weight)


def forecast_task(saved: SavedForecastTask, cast: NumberField) -> ForecastTask:
    """Return a task of a forecast in the numbers that its prices are computed in."""
    times = ResourceTimes(cast(saved.channel), cast(saved.nodes))
    advance = None if saved.advance is None else cast(saved.advance)
    arrival, deadline = cast(saved.arrival), cast(saved.deadline)
    return ForecastTask(arrival, deadline, times, cast(saved.weight), advance)


def plain_weight(weight: Number) -> PlainData:
    """Return the weight of a task under its name, unless it is 1."""
    return {} if weight == 1 else {"weight": plain_number(weight)}
