"""The exact timeline of a schedule in floats around reservations, which do not move.

See `dlopt.problems.admission.timeline`: chunks are taken as stated, in their order, with exact
durations. Here a chunk also waits for the end of every reservation that it is stated to follow, on
the channel and on its node. Its end is then compared with the reservations that it is stated to
precede.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dlopt.arithmetic import exact
from dlopt.problems.admission.checker_times import channel_free_time, node_free_times
from dlopt.problems.admission.data import Chunk, Instance
from dlopt.problems.admission.timeline import scaled_loads
from dlopt.problems.intervals import Interval
from dlopt.problems.transmission_sequence import in_stated_order


class Crossing(NamedTuple):
    """A chunk that in exact numbers reaches into a reservation it is stated to precede."""

    resource: str
    start: Fraction
    end: Fraction


def crossings_in_exact_numbers(
    stream: Instance,
    chunks: Iterable[Chunk],
    required_loads: Mapping[str, Fraction],
    channel_windows: Sequence[Interval],
    node_windows: Mapping[int, Sequence[Interval]],
) -> Iterator[Crossing]:
    """Yield where chunks, done as early as can be in their order, reach into reservations.

    Parameters
    ----------
    stream : dlopt.problems.admission.Instance
        The tasks and the cluster, without the reservations.
    chunks : iterable of Chunk
        Of known tasks and nodes.
    required_loads : mapping of str to Fraction
        What each task's chunks are to do together.
    channel_windows : sequence of (Fraction, Fraction)
        When the channel is reserved.
    node_windows : mapping of int to sequence of (Fraction, Fraction)
        When nodes are.

    Notes
    -----
    A chunk follows a reservation if its transmission is stated to start in its second half or
    later. Complexity: O(c r) for `c` chunks and `r` reservations on a resource.
    """
    cluster, arrivals = stream.cluster, {task.id: exact(task.arrival) for task in stream.tasks}
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    channel = ready = channel_free_time(stream)
    free = node_free_times(stream)
    loads = ((c, load) for c, load in scaled_loads(chunks, required_loads) if load > 0)
    for chunk, load in in_stated_order(loads):
        node, stated = chunk.node, exact(chunk.transmission_start)
        send = theta_cm + load * exact(cluster.tau_of(node))
        own = node_windows.get(node, ())
        start = max(arrivals[chunk.task], free[node], channel if send else ready)
        start = max([start, *(end for begin, end in own if _starts_after(stated, begin, end))])
        if send:
            after = (end for begin, end in channel_windows if _starts_after(stated, begin, end))
            start = max([start, *after])
            channel = start + send
            for begin, end in channel_windows:
                if not _starts_after(stated, begin, end) and channel > begin:
                    yield Crossing("channel", begin, channel)
        free[node] = done = start + send + theta_cp + load * exact(cluster.chi_of(node))
        for begin, end in own:
            if not _starts_after(stated, begin, end) and done > begin:
                yield Crossing(f"node {node}", begin, done)


def _starts_after(stated: Fraction, begin: Fraction, end: Fraction) -> bool:
    return 2 * stated >= begin + end
