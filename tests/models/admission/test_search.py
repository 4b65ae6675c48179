"""The search for what can be accepted: when it ends, and what it is never worse than."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

import dlopt
from dlopt.errors import SolverError
from dlopt.models.admission.methods import bound_window, exact_plan, feasible_queue
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.problems.admission import Instance, Solution, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Status
from tests.examples import share
from tests.heuristics.admission.strategies import PROMISING
from tests.models.admission.sample_instances import stream
from tests.strategies import admission

F = Fraction
FIVE = stream(2, 1, 1, *((0, 1, 9) for _ in range(5)))


def search_with(instance, value, bound, gap=0.0):
    search = AdmissionSearch(ScaledInstance.from_instance(instance), 1, Limits(gap=gap), 0, "HiGHS")
    search.plan, search.value, search.bound = Solution((), ()), F(value), F(bound)
    return search


@pytest.mark.parametrize(
    ("value", "bound", "gap", "optimal", "within_gap"),
    [
        (4, 5, 0.0, False, False),
        (4, 5, 0.25, False, True),
        (4, 5, 0.24, False, False),
        (5, 5, 0.0, True, True),
        (10**6, 10**6 + 1, 0.0, False, False),
    ],
)
def test_value_and_bound_must_be_equal_in_exact_numbers(value, bound, gap, optimal, within_gap):
    search = search_with(FIVE, value, bound, gap)
    assert (search.is_optimal, search.is_within_gap) == (optimal, within_gap)


def test_in_floats_they_meet_as_solvers_round():
    floating = replace(FIVE, cluster=Cluster(2, 1.0, 1.0))
    assert search_with(floating, 10**7, 10**7 + 1).is_optimal
    assert not search_with(floating, 10**6, 10**6 + 1).is_optimal


def test_a_claimed_bound_below_the_value_by_a_rounding_is_the_value():
    """HiGHS rounds its bound to a float; a proof, or a larger difference, would be an error."""
    near, far = F(5) - F(1, 10**9), F(5) - F(1, 10**4)
    search = search_with(FIVE, 5, 6)
    search.use_relaxation(UpperBound(near, "HiGHS", proof_kind="solver"))
    assert (search.bound, search.proof_kind, search.is_optimal) == (5, "solver", True)
    for bound, kind in ((near, "exact"), (near, "certificate"), (far, "solver"), (None, "solver")):
        with pytest.raises(SolverError, match="a schedule has value 5, but its bound is"):
            search.use_relaxation(UpperBound(bound, "HiGHS", proof_kind=kind))
    assert search.bound == 5


def test_values_that_no_float_has_are_proven_as_others():
    """The sum of accepted loads is a fraction of 12 digits, and HiGHS rounds it down."""
    tasks = (
        Task("a", 0, F(376967, 414996), F(925545, 495481)),
        Task("b", 0, F(209965, 909787), F(952551, 256456)),
        Task("c", 0, F(696910, 816945), F(870884, 237804)),
    )
    instance = Instance(Cluster(2, F(894932, 487085), F(984831, 724554)), tasks)
    found = dlopt.solve(instance, objective="accepted-load")
    best = tasks[1].load + tasks[2].load
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
    assert found.proof == "certificate"


def test_nothing_is_proven_before_there_is_a_plan_and_a_bound():
    search = search_with(FIVE, 5, 5)
    search.bound = None
    assert not search.is_within_gap
    search.plan, search.bound = None, F(5)
    assert not search.is_within_gap


@pytest.mark.property
@share(1 / 2)
@given(admission(most=2, tasks=3))
def test_exact_is_never_worse_than_its_parts(instance):
    """Nor than an algorithm, with or without its plans to start from."""
    alone = exact_plan(instance)
    assert alone.status is Status.OPTIMAL
    whole = feasible_queue(instance)
    assert (whole.status is Status.OPTIMAL) == (alone.value == len(instance.tasks))
    assert alone.bound <= bound_window(instance).bound
    assert dlopt.solve(instance, "exact").value == alone.value
    plans = set()
    for name in PROMISING:
        if dlopt.registry.method("admission", name).reason_against(instance) is None:
            found = dlopt.solve(instance, name)
            assert found.value <= alone.value
            plans.add(found.solution)
    for plan in plans:
        again = exact_plan(instance, hint=plan)
        assert (again.value, again.bound) == (alone.value, alone.value)


def test_whether_a_bound_is_certified_or_claimed():
    """Certificates are proofs; the solver's claim is one of a solver; nothing is proven of none."""
    assert dlopt.solve(FIVE, "exact").proof in ("exact", "certificate")
    assert dlopt.solve(FIVE, "bound-window-cuts").proof == "certificate"
    assert bound_window(FIVE).proof == "exact"
    nothing = Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 9, remaining=0),), now=1)
    assert dlopt.solve(nothing, "bound-fluid").proof == "exact"
    late = dlopt.solve(stream(1, 1, 1, (0, 1, 1)), "feasibility")
    assert (late.status, late.proof) == (Status.INFEASIBLE, "certificate")
    assert dlopt.solve(FIVE, "feasibility").proof == "exact"
    assert dlopt.solve(FIVE, "edf-iit-2").proof is None


def test_a_plan_at_the_end_of_the_allowance_is_within_the_bound():
    """In floats a deadline may be missed by 1e-9; just that is what the models allow."""
    for short, most in ((9e-10, 1), (1.1e-9, 0)):
        instance = stream(1, 0.5, 0.5, (0.0, 1.0, 1 - short))
        assert dlopt.solve(instance, "bound-fluid").bound == most
        assert dlopt.solve(instance, "exact").bound == most
    half = stream(1, 0.5, 0.5, (0.0, 1.0, 1 - 4e-10))
    found = exact_plan(half)
    assert (found.status, found.value) == (Status.OPTIMAL, 1)
    assert violations(half, found.solution, 1e-9) == ()
    ending = exact_plan(stream(1, 0.5, 0.5, (0.0, 1.0, 1 - 9e-10)))
    assert (ending.status, ending.value, ending.bound) == (Status.FEASIBLE, 0, 1)


def test_instants_that_are_too_coarse_are_reported():
    """At a POSIX date 10 microseconds are finer than what the check allows."""
    tasks = tuple(Task(f"t{i}", 1.7e9, 1e-5, 1.1e-5) for i in range(20))
    instance = Instance(Cluster(1, 0, 1), tasks)
    words = "floating-point instants have a resolution of 2.4e-05: use a later origin"
    found = bound_window(instance)
    assert (found.bound, found.reason.endswith(f"; {words}")) == (3, True)
    long = replace(instance, tasks=(Task("a", 1.7e9, 1e-5, 60.0),))
    assert words not in bound_window(long).reason
    assert feasible_queue(replace(instance, tasks=tasks[:1])).reason == words
    assert feasible_queue(replace(long, tasks=(Task("a", 1.7e9, 1e-5, 60.0),))).reason is None
    none = Instance(Cluster(1, 0, 1.0), (Task("a", 1.7e9, 1e-5, 0),))
    assert words not in bound_window(none).reason
