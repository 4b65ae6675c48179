"""No plan that `check` accepts is better than a bound, and none exists where `solve` says so.

Instances mix integers, fractions, decimals and floats, near 0, at 1e12 and at POSIX time. An
adversary pushes plans to the tolerance: earlier, shorter, all at once.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import DloptError, Status, check
from dlopt.arithmetic import exact
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution, objective, origin
from dlopt.problems.validated_record import floating
from dlopt.registry import methods
from dlopt.result import PLAN_CLASSES
from tests import oracles_iit
from tests.examples import share
from tests.once import solve

F = Fraction
EPOCHS = (0, 0, 10**12, 1_700_000_000)
TIMES = ("transmission_start", "transmission_end", "computation_start", "computation_end")


KINDS = ("integer", "fraction", "decimal", "float")
EXACT_KINDS = ("integer", "fraction", "near")


@st.composite
def numbers(draw, least=0, most=12, kinds=KINDS):
    """Return an integer, a fraction, a short decimal, any float, or a fraction near an integer."""
    value = F(draw(st.integers(least * 12, most * 12)), draw(st.sampled_from([12, 12, 60, 84])))
    kind = draw(st.sampled_from(kinds))
    if kind == "near":
        value = max(round(value), least)
        return value * (1 + F(draw(st.integers(0, 20)), 10**9))
    if kind == "integer":
        return max(round(value), least)
    if kind == "decimal":
        return max(round(float(value), 2), least)
    return value if kind == "fraction" else float(value)


@cache
def pairs_of_costs(kinds):
    """Return a strategy for tau and chi, not both 0."""
    costs = numbers(0, 4, kinds)
    return st.tuples(costs, costs).filter(lambda pair: pair[0] + pair[1] > 0)


@st.composite
def mixed(draw, deadline=False, most=3, identical=None, style=None):
    """Return an instance in mixed numbers; often all of them are exact, or all floats."""
    style = style or draw(st.sampled_from(["mixed", "mixed", "floats", "exact", "exact"]))
    kinds = EXACT_KINDS if style == "exact" else KINDS
    nodes = draw(st.integers(1, most))
    may_differ = not identical
    identical = draw(st.booleans()) if identical is None else identical
    pairs = pairs_of_costs(kinds)
    drawn = [draw(pairs)] * nodes if identical else [draw(pairs) for _ in range(nodes)]
    if (
        style == "exact" and may_differ and draw(st.booleans())
    ):  # nodes between which floats at a date cannot tell
        off = st.integers(0, 20).map(lambda k: 1 + F(k, 10**9))
        drawn = [(tau * draw(off), chi * draw(off)) for tau, chi in [drawn[0]] * nodes]
        identical = False
    tau, chi = zip(*drawn, strict=True)
    setup = st.sampled_from([0, 0, 0, 1, F(1, 3), F(1, 10) if style == "exact" else 0.1])
    if identical:
        cluster = Cluster(nodes, tau[0], chi[0], draw(setup), draw(setup))
    else:
        cluster = Cluster(nodes, tau, chi, draw(setup), draw(setup))
    epoch = draw(st.sampled_from(EPOCHS))
    ready = tuple(epoch + draw(numbers(0, 6, kinds)) for _ in range(nodes))
    load = draw(numbers(1, 10, kinds))
    until = None
    if deadline:
        best = solve(Instance(cluster, ready, load), "exact").value
        span = exact(best) - exact(min(ready))
        factor = draw(st.sampled_from([F(1), F(1), F(1, 2), F(3, 2), 1 - F(1, 10**10)]))
        until = exact(min(ready)) + span * factor
        until = until if style == "exact" else draw(st.sampled_from([until, float(until)]))
        until = until if exact(until) > exact(min(ready)) else None
    instance = Instance(cluster, ready, load, absolute_deadline=until)
    return floating(instance) if style == "floats" else instance


def plans_of(instance, goal):
    """Return the plans of all methods that have one."""
    found = []
    for entry in methods("iit"):
        if entry.kind == "bound" or entry.claim == "literal-unsound":
            continue
        if entry.reason_against(instance, goal) is None:
            solution = solve(instance, entry.name, objective=goal).solution
            if solution is not None:
                found.append(solution)
    return found


@st.composite
def pushed(draw, instance, plan):
    """Return a plan pushed towards what the check allows, or beyond."""
    first = exact(min(instance.ready_times))
    span = max(exact(c.computation_end) for c in plan.chunks) - first
    amount = draw(st.sampled_from([F(0), F(1, 10**10), F(1, 10**9), F(99, 10**11), F(1, 10**6)]))
    how = draw(st.sampled_from(["earlier", "stacked", "shorter", "less", "at once", "floats"]))
    gain, chunks = amount * span, []
    for k, chunk in enumerate(sorted(plan.chunks, key=lambda c: exact(c.transmission_start))):
        moved = {name: exact(getattr(chunk, name)) for name in TIMES}
        load = exact(chunk.load)
        if how in ("earlier", "stacked"):
            off = gain if how == "earlier" else gain * k
            moved = {name: value - off for name, value in moved.items()}
        elif how == "shorter":
            moved["computation_end"] -= gain
            moved["transmission_end"] -= gain
            moved["computation_start"] -= gain
        elif how == "less":
            load *= 1 - amount
        elif how == "at once":
            moved = dict.fromkeys(TIMES, first)
        chunks.append(Chunk(chunk.node, load, **moved))
    pushed_plan = Solution(tuple(chunks))
    return floating(pushed_plan) if how == "floats" or draw(st.booleans()) else pushed_plan


def proofs_of(instance, goal):
    """Return the methods that bound, with their options."""
    found = []
    for entry in methods("iit"):
        if entry.kind == "heuristic" and entry.claim != "optimal":
            continue
        if entry.reason_against(instance, goal) is None:
            found.append((entry.name, {}))
    return found


def assert_not_refuted(instance, goal, plan, proofs=None):
    """Assert that no bound and no proof of infeasibility is refuted by a plan that passes."""
    if check(instance, plan) != ():
        return
    value, start = exact(objective(instance, plan, goal)), exact(origin(instance, goal))
    chunks = max(Counter(chunk.node for chunk in plan.chunks).values())
    for name, options in proofs_of(instance, goal) if proofs is None else proofs:
        found = solve(instance, name, objective=goal, **options)
        if chunks > options.get("installments", 1) and found.plan_class != PLAN_CLASSES[-1]:
            continue
        assert found.status is not Status.INFEASIBLE, name
        assert found.bound is None or found.proof is not None, name
        if found.bound is not None:
            spare = exact(found.tolerance) * abs(value - start) if goal == "completion" else 0
            assert exact(found.bound) <= value + spare, name


@given(st.data(), mixed())
def test_no_accepted_plan_ends_before_a_bound(data, instance):
    for plan in plans_of(instance, "completion"):
        assert_not_refuted(instance, "completion", plan)
        assert_not_refuted(instance, "completion", data.draw(pushed(instance, plan)))


@given(mixed(style="exact"), st.sampled_from([1, 1, 2]))
def test_no_bound_in_exact_numbers_is_above_brute_force(instance, installments):
    """Not by any part of a solver's tolerance: orders that are nearly as good end earlier."""
    if installments * instance.cluster.nodes > 4:
        installments = 1
    best = oracles_iit.least_completion(instance, installments)
    options = {"installments": installments} if installments > 1 else {}
    found = solve(instance, "exact", **options)
    assert exact(found.bound) <= best <= exact(found.value)
    assert found.status is Status.OPTIMAL
    assert exact(solve(instance, "bound-fluid").bound) <= best


