"""A program of which HiGHS says that it failed: it holds its optimum to be a rounding error off."""

from fractions import Fraction

import pulp
import pytest

from dlopt import Limits, SolverError, Status, solve
from dlopt.backends import pulp as backend
from dlopt.backends.pulp import optimise
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

COSTS = ((0, Fraction(1, 2)), (1, 0), (0, 1))
TASKS = tuple(Task(f"t{k}", costs=costs) for k, costs in enumerate(COSTS))
THREE = Instance((Machine("m0"), Machine("m1")), (Graph("g", TASKS, (Edge(1, 2, 1),)),))


@pytest.mark.parametrize("seed", range(6))
def test_another_tolerance_helps(seed: int) -> None:
    found = solve(THREE, "milp", seed=seed)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)


def test_rows_that_highs_refuses_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = pulp.LpProblem("large", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 1, pulp.LpInteger), problem.add_variable("y", 0, 1)
    problem.setObjective(x + y)
    problem += x + 10**15 * y <= 1
    monkeypatch.setattr(backend, "is_readable", lambda *_: True)
    with pytest.raises(SolverError, match="refuses 1 row"):
        optimise(problem, Limits())
