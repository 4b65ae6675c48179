"""What a search starts from: the plan that a hint comes to, replayed in the model's numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from dlopt.models.admission.initial_solution import (
    accepted_jobs,
    chunks_of,
    most_chunks,
    whole_loads,
)
from dlopt.models.multistage.fixed_sequence_lp import Part, gaps, loaded_plan
from dlopt.models.multistage.scaled_instance import Case
from dlopt.problems.multistage.data import Solution

Window = tuple[Fraction, Fraction]


def replayed_hint(
    case: Case, hint: Solution, installments: int
) -> tuple[Solution, list[int], dict[int, tuple[int, ...]]] | None:
    """Return the plan of a hint, and the jobs and bookings that it accepts.

    See `dlopt.models.admission.initial_solution.replayed_hint`. Each chunk stays in the gap between
    reservations in which the hint sends it.

    Parameters
    ----------
    case : Case
    hint : Solution
    installments : int
        Chunks that a task may have on a node within a gap.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage.data import Chunk, Decision, Grant, Instance
    >>> from dlopt.problems.multistage.data import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 3),)
    >>> case = Case.of(Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 9),), wanted))
    >>> said, given = (Decision("a", True, 0),), (Grant("r", True, 0, (0,)),)
    >>> hint = Solution(said, given, (Chunk("a", 0, 2, 4, 6, 6, 8),))
    >>> plan, accepted, grants = replayed_hint(case, hint, 1)
    >>> [(int(chunk.transmission_start), int(chunk.computation_end)) for chunk in plan.chunks]
    [(4, 8)]
    >>> accepted, grants
    ([0], {0: (0,)})
    """
    stream = case.stream
    accepted, grants = accepted_jobs(stream, hint), _grants(case, hint)
    if accepted is None or grants is None:
        return None
    sent = chunks_of(stream, hint, accepted)
    loads = None if sent is None else whole_loads(stream, sent, accepted)
    if sent is None or loads is None:
        return None
    starts = [(one.start - stream.origin) / stream.time_unit for one in sent]
    begins = {i: [begin for begin, _ in gaps(case, i)] for i in accepted}
    parts = [
        Part(one.job, one.node, max(bisect_right(begins[one.job], start) - 1, 0))
        for one, start in zip(sent, starts, strict=True)
    ]
    if most_chunks(parts) > installments:
        return None
    plan = loaded_plan(case, parts, loads, accepted, grants, starts)
    return None if plan is None else (plan, accepted, grants)


def _grants(case: Case, hint: Solution) -> dict[int, tuple[int, ...]] | None:
    """Return the bookings that a hint accepts, and their nodes; None if they cannot all be held."""
    wanted = case.instance.reservations
    given = {grant.reservation: grant.nodes for grant in hint.grants if grant.accepted}
    grants: dict[int, tuple[int, ...]] = {}
    on_channel: list[Window] = []
    on_nodes: dict[int, list[Window]] = defaultdict(list)
    for r, booking in enumerate(case.bookings):
        nodes = given.get(wanted[booking.index].id)
        if nodes is None:
            if booking.must:
                return None
            continue
        fits = len(set(nodes)) == len(nodes) == booking.count and set(nodes) <= set(booking.able)
        if booking.obstacle is not None or not fits:
            return None
        grants[r] = nodes
        on_channel.append((booking.start, booking.sent))
        for node in nodes:
            on_nodes[node].append((booking.start, booking.end))
    clash = _overlap(on_channel) or any(map(_overlap, on_nodes.values()))
    return None if clash else grants


def _overlap(windows: Iterable[Window]) -> bool:
    """Tell whether two windows overlap; what is empty does not."""
    ordered = sorted(window for window in windows if window[0] < window[1])
    return any(one[1] > other[0] for one, other in pairwise(ordered))
