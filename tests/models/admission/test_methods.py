"""The methods as a caller names them: hints, limits, statuses, floats, what is too large."""

import warnings
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pulp
import pytest

from dlopt import compare, load, solve
from dlopt.backends.pulp import Outcome
from dlopt.errors import NotApplicableError, SolverError
from dlopt.models.admission import feasibility, search, sequence_portfolio, sequencing_milp
from dlopt.models.admission.feasibility import FeasibilityTest
from dlopt.models.admission.fixed_sequence_lp import (
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.admission.methods import bound_fluid, bound_window, exact_plan, feasible_queue
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.admission.sequence_search import SequenceSearch
from dlopt.models.admission.sequencing_milp import SequencingMilp
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.problems.admission import Commitment, Decision, Solution, objective, violations
from dlopt.result import Limits, Status
from tests.models.admission.sample_instances import GAPS, stream

TWO = stream(2, 1, 1, (0, 1, 2), (0, 1, 2))
GAP, _ = GAPS[2]
HARD = stream(4, 1, 4, (1, 7, 26), (7, 6, 21), (9, 4, 9), (9, 7, 26))
"""All four fit, which takes long to find out."""
BEYOND = stream(2, 1, 1, (3, 7, 23), (7, 3, 8), (8, 5, 11), (9, 6, 16))
"""Four fit if loads flow, also with latency; three fit."""
CROWD = stream(4, 1, 3, *[(k, 3 + k % 3, 13) for k in range(7)])


@pytest.fixture
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS", 0)
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS_TWO_NODES", 0)
    for module in (feasibility, sequence_portfolio):
        monkeypatch.setattr(module, "EFFORT", 300)


def test_through_the_one_door():
    for name, optimum in (("exact", 1), ("bound-window-cuts", 1), ("bound-fluid", 2)):
        found = solve(TWO, name)
        assert found.bound == optimum
        assert "certified in exact arithmetic" in found.reason
    assert solve(GAP, "feasibility").status is Status.INFEASIBLE
    table = compare(GAP, ["exact", "edf-iit-2", "bound-fluid"])
    assert [row.failure for row in table.rows] == [None] * 3


def test_decisions_are_made_at_arrival_and_promise():
    found = exact_plan(TWO)
    said = {decision.task: decision for decision in found.solution.decisions}
    assert all(said[task.id].at == task.arrival for task in TWO.tasks)
    assert sorted(decision.accepted for decision in said.values()) == [False, True]


def test_a_hint_is_the_answer_where_nothing_is_better():
    best = exact_plan(TWO).solution
    assert exact_plan(TWO, hint=best, limits=Limits(time_s=1e-9)).solution == best
    assert exact_plan(TWO, hint=best).solution == best


def test_hints_that_are_wrong_or_of_another_class_are_not_taken():
    late = Limits(time_s=1e-9)
    best = exact_plan(TWO).solution
    overloaded = replace(best, chunks=best.chunks * 2)
    assert exact_plan(TWO, hint=overloaded, limits=late).value == 0
    unpromised = replace(
        best, decisions=tuple(replace(d, promised=not d.accepted) for d in best.decisions)
    )
    assert violations(TWO, unpromised) == ()
    assert exact_plan(TWO, hint=unpromised, limits=late).value == 0
    one = stream(2, 1, 1, (0, 3, Fraction(24, 7)))
    two_chunks = feasible_queue(one, installments=2).solution
    assert exact_plan(one, hint=two_chunks).value == 0
    assert exact_plan(one, hint=two_chunks, installments=2, limits=late).value == 1
    assert feasible_queue(one, hint=two_chunks, installments=2).solution == two_chunks


def test_a_hint_that_rejects_finished_tasks_is_repaired():
    done = Commitment("a", 0, 0, 1, 2)
    instance = stream(1, 1, 1, (0, 1, 9), (0, 1, 1), committed=(done,))
    no = tuple(Decision(task.id, False, 0) for task in instance.tasks)
    found = exact_plan(instance, hint=Solution(no, ()), limits=Limits(time_s=1e-9))
    assert found.value == objective(instance, found.solution) == 1
    assert violations(instance, found.solution) == ()


def test_at_once_out_of_time():
    found = exact_plan(CROWD, limits=Limits(time_s=1e-9))
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 0, 7)
    assert found.reason.endswith("trivial bound (all accepted that can be on time)")
    queue = feasible_queue(CROWD, limits=Limits(time_s=1e-9))
    assert (queue.status, queue.solution) == (Status.LIMIT, None)
    promised = stream(1, 1, 1, (0, 1, 9), now=1)
    assert exact_plan(promised, limits=Limits(time_s=1e-9)).status is Status.LIMIT


