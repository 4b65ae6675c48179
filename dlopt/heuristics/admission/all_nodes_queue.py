"""The all-nodes algorithms (AN) as a single-server queue.

Without set-up time of transmissions every task gets all nodes under both OPR and EPR, all of them
end at one instant, and no transmission takes longer than its task. So the queue that
`dlopt.heuristics.admission.queue.PlannedQueue` plans on the ready times of nodes is a queue in
front of one server, whose state is the instant at which it becomes free.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import gt
from typing import Any, NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.beta_powers import ExecutionTimes

_COMPACT_AFTER = 512
"""Tasks that have left before the lists are compacted. Chosen by hand: it trades memory for the
time to move the rest of the lists."""


class ServiceInterval(NamedTuple):
    """An accepted task, by its number in the stream, and its interval of service."""

    number: int
    start: Any
    end: Any


@dataclass(slots=True)
class StreamLog:
    """Decisions on a stream of tasks, and how they were served.

    Parameters
    ----------
    accepted : list of bool
        A decision a task.
    served : list of ServiceInterval
        In the order of service.
    queued, longest : int
        Sum and maximum of how many tasks were waiting when one arrived.
    unfinished : dict of int to Number
        Load that was left of accepted tasks at their deadlines, and dropped.
    """

    accepted: list[bool] = field(default_factory=list)
    served: list[ServiceInterval] = field(default_factory=list)
    queued: int = 0
    longest: int = 0
    unfinished: dict[int, Number] = field(default_factory=dict)


def execution_times(
    algorithm: Algorithm, costs: tuple[Number, ...], nodes: int, loads: Sequence[Number]
) -> list[Number] | None:
    """Return the execution time of each load on all nodes; None if it would not get all.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    nodes : int
    loads : sequence of Number
        Of the same number type.
    """
    tau, chi, theta_cm, _ = costs
    all_nodes = algorithm.assignment == "an" and algorithm.partition in ("opr", "epr")
    if not all_nodes or theta_cm != 0 or min(loads, default=1) * chi == 0:
        return None
    durations = ExecutionTimes(algorithm.rule(costs), nodes)
    times = [durations.of(load)(nodes) for load in loads]
    if algorithm.channel and any(
        load * tau > time for load, time in zip(loads, times, strict=True)
    ):
        return None  # for rounding, the channel would be free after the nodes
    return times


def serve(
    algorithm: Algorithm,
    arrivals: Sequence[Number],
    times: Sequence[Number],
    deadlines: Sequence[Number],
    free: Number,
) -> StreamLog:
    """Decide on a whole stream as the algorithm does task by task.

    Parameters
    ----------
    algorithm : Algorithm
        The one for which `execution_times` returned the `times`.
    arrivals : sequence of Number
        Ascending.
    times : sequence of Number
    deadlines : sequence of Number
        Absolute.
    free : Number
        When the cluster becomes free.

    Notes
    -----
    Complexity: O(1) a task for FIFO, O(n) for EDF with `n` tasks waiting.

    Examples
    --------
    >>> serve(Algorithm.parse("edf-opr-an"), [0, 1, 2], [4, 3, 2], [9, 8, 6], 0).accepted
    [True, True, False]
    """
    if algorithm.control:
        return _with_control(algorithm.order == "fifo", arrivals, times, deadlines, free)
    return _without_control(algorithm.order == "fifo", arrivals, times, deadlines, free)


def _with_control(
    fifo: bool,
    arrivals: Sequence[Number],
    times: Sequence[Number],
    deadlines: Sequence[Number],
    free: Number,
) -> StreamLog:
    log = StreamLog()
    accepted, served = log.accepted, log.served
    # Accepted tasks in the order of service, of which the first `head` have begun.
    numbers: list[int] = []
    due: list[Number] = []
    spans: list[Number] = []
    ends: list[Number] = []
    head, start, queued, longest = 0, free, 0, 0
    for number, now in enumerate(arrivals):
        waiting = len(ends) - head
        while waiting and start < now:
            free = ends[head]
            served.append(ServiceInterval(numbers[head], start, free))
            head, waiting, start = head + 1, waiting - 1, free
        queued += waiting
        if waiting > longest:
            longest = waiting
        time, deadline = times[number], deadlines[number]
        size = len(ends)
        at = size if fifo else bisect_right(due, deadline, head)
        begin = ends[at - 1] if at > head else free if free > now else now
        end = begin + time
        if end > deadline:
            accepted.append(False)
            continue
        if at < size:
            later_ends = list(accumulate(spans[at:], initial=end))
            if any(map(gt, later_ends[1:], due[at:])):
                accepted.append(False)
                continue
            ends[at:] = later_ends
        else:
            ends.append(end)
        accepted.append(True)
        numbers.insert(at, number)
        due.insert(at, deadline)
        spans.insert(at, time)
        if at == head:
            start = begin
            if head > _COMPACT_AFTER:
                del numbers[:head], due[:head], spans[:head], ends[:head]
                head = 0
    for at in range(head, len(ends)):
        served.append(ServiceInterval(numbers[at], start, ends[at]))
        start = ends[at]
    log.queued, log.longest = queued, longest
    return log


def _without_control(
    fifo: bool,
    arrivals: Sequence[Number],
    times: Sequence[Number],
    deadlines: Sequence[Number],
    free: Number,
) -> StreamLog:
    """Accept all tasks; each is placed when it begins, because others may overtake it before."""
    log = StreamLog([True] * len(arrivals))
    served = log.served
    numbers: list[int] = []
    due: list[Number] = []
    head, queued, longest = 0, 0, 0

    def begin(task: int) -> Number:
        return free if free > arrivals[task] else arrivals[task]

    for number, now in enumerate(arrivals):
        while head < len(numbers) and (start := begin(numbers[head])) < now:
            task = numbers[head]
            free = start + times[task]
            served.append(ServiceInterval(task, start, free))
            head += 1
        if head > _COMPACT_AFTER and 2 * head > len(numbers):
            del numbers[:head], due[:head]
            head = 0
        waiting = len(numbers) - head
        queued += waiting
        longest = max(longest, waiting)
        deadline = deadlines[number]
        at = len(due) if fifo else bisect_right(due, deadline, head)
        numbers.insert(at, number)
        due.insert(at, deadline)
    for task in numbers[head:]:
        start = begin(task)
        free = start + times[task]
        served.append(ServiceInterval(task, start, free))
    log.queued, log.longest = queued, longest
    return log
