"""Methods on instances that are large for them, under a time limit: each answers, and soundly.

How long they take is not asserted, since that depends on the machine; `benchmarks` measures it.
What is asserted is what any machine can see: what the answer says, and that models grow no faster
than their instances where they once did.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dlopt import Limits, NotApplicableError, Status, check, generate, registry, solve
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.milp import MilpModel
from dlopt.models.coreservation.scaled_instance import ScaledInstance

# What is given up may be ended in a destructor, which Python reports and goes on.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
PATIENCE_S = 60

SOON = Limits(time_s=0.25)
EXPIRED = Limits(time_s=1e-9)

LARGE: dict[str, tuple[Any, tuple[str, ...]]] = {
    "coreservation": (
        generate("coreservation", "overloaded", requests=100, seed=1),
        ("exact", "lns", "milp", "cp-sat", "bound-knapsack", "bound-aggregated"),
    ),
    "bag": (
        generate("bag", "gds", tasks=100, sites=5, seed=1),
        ("exact", "lns", "bound-lp"),
    ),
    "iit": (
        generate("iit", "random", nodes=40, spread=5, theta_cm=3, theta_cp=2, seed=1),
        ("exact", "bound-fluid"),
    ),
    "multistage": (
        generate("multistage", "small", nodes=6, tasks=25, seed=1),
        ("exact", "bound-fluid"),
    ),
}
LARGE["admission"] = (
    generate("admission", "small", nodes=6, tasks=30, seed=1),
    ("exact", "bound-fluid", "bound-window-cuts"),
)
CASES = [(stem, method) for stem, (_, methods) in LARGE.items() for method in methods]
HEURISTICS = {
    "coreservation": "co-rspb",
    "bag": "gds",
    "iit": "equal-finish",
    "multistage": "multi-stage",
    "admission": "edf-iit-2",
}


@pytest.fixture(autouse=True)
def _given_up_work_has_ended() -> Iterator[None]:
    """Let no test run beside what an earlier one has given up."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("dlopt-within"):
            thread.join(PATIENCE_S)


@pytest.mark.parametrize("limits", [SOON, EXPIRED], ids=["soon", "expired"])
@pytest.mark.parametrize(("stem", "method"), CASES, ids=map("-".join, CASES))
def test_a_method_under_a_time_limit_answers(stem: str, method: str, limits: Limits) -> None:
    instance = LARGE[stem][0]
    entry = registry.method(stem, method)
    found = solve(instance, method, limits=limits)
    assert found.method == method
    if entry.kind == "bound":
        assert found.status in (Status.BOUND, Status.LIMIT) and found.solution is None
        assert (found.status is Status.BOUND) == (found.bound is not None)
    else:
        assert found.status in (Status.OPTIMAL, Status.FEASIBLE, Status.LIMIT)
        assert (found.status is Status.LIMIT) == (found.solution is None)
    if found.solution is not None:
        assert check(instance, found) == ()
    if found.status is Status.LIMIT:
        assert found.reason is not None and "limit" in found.reason
    if found.bound is not None:
        goal = registry.problem(stem).module.OBJECTIVES[found.objective]
        plan = solve(instance, HEURISTICS[stem], objective=found.objective)
        assert plan.value is not None and not goal.better(plan.value, found.bound)


def test_a_method_that_does_not_apply_says_so_under_a_time_limit() -> None:
    with pytest.raises(NotApplicableError, match="milp does not apply"):
        solve(LARGE["bag"][0], "milp", limits=Limits(time_s=60))


def coefficients(scaled: ScaledInstance) -> int:
    rows = MilpModel(scaled).problem.constraints
    return sum(len(row) for row in (rows() if callable(rows) else rows.values()))


def terms(scaled: ScaledInstance) -> int:
    return len(str(CpSatModel(scaled).model.proto))


@pytest.mark.parametrize("size", [coefficients, terms], ids=["milp", "cp-sat"])
def test_models_of_an_overload_grow_as_the_requests(size: Any) -> None:
    """Equal machines once cost a row for each pair of requests, and 3.6 GB for a thousand."""
    small, large = (
        size(
            ScaledInstance.from_instance(
                generate("coreservation", "overloaded", requests=requests, seed=1)
            )
        )
        for requests in (50, 200)
    )
    assert large < 6 * small  # four times the requests
