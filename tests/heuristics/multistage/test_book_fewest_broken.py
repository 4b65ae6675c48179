"""How many promises a failure breaks: against every subset of them, and against any plan at all."""

import math
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import MultiStage, solve
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from tests.examples import share
from tests.heuristics.multistage.strategies import clusters, loads, reservations

F = Fraction


@st.composite
def books(draw):
    """Return a book in exact numbers in which something may have begun, and its reservations."""
    head = MultiStage(draw(clusters.filter(lambda cluster: cluster.nodes > 1)))
    wanted = {}
    for index in range(draw(st.integers(2, 4))):
        one = draw(reservations(f"r{index}", F(0), head.cluster.nodes))
        if head.reserve(one).accepted:
            mandatory = draw(st.booleans())
            wanted[one.id] = replace(one, mandatory=mandatory)
            assert head.change(wanted[one.id]).accepted
    for index in range(draw(st.integers(1, 4))):
        head.submit(Task(f"t{index}", 0, draw(loads), draw(st.integers(4, 40))))
    head.advance(draw(st.sampled_from([0, F(1, 2), 2, 5])))
    return head, wanted


def to_come(head):
    """Return the tasks and the reservations of which something is still to come."""
    state = head.state()
    if state is None:
        return {}, {}
    tasks = {task.id: task for task in state.instance.tasks}
    return tasks, {one.id: one for one in state.instance.reservations}


def least_to_break(head, kind, gone, fail):
    """Return the fewest promises of a kind without which a failure breaks no other one of it.

    Those that are `gone` are taken back before.
    """
    for count in range(len(kind) + 1):
        for names in combinations(kind, count):
            other = deepcopy(head)
            for name in (*gone, *names):
                other.cancel(name)
            if set(kind).isdisjoint(fail(other).broken):
                return count
    raise AssertionError


@share(3)
@pytest.mark.property
@given(books(), st.data(), st.sampled_from(["fail", "remove"]))
def test_no_plan_of_the_engine_breaks_fewer(book, data, how):
    """First as few mandatory reservations as possible, then as few others, then as few tasks."""
    head, wanted = book
    node = data.draw(st.sampled_from(head.nodes))
    tasks, reserved = to_come(head)

    def fail(one):
        return one.resources(**{how: [node]})

    before, done = deepcopy(head), fail(head)
    assert done.least
    gone = []
    for kind in (
        [name for name in reserved if wanted[name].mandatory],
        [name for name in reserved if not wanted[name].mandatory],
        [*tasks],
    ):
        broken = [name for name in done.broken if name in kind]
        assert len(broken) == least_to_break(before, kind, gone, fail)
        gone += broken


@share(3)
@pytest.mark.property
@given(books(), st.data())
def test_no_plan_at_all_breaks_fewer(book, data):
    """What was promised and has not begun is submitted again, to the bound of all plans."""
    head, wanted = book
    node = data.draw(st.sampled_from(head.nodes))
    tasks, reserved = to_come(head)
    ready = {} if head.state() is None else head.state().instance.ready_times
    now = head.now
    done = head.resources(fail=[node])
    number = {one: index for index, one in enumerate(sorted({*head.nodes}))}
    lost, promised, new = 0, [], []
    for name, one in reserved.items():
        content = wanted[name]
        begun = one.start < now
        named = one.nodes if begun else content.nodes
        if isinstance(named, tuple) and node in named:
            lost += 1
            continue
        nodes = tuple(number[one] for one in named) if isinstance(named, tuple) else named
        arrival = content.arrival if begun else now
        (promised if begun else new).append(
            replace(content, arrival=arrival, nodes=nodes, mandatory=False)
        )
    again = tuple(
        Task(task.id, now, task.load, task.arrival + task.deadline - now) for task in tasks.values()
    )
    if not (promised or new or again):
        return
    instance = Instance(
        replace(head.cluster, nodes=len(number)),
        again,
        (*promised, *new),
        now=now,
        ready_times=tuple(ready[one] for one in number),
    )
    bound = math.floor(solve(instance, method="bound-fluid").bound + 1e-6)
    assert len(done.broken) >= lost + len(again) + len(promised) + len(new) - bound


def test_as_many_as_the_exact_model_must_break():
    """A task, a reservation of one node and one of two nodes want the node that is left."""
    head = MultiStage(Cluster(2, tau=1, chi=1))
    wanted = (Reservation("both", 0, 8, 9, nodes=2), Reservation("one", 0, 2, 6))
    for reservation in wanted:
        assert head.reserve(reservation).accepted
    tasks = (Task("a", 0, 1, 4), Task("b", 0, 1, 5))
    for task in tasks:
        assert head.submit(task).accepted
    done = head.resources(fail=[0])
    found = solve(Instance(Cluster(1, 1, 1), tasks, wanted))
    assert (found.value, found.bound) == (2, 2)
    assert done.broken == ("both", "b") and len(done.broken) == 4 - found.value
