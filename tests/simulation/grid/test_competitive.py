"""Graphs that schedule themselves, beside the two levels of the thesis, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Outage, Run, Task
from dlopt.simulation.grid import Credibility, FailureModel, GridRun, Policy, simulate_grid, variant

F = Fraction
QUICK = Policy(external_time=0, internal_time=0)
COMPETITIVE = replace(QUICK, scheduler="competitive")
NETWORK = Network("scheduler", "counted", lans=(Lan("l"), Lan("r")))


def graph(name: str, *works: int, chain: bool = False, **facts: Any) -> Graph:
    tasks = tuple(Task(f"t{k}", work) for k, work in enumerate(works))
    edges = tuple(Edge(k, k + 1) for k in range(len(works) - 1)) if chain else ()
    return Graph(name, tasks, edges, **{"lan": 0, **facts})


def run(
    machines: tuple[Machine, ...],
    *graphs: Graph,
    policy: Policy = COMPETITIVE,
    **failure_model: Any,
) -> GridRun:
    found = simulate_grid(
        Instance(machines, graphs, NETWORK),
        policy=policy,
        failure_model=FailureModel(**failure_model),
        message=0,
        exact_numbers=True,
    )
    assert found.check() == ()
    return found


def machines(*powers: int) -> tuple[Machine, ...]:
    return tuple(Machine(f"m{k}", power, 0) for k, power in enumerate(powers))


def runs(of: GridRun) -> tuple[Run, ...]:
    assert of.trace is not None
    return of.trace.runs


def returned(of: GridRun) -> list[float | None]:
    return [fate.returned for fate in of.outcome.job_outcomes]


def test_a_graph_keeps_its_mapping_whatever_others_do() -> None:
    """The first graph wants t1 on the fast node, from 4 to 7. The second sees that node busy until
    4, and that it would end there at 8, against 9; so t1 has to wait until 8. The two levels map t1
    at 4, and send it to the slow node, where it ends at 10.
    """
    graphs = graph("a", 8, 6, chain=True), graph("b", 8, arrival=1)
    competitive = run(machines(2, 1), *graphs)
    assert [(one.graph, one.machine, one.start, one.end) for one in runs(competitive)] == [
        (0, 0, 0, 4),
        (1, 0, 4, 8),
        (0, 0, 8, 11),
    ]
    assert returned(competitive) == [11, 8]
    two_level = run(machines(2, 1), *graphs, policy=QUICK)
    assert [one.machine for one in runs(two_level)] == [0, 0, 1]
    assert returned(two_level) == [10, 8]


def test_whoever_is_ready_first_gets_the_place() -> None:
    """Of one graph the longer way first; another comes later, however urgent it is."""
    graphs = (
        graph("a", 3, 5, absolute_deadline=99),
        graph("b", 2, arrival=1, absolute_deadline=7),
    )
    small = {"queue_size": 1}
    competitive = run(machines(1), *graphs, policy=replace(COMPETITIVE, **small))
    assert [(one.graph, one.task) for one in runs(competitive)] == [(0, 1), (0, 0), (1, 0)]
    assert returned(competitive) == [8, 10] and competitive.outcome.met == 1
    two_level = run(machines(1), *graphs, policy=replace(QUICK, **small))
    assert returned(two_level) == [10, 7] and two_level.outcome.met == 2


@pytest.mark.parametrize(("work", "machine"), [(4, 1), (5, 0)])
def test_what_waits_at_the_gateway_is_load(work: int, machine: int) -> None:
    """The fast node runs until 3, and 3/2 more waits for its only place: the next one would end
    there at 9/2 + work / 4, on the slow node at 1 + work.
    """
    graphs = graph("a", 12, 6), graph("b", work, arrival=1)
    found = run(machines(4, 1), *graphs, policy=replace(COMPETITIVE, queue_size=1))
    last = {one.graph: one for one in runs(found)}
    assert last[0].machine == 0 and last[0].start == 3
    assert last[1].machine == machine
    assert last[1].end == (1 + work if machine else F(9, 2) + F(work, 4))


def test_what_is_not_ready_is_no_load() -> None:
    """The fast LAN will be busy until 21; all that a competing graph sees is the first second."""
    grid = Machine("m", 1, 0), Machine("n", 2, 1)
    graphs = graph("f", 2, 40, chain=True, lan=1), graph("g", 8, arrival=F(1, 2))
    competitive, two_level = run(grid, *graphs), run(grid, *graphs, policy=QUICK)
    assert [fate.lan for fate in competitive.outcome.job_outcomes] == [1, 1]
    assert returned(competitive) == [25, 5]  # it comes first: the other's t1 is not ready before
    assert [fate.lan for fate in two_level.outcome.job_outcomes] == [1, 0]
    assert returned(two_level) == [21, F(17, 2)]


def test_what_waits_for_a_dead_node_is_mapped_anew() -> None:
    """The fast node fails at 1. Its first run is due at 4, and twice that is too late: by then
    everything that was mapped to it goes to the slow one.
    """
    work = graph("a", 40, 20, 20)
    policy = replace(COMPETITIVE, queue_size=1)
    found = run(machines(10, 1), work, policy=policy, failures=(Outage(0, 1),))
    assert [(one.machine, one.task, one.fate) for one in runs(found)] == [
        (0, 0, "lost"),
        (1, 1, "done"),
        (1, 2, "done"),
        (1, 0, "done"),
    ]
    assert [one.start for one in runs(found)[1:]] == [8, 28, 48] and returned(found) == [88]


def test_a_node_that_is_back_gets_what_waited_for_it() -> None:
    """No other node is alive: all waits until it is up again at 30."""
    policy = replace(COMPETITIVE, queue_size=1)
    found = run(machines(10), graph("a", 40, 20), policy=policy, failures=(Outage(0, 1, 30),))
    assert [(one.task, one.start) for one in runs(found)][1:] == [(1, 30), (0, 32)]
    assert returned(found) == [36]
    never = run(machines(10), graph("a", 40, 20), policy=policy, failures=(Outage(0, 1),))
    reason = "t0 is ready and waits for a node of LAN 0: 1 of 1 suspected failed"
    assert never.outcome.job_outcomes[0].reason == reason


def test_what_is_given_up_or_done_elsewhere_is_not_sent() -> None:
    """The only node fails in every run: t0 is sent twice in vain, and t1, which waits, not once."""
    policy = replace(COMPETITIVE, queue_size=1, attempts=2)
    found = run(machines(1), graph("a", 4, 2), policy=policy, failure_rate=1, recovery=(1, 1))
    assert {one.task for one in runs(found)} <= {0, 1} and len(runs(found)) == 3
    assert "failed in all 2 attempts" in found.outcome.job_outcomes[0].reason


def test_what_is_lost_is_mapped_anew() -> None:
    """All that the first node has at 1 is lost, and can be sent again at 2. By then the second one,
    busy until 4, is better for the last task: 4 + 45 / 9 against 2 + 4 + 45 / 10.
    """
    graphs = graph("a", 40), graph("b", 36), graph("c", 45, arrival=F(1, 2))
    found = run(machines(10, 9), *graphs, failures=(Outage(0, 1, 2),))
    assert [(one.graph, one.machine) for one in runs(found)] == [
        (0, 0),
        (1, 1),
        (2, 0),
        (0, 0),
        (2, 1),
    ]
    assert returned(found) == [6, 4, 9]


def test_what_is_given_up_is_no_load() -> None:
    """The second graph is given up at 3, and t1 of it, for 2 on the fast node, never runs. The last
    task ends there at 10 + 9 / 4, before 4 + 9.
    """
    graphs = graph("a", 40), graph("b", 10, 8, arrival=1), graph("c", 9, arrival=4)
    policy = replace(COMPETITIVE, queue_size=1, attempts=1)
    found = run(machines(4, 1), *graphs, policy=policy, failures=(Outage(1, 2, 3),))
    assert returned(found) == [10, None, F(49, 4)]


def test_a_graph_has_no_memory_and_no_sight_of_what_is_on_its_way() -> None:
    table = Credibility(COMPETITIVE, float)
    table.learn(0, 4.0, 1.0)
    assert table.of(0) == 1
    assert variant("literal+competitive").scheduler == "competitive"
    with pytest.raises(InvalidInstanceError, match="competitive graphs know nothing"):
        variant("corrected+competitive+near-future-load")
