"""The state of the portfolio: trivial bounds of the levels, and when their gaps are closed.

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
>>> bounds = [state.trivial_bound("rejections"), Bound(Fraction(-1), "one is rejected")]
>>> state.value, state.is_closed(bounds[:1]), state.is_closed(bounds)
(Fraction(-1, 1), False, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

from dlopt.backends.time_budget import Budget
from dlopt.models.common.lexicographic import Bound, LexicographicSearch, SearchResult
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.aggregated_relaxation import MAX_EXACT_REQUESTS
from dlopt.models.coreservation.objective import (
    Assignment,
    ObjectiveScaling,
    objective_key,
    trivial_bound,
)
from dlopt.models.coreservation.primal_heuristics import PrimalHeuristics
from dlopt.models.coreservation.requests import Clique
from dlopt.models.coreservation.scaled_instance import ScaledInstance

Formulation = Literal["cp-sat", "milp"]

MAX_SMALL_REQUESTS = 30
"""Requests up to which the full model has most of the time; chosen by hand."""
MAX_MEDIUM_CHOICES = 4000
"""Parts times machines up to which the full model may prove more than better schedules bring.

Chosen by hand.
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


UpperBound: TypeAlias = Bound[Fraction]
"""A bound of a level, which is maximised."""

AssignmentResult: TypeAlias = SearchResult[dict[int, tuple[int, int]], Fraction]
"""The best assignment, and the bounds of its levels."""


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


class PortfolioState(LexicographicSearch[str, dict[int, tuple[int, int]], Fraction]):
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
    result : AssignmentResult
    heuristics : PrimalHeuristics
    """

    def __init__(
        self, scaled: ScaledInstance, budget: Budget, seed: int, options: SearchOptions
    ) -> None:
        self.scaled, self.budget, self.seed, self.options = scaled, budget, seed, options
        super().__init__(scaled.levels, {}, budget.limits.gap)
        self.heuristics = PrimalHeuristics(scaled, budget, seed, self.update_incumbent)
        self._exact_scaling: dict[str, bool] = {"machines": True}

    def objective_key(self, incumbent: Assignment) -> tuple[Fraction, ...]:
        """Return the values of all levels, which are maximised."""
        return objective_key(self.scaled, incumbent)

    def trivial_bound(self, level: str) -> UpperBound:
        """Return the bound of all requests accepted with their largest benefit."""
        return UpperBound(trivial_bound(self.scaled, level), TRIVIAL)

    def tolerance(self, bound: Fraction) -> Fraction:
        """Return how much a bound may exceed the value that is optimal.

        It does so by the rounding of coefficients, which is upwards, or of a solver in floats.
        """
        if bound <= self.value:
            return Fraction(0)
        level = self.levels[self.result.proven_levels]
        floats = self._has_float_bound and not self.scaled.instance.exact
        if level == "benefit" and floats:
            return 2 * FLOAT_BOUND_SLACK
        exact_scaling = self._has_exact_scaling(level)
        return Fraction(0) if exact_scaling else CLOSED_TOLERANCE * abs(self.value)

    def is_closed(self, bounds: Sequence[UpperBound]) -> bool:
        """Tell whether the gap of the level is as small as was asked for, or as it can be.

        Where coefficients are rounded, no solver proves more than a bound in floats that the
        benefit meets up to its slack: what is left is for a certificate.
        """
        if super().is_closed(bounds):
            return True
        tightest, level = self.tightest(bounds), self.levels[self.result.proven_levels]
        met = tightest.value - self.value <= 2 * FLOAT_BOUND_SLACK
        benefit = level == "benefit" and tightest.uncertified
        return met and benefit and not self._has_exact_scaling(level)

    @property
    def choices(self) -> int:
        """Pairs of a part and a machine: the size of the full model."""
        return len(self.scaled.parts) * len(self.scaled.free)

    @property
    def improves(self) -> bool:
        """Whether primal heuristics are used: with few requests the full model is solved soon."""
        few = self.options.full_model and len(self.scaled.requests) <= MAX_EXACT_REQUESTS
        return self.options.primal_heuristics and not few

    @cached_property
    def machine_bound(self) -> machine_minimisation.MachineBound:
        """The fewest machines that hold everything."""
        limits = self.budget.left(MACHINE_BOUND_TIME_SHARE)
        return machine_minimisation.minimise_machines(self.scaled, limits, self.seed)

    @cached_property
    def packing_clique(self) -> Clique | None:
        """The clique of all parts if accepting all is bin packing: no part names its machine."""
        scaled = self.scaled
        if len(scaled.requests) <= MAX_EXACT_REQUESTS or not self.options.full_model:
            return None
        for part in scaled.parts:
            free = (min(row[part.start : part.end]) for row in scaled.free)
            if part.machines != tuple(j for j, room in enumerate(free) if room >= part.minimum):
                return None
        cliques = scaled.maximal_cliques()
        return next((each for each in cliques if len(each.parts) == len(scaled.parts)), None)

    @property
    def _has_float_bound(self) -> bool:
        """Whether the tightest bound of the level is that of a MILP."""
        bounds = self.open_bounds
        milp = self.options.formulation == "milp"
        return milp or (bool(bounds) and self.tightest(bounds).uncertified)

    def _has_exact_scaling(self, level: str) -> bool:
        if level not in self._exact_scaling:
            scaling = ObjectiveScaling.for_level(self.scaled, level)
            self._exact_scaling[level] = scaling.exact
        return self._exact_scaling[level]
