"""Bounds by bin packing: whether everything fits, and on how few machines.

Examples
--------
>>> from dlopt.backends.time_budget import Budget
>>> from dlopt.models.coreservation.portfolio_state import SearchOptions
>>> from dlopt.models.coreservation.scaled_instance import ScaledInstance
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> from dlopt.result import Limits
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> instance = Instance(tuple(Machine(f"m{j}", 6) for j in range(3)), requests)
>>> scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
>>> state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions())
>>> state.update_incumbent(state.machine_bound.assignment)
>>> machine_count_bound(state, "machines", 1).value
Fraction(-2, 1)
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.construction import raise_shares
from dlopt.models.coreservation.objective import max_contribution, trivial_bound
from dlopt.models.coreservation.portfolio_state import PortfolioState, UpperBound


def machine_count_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Bound the machines of a schedule that accepts everything; others may have fewer."""
    if len(state.result.incumbent) < len(state.scaled.parts):
        return None
    return UpperBound(-Fraction(state.machine_bound.bound), state.machine_bound.proof)


def packing_bound(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Accept everything by bin packing, or prove that some request is rejected."""
    scaled, clique, limits = state.scaled, state.packing_clique, state.budget.left(share)
    assert clique is not None  # the step applies
    if len({*scaled.free}) == 1:
        machines = machine_minimisation.minimise_machines(scaled, limits, state.seed)
        assignment, proof = machines.assignment, machines.proof
        is_impossible = machines.bound > len(scaled.free)
    else:
        filling = machine_minimisation.fill_machines(scaled, clique, Budget(limits), state.seed)
        assignment, proof = filling.assignment, "CP-SAT over all patterns"
        is_impossible = filling.is_impossible
    if assignment is not None:
        state.update_incumbent(raise_shares(scaled, assignment))
    if not is_impossible:
        return None
    lost = min(max_contribution(scaled, level, k) for k in range(len(scaled.requests)))
    bound = trivial_bound(scaled, level) - lost
    differ = len({*scaled.free}) > 1
    return UpperBound(bound, f"not all requests fit: {proof}", relies_on_solver=differ)
