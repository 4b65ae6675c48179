"""Bids of a LAN for a job, whether it can run a job, and what a job waits for.

A bid is the length of a list schedule on the nodes of the LAN; see `list_schedule_length`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from operator import attrgetter

from dlopt.arithmetic import Number
from dlopt.simulation.grid.execution_state import Job, LanNodes, Node, Subtask, SubtaskState

_RANK = attrgetter("rank")
_READY = SubtaskState.READY  # bound here: an attribute of an enumeration is slow
_DONE = SubtaskState.DONE


def can_run(lan_nodes: LanNodes, job: Job) -> bool:
    """Return whether every subtask of a job can run on some node of a LAN."""
    if not lan_nodes.nodes:
        return False
    return not job.needs_eligibility or all(
        subtask.costs is None
        or any(subtask.costs[node.index] is not None for node in lan_nodes.nodes)
        for subtask in job.subtasks
    )


def bid(
    lan_nodes: LanNodes, now: Number, dead: bool, jobs: Collection[Job], job: Job
) -> Number | None:
    """Return the expected time of a job in a LAN from now on; None if no node is available for it.

    Parameters
    ----------
    lan_nodes : LanNodes
        The nodes of the LAN.
    now : Number
    dead : bool
        Whether nodes that are suspected failed are excluded.
    jobs : collection of Job
        The jobs in the LAN, and those on their way to it, if they count in bids.
    job : Job

    Notes
    -----
    The waiting subtasks of the LAN and those of the job are scheduled in order of priority, each
    where it ends first. Data in transit counts as if it had arrived. Complexity: O(waiting x
    nodes).
    """
    waiting = [one for other in jobs for one in other.waiting if one.state <= _READY]
    if waiting:
        waiting += job.waiting
        waiting.sort(key=_RANK)
    else:
        waiting = job.waiting
    return list_schedule_length(lan_nodes, now, node_free_times(lan_nodes, now, dead), waiting, job)


def list_schedule_length(
    lan_nodes: LanNodes,
    now: Number,
    free: list[Number],
    waiting: Sequence[Subtask],
    job: Job,
    chosen: dict[Subtask, Node] | None = None,
) -> Number | None:
    """Schedule a list of subtasks, each on the node from which its result is back first.

    Parameters
    ----------
    lan_nodes : LanNodes
    now : Number
    free : list of Number
        See `node_free_times`; updated with what is scheduled.
    waiting : sequence of Subtask
        In the order in which they are scheduled.
    job : Job
        The job whose makespan is computed.
    chosen : dict, optional
        Filled with the nodes of its subtasks.

    Returns
    -------
    Number or None
        Time from now until all results of the job are back; None if one of its subtasks can run on
        no available node.
    """
    unit, trips_of = lan_nodes.unit, lan_nodes.round_trip_times
    # A result is back at max(free - latency, ready + data) + (2 latency + time) + result: what
    # differs between nodes is added first.
    known: dict[Subtask, Number] = {}
    last = now
    for subtask in waiting:
        ready = now
        for source, _ in subtask.data_from:
            if source.state == _DONE:
                continue
            at = known.get(source)
            if at is None:
                assert source.attempt is not None
                at = source.attempt.expected_known
            if at > ready:
                ready = at
        mine = subtask.job is job
        ready += subtask.data_in * unit
        round_trip_times = trips_of(subtask) if mine else subtask.round_trip_times
        ends = [
            (idle if idle > ready else ready) + trip
            for idle, trip in zip(free, round_trip_times, strict=True)
        ]
        least = min(ends)
        if least == math.inf:
            if mine:
                return None
            known[subtask] = now
            continue
        best = ends.index(least)
        free[best] = least - lan_nodes.round_trip_latencies[best]
        if chosen is not None and mine:
            chosen[subtask] = lan_nodes.nodes[best]
        known[subtask] = least = least + subtask.data_out * unit
        if mine and least > last:
            last = least
    return last - now


def node_free_times(lan_nodes: LanNodes, now: Number, dead: bool) -> list[Number]:
    """Return when nodes are free for a subtask without data, less their latency, or infinity."""
    return [
        math.inf
        if dead and node.presumed_since is not None
        else (node.free if node.free > now else now) - node.latency
        for node in lan_nodes.nodes
    ]


def blocking_reason(lan_nodes: LanNodes, lan: int, job: Job) -> str:
    """Return what a job waits for: its first subtask that only waits for nodes."""
    tasks = job.graph.tasks
    for subtask in job.waiting:
        name = tasks[subtask.index].id
        if subtask.state == SubtaskState.READY:
            suspected = sum(node.presumed_since is not None for node in lan_nodes.nodes)
            return (
                f"{name} is ready and waits for a node of LAN {lan}: "
                f"{suspected} of {len(lan_nodes.nodes)} suspected failed"
            )
        if subtask.state == SubtaskState.SENT and subtask.attempt is not None:
            node = subtask.attempt.node
            state = "up" if node.up else "down"
            return f"{name} waits for machine {node.machine.id}, which is {state}"
    names = (
        tasks[subtask.index].id for subtask in job.waiting if subtask.state == SubtaskState.WAITING
    )
    return f"{next(names, 'nothing')} waits for its predecessors"
