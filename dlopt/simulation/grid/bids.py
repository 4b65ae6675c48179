"""What a LAN answers when it is asked: a bid, whether it can run a job, what a job waits for.

A bid is the length of a list schedule; `lay_out` makes it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

from dlopt.simulation.grid.entities import DONE, READY, SENT, WAITING, Job, Node, Rack, Subtask

_RANK = attrgetter("rank")


def can_run(rack: Rack, job: Job) -> bool:
    """Tell whether every subtask of a job can run on some node of a LAN."""
    if not rack.nodes:
        return False
    return not job.choosy or all(
        subtask.costs is None or any(subtask.costs[node.index] is not None for node in rack.nodes)
        for subtask in job.subtasks
    )


def bid(rack: Rack, now: Any, dead: bool, jobs: Collection[Job], job: Job) -> Any:
    """Return how long a job would take in a LAN from now on; None if no node is alive for it.

    Parameters
    ----------
    rack : Rack
        The nodes of the LAN.
    now : Number
    dead : bool
        Whether nodes that are presumed dead count out.
    jobs : collection of Job
        Those that the LAN has, and those on their way to it, if they count in bids.
    job : Job

    Notes
    -----
    What waits there and the job are placed in order of priority, each subtask where it ends
    first. What is on its way counts as if it were there. Complexity: O(waiting x nodes).
    """
    waiting = [one for other in jobs for one in other.waiting if one.state <= READY]
    if waiting:
        waiting += job.waiting
        waiting.sort(key=_RANK)
    else:
        waiting = job.waiting
    return lay_out(rack, now, free_from(rack, now, dead), waiting, job)


def lay_out(
    rack: Rack,
    now: Any,
    free: list[Any],
    waiting: Sequence[Subtask],
    job: Job,
    chosen: dict[Subtask, Node] | None = None,
) -> Any:
    """Schedule a list of subtasks, each on the node from which its result is back first.

    Parameters
    ----------
    rack : Rack
    now : Number
    free : list of Number
        See `free_from`; what is placed is added to it.
    waiting : sequence of Subtask
        In the order in which they are placed.
    job : Job
        Whose results are awaited.
    chosen : dict, optional
        Here the nodes of its subtasks are noted.

    Returns
    -------
    Number or None
        How long it takes from now until all results of the job are back; None if one of its
        subtasks can run on no node that is alive.
    """
    unit, trips_of = rack.unit, rack.trips
    # A result is back at max(free - latency, ready + data) + (2 latency + time) + result: what
    # differs between nodes stands side by side.
    known: dict[Subtask, Any] = {}
    last = now
    for subtask in waiting:
        ready = now
        for source, _ in subtask.data_from:
            if source.state == DONE:
                continue
            at = known.get(source)
            if at is None:
                assert source.attempt is not None
                at = source.attempt.expected_known
            if at > ready:
                ready = at
        mine = subtask.job is job
        ready += subtask.data_in * unit
        trips = trips_of(subtask) if mine else subtask.trips
        ends = [
            (idle if idle > ready else ready) + trip for idle, trip in zip(free, trips, strict=True)
        ]
        least = min(ends)
        if least == math.inf:
            if mine:
                return None
            known[subtask] = now
            continue
        best = ends.index(least)
        free[best] = least - rack.twice[best]
        if chosen is not None and mine:
            chosen[subtask] = rack.nodes[best]
        known[subtask] = least = least + subtask.data_out * unit
        if mine and least > last:
            last = least
    return last - now


def free_from(rack: Rack, now: Any, dead: bool) -> list[Any]:
    """Return when nodes are free for what needs no data, less their latency; some never are."""
    return [
        math.inf
        if dead and node.presumed_since is not None
        else (node.free if node.free > now else now) - node.latency
        for node in rack.nodes
    ]


def waits(rack: Rack, lan: int, job: Job) -> str:
    """Return what a job waits for: the first subtask that nothing but nodes holds up."""
    tasks = job.graph.tasks
    for subtask in job.waiting:
        name = tasks[subtask.index].id
        if subtask.state == READY:
            dead = sum(node.presumed_since is not None for node in rack.nodes)
            return (
                f"{name} is ready and waits for a node of LAN {lan}: "
                f"{dead} of {len(rack.nodes)} presumed dead"
            )
        if subtask.state == SENT and subtask.attempt is not None:
            node = subtask.attempt.node
            what = "up" if node.up else "down"
            return f"{name} waits for machine {node.machine.id}, which is {what}"
    names = (tasks[one.index].id for one in job.waiting if one.state == WAITING)
    return f"{next(names, 'nothing')} waits for what comes before it"
