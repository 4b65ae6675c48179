"""The aggregated relaxation: all machines as one at every instant; acceptance is branched on.

With the symbols of `cpsat`, but no assignment to machines; segments that cross a size are split
there, so that a segment lies below or above it (ours)::

    maximise    sum_i w_k(i) sum_q (b_iq z_iq + m_iq r_iq)              benefit, or the other levels
    subject to  sum_q z_iq = x_k(i)                                     one segment
                0 <= r_iq <= (high_iq - low_iq) z_iq                    increment on the segment
                sum_{i active at t} c_i <= sum_j C_jt                   aggregate capacity
                sum_{i active at t} c_i [c_i > s] <= sum_{C_jt > s} C_jt    parts larger than s
                #{i active at t : c_i > s} <= sum_j floor(C_jt / (s + 1))   how many of them fit
                sum_{i fixed to j, active at t} c_i <= C_jt             parts that name machine j
                x in {0, 1} by branch and bound, 0 <= z <= 1

It is bounded in exact arithmetic from duals in floats (see `dlopt.backends.branch_and_bound`);
mixed-integer rounding cuts and one surrogate cut strengthen it.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abcd")
>>> instance = Instance((Machine("m", 5), Machine("n", 5)), requests)
>>> scaled = ScaledInstance.from_instance(instance, "rejections")
>>> upper_bound(scaled, "rejections", Limits()).value  # two large parts fit: two are rejected
Fraction(-2, 1)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram, ProgramBuilder
from dlopt.backends.time_budget import Budget
from dlopt.models.common.leaf_proofs import solve_leaf_exactly
from dlopt.models.coreservation.counting_cuts import counted_sizes
from dlopt.models.coreservation.disaggregated_relaxation import PARTS_PER_MACHINE
from dlopt.models.coreservation.mir_cuts import MirSeparator
from dlopt.models.coreservation.objective import ObjectiveScaling, value_of_empty
from dlopt.models.coreservation.requests import Segment
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.surrogate_cuts import build_surrogate_cut, is_worthwhile
from dlopt.result import Limits

FINEST_STEP = Fraction(1, 1 << 80)
"""The step of bounds whose objective has no exact scaling: it costs nothing to be this small."""
MAX_EXACT_REQUESTS = 12
"""Requests up to which branch and price is tried, and the full model without primal heuristics.

Such instances have no surrogate cut. All 40 instances of 4 to 10 requests of
benchmarks/results/coreservation.md are proven so.
"""
MIN_SURROGATE_GAIN = Fraction(1, 500)
"""A surrogate cut is kept if it improves the bound by this share: it makes branching slow.

