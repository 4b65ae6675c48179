"""Bids: by hand, and compiled to the last bit as in plain Python."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from dlopt.generation import generate
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Outage, Task
from dlopt.simulation import grid
from dlopt.simulation.grid import FailureModel, GridRun, Policy, simulate_grid, variant
from dlopt.simulation.grid import grid as grid_engine
from dlopt.simulation.grid.sweep import GridExperiment

NETWORK = Network("scheduler", "counted", lans=(Lan("l", latency=1), Lan("r")))
QUICK = Policy(external_time=0, internal_time=0)


def one(*tasks: Task, edges: tuple[Edge, ...] = (), due: int | None = None) -> Graph:
    return Graph("g", tasks, edges, absolute_deadline=due, lan=0)


def lan_of(run: GridRun) -> int | None:
    return run.outcome.job_outcomes[0].lan


@pytest.mark.parametrize(("power", "lan"), [(4, 1), (2, 0)])
def test_the_lan_that_would_be_done_first_gets_the_task(power: int, lan: int) -> None:
    """At home 1 + 4 + 1; in the other LAN 1 + 4 / power + 1, and over the WAN 1 and 1."""
    machines = (Machine("m", 1, 0), Machine("n", power, 1))
    graph = Graph("g", (Task("t", 4),), lan=0, input=1, output=1)
    network = Network("scheduler", "counted", lans=(Lan("l"), Lan("r")), bandwidth=1)
    run = simulate_grid(Instance(machines, (graph,), network), policy=QUICK, exact_numbers=True)
    assert lan_of(run) == lan


def test_what_waits_counts_in_a_bid() -> None:
    """The faster LAN has a long task: the next one is better off at home."""
    machines = (Machine("m", 1, 0), Machine("n", 2, 1))
    first = Graph("f", (Task("t", 40),), lan=1)
    second = Graph("g", (Task("t", 8),), arrival=5, lan=0)
    instance = Instance(machines, (first, second), NETWORK)
    run = simulate_grid(instance, policy=QUICK, exact_numbers=True)
    assert [fate.lan for fate in run.outcome.job_outcomes] == [1, 0]


ON_THE_WAY = replace(QUICK, bid_load="near-future")


def two_for_the_fast_lan(second: int, message: int, policy: Policy) -> GridRun:
    """Simulate two tasks of one LAN. Data takes 20 to the other one, which is four times as fast;
    within a LAN it takes 1.
    """
    machines = (Machine("m", 1, 0), Machine("n", 4, 1))
    graphs = (
        Graph("f", (Task("t", 80),), lan=0, input=20),
        Graph("g", (Task("t", 36),), arrival=second, lan=0, input=20),
    )
    network = Network("scheduler", "counted", 1, lans=(Lan("l", 20), Lan("r", 20)))
    instance = Instance(machines, graphs, network)
    run = simulate_grid(instance, policy=policy, message=message, exact_numbers=True)
    assert run.check() == ()
    return run


def test_what_is_on_its_way_counts_if_it_should() -> None:
    """The first is on its way until 20, and runs from 21 to 41. The second takes 1 + 36 at home; in
    the other LAN 20 + 1 + 9, it seems, but with the first before it, it ends there at 50.
    """
    current, future = (two_for_the_fast_lan(5, 0, policy) for policy in (QUICK, ON_THE_WAY))
    assert [fate.lan for fate in current.outcome.job_outcomes] == [1, 1]
    assert [fate.lan for fate in future.outcome.job_outcomes] == [1, 0]
    assert [fate.returned for fate in current.outcome.job_outcomes] == [41, 50]
    assert [fate.returned for fate in future.outcome.job_outcomes] == [41, 42]


@pytest.mark.parametrize(("second", "lan"), [(3, 1), (5, 0)])
def test_a_lan_hears_of_what_is_on_its_way_by_a_message(second: int, lan: int) -> None:
    """The first is assigned at 4; the other LAN hears of it at 6, and of a request of 3 at 5."""
    future = two_for_the_fast_lan(second, 2, ON_THE_WAY)
    assert [fate.lan for fate in future.outcome.job_outcomes] == [1, lan]
    current = two_for_the_fast_lan(second, 2, QUICK)
    moved = 20 * (1 + lan)
    assert current.outcome.external == 8 + 40 and future.outcome.external == 8 + moved + 2 + 2 * lan


@pytest.mark.parametrize("data", [0, 3])
def test_what_has_come_is_counted_once(data: int) -> None:
    """Data that is there before its message, or after it: the first runs for 10, and for 10 more.
    The next one sees that; it would be sooner at home if 30 were before it.
    """
    machines = (Machine("m", 1, 0), Machine("n", 4, 1))
    graphs = (
        Graph("f", (Task("t", 40), Task("u", 40)), (Edge(0, 1),), lan=0, input=data),
        Graph("g", (Task("t", 24),), arrival=10, lan=0),
    )
    network = Network("scheduler", "counted", 1, lans=(Lan("l", 20), Lan("r", 20)))
    instance = Instance(machines, graphs, network)
    current, future = (
        simulate_grid(instance, policy=policy, message=2, exact_numbers=True)
        for policy in (QUICK, ON_THE_WAY)
    )
    assert [fate.lan for fate in future.outcome.job_outcomes] == [1, 1]
    assert future.outcome.job_outcomes == current.outcome.job_outcomes


def test_a_lan_without_a_living_node_does_not_bid() -> None:
    machines = (Machine("m", 9, 0), Machine("n", 1, 1))
    first, second = one(Task("t", 9)), Graph("h", (Task("t", 9),), arrival=50, lan=0)
    instance = Instance(machines, (first, second), NETWORK)
    failure_model = FailureModel(failures=(Outage(0, 0),))
    run = simulate_grid(instance, policy=QUICK, failure_model=failure_model, exact_numbers=True)
    assert [fate.lan for fate in run.outcome.job_outcomes] == [0, 1]
    assert run.outcome.job_outcomes[0].reason


def outcomes(monkeypatch: pytest.MonkeyPatch, simulate: Any, *, compiled: bool) -> tuple[Any, Any]:
    monkeypatch.setattr(grid_engine, "COMPILATION_THRESHOLD", 1 if compiled else sys.maxsize)
    run = simulate()
    return run.outcome, run.trace


CASES = {
    "a light load": GridExperiment(lans=4, nodes=3, tasks=25),
    "an overload": GridExperiment(lans=3, nodes=2, tasks=30, interval=500),
    "failures": GridExperiment(
        lans=3, nodes=3, tasks=20, interval=1500, failure_rate=0.2, queue_size=2
    ),
    "literal": GridExperiment(variant="literal", lans=3, nodes=3, tasks=20, failure_rate=0.05),
    "what is on its way": GridExperiment(
        variant="corrected+near-future-load", topology="tiers", lans=4, nodes=2, tasks=15
    ),
    "as far apart as they are": GridExperiment(topology="tiers", lans=4, nodes=2, tasks=15),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
def test_compiled_bids_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")

    def simulate() -> GridRun:
        return CASES[name].run(keep_trace=True)

    plain = outcomes(monkeypatch, simulate, compiled=False)
    assert outcomes(monkeypatch, simulate, compiled=True) == plain


@pytest.mark.compiles
def test_costs_and_dead_lans_are_bid_for_in_plain_python_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tasks with costs of their own on machines are not compiled; dead LANs have no bid."""
    pytest.importorskip("numba")
    machines = tuple(Machine(f"m{k}", 1, k // 2) for k in range(4))
    costs = Task("c", costs=(3, 4, None, 5))
    graphs = tuple(
        Graph(f"g{k}", (Task("t", 5), costs if k % 2 else Task("u", 2)), (Edge(0, 1),), k, lan=0)
        for k in range(6)
    )
    failure_model = FailureModel(failures=(Outage(0, 1, 30), Outage(1, 1), Outage(2, 2)))
    instance = Instance(machines, graphs, NETWORK)

    def simulate() -> GridRun:
        return simulate_grid(instance, policy=QUICK, failure_model=failure_model)

    plain = outcomes(monkeypatch, simulate, compiled=False)
    assert outcomes(monkeypatch, simulate, compiled=True) == plain


def test_without_a_compiler_bids_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES["a light load"]
    plain = outcomes(monkeypatch, case.run, compiled=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "dlopt.simulation.grid.bids_numba", raising=False)
    monkeypatch.delattr(grid, "bids_numba", raising=False)  # else it is not imported again
    assert outcomes(monkeypatch, case.run, compiled=True) == plain
    assert not hasattr(grid, "bids_numba")


def test_exact_simulations_are_never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = generate("dag", "chen", lans=2, nodes=2, tasks=3, fewest=2, most=4)
    monkeypatch.setattr(grid_engine, "COMPILATION_THRESHOLD", 1)
    run = simulate_grid(instance, policy=variant("corrected"), exact_numbers=True)
    assert run.check() == () and run.tolerance == 0
