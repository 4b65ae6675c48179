"""Instances on which something once went wrong: each stays solved."""

import time
from fractions import Fraction

import pytest

from dlopt import Limits, NotApplicableError, Status, check, solve
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Instance

EPOCH = 1.7e9
EVERY = ("opr", "epr", "edf-iit-1", "edf-iit-2", "equal-finish", "exact")


def two(tau, chi, *more, load=1.0, ready=(0.0, 0.0), deadline=None):
    return Instance(Cluster(2, tau, chi, *more), ready, load, absolute_deadline=deadline)


def test_tight_feasibility_tolerances_of_the_solver_cut_off_the_optimum():
    cluster = Cluster(3, (Fraction(16, 5), 4, Fraction(11, 4)), (2, Fraction(1, 3), 2))
    instance = Instance(cluster, (5, 0, Fraction(23, 7)), 6)
    for seed in (0, 1):
        found = solve(instance, installments=2, seed=seed)
        assert found.status is Status.OPTIMAL
        assert found.value == Fraction(4523481, 243089)


@pytest.mark.parametrize("formulation", ["sequence", "prefix", "order"])
@pytest.mark.parametrize(
    ("instance", "optimum"),
    [
        (Instance(Cluster(3, 5.8e-9, 5.8e-12, 0.0, 1.0), (0.0, 2.6, 0.4), 0.17), 1.000000001),
        (two(1e-10, 1e-10, 1.0), 1.0),
        (two(1.0, 1.0, 1e9, load=1e-9), 1e9),
        (two(1e-8, 1e-8, ready=(EPOCH, EPOCH)), EPOCH),
    ],
)
def test_loads_that_are_lost_beside_the_set_up_costs(instance, optimum, formulation):
    for method in EVERY:
        options = {"formulation": formulation} if method == "exact" else {}
        found = solve(instance, method, **options)
        assert found.value >= optimum * (1 - 1e-9)
        if method in ("edf-iit-2", "exact"):
            assert found.value == pytest.approx(optimum, rel=1e-7)


def test_a_bound_is_in_the_units_of_its_objective():
    cluster = Cluster(2, (1, 2), (1, 1))
    best = solve(Instance(cluster, (0, 0), 3)).value
    late = Instance(cluster, (0, 0), 3, absolute_deadline=best - Fraction(1, 10**9))
    found = solve(late, objective="nodes")
    assert found.status is Status.UNKNOWN
    assert found.bound is None
    assert "solver's tolerance or floating-point rounding" in found.reason
    assert "limit" in solve(late, objective="nodes", limits=Limits(gap=0.01)).reason


def test_an_epoch_does_not_soften_deadlines():
    half = two(0.25, 0.25, ready=(EPOCH, EPOCH), deadline=EPOCH + 0.25)
    for method in EVERY:
        assert solve(half, method).solution is None
    assert solve(half, "edf-iit-2").status is solve(half).status is Status.INFEASIBLE
    both = two(1.0, 1.0, ready=(EPOCH, EPOCH), deadline=EPOCH + 1.5)
    for method in ("edf-iit-2", "exact"):
        assert solve(both, method, objective="nodes").value == 2


def test_a_slip_of_the_timeline_shows_at_an_epoch_too():
    found = solve(two(1.0, 1.0, 0.5, ready=(EPOCH, EPOCH), load=3.0), "opr:literal-timeline")
    assert found.status is Status.UNSOUND


@pytest.mark.parametrize("below", [0.5e-9, 1e-9, 1.5e-9, 3e-9, 1e-6])
@pytest.mark.parametrize("best", [1.0, 23.796462709189136])
def test_deadlines_a_little_too_early_for_floats(best, below):
    """What misses a deadline by little more than the check allows is left open, not called late."""
    instance = Instance(
        Cluster(1, best / 2, best / 2), (0.0,), 1.0, absolute_deadline=best * (1 - below)
    )
    for method in EVERY:
        status = solve(instance, method).status
        if method in ("edf-iit-2", "exact") and below == 0.5e-9:
            assert status is Status.OPTIMAL
        elif method in ("edf-iit-2", "exact"):
            assert status in (Status.OPTIMAL, Status.UNKNOWN, Status.INFEASIBLE)
    found = solve(instance, "edf-iit-2").status
    if below == 1e-6:
        assert found is Status.INFEASIBLE
    elif below > 0.5e-9:
        assert found is Status.UNKNOWN


