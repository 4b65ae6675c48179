"""Schedules on one machine fewer, and the proof that there is none."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import machine_minimisation, machine_reduction
from dlopt.models.coreservation.machine_reduction import ReducedInstance, reduce_machines
from dlopt.models.coreservation.portfolio_state import PortfolioState, SearchOptions, UpperBound
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import solve_by_components
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import Instance, Machine, Part, Request
from dlopt.result import Limits
from tests.examples import share
from tests.oracles_coreservation import optimum

GOAL = "rejections-then-machines"
# From 1 to 2 the two long parts must share a machine, from 2 to 3 they must not.
CONFLICT = ((1, 2, 4), (0, 3, 2), (0, 3, 2), (2, 4, 3), (2, 5, 3))


def instance_of(parts, capacities):
    requests = tuple(
        Request(f"r{k}", 0, start, end, 1, (Part(cpu),))
        for k, (start, end, cpu) in enumerate(parts)
    )
    return Instance(tuple(Machine(f"m{j}", cpu) for j, cpu in enumerate(capacities)), requests)


def reduced(instance, limits):
    """Reduce the machines of a schedule that is optimal in what it accepts."""
    first = ScaledInstance.from_instance(instance, "rejections")
    accepted = solve_by_components(first, {}, Limits(), 0)
    assert accepted.proven_levels == 1
    scaled = replace(first, objective=GOAL)
    state = PortfolioState(scaled, Budget(limits), 0, SearchOptions())
    state.result.incumbent = accepted.incumbent

    def search(level, bounds):
        if level == "rejections":
            bounds.append(UpperBound(accepted.bounds[0], "known"))
        elif (bound := reduce_machines(state, level, 0.9)) is not None:
            bounds.append(bound)

    state.prove_levels(search)
    return state


def test_machines_are_emptied_one_by_one() -> None:
    apart = instance_of([(0, 1, 2)] * 4, [9] * 4)
    scaled = ScaledInstance.from_instance(apart, GOAL)
    state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions())
    state.result.incumbent = {i: (i, 1) for i in range(4)}
    state.prove_levels(lambda level, _: level == "machines" and reduce_machines(state, level, 1))
    assert len({j for j, _ in state.result.incumbent.values()}) == 1


@pytest.mark.parametrize("limits", [Limits(), Limits(time_s=60)])
def test_a_bound_that_no_single_instant_gives(limits) -> None:
    instance = instance_of(CONFLICT, [5, 5, 5])
    assert optimum(instance, GOAL) == (0, 3)
    at_instants = machine_minimisation.minimise_machines(
        ScaledInstance.from_instance(instance, GOAL), limits
    )
    assert at_instants.bound == 2
    result = reduced(instance, limits).result
    assert result.bounds == [0, -3] and "one machine fewer" in result.proofs[1]


def test_machines_that_differ_prove_nothing() -> None:
    """No two of the least free capacity hold the parts, but the others might."""
    state = reduced(instance_of(CONFLICT, [5, 5, 6]), Limits())
    assert state.result.proven_levels == 1
    assert is_feasible(state.scaled, state.result.incumbent)


@pytest.mark.parametrize("flags", [(True, True), (False, True)])
def test_a_bound_of_a_solver_stays_one(flags, monkeypatch) -> None:
    """A dual bound in floats on one machine fewer must not become a proof."""
    known = UpperBound(Fraction(-1), "a solver", *flags)
    monkeypatch.setattr(machine_reduction, "full_model_bound", lambda *_: known)
    _, bound = reduced(instance_of(CONFLICT, [5, 5, 5]), Limits()).open_bounds
    assert bound[0] == -3 and bound[2:] == flags and "a solver" in bound.proof


def test_a_part_that_has_no_other_machine_keeps_its_own() -> None:
    requests = tuple(Request(f"r{j}", 0, 0, 1, 1, (Part(1, machine=j),)) for j in range(2))
    instance = Instance((Machine("m", 5), Machine("n", 9)), requests)
    scaled = ScaledInstance.from_instance(instance, GOAL)
    assert ReducedInstance.of(scaled, {0: (0, 1), 1: (1, 1)}) is None
    assert solve(instance, objective=GOAL).value == (0, 2)


def test_the_portfolio_proves_by_it_what_no_full_model_is_asked() -> None:
    parts = [(start + 5 * k, end + 5 * k, cpu) for k in range(7) for start, end, cpu in CONFLICT]
    scaled = ScaledInstance.from_instance(instance_of(parts, [5] * 4), GOAL)
    result = solve_by_components(scaled, {}, Limits(), 0, full_model=False)
    assert result.proven_levels == 2 and result.bounds == [0, -3]


@pytest.mark.property
@share(1)
@given(st.integers(0, 10**6))
def test_reduction_agrees_with_brute_force(seed) -> None:
    draw = Random(seed)
    capacity = draw.randint(3, 6)
    same = draw.random() < 0.6
    machines = [capacity if same else draw.randint(2, 6) for _ in range(draw.randint(1, 3))]
    parts = []
    for _ in range(draw.randint(1, 5)):
        start = draw.randint(0, 3)
        parts.append((start, start + draw.randint(1, 3), draw.randint(1, 4)))
    instance = instance_of(parts, machines)
    state, best = reduced(instance, Limits()), optimum(instance, GOAL)
    assert is_feasible(state.scaled, state.result.incumbent)
    found = [-value for value in state.objective_key(state.result.incumbent)]
    assert found[0] == best[0] and found[1] >= best[1]
    assert state.result.proven_levels == 0 or -state.result.bounds[1] <= best[1]
    if same:
        assert found[1] == best[1] == -state.result.bounds[1] or best[1] <= 1
