"""The intervals of the relaxation over spans of chunks, and what certificates say of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from dlopt.models.admission.fluid_relaxation import MAX_FREE_TIMES, NodeGroup
from dlopt.models.admission.proof_remarks import unit_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance


def instants_of(scaled: ScaledInstance, max_length: Fraction | None) -> list[Fraction]:
    """Return releases and due dates, between them the free times of nodes, and more instants.

    Intervals that are longer than `max_length` are divided into two, four, ... equal parts.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 4),), ready_times=(0, 1))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> [int(scaled.unscale_instant(t)) for t in instants_of(scaled, None)]
    [0, 1, 4]
    >>> len(instants_of(scaled, scaled.tasks[0].due / 2))
    4
    """
    ends = {instant for task in scaled.tasks for instant in (task.release, task.due)}
    free = scaled.free if len(scaled.nodes) <= MAX_FREE_TIMES else ()
    instants = sorted(ends.union(time for time in free if min(ends) < time < max(ends)))
    divided = instants[:1]
    for start, end in pairwise(instants):
        parts = 1
        while max_length is not None and (end - start) / parts > max_length:
            parts *= 2
        divided += [start + (end - start) * part / parts for part in range(1, parts + 1)]
    return divided


def span_remarks(
    scaled: ScaledInstance,
    installments: int,
    instants: Sequence[Fraction],
    groups: Sequence[NodeGroup],
) -> list[str]:
    """Describe a relaxation over spans of chunks to a reader of its certificate."""
    numbers = {node: str(g) for g, group in enumerate(groups) for node in group.nodes}
    return [
        f"instance: {(scaled.instance.name or 'unnamed')!r}",
        f"chunks: {installments}",
        *(f"{key}: {value}" for key, value in unit_remarks(scaled).items()),
        f"instants: {' '.join(map(str, instants))}",
        f"groups: {' '.join(numbers[node] for node in scaled.nodes)}",
        "columns: z_i accepts task i; of it n_i_g_p_q_r chunks in node group g start in",
        "interval p, are sent in q and end in r; x is their load, and y the time from their",
        "starts to the ends of interval p",
        "objective value: at most the value of finished tasks less the minimum",
    ]
