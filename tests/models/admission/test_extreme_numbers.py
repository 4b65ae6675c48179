"""Numbers beyond what solvers in floats can tell apart: an answer, or a refusal by name."""

from fractions import Fraction

import pytest

from dlopt import Status, api, registry
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster

PROOFS = [one.name for one in registry.methods("admission") if one.kind in ("exact", "bound")]


@pytest.mark.parametrize("method", PROOFS)
@pytest.mark.parametrize("scale", [10**n for n in (9, 12, 15, 18, 20, 25)])
@pytest.mark.parametrize("exact", [True, False])
def test_one_large_and_one_small_task(method: str, scale: int, exact: bool) -> None:
    """Both fit if the large one has the time; a solver in floats does not see the small one."""
    size = scale if exact else float(scale)
    for deadline, most in ((3 * size, 2), (size, 1)):
        tasks = (Task("large", 0, 2 * size, deadline), Task("small", 0, 1, 10))
        instance = Instance(Cluster(2, tau=1, chi=1), tasks)
        found = api.solve(instance, method)
        assert not api.check(instance, found)
        if method == "feasibility":
            assert found.status in (Status.OPTIMAL if most == 2 else Status.INFEASIBLE,)
        else:
            assert found.bound >= most
            assert found.value in (None, most) if exact else found.value in (None, 1, most)


@pytest.mark.parametrize("installments", [1, 2])
def test_a_task_too_small_for_floats_is_shared_equally(installments: int) -> None:
    tasks = (Task("large", 0, 2 * 10.0**20, 3 * 10.0**15), Task("small", 0, 1, 10))
    instance = Instance(Cluster(2, tau=1, chi=1), tasks)
    found = api.solve(instance, "feasibility", installments=installments)
    assert found.status is Status.INFEASIBLE and Fraction(found.bound or 0) == 0
