"""The exact timeline of an executed trace: stated starts, with the true durations.

See `dlopt.problems.admission.timeline`. A trace is no plan: its chunks were sent when it says, and
nothing that happened can be moved to an earlier idle time. So each chunk is sent at its stated
instant, or later if channel or node are still busy with what was sent before, in exact numbers. A
node is away while it is down. What this comes to is a trace that can have happened, and a stated
one must be a rounding of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.checker_times import channel_free_time, node_free_times
from dlopt.problems.admission.data import Instance
from dlopt.problems.admission.scenario import Scenario
from dlopt.problems.admission.timeline import scaled_loads
from dlopt.problems.admission.trace import Executed, Trace
from dlopt.problems.intervals import Interval
from dlopt.problems.transmission_sequence import in_stated_order

Absence: TypeAlias = tuple[Fraction, Fraction | None]
"""From when, and until when if not for ever, a node or the channel serves no task."""


def cut_short_at(chunk: Executed) -> Number | None:
    """Return when a chunk was lost or broken off; None if it was done."""
    return chunk.broken_off if chunk.lost is None else chunk.lost


class Occupancy(NamedTuple):
    """Until when a channel or a node is busy, and by how many chunks without a pause before."""

    until: Fraction
    chunks: int


class ExactChunk(NamedTuple):
    """A chunk in the exact timeline.

    Parameters
    ----------
    chunk : Executed
        As it is stated.
    start, end : Fraction
        Of its transmission and of its computation; a lost one would have ended then.
    chunks : int
        How many chunks follow each other up to this one, each as soon as the one before lets it.
    into : Fraction, optional
        When a failure or a reservation begins that it is stated to precede, and reaches into; of
        several, that into which it reaches furthest.
    until : Fraction
        When it lets go of what it reaches into, or else of its node.
    """

    chunk: Executed
    start: Fraction
    end: Fraction
    chunks: int
    into: Fraction | None
    until: Fraction


class ReservedTimes(NamedTuple):
    """When the channel and the nodes serve no task, for they are reserved.

    Parameters
    ----------
    channel : tuple of (Fraction, Fraction)
    nodes : mapping of int to sequence of (Fraction, Fraction)
    """

    channel: tuple[Interval, ...] = ()
    nodes: Mapping[int, Sequence[Interval]] = MappingProxyType({})


NOTHING_RESERVED = ReservedTimes()


def exact_trace(
    instance: Instance,
    scenario: Scenario,
    trace: Trace,
    required_loads: Mapping[str, Fraction],
    reserved: ReservedTimes = NOTHING_RESERVED,
) -> Iterator[ExactChunk]:
    """Yield the chunks of a trace, in their stated order, as they can have happened.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
    trace : Trace
        Of known tasks and nodes.
    required_loads : mapping of str to Fraction
        What the chunks of each task that are not lost or broken off did together. A chunk of no
        load was not sent; nor was one that is lost as it starts.
    reserved : ReservedTimes
        By default nothing is reserved.

    Notes
    -----
    The stated order is that of `dlopt.problems.transmission_sequence`, in which a chunk that is
    lost or broken off occupies its node until then. A transmission that takes no time does not
    wait for the channel. A chunk follows a failure or a reservation if it is stated to start in its
    second half or later, and else precedes it.
    In a trace that is valid in exact numbers, no chunk here is later than stated. Complexity:
    O(n log n) in chunks, times the failures and reservations of a resource.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=0, chi=1), (Task("a", 0, 1, 9), Task("b", 0, 1, 9)))
    >>> chunks = (Executed("a", 0, 1, 3, 3, 3, 4), Executed("b", 0, 1, 3.75, 3.75, 3.75, 4.75))
    >>> required_loads = {"a": Fraction(1), "b": Fraction(1)}
    >>> trace = Trace((), chunks)
    >>> [int(one.end) for one in exact_trace(instance, Scenario(), trace, required_loads)]
    [4, 5]
    """
    cluster, factors = instance.cluster, {factor.task: factor for factor in scenario.factors}
    arrivals = {task.id: exact(task.arrival) for task in instance.tasks}
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    ready = channel_free_time(instance)
    channel = Occupancy(ready, 0)
    nodes = [Occupancy(instant, 0) for instant in node_free_times(instance)]
    away = _times_away(scenario, reserved)
    loads = _loads(trace.chunks, required_loads)
    for chunk, load in in_stated_order(loads, cut_short_at):
        node, stated, factor = chunk.node, exact(chunk.transmission_start), factors.get(chunk.task)
        tau, chi = (1, 1) if factor is None else (factor.tau, factor.chi)
        send = theta_cm + load * exact(cluster.tau_of(node)) * exact(tau)
        earliest = max(stated, ready, arrivals[chunk.task])
        absences = [*away[node], *(reserved.channel if send else ())]
        for absence in absences:
            if absence[1] is not None and _starts_after(stated, absence):
                earliest = max(earliest, absence[1])
        busy = max(nodes[node], channel) if send else nodes[node]
        start, count = (busy.until, busy.chunks + 1) if busy.until > earliest else (earliest, 1)
        received = start + send
        begun = max(received, exact(chunk.computation_start))
        end = begun + theta_cp + load * exact(cluster.chi_of(node)) * exact(chi)
        cut = cut_short_at(chunk)
        stop = end if cut is None else max(start, min(end, exact(cut)))
        if send:
            channel = Occupancy(min(received, stop), count)
        nodes[node] = Occupancy(stop, count)
        uses = [(absence, stop) for absence in away[node]]
        if send:
            uses += [(absence, min(received, stop)) for absence in reserved.channel]
        into, until = _furthest_reach(stated, uses) or (None, stop)
        yield ExactChunk(chunk, start, end, count, into, until)


def _times_away(scenario: Scenario, reserved: ReservedTimes) -> dict[int, list[Absence]]:
    """Return when each node serves no task: it is down, or reserved."""
    away: dict[int, list[Absence]] = defaultdict(list)
    for failure in scenario.failures:
        until = None if failure.until is None else exact(failure.until)
        away[failure.node].append((exact(failure.begin), until))
    for node, windows in reserved.nodes.items():
        away[node] += windows
    return away


def _furthest_reach(stated: Fraction, uses: Iterable[tuple[Absence, Fraction]]) -> Interval | None:
    """Return the longest time for which a chunk uses something after that is away."""
    reached = [
        (absence[0], until)
        for absence, until in uses
        if absence[0] < until and not _starts_after(stated, absence)
    ]
    return max(reached, key=lambda use: use[1] - use[0], default=None)


def _loads(
    chunks: Sequence[Executed], required_loads: Mapping[str, Fraction]
) -> Iterator[tuple[Executed, Fraction]]:
    """Yield what was sent, with loads that are in sum what was done of each task."""
    cut = [(chunk, at) for chunk in chunks if (at := cut_short_at(chunk)) is not None]
    done = [chunk for chunk in chunks if cut_short_at(chunk) is None]
    sent_in_vain = ((c, exact(c.load)) for c, at in cut if exact(at) > exact(c.transmission_start))
    for chunk, load in (*scaled_loads(done, required_loads), *sent_in_vain):
        if load > 0:
            yield chunk, load


def _starts_after(stated: Fraction, absence: Absence) -> bool:
    """Tell whether a chunk that is stated to start then comes after an absence."""
    begin, until = absence
    return until is not None and 2 * stated >= begin + until
