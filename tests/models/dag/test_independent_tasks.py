"""Independent tasks on identical machines are partitioned, and nothing else is."""

import pytest

from dlopt import solve
from dlopt.models.common.number_partitioning import MAX_TASKS, NUMBER_PARTITIONING
from dlopt.models.dag.independent_tasks import is_number_partitioning
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.result import Status
from tests.oracles import least_largest_sum


def independent(works, machines, **fields):
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    names = tuple(Machine(f"m{k}") for k in range(machines))
    return Instance(names, (Graph("g", tasks, **fields),))


def test_twelve_tasks_on_four_machines_need_no_solver():
    """CP-SAT left a gap of 1 % after 10 seconds."""
    works = (
        906691,
        366110,
        622954,
        709732,
        833082,
        286526,
        459225,
        748577,
        190443,
        612345,
        99011,
        702117,
    )
    result = solve(independent(works, 4), "exact")
    assert (result.status, result.proof) == (Status.OPTIMAL, "exact")
    assert NUMBER_PARTITIONING in result.reason


@pytest.mark.parametrize(
    "works", [(0, 5, 3, 3, 0, 2, 2, 1), (0.7, 0.11, 0.31, 0.35, 0.49, 0.53, 0.05)]
)
def test_tasks_without_work_and_in_floats(works):
    result = solve(independent(works, 3), "exact")
    assert result.status is Status.OPTIMAL
    assert float(result.value) == pytest.approx(least_largest_sum(works, 3))


def test_what_is_no_partition():
    works = (3, 4, 5)
    edge = Edge(0, 1, data=0)
    assert is_number_partitioning(ScaledInstance.from_instance(independent(works, 2)))
    for other in (
        independent(works, 2, edges=(edge,)),
        independent(range(1, MAX_TASKS + 2), 2),
        Instance((Machine("m"), Machine("n", power=2)), independent(works, 2).graphs),
        Instance(
            (Machine("m"), Machine("n")),
            (Graph("g", (Task("a", work=1),)), Graph("h", (Task("b", work=1),), arrival=3)),
        ),
    ):
        assert not is_number_partitioning(ScaledInstance.from_instance(other))
