"""Graphs that compete: what each sees when it arrives, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from dlopt import solve
from dlopt.problems import dag
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task

F = Fraction
FAST, SLOW = Machine("m", power=2), Machine("n", power=1)


def graph(name: str, *works: int, chain: bool = False, data: int = 0, arrival: int = 0) -> Graph:
    tasks = tuple(Task(f"t{k}", work) for k, work in enumerate(works))
    edges = tuple(Edge(k, k + 1, data) for k in range(len(works) - 1)) if chain else ()
    return Graph(name, tasks, edges, arrival=arrival)


def places(*graphs: Graph, machines: tuple[Machine, ...] = (FAST, SLOW), bandwidth: int = 1):
    instance = Instance(machines, graphs, Network(bandwidth=bandwidth))
    result = solve(instance, "competitive")
    assert result.solution is not None and dag.violations(instance, result.solution) == ()
    return [(place.machine, place.start) for place in result.solution.placements], result.value


def test_a_mapping_stays_though_another_graph_comes_between() -> None:
    """The first graph wants t1 on the fast machine from 4 to 7. The second would end there at 8, on
    the other one at 9: it is in the queue first.
    """
    graphs = graph("a", 8, 6, chain=True), graph("b", 8, arrival=1)
    assert places(*graphs) == ([(0, 0), (0, 8), (0, 4)], 11)


def test_what_is_not_in_a_queue_is_unseen() -> None:
    """The fast machine has 20 more to do after 2; the second graph does not see that, and ends
    there at 6; on the slow one it would at 9. The first then ends at 26, not 22.
    """
    graphs = graph("a", 4, 40, chain=True), graph("b", 8, arrival=1)
    assert places(*graphs) == ([(0, 0), (0, 6), (0, 2)], 26)


def test_what_is_in_a_queue_is_seen() -> None:
    """Both tasks of the first graph are queued at 0, the longer one first, until 7. The second ends
    on the other machine at 1 + 8, and not at 7 + 3; or at 7 + 9 / 2, and not at 1 + 12.
    """
    machines, first = (FAST, Machine("n", power=F(3, 4))), graph("a", 6, 8)
    assert places(first, graph("b", 6, arrival=1), machines=machines)[0][2] == (1, 1)
    found, value = places(first, graph("b", 9, arrival=1), machines=machines)
    assert found == [(0, 4), (0, 0), (0, 7)] and value == F(23, 2)


def test_of_graphs_that_arrive_at_once_none_sees_the_other() -> None:
    """Their tasks enter queues after both have mapped: the second graph has to wait, and ends at 7;
    on the other machine it would at 6.
    """
    machines = FAST, Machine("n", power=F(4, 3))
    assert places(graph("a", 6), graph("b", 8), machines=machines) == ([(0, 0), (0, 3)], 7)


def test_a_task_is_queued_when_its_data_is_there() -> None:
    """t1 of the first graph stays on its machine, and needs no transfer; t1 of the other one waits
    for 3 of data: t0 is on the fast machine, which b's t0 left to the first graph.
    """
    machines = Machine("m", power=1), Machine("n", power=1)
    fork = Graph("a", tuple(Task(f"t{k}", 4) for k in range(3)), (Edge(0, 1, 3), Edge(0, 2, 3)))
    found, value = places(fork, graph("b", 5, arrival=5), machines=machines)
    # a: t0 on m until 4, then t1 there; t2 on n from 4 + 3. At 5 b sees n idle, and is there first.
    assert found == [(0, 0), (0, 4), (1, 10), (1, 5)] and value == 14
