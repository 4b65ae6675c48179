"""A program of which HiGHS says that it failed: it holds its optimum to be a rounding error off."""

from fractions import Fraction

import pulp
import pytest

from dlopt import Limits, SolverError, Status, solve
from dlopt.backends.pulp import optimise
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

COSTS = ((0, Fraction(1, 2)), (1, 0), (0, 1))
TASKS = tuple(Task(f"t{k}", costs=costs) for k, costs in enumerate(COSTS))
THREE = Instance((Machine("m0"), Machine("m1")), (Graph("g", TASKS, (Edge(1, 2, 1),)),))


@pytest.mark.parametrize("seed", range(6))
def test_another_tolerance_helps(seed: int) -> None:
    found = solve(THREE, "milp", seed=seed)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)


@pytest.mark.parametrize("rows", [1, 2])
def test_rows_that_highs_refuses_are_told(rows: int) -> None:
    problem = pulp.LpProblem("large", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 1, pulp.LpInteger), problem.add_variable("y", 0, 1)
    problem.setObjective(x + y)
    for n in range(rows):
        problem += x + 10 ** (15 + n) * y <= 1
    problem += x <= 1
    with pytest.raises(SolverError, match=f"refuses {rows} row"):
        optimise(problem, Limits())