@given(st.data(), mixed(deadline=True))
def test_no_accepted_plan_meets_a_deadline_that_is_called_infeasible(data, instance):
    goals = ["completion"] if instance.absolute_deadline is None else ["completion", "nodes"]
    free = replace(instance, absolute_deadline=None)
    for plan in plans_of(free, "completion"):
        for goal in goals:
            assert_not_refuted(instance, goal, plan)
            assert_not_refuted(instance, goal, data.draw(pushed(instance, plan)))


@share(1 / 2)
@given(st.data(), mixed(most=2), st.sampled_from([None, F(1), F(3, 2), 1 - F(1, 10**10)]))
def test_no_accepted_plan_of_two_chunks_a_node_is_better_than_a_bound(data, instance, factor):
    best = solve(instance, "exact", installments=2)
    first = exact(min(instance.ready_times))
    goals = ["completion"]
    if factor is not None:
        until = first + (exact(best.value) - first) * factor
        until = data.draw(st.sampled_from([until, float(until)]))
        if exact(until) > first:
            instance, goals = replace(instance, absolute_deadline=until), ["completion", "nodes"]
    for plan in (best.solution, data.draw(pushed(instance, best.solution))):
        for goal in goals:
            proofs = proofs_of(instance, goal)
            assert_not_refuted(instance, goal, plan, [*proofs, ("exact", {"installments": 2})])


