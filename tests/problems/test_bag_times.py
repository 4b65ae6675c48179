"""Durations and transfer times of bags, worked out by hand.

The checker computes them with lines of its own (`checker_times`), methods with `transfer_times`.
"""

from fractions import Fraction

import pytest
from hypothesis import given

from dlopt import solve
from dlopt.arithmetic import exact
from dlopt.problems.bag import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    transfer_times,
    violations,
)
from dlopt.problems.bag.checker_times import duration, times_from
from tests import oracles_bag
from tests.strategies_bag import bags, bags_in_floats

F = Fraction
SITES = tuple(Site(name) for name in "abc")
# From a to c there is a way of its own, and one by b: 1 + d/4 and then d/2.
LINKS = (Link((0, 2), 1, latency=2), Link((1, 0), 4, latency=1), Link((1, 2), 2), Link((1, 2), 1))


@pytest.mark.parametrize(
    ("data", "site", "times"),
    [
        (0, 0, [0, 1, 1]),  # by b: 1 and nothing
        (4, 0, [0, 2, 4]),  # by b: 1 + 4/4 + 4/2
        (4, 2, [4, 2, 0]),
        (4, 1, [2, 0, 2]),
    ],
)
def test_data_takes_the_fastest_way_in_either_direction(data, site, times):
    task = Task("t", 3, site=site, input=data)
    machines = tuple(Machine(name, at, 2) for at, name in enumerate("mno"))
    instance = Instance((task,), machines, SITES, LINKS)
    assert times_from(instance, site, F(data)) == times
    assert list(transfer_times(instance, site, data)) == times
    for place, sent in enumerate(times):
        good = Placement("t", place, sent, sent + F(3, 2))
        assert violations(instance, Solution((good,))) == ()
        if sent:
            early = Placement("t", place, sent - 1, sent + F(1, 2))
            found = {(one.kind, one.amount) for one in violations(instance, Solution((early,)))}
            assert ("starts-before-input", 1) in found
    assert solve(instance).value == F(3, 2)
    assert duration(instance, 0, 1) == F(3, 2) == instance.duration(0, 1)


@pytest.mark.property
@given(bags() | bags_in_floats())
def test_checker_and_methods_agree_with_a_second_reading(instance):
    for index, task in enumerate(instance.all_tasks):
        taken = oracles_bag.transfers(instance, task.site, task.input)
        assert times_from(instance, task.site, exact(task.input)) == taken
        assert list(transfer_times(instance, task.site, task.input, exactly=True)) == taken
        for machine in range(len(instance.all_machines)):
            assert duration(instance, index, machine) == oracles_bag.duration(
                instance, index, machine
            )
