"""The portfolio: bounding methods and primal heuristics, which applies when, for how much time.

`STEPS` run in this order while the gap of the level is open, see `portfolio_state` for the state
that they share and `dlopt.models.common.portfolio` for their shares of the time. What is cheap
comes first: bounds at single instants, the aggregated relaxation, whether everything fits, and a
full model that is not too large, for a tenth of the time.

Examples
--------
>>> [step.name for step in STEPS if step.share == 1][:3]
['fractional knapsacks', 'coarser units', 'primal heuristics alone']
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dlopt.backends.pulp import UNCERTIFIED
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.common.portfolio import Step
from dlopt.models.coreservation import (
    aggregated_relaxation,
    knapsack_bound,
    milp,
)
from dlopt.models.coreservation.aggregated_relaxation import MAX_EXACT_REQUESTS
from dlopt.models.coreservation.branch_and_price.columns import MAX_SCALED_VALUE
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.construction import construct_from_relaxation, raise_shares
from dlopt.models.coreservation.full_model_bound import full_model_bound, milp_bound
from dlopt.models.coreservation.machine_reduction import reduce_machines
from dlopt.models.coreservation.objective import (
    ObjectiveScaling,
    trivial_bound,
    value_of_empty,
)
from dlopt.models.coreservation.packing_bound import machine_count_bound, packing_bound
from dlopt.models.coreservation.portfolio_state import (
    FLOAT_BOUND_SLACK,
    MACHINE_BOUND_TIME_SHARE,
    MAX_MEDIUM_CHOICES,
    MAX_SMALL_REQUESTS,
    PortfolioState,
    UpperBound,
)
from dlopt.models.coreservation.rounded_units_bound import rounded_units_bound

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
PROBE_TIME_SHARE = 1 / 10
"""For the full model before what takes long; chosen by hand: it proves easy instances at once."""
FEW_REQUESTS_PROBE_TIME_SHARE = 1 / 20
"""The same up to `MAX_EXACT_REQUESTS`, before ruin and recreate takes as much; chosen by hand."""
SMALL_PRIMAL_TIME_SHARE = 0.15
"""For the primal heuristics up to `MAX_SMALL_REQUESTS`; chosen by hand."""
PRIMAL_TIME_SHARE = 0.6
"""For the primal heuristics of larger instances, up to `MAX_MEDIUM_CHOICES`.

Chosen by hand; the rest is for the full model.
"""
LARGE_PRIMAL_TIME_SHARE = 0.9
"""For the primal heuristics of the largest instances; the full model has the rest at any size."""
FEWER_MACHINES_TIME_SHARE = 0.9
"""For schedules on fewer machines, which need less time than the full model; chosen by hand."""
BRANCH_AND_PRICE_TIME_SHARE = 9 / 10
"""For branch and price; the rest is for the full model."""
NO_UNIT_MILP_TIME_SHARE = 1 / 2
"""For the full model as a MILP where CPU has no usable unit; chosen by hand.

It bounds well where benefits have slopes, but its schedules may be feasible in floats only: the
portfolio in coarser units has all that is left.
"""
MILP_PROBE_TIME_SHARE = 1 / 4
"""For the full model as a MILP, where CP-SAT's integers are very large; chosen by hand."""
LARGE_CAPACITY = 10**8
"""Units of capacity from which on the full model is solved as a MILP first.

CP-SAT propagates such sums unit by unit and may not end. Chosen by hand: those of decimals are
smaller.
"""

LONG_SLOPES_TIME_SHARE = 1 / 2
"""For the full model as a MILP if benefits have long slopes; chosen by hand."""


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


def coarser_units_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    """Bound a level by these steps in coarser units of CPU, where there are no usable ones."""
    return rounded_units_bound(state, level, share, STEPS)


def improve(state: PortfolioState, level: str, share: float) -> None:
    """Improve the incumbent by the primal heuristics until it meets the bound."""
    bounds = state.open_bounds
    bound = state.tightest(bounds).value
    target = [value for _, value in state.fixed_levels]
    target.append(bound / (1 + state.gap) if bound > 0 else bound)
    state.heuristics.run(
        state.result.incumbent, share, target, lambda: state.is_closed(state.open_bounds)
    )


def improve_few(state: PortfolioState, level: str, share: float) -> None:
    """Improve the incumbent by interpreted ruin and recreate alone."""
    incumbent = state.result.incumbent
    state.update_incumbent(state.heuristics.ruin_and_recreate(incumbent, state.budget, share))


def branch_and_price_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    """Solve a level by branch and price."""
    scaled = state.scaled
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


def _has_machines_to_save(state: PortfolioState, level: str) -> bool:
    return level == "machines" and state.improves


def _is_relaxed(state: PortfolioState, level: str) -> bool:
    return state.options.relaxation and level != "machines"


def _has_no_usable_unit(state: PortfolioState, level: str) -> bool:
    """Tell whether CP-SAT needs coarser units, and levels that are fixed are the same in them."""
    fixed = {name for name, _ in state.fixed_levels}
    return (
        state.scaled.scaling_failure is not None
        and state.options.full_model
        and _is_relaxed(state, level)
        and "benefit" not in fixed
    )


def _is_small(state: PortfolioState) -> bool:
    return len(state.scaled.requests) <= MAX_SMALL_REQUESTS


