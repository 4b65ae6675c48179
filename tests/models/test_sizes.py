"""Programs are refused before they are built if they would be too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dlopt import Limits, NotApplicableError, Status, generate, solve
from dlopt.backends import sizes
from dlopt.models.bag import cpsat as bag_program
from dlopt.models.bag import milp as bag
from dlopt.models.bag.scaled_instance import Case as BagCase
from dlopt.models.coreservation import milp as coreservation
from dlopt.models.coreservation.scaled_instance import Case as CoreservationCase
from dlopt.problems.bag import Instance, Machine, Task

ENOUGH = Limits(time_s=20, threads=1)


def alike(tasks: int, machines: int) -> Instance:
    """Return machines that are alike, and tasks that are not."""
    return Instance(
        tuple(Task(f"t{k}", 3 + k % 5) for k in range(tasks)),
        tuple(Machine(f"m{k}") for k in range(machines)),
    )


def coefficients(problem: Any) -> int:
    rows = problem.constraints
    return sum(len(row) for row in (rows() if callable(rows) else rows.values()))


BAGS = (alike(40, 3), generate("bag", "braun", tasks=30, machines=4, seed=2))
REQUESTS = (
    generate("coreservation", "min-5", requests=60, seed=1),
    generate("coreservation", "min-4", horizon=2_000, seed=1),
    generate("coreservation", "overloaded", requests=40, seed=1),
)
CASES: tuple[tuple[Callable[..., float], Any, Any], ...] = (
    *((bag.terms_of, bag.LinearModel, BagCase.of(it, "makespan")) for it in BAGS),
    *(
        (coreservation.terms_of, coreservation.LinearModel, CoreservationCase.of(it))
        for it in REQUESTS
    ),
)


@pytest.mark.parametrize(("terms_of", "model", "case"), CASES)
def test_an_estimate_is_near_what_is_built(
    terms_of: Callable[[Any], float], model: Callable[[Any], Any], case: Any
) -> None:
    built = coefficients(model(case).problem)
    assert built / 2 < terms_of(case) < 4 * built


@pytest.mark.parametrize(("stem", "instance"), [("bag", BAGS[0]), ("coreservation", REQUESTS[0])])
def test_a_method_refuses_what_is_too_large(
    stem: str, instance: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "MOST_TERMS", 100)
    with pytest.raises(NotApplicableError, match=r"would have about [\d,]+ coefficients, more"):
        solve(instance, "milp", limits=ENOUGH)
    assert solve(instance, "exact", limits=Limits(time_s=2)).solution is not None


@pytest.mark.parametrize("method", ["exact", "milp"])
def test_an_order_of_machines_may_be_told_in_steps(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = alike(7, 3)
    wanted = solve(instance, method, limits=ENOUGH)
    assert wanted.status is Status.OPTIMAL
    for module in (bag, bag_program):
        monkeypatch.setattr(module, "MOST_LISTED", 1)
    assert solve(instance, method, limits=ENOUGH).value == wanted.value
