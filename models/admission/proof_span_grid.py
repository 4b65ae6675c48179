"""The intervals of the relaxation over spans of chunks, and what certificates say of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise

from dlopt.models.admission.fluid_relaxation import MAX_FREE_TIMES, NodeGroup
from dlopt.models.admission.proof_remarks import unit_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.common.named_rows import ZERO


def instants_of(
    scaled: ScaledInstance, max_length: Fraction | None, others: Collection[Fraction] = ()
) -> list[Fraction]:
    """Return releases and due dates, between them the free times of nodes, and more instants.

    These are `others`, and those that divide intervals within the windows of tasks which are longer
    than `max_length` into two, four, ... equal parts.

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
    first, last = min(ends, default=ZERO), max(ends, default=ZERO)
    free = scaled.free if len(scaled.nodes) <= MAX_FREE_TIMES else ()
    instants = sorted(ends.union((time for time in free if first < time < last), others))
    divided = instants[:1]
    for start, end in pairwise(instants):
        parts, longest = 1, max_length if max_length and first <= start < last else end - start
        while end - start > parts * longest > 0:
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
