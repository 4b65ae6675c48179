"""Statuses, limits, refusals; identical machines; matrices too large to solve to optimality."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest

from dlopt.api import solve
from dlopt.arithmetic import exact
from dlopt.backends import cpsat
from dlopt.certificate_files import check_own_certificate
from dlopt.errors import NotApplicableError, SolverError
from dlopt.formats.etc import parse_etc
from dlopt.models.bag import flowtime_assignment, makespan_bound, search
from dlopt.models.bag import milp as bag_milp
from dlopt.models.bag.cpsat import CpSatModel
from dlopt.models.bag.methods import reason_against_milp, solve_exact, solve_lns, solve_milp
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import sequences_from_hint, without_late_jobs
from dlopt.problems.bag import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    allowed_gain,
    violations,
)
from dlopt.result import Limits, Status
from tests.data import data_folder

NOW = Limits(time_s=1e-9)


def matrix(tasks, machines):
    rows = (
        tuple(1 + (7 * i * (k + 2) + i // 3) % 31 for k in range(machines)) for i in range(tasks)
    )
    return Instance(etc=tuple(rows))


def dated(*jobs, machines=1):
    tasks = tuple(Task(f"t{k}", *job[:1], absolute_deadline=job[1]) for k, job in enumerate(jobs))
    return Instance(tasks, tuple(Machine(f"m{k}") for k in range(machines)))


def test_no_time_leaves_a_plan_and_a_bound() -> None:
    found = solve_exact(matrix(9, 3), limits=NOW)
    assert found.status is Status.FEASIBLE and found.bound < found.value
    instance = dated((3, 4), (2, 4), (2, 4))
    found = solve_exact(instance, objective="critical-then-all", limits=NOW)
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, (0, 1), (0, 3))


def test_times_without_a_common_unit_are_rounded_and_said_to_be() -> None:
    primes = (999983, 999979, 999961, 999959)
    rows = tuple((1 + Fraction(1, p), 2 + Fraction(1, p)) for p in primes)
    found = solve_exact(Instance(etc=rows))
    assert found.status is Status.FEASIBLE
    assert 0 < found.value - found.bound < Fraction(1, 10**9)
    assert "the horizon is too long for the common unit" in found.reason
    tasks = tuple(Task(f"t{k}", row[0], absolute_deadline=3) for k, row in enumerate(rows))
    counted = solve_exact(Instance(tasks, (Machine("m"),)), objective="accepted")
    assert (counted.status, counted.value) == (Status.OPTIMAL, 2)


def test_the_compact_program_refuses_what_it_cannot_say() -> None:
    tasks = tuple(Task(f"t{k}", 1, release=k, absolute_deadline=3) for k in range(2))
    instance = Instance(tasks, (Machine("m"),))
    assert "at different times" in reason_against_milp(instance)
    with pytest.raises(NotApplicableError, match="at different times"):
        solve_milp(instance)
    with pytest.raises(NotApplicableError, match="flowtime"):
        solve_milp(matrix(3, 2), objective="flowtime")
    with pytest.raises(NotApplicableError, match="PuLP knows no solver"):
        solve_milp(matrix(3, 2), solver="abacus")
    assert reason_against_milp(matrix(3, 2)) is None


def test_machines_that_are_alike_are_used_in_order() -> None:
    instance = dated((2, 2), (2, 2), (2, 2), (2, 4), machines=3)
    scaled = ScaledInstance.from_instance(instance, "accepted")
    assert scaled.identical_machines == [[0, 1, 2]]
    program = CpSatModel(scaled)
    assert program.relabel_identical_machines(((2,), (1, 3), (0,))) == ((0,), (1, 3), (2,))
    for method in (solve_exact, solve_milp):
        assert method(instance, objective="accepted").value == 4
    assert CpSatModel(scaled, break_symmetry=False).identical_machines == []


def test_neighbourhoods_answer_alike_and_stay_valid() -> None:
    instance = matrix(40, 5)
    first, again = (solve_lns(instance, seed=3) for _ in range(2))
    assert first == again and violations(instance, first.solution) == ()
    assert first.bound <= first.value


def test_flowtimes_too_many_to_be_assigned(monkeypatch) -> None:
    monkeypatch.setattr(flowtime_assignment, "MAX_COST_ENTRIES", 1)
    found = solve_exact(matrix(4, 2), objective="flowtime")
    bound = solve(matrix(4, 2), "bound-lp", objective="flowtime").bound
    assert found.status is Status.OPTIMAL and bound <= found.value


def test_flowtimes_by_an_assignment_that_needs_more_places() -> None:
    rows = tuple((1, 50, 50, 50) for _ in range(9))
    found = solve_lns(Instance(etc=rows), objective="flowtime")
    assert (found.status, found.value) == (Status.OPTIMAL, 45)


def test_a_program_that_refutes_a_plan_is_an_error(monkeypatch) -> None:
    instance = matrix(6, 2)
    wrong = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "")
    with monkeypatch.context() as patch:
        patch.setattr(CpSatModel, "solve", lambda *_: wrong)
        patch.setattr(search, "round_relaxation", lambda *_: None)
        patch.setattr(search, "fractional_jobs", lambda *_: ())
        with pytest.raises(SolverError, match="CP-SAT reports infeasible"):
            solve_exact(instance)
    original = bag_milp.AssignmentMilp.optimise

    def refuted(self, *args):
        return replace(original(self, *args), status=Status.INFEASIBLE)

    def silent(self, *args):
        return replace(original(self, *args), bound=None, assignment={})

    monkeypatch.setattr(bag_milp.AssignmentMilp, "optimise", refuted)
    with pytest.raises(SolverError, match="HiGHS reports infeasible"):
        solve_milp(instance)
    monkeypatch.setattr(bag_milp.AssignmentMilp, "optimise", silent)
    assert solve_milp(instance).status is Status.FEASIBLE
    high = replace(
        makespan_bound.bound_makespan(ScaledInstance.from_instance(instance, "makespan")),
        bound=Fraction(10**6),
    )
    monkeypatch.setattr(search, "bound_makespan", lambda *_: high)
    with pytest.raises(SolverError, match="but the bound is"):
        solve_exact(instance)


@pytest.mark.parametrize("name", ["u_c_hihi.0", "u_i_lohi.0", "u_s_lolo.0"])
def test_the_bound_of_brauns_matrices_is_the_linear_program(name) -> None:
    folder = data_folder("etc_braun")
    lines = (folder / "makespans.csv").read_text().splitlines()[1:]
    known = {line.split(",")[0]: float(line.split(",")[3]) for line in lines}
    times = parse_etc((folder / name).read_text().splitlines()).times
    bound = solve(Instance(etc=times), "bound-lp").bound
    assert abs(bound - known[name]) <= 0.05 + 1e-6 * known[name]  # the file has one digit


def test_neighbourhoods_of_numbers_of_tasks_and_of_flowtimes() -> None:
    tasks = tuple(
        Task(f"t{k}", 3 + k % 4, release=k % 3, absolute_deadline=5 + k % 7) for k in range(40)
    )
    machines = tuple(Machine(f"m{k}", power=1 + k % 2) for k in range(5))
    found = solve_lns(Instance(tasks, machines), objective="by-priority")
    assert found.bound >= found.value >= (0, 5, 0)
    free = tuple(replace(task, absolute_deadline=None) for task in tasks)
    instance = Instance(free, machines)
    first = solve_exact(instance, objective="flowtime", limits=NOW).value
    found = solve_lns(instance, objective="flowtime", limits=Limits(time_s=1))
    assert found.bound <= found.value <= first
    assert violations(instance, found.solution) == ()


def test_a_part_that_is_not_solved_leaves_the_plan(monkeypatch) -> None:
    none = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    monkeypatch.setattr(CpSatModel, "solve", lambda *_: none)
    found = solve_exact(matrix(60, 4))
    assert found.status is Status.FEASIBLE


def test_a_solver_without_time_leaves_even_weights() -> None:
    scaled = ScaledInstance.from_instance(matrix(9, 3), "makespan")
    found = makespan_bound.bound_makespan(scaled, stop=0.0)
    assert not found.shares and 0 < found.bound <= 34


def test_an_arrival_counts_only_where_the_task_is_run() -> None:
    """Input comes late to a machine that no one needs."""
    links = (Link((0, 1), bandwidth=Fraction(1, 9)),)
    tasks = (Task("a", 1, input=1), Task("b", 1, input=2))
    machines = (Machine("m"), Machine("n", site=1))
    instance = Instance(tasks, machines, (Site("s"), Site("t")), links)
    for method in (solve_exact, solve_milp):
        found = method(instance, objective="makespan")
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 2, 2)
    assert solve(instance, "bound-lp").bound == 2


def test_windows_are_thinned_evenly() -> None:
    tasks = tuple(Task(f"t{k}", 5, absolute_deadline=6 + k) for k in range(9))
    tasks += (Task("t9", 6, absolute_deadline=14),)
    scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "accepted")
    assert [window.end for window in scaled.overloadable_windows(0, 3)] == [10, 14]
    assert len(list(scaled.overloadable_windows(0))) == 8


def test_what_is_late_or_impossible_in_a_hint_is_left_out() -> None:
    tasks = (Task("a", absolute_deadline=2), Task("b", absolute_deadline=2))
    instance = Instance(tasks, (Machine("m"), Machine("n")), etc=((2, None), (2, 2)))
    late = Solution((Placement("b", 0, 0, 2), Placement("a", 0, 2, 4)))
    nowhere = Solution((Placement("a", 1, 0, 2),))
    scaled = ScaledInstance.from_instance(instance, "accepted")
    assert without_late_jobs(scaled, sequences_from_hint(scaled, late)) == ((1,), ())
    assert sequences_from_hint(scaled, nowhere) == ((), ())
    for hint in (late, nowhere):
        assert solve_exact(instance, objective="accepted", hint=hint).value == 2


def test_prices_of_an_assignment_that_is_not_the_cheapest_still_end() -> None:
    costs = numpy.array([[0, 9], [9, 0]])
    value = flowtime_assignment.compute_position_duals(
        numpy, costs, numpy.array([0, 1]), numpy.array([1, 0])
    )
    assert value.max() <= 0


def test_a_bound_of_the_integer_program_that_is_not_met(monkeypatch) -> None:
    original = bag_milp.AssignmentMilp.optimise

    def early(self, *args):
        return replace(original(self, *args), bound=0.0, assignment={})

    monkeypatch.setattr(bag_milp.AssignmentMilp, "optimise", early)
    found = solve_milp(matrix(6, 2))
    assert found.status is Status.FEASIBLE and 0 < found.bound < found.value


def waiting(rows, ready, *, releases=None):
    """Return tasks by rows of lengths, on machines that are ready at some instants."""
    tasks = tuple(Task(f"t{k}", release=r) for k, r in enumerate(releases or (0,) * len(rows)))
    machines = tuple(Machine(f"m{k}", ready=instant) for k, instant in enumerate(ready))
    return Instance(tasks, machines, etc=rows)


FALSE_MINIMUM = ((9, 1, 3, 1), (4, 1, 1, 1), (3, 6, 4, 1), (2, 6, 8, 1))


@pytest.mark.parametrize(
    ("instance", "optimum"),
    [
        (waiting(((1, 1),), (0, 3)), 1),
        (waiting(FALSE_MINIMUM, (0, 0, 0, 5)), 4),
        (waiting(((4, 1), (4, 1), (4, 1)), (0, 5)), 7),
    ],
)
def test_a_machine_that_is_ready_late_takes_nothing_from_the_bound(instance, optimum) -> None:
    for method in (solve_exact, solve_milp):
        found = method(instance)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, optimum, optimum)
    near = solve_lns(instance)
    assert near.bound <= optimum <= near.value
    assert solve(instance, "bound-lp").bound <= optimum


def test_the_bound_counts_a_late_machine_from_when_it_is_ready() -> None:
    """Of 12 units of work one machine does T, the other T - 5, and four times as fast."""
    scaled = ScaledInstance.from_instance(waiting(((4, 1), (4, 1), (4, 1)), (0, 5)), "makespan")
    assert scaled.longest_job == 4
    assert makespan_bound.bound_makespan(scaled).bound == 7  # 32 / 5, rounded up
    program = CpSatModel(scaled)
    program.minimise_makespan(0)
    assert program.solve(Limits(), 0).bound == 7


@pytest.mark.parametrize(
    ("least", "heads", "instant"),
    [
        (0, [(9, 5)], 0),
        (3, [(0, 1), (9, 5)], 3),
        (9, [(9, 5), (0, 1)], 9),
        (15, [(9, 5), (0, 1)], 10),
        (1, [(4, 2)], Fraction(9, 2)),
    ],
)
def test_weighted_work_is_done_from_the_first_machine_on(least, heads, instant) -> None:
    assert makespan_bound.least_makespan(least, heads) == instant


def test_machines_out_of_reach_are_left_out() -> None:
    near = ScaledInstance.from_instance(waiting(((3, 1), (3, 1)), (0, 10**9)), "makespan")
    assert near.processing_times == ((1, None), (1, None)) and near.horizon == 2  # units of 3
    early = ScaledInstance.from_instance(near.instance, "flowtime")
    assert early.processing_times == ((1, None), (1, None))
    assert early.with_all_machines().processing_times == ((1, 0), (1, 0))  # they are rounded down
    assert early.with_all_machines().with_all_machines() == early.with_all_machines()
    far = Solution((Placement("t0", 1, 10**9, 10**9 + 1), Placement("t1", 0, 0, 3)))
    assert sequences_from_hint(near, far) is None
    assert solve_exact(near.instance, objective="makespan", hint=far).value == 6


EPOCH = 1_700_000_000


@pytest.mark.parametrize("origin", [0, EPOCH, float(EPOCH)])
def test_dates_do_not_hide_the_schedule(origin) -> None:
    """Four tasks on two machines take 5; 6 and 5 are one date to a relative millionth."""
    rows = ((3, 3), (3, 3), (2, 2), (2, 2))
    instance = waiting(rows, (origin, origin), releases=(origin,) * 4)
    for method in (solve_exact, solve_milp):
        found = method(instance, objective="makespan")
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, origin + 5, origin + 5)
    assert solve_lns(instance, objective="makespan").bound <= origin + 5
    bound = solve(instance, "bound-lp", objective="makespan").bound  # less what a check allows
    assert origin + 5 - 1e-4 <= bound <= origin + 5 and (origin or bound == 5)
    assert solve_exact(instance, objective="flowtime").value == 2 + 2 + 5 + 5


def test_a_plan_that_is_one_too_long_at_a_late_date_is_not_optimal() -> None:
    """The first plan ends at 14, and none before 12; a relative 1e-7 of the date is 170."""
    rows = tuple((float(length),) * 3 for length in (7, 7, 6, 6, 5, 5))
    instance = waiting(rows, (float(EPOCH),) * 3)
    found = solve_exact(instance, objective="makespan", limits=NOW)
    assert found.status is Status.FEASIBLE and found.value > found.bound
    assert found.reason.startswith("gap not closed (")
    assert solve_exact(instance, objective="makespan").value == EPOCH + 12


def test_a_deadline_before_anything_can_start_is_missed() -> None:
    tasks = (
        Task("a", 1.0, release=float(EPOCH), absolute_deadline=EPOCH - 5.0),
        Task("b", 1.0, release=float(EPOCH), absolute_deadline=EPOCH + 1.0),
    )
    found = solve_exact(Instance(tasks, (Machine("m"),)), objective="accepted")
    assert (found.status, found.value) == (Status.OPTIMAL, 1)


def test_the_reason_tells_how_far_value_and_bound_are_apart() -> None:
    rows = tuple((1 + Fraction(1, p), 2 + Fraction(1, p)) for p in (999983, 999979, 999961, 999959))
    found = solve_exact(Instance(etc=rows))
    gap = float(found.value - found.bound)
    assert gap > 0 and f"gap not closed ({gap:.3g});" in found.reason


def test_a_bound_of_flowtimes_at_dates_is_lowered_once() -> None:
    """What the check accepts below the exact optimum is taken off it, not off a rounded plan."""
    work, now = 1 / 3, 1.7e9
    instance = Instance(
        (Task("a", work, release=now), Task("b", work, release=now + 0.3)), (Machine("m"),)
    )
    result = solve(instance, objective="flowtime")
    best = 3 * exact(work) - exact(now + 0.3) + exact(now)
    most = allowed_gain(instance, "flowtime", best, 1e-9)
    assert result.value < best  # ends are rounded down
    assert best - most - Fraction(1, 10**11) < exact(result.bound) <= best - most


@pytest.mark.parametrize("never", [10**13, 10**18, Fraction(10**25, 7)])
def test_a_time_that_no_good_schedule_takes_does_not_round_the_others(never: Any) -> None:
    instance = Instance(etc=((3, never), (never, 4), (2, 5)))
    for objective, best in (("flowtime", 11), ("makespan", 5)):
        found = solve(instance, objective=objective)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
        assert check_own_certificate(instance, found) == ()


def test_a_machine_that_is_ready_in_the_far_future_does_not_round_a_flowtime() -> None:
    tasks = (Task("a", 3), Task("b", 2, release=1), Task("c", 2))
    machines = (Machine("m"), Machine("n", ready=10**18))
    found = solve(Instance(tasks, machines), objective="flowtime")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 12, 12)
    assert check_own_certificate(Instance(tasks, machines), found) == ()
