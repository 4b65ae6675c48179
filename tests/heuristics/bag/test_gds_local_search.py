"""Local search over GDS: never worse, by sites that exchange tasks with neighbours, and why."""

from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import Limits, registry, solve
from dlopt.heuristics.bag.gds import GdsScheduler, TaskRun
from dlopt.heuristics.bag.gds_local_search import GdsLocalSearch, task_weights
from dlopt.heuristics.bag.gds_local_search_method import gds_local_search
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.machine_sequence import MachineSequence
from dlopt.heuristics.bag.site_schedule import SiteSchedule
from dlopt.problems.bag import Instance, Link, Machine, Site, Task, violations
from tests import oracles_bag
from tests.examples import share
from tests.heuristics.bag.stored_instances import stored
from tests.strategies_bag import bags, bags_in_floats

GOALS = st.sampled_from(["critical-then-all", "accepted", "by-priority"])
PAIR, LINK = (Site("a"), Site("b")), (Link((0, 1), 1),)
METHOD = "gds-local-search"


def local_search(instance, goal="accepted", seed=0):
    """Return the search after the run of GDS."""
    scheduler = GdsScheduler(InstanceArrays(instance), seed=seed)
    scheduler.run()
    return GdsLocalSearch(scheduler, goal)


def running(instance, **options):
    """Return the machine of each task in the schedule of the local search."""
    found = solve(instance, METHOD, **options)
    return {placement.task: placement.machine for placement in found.solution.placements}


# The sequence of a machine, against trials of every position


def on_time(arrays, machine, tasks):
    """Return when each task ends, or None if one is late."""
    free, ends = arrays.ready[machine], []
    for task in tasks:
        start = max(free, arrays.earliest_start(task, machine))
        free = start + arrays.durations[task][machine]
        ends.append(free)
        due = arrays.deadlines[task]
        if due is not None and free > due:
            return None
    return ends


@pytest.mark.property
@share(1 / 2)
@given(bags(tasks=6, machines=2, sites=2))
def test_a_task_is_inserted_last_or_else_first_where_all_are_on_time(instance):
    arrays = InstanceArrays(instance)
    sequence = MachineSequence(arrays, 0)
    for task in range(len(arrays.task_ids)):
        before, possible = list(sequence.tasks), {}
        if arrays.durations[task][0] is not None:
            for position in range(len(before) + 1):
                ends = on_time(arrays, 0, [*before[:position], task, *before[position:]])
                if ends is not None:
                    possible[position] = position, ends[position]
        expected = possible.get(len(before)) or next(iter(possible.values()), None)
        found = sequence.position(task)
        assert found == expected
        if found is not None:
            sequence.insert(found[0], task)
            assert sequence.ends == on_time(arrays, 0, sequence.tasks)
            assert [run.end for run in sequence.runs()] == sequence.ends
            shorter = sequence.without(task)
            assert shorter.tasks == before and shorter.ends == on_time(arrays, 0, before)


def test_idle_time_in_front_of_a_task_that_waits_for_its_input_is_used():
    tasks = (
        Task("sent", 2, site=1, input=3, absolute_deadline=5),
        Task("own", 3, absolute_deadline=6),
    )
    machines = (Machine("m"), Machine("n", 1, power=2))
    schedule = SiteSchedule(InstanceArrays(Instance(tasks, machines, PAIR, LINK)), (0,), (1, 1))
    schedule.assign((0, 1))
    assert schedule.sequences[0].tasks == [1, 0] and schedule.sequences[0].ends == [3, 5]


def test_fast_machines_are_kept_for_urgent_tasks():
    """The first task is on time on the slow machine, which the second one could not use."""
    tasks = (Task("a", 2, absolute_deadline=4), Task("b", 8, absolute_deadline=4))
    arrays = InstanceArrays(Instance(tasks, (Machine("fast", power=2), Machine("slow"))))
    schedule = SiteSchedule(arrays, (0, 1), (1, 1))
    schedule.assign((0, 1))
    assert [schedule.sequences[machine].tasks for machine in (0, 1)] == [[1], [0]]


