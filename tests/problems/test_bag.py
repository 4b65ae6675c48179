"""Bags of tasks: what a plan must keep, found by corrupting plans; what it is worth."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.errors import NotApplicableError
from dlopt.problems.bag import (
    KINDS,
    OBJECTIVES,
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    default_objective,
    objective,
    success_ratios,
    transfer_times,
    violations,
)
from dlopt.result import Violation
from tests import oracles_bag
from tests.strategies_bag import amounts, bags, plans, sizes

F = Fraction

# Two sites; the input of b takes 1/2 + 3/2 to the other one.
TASKS = (
    Task("a", 4, priority="critical", absolute_deadline=9),
    Task("b", 2, release=1, input=3, absolute_deadline=6),
    Task("c", 1),
)
INSTANCE = Instance(
    TASKS,
    (Machine("m", 0, ready=2), Machine("n", 1, power=2)),
    (Site("x"), Site("y")),
    (Link((0, 1), bandwidth=2, latency=F(1, 2)),),
)
PLAN = Solution((Placement("a", 0, 2, 6), Placement("b", 1, 3, 4), Placement("c", 1, 4, F(9, 2))))


def corrupted(index, **changes):
    placements = list(PLAN.placements)
    placements[index] = replace(placements[index], **changes)
    return Solution(tuple(placements))


def test_a_valid_plan():
    assert violations(INSTANCE, PLAN) == ()
    assert violations(INSTANCE, Solution(PLAN.placements[2:])) == ()  # with deadlines: dropped


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (
            Solution((*PLAN.placements, Placement("d", 0, 6, 7))),
            [Violation("unknown-task", "task d")],
        ),
        (
            Solution((*PLAN.placements[:2], Placement("c", 2, 4, 5))),
            [Violation("unknown-machine", "task c", amount=2)],
        ),
        (
            Solution((*PLAN.placements, Placement("c", 1, 5, F(11, 2)))),
            [Violation("duplicate-task", "task c", amount=2)],
        ),
        (Solution(PLAN.placements[:2]), [Violation("task-missing", "task c")]),
        (corrupted(0, end=7), [Violation("duration", "task a", 2, 7, 1)]),
        (corrupted(0, end=5), [Violation("duration", "task a", 2, 5, -1)]),
        (
            corrupted(0, start=1, end=5),
            [Violation("machine-not-ready", "task a", 1, amount=1)],
        ),
        (
            corrupted(1, start=2, end=3),
            [Violation("starts-before-input", "task b", 2, amount=1)],
        ),
        (
            corrupted(1, start=F(1, 2), end=F(3, 2)),
            [
                Violation("starts-before-release", "task b", F(1, 2), amount=F(1, 2)),
                Violation("starts-before-input", "task b", F(1, 2), amount=F(5, 2)),
            ],
        ),
        (corrupted(0, start=6, end=10), [Violation("deadline", "task a", 10, amount=1)]),
        (corrupted(0, start=6, end=10, late=True), []),
        (
            corrupted(2, start=F(7, 2), end=4),
            [Violation("machine-overlap", "machine n", F(7, 2), 4, F(1, 2))],
        ),
    ],
)
def test_each_corruption_is_found_and_nothing_else(plan, found):
    assert list(violations(INSTANCE, plan)) == found


def test_what_is_just_in_time_is_in_time():
    """Ends by the deadline, starts with the release, the input and the machine; no gap between."""
    tight = (
        Task("a", 4, absolute_deadline=6),
        Task("b", 2, input=3, absolute_deadline=3),
        Task("c", 1, site=1, release=3, absolute_deadline=F(7, 2)),
    )
    instance = replace(INSTANCE, tasks=tight)
    spans = (Placement("a", 0, 2, 6), Placement("b", 1, 2, 3), Placement("c", 1, 3, F(7, 2)))
    assert violations(instance, Solution(spans)) == ()
    kinds = ("machine-not-ready", "starts-before-input", "starts-before-release")
    for index, kind in enumerate(kinds):
        one = spans[index]
        early = replace(one, start=one.start - F(1, 100), end=one.end - F(1, 100))
        assert kind in {v.kind for v in violations(instance, Solution((early,)))}
        late = replace(one, start=one.start + F(1, 100), end=one.end + F(1, 100))
        assert {v.kind for v in violations(instance, Solution((late,)))} == {"deadline"}


def test_input_in_floats_comes_when_the_rational_numbers_say():
    """What a third prints as a float is less than 1 / 3: without tolerance that is too early."""
    sites, links = (Site("x"), Site("y")), (Link((0, 1), 3.0),)
    instance = Instance((Task("t", 1.0, input=1.0),), (Machine("m", 1),), sites, links)
    plan = Solution((Placement("t", 0, 0.3333333333333333, exact(0.3333333333333333) + 1),))
    (early,) = violations(instance, plan)
    assert (early.kind, early.amount) == ("starts-before-input", F(1, 3) - exact(1 / 3))
    assert violations(instance, plan, 1e-12) == ()


@pytest.mark.parametrize(("machine", "name"), [(0, "m"), (1, "n"), (2, "2")])
def test_overlaps_name_the_machine(machine, name):
    twice = (Placement("c", machine, 4, 5), Placement("c", machine, 4, 5))
    told = {str(violation) for violation in violations(INSTANCE, Solution(twice))}
    assert f"machine-overlap on machine {name} in [4, 5] by 1" in told


def test_a_machine_that_cannot_run_a_task():
    instance = Instance(etc=((2, None), (1, 1)))
    plan = Solution((Placement("t0", 1, 0, 2), Placement("t1", 0, 0, 1)))
    assert list(violations(instance, plan)) == [Violation("ineligible-machine", "task t0", 0, 2)]


def test_what_runs_on_no_machine_overlaps_there_all_the_same():
    plan = Solution((*PLAN.placements[:2], Placement("c", -1, 0, 1), Placement("c", -1, 0, 1)))
    told = {str(violation) for violation in violations(INSTANCE, plan)}
    assert "machine-overlap on machine -1 in [0, 1] by 1" in told


def test_the_checker_has_a_case_for_each_kind():
    cases = {
        *("unknown-task", "unknown-machine", "duplicate-task", "task-missing"),
        *("ineligible-machine", "duration", "starts-before-release", "starts-before-input"),
        *("machine-not-ready", "deadline", "machine-overlap", "earlier-than-possible"),
    }
    assert cases == set(KINDS)


# By mutation


@pytest.mark.property
@given(plans())
def test_valid_plans_are_valid(case):
    assert violations(*case) == ()


@pytest.mark.property
@given(plans(), st.data())
def test_whatever_is_corrupted_is_found(case, data):
    instance, plan = case
    assume(plan.placements)
    index = data.draw(st.integers(0, len(plan.placements) - 1))
    one, by = plan.placements[index], data.draw(amounts.filter(bool))
    number = [task.id for task in instance.all_tasks].index(one.task)
    task, machine = instance.all_tasks[number], instance.all_machines[one.machine]
    here = task.release + oracles_bag.transfers(instance, task.site, task.input)[machine.site]
    earliest = max(here, machine.ready)
    length = one.end - one.start

    def placed(**changes):
        rest = (*plan.placements[:index], *plan.placements[index + 1 :])
        return Solution((*rest, replace(one, **changes)))

    wrong = {
        "duration": placed(end=one.end + by),
        "machine-overlap": Solution((*plan.placements, replace(one, task="other"))),
        "duplicate-task": Solution((*plan.placements, replace(one, start=99, end=99 + length))),
        "unknown-task": placed(task="other"),
        "unknown-machine": placed(machine=len(instance.all_machines)),
    }
    if earliest >= by:
        early = placed(start=earliest - by, end=earliest - by + length)
        wrong["starts-before-input" if here == earliest else "machine-not-ready"] = early
    if task.release >= by:
        wrong["starts-before-release"] = placed(start=(at := task.release - by), end=at + length)
    if task.absolute_deadline is None:
        wrong["task-missing"] = Solution(tuple(p for p in plan.placements if p is not one))
    else:
        due = task.absolute_deadline
        wrong["deadline"] = placed(start=due - length + by, end=due + by, late=False)
    able = [instance.duration(number, k) for k in range(len(instance.all_machines))]
    if None in able:
        wrong["ineligible-machine"] = placed(machine=able.index(None))
    kind = data.draw(st.sampled_from(sorted(wrong)))
    found = violations(instance, wrong[kind])
    assert kind in {violation.kind for violation in found}
    assert all(violation.kind in KINDS for violation in found)


@pytest.mark.property
@given(plans(), st.builds(Fraction, st.integers(1, 9), st.integers(1, 9)))
def test_scaling_time_changes_no_verdict(case, by):
    instance, plan = case
    tasks = tuple(
        replace(
            task,
            work=None if task.work is None else task.work * by,
            release=task.release * by,
            input=task.input * by,
            absolute_deadline=None
            if task.absolute_deadline is None
            else task.absolute_deadline * by,
        )
        for task in instance.tasks
    )
    etc = instance.etc
    scaled = replace(
        instance,
        tasks=tasks,
        machines=tuple(replace(one, ready=one.ready * by) for one in instance.machines),
        links=tuple(replace(link, latency=link.latency * by) for link in instance.links),
        etc=None
        if etc is None
        else tuple(tuple(None if t is None else t * by for t in row) for row in etc),
    )
    moved = Solution(
        tuple(replace(one, start=one.start * by, end=one.end * by) for one in plan.placements)
    )
    assert violations(scaled, moved) == ()
    late = (
        replace(moved.placements[0], end=moved.placements[0].end + 1) if moved.placements else None
    )
    if late is not None:
        assert violations(scaled, Solution((late, *moved.placements[1:]))) != ()


# Stated by themselves


def test_what_is_made_small_or_large():
    told = {
        goal.name: (goal.sense, goal.levels, goal.requires_field) for goal in OBJECTIVES.values()
    }
    assert told == {
        "makespan": ("min", (), "without_deadlines"),
        "flowtime": ("min", (), "without_deadlines"),
        "critical-then-all": ("max", ("critical", "all"), "deadlines"),
        "accepted": ("max", (), "deadlines"),
        "by-priority": ("max", ("critical", "firm", "soft"), "deadlines"),
    }
    assert [goal.name for goal in OBJECTIVES.values() if not goal.shown_in_comparison] == [
        "by-priority"
    ]


def test_what_a_task_and_a_machine_are_unless_they_say_otherwise():
    assert Task("t") == Task("t", None, 0, 0, 0, 0, "firm", None)
    assert Machine("m") == Machine("m", 0, 1, 0)
    assert Link((0, 1), 2) == Link((0, 1), 2, 0)
    instance = Instance((Task("t", 1),), (Machine("m"),))
    assert (instance.links, instance.etc, instance.ccr_thresholds) == ((), None, (F(1, 2), 2))
    assert [site.id for site in instance.sites] == ["home"]
    assert Placement("t", 0, 1, 2).late is False


def test_a_duration_is_a_float_if_its_work_or_its_power_is_one():
    machines = (Machine("m", power=2), Machine("n", power=0.5))
    instance = Instance((Task("t", 3), Task("u", 1.5)), machines)
    durations = [[instance.duration(task, machine) for machine in (0, 1)] for task in (0, 1)]
    assert durations == [[F(3, 2), 6], [0.75, 3]]
    assert [[type(one) for one in row] for row in durations] == [[F, float], [float, float]]
    whole = Instance((Task("t", 6),), (Machine("m", power=3),))
    assert type(whole.duration(0, 0)) is int


# Transfers


@pytest.mark.property
@given(bags(sites=5), amounts | sizes, st.booleans())
def test_data_goes_the_fastest_way(instance, data, exactly):
    for site in range(len(instance.sites)):
        times = transfer_times(instance, site, data, exactly=exactly)
        assert list(times) == oracles_bag.transfers(instance, site, data)
        assert times[site] == 0


def test_the_fastest_way_depends_on_the_amount():
    """Wide with latency, or narrow without."""
    sites, machines = (Site("a"), Site("b"), Site("c")), (Machine("m"),)
    links = (Link((0, 1), 10, 2), Link((1, 2), 10), Link((2, 0), 1), Link((0, 2), F(1, 2)))
    instance = Instance((Task("t", 1),), machines, sites, links)
    assert transfer_times(instance, 0, 1) == (0, F(11, 10), 1)
    assert transfer_times(instance, 0, 20) == (0, 4, 6)


def test_transfers_of_floats_are_floats_unless_they_are_to_be_exact():
    links = (Link((0, 1), 3.0),)
    instance = Instance((Task("t", 1),), (Machine("m"),), (Site("a"), Site("b")), links)
    assert transfer_times(instance, 0, 1) == (0, 1 / 3)
    assert isinstance(transfer_times(instance, 0, 1)[1], float)
    slow = replace(instance, links=(Link((0, 1), 3.0, 0.5),))
    assert transfer_times(slow, 0, 1) == (0, 1 / 3 + 0.5)
    assert transfer_times(instance, 0, 1, exactly=True) == (0, F(1, 3))


# Tolerance


def test_floats_may_be_off_by_a_part_of_the_shortest_duration():
    """The shortest is that of c on n: 1/2."""
    off = F(1, 10**7)
    early = corrupted(1, start=3 - off, end=4 - off)
    assert [v.kind for v in violations(INSTANCE, early, 1e-7)] == ["starts-before-input"]
    assert violations(INSTANCE, early, 3e-7) == ()
    both = corrupted(2, start=4 - off, end=F(9, 2) - off)
    assert [v.kind for v in violations(INSTANCE, both)] == ["machine-overlap"]
    assert violations(INSTANCE, both, 3e-7) == ()
    for plan in (corrupted(0, end=6 + off), corrupted(0, start=5 + off, end=9 + off)):
        assert len(violations(INSTANCE, plan)) == 1
        assert violations(INSTANCE, plan, 3e-7) == ()


def test_the_shortest_time_of_a_matrix():
    instance = Instance(etc=((8, None), (4, 1)))
    plan = Solution((Placement("t0", 0, 0, 8 + F(1, 100)), Placement("t1", 1, 0, 1)))
    assert [v.kind for v in violations(instance, plan, 0.009)] == ["duration"]
    assert violations(instance, plan, 0.011) == ()


def test_large_instants_may_be_off_by_rounding_once_there_is_a_tolerance():
    start = 1e17 / 3
    instance = Instance((Task("a", 0.1),), (Machine("m", ready=start),))
    plan = Solution((Placement("a", 0, start, start),))  # 0.1 is lost in rounding
    assert [v.kind for v in violations(instance, plan)] == ["duration"]
    assert violations(instance, plan, 1e-9) == ()


# Worth


def test_what_a_plan_is_worth():
    assert default_objective(INSTANCE) == "critical-then-all"
    assert objective(INSTANCE, PLAN, "critical-then-all") == (1, 3)
    assert objective(INSTANCE, PLAN, "accepted") == 3
    assert objective(INSTANCE, PLAN, "by-priority") == (1, 2, 0)
    assert objective(INSTANCE, PLAN, "makespan") == 6
    assert objective(INSTANCE, PLAN, "flowtime") == 6 + 3 + F(9, 2)
    late = corrupted(0, start=6, end=10, late=True)
    assert objective(INSTANCE, late, "critical-then-all") == (0, 2)
    assert success_ratios(INSTANCE, late) == (0, F(2, 3))
    assert success_ratios(INSTANCE, PLAN) == (1, 1)
    with pytest.raises(NotApplicableError, match="bag has no objective 'speed': makespan, "):
        objective(INSTANCE, PLAN, "speed")


def test_what_nothing_is_worth():
    empty = Solution(())
    assert objective(INSTANCE, empty, "makespan") == 0
    assert objective(INSTANCE, empty, "flowtime") == 0
    assert success_ratios(Instance(etc=((1,),)), empty) == (None, 0)


def test_a_task_counts_once_and_an_unknown_one_not():
    plan = Solution((*PLAN.placements, PLAN.placements[0], Placement("d", 0, 0, 1)))
    assert objective(INSTANCE, plan, "accepted") == 3
    assert objective(INSTANCE, plan, "flowtime") == 2 * 6 + 3 + F(9, 2)


def test_objectives_fit_instances():
    assert INSTANCE.deadlines and INSTANCE.without_deadlines is None
    free = Instance(etc=((1, 2),))
    assert free.without_deadlines and free.deadlines is None
    assert default_objective(free) == "makespan"
    assert {name for name, goal in OBJECTIVES.items() if goal.requires_field == "deadlines"} == {
        *("critical-then-all", "accepted", "by-priority")
    }


@pytest.mark.property
@given(plans())
def test_levels_agree(case):
    critical, everything = objective(*case, "critical-then-all")
    assert everything == objective(*case, "accepted") == sum(objective(*case, "by-priority"))
    assert critical == objective(*case, "by-priority")[0]
    assert exact(success_ratios(*case)[1]) * len(case[0].all_tasks) == everything
