"""Whether a plan whose instants were rounded to floats still leaves room for reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, exact
from dlopt.models.multistage.reservations import shortest
from dlopt.models.multistage.scaled_instance import Case
from dlopt.problems.admission.data import Chunk

Window = tuple[Fraction, Fraction]


def keeps_clear(case: Case, chunks: Sequence[Chunk], held: Mapping[int, tuple[int, ...]]) -> bool:
    """Tell whether chunks, as rounded, keep arrivals, deadlines and reservations but for rounding.

    Each is done as early as can be, but after every reservation that it is stated to follow: in
    whose second half, or later, it starts. Windows in models of floats are wider than that, so that
    nothing is proven impossible which is not.

    Parameters
    ----------
    case : Case
    chunks : sequence of Chunk
        In the order of their transmissions, in the instance's units.
    held : mapping of int to tuple of int
        Reservations that are accepted, by their indices in the instance, and their nodes.
    """
    instance, stream = case.instance, case.stream
    cluster, wanted = instance.cluster, instance.reservations
    tasks = {task.id: task for task in instance.tasks}
    io = [(exact(wanted[r].start), exact(wanted[r].channel_end)) for r in held]
    io = [window for window in io if window[0] < window[1]]
    setups, spare = (exact(cluster.theta_cm), exact(cluster.theta_cp)), exact(SOLVER)
    together = spare * shortest(instance)
    free = [stream.instant_back(instant) for instant in stream.free]
    ready = port = exact(instance.channel_free)
    for chunk in chunks:
        node, load, stated = chunk.node, exact(chunk.load), exact(chunk.transmission_start)
        sending = setups[0] + load * exact(cluster.tau_of(node))
        own = [(exact(wanted[r].start), exact(wanted[r].end)) for r in held if node in held[r]]
        windows = [*own, *(io if sending else ())]
        after = [end for begin, end in windows if 2 * stated >= begin + end]
        task = tasks[chunk.task]
        arrival, span = exact(task.arrival), exact(task.deadline)
        start = max([arrival, free[node], port if sending else ready, *after])
        sent = start + sending
        free[node] = done = sent + setups[1] + load * exact(cluster.chi_of(node))
        port = sent if sending else port
        limits = [
            (arrival - stated, spare * span, stated),
            (ready - stated, together, stated),
            (done - arrival - span, spare * span, done),
        ]
        ends = [(done, exact(chunk.computation_end), own)]
        ends += [(sent, exact(chunk.transmission_end), io)] if sending else []
        for instant, stop, held_then in ends:
            for begin, end in held_then:
                shared = min(stop, end) - max(stated, begin)
                late = instant - begin if 2 * stated < begin + end else Fraction(0)
                limits.append((max(shared, late), together, begin))
        if any(off > allowed + ROUNDING * abs(at) for off, allowed, at in limits):
            return False
    return True
