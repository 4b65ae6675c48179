"""The intervals of the relaxation over spans of chunks, and what certificates say of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from dlopt.models.admission.fluid_relaxation import MAX_FREE_TIMES, NodeGroup
from dlopt.models.admission.proof_remarks import unit_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.common.named_rows import ZERO

HALVED_SHARE = 0.2
"""Share of intervals that are halved at once. Measured: more of them need more spans."""
MIN_HALVED = 2
"""The same, where there are few intervals. Chosen by hand."""


class Span(NamedTuple):
    """The chunks of a task in a group of nodes with one span, and their columns n, x and y.

    A chunk has at least the load `least`, and at most `most`.
    """

    task: int
    group: int
    start: int
    sent: int
    end: int
    chunks: int
    load: int
    time: int
    least: Fraction
    most: Fraction


def instants_of(
    scaled: ScaledInstance, dividing: Collection[Fraction] = (), others: Collection[Fraction] = ()
) -> list[Fraction]:
    """Return releases and due dates, the free times of nodes between them, and more instants.

    Those that are `dividing` count between the first and the last date only, `others` always.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 4),), ready_times=(0, 1))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> [int(scaled.unscale_instant(t)) for t in instants_of(scaled)]
    [0, 1, 4]
    >>> len(instants_of(scaled, [scaled.tasks[0].due / 2]))
    4
    """
    ends = {instant for task in scaled.tasks for instant in (task.release, task.due)}
    first, last = min(ends, default=ZERO), max(ends, default=ZERO)
    free = scaled.free if len(scaled.nodes) <= MAX_FREE_TIMES else ()
    return sorted(ends.union((t for t in (*free, *dividing) if first < t < last), others))


def halved(instants: Sequence[Fraction], started: Mapping[int, float]) -> list[Fraction]:
    """Return instants that also halve the intervals in which most chunks start; all if none does.

    Parameters
    ----------
    instants : sequence of Fraction
    started : mapping of int to float
        How many chunks start in an interval. Each counts as much as the interval is long.

    Examples
    --------
    >>> instants = [Fraction(t) for t in (0, 2, 4, 6, 14)]
    >>> [int(t) for t in halved(instants, {0: 1.0, 1: 2.0, 3: 0.75})]
    [0, 2, 3, 4, 6, 10, 14]
    >>> [int(t) for t in halved(instants, {})]
    [0, 1, 2, 3, 4, 5, 6, 10, 14]
    """
    middles = [(start + end) / 2 for start, end in pairwise(instants)]
    amounts = {
        m: chunks * float(middles[m] - instants[m]) for m, chunks in started.items() if chunks > 0
    }
    most = max(ceil(HALVED_SHARE * len(middles)), MIN_HALVED)
    chosen = sorted(amounts, key=amounts.__getitem__)[-most:] or range(len(middles))
    return sorted({*instants, *(middles[m] for m in chosen)})


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