def test_a_time_limit_leaves_value_and_bound():
    found = exact_plan(CROWD, limits=Limits(time_s=1.5))
    assert found.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert violations(CROWD, found.solution) == ()
    assert found.value <= found.bound
    assert (found.status is Status.OPTIMAL) == (found.value == found.bound)


def test_work_limits_are_deterministic():
    first, second = (exact_plan(GAP, limits=Limits(work=3), seed=1) for _ in range(2))
    assert first == second
    assert violations(GAP, first.solution) == ()


def test_a_gap_is_not_called_optimal():
    hint = exact_plan(GAP).solution
    found = exact_plan(GAP, hint=hint, limits=Limits(gap=0.9))
    assert (found.status is Status.OPTIMAL) == (found.value == found.bound)


@pytest.mark.usefixtures("nothing_is_small")
def test_promises_that_can_be_kept_come_first():
    instance = stream(2, 1, 1, (0, 3, 9), (1, 1, 12), (6, 1, 2), now=5)
    found = exact_plan(instance)
    assert found.status is Status.OPTIMAL
    assert violations(instance, found.solution) == ()
    accepted = {d.task for d in found.solution.decisions if d.accepted}
    assert {"a", "b"} <= accepted


def test_promises_that_cannot_be_kept_are_infeasible():
    instance = stream(2, 1, 1, (0, 1, 4), (0, 1, 4), now=2)
    found = exact_plan(instance)
    assert (found.status, found.solution, found.bound) == (Status.INFEASIBLE, None, None)
    assert "promised tasks: minimum maximum lateness Lmax = 1/3" in found.reason


@pytest.mark.parametrize("unit", [1, Fraction(1, 7), 0.1])
def test_what_is_accepted_has_the_largest_weight(unit):
    """Three tasks of weight 1 fit; or one of weight 5, and one of the others."""
    shipped = load("admission/weights-that-differ")
    tasks = tuple(replace(task, weight=unit * task.weight) for task in shipped.tasks)
    instance = replace(shipped, tasks=tasks)
    found = solve(instance, objective="accepted-weight", limits=Limits(work=1_000))
    assert found.status is Status.OPTIMAL
    assert found.value == found.bound == pytest.approx(6 * unit)
    assert type(found.value) is (float if isinstance(unit, float) else type(6 * unit))
    heavy = next(task for task in tasks if task.weight > unit)
    served = {chunk.task for chunk in found.solution.chunks}
    assert heavy.id in served and len(served) == 2
    assert solve(instance).value == 3


def test_floats():
    instance = stream(2, 1.0, 1.5, (0.0, 2.2, 6.1), (0.3, 1.1, 4.2), (0.4, 9.9, 3.0))
    for name in ("accepted", "accepted-load", "reject-ratio"):
        found = exact_plan(instance, objective=name)
        assert found.status is Status.OPTIMAL
        assert violations(instance, found.solution, 1e-6) == ()
        assert float(found.value) == pytest.approx(float(objective(instance, found.solution, name)))
        assert isinstance(found.solution.chunks[0].load, float)
    again = exact_plan(instance, hint=exact_plan(instance).solution)
    assert again.status is Status.OPTIMAL


def test_floats_at_a_tight_deadline():
    """0.1 + 0.2 > 0.3 in floats: nobody should be late by that."""
    instance = stream(1, 1.0, 1.0, (0.0, (0.1 + 0.2) / 2, 0.3))
    found = exact_plan(instance)
    assert found.value == 1
    assert violations(instance, found.solution, 1e-6) == ()


@pytest.mark.usefixtures("nothing_is_small")
def test_floats_without_a_common_measure():
    loads = 2.200000000001, 1.100000000003, 1.700000000007
    instance = stream(2, 1.0, 1.5, *zip((0.0, 0.3, 0.4), loads, (6.1, 4.2, 5.0), strict=True))
    assert exact_plan(instance).value == exact_plan(instance).bound


def test_large_times_and_loads_are_the_same_problem():
    for unit in (10**6, Fraction(1, 10**6)):
        tasks = ((0, 2 * unit, 4 * unit), (0, 3 * unit, 8 * unit), (0, unit, 4 * unit))
        found = exact_plan(stream(2, 1, 2, *tasks))
        assert (found.status, found.value) == (Status.OPTIMAL, 2)


