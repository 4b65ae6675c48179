"""Batch rules: array and reference implementation, and the textbook, on random instances.

What hypothesis draws at random stands in `test_mappings`.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import solve
from dlopt.generation.bag import braun, small
from dlopt.heuristics.bag import batch_mode, batch_mode_numpy
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.problems.bag import Instance, Link, Machine, Site, Task, violations
from dlopt.problems.validated_record import floating
from tests.oracles_bag import textbook

CHOICES = ("min-min", "max-min", "sufferage")


def holes(instance, period):
    """Return a matrix of which some entries are missing; some tasks have a single machine."""
    rows = [
        tuple(None if (7 * i + k) % period == 0 else time for k, time in enumerate(row))
        for i, row in enumerate(instance.etc)
    ]
    rows[1] = (None,) * (len(rows[1]) - 1) + rows[1][-1:]
    rows[2] = rows[2][:1] + (None,) * (len(rows[2]) - 1)
    return replace(instance, etc=tuple(rows))


ONE = Instance(etc=((3,), (1,), (2,), (1,)))
TIES = Instance(etc=((2, 2, 2),) * 7)
HOLES = holes(braun(tasks=17, machines=5, machine_heterogeneity=5, numbers="integer"), 3)
INSTANCES = {
    "one machine": ONE,
    "ties": TIES,
    "holes": HOLES,
    "consistent": braun(tasks=40, machines=6, consistency="consistent", seed=3),
    "semi-consistent": braun(tasks=33, machines=7, consistency="semi-consistent", seed=4),
    "inputs": small(tasks=12, machines=4, sites=3, span=6, deadlines="none", seed=5),
    "deadlines": small(tasks=14, machines=4, sites=3, span=6, parts=2, tightness=1, seed=6),
    "some deadlines": small(tasks=14, machines=3, span=4, deadlines="some", seed=7),
    "floats": floating(small(tasks=14, machines=4, sites=3, span=6, tightness=1, seed=8)),
}


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("late", [False, True])
def test_three_ways_one_order(name, choice, late):
    arrays = InstanceArrays(INSTANCES[name])
    expected = list(textbook(arrays, choice, run_late=late))
    assert batch_mode_numpy.FloatArrays.from_arrays(arrays) is not None
    assert len(expected) == len(arrays.task_ids)
    assert batch_mode.map_batch(arrays, choice, run_late=late) == expected
    assert list(batch_mode.map_by_steps(arrays, choice, run_late=late)) == expected


@pytest.mark.parametrize("choice", CHOICES)
def test_tasks_that_may_not_leave_a_site_without_machines_are_not_placed(choice):
    instance = INSTANCES["deadlines"]
    arrays = InstanceArrays(replace(instance, machines=instance.machines[:1]), home_only=True)
    expected = list(textbook(arrays, choice))
    assert 0 < len(expected) < len(arrays.task_ids)
    assert batch_mode.map_batch(arrays, choice, run_late=False) == expected
    assert list(batch_mode.map_by_steps(arrays, choice, run_late=False)) == expected
    none = InstanceArrays(
        Instance(
            (Task("t", 1, absolute_deadline=5),),
            (Machine("m", 1),),
            (Site("a"), Site("b")),
            (Link((0, 1), 1),),
        ),
        home_only=True,
    )
    assert batch_mode.map_batch(none, choice, run_late=False) == []


def test_sufferage_looks_at_the_second_best_of_all_machines():
    """Best and second best on neighbours in the tournament, and on machines far apart."""
    rows = ((1, 2, 9, 9, 9), (9, 9, 9, 1, 4), (2, 9, 9, 9, 8), (9, 1, 9, 9, 3), (9, 9, 5, 9, 5))
    arrays = InstanceArrays(Instance(etc=rows))
    assert batch_mode.map_batch(arrays, "sufferage", run_late=False) == [
        (2, 0),
        (1, 3),
        (3, 1),
        (0, 0),
        (4, 2),
    ]


def test_speeds_in_floats_are_the_quotients_that_the_instance_states():
    """However powers are given, and a machine is asked as often as it is there."""
    machines = (Machine("a", power=3), Machine("b", power=Fraction(7, 3)), Machine("c", power=0.1))
    instance = Instance((Task("t", 0.7), Task("u", 1e-3), Task("v", 2)), machines)
    arrays = InstanceArrays(instance)
    assert arrays.durations == tuple(
        tuple(arrays.duration(task, machine) for machine in range(3)) for task in range(3)
    )
    twice = InstanceArrays(
        Instance((Task("t", 1),), (Machine("a", power=3), Machine("b", power=3)))
    )
    assert twice.durations == ((Fraction(1, 3), Fraction(1, 3)),)


@pytest.mark.parametrize("method", [*CHOICES, "mct", "gds"])
def test_inputs_in_floats_pass_the_check_in_fractions(method):
    """Ways of several links: sums of floats against the sum of the rational numbers they are."""
    links = (Link((0, 1), 0.3, 0.1), Link((1, 2), 0.7, 0.2), Link((2, 3), 1.1, 0.3))
    sites = tuple(Site(name) for name in "abcd")
    machines = (Machine("m", 3, power=0.9), Machine("n", 2, power=0.1))
    tasks = tuple(Task(f"t{k}", 0.3 + k / 7, input=k / 3, absolute_deadline=60.0) for k in range(6))
    instance = Instance(tasks, machines, sites, links)
    found = solve(instance, method, objective="accepted")
    assert found.value == 6
    assert violations(instance, found.solution, 1e-12) == ()
