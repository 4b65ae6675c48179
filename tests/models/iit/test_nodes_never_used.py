"""Nodes so slow that they mean "not this one": the optimum is that of the others, and is proven."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import api
from dlopt.models.iit import sequencing_milp
from dlopt.models.iit.methods import exact_plan
from dlopt.models.iit.sequencing_milp import SequencingMilp
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Limits, Status

USEFUL = (
    Instance(Cluster(2, 3, 8), (11, 7), 11),
    Instance(Cluster(4, 2, 4), (5, 1, 8, 5), 4),
    Instance(Cluster(3, (1, 2, 3), (3, 1, 2), theta_cm=1), (2, 0, 5), 9),
)


def with_slow_node(instance, slow):
    """Return an instance with one more node, ready first, that takes so long a unit of load."""
    cluster = instance.cluster
    costs = [
        (*(cost_of(node) for node in range(cluster.nodes)), slow)
        for cost_of in (cluster.tau_of, cluster.chi_of)
    ]
    more = Cluster(cluster.nodes + 1, *costs, theta_cm=cluster.theta_cm)
    return replace(instance, cluster=more, ready_times=(*instance.ready_times, 0))


@pytest.mark.parametrize("slow", [10**9, 10**13, 10**18])
@pytest.mark.parametrize("instance", USEFUL)
def test_a_node_that_is_never_used_costs_no_proof(instance, slow):
    found, useful = (api.solve(one) for one in (with_slow_node(instance, slow), instance))
    assert found.status is Status.OPTIMAL
    tolerance = Fraction(useful.value) / 10**6
    assert useful.value - tolerance <= found.bound <= found.value <= useful.value


def test_an_exact_relaxation_that_leaves_a_gap_does_not_end_the_search(monkeypatch):
    """In common units the bound of the MILP is weaker than the fluid one, which is not attained."""
    monkeypatch.setattr(sequencing_milp, "SMALL_SHARE", 2**99)
    found = exact_plan(with_slow_node(USEFUL[0], 10**9))
    assert found.status is Status.OPTIMAL and found.proof == "exact"
    assert found.value == found.bound


@pytest.mark.parametrize("slow", [10, 10**9])
def test_the_solver_reaches_the_optimum_whatever_the_unit_of_loads(slow):
    instance = with_slow_node(USEFUL[1], slow)
    best = api.solve(instance).value
    model = SequencingMilp(instance, installments=1, max_nodes=5, upper=40).minimise_completion()
    sequence, outcome = model.solve(Limits(), "HiGHS", 0)
    assert float(best) * (1 - 1e-5) <= outcome.bound <= float(best) * (1 + 1e-6)
    loads = sum(Fraction(load) for _, load in model.chunks(outcome))
    assert abs(loads - instance.load) <= Fraction(1, 10**5) and len(sequence) >= 4