def _is_medium(state: PortfolioState) -> bool:
    """Tell whether the full model of more requests is small enough to be solved for long."""
    return state.choices <= MAX_MEDIUM_CHOICES


def _is_small_and_relaxed(state: PortfolioState, level: str) -> bool:
    return _is_relaxed(state, level) and _is_small(state)


def _is_large_and_relaxed(state: PortfolioState, level: str) -> bool:
    return _is_relaxed(state, level) and not _is_small(state)


def _is_packing(state: PortfolioState, level: str) -> bool:
    return _is_relaxed(state, level) and state.packing_clique is not None


def _has_few_requests(state: PortfolioState, level: str) -> bool:
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


def _is_improved_and_modelled(state: PortfolioState, level: str) -> bool:
    return state.options.full_model and state.improves and level != "machines"


def _is_probed(state: PortfolioState, level: str) -> bool:
    """Tell whether the full model may be solved sooner than the primal heuristics end."""
    return _is_improved_and_modelled(state, level) and (_is_small(state) or _is_medium(state))


def _is_improved(state: PortfolioState, level: str) -> bool:
    return state.improves and not state.options.full_model and level != "machines"


def _is_small_and_improved(state: PortfolioState, level: str) -> bool:
    return _is_improved_and_modelled(state, level) and _is_small(state)


def _is_medium_and_improved(state: PortfolioState, level: str) -> bool:
    return _is_probed(state, level) and not _is_small(state)


def _is_large_and_improved(state: PortfolioState, level: str) -> bool:
    return _is_improved_and_modelled(state, level) and not _is_probed(state, level)


def _has_large_integers(state: PortfolioState, level: str) -> bool:
    """Tell whether CP-SAT may not end because capacities are very large integers."""
    return (
        state.options.full_model
        and state.options.formulation == "cp-sat"
        and level != "machines"
        and _is_small(state)
        and max(map(max, state.scaled.free), default=0) >= LARGE_CAPACITY
    )


def _has_long_slopes(state: PortfolioState, level: str) -> bool:
    """Tell whether CP-SAT would raise shares in many small steps."""
    is_asked = state.options.full_model and state.options.formulation == "cp-sat"
    return is_asked and level == "benefit" and milp.has_long_slopes(state.scaled)


def _has_few_long_slopes(state: PortfolioState, level: str) -> bool:
    return _is_small(state) and _has_long_slopes(state, level)


def _has_full_model(state: PortfolioState, level: str) -> bool:
    return state.options.full_model


STEPS: tuple[Step[PortfolioState, Fraction], ...] = (
    Step(
        "machine minimisation",
        MACHINE_BOUND_TIME_SHARE,
        machine_count_bound,
        _counts_machines,
        only_if_open=False,
    ),
    # Quadratic in the instants, so it is cheap for few requests only.
    Step("fractional knapsacks", 1, fractional_knapsack_bound, _is_small_and_relaxed),
    Step("full model, long slopes", LONG_SLOPES_TIME_SHARE, milp_bound, _has_few_long_slopes),
    Step("aggregated relaxation", RELAXATION_TIME_SHARE, relaxation_bound, _is_small_and_relaxed),
    Step(
        "brief aggregated relaxation",
        BRIEF_RELAXATION_TIME_SHARE,
        relaxation_bound,
        _is_large_and_relaxed,
    ),
    Step(
        "full model without a usable unit",
        NO_UNIT_MILP_TIME_SHARE,
        full_model_bound,
        _has_no_usable_unit,
    ),
    Step("coarser units", 1, coarser_units_bound, _has_no_usable_unit),
    Step("bin packing", PACKING_TIME_SHARE, packing_bound, _is_packing),
    Step("full model, briefly", PROBE_TIME_SHARE, full_model_bound, _is_probed),
    Step(
        "one machine fewer",
        FEWER_MACHINES_TIME_SHARE,
        reduce_machines,
        _has_machines_to_save,
    ),
    Step(
        "aggregated relaxation in floats",
        FLOAT_RELAXATION_TIME_SHARE,
        float_relaxation_bound,
        _is_large_and_relaxed,
    ),
    Step("primal heuristics alone", 1, improve, _is_improved),
    Step("primal heuristics, briefly", SMALL_PRIMAL_TIME_SHARE, improve, _is_small_and_improved),
    Step("primal heuristics", PRIMAL_TIME_SHARE, improve, _is_medium_and_improved),
    Step(
        "primal heuristics of the largest instances",
        LARGE_PRIMAL_TIME_SHARE,
        improve,
        _is_large_and_improved,
    ),
    Step(
        "ruin and recreate of few requests",
        FEW_REQUESTS_PROBE_TIME_SHARE,
        improve_few,
        _has_few_requests,
    ),
    Step(
        "full model of few requests",
        FEW_REQUESTS_PROBE_TIME_SHARE,
        full_model_bound,
        _has_few_requests,
    ),
    Step(
        "branch and price",
        BRANCH_AND_PRICE_TIME_SHARE,
        branch_and_price_bound,
        _has_few_requests,
    ),
    Step("full model as a MILP", MILP_PROBE_TIME_SHARE, milp_bound, _has_large_integers),
    Step("full model with many long slopes", 1, milp_bound, _has_long_slopes),
    Step("full model", 1, full_model_bound, _has_full_model),
)
"""The portfolio of a level."""
