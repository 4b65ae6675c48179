"""GDS phase by phase: what the paper's example gives, and what must hold and need not."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.heuristics.bag.gds import GdsScheduler, LiteralVariant
from dlopt.heuristics.bag.gds_ranking import SiteNetwork, TaskIntensity
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.problems.bag import Instance, Link, Machine, Site, Task, violations
from tests.heuristics.bag.stored_instances import stored
from tests.strategies_bag import bags, bags_in_floats

F = Fraction


def runs(gds, machine=0):
    """Return what a machine runs, by the names of the tasks."""
    found = {gds.arrays.task_ids[run.task]: (run.start, run.end) for run in gds.runs[machine]}
    return dict(sorted(found.items()))


def accepted(name, method, **options):
    return solve(stored(name), method, objective="accepted", **options).value


# The example of the paper


def test_figure_5_is_scheduled_as_late_as_possible_and_then_shuffled_to_the_front():
    gds = GdsScheduler(InstanceArrays(stored("figure-5")))
    assert gds.serve(0) == []
    assert runs(gds) == {
        "5": (F(1, 2), 1),
        "1": (2, 3),
        "6": (F(7, 2), F(9, 2)),
        "2": (F(11, 2), 7),
        "7": (F(15, 2), 9),
        "3": (10, 11),
        "4": (12, 14),
    }
    assert gds.shuffle(0)
    assert runs(gds) == {
        "5": (0, F(1, 2)),
        "1": (1, 2),
        "2": (2, F(7, 2)),
        "6": (F(7, 2), F(9, 2)),
        "3": (F(9, 2), F(11, 2)),
        "4": (F(11, 2), F(15, 2)),
        "7": (F(15, 2), 9),
    }
    assert not gds.shuffle(0)  # nothing has changed since


def test_figure_5_fits_so_that_gds_never_shuffles():
    instance = stored("figure-5")
    assert solve(instance, "gds").solution == solve(instance, "gds-without-shuffle").solution


# What it is not


def test_without_shuffle_a_task_is_lost_that_shuffle_makes_room_for():
    assert accepted("gds-without-shuffle", "gds-without-shuffle") == 1
    assert accepted("gds-without-shuffle", "gds") == 2


def test_gds_may_be_worse_than_earliest_deadline_first():
    assert accepted("gds-below-edf", "gds") == 2
    assert accepted("gds-below-edf", "edf") == 3
    instance = stored("gds-below-edf")
    critical = tuple(replace(task, priority="critical") for task in instance.tasks)
    found = solve(replace(instance, tasks=critical), "gds")
    assert found.value == (2, 2)  # nor does it meet as many critical tasks as can be met
    assert found.reason == "dropped: 1 task (C)"


def test_gds_may_be_worse_than_without_shuffle():
    assert accepted("gds-shuffle-harms", "gds") == 3
    assert accepted("gds-shuffle-harms", "gds-without-shuffle") == 4


# What must hold


@pytest.mark.property
@given(bags(tasks=7, sites=2), st.integers(0, 5))
def test_what_is_placed_at_home_without_shuffle_is_so_with_it(instance, seed):
    with_it, without = (
        GdsScheduler(InstanceArrays(instance), seed=seed),
        GdsScheduler(InstanceArrays(instance), seed=seed, shuffles=False),
    )
    for site in range(len(instance.sites)):
        assert set(with_it.serve(site)) <= set(without.serve(site))


@pytest.mark.property
@given(bags(tasks=7, machines=2, sites=2) | bags_in_floats(tasks=7, machines=2), st.integers(0, 5))
def test_shuffle_keeps_all_tasks_and_starts_none_later(instance, seed):
    gds = GdsScheduler(InstanceArrays(instance), seed=seed)
    for site, queue in gds.queues.items():
        gds.schedule(site, queue)
        before = [runs(gds, machine) for machine in range(len(gds.runs))]
        gds.shuffle(site)
        for machine, spans in enumerate(before):
            after = runs(gds, machine)
            assert list(after) == list(spans)
            assert all(after[name][0] <= spans[name][0] for name in spans)
    found = violations(instance, gds.to_solution(), 0 if instance.exact else 1e-9)
    assert {violation.kind for violation in found} <= {"task-missing"}


def test_a_place_that_rounding_made_too_short_is_kept():
    """From .4 - .1 to .4 is less than .1 in floats, so "a" fits no more where it lies."""
    length, due = 0.1, 0.4
    early = due - length
    assert due - early < length
    urgent = Task("a", length, priority="critical", absolute_deadline=due)
    tasks = (urgent, Task("b", early, priority="soft", absolute_deadline=early))
    gds = GdsScheduler(InstanceArrays(Instance(tasks, (Machine("m"),))))
    assert gds.schedule(0, [0, 1]) == []
    before = list(gds.runs[0])
    assert gds.shuffle(0)
    assert gds.runs[0] == before  # "a" comes first and finds no slack


@pytest.mark.parametrize("seed", range(4))
def test_a_machine_that_cannot_run_a_task_is_passed_over(seed):
    """At home the first machine cannot, and the second is taken; so the other task leaves."""
    tasks = (Task("a", absolute_deadline=2), Task("b", absolute_deadline=2))
    machines = (Machine("m"), Machine("n"), Machine("o", 1), Machine("p", 1))
    etc = ((None, 2, None, 2), (None, 2, None, 2))
    sites, links = (Site("s"), Site("t")), (Link((0, 1), 1),)
    found = solve(Instance(tasks, machines, sites, links, etc), "gds", seed=seed)
    assert [(one.task, one.machine) for one in found.solution.placements] == [("a", 1), ("b", 3)]


@pytest.mark.property
@given(bags(tasks=6), st.integers(0, 3))
def test_seeds_choose_among_machines_only(instance, seed):
    """Where every site has one machine there is nothing to choose."""
    per_site = [machine.site for machine in instance.all_machines]
    if len(set(per_site)) == len(per_site):
        assert solve(instance, "gds", seed=seed).solution == solve(instance, "gds").solution


def test_seeds_make_a_difference():
    tasks = tuple(Task(f"t{k}", 1, absolute_deadline=9) for k in range(4))
    instance = Instance(tasks, tuple(Machine(f"m{k}") for k in range(4)))
    plans = {solve(instance, "gds", seed=seed).solution for seed in range(8)}
    assert len(plans) > 1


# Dispatch


def test_a_ticket_goes_on_until_a_site_takes_it():
    found = solve(stored("neighbours-only"), "gds")
    assert found.value == (1, 2)
    placed = {one.task: (one.start, one.end) for one in found.solution.placements}
    assert placed == {"A": (5, 7), "B": (7, 9)}


STAR = (Site("home"), Site("strong"), Site("wide"), Site("even"))
LINKS = (Link((0, 1), 1), Link((2, 0), 10), Link((0, 3), 8))
POWERS = (Machine("strong", 1, 6), Machine("wide", 2, 1), Machine("even", 3, 4))


@pytest.mark.parametrize(
    ("data", "kind", "order"),
    [
        (0, TaskIntensity.COMPUTATION, [1, 3, 2]),
        (3, TaskIntensity.NEUTRAL, [3, 2, 1]),
        (90, TaskIntensity.COMMUNICATION, [2, 3, 1]),
    ],
)
def test_each_kind_of_task_has_its_own_favourite(data, kind, order):
    """Capacities 6, 1, 4 and bandwidths 1, 10, 8: shares 6/11 + 1/19, 1/11 + 10/19, 4/11 + 8/19."""
    tasks = (Task("t", 4, input=data, absolute_deadline=200),)
    grid = SiteNetwork(InstanceArrays(Instance(tasks, POWERS, STAR, LINKS)))
    assert grid.intensity(0) is kind
    assert grid.neighbours(0, kind) == order
    found = solve(Instance(tasks, POWERS, STAR, LINKS), "gds")
    assert [POWERS[one.machine].site for one in found.solution.placements] == order[:1]


def test_the_ratio_of_communication_to_computation_by_hand():
    """Data 3 takes 3, 3/10, 3/8 to the neighbours; work 4 takes 4 by their mean capacity 11/3."""
    tasks = (Task("t", 4, input=1, output=2, absolute_deadline=9),)
    grid = SiteNetwork(InstanceArrays(Instance(tasks, POWERS, STAR, LINKS)))
    assert grid.ccr(0) == (3 + F(3, 10) + F(3, 8)) / 3 / (F(4) / F(11, 3))
    twice = SiteNetwork(
        InstanceArrays(Instance(tasks, POWERS, STAR, (*LINKS, Link((1, 0), 3, latency=F(1, 2)))))
    )
    assert twice.ccr(0) == (F(3, 2) + F(3, 10) + F(3, 8)) / 3 / (F(4) / F(11, 3))
    assert twice.bandwidths[1] == {0: 3}


def test_where_there_is_no_ratio_a_task_is_neutral():
    alone = SiteNetwork(InstanceArrays(Instance((Task("t", 4, input=9),), (Machine("m"),))))
    assert alone.ccr(0) is None and alone.intensity(0) is TaskIntensity.NEUTRAL
    pair = (Site("a"), Site("b"))
    empty = Instance((Task("t", 4, input=9),), (Machine("m"),), pair, (Link((0, 1), 1),))
    assert SiteNetwork(InstanceArrays(empty)).ccr(0) is None
    never = replace(
        empty,
        tasks=(Task("t", input=9),),
        machines=(Machine("m"), Machine("n", 1)),
        etc=((3, None),),
    )
    assert SiteNetwork(InstanceArrays(never)).ccr(0) is None


def test_capacities_beside_a_matrix():
    """A machine's power is the mean of what it does of its tasks in a unit of time."""
    machines = (Machine("m"), Machine("n", 1), Machine("o", 1))
    tasks = (Task("t", input=3), Task("u"))
    instance = Instance(
        tasks, machines, (Site("a"), Site("b")), (Link((0, 1), 1),), ((4, 2, 4), (2, None, 4))
    )
    grid = SiteNetwork(InstanceArrays(instance))
    assert grid.capacities == (F(3, 8), F(3, 8))
    assert grid.ccr(0) == 1
    floats = SiteNetwork(InstanceArrays(replace(instance, etc=((4.0, 2, 4), (2, None, 4)))))
    assert floats.capacities == (0.375, 0.375)


