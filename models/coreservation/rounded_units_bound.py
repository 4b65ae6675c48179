"""Bounds and schedules where CPU has no usable integer unit: it is counted in coarser ones.

Numbers such as the sum of .1 and .2 in floats, or fractions over primes, have a common unit so fine
that sums of shares leave the 64 bits of CP-SAT. Then all CPU is counted in units that are ``g``
times as large, rounded down: free capacities, and both ends of every segment of a benefit function.

**Lemma (relaxation).** Let a schedule give part ``i`` the share ``c_i``. The shares
``floor(c_i / g)`` observe the rounded capacities, lie on the rounded segments, and have at least
the benefit of the schedule less `RoundedUnits.allowance`, the sum over all parts of their weight
times what ``g`` units gain on their steepest segment. *Proof.* A sum of numbers rounded down is at
most the sum rounded down. On a segment from ``low`` with slope ``m`` the increment
``floor(c_i / g) - floor(low / g)`` is more than ``(c_i - low) / g - 1``, so the benefit falls by
less than ``g m``. A segment whose ends are rounded to one number is a point of its largest benefit,
which loses nothing.

So an upper bound of the rounded instance, plus the allowance, is one of the true instance, and
every bound of the count of requests or of their priorities holds as it is. The converse is false:
an assignment of the rounded instance may overload a machine by less than a unit for each part.
`RoundedUnits.to_true` gives the parts of an assignment the low ends of their true segments at the
least, and takes from increments what overflows; where the low ends alone overflow, the schedule is
searched again with that many units less of each machine, where none can that has them.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request, linear
>>> third, odd = Fraction(1, 3), Fraction(10**15 + 1, 10**16)
>>> soft = Part(third, odd, linear())
>>> requests = (Request("r", 0, 0, 9, 1, (soft,)), Request("s", 0, 0, 9, 1, (Part(odd),)))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", Fraction(2, 5)),), requests))
>>> rounded = RoundedUnits.of(scaled)
>>> rounded.instance.free, [s.low for part in rounded.instance.parts for s in part.segments]
(((67108863, 67108863),), [16777215, 16777215])
>>> rounded.to_true({0: (0, 50331648), 1: (0, 16777215)})[1] == (0, scaled.parts[1].minimum)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.common.portfolio import Step, run_steps
from dlopt.models.coreservation.construction import raise_shares
from dlopt.models.coreservation.objective import Assignment
from dlopt.models.coreservation.portfolio_state import (
    AssignmentResult,
    PortfolioState,
    UpperBound,
)
from dlopt.models.coreservation.requests import Segment
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible

MAX_UNITS = 1 << 26
"""Units of the largest capacity.

