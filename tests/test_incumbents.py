"""What methods know before they are done is the answer if they are given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlopt import Limits, check, generate, io, registry, solve
from dlopt.incumbents import Offer, offer, wanted
from dlopt.interruption import WorkThread
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.dag.search import ExactSearch
from dlopt.models.multistage.search import MultistageSearch
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Result, Status
from tests.method_table import MethodTable

THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
INSTANCES = Path(__file__).parents[1] / "instances"
PATIENCE_S = 60.0
"""Time limit of every method, and how long a test waits for the step that never ends."""
WORK = 200
"""Limit of all other steps: a fraction of a second."""


def unasked() -> Result[Any]:
    raise AssertionError


def test_an_offer_is_of_one_method_about_one_instance() -> None:
    place = Offer(THREE, "completion", "mine")
    offer(THREE, "completion", "mine", lambda: Result(Status.LIMIT))  # nobody asks
    with wanted(place):
        offer(Instance(THREE.cluster, (0, 1, 4), load=3), "completion", "mine", unasked)
        offer(THREE, "nodes", "mine", unasked)
        offer(THREE, "completion", "its-part", unasked)
        assert place.answer is None
        offer(THREE, "completion", "mine", lambda: Result(Status.LIMIT, reason="this"))
    assert place.answer is not None and place.answer().reason == "this"


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a step that never ends; whoever takes it has used up its time by that, at once.

    So what a method knows when it is given up depends on the steps before, and not on how fast
    they are.
    """
    reached = threading.Event()

    def never_ends(*_: Any, **__: Any) -> Any:
        reached.set()
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(WorkThread, "wait", lambda thread, seconds: reached.wait(seconds))
    return never_ends


CASES = (
    (
        "admission",
        generate("admission", "small", tasks=4, seed=2),
        AdmissionSearch,
        "solve_sequencing_milp",
    ),
    (
        "admission",
        generate("admission", "small", tasks=5, seed=4),
        AdmissionSearch,
        "bound_by_conflicts",
    ),
    (
        "admission",
        generate("admission", "small", tasks=8, seed=1),
        AdmissionSearch,
        "compute_upper_bound",
    ),
    (
        "multistage",
        generate("multistage", "small", tasks=8),
        MultistageSearch,
        "compute_upper_bound",
    ),
    ("dag", io.read(INSTANCES / "dag" / "random-16.json"), ExactSearch, "_solve_level"),
)


@pytest.mark.parametrize(("stem", "instance", "search", "step"), CASES)
def test_a_plan_and_a_bound_are_kept(
    stem: str,
    instance: Any,
    search: type,
    step: str,
    stuck: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, step, stuck)
    result = solve(instance, limits=Limits(time_s=PATIENCE_S, work=WORK))
    assert result.reason is not None and result.reason.startswith("given up: exact overran")
    assert result.status is Status.FEASIBLE and result.bound is not None
    assert check(instance, result) == ()
    monkeypatch.undo()
    best = solve(instance, limits=Limits(work=WORK))
    goal = registry.problem(stem).module.OBJECTIVES[best.objective]
    assert not goal.better(best.value, result.bound)
    if step == "solve_sequencing_milp":
        assert result.proof is not None


@pytest.mark.parametrize(
    "interim", [Result(Status.OPTIMAL, "no plan"), Result(Status.LIMIT)], ids=["wrong", "nothing"]
)
def test_what_cannot_be_checked_is_not_told(
    method_table: MethodTable, interim: Result[Any], stuck: Callable[..., Any]
) -> None:

    def method(instance: Instance, **_: Any) -> Result[Any]:
        offer(instance, "completion", "nearly", lambda: interim)
        return stuck()

    registry.register("iit", "nearly", method, kind="exact", claim="optimal")
    result = solve(THREE, "nearly", limits=Limits(time_s=PATIENCE_S))
    assert result.status is Status.FEASIBLE and result.value == solve(THREE).value
    assert result.reason is not None and result.reason.endswith("the plan is that of edf-iit-2")
