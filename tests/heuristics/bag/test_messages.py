"""How many tickets, answers and tasks GDS sends between sites, counted by hand and by rules."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.heuristics.bag.gds import GdsScheduler, LiteralVariant, count_messages
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.messages import MessageCounts
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from tests.heuristics.bag.stored_instances import stored
from tests.strategies_bag import bags

STAR = (Site("home"), Site("strong"), Site("wide"), Site("even"))
LINKS = (Link((0, 1), 1), Link((2, 0), 10), Link((0, 3), 8))
POWERS = (Machine("strong", 1, 6), Machine("wide", 2, 1), Machine("even", 3, 4))


def star(*tasks):
    return Instance(tasks, POWERS, STAR, LINKS)


def test_a_task_that_runs_at_home_sends_nothing():
    instance = Instance((Task("t", 2, absolute_deadline=3),), (Machine("m"),))
    assert count_messages(instance) == MessageCounts()


def test_the_favourite_is_asked_first_and_takes_the_task():
    """The strong neighbour: a ticket, its answer, the task over one link."""
    instance = star(Task("t", 4, absolute_deadline=200))
    assert count_messages(instance) == MessageCounts(1, tickets=1, answers=1, tasks=1, hops=1)


def test_the_others_are_asked_where_the_favourite_cannot():
    """The first two tasks fill the strong machine until 1; even computes the third in time."""
    tasks = [Task(f"t{k}", 3, absolute_deadline=1) for k in range(3)]
    assert count_messages(star(*tasks)) == MessageCounts(3, tickets=4, answers=4, tasks=3, hops=3)


def test_a_task_that_no_site_takes_is_asked_for_everywhere_once():
    tasks = [Task(f"t{k}", 900, absolute_deadline=1) for k in range(2)]
    found = count_messages(star(*tasks))
    assert found == MessageCounts(2, tickets=6, answers=6) and found.small == 12
    ring = (*LINKS, Link((1, 2), 5), Link((2, 3), 5), Link((3, 1), 5))
    assert count_messages(replace(star(*tasks), links=ring)) == found


def test_a_task_crosses_the_links_that_its_ticket_came_by():
    """On a line of four sites only the last one has a machine: three tickets, three links."""
    sites = tuple(Site(name) for name in "abcd")
    links = tuple(Link((k, k + 1), 2) for k in range(3))
    tasks = (Task("t", 1, absolute_deadline=9), Task("far", 8, absolute_deadline=9))
    instance = Instance(tasks, (Machine("m", 3),), sites, links)
    assert count_messages(instance) == MessageCounts(2, tickets=6, answers=6, tasks=2, hops=6)


def test_a_site_without_neighbours_searches_and_asks_nobody():
    instance = Instance((Task("t", 5, absolute_deadline=3),), (Machine("m"),))
    assert count_messages(instance) == MessageCounts(searches=1)


def test_shuffle_saves_tickets():
    instance = stored("gds-without-shuffle")
    away = (Site("a"), Site("b"))
    two = replace(
        instance,
        sites=away,
        links=(Link((0, 1), 1),),
        machines=(*instance.machines, Machine("other", 1)),
    )
    assert count_messages(two) == MessageCounts()
    assert count_messages(two, shuffles=False) == MessageCounts(1, 1, 1, 1, 1)


def test_as_printed_the_task_goes_to_every_neighbour_that_takes_it():
    """Figure 6 has no break: a ticket to each of the three, and the task to all of them."""
    gds = GdsScheduler(
        InstanceArrays(star(Task("t", 4, absolute_deadline=200))),
        variants=[LiteralVariant.DUPLICATE],
    )
    gds.run()
    assert gds.messages == MessageCounts(1, tickets=3, answers=3, tasks=3, hops=3)


@pytest.mark.property
@given(bags(tasks=7, sites=3), st.integers(0, 3), st.booleans())
def test_what_is_counted_is_what_the_plan_needs(instance, seed, shuffles):
    """Each task that runs away from home was sent once; the rest of the searches found no site."""
    name = "gds" if shuffles else "gds-without-shuffle"
    plan = solve(instance, name, seed=seed).solution
    found = count_messages(instance, seed=seed, shuffles=shuffles)
    home = {task.id: task.site for task in instance.all_tasks}
    sites = {one.task: instance.all_machines[one.machine].site for one in plan.placements}
    moved = [task for task, site in sites.items() if site != home[task]]
    others = len(instance.sites) - 1
    assert found.tasks == len(moved)
    assert found.searches == len(moved) + len(home) - len(sites)
    assert found.tickets == found.answers <= found.searches * others
    assert found.tasks <= found.hops <= found.tasks * others
    assert found.tickets >= found.hops  # each link of a route was crossed by its ticket
    assert count_messages(instance, seed=seed, shuffles=shuffles) == found