def test_ranks():
    tasks = (
        Task("late", 1, absolute_deadline=9),
        Task("none", 1),
        Task("soft", 1, priority="soft", absolute_deadline=1),
        Task("early", 1, absolute_deadline=2),
        Task("sent", 1, input=9, absolute_deadline=99),
        Task("critical", 1, priority="critical", absolute_deadline=99),
    )
    pair = (Site("a"), Site("b"))
    machines = (Machine("m"), Machine("n", 1))
    grid = SiteNetwork(
        InstanceArrays(Instance(tasks, machines, pair, (Link((0, 1), 1),), None, (F(1, 2), 2)))
    )
    names = [tasks[task].id for task in grid.ranked_tasks()]
    assert names == ["critical", "sent", "early", "late", "none", "soft"]


# As printed

BROKEN = {
    LiteralVariant.EVERY_SLACK: "duplicate-task",
    LiteralVariant.DUPLICATE: "duplicate-task",
    LiteralVariant.TRANSMISSION: "starts-before-input",
}


@pytest.mark.parametrize(("variant", "kind"), BROKEN.items())
def test_each_slip_breaks_a_rule_and_the_repair_does_not(variant, kind):
    instance = stored(f"gds-literal-{variant}")
    found = solve(instance, f"gds:literal-{variant}")
    assert {violation.kind for violation in found.violations} == {kind}
    assert solve(instance, "gds", objective="accepted").value == len(instance.tasks)


