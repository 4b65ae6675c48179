"""The heuristic for task graphs that the gallery shows follows every rule of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

import dlopt
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.result import NO_LIMITS, Result, Status
from tests.documentation.gallery import Script
from tests.examples import share
from tests.strategies_dag import dag, one_way

SHIPPED = [shipped.name for shipped in dlopt.list_instances("dag")]
Heuristic = Callable[..., Result[Any]]


@pytest.fixture(scope="module")
def heuristic() -> Heuristic:
    """Return the function of the script, without what the script prints."""
    source, _, rest = Script("own_graph_heuristic").code.partition("\ndlopt.register(")
    assert rest
    names: dict[str, Any] = {}
    exec(source, names)
    return names["earliest_end"]


def _check(heuristic: Heuristic, instance: Instance, objective: str = "makespan") -> None:
    result = heuristic(instance, objective=objective, limits=NO_LIMITS, hint=None, seed=0)
    assert result.status is Status.FEASIBLE
    assert dlopt.check(instance, result.solution) == ()
    assert result.value == dlopt.problems.dag.objective(instance, result.solution, objective)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_instances(heuristic: Heuristic, name: str) -> None:
    _check(heuristic, dlopt.load(name))
    _check(heuristic, dlopt.load(name), "tardy-then-response-time")


@share(1 / 2)
@given(instance=dag())
def test_any_instance(heuristic: Heuristic, instance: Instance) -> None:
    _check(heuristic, instance)


@share(1 / 4)
@given(instance=one_way())
def test_links_whose_directions_differ(heuristic: Heuristic, instance: Instance) -> None:
    _check(heuristic, instance)


def test_edges_against_the_numbers_of_the_tasks(heuristic: Heuristic) -> None:
    graph = Graph("g", (Task("a", work=1), Task("b", work=2)), (Edge(1, 0, data=1),))
    _check(heuristic, Instance((Machine("m"),), (graph,)))


def test_one_lan_alone_can_run_all_tasks(heuristic: Heuristic) -> None:
    network = Network(lans=(Lan("a", 1), Lan("b", 1)))
    machines = (Machine("m", lan=0), Machine("n", lan=1), Machine("o", lan=1))
    tasks = (Task("a", costs=(1, None, 9)), Task("b", costs=(None, 9, 9)))
    _check(heuristic, Instance(machines, (Graph("g", tasks, one_lan=True),), network))