Rounding costs a relative 1.5e-8 for each part; with `LARGE_CAPACITY` of `upper_bounds`, 10^8 units,
CP-SAT may not end.
"""
RELAXED_SHARE = 2 / 3
"""Of the time for the rounded instance; the rest is for one with less room, if it is needed."""
STEP_SHARE = 0.99
"""The most time that a step of the inner portfolio has: none of them is without a limit."""


@dataclass(frozen=True, slots=True)
class RoundedUnits:
    """An instance in coarser units of CPU.

    Parameters
    ----------
    true : ScaledInstance
    instance : ScaledInstance
        The same requests and machines, all CPU rounded down.
    factor : int
        Units of the true instance to one of the rounded one.
    allowance : Fraction
        By how much its benefit may fall short of the true one.
    """

    true: ScaledInstance
    instance: ScaledInstance
    factor: int
    allowance: Fraction

    @classmethod
    def of(cls, scaled: ScaledInstance, max_units: int = MAX_UNITS) -> RoundedUnits:
        """Round an instance to so many units of the largest capacity."""
        factor = -(-max(map(max, scaled.free)) // max_units) or 1
        parts, allowance = [], Fraction(0)
        for part in scaled.parts:
            segments = tuple(_rounded(segment, factor) for segment in part.segments)
            parts.append(replace(part, segments=segments))
            steepest = max(segment.slope for segment in segments)
            allowance += scaled.weight("benefit", part.request) * steepest
        rounded = replace(
            scaled,
            unit=scaled.unit * factor,
            parts=tuple(parts),
            free=tuple(tuple(units // factor for units in row) for row in scaled.free),
        )
        return cls(scaled, rounded, factor, allowance)

    @property
    def reserve(self) -> int:
        """Units of a machine that the rounding of its parts can take at the most."""
        return max((len(clique.parts) for clique in self.true.maximal_cliques()), default=0)

    def with_reserve(self) -> ScaledInstance:
        """Return the rounded instance with so much less room that every assignment of it fits.

        Except on machines with less room than the reserve, where parts of less than a unit may not.
        """
        reserve = self.reserve
        free = [tuple(max(units - reserve, 0) for units in row) for row in self.instance.free]
        return replace(self.instance, free=tuple(free))

    def to_rounded(self, assignment: Assignment) -> dict[int, tuple[int, int]]:
        """Return an assignment of the true instance in rounded units."""
        return {i: (j, units // self.factor) for i, (j, units) in assignment.items()}

    def to_true(self, assignment: Assignment) -> dict[int, tuple[int, int]] | None:
        """Return an assignment of the true instance with the same choices, or None if it has none.

        Complexity: O(n^2) for n parts, and that of `raise_shares`.
        """
        scaled = self.true
        low_ends, shares = {}, {}
        for i, (j, units) in assignment.items():
            low, high = self._true_segment(i, units)
            low_ends[i], shares[i] = (j, low), (j, min(max(units * self.factor, low), high))
        if not is_feasible(scaled, low_ends):
            return None
        return raise_shares(scaled, _without_overflow(scaled, low_ends, shares))

    def _true_segment(self, i: int, units: int) -> tuple[int, int]:
        """Return the ends of the segment of a part on which rounded units have most benefit."""

        def benefit(pair: tuple[Segment, Segment]) -> tuple[Fraction, int]:
            rounded = pair[1]
            increment = min(units, rounded.high) - rounded.low
            return rounded.benefit + rounded.slope * increment, -pair[0].low

        pairs = zip(self.true.parts[i].segments, self.instance.parts[i].segments, strict=True)
        true, _ = max((pair for pair in pairs if pair[1].low <= units), key=benefit)
        return true.low, true.high


def _rounded(segment: Segment, factor: int) -> Segment:
    """Return a segment whose ends are rounded down."""
    low, high = segment.low // factor, segment.high // factor
    if low == high:
        return Segment(low, low, segment.max_benefit)
    return Segment(low, high, segment.benefit, segment.slope * factor)


def _without_overflow(
    scaled: ScaledInstance, low_ends: Assignment, shares: Assignment
) -> dict[int, tuple[int, int]]:
    """Return shares of which increments are taken where a machine is overloaded.

    Those of the smallest weight first; the low ends of segments fit.
    """
    free = [list(row) for row in scaled.free]
    result = dict(low_ends)
    for i, (j, units) in low_ends.items():
        part = scaled.parts[i]
        for t in range(part.start, part.end):
            free[j][t] -= units
    for i in sorted(shares, key=lambda i: -scaled.weight("benefit", scaled.parts[i].request)):
        part, (j, low) = scaled.parts[i], low_ends[i]
        added = min(shares[i][1] - low, *free[j][part.start : part.end])
        result[i] = j, low + added
        for t in range(part.start, part.end):
            free[j][t] -= added
    return result


def rounded_units_bound(
    state: PortfolioState,
    level: str,
    share: float,
    steps: Sequence[Step[PortfolioState, Fraction]],
) -> UpperBound:
    """Bound a level by the portfolio on the rounded instance, and improve the incumbent.

    Parameters
    ----------
    state : PortfolioState
        Its fixed levels are counts: the benefit of an incumbent is another one in rounded units.
    level : str
    share : float
    steps : sequence of Step
        Of the portfolio.
    """
    rounded, level_index = RoundedUnits.of(state.scaled), state.result.proven_levels
    budget = Budget(state.budget.left(share))
    hint = rounded.to_rounded(state.result.incumbent)
    search = _RoundedSearch(state, rounded.instance, Budget(budget.left(RELAXED_SHARE)), steps)

    def read(running: PortfolioState) -> tuple[dict[int, tuple[int, int]] | None, None]:
        return rounded.to_true(running.snapshot().incumbent), None

    with state.watching(read) as report:
        report(search.inner)
        found = search.run(level, hint)
    assignment = rounded.to_true(found.incumbent)
    if assignment is None:
        narrow = rounded.with_reserve()
        hint = hint if is_feasible(narrow, hint) else {}
        found_there = _RoundedSearch(state, narrow, budget, steps).run(level, hint)
        assignment = rounded.to_true(found_there.incumbent)
    state.update_incumbent(assignment)
    bound = found.bounds[level_index] + (rounded.allowance if level == "benefit" else 0)
    proof = f"{found.proofs[level_index]}, CPU in coarser units"
    return UpperBound(bound, proof, found.relies_on_solver, found.relies_on_solver)


class _RoundedState(PortfolioState):
    """The state of a search in rounded units; levels that are fixed count to their true values.

    A rounded schedule may accept more than any true one. If its count replaced the true one, the
    bounds of the next level would hold for schedules with so many requests only.
    """

    fixed: Mapping[str, Fraction] = {}

    def objective_key(self, incumbent: Assignment) -> tuple[Fraction, ...]:
        """Return the values of all levels, fixed ones at most their true values."""
        values = zip(self.levels, super().objective_key(incumbent), strict=True)
        return tuple(min(value, self.fixed.get(level, value)) for level, value in values)


class _RoundedSearch:
    """The portfolio on the open level of an instance in rounded units."""

    def __init__(
        self,
        state: PortfolioState,
        scaled: ScaledInstance,
        budget: Budget,
        steps: Sequence[Step[PortfolioState, Fraction]],
    ) -> None:
        options = replace(state.options, formulation="cp-sat", primal_heuristics=True)
        self.inner = _RoundedState(scaled, budget, state.seed, options)
        self.inner.fixed = dict(state.fixed_levels)
        # A true bound is one to stop at; rounded schedules may refute it.
        self.target = state.tightest(state.open_bounds)._replace(uncertified=True)
        self.steps = [replace(step, share=min(step.share, STEP_SHARE)) for step in steps]

    def run(self, level: str, hint: Assignment) -> AssignmentResult:
        """Search until the level is proven, or time is up; later levels are left open."""
        inner = self.inner
        inner.result.incumbent = raise_shares(inner.scaled, hint)

        def search_level(searched: str, bounds: list[UpperBound]) -> None:
            if searched in inner.fixed:
                bounds.append(UpperBound(inner.fixed[searched], "a level before"))
            elif searched == level:
                bounds.append(self.target)
                run_steps(self.steps, inner, level, bounds, inner.is_closed)

        inner.prove_levels(search_level)
        return inner.result
