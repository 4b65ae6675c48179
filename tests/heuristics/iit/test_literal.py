"""What the papers print wrongly, each shown wrong by its stored counterexample."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from dlopt import Status, check, read, registry, solve
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from tests.strategies import iit

FOLDER = Path(__file__).parents[3] / "instances" / "iit" / "counterexamples"


def load(name):
    return read(FOLDER / f"{name}.json", exact_numbers=True)


def test_every_literal_method_has_a_counterexample_and_every_counterexample_a_method():
    literal = {m.name.replace(":", "-") for m in registry.methods("iit") if m.literal}
    stored = {path.stem for path in FOLDER.glob("*.json")}
    assert all(any(name.startswith(method) for method in literal) for name in stored)
    assert all(any(name.startswith(method) for name in stored) for method in literal)


def test_epr_roots_promise_what_two_nodes_do_not_do():
    instance = load("epr-literal-roots")
    rule = EqualPartition.of(instance.cluster)
    assert [rule.execution_time(11, n) for n in (1, 2)] == [27, Fraction(53, 2)]
    found = solve(instance, "epr:literal-roots")
    assert (found.status, found.value, found.bound) == (Status.UNSOUND, 2, None)
    (late,) = found.violations
    assert (late.kind, late.amount) == ("deadline", Fraction(1, 2))
    assert check(instance, found.solution) == found.violations
    assert solve(instance, "epr", objective="nodes").status is Status.UNKNOWN


def test_epr_roots_that_coincide():
    """The second printed case: one root, used if it is an integer."""
    cluster = Cluster(3, tau=1, chi=1, theta_cm=1)
    touching = Instance(cluster, (0, 0, 0), load=4, absolute_deadline=8)
    assert solve(touching, "epr:literal-roots").value == 2
    between = Instance(Cluster(3, 1, 1, theta_cm=4), (0, 0, 0), load=9, absolute_deadline=21)
    assert solve(between, "epr:literal-roots").status is Status.UNKNOWN


def test_epr_roots_where_there_are_none():
    cluster = Cluster(2, tau=1, chi=1, theta_cm=5)
    for deadline in (5, 20):  # omega negative; discriminant negative
        hopeless = Instance(cluster, (0, 0), load=11, absolute_deadline=deadline)
        assert solve(hopeless, "epr:literal-roots").status is Status.UNKNOWN


def test_the_rounded_logarithm_wastes_a_node():
    instance = load("opr-literal-logarithm")
    assert OptimalPartition.of(instance.cluster).execution_time(1, 1) == 5
    found = solve(instance, "opr:literal-logarithm")
    assert (found.status, found.value) == (Status.FEASIBLE, 2)
    assert solve(instance, "opr", objective="nodes").value == 1
    assert solve(instance, "exact", objective="nodes").bound == 1


def test_the_rounded_logarithm_misses_an_exact_deadline():
    instance = load("opr-literal-logarithm-late")
    found = solve(instance, "opr:literal-logarithm")
    assert (found.status, found.value) == (Status.UNSOUND, 2)
    assert {(late.kind, late.amount) for late in found.violations} == {
        ("deadline", Fraction(1, 10**20))
    }
    assert solve(instance, "opr", objective="nodes").value == 3


def test_the_logarithm_where_no_number_of_nodes_helps():
    instance = Instance(Cluster(2, tau=4, chi=1), (0, 0), load=1, absolute_deadline=4)
    assert solve(instance, "opr:literal-logarithm").status is Status.UNKNOWN
    later = Instance(Cluster(2, tau=4, chi=1), (0, 9), load=1, absolute_deadline=3)
    assert solve(later, "opr:literal-logarithm").status is Status.UNKNOWN


def test_binary_search_beyond_n_star_refuses_a_task_that_one_node_does():
    instance = load("opr-literal-binary-search")
    assert solve(instance, "opr:literal-binary-search").status is Status.UNKNOWN
    assert solve(instance, "opr", objective="nodes").value == 1
    assert solve(instance, "exact", objective="nodes").bound == 1


def test_the_printed_timeline_promises_one_set_up_too_early():
    instance = load("opr-literal-timeline")
    found = solve(instance, "opr:literal-timeline")
    assert found.status is Status.UNSOUND
    assert solve(instance, "opr").value - found.value == instance.cluster.theta_cm
    assert [(v.kind, v.amount) for v in found.violations] == [("transmission-duration", 1)]


@pytest.mark.property
@given(iit(most=4, setup=False, deadline=True, positive_tau=True))
def test_the_logarithm_is_right_but_for_rounding(instance):
    """Off by at most one node, either way."""
    printed = solve(instance, "opr:literal-logarithm")
    right = solve(instance, "opr", objective="nodes")
    if printed.value is not None and right.value is not None:
        assert abs(printed.value - right.value) <= 1


@pytest.mark.property
@given(iit(most=4, deadline=True))
def test_binary_search_never_finds_more_than_there_is(instance):
    printed = solve(instance, "opr:literal-binary-search")
    if printed.value is not None:
        assert printed.value >= solve(instance, "exact", objective="nodes").value
