"""Certificates of tardy graphs and total responses prove the optimum, and nothing above it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.arithmetic import exact
from dlopt.certificate_files import check_own_certificate
from dlopt.formats import vipr
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.objective import LEVELS, level_value
from dlopt.models.dag.proof_search import certificate_of_bound
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.problems.dag.certified_program import proven_value
from dlopt.result import levels_of
from tests import oracles_dag as oracle
from tests.examples import share
from tests.strategies_dag import dag

ONE, TWO = (Machine("m"),), (Machine("m"), Machine("n"))
BOTH = "tardy-then-response-time"


def graph_of(name, *works, edges=(), **of_graph):
    """Return a graph of tasks with works."""
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    return Graph(name, tasks, tuple(Edge(*edge) for edge in edges), **of_graph)


def proven(instance, result):
    """Return what the certificate of a result proves, after its steps are checked."""
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert certificate.flaw() is None
    value, flaw = proven_value(instance, result, certificate)
    assert flaw is None
    return value


@pytest.mark.property
@share(1 / 4)
@given(dag(tasks=4), st.sampled_from(sorted(LEVELS)), st.booleans())
def test_certificates_prove_the_optimum_and_no_more(instance, objective, identical):
    if identical:  # of tasks that have a work
        machines = (replace(instance.machines[0], id=m.id) for m in instance.machines)
        instance = replace(instance, machines=tuple(machines))
    assume(instance.absolute_deadlines is not None or "tardy" not in objective)
    result = solve(instance, objective=objective)
    if result.certificate is not None:
        assert proven(instance, result) == result.value == oracle.best(instance, objective)
    scaled = ScaledInstance.from_instance(instance)
    completions = Schedule.from_solution(scaled, result.solution).completions(scaled)
    reached = [level_value(scaled, completions, level) for level in LEVELS[objective]]
    above = [*reached[:-1], reached[-1] + 1]
    assert (
        certificate_of_bound(scaled, compute_heads_tails(scaled), LEVELS[objective], above) is None
    )


CROWDED = tuple(graph_of(name, 2, absolute_deadline=3) for name in "abc")
"""Of three graphs on one machine two are tardy."""
LATE_FORK = graph_of("a", 2, 2, 2, edges=[(0, 1, 1), (0, 2, 1)], absolute_deadline=4)
LATER = (graph_of("a", 2, arrival=1), graph_of("b", 2, arrival=Fraction(3, 2)))


@pytest.mark.parametrize(
    ("machines", "graphs", "objective", "value"),
    [
        (ONE, CROWDED, "tardy-graphs", 2),
        (ONE, CROWDED, "total-response-time", 12),
        (ONE, CROWDED, BOTH, (2, 12)),
        (TWO, CROWDED, BOTH, (1, 8)),
        (TWO, tuple(graph_of(n, 2, 3) for n in "ghi"), "total-response-time", 16),
        (ONE, (*CROWDED, graph_of("d", 1)), BOTH, (2, 16)),
        (ONE, (*CROWDED[:2], graph_of("d", 4, absolute_deadline=4, arrival=1)), BOTH, (2, 13)),
        (TWO, (LATE_FORK,), BOTH, (1, 5)),
        (TWO, (graph_of("a", 1, absolute_deadline=1), graph_of("b", 1)), "tardy-graphs", 0),
        (TWO, (graph_of("a", 0, absolute_deadline=0), graph_of("b", 0)), BOTH, (0, 0)),
        (ONE, LATER, "total-response-time", Fraction(11, 2)),
    ],
)
def test_each_level_is_certified(machines, graphs, objective, value):
    instance = Instance(machines, graphs)
    result = solve(instance, objective=objective)
    assert (result.value, result.proof) == (value, "certificate")
    assert check_own_certificate(instance, result) == ()
    *first, last = levels_of(result.bound)
    higher = (*first, exact(last) + 1)
    higher = higher if first else higher[0]
    (violation,) = check_own_certificate(instance, replace(result, bound=higher))
    assert (violation.kind, violation.amount) == ("bound", 1)


def test_the_way_home_and_lans_are_in_the_program():
    network = Network("scheduler", "counted", 2, 1, (Lan("a", 4), Lan("b", 2, 1)))
    machines = (Machine("m", lan=0), Machine("n", lan=1, delay=1))
    home = {"lan": 1, "input": 4, "output": 2, "absolute_deadline": 14}
    graphs = (graph_of("g", 3, 2, edges=[(0, 1, 4)], **home), graph_of("h", 2, **home))
    instance = Instance(machines, graphs, network)
    for objective in ("tardy-graphs", "total-response-time", BOTH):
        for method in ("exact", "bound-critical-path", "bound-work"):
            result = solve(instance, method, objective=objective)
            assert check_own_certificate(instance, result) == ()
    nearer = replace(graphs[0], output=1)
    found = check_own_certificate(replace(instance, graphs=(nearer, graphs[1])), result)
    assert [violation.kind for violation in found] == ["program"]


def test_floats_are_certified_with_the_tolerance_of_due_dates():
    graphs = tuple(graph_of(name, 0.1, 0.25, absolute_deadline=0.35) for name in "ab")
    instance = Instance(ONE, graphs)
    result = solve(instance, objective=BOTH)
    assert (str(result.status), result.proof, result.value[0]) == ("optimal", "certificate", 1)
    assert check_own_certificate(instance, result) == ()


@pytest.mark.parametrize(
    ("objective", "change", "flaw"),
    [
        (BOTH, ("tardy: 2", "tardy: 3"), "more graphs may be tardy"),
        (BOTH, ("total: 5", "total: 6"), "may be complete later"),
        (BOTH, ("% total: 5\n", ""), "do not state the levels"),
        (BOTH, ("% tardy: 2\n", ""), "do not state the levels"),
        (BOTH, ("tardy: 2", "tardy: 5/2"), "do not state the levels"),
        (BOTH, ("unit: 2", "unit: 4"), "may start later"),
        (BOTH, ("origin: 0", "origin: 1"), "arrives before the origin"),
        (BOTH, ("groups: 0", "groups: x"), "do not state unit, origin and machine groups"),
        ("tardy-graphs", ("tardy: 1", "tardy: 2"), "more graphs may be tardy"),
        ("tardy-graphs", ("tardy: 1", "total: 1"), "do not state the levels"),
        ("tardy-graphs", ("RTP infeas", "RTP range 0 inf"), "does not claim"),
        ("total-response-time", ("total: 5", "total: 6"), "may be complete later"),
        ("total-response-time", ("total: 5", "makespan: 5"), "do not state the levels"),
        ("total-response-time", ("total: 5", "total: 5\n% tardy: 2"), "do not state the levels"),
    ],
)
def test_what_a_file_says_is_compared_with_the_instance(objective, change, flaw):
    instance = Instance(ONE, CROWDED)
    result = solve(instance, objective=objective)
    text = vipr.to_text(result.certificate)
    assert change[0] in text
    _, found = proven_value(instance, result, vipr.parse(text.replace(*change, 1)))
    assert flaw in (found or "")


def test_a_certificate_of_another_objective_proves_nothing_of_this_one():
    instance = Instance(ONE, CROWDED)
    for objective in LEVELS:
        text = vipr.to_text(solve(instance, objective=objective).certificate)
        for other in LEVELS.keys() - {objective}:
            asked = solve(instance, objective=other)
            value, flaw = proven_value(instance, asked, vipr.parse(text))
            assert value is None and "do not state" in flaw
