"""Tasks and reservations that do not fit together, whichever nodes the reservations get."""

from itertools import combinations, permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.backends.time_budget import Budget
from dlopt.models.multistage.conflicts import ReservationConflicts
from dlopt.models.multistage.node_assignments import assign_nodes, node_assignments
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequence_search import NodeChoices
from dlopt.result import Limits, Status
from tests import oracles_multistage as oracle
from tests.examples import share
from tests.models.admission.sample_instances import among
from tests.models.multistage.sample_instances import around, mixed


def conflicts_of(instance):
    """Return what finds conflicts among the requests of an instance."""
    scaled = ScaledInstance.from_instance(instance)
    return ReservationConflicts(scaled, 1, Budget(Limits()), 0)


def test_a_conflict_is_proven_for_each_assignment_of_nodes():
    """Three nodes do not suffice for the task; each of four could be free, as the program sees it.

    With one chunk a node, three nodes finish a load of .976 in two units of time.
    """
    held = ((0, 0, 0, 2, 1), (0, 5, 5, 6, 1))
    conflicts = conflicts_of(around(4, 1, 4, (0, 1, 2), held=held))
    scaled = conflicts.restricted_to((0, 1))
    assert conflicts.bound(scaled).bound.value is not None
    assert [conflicts.bound(case).bound.value is None for case in conflicts.cases(scaled)] == [True]
    assert among(conflicts, (0, 1, 2), most=1) == (0, 1)


def test_one_assignment_that_is_not_refuted_is_no_conflict():
    """The node with the fast link finishes the task if the reservation gets the other one."""
    conflicts = conflicts_of(around(2, (1, 2), 1, (0, 2, 4), held=((0, 1, 1, 4, 1),)))
    cases = conflicts.cases(conflicts.restricted_to((0, 1)))
    assert [conflicts.bound(case).bound.value is None for case in cases] == [True, False]
    assert among(conflicts, (0, 1), most=2) == ()


@pytest.mark.parametrize("which", [1, (1,)])
def test_what_is_sent_in_no_time_is_sent_during_the_io_of_a_reservation(which):
    instance = around(2, 0, 1, (1, 1, 2), held=((0, 0, 4, 4, which),))
    assert among(conflicts_of(instance), (0, 1), most=6) == ()
    assert oracle.most(instance) == 2


def test_nodes_that_are_free_at_other_times_are_not_identical():
    """The reservation may leave the node that is free early to the task."""
    instance = around(2, 1, 1, (0, 1, 3), held=((0, 2, 2, 9, 1),), ready_times=(0, 2))
    conflicts = conflicts_of(instance)
    assert len(conflicts.cases(conflicts.restricted_to((0, 1)))) == 2
    assert among(conflicts, (0, 1), most=1) == ()


def test_there_are_no_cases_where_they_are_too_many():
    conflicts = conflicts_of(
        around(9, 1, 1, (0, 1, 9), held=[(0, k, k, k + 1, 4) for k in range(5)])
    )
    assert conflicts.cases(conflicts.restricted_to(range(6))) == []
    assert conflicts.cases(conflicts.restricted_to([0])) == []


def test_reservations_get_nodes_that_a_greedy_choice_does_not_find():
    """Each of four overlaps the next one in time; the first and the last come first."""
    held = ((0, 0, 0, 2, 1), (0, 5, 5, 7, 1), (0, 1, 1, 4, 1), (0, 3, 3, 6, 1))
    scaled = ScaledInstance.from_instance(around(2, 1, 1, (0, 1, 9), held=held))
    assert assign_nodes(scaled) is None
    assert NodeChoices(scaled).nodes(range(4)) == {0: (0,), 1: (1,), 2: (1,), 3: (0,)}


def test_reservations_that_exclude_each_other_get_no_nodes():
    held = ((0, 0, 1, 2, 1), (0, 0, 1, 2, 1))
    scaled = ScaledInstance.from_instance(around(3, 1, 1, (0, 1, 9), held=held))
    assert list(node_assignments(scaled)) == []


@pytest.mark.parametrize("later", [(), ((0, 9, 9, 12, 1),)], ids=["one block", "two blocks"])
def test_the_feasibility_test_has_a_certificate(later):
    """A fluid is received before the reservation of both nodes, and computed after it."""
    found = solve(around(2, 1, 1, (0, 2, 6), held=((0, 1, 1, 5, 2), *later)), "feasibility")
    assert (found.status, found.proof) == (Status.INFEASIBLE, "certificate")
    assert found.reason is not None and "task a, reservation r do not fit together" in found.reason


@pytest.mark.property
@share(1 / 2)
@given(mixed(most=3, tasks=1, wanted=3, identical=False, state=True))
def test_all_assignments_are_listed_once_up_to_exchanges(instance):
    scaled = ScaledInstance.from_instance(instance)
    wanted = scaled.reservations
    assume(wanted and not any(one.obstacle for one in wanted))
    assume(not any(a.conflicts_on_channel(b) for a, b in combinations(wanted, 2)))
    found = [tuple(grants[r] for r in range(len(wanted))) for grants in node_assignments(scaled)]
    feasible = {
        chosen
        for chosen in product(*(combinations(one.eligible, one.count) for one in wanted))
        if not any(
            wanted[r].conflicts_on_node(wanted[s]) and set(chosen[r]) & set(chosen[s])
            for r, s in combinations(range(len(wanted)), 2)
        )
    }
    assert len(set(found)) == len(found) and set(found) <= feasible
    if len(set(kinds_of(scaled))) == 1:
        nodes = range(instance.cluster.nodes)
        images = [
            {tuple(tuple(sorted(map(to.__getitem__, one))) for one in chosen) for chosen in found}
            for to in permutations(nodes)
        ]
        assert set().union(*images) == feasible
        kinds = {tuple(sorted(held_by(chosen, node) for node in nodes)) for chosen in found}
        assert len(kinds) == len(found)


def kinds_of(scaled):
    """Return what tells nodes apart: their costs, and who can get them."""
    about, wanted = scaled.tasks_only, scaled.reservations
    for j in about.nodes:
        eligible = tuple(j in one.eligible for one in wanted if one.names_nodes)
        yield about.tau[j], about.chi[j], about.free[j], eligible


def held_by(chosen, node):
    """Return the reservations that have got a node."""
    return tuple(r for r, nodes in enumerate(chosen) if node in nodes)


@pytest.mark.property
@share(1 / 4)
@given(mixed(most=2, tasks=2, wanted=2, state=True), st.data())
def test_a_conflict_has_no_schedule(instance, data):
    conflicts = conflicts_of(instance)
    scaled = conflicts.scaled
    count = len(scaled.tasks) + len(scaled.reservations)
    assume(scaled.tasks)
    requests = data.draw(st.sets(st.sampled_from(range(count)), min_size=1))
    conflict = among(conflicts, tuple(sorted(requests)), most=4)
    first = len(scaled.tasks)
    chosen = [instance.tasks[scaled.tasks[k].index] for k in conflict if k < first]
    wanted = [scaled.reservations[k - first] for k in conflict if k >= first]
    held = [instance.reservations[one.index] for one in wanted]
    assert not conflict or not oracle.together(instance, chosen, held)
