"""The methods as a caller names them: promises, hints, limits, statuses, floats, what is large."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import solve
from dlopt.backends.pulp import Outcome
from dlopt.errors import NotApplicableError, SolverError
from dlopt.generation import generate
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.multistage import (
    chunk_windows,
    search,
    sequencing_milp,
)
from dlopt.models.multistage.feasibility import FeasibilityTest
from dlopt.models.multistage.fixed_sequence_lp import (
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.multistage.methods import bound_fluid, exact_plan, feasible_together
from dlopt.models.multistage.node_assignments import assign_nodes
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Commitment,
    Decision,
    Grant,
    Instance,
    Solution,
    objective,
    violations,
)
from dlopt.result import Limits, Status
from tests.models.multistage.sample_instances import BOTH, CROWD, EITHER, around


def accepted(plan):
    """Return the names of what is accepted."""
    return {d.task for d in plan.decisions if d.accepted} | {
        grant.reservation for grant in plan.grants if grant.accepted
    }


def test_exact_starts_from_the_better_online_method() -> None:
    """Where the program over sequences is too large, this is the schedule that it returns."""
    stream = generate(
        "multistage", "small", nodes=16, tasks=20, chi=3, span=30, fraction=0.15, largest=8, seed=9
    )
    online = [solve(stream, name).value for name in ("multi-stage", "priced-multi-stage")]
    assert online == [11, 12]
    assert solve(stream, limits=Limits(work=1)).value >= 12


def test_weights_decide_between_a_task_and_a_reservation():
    for weights, kept in (((3, 1), {"a"}), ((1, 3), {"r"})):
        instance = replace(EITHER, task_weight=weights[0], reservation_weight=weights[1])
        found = exact_plan(instance)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 3, 3)
        assert accepted(found.solution) == kept
        assert found.plan_class == "per-stage"
        assert "over spans of chunks, certified in exact arithmetic" in found.reason
        assert bound_fluid(instance).bound == 4


def test_what_just_fits_together_and_what_does_not():
    found = feasible_together(BOTH)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 2, 2)
    assert violations(BOTH, found.solution) == ()
    found = feasible_together(EITHER)
    assert (found.status, found.solution, found.plan_class) == (
        Status.INFEASIBLE,
        None,
        "per-stage",
    )
    assert found.reason.startswith(
        "minimum maximum lateness Lmax = 2/3; task a, reservation r do not fit together: infeasible"
    )
    assert found.proof == "exact"
    beyond = around(2, 1, 2, (0, Fraction(9, 5), 4), held=((0, 2, 4, 9, (1,)),))
    assert feasible_together(beyond).status is Status.INFEASIBLE
    more = feasible_together(beyond, installments=2)
    assert (more.status, more.plan_class) == (Status.OPTIMAL, "any")


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (around(2, 1, 1, held=((0, 1, 3, 4, 1), (0, 2, 4, 5, 1))), "request the channel"),
        (around(2, 1, 1, held=((0, 1, 1, 4, (1,)), (0, 2, 4, 5, (1,)))), "request node 1"),
        (around(2, 1, 1, held=((0, 1, 1, 4, 3),)), "too few of its nodes"),
        (around(2, 1, 1, held=((0, 1, 1, 4, (1,)),), ready_times=(0, 2)), "too few of its nodes"),
        (around(2, 1, 1, held=((0, 1, 2, 4, (1,)),), channel_ready=2), "channel is not free"),
        (
            around(2, 1, 1, held=((0, 1, 1, 4, 1), (0, 2, 4, 5, 2))),
            "infeasible even in the fluid relaxation",
        ),
        (
            around(2, 1, 1, (0, 3, 4), held=((0, 1, 2, 4, 2),)),
            "infeasible even in the fluid relaxation",
        ),
    ],
)
def test_what_cannot_be_together_has_a_reason(instance, reason):
    found = feasible_together(instance)
    assert (found.status, found.solution, found.plan_class) == (Status.INFEASIBLE, None, "any")
    assert reason in found.reason
    must = replace(
        instance,
        tasks=(),
        reservations=tuple(replace(one, mandatory=True) for one in instance.reservations),
    )
    if not instance.tasks:
        found = exact_plan(must)
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        assert reason in found.reason
        assert bound_fluid(must).reason.startswith("no feasible schedule")


def test_reservations_alone():
    instance = around(2, 1, 1, held=((0, 1, 2, 4, 1), (0, 2, 3, 5, 2), (0, 3, 4, 6, 1)))
    found = exact_plan(instance)
    assert (found.status, found.value) == (Status.OPTIMAL, 2)
    assert accepted(found.solution) == {"r", "t"}
    assert violations(instance, found.solution) == ()
    assert feasible_together(instance).status is Status.INFEASIBLE
    assert exact_plan(instance, objective="accepted-load").value == 0


def test_decisions_are_made_at_arrival_and_nodes_are_as_wanted():
    found = exact_plan(CROWD, limits=Limits(time_s=30))
    said = {grant.reservation: grant for grant in found.solution.grants}
    for one in CROWD.reservations:
        assert said[one.id].at == one.arrival
        assert len(said[one.id].nodes) == (one.count if said[one.id].accepted else 0)
    assert violations(CROWD, found.solution) == ()
    assert found.value <= found.bound <= bound_fluid(CROWD).bound


def test_promises_come_first():
    instance = around(
        2, 1, 1, (0, 3, 9), (3, 2, 4), held=((0, 4, 5, 7, (0,)), (3, 5, 5, 9, 2)), now=2
    )
    found = exact_plan(instance)
    assert found.status is Status.OPTIMAL
    assert {"a", "r"} <= accepted(found.solution)
    assert violations(instance, found.solution) == ()


def test_mandatory_reservations_are_not_refused():
    free = around(1, 1, 1, (0, 2, 4), held=((0, 1, 1, 3, (0,)),), task_weight=9)
    assert accepted(exact_plan(free).solution) == {"a"}
    must = replace(free, reservations=(replace(free.reservations[0], mandatory=True),))
    found = exact_plan(must)
    assert (found.value, accepted(found.solution)) == (1, {"r"})
    assert exact_plan(must, objective="accepted-tasks").value == 0


def test_broken_promises_are_infeasible():
    late = around(1, 1, 1, (0, 2, 4), held=((0, 2, 2, 4, (0,)),), now=1)
    found = exact_plan(late)
    assert (found.status, found.solution, found.bound) == (Status.INFEASIBLE, None, None)
    assert found.reason.startswith(
        "promised tasks and mandatory reservations: infeasible even in the fluid relaxation"
    )
    assert found.certificate is not None


def test_what_costs_nothing_is_accepted():
    done = (Commitment("a", 0, 0, 1, 2),)
    instance = around(1, 1, 1, (0, 1, 9), held=((3, 4, 5, 6, 1),), committed=done, now=3)
    found = exact_plan(instance)
    assert (found.value, accepted(found.solution)) == (2, {"a", "r"})
    assert violations(instance, found.solution) == ()
    assert feasible_together(instance).value == 2
    nothing = around(1, 1, 1, (0, 1, 9), committed=done, now=3)
    done = exact_plan(nothing)
    assert done.reason == "source of the bound: trivial bound (all accepted that can be on time)"
    assert (done.bound, done.proof) == (1, "exact")


def test_hints():
    best = exact_plan(BOTH).solution
    late = Limits(time_s=1e-9)
    assert exact_plan(BOTH, hint=best, limits=late).solution == best
    assert feasible_together(BOTH, hint=best, limits=late).solution == best
    overloaded = replace(best, chunks=best.chunks * 2)
    assert exact_plan(BOTH, hint=overloaded, limits=late).value == 0
    unpromised = replace(best, decisions=(replace(best.decisions[0], promised=False),))
    assert exact_plan(BOTH, hint=unpromised, limits=late).value == 0
    two = feasible_together(around(2, 1, 1, (0, 3, Fraction(24, 7))), installments=2)
    instance = around(2, 1, 1, (0, 3, Fraction(24, 7)))
    assert exact_plan(instance, hint=two.solution).value == 0
    assert exact_plan(instance, hint=two.solution, installments=2, limits=late).value == 1


def test_a_hint_that_rejects_finished_tasks_is_repaired():
    done = (Commitment("a", 0, 0, 1, 2),)
    instance = around(1, 1, 1, (0, 1, 9), (0, 1, 1), committed=done)
    no = tuple(Decision(task.id, False, 0) for task in instance.tasks)
    found = exact_plan(instance, hint=Solution(no, (), ()), limits=Limits(time_s=1e-9))
    assert found.value == objective(instance, found.solution) == 1


def test_at_once_out_of_time():
    late = Limits(time_s=1e-9)
    found = exact_plan(CROWD, limits=late)
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 0, 7)
    assert found.reason.endswith("trivial bound (all accepted that can be on time)")
    assert feasible_together(CROWD, limits=late).status is Status.LIMIT
    promised = around(1, 1, 1, (0, 1, 9), now=1)
    assert exact_plan(promised, limits=late).status is Status.LIMIT
    assert bound_fluid(CROWD, limits=late).bound >= exact_plan(CROWD, limits=Limits(time_s=5)).value


def test_work_limits_are_deterministic():
    first, second = (exact_plan(CROWD, limits=Limits(work=5), seed=1) for _ in range(2))
    assert first == second
    assert violations(CROWD, first.solution) == ()
    assert first.value <= first.bound


def test_floats():
    instance = around(
        2, 1.0, 1.5, (0.0, 2.2, 6.1), (0.3, 1.1, 4.2), held=((0.1, 2.5, 3.1, 4.7, 1),)
    )
    for name in ("accepted", "accepted-tasks", "accepted-load", "reject-ratio"):
        found = exact_plan(instance, objective=name)
        assert found.status is Status.OPTIMAL
        assert violations(instance, found.solution, 1e-6) == ()
        assert float(found.value) == pytest.approx(float(objective(instance, found.solution, name)))
    again = exact_plan(instance, hint=exact_plan(instance).solution)
    assert again.status is Status.OPTIMAL


def test_floats_that_just_meet():
    """0.1 + 0.2 > 0.3: neither a task nor a reservation should be refused for that."""
    tenth = 0.1 + 0.2
    held = ((0.0, 0.3, 0.5, 0.6, (0,)), (0.0, 0.6 + 1e-17, 0.7, 0.9, (0,)))
    instance = around(1, 1.0, 1.0, (0.0, tenth / 2, 0.35), held=held)
    found = exact_plan(instance)
    assert found.value == 3
    assert violations(instance, found.solution, 1e-6) == ()
    touching = around(1, 1.0, 1.0, held=((0.0, 0.0, 0.0, tenth, (0,)), (0.0, 0.3, 0.3, 0.6, (0,))))
    assert exact_plan(touching).value == 2


def test_what_is_too_large_is_still_bounded(monkeypatch):
    monkeypatch.setattr(FeasibilityTest, "disprove_by_spans", lambda *_: None)
    monkeypatch.setattr(chunk_windows, "MAX_CANDIDATES", 2)
    found = exact_plan(EITHER)
    assert found.status is Status.FEASIBLE
    assert "sequencing MILP would have about 4 chunks, more than 2" in found.reason
    assert feasible_together(EITHER).status is Status.UNKNOWN
    monkeypatch.setattr(chunk_windows, "MAX_CANDIDATES", 100)
    monkeypatch.setattr(chunk_windows, "MAX_PAIRS", 0)
    assert SequencingMilp(ScaledInstance.from_instance(EITHER), 1).candidates.too_large


def test_nodes_are_assigned_one_by_one():
    fits = ScaledInstance.from_instance(
        around(2, 1, 1, held=((0, 1, 1, 4, (1,)), (0, 2, 2, 5, 1), (0, 6, 6, 7, 1)))
    )
    assert assign_nodes(fits) == {0: (1,), 1: (0,), 2: (0,)}
    assert (
        assign_nodes(
            ScaledInstance.from_instance(
                around(2, 1, 1, held=((0, 1, 1, 4, (1,)), (0, 2, 2, 5, 2)))
            )
        )
        is None
    )


def test_sequences_that_are_late_or_do_not_fit_have_no_schedule():
    scaled = ScaledInstance.from_instance(EITHER)
    parts = sequence_by_deadline(scaled, [0], {0: (1,)})
    assert schedule_sequence(scaled, parts, [0], {0: (1,)}, Limits(), 0) is None
    assert schedule_sequence(scaled, [UnsizedChunk(0, 0, 0)], [0], {}, Limits(), 0) is None
    assert schedule_sequence(scaled, [], [], {}, Limits(), 0) is not None
    setups = Instance(Cluster(3, 1, 1, theta_cm=1), around(1, 1, 1, (0, 1, 9)).tasks)
    assert sequence_by_deadline(ScaledInstance.from_instance(setups), [0], {}) == [
        UnsizedChunk(0, 0, 0)
    ]


def ending(status, bound):
    """Let the program over orders end in a way that it rarely does."""
    outcome = Outcome(status, None, bound, {}, False, "HiGHS", "1")
    return lambda *args: sequencing_milp.SequencingSolution((), {}, (), outcome)


@pytest.mark.parametrize(
    ("status", "bound", "verdict"),
    [
        (Status.OPTIMAL, 0.0, Status.UNKNOWN),
        (Status.LIMIT, 0.0, Status.LIMIT),
        (Status.LIMIT, None, Status.LIMIT),
        (Status.LIMIT, 0.01, Status.INFEASIBLE),
        (Status.INFEASIBLE, None, Status.INFEASIBLE),
    ],
)
def test_what_the_bound_of_the_lateness_says(status, bound, verdict, monkeypatch):
    monkeypatch.setattr(FeasibilityTest, "disprove_by_spans", lambda *_: None)
    monkeypatch.setattr(SequencingMilp, "solve", ending(status, bound))
    found = FeasibilityTest(
        ScaledInstance.from_instance(EITHER, accept_all=True), 1, Limits(), 0
    ).decide()
    assert found.status is verdict
    assert found.reason


def test_a_sequence_that_is_infeasible_in_fractions_is_replaced(monkeypatch):
    found = (
        SequencingMilp(ScaledInstance.from_instance(BOTH), 1).build().solve(Limits(), "HiGHS", 0)
    )
    wrong = sequencing_milp.SequencingSolution(
        (0,), {0: (1,)}, (UnsizedChunk(0, 0, 1),), found.outcome
    )
    real, calls = SequencingMilp.solve, []

    def solve(self, *args):
        calls.append(self.accept_all)
        return real(self, *args) if self.accept_all else wrong

    monkeypatch.setattr(SequencingMilp, "solve", solve)
    monkeypatch.setattr(search.FeasibilityTest, "schedule_by_deadline", lambda self: None)
    best = exact_plan(BOTH)
    assert (best.status, best.value) == (Status.OPTIMAL, 2)
    assert calls == [False, True]


def test_a_plan_beyond_its_bound_is_an_error_in_fractions_and_not_in_floats(monkeypatch):
    wrong = UpperBound(Fraction(0), "a wrong proof")
    monkeypatch.setattr(search, "upper_bound", lambda *args, **options: wrong)
    best = feasible_together(BOTH).solution
    with pytest.raises(SolverError, match="its bound is 0: a wrong proof"):
        exact_plan(BOTH, hint=best)
    floats = around(1, 1.0, 1.0, (0.0, 1.0, 2.0))
    assert exact_plan(floats, hint=feasible_together(floats).solution).bound == 1


@pytest.mark.parametrize("method", [exact_plan, feasible_together])
def test_a_solver_that_pulp_does_not_know_is_refused(method):
    with pytest.raises(NotApplicableError, match="PuLP knows no solver 'foo'"):
        method(EITHER, solver="foo")


def test_grants_without_nodes_are_refusals():
    found = exact_plan(EITHER)
    assert all(grant.nodes == () for grant in found.solution.grants if not grant.accepted)
    assert isinstance(found.solution.grants[0], Grant)
