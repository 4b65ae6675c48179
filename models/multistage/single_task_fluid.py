"""The fluid relaxation of a single task: the most load by a deadline, as a linear program.

Instants at which a reservation begins or ends, or a node becomes free, divide time into intervals
of length ``L_k``. ``P_gk`` is for how long the nodes of group `g` are free from the beginning of
interval `k` until the deadline, in total; ``S_gk`` is what they receive from then on. All of it
must be computed by the deadline, and a node receives or computes:

maximise    sum_g S_g0
subject to  S_gk <= P_gk / (tau_g + chi_g)                    what is received is computed
            S_gk >= S_g,k+1 >= 0                              nothing is sent back
            sum_g tau_g (S_gk - S_g,k+1) <= L_k               one port, while it is free

A node receives in intervals in which it and the channel are free; in others ``S_gk = S_g,k+1``,
and the columns are one. That no more is computed in an interval than was received by its end
needs no rows: whatever keeps the first row, for every `k`, can be computed in time (the condition
of Hall for jobs with releases and a common deadline). Set-up costs are left out, which relaxes.

Source: model (ii) of the package. Its ``x_jk`` (received by node `j` in interval `k`) are the
differences ``S_gk - S_g,k+1`` here; its ``y_jk`` (computed) and their causality rows are eliminated
by the argument above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import NamedTuple

from dlopt.backends import exact_lp
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram, ProgramBuilder
from dlopt.backends.safe_dual_bound import SafeDualBound
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.multistage.stages import SingleTaskInstance
from dlopt.result import Status

MAX_EXACT_COLUMNS = 1_500
"""Columns up to which the optimal basis is solved again in fractions; of larger programs the
solver's dual values prove a bound that is off by rounding. Chosen by hand: the basis is solved in
exact arithmetic, whose time grows fast with the columns."""

Terms = dict[int, Fraction]
ZERO = Fraction(0)


class FluidMaximum(NamedTuple):
    """The maximum by a deadline, and its supergradient: a line above the curve in the interval.

    Parameters
    ----------
    load : Fraction
    slope : Fraction
        The growth for later deadlines within the same interval, by the dual values.
    exact : bool
        Whether `load` is the maximum, not only a bound of it.
    """

    load: Fraction
    slope: Fraction
    exact: bool


@dataclass(frozen=True, slots=True)
class _NodeGroup:
    """Nodes of equal costs that are free in the same intervals."""

    tau: Fraction
    unit_time: Fraction
    count: int
    free: tuple[bool, ...]


class SingleTaskFluidLp:
    """The program above.

    Parameters
    ----------
    single : SingleTaskInstance

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Task
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 9, 512),))
    >>> single = SingleTaskInstance.from_instance(instance)
    >>> load = SingleTaskFluidLp(single).maximum(single.task.due).load
    >>> str(load * single.scaled.tasks_only.load_unit)
    '512'
    """

    def __init__(self, single: SingleTaskInstance) -> None:
        self.single, self.tasks_only = single, single.scaled.tasks_only
        self.release, self.due = single.task.release, single.task.due
        events = {self.release, self.due, *self.tasks_only.free}
        for reservation in single.scaled.reservations:
            events |= {reservation.start, reservation.io_end, reservation.end}
        self.instants = sorted(t for t in events if self.release <= t <= self.due)
        pauses = single.channel_reservations()
        intervals = len(self.instants) - 1
        self.channel_is_free = [
            not any(start <= t < end for start, end in pauses) for t in self.instants[:intervals]
        ]
        self.groups = self._group_nodes(intervals)

    def program(self, due: Fraction, k: int) -> tuple[LinearProgram, list[int], list[Fraction]]:
        """State the program for a deadline in interval `k`.

        Returns
        -------
        tuple
            The program, as a minimisation; the rows whose right side grows with the deadline, at
            rate 1; and at which rate the upper bound of each column does.
        """
        instants, last = [*self.instants[: k + 1], due], k
        lengths = [b - a for a, b in pairwise(instants)]
        builder = ProgramBuilder()
        bound_rates: list[Fraction] = []
        port: dict[int, Terms] = defaultdict(lambda: defaultdict(Fraction))
        for group in self.groups:
            later: int | None = None
            time_left = ZERO
            for k in range(last, -1, -1):
                if not group.free[k]:
                    continue
                time_left += lengths[k]
                if not self.channel_is_free[k] and group.tau:
                    continue
                column = builder.add_column(ZERO, group.count * time_left / group.unit_time)
                bound_rates.append(group.count / group.unit_time if group.free[last] else ZERO)
                port[k][column] += group.tau
                if later is not None:
                    port[k][later] -= group.tau
                    builder.add_row([(column, Fraction(1)), (later, Fraction(-1))], ZERO, None)
                later = column
            if later is not None:
                builder.costs[later] = Fraction(-1)
        growing_rows = []
        for k, terms in port.items():
            if any(terms.values()):
                if k == last:
                    growing_rows.append(len(builder.rows))
                builder.add_row(terms.items(), None, lengths[k])
        return builder.build(sense=-1), growing_rows, bound_rates

    def maximum(
        self, due: Fraction, k: int | None = None, seed: int = 0, stop: float = inf
    ) -> FluidMaximum:
        """Return the maximum by a deadline in interval `k` (by default the last), or a bound."""
        interval = len(self.channel_is_free) - 1 if k is None else k
        program, growing_rows, bound_rates = self.program(due, interval)
        if not program.columns:
            return FluidMaximum(ZERO, ZERO, True)
        solver = LinearSolver(program, seed, stop)
        result = solver.solve()
        if result.status is Status.OPTIMAL and program.columns <= MAX_EXACT_COLUMNS:
            statuses = exact_lp.basis_from_highs(solver.model)
            proof = exact_lp.certify(program, *statuses)
            if proof is not None:
                reduced_costs = list(program.costs)
                for row, dual in zip(program.rows, proof.dual, strict=True):
                    for j, a in row:
                        reduced_costs[j] -= dual * a
                slope = sum((proof.dual[r] for r in growing_rows), ZERO)
                at_upper_bound = (
                    cost * bound_rates[j] for j, cost in enumerate(reduced_costs) if cost < 0
                )
                slope += sum(at_upper_bound, ZERO)
                return FluidMaximum(proof.value, -slope, True)
        safe = SafeDualBound(program)
        duals = safe.quantise(result.multipliers or [0.0] * len(program.rows))
        return FluidMaximum(-safe.bound(duals, safe.bounds), ZERO, False)

    def curve(self, seed: int = 0) -> list[tuple[Fraction, Fraction]]:
        """Return the breakpoints of the maximum as a function of the deadline, from the release."""
        points = [(self.release, ZERO)]
        for k, (start, end) in enumerate(pairwise(self.instants)):
            first, last = self.maximum(start, k, seed), self.maximum(end, k, seed)
            if first.exact and last.exact:
                points += _breakpoints(self, k, (start, first), (end, last), seed)
            points.append((end, last.load))
        return _without_collinear(points)

    def _group_nodes(self, intervals: int) -> list[_NodeGroup]:
        reserved, tasks_only = self.single.node_reservations(), self.tasks_only
        counts: dict[_NodeGroup, int] = defaultdict(int)
        for j in tasks_only.nodes:
            free = [tasks_only.free[j] <= t for t in self.instants[:intervals]]
            for start, end in reserved.get(j, ()):
                for k, t in enumerate(self.instants[:intervals]):
                    if start <= t < end:
                        free[k] = False
            tau = tasks_only.tau[j] if uses_port(tasks_only, j) else ZERO
            counts[_NodeGroup(tau, tasks_only.unit_time(j), 1, tuple(free))] += 1
        return [replace(group, count=count) for group, count in counts.items()]


def _breakpoints(
    model: SingleTaskFluidLp,
    k: int,
    left: tuple[Fraction, FluidMaximum],
    right: tuple[Fraction, FluidMaximum],
    seed: int,
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the breakpoints of the concave function between two points with their lines above it.

    Where the two lines meet is a breakpoint if the function attains it; else it is divided there.
    """
    (start, first), (end, last) = left, right
    for this, span, other in ((first, end - start, last), (last, start - end, first)):
        if this.load + this.slope * span == other.load:
            return
    difference = last.load - last.slope * end - (first.load - first.slope * start)
    meeting = difference / (first.slope - last.slope)
    maximum = model.maximum(meeting, k, seed)
    if maximum.load == first.load + first.slope * (meeting - start):
        yield meeting, maximum.load
        return
    middle = meeting, maximum
    yield from _breakpoints(model, k, left, middle, seed)
    yield meeting, maximum.load
    yield from _breakpoints(model, k, middle, right, seed)


def _without_collinear(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Leave out the points on the line between their neighbours."""
    breakpoints: list[tuple[Fraction, Fraction]] = []
    for point in points:
        while len(breakpoints) > 1:
            (a, low), (b, middle) = breakpoints[-2:]
            if (middle - low) * (point[0] - a) != (point[1] - low) * (b - a):
                break
            breakpoints.pop()
        breakpoints.append(point)
    return breakpoints
