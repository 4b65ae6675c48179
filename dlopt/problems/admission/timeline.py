"""The exact timeline of a schedule in floats: its order of chunks, as early as resources allow.

A check with a tolerance lets every instant be off by a little. On a channel or a node these
allowances would add up: many tasks that each overlap the next by a little gain the time of another
task. So the chunks are taken as stated, in their order, but with exact durations and loads that
make up what each task needs, each sent as early as arrival, channel and node allow. What this
timeline ends with is a plan in exact numbers, and it is that plan which has to keep deadlines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeVar

from dlopt.arithmetic import exact
from dlopt.problems.admission.checker_times import channel_free_time, node_free_times
from dlopt.problems.admission.data import Chunk, Instance
from dlopt.problems.admission.trace import Executed
from dlopt.problems.transmission_sequence import in_stated_order

Sent = TypeVar("Sent", Chunk, Executed)


class TaskEnd(NamedTuple):
    """When a task ends in the exact timeline, and how many chunks were sent until then."""

    instant: Fraction
    chunks: int


def exact_ends(
    instance: Instance, chunks: Iterable[Chunk], required_loads: Mapping[str, Fraction]
) -> dict[str, TaskEnd]:
    """Return when tasks end if their chunks are sent in the stated order, as early as possible.

    Parameters
    ----------
    instance : Instance
    chunks : iterable of Chunk
        Of known tasks and nodes; `dlopt.problems.transmission_sequence` says what their order is.
    required_loads : mapping of str to Fraction
        What each task's chunks are to do together. Loads below 0 count as 0; what is missing or
        too much is added to the task's largest chunks, or taken from them. A chunk of no load is
        not sent.

    Returns
    -------
    dict of str to TaskEnd
        Of the tasks with chunks of some load.

    Notes
    -----
    A transmission that takes no time does not wait for the channel. If the stated plan is valid
    in exact numbers, no chunk here is later than stated. Complexity: O(n log n).

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=0, chi=1), (Task("a", 0, 1, 9), Task("b", 0, 1, 9)))
    >>> chunks = (Chunk("a", 0, 1, 0, 0, 0, 1), Chunk("b", 0, 1, 0.75, 0.75, 0.75, 1.75))
    >>> ends = exact_ends(instance, chunks, {"a": Fraction(1), "b": Fraction(1)})
    >>> print(ends["b"].instant)
    2
    """
    cluster, arrivals = instance.cluster, {task.id: exact(task.arrival) for task in instance.tasks}
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    channel = ready = channel_free_time(instance)
    free = node_free_times(instance)
    ends: dict[str, TaskEnd] = {}
    loads = ((chunk, load) for chunk, load in scaled_loads(chunks, required_loads) if load > 0)
    for count, (chunk, load) in enumerate(in_stated_order(loads), 1):
        node = chunk.node
        send = theta_cm + load * exact(cluster.tau_of(node))
        start = max(arrivals[chunk.task], free[node], channel if send else ready)
        sent = start + send
        if send:
            channel = sent
        end = free[node] = sent + theta_cp + load * exact(cluster.chi_of(node))
        before = ends.get(chunk.task)
        ends[chunk.task] = TaskEnd(end if before is None else max(end, before.instant), count)
    return ends


def scaled_loads(
    chunks: Iterable[Sent], required_loads: Mapping[str, Fraction]
) -> list[tuple[Sent, Fraction]]:
    """Return the chunks with loads scaled so that they sum to the required loads of tasks."""
    parts: dict[str, list[Sent]] = defaultdict(list)
    for chunk in chunks:
        parts[chunk.task].append(chunk)
    found: list[tuple[Sent, Fraction]] = []
    for name, own in parts.items():
        loads = [max(exact(chunk.load), Fraction(0)) for chunk in own]
        missing = required_loads[name] - sum(loads, Fraction(0))
        for place in sorted(range(len(own)), key=loads.__getitem__, reverse=True):
            before = loads[place]
            loads[place] = max(before + missing, Fraction(0))
            missing -= loads[place] - before
        found += zip(own, loads, strict=True)
    return found
