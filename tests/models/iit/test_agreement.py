"""Independent formulations, the closed form and brute force say the same."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.heuristics.iit.methods import edf_iit_2, equal_finish
from dlopt.models.iit.methods import bound_fluid, exact_plan
from dlopt.models.iit.scaled_instance import ScaledInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit import Instance, violations
from dlopt.result import Limits, Status
from tests import oracles
from tests.examples import share
from tests.strategies import iit

FEW = share(5 / 12)


def close(left, right):
    return abs(left - right) <= 1e-6 * max(1, abs(right))


@given(iit(most=5))
def test_linear_programs_prove_the_closed_form(instance):
    """Exactly: the bound is the value of a rational dual solution."""
    found = exact_plan(instance, formulation="sequence")
    assert found.status is Status.OPTIMAL
    assert found.value == found.bound == edf_iit_2(instance).value
    assert violations(instance, found.solution) == ()


@FEW
@given(iit(most=4))
def test_the_milps_find_the_closed_form_without_a_hint(instance):
    optimum = edf_iit_2(instance).value
    for formulation in ("prefix", "order"):
        found = exact_plan(instance, formulation=formulation)
        assert found.status is Status.OPTIMAL
        assert found.value == optimum  # the order is the solver's, the loads are re-solved exactly
        assert close(found.bound, optimum)
        assert violations(instance, found.solution) == ()


@FEW
@given(iit(most=4, deadline=True))
def test_fewest_nodes_agree(instance):
    closed = edf_iit_2(instance, objective="nodes")
    assert closed.value == oracles.fewest_nodes(instance)
    for formulation in ("sequence", "prefix", "order"):
        found = exact_plan(instance, objective="nodes", formulation=formulation)
        assert found.value == closed.value
        assert found.status is closed.status
        assert (found.reason is None) == (closed.reason is None)
        if found.solution is not None:
            assert found.bound == found.value
            assert violations(instance, found.solution) == ()


@FEW
@given(iit(most=3, identical=False, setup=True))
def test_free_order_is_no_worse_than_any_fixed_order(instance):
    """The MILP against every order of service, each solved as its own linear program."""
    from itertools import combinations, permutations

    from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp

    nodes = range(instance.cluster.nodes)
    orders = [
        order
        for count in range(1, len(nodes) + 1)
        for chosen in combinations(nodes, count)
        for order in permutations(chosen)
    ]
    each = [
        FixedSequenceLp(instance, order).minimise_completion().solve(Limits(), "HiGHS", 0, True)
        for order in orders
    ]
    assert all(timed.outcome.proven for timed in each)
    found = exact_plan(instance, formulation="order")
    assert found.status is Status.OPTIMAL
    assert close(found.value, min(timed.bound for timed in each))
    assert found.value <= equal_finish(instance).value
    assert violations(instance, found.solution) == ()


@FEW
@given(iit(most=3, setup=False, positive_tau=True), st.integers(2, 3))
def test_installments_help_and_stay_above_the_fluid_bound(instance, installments):
    single = exact_plan(instance).value
    found = exact_plan(instance, installments=installments, limits=Limits(time_s=60))
    assert violations(instance, found.solution) == ()
    assert found.plan_class == "k"
    assert found.value <= single
    fluid = bound_fluid(instance)
    assert fluid.status is Status.BOUND
    assert fluid.bound <= found.value


@given(iit(most=6))
def test_the_fluid_bound_is_below_every_plan(instance):
    assert bound_fluid(instance).bound <= edf_iit_2(instance).value


@FEW
@given(iit(most=4, identical=False))
def test_the_fluid_bound_is_below_every_plan_of_different_nodes(instance):
    assert bound_fluid(instance).bound <= exact_plan(instance).value


@FEW
@given(iit(most=4), st.randoms(use_true_random=False))
def test_relabelling_nodes_changes_nothing(instance, random):
    shuffled = list(instance.ready_times)
    random.shuffle(shuffled)
    other = Instance(instance.cluster, tuple(shuffled), instance.load)
    for formulation in ("sequence", "order"):
        left = exact_plan(instance, formulation=formulation)
        assert left.value == exact_plan(other, formulation=formulation).value


@given(iit(most=5))
def test_floats_give_the_exact_answer_within_the_stated_tolerance(instance):
    cluster = instance.cluster
    floating = Instance(
        Cluster(
            cluster.nodes,
            float(cluster.tau),
            float(cluster.chi),
            float(cluster.theta_cm),
            float(cluster.theta_cp),
        ),
        tuple(float(r) for r in instance.ready_times),
        float(instance.load),
    )
    found = solve(floating)
    assert found.status is Status.OPTIMAL
    assert found.tolerance == 1e-6
    assert close(found.value, solve(instance).value)


def test_two_installments_beat_one():
    """Two nodes, tau = chi = 1, load 3: one chunk a node gives 4, two give 24/7."""
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    assert exact_plan(instance).value == 4
    two = exact_plan(instance, installments=2)
    assert two.status is Status.OPTIMAL
    assert two.value == Fraction(24, 7)
    assert close(two.bound, Fraction(24, 7))
    assert bound_fluid(instance).bound == 3


@FEW
@given(
    iit(most=4, identical=False),
    st.sampled_from([1e-9, 1.0, 3e7]),
    st.sampled_from([1e-6, 1.0, 1e9]),
    st.sampled_from([0.0, 1.7e9]),
)
def test_units_and_epochs_cost_no_accuracy(instance, second, unit, epoch):
    """Microseconds or centuries, bytes or petabytes, since now or since 1970."""
    cluster = instance.cluster
    scale = second / unit
    floating = Instance(
        Cluster(
            cluster.nodes,
            tuple(float(tau) * scale for tau in cluster.tau),
            tuple(float(chi) * scale for chi in cluster.chi),
            float(cluster.theta_cm) * second,
            float(cluster.theta_cp) * second,
        ),
        tuple(float(r) * second + epoch * (second >= 1) for r in instance.ready_times),
        float(instance.load) * unit,
    )
    found = solve(floating)
    if not epoch or second > 1:
        assert found.status is Status.OPTIMAL
    else:  # seconds since 1970, in floats, are known to 2.4e-5 s
        assert found.value - 4e-5 <= found.bound <= found.value
        assert found.status is Status.OPTIMAL or "floats are so coarse" in found.reason
    first = min(floating.ready_times)
    expected = float(exact_plan(instance).value - min(instance.ready_times)) * second
    assert abs(found.value - first - expected) <= 1e-6 * expected + 1e-6 * (epoch > 0)


@given(iit(most=4))
def test_scaling_goes_there_and_back(instance):
    scaled = ScaledInstance.from_instance(instance)
    plan = edf_iit_2(instance).solution
    assert scaled.unscale_solution(scaled.scale_solution(plan)) == plan
    there = scaled.scale_solution(plan)
    assert violations(scaled.instance, there) == ()
    assert scaled.unscale_instant(last_result(there)) == last_result(plan)
    assert 256 <= scaled.instance.load <= 1024
    assert min(scaled.instance.ready_times) == 0
