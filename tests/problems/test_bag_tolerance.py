"""How far a plan of a bag in floats may be off: once, and not once for each task."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import check, solve
from dlopt.arithmetic import exact
from dlopt.problems.bag import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    violations,
)

F = Fraction
EPOCH = 1_700_000_000
OFF = F(EPOCH, 2**46)  # 64 units in the last place: about 24 microseconds
LOOSE = 1e-9


def packed(count, length, step, **given):
    """Return tasks on one machine that is ready at the epoch, and a plan, one every `step`."""
    tasks = tuple(Task(f"t{k}", length, **given) for k in range(count))
    runs = tuple(
        Placement(f"t{k}", 0, EPOCH + k * step, EPOCH + k * step + exact(length))
        for k in range(count)
    )
    return Instance(tasks, (Machine("m", ready=EPOCH),)), Solution(runs)


def kinds(instance, plan, tolerance=LOOSE):
    return {violation.kind for violation in violations(instance, plan, tolerance)}


def test_overlaps_that_are_small_do_not_add_up():
    step = exact(0.001) - OFF * F(9, 10)
    two = packed(2, 0.001, step)
    assert kinds(*two) == set() and kinds(*two, 0) == {"machine-overlap"}
    for count in (3, 46):
        assert kinds(*packed(count, 0.001, step)) == {"earlier-than-possible"}
    (found,) = violations(*packed(3, 0.001, step), LOOSE)
    assert (found.resource, found.amount) == ("task t2", pytest.approx(OFF * F(9, 5)))
    assert kinds(*packed(46, 0.001, exact(0.001))) == set()


def test_durations_that_are_short_by_a_little_do_not_add_up():
    """Each ends a little too early, and the next one starts there."""
    short = exact(0.001) - OFF * F(9, 10)
    instance, plan = packed(3, 0.001, short)
    runs = tuple(replace(one, end=one.start + short) for one in plan.placements)
    assert kinds(instance, Solution(runs)) == {"earlier-than-possible"}
    assert kinds(instance, Solution(runs[:1]), LOOSE) == {"task-missing"}
    single, plan = packed(1, 0.001, 1)
    one = replace(plan.placements[0], end=EPOCH + short)
    assert kinds(single, Solution((one,))) == set()
    two, plan = packed(2, 0.001, short)
    late = replace(plan.placements[1], end=plan.placements[1].start + short)
    assert kinds(two, Solution((plan.placements[0], late))) == {"earlier-than-possible"}


def test_twenty_tasks_do_not_run_at_the_same_instant():
    """10 microseconds each, all at once: dates in floats are only good for 24."""
    due = EPOCH + 0.000011
    instance, plan = packed(20, 0.00001, 0, absolute_deadline=due)
    assert "earlier-than-possible" in kinds(instance, plan)
    exactly = solve(instance, "exact", objective="accepted")
    bound = solve(instance, "bound-lp", objective="accepted").bound
    assert exactly.bound <= bound and check(instance, exactly.solution) == ()
    squeezed = replace(plan, placements=plan.placements[:3])
    assert kinds(instance, squeezed) == set() and len(squeezed.placements) <= exactly.bound


def test_machine_input_and_release_are_waited_for_in_the_exact_plan_too():
    step = exact(0.001) - OFF * F(9, 10)
    links = (Link((0, 1), 1000.0),)
    for task, machine in (
        ({"release": EPOCH + 0.5}, {"ready": 0}),
        ({}, {"ready": EPOCH + 0.5}),
        ({"release": EPOCH, "input": 500, "site": 1}, {"ready": 0}),
    ):
        tasks = tuple(Task(f"t{k}", 0.001, **task) for k in range(3))
        instance = Instance(tasks, (Machine("m", **machine),), (Site("x"), Site("y")), links)
        first = EPOCH + F(1, 2)
        runs = tuple(
            Placement(f"t{k}", 0, first + k * step, first + k * step + exact(0.001))
            for k in range(3)
        )
        assert kinds(instance, Solution(runs)) == {"earlier-than-possible"}


def test_a_later_release_is_waited_for_in_the_exact_plan():
    """The second starts a hair before its release, and the third a hair before that is done."""
    off = OFF * F(9, 10)
    releases = (EPOCH, EPOCH + 1, EPOCH + 1)
    tasks = tuple(Task(f"t{k}", 0.001, release=at) for k, at in enumerate(releases))
    instance = Instance(tasks, (Machine("m"),))
    starts = (F(EPOCH), EPOCH + 1 - off, EPOCH + 1 + exact(0.001) - 2 * off)
    runs = tuple(
        Placement(f"t{k}", 0, start, start + exact(0.001)) for k, start in enumerate(starts)
    )
    assert kinds(instance, Solution(runs)) == {"earlier-than-possible"}


@pytest.mark.parametrize("method", ["mct", "min-min", "sufferage", "gds", "edf", "exact"])
@pytest.mark.parametrize("length", [0.1, 1 / 3, 0.7, 1e-5])
def test_our_own_plans_do_not_slide_however_long_they_are(method, length):
    """One task after the other at the epoch: to add floats up to dates would lose a little each."""
    count = 40 if method == "exact" else 600
    tasks = tuple(Task(f"t{k}", length, release=EPOCH + 0.1) for k in range(count))
    instance = Instance(tasks, (Machine("m"), Machine("n", power=0.9)))
    assert check(instance, solve(instance, method).solution, LOOSE) == ()
    dated = replace(
        instance,
        tasks=tuple(
            replace(task, absolute_deadline=EPOCH + 0.1 + (k // 2 + 1) * length)
            for k, task in enumerate(tasks)
        ),
    )
    found = solve(dated, method, objective="accepted")
    assert check(dated, found.solution, LOOSE) == () and found.value >= count // 2


def test_tasks_that_the_check_lets_pass_are_within_the_bound():
    """Due a little too soon: the check lets it pass, and the models do."""
    instance, plan = packed(3, 0.001, exact(0.001) - OFF * F(9, 20))
    due = float(exact(EPOCH) + 3 * exact(0.001) - OFF * F(8, 5))
    tasks = tuple(replace(task, absolute_deadline=due) for task in instance.tasks)
    instance = replace(instance, tasks=tasks)
    assert kinds(instance, plan) == set()
    for method in ("exact", "milp", "bound-lp", "lns"):
        found = solve(instance, method, objective="accepted")
        assert found.bound == 3
        assert found.solution is None or check(instance, found.solution, LOOSE) == ()
    late = float(exact(EPOCH) + 3 * exact(0.001) - 4 * OFF)
    hard = replace(instance, tasks=tuple(replace(t, absolute_deadline=late) for t in tasks))
    assert solve(hard, "exact", objective="accepted").bound == 2
