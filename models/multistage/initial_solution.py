"""The incumbent that a hint gives: its chunks, scheduled again with the model's numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from dlopt.arithmetic import exact
from dlopt.models.admission.initial_solution import (
    accepted_tasks,
    hint_chunks,
    max_multiplicity,
)
from dlopt.models.admission.time_blocks import scale_instant
from dlopt.models.multistage.fixed_sequence_lp import UnsizedChunk, chunk_at, schedule_loads
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.multistage.data import Solution

Window = tuple[Fraction, Fraction]


def replay_hint(
    scaled: ScaledInstance, hint: Solution, installments: int
) -> tuple[Solution, list[int], dict[int, tuple[int, ...]]] | None:
    """Return the schedule of a hint, and the tasks and reservations that it accepts.

    See `dlopt.models.admission.initial_solution.replay_hint`. Each chunk stays in the gap between
    reservations in which the hint sends it.

    Parameters
    ----------
    scaled : ScaledInstance
    hint : Solution
    installments : int
        Chunks that a task may have on a node within a gap.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage.data import Chunk, Decision, Grant, Instance
    >>> from dlopt.problems.multistage.data import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 3),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 9),), wanted)
    >>> decisions, grants = (Decision("a", True, 0),), (Grant("r", True, 0, (0,)),)
    >>> hint = Solution(decisions, grants, (Chunk("a", 0, 2, 4, 6, 6, 8),))
    >>> schedule, tasks, nodes = replay_hint(ScaledInstance.from_instance(instance), hint, 1)
    >>> [(int(chunk.transmission_start), int(chunk.computation_end)) for chunk in schedule.chunks]
    [(4, 8)]
    >>> tasks, nodes
    ([0], {0: (0,)})
    """
    tasks_only = scaled.tasks_only
    accepted, grants = accepted_tasks(tasks_only, hint), accepted_reservations(scaled, hint)
    if accepted is None or grants is None:
        return None
    chunks = hint_chunks(tasks_only, hint, accepted)
    if chunks is None:
        return None
    starts = [(chunk.start - tasks_only.origin) / tasks_only.time_unit for chunk in chunks]
    sequence = [
        chunk_at(scaled, chunk.task, chunk.node, start)
        for chunk, start in zip(chunks, starts, strict=True)
    ]
    if max_multiplicity(sequence) > installments:
        return None
    loads = [chunk.load for chunk in chunks]
    schedule = schedule_loads(scaled, sequence, loads, accepted, grants, starts)
    return None if schedule is None else (schedule, accepted, grants)


def sequence_of(scaled: ScaledInstance, plan: Solution) -> list[UnsizedChunk]:
    """Return the sequence of the chunks of a schedule."""
    tasks_only, originals = scaled.tasks_only, scaled.instance.tasks
    ids = {originals[task.index].id: i for i, task in enumerate(scaled.tasks)}
    chunks = sorted(plan.chunks, key=lambda chunk: chunk.transmission_start)
    starts = [scale_instant(tasks_only, exact(chunk.transmission_start)) for chunk in chunks]
    return [
        chunk_at(scaled, ids[chunk.task], chunk.node, start)
        for chunk, start in zip(chunks, starts, strict=True)
        if chunk.task in ids
    ]


def accepted_reservations(
    scaled: ScaledInstance, hint: Solution
) -> dict[int, tuple[int, ...]] | None:
    """Return the reservations that a hint accepts, and their nodes; None if they conflict."""
    originals = scaled.instance.reservations
    nodes_of = {grant.reservation: grant.nodes for grant in hint.grants if grant.accepted}
    grants: dict[int, tuple[int, ...]] = {}
    on_channel: list[Window] = []
    on_nodes: dict[int, list[Window]] = defaultdict(list)
    for r, reservation in enumerate(scaled.reservations):
        nodes = nodes_of.get(originals[reservation.index].id)
        if nodes is None:
            if reservation.mandatory:
                return None
            continue
        are_eligible = set(nodes) <= set(reservation.eligible)
        fits = len(set(nodes)) == len(nodes) == reservation.count and are_eligible
        if reservation.obstacle is not None or not fits:
            return None
        grants[r] = nodes
        on_channel.append((reservation.start, reservation.io_end))
        for node in nodes:
            on_nodes[node].append((reservation.start, reservation.end))
    conflict = _overlap(on_channel) or any(map(_overlap, on_nodes.values()))
    return None if conflict else grants


def _overlap(windows: Iterable[Window]) -> bool:
    """Tell whether two windows overlap; empty ones do not."""
    ordered = sorted(window for window in windows if window[0] < window[1])
    return any(first[1] > second[0] for first, second in pairwise(ordered))