@pytest.mark.parametrize("far", [10**18, 1e18])
def test_a_node_that_is_ready_too_late_to_matter(far):
    instance = two(1, 1, ready=(0, far), load=1)
    for formulation in ("sequence", "prefix", "order"):
        assert solve(instance, formulation=formulation).value == 2


def test_the_search_for_n_star_stops_at_the_cluster():
    instance = two(1, 10**6, 1, load=10**12, ready=(0, 0))
    assert len(solve(instance, "opr").solution.chunks) == 2
    assert solve(instance, "opr:literal-timeline").status is Status.UNSOUND


def test_costs_far_apart():
    assert solve(two(1e17, 1.0), "opr").value == pytest.approx(1e17)
    assert solve(two(1e17, 1.0), "edf-iit-1").value == pytest.approx(1e17)
    with pytest.raises(ValueError, match="must lie between"):
        two(1e155, 1.0)


def test_logarithms_of_nothing():
    for tau, chi, deadline in ((0, 1, 1), (1, 0, 1), (1, 10**17, 10), (1, 1, Fraction(1, 10**300))):
        instance = two(tau, chi, load=1, ready=(0, 0), deadline=deadline)
        assert solve(instance, "opr:literal-logarithm").status in (
            Status.UNKNOWN,
            Status.FEASIBLE,
            Status.UNSOUND,
        )


def test_an_exact_deadline_beside_floating_times():
    instance = Instance(
        Cluster(1, 1.0, 1.0), (1.0,), 1.0, absolute_deadline=1 + Fraction(1, 10**20)
    )
    assert solve(instance).status is Status.INFEASIBLE
    assert solve(instance, "bound-fluid").bound == pytest.approx(3)


def test_hints_prove_nothing_by_being_short():
    exactly = two(1, 1, load=3, ready=(0, 0))
    short = earliest_plan(exactly, (0, 1), (2 - Fraction(1, 10**6), 1 - Fraction(1, 2 * 10**6)))
    with pytest.raises(NotApplicableError, match="no valid plan"):
        solve(exactly, hint=short, formulation="order")
    floating = two(1.0, 1.0, load=3.0)
    assert solve(floating, hint=short, formulation="order").value == pytest.approx(4, rel=1e-9)
    for nonsense in ("plan", solve(exactly)):
        with pytest.raises(NotApplicableError, match="a hint is a Solution"):
            solve(exactly, hint=nonsense)


def test_time_limits_hold_while_a_proof_is_made():
    """Numbers of 800 nodes have thousands of digits; the limit is one second."""
    instance = Instance(
        Cluster(800, 1, 1000), tuple((k * k * 7) % 9973 for k in range(800)), 90_000
    )
    begun = time.monotonic()
    found = solve(instance, limits=Limits(time_s=1.0), hint=_alone(instance))
    assert time.monotonic() - begun < 60  # it took minutes
    assert found.solution is not None


def _alone(instance):
    return earliest_plan(instance, (0,), (instance.load,))


def test_a_tolerance_is_a_small_number():
    instance = two(1, 1, load=3, ready=(0, 0))
    plan = solve(instance).solution
    for tolerance in (-1, 1, 2, float("nan"), float("inf")):
        with pytest.raises(NotApplicableError, match=r"lie in \[0, 1\)"):
            check(instance, plan, tolerance)


def test_rounding_does_not_cost_a_node():
    """Four nodes end at the deadline to the last float; their loads fall short of it by one."""
    instance = Instance(
        Cluster(5, tau=4.0, chi=3.3), (0.0,) * 5, 1.0, absolute_deadline=4.174321189814025
    )
    for method in ("opr", "edf-iit-2", "exact"):
        assert solve(instance, method, objective="nodes").value == 4


def test_the_logarithm_is_for_no_set_up_costs():
    instance = two(1, 1, 1, load=1, ready=(0, 0), deadline=9)
    with pytest.raises(NotApplicableError, match="it has set-up costs"):
        solve(instance, "opr:literal-logarithm")
