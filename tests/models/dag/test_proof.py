"""Which bounds of task graphs are proven here, and which are claims of a solver."""

import pytest

from dlopt import solve
from dlopt.models.dag import proof_search
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

TWO = (Machine("m"), Machine("n"))
COSTS = ((2, 5), (5, 2), (3, 5), (4, 6), (5, 1), (5, 1))
EDGES = (Edge(0, 4, 3), Edge(1, 5, 1), Edge(3, 5, 4), Edge(4, 5, 0))
OPEN = Instance(
    TWO,
    (Graph("g", tuple(Task(f"t{k}", costs=row) for k, row in enumerate(COSTS)), EDGES),),
)
LATE = Instance(
    TWO,
    tuple(Graph(name, (Task("a", work=2), Task("b", work=3)), arrival=0) for name in "ghi"),
)
CLOSED = Instance(TWO, (Graph("g", (Task("a", 2), Task("b", 2)), absolute_deadline=1),))


def test_what_cp_sat_claims_is_a_claim_of_a_solver(monkeypatch):
    monkeypatch.setattr(proof_search, "MAX_SIZE", 0)
    found = solve(OPEN)
    assert (found.value, found.bound, found.proof) == (9, 9, "solver")
    assert found.reason == "source of the bound: CP-SAT"


def test_a_relaxation_to_one_machine_proves_a_response_time(monkeypatch):
    monkeypatch.setattr(proof_search, "MAX_SIZE", 0)
    found = solve(LATE, objective="total-response-time")
    assert (found.value, found.bound, found.proof) == (16, 16, "exact")
    assert "SRPT" in found.reason


def test_a_makespan_that_cp_sat_claims_is_proven_again():
    found = solve(OPEN)
    assert (found.value, found.bound, found.proof) == (9, 9, "certificate")
    assert found.reason == ("source of the bound: CP-SAT; proven again by a certificate")


@pytest.mark.parametrize(
    "name", ["makespan", "tardy-graphs", "total-response-time", "tardy-then-response-time"]
)
def test_what_meets_a_bound_of_ours_is_proven(name):
    found = solve(CLOSED, objective=name)
    assert (str(found.status), found.proof) == ("optimal", "certificate")


def test_bounds_are_proven_and_the_integer_program_claims():
    for method in ("bound-critical-path", "bound-work", "bound-fernandez"):
        assert solve(OPEN, method).proof == "certificate"
        assert solve(OPEN, method, objective="total-response-time").proof == "certificate"
        assert solve(CLOSED, method, objective="tardy-graphs").proof == "certificate"
    assert solve(CLOSED, "milp").proof == "solver"
    assert solve(OPEN, "heft").proof is None
