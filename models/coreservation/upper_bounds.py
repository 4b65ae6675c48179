"""The portfolio of bounding methods: which applies when, for how much of the time.

`CONCURRENT_BOUNDERS` run in this order while ruin and recreate improves the incumbent in the
background, `FINAL_BOUNDERS` after the primal heuristics; each only while the gap of the level is
open, see `level_bounds`.

Examples
--------
>>> [bounder.name for bounder in FINAL_BOUNDERS]
['branch and price', 'full model as a MILP', 'full model']
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.backends.pulp import UNCERTIFIED
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.coreservation import (
    aggregated_relaxation,
    knapsack_bound,
    machine_minimisation,
    milp,
)
from dlopt.models.coreservation.aggregated_relaxation import MAX_EXACT_REQUESTS
from dlopt.models.coreservation.branch_and_price.columns import MAX_SCALED_VALUE
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.construction import construct_from_relaxation, raise_shares
from dlopt.models.coreservation.full_model_bound import (
    full_model_bound,
    milp_probe_bound,
)
from dlopt.models.coreservation.level_bounds import (
    FLOAT_BOUND_SLACK,
    MACHINE_BOUND_TIME_SHARE,
    MAX_SMALL_REQUESTS,
    PortfolioState,
    UpperBound,
)
from dlopt.models.coreservation.objective import (
    ObjectiveScaling,
    max_contribution,
    trivial_bound,
    value_of_empty,
)

RELAXATION_TIME_SHARE = 1 / 8
"""For the aggregated relaxation in exact arithmetic.

Chosen by hand: with more the bound is tighter, with less there is more time for schedules.
"""
BRIEF_RELAXATION_TIME_SHARE = 1 / 20
"""The same where the relaxation in floats follows, which bounds better in the same time."""
FLOAT_RELAXATION_TIME_SHARE = 1 / 4
"""For the aggregated relaxation as a MILP in floats.