@pytest.mark.parametrize(
    ("works", "dues", "weights", "kept"),
    [
        ((3, 2, 2), (4, 4, 4), (1, 1, 1), [1, 2]),  # the longest is ejected
        ((2, 2, 2), (4, 4, 4), (1, 1, 1), [0, 1]),  # one that is no longer is not
        ((2, 3), (2, 3), (1, 2), [1]),  # nor is it kept if it has less weight
        ((2, 3), (2, 3), (2, 1), [0]),
        ((1, 1, 3), (2, 2, 4), (2, 1, 3), [0, 2]),  # the least weight goes
        ((2, 1, 3), (3, 3, 4), (1, 1, 2), [1, 2]),  # of equal weights the longer one
        ((1, 1, 3), (2, 2, 3), (1, 1, 3), [0, 1]),  # one at most is ejected
    ],
)
def test_a_task_replaces_one_of_less_weight_or_a_longer_one(works, dues, weights, kept):
    tasks = tuple(
        Task(f"t{k}", work, absolute_deadline=due)
        for k, (work, due) in enumerate(zip(works, dues, strict=True))
    )
    schedule = SiteSchedule(InstanceArrays(Instance(tasks, (Machine("m"),))), (0,), weights)
    schedule.assign(range(len(works)))
    assert sorted(schedule.tasks) == kept
    assert schedule.weight == sum(weights[task] for task in kept)


# What must hold


@pytest.mark.property
@share(1 / 2)
@given(bags(tasks=4, machines=2), GOALS, st.integers(0, 3))
def test_it_is_between_gds_and_the_optimum_and_the_same_again(instance, goal, seed):
    assume(instance.deadlines)
    found = solve(instance, METHOD, objective=goal, seed=seed)
    assert found.solution == solve(instance, METHOD, objective=goal, seed=seed).solution
    assert violations(instance, found.solution) == ()
    first, last = solve(instance, "gds", objective=goal, seed=seed).value, found.value
    assert oracles_bag.as_tuple(first, goal) <= oracles_bag.as_tuple(last, goal)
    assert oracles_bag.as_tuple(last, goal) <= oracles_bag.best(instance, goal)


@pytest.mark.property
@share(1 / 2)
@given(bags_in_floats(tasks=7, deadlines=True), GOALS)
def test_in_floats_it_is_never_worse_than_gds_and_on_time_up_to_rounding(instance, goal):
    found = solve(instance, METHOD, objective=goal)
    assert violations(instance, found.solution, 1e-9) == ()
    assert found.value >= solve(instance, "gds", objective=goal).value


@pytest.mark.property
@share(1 / 2)
@given(bags(tasks=9, machines=4, deadlines=True), GOALS)
def test_a_step_changes_a_site_or_two_neighbours_and_is_an_improvement(instance, goal):
    search, weights = local_search(instance, goal), task_weights(instance, goal)
    runs, neighbours = search.scheduler.runs, search.scheduler.network.bandwidths
    before = [list(own) for own in runs]
    for _ in chain(search.steps(), (None,)):
        sites = sorted({instance.all_machines[k].site for k in changes(before, runs)})
        assert len(sites) < 2 or (len(sites) == 2 and sites[1] in neighbours[sites[0]])
        assert not sites or total(weights, runs) > total(weights, before)
        left = {task for queue in search.unscheduled for task in queue}
        assert left == set(range(len(weights))) - {run.task for own in runs for run in own}
        before = [list(own) for own in runs]
    list(GdsLocalSearch(search.scheduler, goal).steps())
    assert before == runs  # in the end no site and no pair improves


def changes(before, after):
    return [machine for machine, own in enumerate(before) if own != after[machine]]


def total(weights, runs):
    return sum(weights[run.task] for own in runs for run in own)


@pytest.mark.property
@share(1 / 3)
@given(bags(tasks=7, deadlines=True))
def test_names_do_not_matter(instance):
    tasks = tuple(replace(task, id=f"z{9 - k}") for k, task in enumerate(instance.all_tasks))
    sites = tuple(replace(site, id=f"y{9 - k}") for k, site in enumerate(instance.sites))
    names = {task.id: other.id for task, other in zip(instance.all_tasks, tasks, strict=True)}
    other = replace(instance, tasks=tasks, sites=sites)
    expected = {names[task]: machine for task, machine in running(instance).items()}
    assert running(other) == expected


# Why it is better than GDS, and than EDF


def test_it_meets_what_earliest_deadline_first_meets():
    found = solve(stored("gds-below-edf"), METHOD, objective="accepted")
    assert found.value == 3 and found.reason is None and found.stopped_by is None


TAKEN = (
    Task("moves", 2, priority="critical", absolute_deadline=2),
    Task("stays", 2, input=9, priority="soft", absolute_deadline=2),
)
"""The input of the second one is at the other site too late; the first one has none."""