Chosen by hand.
"""
MAX_EXACT_LEAVES = 50
"""Leaves of branch and bound whose linear program is solved exactly; chosen by hand."""
MAX_NODES = 2000
"""Branch-and-bound nodes at the most; chosen by hand, to end at all without a time limit."""
SHARE_TOLERANCE = 1e-6
"""A share in floats this little below an integer is that integer, as in HiGHS."""
LARGEST_IN_FLOATS = 2**1000
"""Larger shares are computed in fractions: their sums could exceed the range of floats."""

_ONE = Fraction(1)
_UNIT_INTERVAL = (Fraction(0), _ONE)


@dataclass(frozen=True, slots=True)
class RelaxationBound:
    """A proven bound of a level of the objective.

    Parameters
    ----------
    value : Fraction or None
        No assignment has a larger value of the maximised level; None if there is no assignment.
    accepted : tuple of int
        The requests of which the relaxation accepts at least half, and
    shares : tuple of int
        of all parts the units that it gives them; both empty if it was not solved.
    subproblems : int
        Branch-and-bound nodes.
    """

    value: Fraction | None
    accepted: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()
    subproblems: int = 0


class AggregatedRelaxation(ProgramBuilder):
    """The relaxation as a linear program: columns x of requests, z of segments, r of increments.

    Parameters
    ----------
    scaled : ScaledInstance

    Attributes
    ----------
    segments : list of list of (Segment, int, int or None)
        Of each part its segments, with the columns of z and r; z is x if there is one segment only,
        and r is None where the segment is a point.
    increments : dict of int to (int, Fraction)
        Of each column of r, the column of its segment's z and the segment's length.
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        super().__init__()
        self.scaled = scaled
        largest = max(map(max, scaled.free))
        self.unit = largest if scaled.scaling_failure else 1  # floats cannot add huge numbers
        for _ in scaled.requests:
            self.add_column(*_UNIT_INTERVAL)
        self.segments: list[list[tuple[Segment, int, int | None]]] = []
        self.increments: dict[int, tuple[int, Fraction]] = {}
        sizes = {max(free) // (n + 1) for free in scaled.free for n in PARTS_PER_MACHINE}
        if len({max(free) for free in scaled.free}) > 1:
            sizes = {largest // (n + 1) for n in PARTS_PER_MACHINE}
            sizes |= {max(free) for free in scaled.free}
        self.add_parts(sorted(sizes))
        self.num_part_rows = len(self.rows)
        self.add_capacity()

    def add_parts(self, sizes: Sequence[int]) -> None:
        """An accepted part lies on one segment; its increment is at most the segment's length."""
        for part in self.scaled.parts:
            split = [short for segment in part.segments for short in segment.split(sizes)]
            columns: list[tuple[Segment, int, int | None]] = []
            for segment in split:
                chosen = part.request if len(split) == 1 else self.add_column(*_UNIT_INTERVAL)
                increment = None
                if segment.high > segment.low:
                    length = Fraction(segment.high - segment.low, self.unit)
                    increment = self.add_column(Fraction(0), length)
                    self._at_most([(increment, _ONE), (chosen, -length)], 0)
                    self.increments[increment] = chosen, length
                columns.append((segment, chosen, increment))
            if len(split) > 1:
                terms = [*((chosen, _ONE) for _, chosen, _ in columns), (part.request, -_ONE)]
                self.add_row(terms, Fraction(0), Fraction(0))
            self.segments.append(columns)

    def add_capacity(self) -> None:
        """At every instant there is room for all parts, for the large ones, and for fixed ones."""
        scaled = self.scaled
        machines = range(len(scaled.free))
        for clique in scaled.overloadable_cliques(range(len(scaled.parts)), machines):
            self._at_most(self._load(clique.parts), Fraction(sum(clique.free), self.unit))
            segments = [pair for i in clique.parts for pair in self.segments[i]]
            for size in counted_sizes(clique.free, [segment.low for segment, _, _ in segments]):
                large = [(chosen, _ONE) for segment, chosen, _ in segments if segment.low > size]
                count = sum(free // (size + 1) for free in clique.free)
                if len(large) > count:
                    self._at_most(large, count)
            for size in {*clique.free} - {max(clique.free)}:
                room = sum(free for free in clique.free if free > size)
                self._at_most(self._load(clique.parts, size), Fraction(room, self.unit))
        for j in machines:
            fixed = [i for i, part in enumerate(scaled.parts) if part.machines == (j,)]
            for clique in scaled.overloadable_cliques(fixed, (j,)):
                self._at_most(self._load(clique.parts), Fraction(clique.free[0], self.unit))

    def require_levels(self, levels: Sequence[tuple[str, Fraction]]) -> None:
        """Require the values of some levels."""
        for level, value in levels:
            least = value - value_of_empty(self.scaled, level)
            self.add_row(self.objective_terms(level), least, None)

    def objective_terms(self, level: str) -> list[tuple[int, Fraction]]:
        """Return a maximised level as columns and coefficients, without its constant."""
        scaled = self.scaled
        if level != "benefit":
            return [(k, scaled.weight(level, k)) for k in range(len(scaled.requests))]
        terms: dict[int, Fraction] = {}
        for part, columns in zip(scaled.parts, self.segments, strict=True):
            weight = scaled.weight(level, part.request)
            for segment, chosen, increment in columns:
                terms[chosen] = terms.get(chosen, Fraction(0)) + weight * segment.benefit
                if increment is not None:
                    terms[increment] = weight * segment.slope * self.unit
        return list(terms.items())

    def program(self, level: str) -> LinearProgram:
        """Return the program that maximises a level, as a minimisation."""
        costs = [Fraction(0)] * len(self.costs)
        for column, gain in self.objective_terms(level):
            costs[column] = -gain
        return replace(self.build(), costs=tuple(costs))

    def mir_separator(self) -> MirSeparator:
        """Return the separator of mixed-integer rounding cuts from the capacity rows."""
        first = self.num_part_rows
        pairs = zip(self.rows[first:], self.row_bounds[first:], strict=True)
        rows = [(row, high) for row, (_, high) in pairs if high is not None]
        return MirSeparator(rows, self.increments)

    def shares(self, point: Sequence[float]) -> tuple[int, ...]:
        """Return the share of each part in a solution, rounded down, but not below its minimum."""
        shares = []
        for part, columns in zip(self.scaled.parts, self.segments, strict=True):
            number = float if part.segments[-1].high <= LARGEST_IN_FLOATS else Fraction
            share = number(0)
            for segment, chosen, increment in columns:
                extra = 0 if increment is None else number(point[increment]) * self.unit
                share += segment.low * number(point[chosen]) + extra
            shares.append(max(part.minimum, int(share + number(SHARE_TOLERANCE))))
        return tuple(shares)

    def _load(self, parts: Sequence[int], above: int = -1) -> list[tuple[int, Fraction]]:
        """Return the CPU of some parts, on segments that lie above a size."""
        load: dict[int, Fraction] = {}
        for i in parts:
            for segment, chosen, increment in self.segments[i]:
                if segment.low <= above:
                    continue
                low = Fraction(segment.low, self.unit)
                load[chosen] = load[chosen] + low if chosen in load else low
                if increment is not None:
                    load[increment] = _ONE
        return list(load.items())

    def _at_most(self, terms: Sequence[tuple[int, Fraction]], side: Fraction | int) -> None:
        merged: dict[int, Fraction] = {}
        for column, factor in terms:
            merged[column] = merged[column] + factor if column in merged else factor
        self.add_row(merged.items(), None, Fraction(side))


def upper_bound(
    scaled: ScaledInstance,
    level: str,
    limits: Limits,
    *,
    incumbent: Fraction | None = None,
    fixed_levels: Sequence[tuple[str, Fraction]] = (),
    max_nodes: int = MAX_NODES,
    seed: int = 0,
) -> RelaxationBound:
    """Bound a level of the objective by the aggregated relaxation, in exact arithmetic.

    Parameters
    ----------
    scaled : ScaledInstance
        With at least one request.
    level : str
        Any but ``machines``.
    limits : Limits
        `work` counts branch-and-bound nodes.
    incumbent : Fraction, optional
        A value of the maximised level that is attained: to prove it optimal is enough.
    fixed_levels : sequence of (level, Fraction)
        Earlier levels, with the values that must be attained.
    max_nodes : int
        Branch-and-bound nodes at the most.
    seed : int
    """
    stop = Budget(limits).stop
    model = AggregatedRelaxation(scaled)
    model.require_levels(fixed_levels)
    scaling = ObjectiveScaling.for_level(scaled, level)
    step = Fraction(1, scaling.factor) if scaling.exact else FINEST_STEP

    def new_search() -> BranchAndBound:
        columns = range(len(scaled.requests))
        cuts = model.mir_separator()
        return BranchAndBound(model.program(level), columns, step, cuts, seed, stop)

    search = new_search()
    root_bounds: list[Fraction | None] = []  # proven before the last search, which time may cut
    if max_nodes > 1 and len(scaled.requests) > MAX_EXACT_REQUESTS and is_worthwhile(scaled):
        before = search.minimise(None, 1).bound
        root_bounds.append(before)
        until = inf if limits.time_s is None else time.monotonic() + limits.time_s / 3
        cut = build_surrogate_cut(model, level, seed, until)
        if cut is not None:
            model.add_row(cut[0], None, cut[1])
            with_cut = new_search()
            after = with_cut.minimise(None, 1).bound
            if before is None or after is None or after - before > MIN_SURROGATE_GAIN * abs(before):
                search = with_cut
            search.release()
            root_bounds.append(after)
    constant = value_of_empty(scaled, level)
    target = None if incumbent is None else constant - incumbent
    proven = search.minimise(target, min(limits.work or max_nodes, max_nodes))
    if proven.bound is None:
        return RelaxationBound(None, subproblems=proven.subproblems)
    best = max(bound for bound in (proven.bound, *root_bounds) if bound is not None)
    bound = constant - best
    if not scaling.exact:
        bound = min(bound + FINEST_STEP, constant - exact_leaf_bound(search, proven.bound, stop))
    point = proven.point
    if not point:
        search.release()
        if limits.time_s is not None:  # the first program again, for which there was time before
            search.solver.stop = time.monotonic() + limits.time_s
        point = search.solver.solve().point
    if not point:
        return RelaxationBound(bound, subproblems=proven.subproblems)
    accepted = tuple(k for k in range(len(scaled.requests)) if point[k] > 0.5)
    return RelaxationBound(bound, accepted, model.shares(point), proven.subproblems)


def exact_leaf_bound(search: BranchAndBound, known: Fraction, stop: float) -> Fraction:
    """Return the bound of branch and bound with the linear programs of its leaves solved exactly.

    Duals in floats prove a little less than the optimum. The leaves that decide the bound are
    solved again to a basis, whose optimum is computed in fractions.

    Parameters
    ----------
    search : BranchAndBound
        After `minimise`.
    known : Fraction
        The bound that it returned, which holds where no leaf is left.
    stop : float
        Instant of the monotonic clock at which the remaining leaves keep their bounds.
    """
    leaves = sorted(
        (leaf for leaf in search.leaves if not leaf.infeasible), key=lambda one: one.bound
    )
    certain: Fraction | None = None
    for leaf in leaves[:MAX_EXACT_LEAVES]:
        rough = leaf.bound - search.step  # which it was rounded up to a multiple of
        if certain is not None and rough >= certain:
            break
        optimum = solve_leaf_exactly(search, dict(leaf.fixed), stop)
        if optimum is None:
            return rough if certain is None else min(certain, rough)
        certain = optimum.value if certain is None else min(certain, optimum.value)
    rest = [leaf.bound - search.step for leaf in leaves[MAX_EXACT_LEAVES:]]
    return min([*rest, *([] if certain is None else [certain])], default=known)


def float_mip_bound(
    scaled: ScaledInstance,
    level: str,
    limits: Limits,
    *,
    fixed_levels: Sequence[tuple[str, Fraction]] = (),
    seed: int = 0,
) -> Fraction | None:
    """Bound a level by HiGHS's own branch and bound over the relaxation, with z integer, in floats.

    It bounds better than `upper_bound` does in the same time: parts lie on one segment each, and
    the solver has more kinds of cuts. The bound is not certified; it is None if the solver had none
    in time. Parameters are those of `upper_bound`; `work` counts the solver's nodes.
    """
    stop = Budget(limits).stop
    model = AggregatedRelaxation(scaled)
    model.require_levels(fixed_levels)
    solver = LinearSolver(model.program(level), seed, stop)
    integers = {z for columns in model.segments for _, z, _ in columns}
    integers |= {*range(len(scaled.requests))}
    bound, _ = solver.solve_integral(sorted(integers), limits)
    return None if bound is None else value_of_empty(scaled, level) - exact(bound)
