"""The linear relaxation with a copy of every part on every machine, and where its duals belong.

The aggregated relaxation takes all machines as one. Where machines differ, or parts are fixed to
theirs, this program bounds better, but it is ten times as large::

    maximise    sum_i w_k(i) sum_jq (b_iq z_ijq + m_iq r_ijq)             benefit, or other levels
    subject to  sum_jq z_ijq = x_k(i)                                     one machine, one segment
                0 <= r_ijq <= (high_iq - low_iq) z_ijq                    increment on the segment
                sum_{i active at t} sum_q (low_iq z_ijq + r_ijq) <= C_jt      dual u_jt
                #{i active at t on j : low_iq > C_jt / (n + 1)} <= n          dual g_jtn
                0 <= x, z <= 1

`surrogate_cuts` makes of its duals one cut of the aggregated relaxation.

Examples
--------
>>> from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation
>>> from dlopt.models.coreservation.scaled_instance import ScaledInstance
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(4),)) for name in "ab")
>>> instance = Instance((Machine("m", 5), Machine("n", 3)), requests)
>>> model = AggregatedRelaxation(ScaledInstance.from_instance(instance))
>>> lp = disaggregate(model, "rejections")
>>> [(row.machine, row.size, row.side) for row in lp.capacity_rows.values()]  # units of 4
[(0, None, 1), (0, 0, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dlopt.backends.linear_program import ProgramBuilder
from dlopt.models.coreservation.objective import segment_coefficients
from dlopt.models.coreservation.requests import Segment

if TYPE_CHECKING:
    from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation

PARTS_PER_MACHINE = (1, 2, 3)
"""For each number n, a row counts the parts of which at most n fit on a machine.

Chosen by hand: more numbers add rows that cut off less.
"""

_ONE = Fraction(1)
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """Capacity of a machine from an instant on: its units, or how many parts above `size` fit.

    Parameters
    ----------
    machine, instant : int
    size : int or None
        None if units are counted.
    side : int
        The right-hand side.
    """

    machine: int
    instant: int
    size: int | None
    side: int

    def counts(self, segment: Segment) -> bool:
        """Tell whether all shares on a segment are larger than the size."""
        return self.size is not None and segment.low > self.size


@dataclass(slots=True)
class DisaggregatedLp(ProgramBuilder):
    """The linear program with a copy of every part on every machine."""

    capacity_rows: dict[int, CapacityRow] = field(default_factory=dict)

    def add_capacity_row(self, row: CapacityRow, terms: Sequence[tuple[int, Fraction]]) -> None:
        """Add a capacity row, whose dual is wanted."""
        self.capacity_rows[len(self.rows)] = row
        self.add_row(terms, None, Fraction(row.side))


def disaggregate(model: AggregatedRelaxation, level: str) -> DisaggregatedLp:
    """Return the linear program with a copy of every part on every machine."""
    scaled = model.scaled
    is_benefit = level == "benefit"
    lp = DisaggregatedLp()
    for k in range(len(scaled.requests)):
        weight = Fraction(0) if is_benefit else scaled.weight(level, k)
        lp.add_column(_ZERO, _ONE, cost=-weight)
    copies: list[list[tuple[int, Segment, int, int | None]]] = []
    increment_rows: list[list[tuple[int, Fraction]]] = []
    for i, part in enumerate(scaled.parts):
        of_part: list[tuple[int, Segment, int, int | None]] = []
        for j in part.machines:
            room = min(scaled.free[j][part.start : part.end])
            for segment, _, _ in model.segments[i]:
                if segment.low > room:
                    continue
                intercept, slope = (Fraction(0), Fraction(0))
                if is_benefit:
                    intercept, slope = segment_coefficients(scaled, i, segment)
                chosen, increment = lp.add_column(_ZERO, _ONE, cost=-intercept), None
                length = min(segment.high, room) - segment.low
                if length > 0:
                    increment = lp.add_column(_ZERO, Fraction(length), cost=-slope)
                    increment_rows.append([(increment, _ONE), (chosen, -Fraction(length))])
                of_part.append((j, segment, chosen, increment))
        lp.add_row([*((z, _ONE) for _, _, z, _ in of_part), (part.request, -_ONE)], _ZERO, _ZERO)
        copies.append(of_part)
    for terms in increment_rows:
        lp.add_row(terms, None, _ZERO)
    for j in range(len(scaled.free)):
        eligible = [i for i, part in enumerate(scaled.parts) if j in part.machines]
        for clique in scaled.overloadable_cliques(eligible, (j,)):
            on_machine = [copy for i in clique.parts for copy in copies[i] if copy[0] == j]
            load = [(chosen, Fraction(segment.low)) for _, segment, chosen, _ in on_machine]
            load += [(r, _ONE) for _, _, _, r in on_machine if r is not None]
            lp.add_capacity_row(CapacityRow(j, clique.instant, None, clique.free[0]), load)
            for n in PARTS_PER_MACHINE:
                size = clique.free[0] // (n + 1)
                large = [
                    (chosen, _ONE) for _, segment, chosen, _ in on_machine if segment.low > size
                ]
                if len(large) > n:
                    lp.add_capacity_row(CapacityRow(j, clique.instant, size, n), large)
    return lp
