"""A program of which HiGHS says that it failed: it holds its optimum to be a rounding error off."""

from fractions import Fraction

import pytest

from dlopt import Status, solve
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

COSTS = ((0, Fraction(1, 2)), (1, 0), (0, 1))
TASKS = tuple(Task(f"t{k}", costs=costs) for k, costs in enumerate(COSTS))
THREE = Instance((Machine("m0"), Machine("m1")), (Graph("g", TASKS, (Edge(1, 2, 1),)),))


@pytest.mark.parametrize("seed", range(6))
def test_another_tolerance_helps(seed: int) -> None:
    found = solve(THREE, "milp", seed=seed)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)
