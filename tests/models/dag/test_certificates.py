"""Certificates of task graphs: they are accepted, prove the optimum, and nothing above it."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from dlopt import Limits, solve
from dlopt.arithmetic import exact
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.formats import vipr
from dlopt.models.dag import proof_search
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.proof_facts import LatestStart, ProofWriter, write_fact
from dlopt.models.dag.proof_propagation import Windows
from dlopt.models.dag.proof_search import ProofSearch, infeasibility_proof
from dlopt.models.dag.proof_times import machine_groups
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.problems.dag.certified_program import proven_value
from tests.examples import share
from tests.strategies_dag import dag

TWO = (Machine("m"), Machine("n"))


STAGE = [(0, 3), (1, 3), (2, 3)]
"""Three tasks before another one."""
TWO_STAGES = [*STAGE, (3, 4), (3, 5), (3, 6), (4, 7), (5, 7), (6, 7)]


def graph_of(*works, edges=(), **of_graph):
    """Return a graph of tasks with works."""
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    return Graph("g", tasks, tuple(Edge(*edge) for edge in edges), **of_graph)


def proof_above(instance, units):
    """Return the text of a proof that no schedule has a makespan, in scaled units; None if none."""
    scaled = ScaledInstance.from_instance(instance)
    proof = infeasibility_proof(scaled, compute_heads_tails(scaled), units)
    return None if proof is None else vipr.to_text(proof)


@pytest.mark.property
@share(1 / 3)
@given(dag(tasks=4))
def test_certificates_prove_the_optimum_and_no_more(instance):
    result = solve(instance)
    if result.certificate is not None:
        certificate = vipr.parse(vipr.to_text(result.certificate))
        assert certificate.flaw() is None
        assert proven_value(instance, result, certificate) == (exact(result.value), None)
    scaled = ScaledInstance.from_instance(instance)
    optimum = (exact(result.value) - scaled.origin) * scaled.scale
    assert proof_above(instance, int(optimum)) is None


@pytest.mark.property
@share(1 / 3)
@given(dag(tasks=5))
def test_bounds_by_arguments_of_our_own_have_certificates(instance):
    for method in ("bound-critical-path", "bound-fernandez"):
        result = solve(instance, method)
        certificate = vipr.parse(vipr.to_text(result.certificate))
        assert certificate.flaw() is None
        assert proven_value(instance, result, certificate) == (exact(result.bound), None)


@pytest.mark.parametrize(
    ("graphs", "makespan"),
    [
        ([graph_of(2, 3, 3, edges=[(0, 1, 1), (0, 2, 1)])], 6),
        ([graph_of(3, 3, 3, 3, 3)], 9),
        ([graph_of(3, 3, 3, 3, 4)], 9),
        ([graph_of(1, 2, 2, 2, 1, edges=[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)])], 6),
        ([graph_of(4, 3, 4, 3, edges=[(0, 1), (0, 2), (0, 3)])], 10),
        ([graph_of(1, 4, 4, 4, 4, 1, edges=[(0, k, 2) for k in (1, 2, 3, 4)])], 11),
        ([graph_of(1), Graph("h", (Task("t", work=2),), arrival=Fraction(1, 2))], Fraction(5, 2)),
        ([graph_of(0, 0)], 0),
        ([graph_of(*[1] * 8, edges=TWO_STAGES)], 6),
        ([graph_of(2, 3, 4, 4, 3), Graph("h", (Task("t", costs=(5, 9)),))], 11),
    ],
)
def test_each_argument_is_written(graphs, makespan, tmp_path):
    """Critical path, work, cases on one group and on machines, heads, tails, releases, nothing."""
    instance = Instance(TWO, tuple(graphs))
    result = solve(instance)
    assert (result.value, result.proof) == (makespan, "certificate")
    write_certificate(result, tmp_path / "p.vipr")
    assert check_certificate(instance, result, tmp_path / "p.vipr") == ()
    (violation,) = check_certificate(
        instance, replace(result, bound=exact(makespan) + 1), tmp_path / "p.vipr"
    )
    assert (violation.kind, violation.amount) == ("bound", 1)


def test_floats_are_rounded_down_to_a_grid(tmp_path):
    instance = Instance(TWO, (graph_of(0.1, 0.25, 1 / 3, edges=[(0, 1, 0.1), (0, 2, 0.1)]),))
    result = solve(instance)
    assert (str(result.status), result.proof) == ("optimal", "certificate")
    write_certificate(result, tmp_path / "p.vipr")
    assert check_certificate(instance, result, tmp_path / "p.vipr") == ()


def test_data_and_homes_are_in_the_program(tmp_path):
    network = Network("scheduler", "counted", 2, 1, (Lan("a", 4), Lan("b", 2, 1)))
    machines = (Machine("m", lan=0), Machine("n", lan=1, delay=1))
    graph = graph_of(3, 2, 2, edges=[(0, 1, 4), (0, 2, 4)], lan=1, input=4, output=2)
    instance = Instance(machines, (graph,), network)
    for method in ("exact", "bound-critical-path", "bound-work"):
        result = solve(instance, method)
        write_certificate(result, tmp_path / "p.vipr")
        assert check_certificate(instance, result, tmp_path / "p.vipr") == ()
    near = replace(graph, input=3)
    found = check_certificate(replace(instance, graphs=(near,)), result, tmp_path / "p.vipr")
    assert [violation.kind for violation in found] == ["program"]


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (("unit: 1", "unit: 0"), "remarks do not state"),
        (("origin: 0", "origin: 1"), "arrives before the origin"),
        (("makespan: 8", "makespan: 17/2"), "remarks do not state"),
        (("makespan: 8", "makespan: 9"), "may start later"),
        (("groups: 0 1", "groups: 0"), "remarks do not state"),
        (("groups: 0 1", "groups: 0; 1"), "may start later"),
        (("RTP infeas", "RTP range 0 inf"), "does not claim"),
        (("capacity_0_0_8", "cut_0"), "no constraint of the step formulation"),
    ],
)
def test_what_a_file_says_is_compared_with_the_instance(change, flaw):
    instance = Instance(TWO, (graph_of(3, 3, 3, 3, 3, 2),))
    result = solve(instance, "bound-work")
    text = vipr.to_text(result.certificate)
    assert change[0] in text and "% claim: no schedule is complete by 8, the" in text
    _, found = proven_value(instance, result, vipr.parse(text.replace(*change)))
    assert flaw in found


def test_of_several_graphs_a_makespan_proves_no_response():
    late = (graph_of(2, absolute_deadline=1), Graph("h", (Task("t", work=2),)))
    instance = Instance(TWO, late)
    result = solve(instance)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    late_result = replace(result, objective="total-response-time")
    assert proven_value(instance, late_result, certificate)[0] is None


def test_responses_of_one_graph_count_from_its_arrival():
    instance = Instance(TWO, (graph_of(2, 3, edges=[(0, 1)], arrival=7),))
    result = solve(instance, objective="total-response-time")
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert proven_value(instance, result, certificate) == (5, None)
    assert proven_value(instance, replace(result, objective="makespan"), certificate) == (12, None)


def test_limits_end_the_search_for_a_proof(monkeypatch):
    instance = Instance(TWO, (graph_of(1, 4, 4, 4, 4, 1, edges=[(0, k, 2) for k in (1, 2, 3, 4)]),))
    scaled = ScaledInstance.from_instance(instance)
    known = compute_heads_tails(scaled)
    optimum = int(solve(instance).value)
    assert infeasibility_proof(scaled, known, optimum - 1) is not None
    assert infeasibility_proof(scaled, known, optimum - 1, stop=0) is None
    assert infeasibility_proof(scaled, known, optimum - 1, cases=False) is None
    for name in ("MAX_JOBS_IN_CASES", "MAX_SIZE", "MAX_TRANSFERS"):
        with monkeypatch.context() as patch:
            patch.setattr(proof_search, name, 0)
            assert infeasibility_proof(scaled, known, optimum - 1) is None
    assert solve(instance, limits=Limits(time_s=20)).proof == "certificate"


def test_machines_that_may_be_exchanged_are_used_in_the_order_of_their_first_tasks():
    """On machines one by one the search has to refute no case twice."""
    machines = tuple(Machine(f"m{k}") for k in range(4))
    instance = Instance(machines, (graph_of(2, 3, 3, 3, edges=[(0, k, 4) for k in (1, 2, 3)]),))
    result = solve(instance)
    assert (result.value, result.proof) == (9, "certificate")
    text = vipr.to_text(result.certificate)
    assert "symmetry" in text and "order: " in text
    order = re.search("order: (.*)", text)[1]
    for other in ("0 1 2", "0 1 2 2", "0 1 2 x", " ".join(reversed(order.split()))):
        changed = text.replace(f"% order: {order}", f"% order: {other}")
        assert proven_value(instance, result, vipr.parse(changed))[1] is not None
    faster = replace(instance, machines=(Machine("m0", 2), *machines[1:]))
    _, flaw = proven_value(faster, result, vipr.parse(text))
    assert flaw is not None


def test_tasks_that_run_on_none_of_the_machines_that_may_be_exchanged():
    tasks = tuple(Task(name, costs=row) for name, row in (("a", (7, None, None)), ("b", (9, 3, 3))))
    tasks += (Task("c", costs=(9, 3, 3)), Task("d", costs=(9, 4, 4)))
    graph = Graph("g", tasks, (Edge(1, 2, 4),))
    instance = Instance((*TWO, Machine("o")), (graph,))
    result = solve(instance)
    assert (result.value, result.proof) == (7, "certificate")
    scaled = ScaledInstance.from_instance(instance)
    groups = machine_groups(scaled, single_machines=True)
    search = ProofSearch(scaled, compute_heads_tails(scaled), 7, groups)
    windows = search.rules.initial_windows()
    assert (search.symmetry.followers, search.symmetry.order[0]) == ([2], 0)
    assert search.symmetry.propagate(windows)
    second = search.symmetry.order[1]
    assert (windows.latest[second] >= 0).tolist() == [False, True, False]
    assert not search.symmetry.propagate(windows)


@pytest.mark.parametrize("forward", [True, False])
def test_heads_and_latest_starts_are_proven_by_refutation(forward):
    """Three tasks on two machines, before a fourth or after it, take two units."""
    edges = STAGE if forward else [(target, source) for source, target in STAGE]
    instance = Instance(TWO, (graph_of(1, 1, 1, 1, edges=edges),))
    scaled = ScaledInstance.from_instance(instance)
    groups = machine_groups(scaled, single_machines=False)
    search = ProofSearch(scaled, compute_heads_tails(scaled), 4, groups)
    windows = search.rules.initial_windows()
    assert search.consequence(windows) is None
    prove = search.prove_known_heads if forward else search.prove_known_latest
    prove(windows)
    job = 3 if forward else 0
    fact = windows.heads[job, 0] if forward else windows.latest_starts[job]
    assert (windows.earliest[job, 0], windows.latest[job, 0]) == ((2, 3) if forward else (0, 1))
    certificate = vipr.parse(vipr.to_text(search.written(fact)))
    assert certificate.flaw() == "the last step is not what is claimed"
    result = solve(instance)
    assert proven_value(instance, result, certificate) == (5, None)


def test_without_time_nothing_is_tried():
    instance = Instance(TWO, (graph_of(1, 1, 1, 1, edges=STAGE),))
    scaled = ScaledInstance.from_instance(instance)
    groups = machine_groups(scaled, single_machines=False)
    search = ProofSearch(scaled, compute_heads_tails(scaled), 4, groups, stop=0)
    windows = search.rules.initial_windows()
    search.prove_known_heads(windows)
    search.prove_known_latest(windows)
    assert search.distinguish_cases(windows) is None
    assert (windows.earliest[3, 0], windows.latest[3, 0]) == (1, 3)


def test_a_group_is_dropped_where_the_latest_start_is_before_the_release():
    first = LatestStart(0, {0: 3, 1: 3})
    windows = Windows(np.array([[2, 0]]), np.array([[3, 3]]), {}, [first], [0])
    windows.lower_latest(LatestStart(0, {0: 1, 1: 3}))
    assert windows.latest.tolist() == [[-1, 3]]
    writer = ProofWriter([0])
    write_fact(windows.latest_starts[0], writer)
    proof = writer.proof(())
    assert [name for name, *_ in proof.constraints] == ["release_0_0_1", "assigned_0_G"]
    assert [proof.names[column] for column, _ in proof.derivations[-1].terms] == ["z_0_1_3"]
