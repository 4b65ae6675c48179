"""All nodes for every task: the cluster is one server, and a number says when it is free.

Without set-up time of transmissions every task gets all nodes under OPR and EPR alike, all of them
end at one instant, and no transmission spans longer than its task. So the queue that
`dlopt.heuristics.admission.queue.PlannedQueue` plans on nodes can be planned on a number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import gt
from typing import Any, NamedTuple

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.beta_powers import ExecutionTimes

_COMPACT_AFTER = 512
"""Tasks that have left are dropped from the lists when there are so many of them."""


class ServiceInterval(NamedTuple):
    """An accepted task, by its number in the stream, and when it is served."""

    number: int
    start: Any
    end: Any


@dataclass(slots=True)
class StreamLog:
    """What became of a stream of tasks.

    Parameters
    ----------
    accepted : list of bool
        A decision a task.
    served : list of Served
        In the order of service.
    queued, longest : int
        Sum and maximum of how many tasks were waiting when one arrived.
    unfinished : dict of int to Number
        What was left of accepted tasks at their deadlines, and dropped.
    """

    accepted: list[bool] = field(default_factory=list)
    served: list[ServiceInterval] = field(default_factory=list)
    queued: int = 0
    longest: int = 0
    unfinished: dict[int, Any] = field(default_factory=dict)


def execution_times(
    algorithm: Algorithm, costs: tuple[Any, ...], nodes: int, loads: Sequence[Any]
) -> list[Any] | None:
    """Return how long each load takes on all nodes; None if that is not what it would get.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field.
    nodes : int
    loads : sequence of Number
        In the same field.
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
    arrivals: Sequence[Any],
    times: Sequence[Any],
    deadlines: Sequence[Any],
    free: Any,
) -> StreamLog:
    """Decide on a whole stream as the algorithm does task by task.

    Parameters
    ----------
    algorithm : Algorithm
        For which `execution_times` gave the `times`.
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
    arrivals: Sequence[Any],
    times: Sequence[Any],
    deadlines: Sequence[Any],
    free: Any,
) -> StreamLog:
    log = StreamLog()
    accepted, served = log.accepted, log.served
    # Accepted tasks in the order of service, of which the first `head` have begun.
    numbers: list[int] = []
    due: list[Any] = []
    spans: list[Any] = []
    ends: list[Any] = []
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
            behind = list(accumulate(spans[at:], initial=end))
            if any(map(gt, behind[1:], due[at:])):
                accepted.append(False)
                continue
            ends[at:] = behind
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
    arrivals: Sequence[Any],
    times: Sequence[Any],
    deadlines: Sequence[Any],
    free: Any,
) -> StreamLog:
    """Accept all: a task is placed when it begins, for until then others may overtake it."""
    log = StreamLog([True] * len(arrivals))
    served = log.served
    numbers: list[int] = []
    due: list[Any] = []
    head, queued, longest = 0, 0, 0

    def begin(task: int) -> Any:
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
