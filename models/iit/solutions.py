"""Schedules of one divisible load, from the chunks that a model gives, and what they consist of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dlopt.arithmetic import SOLVER, Number, exact, shown
from dlopt.backends.outcomes import Outcome
from dlopt.problems.earliest_schedule import earliest_plan, number_field
from dlopt.problems.iit.data import Instance, Solution

MILP_BOUND_MARGIN = SOLVER / 4
"""Share by which the dual bound of a MILP solver is lowered, for what its tolerances may have cut
off. Chosen by hand, below the tolerance `SOLVER` at which value and bound count as equal."""
LARGEST_SHOWN = 10**15
"""Instants from which on all digits are shown: dates in nanoseconds differ in the last ones."""


def plan_of_chunks(instance: Instance, chunks: Sequence[tuple[int, Number]]) -> Solution:
    """Return the earliest schedule of chunks whose loads add up but for rounding.

    Parameters
    ----------
    instance : Instance
    chunks : sequence of (int, Number)
        Node and load of each, in the order of transmission; some load is positive.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> [str(chunk.load) for chunk in plan_of_chunks(instance, [(1, 0.25), (0, 0.5)]).chunks]
    ['1', '2']
    """
    nodes = [node for node, load in chunks if load > 0]
    loads = [exact(load) for _, load in chunks if load > 0]
    factor, cast = exact(instance.load) / sum(loads), number_field(instance)
    return earliest_plan(instance, nodes, [cast(load * factor) for load in loads])


def is_in_class(hint: Solution | None, installments: int) -> bool:
    """Tell whether a hint is in the plan class that is searched; others prove nothing."""
    if hint is None:
        return False
    chunks = Counter(chunk.node for chunk in hint.chunks)
    return max(chunks.values()) <= installments and all(chunk.load > 0 for chunk in hint.chunks)


def count_nodes(plan: Solution) -> int:
    """Return the number of nodes that a schedule uses."""
    return len({chunk.node for chunk in plan.chunks})


def lower_by_tolerance(bound: Number, outcome: Outcome) -> Number:
    """Return a bound that is valid for exact instances: a solver's bound less `MILP_BOUND_MARGIN`.

    It is a fraction: at a date, a float would round it by more than the margin.
    """
    return bound if outcome.proven else exact(bound) * (1 - exact(MILP_BOUND_MARGIN))


def is_closed(bound: Number, value: Number) -> bool:
    """Tell whether value and bound are equal within the tolerance of solver answers."""
    return abs(exact(value) - exact(bound)) <= exact(SOLVER) * exact(value)


def shown_instant(instant: Number) -> str:
    """Return an instant as text, with all digits before the point of dates in nanoseconds.

    Examples
    --------
    >>> from fractions import Fraction
    >>> shown_instant(Fraction(39, 8)), shown_instant(Fraction(17 * 10**18 + 1, 10))
    ('39/8', '1700000000000000000')
    """
    return shown(instant) if exact(instant) < LARGEST_SHOWN else str(round(exact(instant)))
