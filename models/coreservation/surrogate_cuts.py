"""One surrogate cut for the aggregated relaxation, from the duals of the disaggregated LP.

The aggregated relaxation takes all machines as one. Where machines differ, or parts are fixed to
theirs, `disaggregated_relaxation` bounds better, but it is ten times as large: its rows are
capacities of machines with duals ``u_jt``, and rows that count large parts with duals ``g_jtn``.

Its duals are enough: weighted by them its capacity rows add up to one surrogate constraint
(Glover, Operations Research 16, 1968) on parts wherever they are.

**Lemma.** Let ``u >= 0`` weigh the units of a machine from an instant on, and ``g >= 0`` the row
that at most so many parts larger than a size fit there. A part on machine ``j`` with a share on a
segment from ``low`` to ``high`` has the dual cost ``share * U_j + G_j``, with the sums of the
weights over its window, of the counting rows only those that count the whole segment. Let
``room_j`` be the largest share that is ever free there. A line that lies, for every machine with
room for ``low``, below the dual cost at ``low`` and at ``min(high, room_j)`` is nowhere above the
dual cost of the part. So over all parts of an assignment the lines sum up to at most the weighted
right-hand sides. *Proof.* The dual cost is linear in the share between both ends, and all shares
lie between them; the assignment satisfies every row that is weighed.

Examples
--------
>>> from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(4),)) for name in "ab")
>>> instance = Instance((Machine("m", 5), Machine("n", 3)), requests)
>>> scaled = ScaledInstance.from_instance(instance)
>>> is_worthwhile(scaled)  # parts of 4 fit on one machine alone: there is nothing to gain
False
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from dlopt.backends.highs import LinearSolver
from dlopt.models.coreservation.disaggregated_relaxation import CapacityRow, disaggregate
from dlopt.models.coreservation.objective import segment_coefficients
from dlopt.models.coreservation.requests import ScaledPart, Segment
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.result import Status

if TYPE_CHECKING:
    from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation

Terms: TypeAlias = tuple[tuple[int, Fraction], ...]

MAX_COPIES = 4000
"""Segments of parts on machines, at the most: with more the larger program takes too long to gain.

Chosen by hand.
"""
DUAL_FACTOR = 1 << 24
"""The largest dual is this integer; all duals and lines are integers in its units."""

_ONE = Fraction(1)
_ZERO = Fraction(0)


def is_worthwhile(scaled: ScaledInstance) -> bool:
    """Tell whether machines differ, or parts are fixed, and the larger program is not too large."""
    copies = sum(len(part.machines) * len(part.segments) for part in scaled.parts)
    if scaled.scaling_failure is not None or copies > MAX_COPIES:
        return False
    return len(scaled.identical_machines()) > 1


def build_surrogate_cut(
    model: AggregatedRelaxation, level: str, seed: int = 0, stop: float = inf
) -> tuple[Terms, Fraction] | None:
    """Return a surrogate cut that every assignment satisfies: terms, and their upper bound.

    Parameters
    ----------
    model : AggregatedRelaxation
    level : str
        The cut is one by which this level is bounded as by the disaggregated program.
    seed : int
    stop : float
        Instant of the monotonic clock at which it is given up.

    Returns
    -------
    tuple or None
        None if the disaggregated program was not solved, or none of its capacity rows is tight.
    """
    scaled = model.scaled
    disaggregated = disaggregate(model, level)
    optimum = LinearSolver(disaggregated.build(), seed, stop).solve()
    if optimum.status is not Status.OPTIMAL:
        return None
    duals = {
        r: -optimum.multipliers[r]
        for r in disaggregated.capacity_rows
        if optimum.multipliers[r] < 0
    }
    if not duals:
        return None
    unit = DUAL_FACTOR / max(duals.values())
    weights = {disaggregated.capacity_rows[r]: int(dual * unit) for r, dual in duals.items()}
    # rows of parts come first: the value of a part beyond its dual cost
    surpluses = [-float(optimum.multipliers[i]) * unit for i in range(len(scaled.parts))]
    return aggregate_rows(model, level, weights, surpluses, unit)


class _DualCosts:
    """The dual costs of units and of counted parts on each machine, over any window."""

    def __init__(self, weights: dict[CapacityRow, int], instants: int) -> None:
        unit_costs: dict[int, list[int]] = defaultdict(lambda: [0] * instants)
        self.counting: dict[int, list[tuple[CapacityRow, int]]] = defaultdict(list)
        for row, weight in weights.items():
            if row.size is None:
                unit_costs[row.machine][row.instant] += weight
            else:
                self.counting[row.machine].append((row, weight))
        self.cumulated = {j: [0, *accumulate(costs)] for j, costs in unit_costs.items()}

    def of_unit(self, j: int, part: ScaledPart) -> int:
        """Return ``U_j``: the dual cost of a unit of machine `j` over the window of a part."""
        if j not in self.cumulated:
            return 0
        return self.cumulated[j][part.end] - self.cumulated[j][part.start]

    def of_count(self, j: int, part: ScaledPart, segment: Segment) -> int:
        """Return ``G_j``: the dual cost of a part on a segment in the counting rows."""
        return sum(
            weight
            for row, weight in self.counting[j]
            if part.start <= row.instant < part.end and row.counts(segment)
        )


def aggregate_rows(
    model: AggregatedRelaxation,
    level: str,
    weights: dict[CapacityRow, int],
    surpluses: Sequence[float],
    unit: float,
) -> tuple[Terms, Fraction]:
    """Return the surrogate cut of weighted capacity rows.

    Parameters
    ----------
    model : AggregatedRelaxation
    level : str
    weights : dict of CapacityRow to int
        The duals as integers.
    surpluses : sequence of float
        The value of each part beyond its dual cost, times `unit`.
    unit : float
        The factor of duals. Lines are as steep as the benefit of the parts.
    """
    scaled = model.scaled
    costs = _DualCosts(weights, len(scaled.free[0]))
    terms: dict[int, int] = defaultdict(int)
    for i, part in enumerate(scaled.parts):
        for segment, chosen, increment in model.segments[i]:
            intercept, slope = (Fraction(0),) * 2
            if level == "benefit":
                intercept, slope = segment_coefficients(scaled, i, segment)
            steepness = 0 if increment is None else int(float(slope) * unit)
            height = int(float(intercept) * unit - surpluses[i])
            terms[chosen] += supporting_line(scaled, part, segment, costs, height, steepness)
            if increment is not None:
                terms[increment] += steepness
    side = sum(row.side * weight for row, weight in weights.items())
    scaled_terms = tuple((column, Fraction(n, DUAL_FACTOR)) for column, n in terms.items() if n)
    return scaled_terms, Fraction(side, DUAL_FACTOR)


def supporting_line(
    scaled: ScaledInstance,
    part: ScaledPart,
    segment: Segment,
    costs: _DualCosts,
    height: int,
    steepness: int,
) -> int:
    """Return the height at the low end of the highest line of a steepness below all dual costs."""
    distances = []
    for j in part.machines:
        room = min(scaled.free[j][part.start : part.end])
        if segment.low <= room:
            unit_cost, count_cost = costs.of_unit(j, part), costs.of_count(j, part, segment)
            for share in (segment.low, min(segment.high, room)):
                line = height + steepness * (share - segment.low)
                distances.append(share * unit_cost + count_cost - line)
    return height + min(distances, default=-height)
