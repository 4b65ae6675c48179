"""The incumbent and the upper bounds of a level: when its gap is closed.

`PortfolioState` is what the bounding methods of `upper_bounds` and the primal heuristics share: the
incumbent, the levels proven so far and the budget.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> from dlopt.result import Limits
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions())
>>> state.update_incumbent({0: (0, scaled.parts[0].minimum)})
>>> bounds = [trivial_upper_bound(state, "rejections"), UpperBound(Fraction(-1), "one is rejected")]
>>> state.value, state.is_closed(bounds[:1]), state.is_closed(bounds)
(Fraction(-1, 1), False, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple

from dlopt.arithmetic import exact
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.objective import (
    Assignment,
    ObjectiveScaling,
    objective_key,
    trivial_bound,
)
from dlopt.models.coreservation.primal_heuristics import PrimalHeuristics
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.result import Proof

Formulation = Literal["cp-sat", "milp"]

MAX_EXACT_REQUESTS = 12
"""Requests up to which branch and price is tried, and the full model without primal heuristics.

All 40 instances of 4 to 10 requests of benchmarks/results/coreservation.md are proven so.
"""
MAX_SMALL_REQUESTS = 30
"""Requests up to which the full model has most of the time; chosen by hand."""
SMALL_PRIMAL_TIME_SHARE = 0.15
"""Share of the time for primal heuristics up to so many requests; else they have all that is left.
"""
MACHINE_BOUND_TIME_SHARE = 1 / 2
"""For the fewest machines that hold everything; chosen by hand."""
FLOAT_BOUND_SLACK = Fraction(1, 10**7)
"""How much a dual bound in floats may be off, relative to the largest objective value.

Chosen by hand: as large as the feasibility tolerances of HiGHS.
"""
CLOSED_TOLERANCE = Fraction(1, 10**9)
"""The relative gap that counts as closed if objective coefficients were rounded up.

They are rounded at 2^-43 of the largest value, about 1e-13, each.
"""

TRIVIAL = "trivial bound (all requests accepted)"


class UpperBound(NamedTuple):
    """A bound of a maximised level.

    Parameters
    ----------
    value : Fraction
    proof : str
        Where it comes from.
    uncertified : bool
        Whether it is a solver's dual bound in floats: it is dropped if a schedule exceeds it.
    relies_on_solver : bool
        Whether a solver is trusted; else it is proven in integers or fractions.
    """

    value: Fraction
    proof: str
    uncertified: bool = False
    relies_on_solver: bool = False


@dataclass
class SearchResult:
    """The incumbent, and what is proven of its levels.

    Attributes
    ----------
    assignment : dict
    bounds : list of Fraction
        Of the maximised levels that are proven, and of the first one that is not.
    proven_levels : int
    proofs : list of str
        Where the bounds come from.
    relies_on_solver : bool
        Whether one of them is a claim of a solver.
    skipped_model : str or None
        Why the full model was not stated.
    """

    assignment: dict[int, tuple[int, int]]
    bounds: list[Fraction] = field(default_factory=list)
    proven_levels: int = 0
    proofs: list[str] = field(default_factory=list)
    relies_on_solver: bool = False
    skipped_model: str | None = None

    @property
    def proof(self) -> Proof:
        """What kind of proof the bounds have."""
        return "solver" if self.relies_on_solver else "exact"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Which methods of the portfolio are used.

    Parameters
    ----------
    formulation : {"cp-sat", "milp"}
        Of the full model, over all requests and machines.
    solver : str
        Of the MILP: any that PuLP knows by name.
    relaxation : bool
        Whether to bound by the aggregated relaxation.
    primal_heuristics : bool
    full_model : bool
    symmetric : bool
        Leave identical machines interchangeable in the full model.
    """

    formulation: Formulation = "cp-sat"
    solver: str = "HiGHS"
    relaxation: bool = True
    primal_heuristics: bool = True
    full_model: bool = True
    symmetric: bool = False