def test_what_is_too_large_is_still_bounded(monkeypatch):
    monkeypatch.setattr(FeasibilityTest, "disprove_by_spans", lambda *_: None)
    monkeypatch.setattr(feasibility, "MAX_CHUNKS", 3)
    monkeypatch.setattr(search, "MAX_CHUNKS", 3)
    monkeypatch.setattr(sequencing_milp, "MAX_PAIRS", 2)
    found = exact_plan(GAP)
    assert found.status is Status.FEASIBLE
    assert "the sequencing MILP would have about" in found.reason
    assert found.value < found.bound
    undecided = feasible_queue(stream(2, 1, 2, (0, 2, 4), (0, 3, 8)))
    assert undecided.status is Status.UNKNOWN
    assert "pairs of chunks, more than 2" in undecided.reason
    hopeless = stream(2, 1, 2, (0, 9, 4), (0, 3, 8))
    assert "lateness" not in feasible_queue(hopeless).reason


def test_a_hundred_tasks_are_bounded_and_the_hint_is_kept():
    crowd = stream(8, 1, 4, (0, 3, 9))
    many = tuple(
        replace(crowd.tasks[0], id=str(k), arrival=2 * k, load=3 + k % 5) for k in range(60)
    )
    crowd = replace(crowd, tasks=many)
    found = solve(crowd, limits=Limits(time_s=6))
    assert violations(crowd, found.solution) == ()
    assert solve(crowd, "edf-iit-2").value <= found.value <= found.bound
    assert bound_fluid(crowd, relax=True).bound >= found.value


def test_the_sequencing_milp_proves_what_the_relaxation_does_not():
    found = exact_plan(BEYOND)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 3, 3)
    assert "order of chunks, certified in exact arithmetic" in found.reason
    assert bound_window(BEYOND).bound == 4


def test_other_solvers_by_name():
    with warnings.catch_warnings(action="ignore"):
        if "PULP_CBC_CMD" not in pulp.listSolvers(onlyAvailable=True):
            pytest.skip("this PuLP brings no CBC")
    found = exact_plan(BEYOND, solver="PULP_CBC_CMD")
    assert (found.status, found.value) == (Status.OPTIMAL, 3)
    assert found.solver == "HiGHS+PULP_CBC_CMD"


def test_unknown_solvers_are_reported():
    with pytest.raises(NotApplicableError, match="knows no solver"):
        feasible_queue(GAP, solver="nonesuch")


def test_a_plan_beyond_its_bound_is_an_error_in_fractions_and_not_in_floats(monkeypatch):
    wrong = UpperBound(Fraction(0), "a wrong proof")
    monkeypatch.setattr(search, "upper_bound", lambda *args, **options: wrong)
    best = feasible_queue(stream(1, 1, 1, (0, 1, 2))).solution
    with pytest.raises(SolverError, match="its bound is 0: a wrong proof"):
        exact_plan(stream(1, 1, 1, (0, 1, 2)), hint=best)
    floats = stream(1, 1.0, 1.0, (0.0, 1.0, 2.0))
    assert exact_plan(floats, hint=feasible_queue(floats).solution).bound == 1


@pytest.mark.usefixtures("nothing_is_small")
def test_limits_in_every_step_of_the_question(monkeypatch):
    """A queue that is not decided by flows, by its deadlines, nor by local search."""
    instance = stream(2, 1, 2, (0, 2, 4), (0, 3, 8), (0, 1, 4))
    scaled = ScaledInstance.from_instance(instance).restricted_to(range(3))
    monkeypatch.setattr(feasibility, "EFFORT", 0)
    question = FeasibilityTest(scaled, 1, Limits(), 0)
    assert question.decide(relax=False, explain=True).status is Status.INFEASIBLE
    stopped = FeasibilityTest(scaled, 1, Limits(work=1), 0).decide(relax=False)
    assert stopped.status in (Status.LIMIT, Status.INFEASIBLE)


def ending(status, bound):
    """Let the program over orders end in a way that it rarely does."""
    return lambda *args: ([], Outcome(status, None, bound, {}, False, "HiGHS", "1"))


