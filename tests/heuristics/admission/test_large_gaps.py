"""Instances of the literature and of our own at which an algorithm is far from the optimum."""

from fractions import Fraction

import pytest

from dlopt import Status, solve
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import PROMISING

F = Fraction


def instance(chi, *tasks, nodes=2, tau=1):
    made = tuple(Task(f"t{index}", *task) for index, task in enumerate(tasks))
    return Instance(Cluster(nodes, tau, chi), made)


OPTIMUM_4 = instance(1, (0, 6, 30), (1, 1, 2), (3, 1, 2), (5, 1, 2))
OPTIMUM_2 = instance(1, (0, 2, 14), (0, 10, 15))
ALL_AT_0 = instance(2, (0, 2, 4), (0, 3, 8), (0, 1, 4))


@pytest.mark.parametrize("case", [OPTIMUM_4, OPTIMUM_2, ALL_AT_0], ids=["4", "2", "at-0"])
def test_edf_iit_2_accepts_one_task(case):
    """The optima, proven by a model, are 4, 2 and 2."""
    found = solve(case, "edf-iit-2")
    assert found.status is Status.FEASIBLE
    assert found.value == 1
    assert found.solution.decisions[0].accepted


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_one_large_task_can_keep_out_any_number_of_small_ones(count):
    """The family that starts with 6 units of load and one small task less."""
    small = [(1 + 2 * index, 1, 2) for index in range(count)]
    found = solve(instance(1, (0, 2 * count, 10 * count), *small), "edf-iit-2")
    assert [decision.accepted for decision in found.solution.decisions] == [True] + [False] * count


def test_serving_the_small_tasks_first_would_do():
    """Of the first instance: the small ones one at a time, and the large one when they are done."""
    kept = Admission(OPTIMUM_4.cluster)
    for task in OPTIMUM_4.tasks[1:]:
        assert kept.submit(task).accepted
    late = Task("large", 5, 6, 25)
    assert kept.submit(late).accepted
    assert violations(Instance(kept.cluster, (*OPTIMUM_4.tasks[1:], late)), kept.plan()) == ()


MCDF = instance(3, (0, 2, 6), (0, 1, 8), (0, 3, 16), nodes=3)


def cost(case, found):
    """Return the node time of all tasks: their nodes times how long these are held."""
    rule = OptimalPartition.of(case.cluster)
    counts = [sum(chunk.task == task.id for chunk in found.solution.chunks) for task in case.tasks]
    return sum(rule.cost(task.load, n) for task, n in zip(case.tasks, counts, strict=True))


def test_mcdf_does_not_minimise_the_cost():
    """Lin et al. 2005, section 5, claims that it does. In its own model, without the channel."""
    assert solve(MCDF, "mcdf:literal").value == 3
    assert cost(MCDF, solve(MCDF, "mcdf:literal")) == F(180, 7)
    assert solve(MCDF, "edf-opr-mn:literal").value == 3
    assert cost(MCDF, solve(MCDF, "edf-opr-mn:literal")) == F(176, 7)


REJECTED = instance(2, (0, 1, 2), (0, 2, 6))


@pytest.mark.parametrize("slip", ["", ":literal"])
def test_mcdf_rejects_what_edf_accepts(slip):
    """It starts the larger task on one node; then the smaller one lacks a second one."""
    assert solve(REJECTED, "edf-opr-mn" + slip).value == 2
    found = solve(REJECTED, "mcdf" + slip)
    assert (found.status, found.value) == (Status.FEASIBLE, 1)
    assert found.solution.decisions[1].missed == "t0"
    assert found.reason.startswith("first rejection: task t0 would miss its deadline by ")


def test_the_second_task_could_not_be_served_first():
    """By hand: E(1, 1) = 3 > 2, E(1, 2) = 9/5, then E(2, 2) = 18/5 from 9/5 on: 27/5 <= 6."""
    plan = solve(REJECTED, "edf-opr-mn").solution
    ends = {chunk.task: chunk.computation_end for chunk in plan.chunks}
    assert ends == {"t0": F(9, 5), "t1": F(27, 5)}


@pytest.mark.parametrize("name", PROMISING)
def test_a_task_alone_is_accepted_by_those_that_use_enough_nodes(name):
    """Load 1 by 3/2, at tau = chi = 1: two nodes do it by OPR, none by EPR before 3/2."""
    for deadline, partitions in (
        (F(3, 2), ("opr", "epr", "iit", "mcdf")),
        (F(4, 3), ("opr", "iit", "mcdf")),
    ):
        found = solve(instance(1, (0, 1, deadline)), name)
        assert found.value == int(any(word in name for word in partitions))
    assert solve(instance(1, (0, 1, F(5, 4))), name).value == 0
