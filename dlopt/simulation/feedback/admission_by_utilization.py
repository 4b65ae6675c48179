"""Algorithm 12: admission of a task if it and all waiting ones stay below the utilization bound."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from dlopt.arithmetic import FLOATING
from dlopt.simulation.feedback.entities import Chunk, TaskState, weighted_mean
from dlopt.simulation.feedback.policy import Policy


def admits(
    new: TaskState,
    waiting: Sequence[TaskState],
    start: float,
    bound: float,
    nodes: int,
    policy: Policy,
) -> bool:
    """Run Algorithm 12 of Mamat 2011 on a new task.

    Parameters
    ----------
    new : TaskState
    waiting : sequence of TaskState
        By rank; of each, what is not sent yet is tested.
    start : float
        When the first of them can start, see `next_start`.
    bound : float
        The utilization bound.
    nodes : int
        How many are counted on.
    policy : Policy

    Returns
    -------
    bool
        Whether each takes at most `bound` times the time that is left for it, if they run one
        after the other on all nodes.

    Notes
    -----
    Complexity: O(n) in the waiting tasks. The test looks at the waiting tasks before the new one
    too, which it cannot harm: one that has become late keeps all others out until it is sent.

    Examples
    --------
    >>> job = TaskState(0, 0.0, 3.0, 5.0, (1.0, 1.0), (1.0, 1.0))
    >>> [admits(job, [], 0.0, bound, 2, Policy()) for bound in (0.7, 0.8)]
    [False, True]
    >>> [admits(job, [], 6.0, 0.8, 2, Policy(overdue=how)) for how in ("refuse", "printed")]
    [False, True]
    """
    place = bisect([job.rank for job in waiting], new.rank)
    for job in (*waiting[:place], new, *waiting[place:]):
        time = job.execution_time(job.rest, nodes)
        left = job.due - start
        if left <= 0:
            # As printed, the quotient is negative and thus below the bound.
            if policy.overdue == "refuse" or left == 0:
                return False
        elif time > bound * left + FLOATING * job.deadline:
            return False
        start += time
    return True


def next_start(
    now: float, running: Sequence[Chunk], nodes: int, beta: float, policy: Policy
) -> float:
    """Return when the first waiting task can start, in the reading of the policy.

    Parameters
    ----------
    now : float
    running : sequence of Chunk
        In the order in which they were sent.
    nodes : int
        How many are counted on; those without a chunk are believed to be free.
    beta : float
        ``chi / (tau + chi)``.
    policy : Policy

    Examples
    --------
    >>> job = TaskState(0, 0.0, 3.0, 9.0, (1.0, 1.0), (1.0, 1.0))
    >>> job.begun = 0.0
    >>> sent = [Chunk(job, 0, 0.0, 2.0)]
    >>> [next_start(1.0, sent, 2, 0.5, Policy(start=how)) for how in ("last", "all-nodes")]
    [4.0, 4.0]
    >>> next_start(1.0, sent, 2, 0.5, Policy())  # channel free at 2, nodes at 2 and 4
    2.6666666666666665
    """
    if not running:
        return now
    if policy.start == "balance":
        last = running[-1]
        channel = last.start + last.load * last.job.known[0]
        free = max(now, channel)
        instants = sorted(max(free, chunk.expected) for chunk in running)
        idle = max(nodes - len(running), 0)
        return weighted_mean([free] * idle + instants, beta)
    job = running[-1].job
    if policy.start == "last":
        return max(now, *(chunk.expected for chunk in running if chunk.job is job))
    begun = now if job.begun is None else job.begun
    return max(now, begun + job.execution_time(job.load, nodes))