def test_all_slips_together_break_a_rule():
    found = solve(stored("gds-literal-every-slack"), "gds:literal")
    assert [violation.kind for violation in found.violations] == ["duplicate-task"]


def test_taking_out_all_tasks_loses_two():
    """5 has no room left by its deadline, nor has 6."""
    assert accepted("gds-literal-evict-all", "gds") == 7
    found = solve(stored("gds-literal-evict-all"), "gds:literal-evict-all", objective="accepted")
    assert found.value == 5
    assert {one.task for one in found.solution.placements} == {"1", "2", "3", "4", "7"}
    assert found.violations == ()


def test_the_endless_loop_is_told():
    found = solve(stored("gds-literal-endless-loop"), "gds:literal-endless-loop")
    assert found.solution is None
    assert found.reason == (
        "endless loop: task A fits no slack of its site, and is tried again until it does"
    )
    assert accepted("gds-literal-endless-loop", "gds") == 2


def test_a_ticket_to_neighbours_only_does_not_arrive():
    assert solve(stored("neighbours-only"), "gds:literal-duplicate").value == (0, 0)


@pytest.mark.property
@given(
    bags(tasks=6), st.sampled_from([variant for variant in LiteralVariant if variant not in BROKEN])
)
def test_what_is_only_bad_breaks_no_rule(instance, variant):
    assert solve(instance, f"gds:literal-{variant}").violations == ()


def test_there_are_no_other_slips():
    from dlopt.heuristics.bag import gds_methods

    with pytest.raises(AttributeError, match="no attribute 'gds_literal_other'"):
        _ = gds_methods.gds_literal_other
