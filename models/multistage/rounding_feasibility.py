"""Whether a schedule whose instants were rounded to floats still respects all reservations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dlopt.arithmetic import ROUNDING, SOLVER, exact
from dlopt.models.multistage.reservations import shortest_span
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Chunk

Window = tuple[Fraction, Fraction]


def is_feasible_when_rounded(
    scaled: ScaledInstance, chunks: Sequence[Chunk], reserved: Mapping[int, tuple[int, ...]]
) -> bool:
    """Tell whether rounded chunks keep arrivals, deadlines and reservations within the tolerance.

    Nor may the reservations overlap each other by more. Each chunk is processed as early as
    possible, but after every reservation that it is stated to follow: in whose second half, or
    later, it starts. It is not stated to end before it can. The windows of the models are wider
    than this in floats, so that nothing is proven infeasible that is not.

    Parameters
    ----------
    scaled : ScaledInstance
    chunks : sequence of Chunk
        In the order of their transmissions, in the instance's units.
    reserved : mapping of int to tuple of int
        Accepted reservations, by their indices in the instance, and their nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0.0, 4.0, 6.0),)
    >>> instance = Instance(Cluster(1, tau=1.0, chi=1.0), (Task("a", 0.0, 2.0, 9.0),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> early, late = ([Chunk("a", 0, 2.0, s, s + 2, s + 2, s + 4)] for s in (0.0, 0.5))
    >>> [is_feasible_when_rounded(scaled, chunks, {0: (0,)}) for chunks in (early, late)]
    [True, False]
    """
    instance = scaled.instance
    tasks = {task.id: task for task in instance.tasks}
    tolerance = exact(SOLVER)
    overlap_tolerance = tolerance * shortest_span(instance)
    if any(
        overlap > overlap_tolerance + ROUNDING * abs(at)
        for overlap, at in _reservation_overlaps(scaled, reserved)
    ):
        return False
    ready, channel_windows = exact(instance.channel_free), _channel_windows(scaled, reserved)
    for chunk, (start, transmission_end, done) in _earliest_times(scaled, chunks, reserved):
        task, stated = tasks[chunk.task], exact(chunk.transmission_start)
        arrival, deadline = exact(task.arrival), exact(task.deadline)
        stated_end = exact(chunk.computation_end)
        # Excess, allowed excess, and the instant whose rounding is allowed in addition.
        limits = [
            (arrival - stated, tolerance * deadline, stated),
            (ready - stated, overlap_tolerance, stated),
            (done - arrival - deadline, tolerance * deadline, done),
            (done - stated_end, tolerance * deadline, done),
        ]
        ends = [(done, stated_end, _node_windows(scaled, reserved, chunk.node))]
        if transmission_end > start:
            ends.append((transmission_end, exact(chunk.transmission_end), channel_windows))
        for earliest_end, stated_end, reserved_windows in ends:
            for begin, end in reserved_windows:
                overlap = min(stated_end, end) - max(stated, begin)
                precedes = 2 * stated < begin + end
                excess = earliest_end - begin if precedes else Fraction(0)
                limits.append((max(overlap, excess), overlap_tolerance, begin))
        if any(excess > allowed + ROUNDING * abs(at) for excess, allowed, at in limits):
            return False
    return True


def as_early_as_possible(
    scaled: ScaledInstance, chunks: Sequence[Chunk], reserved: Mapping[int, tuple[int, ...]]
) -> list[Chunk]:
    """Return chunks with the times that they have if none begins before it can.

    The windows of the models are wider than those of the instance in floats: a chunk that uses
    that is stated to begin too early, and those after it, too.

    Parameters
    ----------
    scaled, chunks, reserved
        See `is_feasible_when_rounded`.
    """
    return [
        replace(
            chunk,
            transmission_start=float(start),
            transmission_end=float(sent),
            computation_start=float(sent),
            computation_end=float(done),
        )
        for chunk, (start, sent, done) in _earliest_times(scaled, chunks, reserved)
    ]


def _earliest_times(
    scaled: ScaledInstance, chunks: Sequence[Chunk], reserved: Mapping[int, tuple[int, ...]]
) -> Iterator[tuple[Chunk, tuple[Fraction, Fraction, Fraction]]]:
    """Yield when each chunk starts, is sent and computed in exact numbers, as early as can be."""
    instance, tasks_only = scaled.instance, scaled.tasks_only
    cluster, channel_windows = instance.cluster, _channel_windows(scaled, reserved)
    arrivals = {task.id: exact(task.arrival) for task in instance.tasks}
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    free = [tasks_only.unscale_instant(instant) for instant in tasks_only.free]
    ready = port = exact(instance.channel_free)
    for chunk in chunks:
        node, load, stated = chunk.node, exact(chunk.load), exact(chunk.transmission_start)
        send_time = theta_cm + load * exact(cluster.tau_of(node))
        windows = _node_windows(scaled, reserved, node)
        windows += channel_windows if send_time else []
        earlier_ends = [end for begin, end in windows if 2 * stated >= begin + end]
        start = max([arrivals[chunk.task], free[node], port if send_time else ready, *earlier_ends])
        sent = start + send_time
        free[node] = done = sent + theta_cp + load * exact(cluster.chi_of(node))
        port = sent if send_time else port
        yield chunk, (start, sent, done)


def _reservation_overlaps(
    scaled: ScaledInstance, reserved: Mapping[int, tuple[int, ...]]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield for how long, and from when, two reservations use a node or the channel together."""
    nodes = sorted({node for given in reserved.values() for node in given})
    places = [_node_windows(scaled, reserved, node) for node in nodes]
    for windows in (*places, _channel_windows(scaled, reserved)):
        for one, other in combinations(windows, 2):
            begin = max(one[0], other[0])
            yield min(one[1], other[1]) - begin, begin


def _node_windows(
    scaled: ScaledInstance, reserved: Mapping[int, tuple[int, ...]], node: int
) -> list[Window]:
    """Return when a node is reserved."""
    reservations = scaled.instance.reservations
    return [
        (exact(reservations[r].start), exact(reservations[r].end))
        for r, nodes in reserved.items()
        if node in nodes
    ]


def _channel_windows(
    scaled: ScaledInstance, reserved: Mapping[int, tuple[int, ...]]
) -> list[Window]:
    """Return when the channel is reserved."""
    reservations = scaled.instance.reservations
    windows = [(exact(reservations[r].start), exact(reservations[r].channel_end)) for r in reserved]
    return [window for window in windows if window[0] < window[1]]
