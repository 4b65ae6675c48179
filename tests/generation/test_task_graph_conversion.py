"""From task graphs and networkx to instances, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from dlopt.errors import NotApplicableError
from dlopt.formats.task_graph import GraphEdge, GraphTask, TaskGraph
from dlopt.generation import generate
from dlopt.generation.task_graph_conversion import (
    MachineSet,
    dag_from_networkx,
    dag_to_networkx,
    instance_of,
    machine_set,
    read_machines,
    task_graph_of,
)
from dlopt.problems.dag import Edge, Machine, Network, Task
from tests.formats.graph_faults import told

GRAPH = TaskGraph((GraphTask("a", 3), GraphTask("b", 4)), (GraphEdge("a", "b", 5),), name="g")
COSTS = TaskGraph((GraphTask("a", costs=(3, None)),), (), machines=("x", "y"))


def test_machine_sets() -> None:
    made = machine_set(3, bandwidth=2, latency=1)
    assert made.machines == (Machine("p0"), Machine("p1"), Machine("p2"))
    assert made.network == Network(bandwidth=2, latency=1)
    assert [m.power for m in machine_set(powers=[1, Fraction(1, 2)]).machines] == [
        1,
        Fraction(1, 2),
    ]
    assert [m.id for m in machine_set(names=["x", "y"]).machines] == ["x", "y"]
    assert [m.id for m in machine_set(1, names=["x", "y"]).machines] == ["p0"]


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((0,), {}, "machines must be from 1 to 1,000,000, got 0"),
        ((True,), {}, "machines must be from 1 to 1,000,000, got True"),
        ((), {}, "machines must be from 1 to 1,000,000, got 0"),
        ((3,), {"powers": [1, 2]}, "there are 3 machines, but 2 powers"),
    ],
)
def test_bad_machine_sets(arguments: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(NotApplicableError, match=text):
        machine_set(*arguments, **options)
    assert told(machine_set, powers=[0]) == ["power: must be positive, got 0"]
    assert told(machine_set, 2, bandwidth=0) == ["bandwidth: must be positive, got 0"]


def test_machines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "machines.json"
    data: dict[str, Any] = {
        "problem": "dag",
        "machines": [{"id": "x", "power": 0.5}],
        "network": {"latency": 2},
    }
    path.write_text(json.dumps(data))
    found = read_machines(path, exact_numbers=True)
    assert found == MachineSet((Machine("x", Fraction(1, 2)),), Network(latency=2))
    path.write_text(json.dumps({"machines": [{"id": "x", "power": -1}]}))
    assert told(read_machines, path) == [f"{path}: machines[0].power: must be positive, got -1"]
    path.write_text("[]")
    assert told(read_machines, path) == [f"{path}: must be an object with machines, got []"]
    path.write_text("{}")
    assert told(read_machines, path)[0].startswith(f"{path}: machines: ")


def test_an_instance() -> None:
    instance = instance_of(GRAPH, machine_set(2), absolute_deadline=9, origin="here")
    (graph,) = instance.graphs
    assert graph.tasks == (Task("a", 3), Task("b", 4)) and graph.edges == (Edge(0, 1, 5),)
    assert graph.id == instance.name == "g" and graph.absolute_deadline == 9
    assert instance.origin == "here" and instance_of(GRAPH, machine_set(2), name="n").name == "n"
    assert instance_of(replace(GRAPH, name=""), machine_set(1)).name == "graph"


def test_machines_that_the_graph_names() -> None:
    useful = TaskGraph((GraphTask("a", costs=(3, 4)),), (), machines=("x", "y"))
    assert [machine.id for machine in instance_of(useful).machines] == ["x", "y"]
    with pytest.raises(NotApplicableError, match="the file names no machines: tell how many"):
        instance_of(GRAPH)
    with pytest.raises(NotApplicableError, match="a cost on each of 2 machines, not 3"):
        instance_of(COSTS, machine_set(3))


def test_from_networkx_and_back() -> None:
    graph: Any = nx.DiGraph(name="g")
    graph.add_node("a", costs=[3, None])
    graph.add_node("b", costs=[4, 2])
    graph.add_edge("a", "b", data=5)
    instance = dag_from_networkx(graph, bandwidth=2, latency=1, arrival=3, absolute_deadline=99)
    assert len(instance.machines) == 2 and instance.cost(0, 0, 1) is None
    assert instance.paths.transfer(5, 0, 1) == Fraction(7, 2)
    assert (instance.graphs[0].arrival, instance.graphs[0].absolute_deadline) == (3, 99)
    again = dag_from_networkx(dag_to_networkx(instance), bandwidth=2, latency=1, arrival=3)
    assert replace(again.graphs[0], absolute_deadline=99) == instance.graphs[0]
    assert again.machines == instance.machines


def test_machines_for_networkx() -> None:
    graph: Any = nx.DiGraph()
    graph.add_node("a", work=6)
    assert len(dag_from_networkx(graph, 3).machines) == 3
    assert dag_from_networkx(graph, [1, 2]).cost(0, 0, 1) == 3
    chosen = MachineSet((Machine("x", 3),), Network(latency=1))
    assert dag_from_networkx(graph, chosen).machines == chosen.machines
    with pytest.raises(NotApplicableError, match="nodes have no costs: machines must be given"):
        dag_from_networkx(graph)
    with pytest.raises(NotApplicableError, match="machines must be a number or powers, got '12'"):
        dag_from_networkx(graph, "12")  # type: ignore[arg-type]


def test_a_graph_of_an_instance() -> None:
    assert task_graph_of(instance_of(GRAPH, machine_set(2))) == GRAPH
    slow = task_graph_of(instance_of(GRAPH, machine_set(2, bandwidth=3)))
    assert slow == replace(GRAPH, unit="amount")
    both = generate("dag", "chains", graphs=2, machines=3)
    second = task_graph_of(both, 1)
    assert second.name == "g1" and second.machines == ("m0", "m1", "m2")
    assert instance_of(second, MachineSet(both.machines)).graphs[0] == both.graphs[1]
