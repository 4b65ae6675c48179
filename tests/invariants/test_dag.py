"""No plan of task graphs that `check` accepts is better than a bound that `solve` returned.

In whole numbers, fractions, decimals, floats and mixtures, near 0, at 1e12 and at POSIX time.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, check
from dlopt.arithmetic import exact
from dlopt.errors import SolverError
from dlopt.problems.dag import (
    OBJECTIVES,
    Graph,
    Instance,
    Machine,
    Placement,
    Solution,
    Task,
    completions,
    objective,
    origin,
)
from tests import oracles_dag, strategies_dag
from tests.mixed_numbers import pushed, restated, shortest_of, ways
from tests.once import solve

PLANS = ("heft", "cpop", "b-level", "deadline-list", "exact")
BOUNDS = ("exact", "milp", "bound-critical-path", "bound-work", "bound-fernandez")


@st.composite
def instances(draw):
    """Return an instance in mixed numbers; some graphs are due when a plan completes them."""
    made = draw(strategies_dag.dag(tasks=4) | strategies_dag.one_way())
    instance = restated(draw, made)
    done = completions(instance, solve(instance, "heft").solution)
    graphs = []
    for graph, end in zip(instance.graphs, done, strict=True):
        just = {"float": float(end), "exact": end, "as it was": graph.absolute_deadline}
        due = just[draw(st.sampled_from(sorted(just)))]
        late = due is not None and exact(due) < exact(graph.arrival)
        graphs.append(replace(graph, absolute_deadline=graph.arrival if late else due))
    return replace(instance, graphs=tuple(graphs))


def adversaries(draw, instance):
    """Yield plans of methods, as they are and pushed to what the check allows."""
    name = draw(st.sampled_from(PLANS))
    plan = solve(instance, name).solution
    yield plan
    lengths = (oracles_dag.cost(instance, p.graph, p.task, p.machine) for p in plan.placements)
    shortest = shortest_of(lengths)
    how, share, floats = draw(ways)
    order = sorted(plan.placements, key=lambda p: exact(p.start))
    by = pushed([exact(p.start) for p in order], shortest, how, share)
    starts = (exact(p.start) - off for p, off in zip(order, by, strict=True))
    yield Solution(
        tuple(
            replace(p, start=float(start) if floats else start)
            for p, start in zip(order, starts, strict=True)
        )
    )


def answers(instance, name):
    """Yield what the methods prove; HiGHS may fail on `milp`, and says so."""
    for method in BOUNDS:
        try:
            yield solve(instance, method, objective=name)
        except SolverError as error:
            assert method == "milp" and "Solve error" in str(error)


def accepted(instance, plan):
    """Tell whether the check lets a plan pass: at the tolerance of the instance."""
    return check(instance, plan, 0 if instance.exact else 1e-9) == ()


def beyond(instance, name, value, bound, tolerance):
    """Tell whether a value is better than a bound by more than the tolerance of the result."""
    values = value if isinstance(value, tuple) else (value,)
    bounds = bound if isinstance(bound, tuple) else (bound,)
    levels = OBJECTIVES[name].levels or (name,)
    for level, one, least in zip(levels, values, bounds, strict=True):
        gain = exact(least) - exact(one)
        if level != "tardy-graphs":
            since = exact(origin(instance, level))
            gain -= exact(tolerance) * abs(exact(one) - since)
        if gain > 0:
            return True
        if exact(least) != exact(one):
            return False  # what comes after counts only between equals
    return False


@pytest.mark.property
@given(st.data(), instances(), st.sampled_from(sorted(OBJECTIVES)))
def test_no_checked_plan_is_better_than_a_bound(data, instance, name):
    if OBJECTIVES[name].requires_field and instance.absolute_deadlines is None:
        name = "total-response-time"
    found = list(answers(instance, name))
    assert all(str(one.status) != "infeasible" for one in found)
    for plan in adversaries(data.draw, instance):
        if accepted(instance, plan):
            value = objective(instance, plan, name)
            for one in found:
                assert not beyond(instance, name, value, one.bound, one.tolerance), one.method
    for one in found:
        assert one.solution is None or accepted(instance, one.solution)
        proven = "exact", "certificate"
        assert one.proof in (proven if one.solution is None else (*proven, "solver"))


@pytest.mark.property
@given(instances())
def test_our_own_plans_pass_the_check(instance):
    for method in PLANS:
        assert accepted(instance, solve(instance, method).solution)


@pytest.mark.parametrize("method", BOUNDS)
@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_floats_at_a_date_prove_no_more_than_the_check_refuses(method, name):
    """A task of 1.5 units of time may state that it starts 0.0141 before it can, and passes."""
    graph = Graph("g", (Task("a", work=1.5),), arrival=10**12, absolute_deadline=10**12 + 9)
    instance = Instance((Machine("m"),), (graph,))
    plan = Solution((Placement(0, 0, 0, 1e12 - 0.0141),))
    assert accepted(instance, plan)
    found = solve(instance, method, objective=name)
    assert not beyond(instance, name, objective(instance, plan, name), found.bound, 0)
    if name == "tardy-graphs":
        assert found.bound == 0
        return
    bound = found.bound[1] if name == "tardy-then-response-time" else found.bound
    assert bound - (10**12 if name == "makespan" else 0) > 1.47
    assert found.status is (Status.BOUND if method.startswith("bound") else Status.FEASIBLE)
    assert "better than exact ones by 0.014" in found.reason
    near = solve(replace(instance, graphs=(replace(graph, arrival=0),)), method, objective=name)
    assert near.bound in (1.5, (0, 1.5)) and "dates" not in (near.reason or "")
