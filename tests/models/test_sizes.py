"""Programs are refused before they are built if they would be too large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dlopt import Limits, NotApplicableError, Status, generate, solve
from dlopt.backends import size_limits
from dlopt.heuristics.coreservation import methods as heuristics
from dlopt.models.bag import cpsat as bag_program
from dlopt.models.bag import milp as bag
from dlopt.models.bag.scaled_instance import ScaledInstance as BagInstance
from dlopt.models.coreservation import cpsat as packing
from dlopt.models.coreservation import full_model_bound
from dlopt.models.coreservation import milp as coreservation
from dlopt.models.coreservation.program_size import least_terms
from dlopt.models.coreservation.requests import time_components
from dlopt.models.coreservation.scaled_instance import ScaledInstance as CoreservationCase
from dlopt.models.dag import search
from dlopt.problems import coreservation as requests
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
    *(
        (bag.estimate_terms, bag.AssignmentMilp, BagInstance.from_instance(it, "makespan"))
        for it in BAGS
    ),
    *(
        (
            coreservation.estimated_terms,
            coreservation.MilpModel,
            CoreservationCase.from_instance(it),
        )
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
    monkeypatch.setattr(size_limits, "MOST_TERMS", 100)
    with pytest.raises(NotApplicableError, match=r"would have about [\d,]+ coefficients, more"):
        solve(instance, "milp", limits=ENOUGH)
    assert solve(instance, "exact", limits=Limits(time_s=2)).solution is not None


@pytest.mark.parametrize("formulation", ["cp-sat", "milp"])
def test_a_portfolio_leaves_out_what_is_too_large(
    formulation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(size_limits, "MOST_TERMS", 100)
    instance = generate("coreservation", "small", requests=16, seed=3)
    once = Limits(work=20, threads=1)
    found = solve(instance, "exact", limits=once, formulation=formulation)
    assert found.status is Status.FEASIBLE and found.bound is not None
    assert found.reason is not None and "coefficients, more than 100" in found.reason
    monkeypatch.setattr(full_model_bound, "SECONDS_PER_TERM", 1)  # nor is there time to state it
    late = solve(instance, "exact", limits=replace(once, time_s=1), formulation=formulation)
    assert late.reason is not None and "coefficients, more than 100" in late.reason


def test_bags_and_graphs_are_bounded_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "MOST_TERMS", 100)
    monkeypatch.setattr(search, "MAX_CONSTRAINTS", 10)
    graphs = generate("dag", "topcuoglu", tasks=20, machines=3, seed=1)
    for instance in (BAGS[1], graphs):
        found = solve(instance, "exact", limits=Limits(time_s=2))
        assert found.status is Status.FEASIBLE and found.bound is not None
        assert found.reason is not None and "the program for CP-SAT would have" in found.reason
    with pytest.raises(NotApplicableError, match="120 pairs of a task and a machine, more than"):
        solve(BAGS[1], "bound-lp")


@pytest.mark.parametrize("method", ["milp", "cp-sat"])
def test_refusals_come_before_any_plan(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = generate("coreservation", "overloaded", requests=4_000, seed=1)
    monkeypatch.setattr(CoreservationCase, "from_instance", None)  # nothing is computed of it
    asked: list[Any] = []
    monkeypatch.setattr(heuristics, "portfolio", lambda *given, **_: asked.append(given))
    with pytest.raises(NotApplicableError, match=r"would have about [\d,]+ coefficients, more"):
        solve(instance, method)
    assert not asked


@pytest.mark.parametrize("method", ["milp", "cp-sat"])
def test_what_the_instance_alone_does_not_tell_is_refused_later(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tuple(requests.Request(f"r{k}", 0, 1, 2, 1, (requests.Part(2),)) for k in range(9))
    held = tuple(requests.Holding(j, 0, 1, 1) for j in range(2))
    machines = tuple(requests.Machine(f"m{j}", 9) for j in range(2))
    instance = requests.Instance(machines, asked, holdings=held)
    assert least_terms(instance, 8) == 0
    monkeypatch.setattr(size_limits, "MOST_TERMS", 100)
    with pytest.raises(NotApplicableError, match=r"would have about [\d,]+ coefficients, more"):
        solve(instance, method)


@pytest.mark.parametrize("instance", REQUESTS)
def test_the_estimate_of_an_instance_is_no_more_than_that_of_its_program(instance: Any) -> None:
    case = CoreservationCase.from_instance(instance)
    spans = [case.subinstance(span, case.free, {}) for span in time_components(case.requests)]
    assert least_terms(instance, 8) <= max(map(coreservation.estimated_terms, spans))
    assert least_terms(instance, 6) <= max(map(packing.estimated_terms, spans))


def test_terms_of_an_instance_are_counted_where_windows_interact() -> None:
    def wanted(name: str, start: int, *parts: requests.Part) -> requests.Request:
        return requests.Request(name, 0, start, start + 2, 1, parts)

    machines = tuple(requests.Machine(f"m{j}", free) for j, free in enumerate((5, 5, 2)))
    large, small, pinned = requests.Part(4), requests.Part(1), requests.Part(1, machine=2)
    never = requests.Part(7)
    asked = (
        wanted("a", 1, large, small),  # on 2 and 3 machines
        wanted("b", 2, small, never),  # nowhere
        wanted("c", 3, small),
        wanted("d", 5, pinned),
    )
    instance = requests.Instance(machines, asked)
    # a alone until 3: two parts, 5 places, and 2 machines alike; b is never accepted, but joins
    # the windows of a and c.
    assert least_terms(instance, 6) == 6 * 8 + 32 * 2 * 3


def test_the_program_of_a_bag_is_estimated_for_every_objective() -> None:
    dated = generate("bag", "small", tasks=20, seed=3)
    together = Instance(
        tuple(Task(f"t{k}", 3 + k % 5, absolute_deadline=9 + k) for k in range(20)),
        tuple(Machine(f"m{k}", power=1 + k) for k in range(3)),
    )
    asked = (
        (together, "accepted"),
        (dated, "accepted"),
        (BAGS[0], "flowtime"),
        (BAGS[0], "makespan"),
    )
    sizes_ = [
        bag_program.estimate_terms(BagInstance.from_instance(instance, goal))
        for instance, goal in asked
    ]
    # 60 pairs, 3 times; 20 deadlines on 3 machines, 20 jobs on each, a quarter of them
    assert sizes_[0] == 3 * 60 + 3 * 20 * 20 / 4
    assert sizes_[1] > 3 * sum(
        map(len, BagInstance.from_instance(dated, "accepted").eligible_machines)
    )
    order = 32 * 3 * 40
    assert sizes_[2:] == [3 * 120 + 4 * 120 + order, 3 * 120 + 120 / 2 + order]


@pytest.mark.parametrize("method", ["exact", "milp"])
def test_an_order_of_machines_may_be_told_in_steps(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = alike(7, 3)
    wanted = solve(instance, method, limits=ENOUGH)
    assert wanted.status is Status.OPTIMAL
    for module in (bag, bag_program):
        monkeypatch.setattr(module, "MAX_CLAUSE_LENGTH", 1)
    assert solve(instance, method, limits=ENOUGH).value == wanted.value
