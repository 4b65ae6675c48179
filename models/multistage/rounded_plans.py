"""Whether a schedule whose instants were rounded to floats still respects all reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, exact
from dlopt.models.multistage.reservations import shortest_span
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Chunk

Window = tuple[Fraction, Fraction]


def is_feasible_when_rounded(
    scaled: ScaledInstance, chunks: Sequence[Chunk], reserved: Mapping[int, tuple[int, ...]]
) -> bool:
    """Tell whether rounded chunks keep arrivals, deadlines and reservations within the tolerance.

    Each chunk is processed as early as possible, but after every reservation that it is stated to
    follow: in whose second half, or later, it starts. The windows of the models are wider than this
    in floats, so that nothing is proven infeasible that is not.

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
    instance, tasks_only = scaled.instance, scaled.tasks_only
    cluster, reservations = instance.cluster, instance.reservations
    tasks = {task.id: task for task in instance.tasks}
    io = [(exact(reservations[r].start), exact(reservations[r].channel_end)) for r in reserved]
    io = [window for window in io if window[0] < window[1]]
    theta_cm, theta_cp, tolerance = exact(cluster.theta_cm), exact(cluster.theta_cp), exact(SOLVER)
    overlap_tolerance = tolerance * shortest_span(instance)
    free = [tasks_only.unscale_instant(instant) for instant in tasks_only.free]
    ready = port = exact(instance.channel_free)
    for chunk in chunks:
        node, load, stated = chunk.node, exact(chunk.load), exact(chunk.transmission_start)
        send_time = theta_cm + load * exact(cluster.tau_of(node))
        of_node = [
            (exact(reservations[r].start), exact(reservations[r].end))
            for r in reserved
            if node in reserved[r]
        ]
        windows = [*of_node, *(io if send_time else ())]
        earlier_ends = [end for begin, end in windows if 2 * stated >= begin + end]
        task = tasks[chunk.task]
        arrival, deadline = exact(task.arrival), exact(task.deadline)
        start = max([arrival, free[node], port if send_time else ready, *earlier_ends])
        transmission_end = start + send_time
        free[node] = done = transmission_end + theta_cp + load * exact(cluster.chi_of(node))
        port = transmission_end if send_time else port
        # Excess, allowed excess, and the instant whose rounding is allowed in addition.
        limits = [
            (arrival - stated, tolerance * deadline, stated),
            (ready - stated, overlap_tolerance, stated),
            (done - arrival - deadline, tolerance * deadline, done),
        ]
        ends = [(done, exact(chunk.computation_end), of_node)]
        ends += [(transmission_end, exact(chunk.transmission_end), io)] if send_time else []
        for earliest_end, stated_end, reserved_windows in ends:
            for begin, end in reserved_windows:
                overlap = min(stated_end, end) - max(stated, begin)
                precedes = 2 * stated < begin + end
                excess = earliest_end - begin if precedes else Fraction(0)
                limits.append((max(overlap, excess), overlap_tolerance, begin))
        if any(excess > allowed + ROUNDING * abs(at) for excess, allowed, at in limits):
            return False
    return True
