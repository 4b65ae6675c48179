"""On whose word bounds of bags stand."""

from dlopt import solve
from dlopt.models.bag import flowtime_subsets
from dlopt.problems.bag import Instance, Machine, Task

OPEN = Instance(etc=((9, 9), (5, 6), (7, 8), (6, 8), (9, 6)))
DATED = Instance(tuple(Task(n, 2, absolute_deadline=5) for n in "abc"), (Machine("m"),))


def test_what_cp_sat_claims_is_a_claim_of_a_solver(monkeypatch):
    monkeypatch.setattr(flowtime_subsets, "MAX_STATES", 0)
    tasks = tuple(Task(f"t{k}", 601 - 70 * k, release=110 * k) for k in range(6))
    found = solve(Instance(tasks, (Machine("m"),)), objective="flowtime")
    assert (str(found.status), found.proof) == ("optimal", "solver")  # it has too many starts
    assert solve(OPEN, "milp").proof == "solver"


def test_a_makespan_that_cp_sat_claims_is_proven_again():
    found = solve(OPEN)
    assert (found.value, found.bound, found.proof) == (18, 18, "certificate")
    assert found.reason.endswith("; proven again by a certificate")


def test_a_flowtime_that_cp_sat_claims_is_proven_again(monkeypatch):
    monkeypatch.setattr(flowtime_subsets, "MAX_STATES", 0)
    apart = Instance((Task("a", 4), Task("b", 1, release=1)), (Machine("m"),))
    found = solve(apart, objective="flowtime")
    assert (found.value, found.bound, found.proof) == (7, 7, "certificate")
    assert found.reason.endswith("; proven again by a certificate")


def test_what_meets_a_bound_of_ours_is_proven():
    for instance, name in ((Instance(etc=((3, 4), (2, 2))), "makespan"), (OPEN, "flowtime")):
        found = solve(instance, objective=name)
        assert (str(found.status), found.proof) == ("optimal", "certificate")
    for name in ("accepted", "critical-then-all", "by-priority"):
        found = solve(DATED, objective=name)
        assert (str(found.status), found.proof) == ("optimal", "certificate")


def test_bounds_are_proven():
    for instance, name in ((OPEN, "makespan"), (OPEN, "flowtime"), (DATED, "accepted")):
        assert solve(instance, "bound-lp", objective=name).proof == "certificate"
    assert solve(OPEN, "mct").proof is None