def test_a_neighbour_takes_a_task_to_make_room_for_one_that_cannot_leave():
    instance = Instance(TAKEN, (Machine("m"), Machine("n", 1)), PAIR, LINK)
    assert solve(instance, "gds").value == (1, 1)
    assert running(instance) == {"moves": 1, "stays": 0}


def test_a_neighbour_that_is_busy_takes_nothing():
    busy = Task("busy", 2, site=1, input=9, absolute_deadline=2)
    instance = Instance((*TAKEN, busy), (Machine("m"), Machine("n", 1)), PAIR, LINK)
    assert running(instance) == {"moves": 0, "busy": 1}


LINE = (Site("a"), Site("b"), Site("c"))


def test_tickets_are_forwarded_over_several_links():
    """Only the last site has a machine, on which its own task is as late as it can be."""
    tasks = (
        Task("late", 2, site=2, absolute_deadline=3),
        Task("far", 2, absolute_deadline=4),
    )
    links = (Link((0, 1), 1), Link((1, 2), 1))
    search = local_search(Instance(tasks, (Machine("m", 2),), LINE, links))
    search.scheduler.runs[0] = [TaskRun(0, 1, 3)]
    again = GdsLocalSearch(search.scheduler, "accepted")
    assert again.unscheduled == [{1}, set(), set()]
    list(again.steps())
    assert again.unscheduled == [set(), set(), set()] and again.tickets == 1


def test_a_site_keeps_a_schedule_that_is_better_than_its_new_one():
    """3 and 3 on one machine, 2, 2 and 2 on the other; by earliest deadline each gets a 3."""
    works = (3, 3, 2, 2, 2, 6)
    tasks = tuple(Task(f"t{k}", work, absolute_deadline=6) for k, work in enumerate(works))
    search = local_search(Instance(tasks, (Machine("m"), Machine("n"))))
    packed = [
        [TaskRun(0, 0, 3), TaskRun(1, 3, 6)],
        [TaskRun(2, 0, 2), TaskRun(3, 2, 4), TaskRun(4, 4, 6)],
    ]
    search.scheduler.runs[:] = packed
    again = GdsLocalSearch(search.scheduler, "accepted")
    list(again.steps())
    assert again.unscheduled == [{5}] and search.scheduler.runs == packed and again.trials == 1


def test_ejected_tasks_return_to_their_own_site():
    """The first one runs at the other site until a more important one needs its machine."""
    tasks = (
        Task("guest", 2, priority="soft", absolute_deadline=2),
        Task("host", 2, site=1, priority="firm", absolute_deadline=2),
    )
    search = local_search(Instance(tasks, (Machine("n", 1),), PAIR, LINK), "by-priority")
    search.scheduler.runs[0] = [TaskRun(0, 0, 2)]
    again = GdsLocalSearch(search.scheduler, "by-priority")
    assert again.unscheduled == [set(), {1}]
    list(again.steps())
    assert again.unscheduled == [{0}, set()]


def test_of_objectives_the_chosen_one_decides():
    """A critical task is met at the expense of two others, or these instead of it."""
    tasks = (
        Task("c", 4, priority="critical", absolute_deadline=4),
        Task("s", 2, priority="soft", absolute_deadline=4),
        Task("t", 2, priority="soft", absolute_deadline=4),
    )
    instance = Instance(tasks, (Machine("m"),))
    assert set(running(instance)) == {"c"}
    assert len(running(instance, objective="accepted")) == 2


# Limits


def test_a_limit_ends_it_with_the_schedule_so_far():
    instance = Instance(TAKEN, (Machine("m"), Machine("n", 1)), PAIR, LINK)
    expected = solve(instance, "gds").solution
    found = solve(instance, METHOD, limits=Limits(work=1))  # at home there is no room
    assert found.solution == expected and found.stopped_by == "work"
    found = solve(instance, METHOD, limits=Limits(work=2))
    assert found.value == (1, 2) and found.stopped_by is None
    found = gds_local_search(instance, limits=Limits(time_s=1e-9))
    assert found.solution == expected and found.stopped_by == "time"


def test_without_deadlines_there_is_nothing_to_improve():
    reason = registry.method("bag", METHOD).reason_against(Instance(etc=((1, 2),)))
    assert reason == "it maximises the number of tasks on time, and no task has a deadline"
    assert registry.method("bag", METHOD).reason_against(stored("figure-5")) is None