In benchmarks/results/coreservation.md (Min's own setting, seed 5) it reaches .8233 in these 10 s of
a minute, and its optimum .8228 in 57 s.
"""
FLOAT_RELAXATION_NODES = 20
"""Nodes of that MILP: most of what it gains it gains at the root."""
PACKING_TIME_SHARE = 1 / 4
"""For packing all requests, if accepting everything is bin packing; chosen by hand."""
EARLY_MODEL_TIME_SHARE = 1 / 5
"""For the full model before the primal heuristics have all that is left; chosen by hand."""
MAX_EARLY_CHOICES = 4000
"""Parts times machines up to which the full model is tried that early; chosen by hand."""
PROBE_TIME_SHARE = 0.05
"""For the full model before branch and price; chosen by hand: it proves easy instances sooner."""
BRANCH_AND_PRICE_TIME_SHARE = 9 / 10
"""For branch and price; the rest is for the full model."""
MILP_PROBE_TIME_SHARE = 1 / 4
"""For the full model as a MILP, where CP-SAT's integers are very large; chosen by hand."""
LARGE_CAPACITY = 10**8
"""Units of capacity from which on the full model is solved as a MILP first.

CP-SAT propagates such sums unit by unit and may not end. Chosen by hand: those of decimals are
smaller.
"""


def machine_count_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Bound the machines of a schedule that accepts everything; others may have fewer."""
    if len(state.result.incumbent) < len(state.scaled.parts):
        return None
    return UpperBound(-Fraction(state.machine_bound.bound), state.machine_bound.proof)


def fractional_knapsack_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    """Bound a level by fractional knapsacks at single instants."""
    bound = knapsack_bound.upper_bound(state.scaled, level)
    return UpperBound(bound, "fractional knapsacks, exact")


def relaxation_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    """Bound a level by the aggregated relaxation, and construct a schedule from its solution."""
    scaled = state.scaled
    bound = aggregated_relaxation.upper_bound(
        scaled,
        level,
        state.budget.left(share),
        incumbent=state.value,
        fixed_levels=state.fixed_levels,
        seed=state.seed,
    )
    if bound.value is None:
        raise SolverError("the aggregated relaxation excludes a schedule that was found")
    if bound.shares:
        constructed = construct_from_relaxation(scaled, bound.accepted, bound.shares)
        state.update_incumbent(raise_shares(scaled, constructed))
    plural = "s" * (bound.subproblems != 1)
    proof = f"aggregated relaxation, exact, {bound.subproblems} branch-and-bound node{plural}"
    return UpperBound(bound.value, proof)


def packing_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Accept everything by bin packing, or prove that some request is rejected."""
    scaled = state.scaled
    machines = machine_minimisation.minimise_machines(scaled, state.budget.left(share), state.seed)
    if machines.assignment is not None:
        state.update_incumbent(raise_shares(scaled, machines.assignment))
    if machines.bound <= len(scaled.free):
        return None
    lost = min(max_contribution(scaled, level, k) for k in range(len(scaled.requests)))
    proof = f"not all requests fit: {machines.proof}"
    return UpperBound(trivial_bound(scaled, level) - lost, proof)


def float_relaxation_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Bound a level by HiGHS's branch and bound over the aggregated relaxation, in floats."""
    scaled, limits = state.scaled, state.budget.left(share)
    nodes = min(limits.work or FLOAT_RELAXATION_NODES, FLOAT_RELAXATION_NODES)
    bound = aggregated_relaxation.float_mip_bound(
        scaled,
        level,
        replace(limits, work=nodes),
        fixed_levels=state.fixed_levels,
        seed=state.seed,
    )
    if bound is None:
        return None
    bound += FLOAT_BOUND_SLACK * (trivial_bound(scaled, level) - value_of_empty(scaled, level))
    return UpperBound(
        milp.round_count_bound(level, bound, FLOAT_BOUND_SLACK),
        f"aggregated relaxation, HiGHS {UNCERTIFIED}",
        uncertified=True,
        relies_on_solver=True,
    )


def early_model_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Solve the full model for a share of the time; None if that is too short."""
    with suppress(TimeoutError):
        return full_model_bound(state, level, share)
    return None


def branch_and_price_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    """Solve a level by branch and price, unless the full model closes the gap in a short time."""
    scaled = state.scaled
    state.update_incumbent(
        state.heuristics.ruin_and_recreate(state.result.incumbent, state.budget, PROBE_TIME_SHARE)
    )
    with suppress(TimeoutError):
        probe = full_model_bound(state, level, PROBE_TIME_SHARE)
        if state.is_closed([probe]):
            return probe
    budget = Budget(state.budget.left(share))
    search = BranchAndPrice(scaled, level, state.result.incumbent, budget, state.seed)

    def read(running: BranchAndPrice) -> tuple[dict[int, tuple[int, int]], None]:
        return raise_shares(scaled, running.assignment), None

    with state.watching(read) as report:
        report(search)
        outcome = search.run()
    state.update_incumbent(raise_shares(scaled, outcome.assignment))
    arithmetic = "pricing by CP-SAT" if outcome.relies_on_solver else "certified in integers"
    proof = f"branch-and-price, {arithmetic}, {outcome.nodes} node{'s' * (outcome.nodes != 1)}"
    bound = outcome.bound + value_of_empty(scaled, level)
    return UpperBound(bound, proof, relies_on_solver=outcome.relies_on_solver)


def _counts_machines(state: PortfolioState, level: str) -> bool:
    return level == "machines"


def _relaxation_applies(state: PortfolioState, level: str) -> bool:
    return state.options.relaxation and level != "machines"


def _small_relaxation_applies(state: PortfolioState, level: str) -> bool:
    return _relaxation_applies(state, level) and len(state.scaled.requests) <= MAX_SMALL_REQUESTS


def _large_relaxation_applies(state: PortfolioState, level: str) -> bool:
    return _relaxation_applies(state, level) and len(state.scaled.requests) > MAX_SMALL_REQUESTS


def _packing_applies(state: PortfolioState, level: str) -> bool:
    return _relaxation_applies(state, level) and state.is_bin_packing


def _early_model_applies(state: PortfolioState, level: str) -> bool:
    """Tell whether the full model has some time before heuristics have all that is left."""
    choices = len(state.scaled.parts) * len(state.scaled.free)
    return (
        state.options.full_model
        and state.budget.limits.time_s is not None
        and state.primal_time_share == 1
        and state.options.primal_heuristics
        and choices <= MAX_EARLY_CHOICES
    )


def _branch_and_price_applies(state: PortfolioState, level: str) -> bool:
    """Tell whether there are so few requests that branch and price may prove the first level."""
    return (
        state.options.relaxation
        and state.options.full_model
        and len(state.scaled.requests) <= MAX_EXACT_REQUESTS
        and not state.result.proven_levels
        and state.options.formulation == "cp-sat"
        and level != "machines"
        and ObjectiveScaling.for_level(state.scaled, level, MAX_SCALED_VALUE >> 10).exact
    )


def _milp_probe_applies(state: PortfolioState, level: str) -> bool:
    """Tell whether CP-SAT may not end because capacities are very large integers."""
    return (
        state.options.full_model
        and state.options.formulation == "cp-sat"
        and level != "machines"
        and len(state.scaled.requests) <= MAX_SMALL_REQUESTS
        and max(map(max, state.scaled.free), default=0) >= LARGE_CAPACITY
    )


def _full_model_applies(state: PortfolioState, level: str) -> bool:
    return state.options.full_model


@dataclass(frozen=True, slots=True)
class Bounder:
    """A bounding method of the portfolio.

    Parameters
    ----------
    name : str
    applies : callable
        Whether it is used, given the state and the level.
    time_share : float
        Share of the time that is left when it starts.
    run : callable
        Returns a bound of the level, given the state, the level and the share; None if there is
        none. `TimeoutError` ends the search of the level.
    only_if_open : bool
        Whether it is left out where the gap of the level is closed.
    """

    name: str
    applies: Callable[[PortfolioState, str], bool]
    time_share: float
    run: Callable[[PortfolioState, str, float], UpperBound | None]
    only_if_open: bool = True


CONCURRENT_BOUNDERS = (
    Bounder(
        "machine minimisation",
        _counts_machines,
        MACHINE_BOUND_TIME_SHARE,
        machine_count_bound,
        only_if_open=False,
    ),
    # Quadratic in the instants, so it is cheap for few requests only.
    Bounder("fractional knapsacks", _small_relaxation_applies, 1, fractional_knapsack_bound),
    Bounder(
        "aggregated relaxation",
        _small_relaxation_applies,
        RELAXATION_TIME_SHARE,
        relaxation_bound,
    ),
    Bounder(
        "brief aggregated relaxation",
        _large_relaxation_applies,
        BRIEF_RELAXATION_TIME_SHARE,
        relaxation_bound,
    ),
    Bounder("bin packing", _packing_applies, PACKING_TIME_SHARE, packing_bound),
    Bounder(
        "aggregated relaxation in floats",
        _large_relaxation_applies,
        FLOAT_RELAXATION_TIME_SHARE,
        float_relaxation_bound,
    ),
    Bounder("early full model", _early_model_applies, EARLY_MODEL_TIME_SHARE, early_model_bound),
)
"""Run concurrently with ruin and recreate."""

FINAL_BOUNDERS = (
    Bounder(
        "branch and price",
        _branch_and_price_applies,
        BRANCH_AND_PRICE_TIME_SHARE,
        branch_and_price_bound,
    ),
    Bounder("full model as a MILP", _milp_probe_applies, MILP_PROBE_TIME_SHARE, milp_probe_bound),
    Bounder("full model", _full_model_applies, 1, full_model_bound),
)
"""Run after the primal heuristics."""
