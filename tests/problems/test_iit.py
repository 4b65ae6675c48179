"""Instances and plans of one divisible load, and what a plan is worth.

What an instance may hold is tested in `test_iit_faults`, what a plan may not do in
`test_iit_violations` and `test_iit_tolerance`.
"""

from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import NotApplicableError
from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Violation
from tests.problems.chunk_edits import SMALLEST, SMALLEST_PLAN

F = Fraction


def test_a_plan_may_say_what_breaks_the_rules() -> None:
    """Negative loads and strange nodes are for the checker, not for the constructor."""
    assert Chunk(-1, -2, 5, 4, 3, 2).node == -1


@pytest.mark.parametrize(
    ("cluster", "identical", "setup"),
    [
        (Cluster(2, 1, 2), True, False),
        (Cluster(2, (1, 1), (2, 2.0)), True, False),
        (Cluster(2, (1, 2), 2), False, False),
        (Cluster(2, 1, (1, 2), theta_cm=1), False, True),
        (Cluster(2, 1, 1, theta_cp=F(1, 9)), True, True),
    ],
)
def test_clusters(cluster: Cluster, identical: bool, setup: bool) -> None:
    assert (cluster.identical, cluster.has_setup_costs) == (identical, setup)


def test_costs_of_a_node() -> None:
    cluster = Cluster(2, (1, 3), 2)
    assert [cluster.tau_of(node) for node in (0, 1)] == [1, 3]
    assert [cluster.chi_of(node) for node in (0, 1)] == [2, 2]
    assert [Cluster(2, 1, (5, 7)).chi_of(node) for node in (0, 1)] == [5, 7]


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": Cluster(2, 1.0, 1)},
        {"cluster": Cluster(2, 1, (1, 1.0))},
        {"cluster": Cluster(2, 1, 1, 0.5)},
        {"cluster": Cluster(2, 1, 1, 0, 0.5)},
        {"ready_times": (0, 1.0)},
        {"load": 2.0},
        {"absolute_deadline": 9.0},
    ],
)
def test_one_float_makes_an_instance_inexact(change: dict[str, object]) -> None:
    instance = Instance(Cluster(2, 1, (1, F(1, 2))), (0, F(1, 3)), 2, absolute_deadline=9)
    assert instance.exact
    assert replace(instance, absolute_deadline=None).exact
    assert not replace(instance, **change).exact


@pytest.mark.parametrize(
    "record",
    [SMALLEST, SMALLEST.cluster, SMALLEST_PLAN, *SMALLEST_PLAN.chunks],
    ids=lambda record: type(record).__name__,
)
def test_records_are_frozen_and_slotted(record: Any) -> None:
    assert not hasattr(record, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 1)
    assert hash(record) == hash(replace(record))


# --- what a plan is worth ------------------------------------------------------------------


def test_a_smallest_valid_plan() -> None:
    assert iit.violations(SMALLEST, SMALLEST_PLAN) == ()
    assert iit.objective(SMALLEST, SMALLEST_PLAN) == 30
    assert iit.objective(SMALLEST, SMALLEST_PLAN, "nodes") == 1
    assert iit.violations(replace(SMALLEST, absolute_deadline=30), SMALLEST_PLAN) == ()


def test_objectives() -> None:
    plan = Solution(
        (Chunk(2, 1, 0, 1, 1, 0.1), Chunk(0, 1, 1, 2, 2, F(1, 20)), Chunk(2, 1, 0, 0, 0, 0))
    )
    completion = iit.objective(SMALLEST, plan, "completion")
    assert completion == F(1, 10)
    assert type(completion) is F
    assert iit.objective(SMALLEST, plan, "nodes") == 2
    assert iit.default_objective(SMALLEST) == "completion"
    assert {key: goal.name for key, goal in iit.OBJECTIVES.items()} == {
        "completion": "completion",
        "nodes": "nodes",
    }
    assert {goal.sense for goal in iit.OBJECTIVES.values()} == {"min"}
    assert iit.OBJECTIVES["nodes"].requires_field == "absolute_deadline"
    with pytest.raises(NotApplicableError, match="no objective 'makespan': completion, nodes"):
        iit.objective(SMALLEST, plan, "makespan")


def test_an_empty_plan_is_told_apart_by_its_load_only() -> None:
    empty = Solution(())
    assert iit.violations(SMALLEST, empty) == (Violation("load-not-conserved", "load", amount=6),)
    assert iit.objective(SMALLEST, empty) == 0
    assert iit.objective(SMALLEST, empty, "nodes") == 0
