"""The full model, over all requests and machines, as a bounding method: CP-SAT, or the MILP."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from dlopt.arithmetic import exact
from dlopt.backends import cpsat
from dlopt.backends.pulp import UNCERTIFIED, Outcome
from dlopt.backends.size_limits import check_size, too_large
from dlopt.errors import SolverError
from dlopt.models.coreservation import milp
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.cpsat_benefit_segments import estimated_terms as cpsat_terms
from dlopt.models.coreservation.cpsat_benefit_segments import new_model
from dlopt.models.coreservation.objective import ObjectiveScaling, trivial_bound, value_of_empty
from dlopt.models.coreservation.portfolio_state import FLOAT_BOUND_SLACK, PortfolioState, UpperBound
from dlopt.models.coreservation.program_size import CP_SAT, MILP
from dlopt.result import Status

SECONDS_PER_TERM = 5e-6
"""To state a model takes half of that for each term: what cannot be stated in time is not."""
MILP_PROBE_NODES = 10_000
"""Branch-and-bound nodes of the MILP for a share of an unlimited time; chosen by hand."""
PROBE_EFFORT = 1.0
"""CP-SAT's deterministic time for a share of an unlimited time; chosen by hand."""


def full_model_bound(state: PortfolioState, level: str, share: float = 1) -> UpperBound:
    """Solve the full model, over all requests and machines.

    Raises
    ------
    TimeoutError
        If there is no bound in time, or the model is too large to be stated.
    NotApplicableError
        If it is too large, and all that was asked for.
    """
    is_milp = state.options.formulation == "milp"
    size = milp.estimated_terms(state.scaled) if is_milp else cpsat_terms(state.scaled)
    seconds = state.budget.left(share).time_s
    if _is_too_large(state, size, MILP if is_milp else CP_SAT):
        raise TimeoutError
    if seconds is not None and size * SECONDS_PER_TERM > seconds:
        raise TimeoutError
    return (milp_bound if is_milp else _cpsat_bound)(state, level, share)


def _is_too_large(state: PortfolioState, size: float, model: str) -> bool:
    """Tell whether the full model is too large to be stated, next to the relaxation."""
    if not state.options.relaxation:
        check_size(model, size)
    state.result.skipped_reason = too_large(model, size) or state.result.skipped_reason
    return state.result.skipped_reason is not None


def _cpsat_bound(state: PortfolioState, level: str, share: float) -> UpperBound:
    scaled = state.scaled
    scaling = ObjectiveScaling.for_level(scaled, level)
    model = new_model(scaled, symmetric=state.options.symmetric, with_slopes=share < 1)
    model.add_aggregate_capacity()
    for fixed_level, value in state.fixed_levels:
        _fix_level(model, fixed_level, value)
    objective = model.objective_expression(scaling)
    model.model.maximize(objective)
    model.hint(state.result.incumbent)
    limits, effort = state.budget.left(share), None
    if limits.time_s is None and share < 1:
        effort = PROBE_EFFORT

    def read(known: cpsat.Outcome) -> tuple[dict[int, tuple[int, int]] | None, UpperBound | None]:
        assignment = None if known.value_of is None else model.read_assignment(known)
        if known.bound is None:
            return assignment, None
        rounded = "" if scaling.exact else " (rounded up)"
        bound = Fraction(known.bound, scaling.factor) + value_of_empty(scaled, level)
        proof = f"{cpsat.NAME} with a scaled objective{rounded}"
        return assignment, UpperBound(bound, proof, relies_on_solver=True)

    with state.watching(read) as report:
        outcome = model.solve(limits, state.seed, effort, report)
    if outcome.status is Status.INFEASIBLE:
        raise SolverError("CP-SAT excludes a schedule that was found")
    assignment, bound = read(outcome)
    if bound is None:
        raise TimeoutError
    state.update_incumbent(assignment)
    return bound


def _fix_level(model: CpSatModel, level: str, value: Fraction) -> None:
    """Require that a proven level keeps its value."""
    scaling = ObjectiveScaling.for_level(model.scaled, level)
    minimum = value - value_of_empty(model.scaled, level)
    model.model.add(model.objective_expression(scaling) >= int(minimum * scaling.factor))


def milp_bound(state: PortfolioState, level: str, share: float = 1) -> UpperBound:
    """Solve the full model as a MILP.

    Raises
    ------
    TimeoutError
        If there is no bound in time, or none that can be believed: within its tolerance HiGHS may
        call infeasible what proven levels leave, although a schedule is known.
    """
    scaled = state.scaled
    model = milp.MilpModel(scaled, symmetric=state.options.symmetric)
    for fixed_level, value in state.fixed_levels:
        model.require(fixed_level, value - value_of_empty(scaled, fixed_level))
    limits = state.budget.left(share)
    if limits.time_s is None and share < 1:
        limits = replace(limits, work=min(limits.work or MILP_PROBE_NODES, MILP_PROBE_NODES))

    def read(known: Outcome) -> tuple[dict[int, tuple[int, int]] | None, UpperBound | None]:
        assignment = model.read_assignment(known) if known.assignment else None
        return assignment, _of_milp(state, level, known)

    with state.watching(read) as report:
        outcome = model.maximise(level, limits, state.options.solver, state.seed, report)
    if outcome.status is Status.INFEASIBLE:
        raise TimeoutError
    assignment, proven = read(outcome)
    state.update_incumbent(assignment)
    if proven is None:
        raise TimeoutError
    return proven


def _of_milp(state: PortfolioState, level: str, outcome: Outcome) -> UpperBound | None:
    """Return the bound of a level from the dual bound of the MILP, with a margin for rounding."""
    if outcome.bound is None:
        return None
    scaled = state.scaled
    constant = value_of_empty(scaled, level)
    bound = milp.round_count_bound(level, exact(outcome.bound) + constant, FLOAT_BOUND_SLACK)
    if level in ("benefit", "rejected-priority"):
        gain = bound - constant
        gain += FLOAT_BOUND_SLACK * (trivial_bound(scaled, level) - constant)
        scaling = ObjectiveScaling.for_level(scaled, level)
        if scaling.exact:  # every value of a schedule is a multiple of its step
            gain = Fraction(floor(gain * scaling.factor), scaling.factor)
        bound = constant + gain
    proof = f"{outcome.solver} {UNCERTIFIED}"
    return UpperBound(bound, proof, uncertified=True, relies_on_solver=True)