@given(st.data(), mixed(identical=True), st.booleans())
def test_no_accepted_plan_is_better_than_the_bound_of_a_formulation(data, instance, tight):
    plan = solve(instance, "edf-iit-2", objective="completion").solution
    until = objective(instance, plan) if tight else None
    instance = replace(instance, absolute_deadline=until)
    proofs = [("exact", {"formulation": name}) for name in ("sequence", "prefix", "order")]
    for one in (plan, data.draw(pushed(instance, plan))):
        assert_not_refuted(instance, "completion", one, proofs)
        if tight:
            assert_not_refuted(instance, "nodes", one, proofs)


@given(mixed())
def test_every_method_answers_mixed_numbers(instance):
    """An answer, or a clear refusal; no other error, and `exact` is never the worse one."""
    best = solve(instance).value
    assert best is not None
    start = exact(origin(instance, "completion"))
    for entry in methods("iit"):
        if entry.kind == "bound" or entry.claim == "literal-unsound":
            continue
        try:
            found = solve(instance, entry.name, objective="completion")
        except DloptError:
            assert entry.reason_against(instance, "completion") is not None
            continue
        off = exact(found.tolerance) * abs(exact(best) - start) + abs(exact(best)) * F(1, 2**45)
        assert exact(best) <= exact(found.value) + (0 if instance.exact else off), entry.name


NEARLY_ALIKE = Cluster(
    3,
    tau=(F(500000003, 250000000), F(1000000009, 500000000), F(125000001, 62500000)),
    chi=(F(4500000027, 500000000), F(900000081, 100000000), F(45000027, 5000000)),
    theta_cm=1,
    theta_cp=2,
)
FAR_APART = Cluster(2, (F(21, 5000), F(251000, 7)), (F(10250, 3), F(13, 15000)))


@pytest.mark.parametrize(
    ("instance", "proof"),
    [
        (Instance(NEARLY_ALIKE, (10**12 + 8, 10**12 + 6, 10**12 + 4), 7), "solver"),
        (
            Instance(FAR_APART, (F(7000000000202, 7), F(7000000000192, 7)), F(57, 280000)),
            "certificate",
        ),
    ],
)
def test_at_a_date_a_bound_leaves_room_for_orders_that_are_nearly_as_good(instance, proof):
    """As near 0: no float stands for a bound that a solver proves of an exact instance."""
    found = solve(instance)
    assert found.status is Status.OPTIMAL and found.proof == proof and found.tolerance == 0
    best = oracles_iit.least_completion(instance)
    assert found.bound <= best <= found.value
    assert (found.value - found.bound) / (found.value - found.origin) < F(1, 10**6)


@pytest.mark.parametrize("method", ["exact", "bound-fluid", "edf-iit-2"])
def test_floats_at_a_date_prove_no_more_than_the_check_refuses(method):
    """A plan of 1.5 units of time may state that it ends after 1.4859, and passes."""
    instance = Instance(Cluster(1, tau=0, chi=1.5), (10**12,), load=1.0)
    sent = [1e12] * 3
    plan = Solution((Chunk(0, 1.0, *sent, 1e12 + 1.4859),))
    assert check(instance, plan) == ()
    found = solve(instance, method)
    assert 1.48 < found.bound - 1e12 <= 1.4859
    assert found.status is (Status.BOUND if method == "bound-fluid" else Status.FEASIBLE)
    assert "better than exact ones by 0.014" in found.reason
    assert check(instance, found) == ()
    near = solve(replace(instance, ready_times=(7,)), method)
    assert abs(near.bound - 8.5) <= 2e-9 and not near.reason


def test_a_plan_with_loads_in_another_order_is_judged():
    """The smallest case of the first property: two nodes, one of which receives in no time."""
    instance = Instance(Cluster(2, tau=(0, 1.0), chi=(1, 1)), (2, 0), load=10)
    plan = earliest_plan(instance, [1, 0], [4.0, 6.0])
    assert check(instance, plan) == ()
    assert_not_refuted(instance, "completion", plan)