class PortfolioState:
    """What the methods of the portfolio share.

    Parameters
    ----------
    scaled : ScaledInstance
        Of requests whose windows interact.
    budget : Budget
    seed : int
    options : SearchOptions

    Attributes
    ----------
    result : SearchResult
    heuristics : PrimalHeuristics
    """

    def __init__(
        self, scaled: ScaledInstance, budget: Budget, seed: int, options: SearchOptions
    ) -> None:
        self.scaled, self.budget, self.seed, self.options = scaled, budget, seed, options
        self.result = SearchResult({})
        self.heuristics = PrimalHeuristics(scaled, budget, seed, self.update_incumbent)
        self._exact_scaling: dict[str, bool] = {"machines": True}

    def update_incumbent(self, assignment: Assignment) -> None:
        """Keep an assignment if it is lexicographically better."""
        better = objective_key(self.scaled, assignment) > self._key
        if better:
            self.result.assignment = dict(assignment)

    @property
    def _key(self) -> tuple[Fraction, ...]:
        return objective_key(self.scaled, self.result.assignment)

    @property
    def value(self) -> Fraction:
        """The incumbent's value of the level that is searched."""
        return self._key[self.result.proven_levels]

    @property
    def fixed_levels(self) -> list[tuple[str, Fraction]]:
        """The levels proven so far, with their optimal values."""
        levels = self.scaled.levels[: self.result.proven_levels]
        return list(zip(levels, self._key, strict=False))

    @property
    def primal_time_share(self) -> float:
        """The share of the time for primal heuristics."""
        small = len(self.scaled.requests) <= MAX_SMALL_REQUESTS and self.options.full_model
        return SMALL_PRIMAL_TIME_SHARE if small else 1.0

    @cached_property
    def machine_bound(self) -> machine_minimisation.MachineBound:
        """The fewest machines that hold everything."""
        limits = self.budget.left(MACHINE_BOUND_TIME_SHARE)
        return machine_minimisation.minimise_machines(self.scaled, limits, self.seed)

    @cached_property
    def is_bin_packing(self) -> bool:
        """Whether accepting all is bin packing: identical machines, all parts at one instant."""
        scaled = self.scaled
        identical = len({*scaled.free}) == 1 and {part.machines for part in scaled.parts} == {
            tuple(range(len(scaled.free)))
        }
        simultaneous = any(
            len(clique.parts) == len(scaled.parts) for clique in scaled.maximal_cliques()
        )
        return (
            self.options.full_model
            and identical
            and simultaneous
            and len(scaled.requests) > MAX_EXACT_REQUESTS
        )

    def tightest(self, bounds: Sequence[UpperBound]) -> UpperBound:
        """Return the least bound, of those that the incumbent does not refute."""
        value = self.value
        valid = (bound for bound in bounds if not bound.uncertified or bound.value >= value)
        return min(valid, key=lambda bound: (bound.value, bound.relies_on_solver))

    def is_closed(self, bounds: Sequence[UpperBound]) -> bool:
        """Tell whether the gap of the level is as small as was asked for."""
        gap, bound = exact(self.budget.limits.gap), self.tightest(bounds).value
        level = self.scaled.levels[self.result.proven_levels]
        return self.is_optimal(level, self.value, bound) or bound - self.value <= gap * abs(
            self.value
        )

    def is_optimal(self, level: str, value: Fraction, bound: Fraction) -> bool:
        """Tell whether value and bound agree, up to rounding of coefficients or of a solver."""
        floats = self.options.formulation == "milp" and not self.scaled.instance.exact
        if level == "benefit" and floats:
            return bound - value <= 2 * FLOAT_BOUND_SLACK
        return value == bound or (
            not self._has_exact_scaling(level) and bound - value <= CLOSED_TOLERANCE * abs(value)
        )

    def _has_exact_scaling(self, level: str) -> bool:
        if level not in self._exact_scaling:
            scaling = ObjectiveScaling.for_level(self.scaled, level)
            self._exact_scaling[level] = scaling.exact
        return self._exact_scaling[level]


def trivial_upper_bound(state: PortfolioState, level: str) -> UpperBound:
    """Return the bound of all requests accepted with their largest benefit."""
    return UpperBound(trivial_bound(state.scaled, level), TRIVIAL)