@pytest.mark.parametrize(
    ("status", "bound", "verdict"),
    [
        (Status.OPTIMAL, 0.0, Status.UNKNOWN),
        (Status.LIMIT, 0.0, Status.LIMIT),
        (Status.LIMIT, None, Status.LIMIT),
        (Status.LIMIT, 0.01, Status.INFEASIBLE),
    ],
)
def test_what_the_bound_of_the_lateness_says(status, bound, verdict, monkeypatch):
    monkeypatch.setattr(FeasibilityTest, "disprove_by_spans", lambda *_: None)
    monkeypatch.setattr(SequencingMilp, "solve", ending(status, bound))
    scaled = ScaledInstance.from_instance(stream(1, 1, 1, (0, 2, 10), (1, 1, 2))).restricted_to(
        range(2)
    )
    assert (
        schedule_sequence(scaled, sequence_by_deadline(scaled, [0, 1]), [0, 1], Limits(), 0)
        is not None
    )
    late = ScaledInstance.from_instance(TWO).restricted_to(range(2))
    found = FeasibilityTest(late, 1, Limits(), 0).decide(relax=False)
    assert found.status is verdict
    assert found.reason


def test_a_milp_without_a_solution_leaves_the_incumbent(monkeypatch):
    monkeypatch.setattr(SequencingMilp, "solve", ending(Status.LIMIT, None))
    for step in ("bound_by_conflicts", "divide_intervals"):
        monkeypatch.setattr(search.AdmissionSearch, step, lambda self: None)
    monkeypatch.setattr(search.AdmissionSearch, "search_sequences", lambda *_, **__: None)
    found = exact_plan(HARD)
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 0, 4)
    assert found.reason.startswith("gap not closed")
    infeasible = feasible_queue(TWO)
    assert "minimum maximum lateness Lmax <=" in infeasible.reason


def test_the_feasibility_test_runs_out_of_time_between_its_steps(monkeypatch):
    scaled = ScaledInstance.from_instance(TWO).restricted_to(range(2))
    question = FeasibilityTest(scaled, 1, Limits(time_s=60), 0)
    assert question.decide(explain=True).status is Status.INFEASIBLE
    question.budget.stop = 0.0
    assert question.decide().status is Status.LIMIT
    assert question.decide(relax=False).status is Status.LIMIT


def test_a_sequence_that_is_not_solved_or_late_has_no_schedule():
    scaled = ScaledInstance.from_instance(TWO)
    parts = sequence_by_deadline(scaled, [0, 1])
    assert schedule_sequence(scaled, parts, [0, 1], Limits(), 0) is None
    assert schedule_sequence(scaled, parts, [0, 1], Limits(time_s=1e-12), 0) is None
    assert schedule_sequence(scaled, [], [], Limits(), 0) is not None


def test_sequence_by_deadline_has_few_chunks_with_set_up_costs():
    scaled = ScaledInstance.from_instance(stream(3, 1, 1, (0, 1, 9), theta_cm=1))
    assert sequence_by_deadline(scaled, [0]) == [UnsizedChunk(0, 0)]


def test_a_sequence_must_be_better_and_complete(monkeypatch):
    scaled = ScaledInstance.from_instance(GAP)
    player = AdmissionSearch(scaled, 1, Limits(), 0, "HiGHS")
    player.initialise(None)
    assert (player.value, player.is_optimal) == (0, False)
    player.bound = scaled.value(range(3))
    # incomplete, better, no better
    offered = iter([([(0, 0)], {0, 1}), ([(2, 0)], {2}), ([(1, 0), (1, 1)], {1})])
    values = []

    def answer(*_):
        values.append(player.value)
        chunks, accepted = next(offered, (None, None))
        if chunks is None:
            return None
        chunks = [UnsizedChunk(*one) for one in chunks]
        return SimpleNamespace(loaded_chunks=chunks, requests=accepted)

    monkeypatch.setattr(SequenceSearch, "improve", answer)
    player.search_sequences(None)
    assert (*values, player.value) == (0, 0, 1, 1, 1)
    assert {chunk.task for chunk in player.plan.chunks} == {GAP.tasks[2].id}


@pytest.mark.parametrize("method", ["exact", "feasibility"])
def test_a_solver_that_pulp_does_not_know_is_refused(method):
    with pytest.raises(NotApplicableError, match="PuLP knows no solver 'foo'"):
        solve(TWO, method, solver="foo")


def test_a_work_limit_skips_large_models():
    found = exact_plan(HARD, limits=Limits(work=1))
    assert found.status is Status.FEASIBLE and found.value <= found.bound
    assert found.reason.endswith("16 chunks, more than 12 with a work limit")
