"""Instances without a usable unit of CPU: coarser units give bounds and schedules that hold."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, api, registry
from dlopt.backends.time_budget import Budget
from dlopt.models.common.portfolio import Step
from dlopt.models.coreservation import knapsack_bound, rounded_units_bound
from dlopt.models.coreservation.methods import exact_plan
from dlopt.models.coreservation.objective import objective_key
from dlopt.models.coreservation.portfolio_state import PortfolioState, SearchOptions, UpperBound
from dlopt.models.coreservation.rounded_units_bound import RoundedUnits
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import (
    better_of_hint,
    is_feasible,
    to_assignment,
    to_solution,
)
from dlopt.models.coreservation.upper_bounds import STEPS
from dlopt.problems.coreservation import (
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    linear,
    staircase,
    step,
    violations,
)
from dlopt.result import Limits
from tests.examples import share
from tests.oracles_coreservation import optimum
from tests.strategies_coreservation import coreservation

F = Fraction
SOUND = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
THIRD, TENTH = F(1, 3), F(10**15 + 1, 10**16)


def asked(name, *parts, start=0, end=4, priority=1):
    return Request(name, 0, start, end, priority, parts)


def on_one_machine(capacity, *parts):
    requests = tuple(asked(f"r{k}", part) for k, part in enumerate(parts))
    return Instance((Machine("m", capacity),), requests, Batch(1))


def scaled_of(instance, objective="benefit"):
    scaled = ScaledInstance.from_instance(instance, objective)
    assert scaled.scaling_failure is not None
    return scaled


def many_digits(seed, requests=4, *, floats=True):
    """Return an instance whose capacities, shares and slopes have 16 digits or more."""
    draw = random.Random(seed)

    def number(low, high):
        value = draw.uniform(low, high)
        return value if floats else F(value)

    made = []
    for k in range(requests):
        bend, height = sorted((draw.random(), draw.random()))
        if not floats:
            bend, height = F(bend), F(height)
        cpu, top = number(0.1, 0.4), number(0.9, 1)
        least, benefit = draw.choice(
            (
                (None, step()),
                (cpu / 4, ((0, 0), (bend, height / 3), (height, height / 2), (1, top))),
                (0, ((0, 0), (bend, 0), (bend, height), (1, 1))),
            )
        )
        start = draw.randint(0, 1)
        made.append(asked(f"r{k}", Part(cpu, least, benefit), start=start, priority=number(0.5, 1)))
    capacities = (0.1 + 0.2, 0.1 + 0.7) if floats else (F(0.1) + F(0.2), F(0.1) + F(0.7))
    return Instance(tuple(Machine(f"m{c}", c) for c in capacities), tuple(made), Batch(1))


@pytest.mark.parametrize(("seed", "floats"), [(0, True), (2, True), (1, False)])
def test_brute_force_is_within_the_bound_and_no_heuristic_is_better(seed, floats):
    instance = many_digits(seed, floats=floats)
    scaled_of(instance)
    found, best = api.solve(instance, limits=Limits(work=300)), optimum(instance)
    assert violations(instance, found.solution, found.tolerance) == ()
    margin = F(1, 10**9) if floats else 0
    assert best - F(1, 10**6) <= F(found.value) <= best + margin and best <= F(found.bound) + margin
    assert found.status is not Status.OPTIMAL or F(found.bound) - F(found.value) <= margin * 10**3
    assert all(F(api.solve(instance, name).value) <= F(found.value) for name in SOUND)


@share(1 / 4)
@pytest.mark.property
@given(
    instance=coreservation(),
    most=st.integers(1, 6),
    objective=st.sampled_from(["benefit", "rejections"]),
)
def test_the_rounded_instance_is_a_relaxation_at_any_unit(instance, most, objective):
    """Coarse units make what is rounded visible: brute force is never above the bound."""
    scaled = ScaledInstance.from_instance(instance, objective)
    if not scaled.parts:
        return
    rounded = RoundedUnits.of(scaled, most)
    plan = api.solve(instance, "portfolio", objective=objective).solution
    true = to_assignment(scaled, plan)
    image = rounded.to_rounded(true)
    assert is_feasible(rounded.instance, image)
    (value,), (below,) = objective_key(scaled, true), objective_key(rounded.instance, image)
    assert value <= below + rounded.allowance
    back = rounded.to_true(image)
    if back is not None:  # on the segments that are best in coarse units, which may not fit
        assert is_feasible(scaled, back)
        assert {i: j for i, (j, _) in back.items()} == {i: j for i, (j, _) in true.items()}
    if objective == "rejections":
        assert back is not None and value == below == objective_key(scaled, back)[0]


@share(1 / 6)
@pytest.mark.property
@given(instance=coreservation(), most=st.integers(1, 12))
def test_every_assignment_with_the_reserve_has_a_true_one(instance, most):
    scaled = ScaledInstance.from_instance(instance)
    if not scaled.parts:
        return
    rounded = RoundedUnits.of(scaled, most)
    narrow = rounded.with_reserve()
    state = PortfolioState(narrow, Budget(Limits()), 0, SearchOptions(relaxation=False))
    step_of_all = next(one for one in STEPS if one.name == "full model")
    step_of_all.run(state, "benefit", 1)
    true = rounded.to_true(state.result.incumbent)
    if min(map(min, rounded.instance.free)) >= rounded.reserve:
        assert true is not None
    if true is not None:
        assert is_feasible(scaled, true) and true.keys() == state.result.incumbent.keys()


def test_what_fills_a_machine_to_the_last_digit_is_found():
    """Three parts of a third less, less and more than a digit: rounded up they would not fit."""
    least = F(1, 10**17)
    parts = [Part(THIRD - least), Part(THIRD - least), Part(THIRD + 2 * least)]
    full = on_one_machine(1, *parts)
    scaled_of(full)
    found = api.solve(full)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)
    over = on_one_machine(1, *parts[:2], Part(THIRD + 3 * least))
    found = api.solve(over, objective="rejections")
    assert (found.value, violations(over, found.solution)) == (1, ())


def rounded_bound(scaled, level="benefit", incumbent=()):
    """Return what the step finds, from an incumbent."""
    options = SearchOptions("milp", primal_heuristics=False)
    state = PortfolioState(scaled, Budget(Limits()), 0, options)
    state.result.incumbent = dict(incumbent)
    bounds = []

    def search(searched, found):
        found.append(rounded_units_bound.rounded_units_bound(state, level, 1, STEPS))
        bounds.extend(found)

    state.prove_levels(search)
    return bounds[1], state.result.incumbent


def test_choices_that_overflow_by_less_than_a_unit_are_searched_again():
    """In coarse units all four fit, in truth three; a reserve of four units holds three."""
    sizes = [F(1, 4) + F(n, 10**17) for n in range(1, 5)]
    instance = on_one_machine(1, *map(Part, sizes))
    scaled = scaled_of(instance, "rejections")
    assert RoundedUnits.of(scaled).to_true(dict.fromkeys(range(4), (0, 1 << 24))) is None
    bound, assignment = rounded_bound(scaled, "rejections")
    assert bound.value == 0 and "coarser units" in bound.proof
    assert len(assignment) == 3 and is_feasible(scaled, assignment)
    found = api.solve(instance, objective="rejections")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)


def test_the_allowance_is_what_a_unit_gains():
    """One part takes all of .1 + 1e-16, of which less than a unit is rounded off."""
    instance = on_one_machine(TENTH, Part(THIRD, 0, linear()))
    scaled = scaled_of(instance)
    rounded = RoundedUnits.of(scaled)
    assert rounded.allowance == rounded.instance.unit / THIRD
    bound, assignment = rounded_bound(scaled)
    best = TENTH / THIRD
    assert best == optimum(instance) == objective_key(scaled, assignment)[0]
    assert best <= bound.value <= best + rounded.allowance < best + F(1, 10**7)


def test_an_increment_gives_way_to_the_low_end_of_another_part():
    """In units of a tenth the first has 3 of 4; the second needs 1.5, of which 1 is counted."""
    instance = on_one_machine(F(4, 10), Part(F(4, 10), 0, linear()), Part(F(15, 100)))
    scaled = ScaledInstance.from_instance(instance)
    rounded = RoundedUnits.of(scaled, 4)
    true = rounded.to_true({0: (0, 3), 1: (0, 1)})
    assert {i: units * scaled.unit for i, (_, units) in true.items()} == {
        0: F(25, 100),
        1: F(15, 100),
    }


def test_a_later_level_is_bounded_given_the_counts_before():
    parts = [Part(THIRD, 0, linear()), Part(TENTH * 3), Part(TENTH * 3, TENTH, staircase(2))]
    instance = on_one_machine(F(1, 2), *parts)
    scaled_of(instance, "rejections-then-benefit")
    found, best = (
        api.solve(instance, objective="rejections-then-benefit"),
        optimum(instance, "rejections-then-benefit"),
    )
    assert found.value == best and found.bound[0] == best[0]
    assert best[1] <= found.bound[1] <= best[1] + F(1, 10**6)
    found = api.solve(instance, objective="benefit-then-rejections")
    best = optimum(instance, "benefit-then-rejections")
    assert found.value == best


def test_what_is_known_meanwhile_is_in_true_units():
    """A step of the inner portfolio looks at the outer one, after it has improved its schedule."""
    instance = on_one_machine(F(1, 2), Part(THIRD, 0, linear()), Part(TENTH * 3))
    scaled, seen = scaled_of(instance), []
    state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions("milp"))

    def look(inner, level, share):
        inner.update_incumbent({0: (0, 1), 1: (0, inner.scaled.parts[1].minimum)})
        seen.append(state.snapshot())

    steps = [Step("look", 1, look)]
    state.prove_levels(
        lambda level, bounds: rounded_units_bound.rounded_units_bound(state, level, 1, steps)
    )
    assert is_feasible(scaled, seen[0].incumbent) and len(seen[0].incumbent) == 2
    assert objective_key(scaled, seen[0].incumbent)[0] > F(1, 2)


def test_a_hint_that_shares_in_floats_fall_below_is_kept():
    """Shares lose 3e-9 where assignments overload machines by what the check allows."""
    instance = many_digits(2)
    plan = api.solve(instance, "portfolio").solution
    value = api.solve(instance, "portfolio").value
    found = exact_plan(instance, hint=plan, limits=Limits(work=300))
    assert found.value >= value > exact_plan(instance, limits=Limits(work=300)).value


def test_a_hint_that_takes_more_than_the_check_allows_is_not_kept():
    """The model has a little more room, for shares that fall short: this one does not."""
    instance = on_one_machine(0.1 + 0.2, Part(0.7, 0, linear()))
    scaled = scaled_of(instance)
    most = scaled.parts[0].segments[-1].high
    rejected, whole = to_solution(scaled, {}), {0: (0, most)}
    assert is_feasible(scaled, whole) and scaled.capacity_allowance
    assert better_of_hint(scaled, rejected, whole) is rejected
    kept = better_of_hint(scaled, rejected, {0: (0, most // 2)})
    assert api.check(instance, kept) == () and len(kept.shares) == 1


def test_the_count_of_a_level_before_is_kept_in_coarser_units():
    """All three are accepted, and the benefit is bounded given that."""
    parts = [Part(THIRD, 0, linear()), Part(TENTH * 3), Part(TENTH * 3, TENTH, staircase(2))]
    scaled = scaled_of(on_one_machine(F(1, 2), *parts), "rejections-then-benefit")
    state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions("milp"))

    def search(level, bounds):
        bounds.append(rounded_units_bound.rounded_units_bound(state, level, 1, STEPS))

    state.prove_levels(search)
    rejections, benefit = state.result.bounds
    best = optimum(scaled.instance, "rejections-then-benefit")
    assert -rejections == best[0]
    assert objective_key(scaled, state.result.incumbent) == (-best[0], best[1])
    assert best[1] <= benefit <= best[1] + F(1, 10**6)


def test_rounded_schedules_with_a_better_count_do_not_narrow_the_next_level():
    """In coarse units all four are accepted, with less benefit than that of three whole shares."""
    least = F(1, 10**17)
    late = ((0, 0), (F(1, 2), F(1, 10)), (1, F(1, 10)), (1, 1))
    soft = Part(F(1, 3) - least, F(1, 4) + least, late)
    instance = on_one_machine(1, soft, soft, soft, Part(F(1, 4) + least))
    scaled = scaled_of(instance, "rejections-then-benefit")
    state = PortfolioState(scaled, Budget(Limits()), 0, SearchOptions("milp"))
    accepted = []

    def accept_all(inner, level, share):
        every = {i: (0, part.minimum) for i, part in enumerate(inner.scaled.parts)}
        if is_feasible(inner.scaled, every):
            inner.update_incumbent(every)
            accepted.append(len(inner.result.incumbent))

    steps = [Step("accept", 1, accept_all), *(one for one in STEPS if one.name == "full model")]

    def search(level, bounds):
        if level == "rejections":
            state.update_incumbent({i: (0, scaled.parts[i].minimum) for i in range(3)})
            bounds.append(UpperBound(F(-1), "given"))
        else:
            bounds.append(rounded_units_bound.rounded_units_bound(state, level, 1, steps))
            assert bounds[-1].value >= F(3, 4)

    state.prove_levels(search)
    assert optimum(instance, "rejections-then-benefit") == (1, F(3, 4))
    assert state.result.bounds[1] >= F(3, 4)


def test_parts_of_less_than_a_unit_have_their_benefit_in_every_bound():
    """Each has half of its benefit at a share of 0 in coarse units, and all of it, too."""
    half = ((0, 0), (F(3, 4), F(1, 2)), (1, F(1, 2)), (1, 1))
    small = [Part(THIRD + F(n, 10**17), F(1, 4) + F(n, 10**17), half) for n in range(3)]
    instance = on_one_machine(10**8, Part(10**8, 10**8 - 1, linear()), *small)
    scaled = scaled_of(instance)
    rounded = RoundedUnits.of(scaled)
    bound = knapsack_bound.upper_bound(rounded.instance, "benefit") + rounded.allowance
    assert bound >= optimum(instance)
