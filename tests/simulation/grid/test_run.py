"""Bad input, defined outcomes, measures, and the optimum beside what was simulated."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation import generate
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Outage, Task
from dlopt.result import Limits
from dlopt.simulation.grid import (
    TOPOLOGIES,
    FailureModel,
    Grid,
    LanSite,
    Node,
    Policy,
    Router,
    WanLink,
    Workload,
    read_grid,
    simulate_grid,
    write_grid,
)
from dlopt.simulation.grid.offline_optimum import compare_with_optimum
from tests.simulation.grid.grids import instances, policies

F = Fraction
LANS = (Lan("l"), Lan("r"))
NETWORK = Network("scheduler", "counted", lans=LANS)
ONE = Machine("m", 1, 0)


def plain(graph: Graph, *machines: Machine) -> Instance:
    return Instance(machines or (ONE,), (graph,), NETWORK)


GRAPH = Graph("g", (Task("t", 4),), lan=1, absolute_deadline=9)


def test_a_lan_without_nodes_sends_its_tasks_away() -> None:
    run = simulate_grid(plain(GRAPH), exact_numbers=True)
    assert run.outcome.remote == 1 and run.outcome.job_outcomes[0].lan == 0
    assert run.check() == ()


def test_a_task_that_no_lan_can_run_is_refused() -> None:
    machines = (ONE, Machine("n", 1, 1))
    graph = replace(GRAPH, tasks=(Task("s", costs=(1, None)), Task("t", costs=(None, 1))))
    run = simulate_grid(plain(graph, *machines), policy=Policy(bidders=1))
    assert run.outcome.job_outcomes[0].reason == "no LAN has nodes for all of its subtasks"
    assert run.check() == ()
    with pytest.raises(NotApplicableError, match="g was not completed: no LAN"):
        compare_with_optimum(run)


def test_whoever_is_not_in_the_sample_may_be_able() -> None:
    run = simulate_grid(plain(GRAPH), policy=Policy(bidders=1))
    assert run.outcome.met == 1


def test_nodes_that_are_dead_for_ever() -> None:
    failure_model = FailureModel(failures=(Outage(0, 0),))
    run = simulate_grid(plain(GRAPH), failure_model=failure_model)
    reason = "t is ready and waits for a node of LAN 0: 1 of 1 suspected failed"
    assert run.outcome.job_outcomes[0].reason == reason
    assert (run.outcome.returned, run.outcome.response, run.outcome.utilization) == (0, None, None)
    assert run.check() == ()
    late = replace(GRAPH, arrival=50, absolute_deadline=None)
    again = simulate_grid(
        Instance((ONE, Machine("n", 1, 1)), (GRAPH, replace(late, id="h")), NETWORK),
        failure_model=FailureModel(failures=(Outage(0, 0), Outage(1, 0))),
    )
    assert [fate.returned for fate in again.outcome.job_outcomes] == [None, None]


@pytest.mark.parametrize(
    ("until", "words"),
    [
        (F(1, 100), "in transit to a LAN"),
        (F(2, 100), "t is ready and waits for a node of LAN 0: 0 of 1 suspected failed"),
        (F(1, 10), "t waits for machine m, which is up"),
        (F(9, 2), "u waits for machine m, which is up"),
        (20, "results in transit to the home LAN"),
    ],
)
def test_a_simulation_that_is_stopped_says_where(until: Fraction, words: str) -> None:
    tasks = (Task("t", 4), Task("u", 1))
    graph = replace(GRAPH, tasks=tasks, edges=(Edge(0, 1),), output=10)
    run = simulate_grid(plain(graph), until=until, exact_numbers=True)
    assert run.outcome.job_outcomes[0].reason == f"stopped at {float(until):g}: {words}"
    assert run.check() == ()


def test_what_is_no_grid_is_refused() -> None:
    direct = Instance((Machine("m"),), (Graph("g", (Task("t", 1),)),))
    with pytest.raises(NotApplicableError, match="convention must be scheduler"):
        simulate_grid(direct)
    no_lans = replace(direct, network=Network("scheduler"))
    with pytest.raises(NotApplicableError, match="machines belong to no LAN"):
        simulate_grid(no_lans)
    with pytest.raises(NotApplicableError, match="graph g has no home LAN"):
        simulate_grid(plain(Graph("g", (Task("t", 1),))))
    with pytest.raises(InvalidInstanceError, match=r"failures\[0\].machine: must be one of the 1"):
        simulate_grid(plain(GRAPH), failure_model=FailureModel(failures=(Outage(1, 0),)))
    for name in ("period", "until"):
        with pytest.raises(NotApplicableError, match=f"{name} must be positive, got 0"):
            simulate_grid(plain(GRAPH), **{name: 0})
    for bad in ({"queue_size": 0}, {"trap": 0}, {"attempts": 0}, {"memory": 2}, {"full": "x"}):
        with pytest.raises(InvalidInstanceError, match=next(iter(bad))):
            Policy(**bad)  # type: ignore[arg-type]
    for ends in ((1,), (2, 1)):
        with pytest.raises(InvalidInstanceError, match="must be two numbers"):
            FailureModel(recovery=ends)


def test_measures_add_up() -> None:
    grid = TOPOLOGIES["tiers"](lans=4, nodes=3, routers=3).built()
    run = simulate_grid(
        (grid, Workload(tasks=30, interval=2000)),
        failure_model=FailureModel(failure_rate=F(1, 50)),
        period=1800,
    )
    outcome, trace = run.outcome, run.trace
    assert run.check() == () and trace is not None
    for name in ("external", "internal", "useful", "wasted", "sent", "resent", "failures"):
        lans = sum(getattr(tally, name) for tally in outcome.lans)
        assert sum(getattr(tally, name) for _, tally in outcome.periods) == pytest.approx(lans)
    assert outcome.sent == len(trace.runs)
    assert outcome.resent == sum(fate.resent for fate in outcome.job_outcomes) > 0
    assert outcome.failures == len(trace.down) > 0
    done = [one for one in trace.runs if one.fate == "done"]
    useful = sum(float(one.end or 0) - float(one.start or 0) for one in done)
    assert sum(tally.useful for tally in outcome.lans) == pytest.approx(useful)
    kept = simulate_grid(
        (grid, Workload(tasks=30, interval=2000)),
        failure_model=FailureModel(failure_rate=F(1, 50)),
        period=1800,
        keep_trace=False,
    )
    assert kept.outcome == outcome
    with pytest.raises(NotApplicableError, match="trace was not kept"):
        kept.check()
    with pytest.raises(NotApplicableError, match="trace was not kept"):
        compare_with_optimum(kept)


def test_a_family_of_instances_can_be_simulated() -> None:
    instance = generate("dag", "chen", lans=3, nodes=3, tasks=8)
    exact, floating = (simulate_grid(instance, exact_numbers=value) for value in (True, False))
    assert exact.check() == floating.check() == ()
    assert exact.outcome.sent == floating.outcome.sent


@pytest.mark.parametrize(
    "objective", ["makespan", "total-response-time", "tardy-then-response-time"]
)
def test_the_optimum_is_no_worse_than_what_was_simulated(objective: str) -> None:
    """Two nodes, one of them three times as fast; the scheduler sees one graph after the other."""
    machines = (Machine("slow", 1, 0), Machine("fast", 3, 0))
    graphs = tuple(
        Graph(name, (Task("a", 3), Task("b", 6)), (Edge(0, 1),), at, at + 4, 0)
        for name, at in (("g", 0), ("h", 1))
    )
    run = simulate_grid(Instance(machines, graphs, NETWORK), exact_numbers=True)
    assert run.check() == ()
    standing = compare_with_optimum(run, objective=objective, limits=Limits(time_s=20))
    assert standing.status == "optimal" and standing.value == standing.bound
    assert standing.value is not None and standing.value <= standing.simulated
    assert standing.objective == objective
    least = {"makespan": 6, "total-response-time": 8, "tardy-then-response-time": (1, 8)}
    assert standing.value == least[objective]


@pytest.mark.property
@given(
    instances(most_graphs=2),
    policies(),
    st.sampled_from(["makespan", "total-response-time", "tardy-then-response-time"]),
)
def test_no_plan_is_better_than_the_bound(
    instance: Instance, policy: Policy, objective: str
) -> None:
    run = simulate_grid(instance, policy=policy, exact_numbers=True)
    if run.outcome.returned < len(instance.graphs):
        return
    due = all(graph.absolute_deadline is not None for graph in instance.graphs)
    standing = compare_with_optimum(
        run, objective=objective if due else "makespan", method="bound-critical-path"
    )
    assert standing.bound is not None
    assert standing.bound <= standing.simulated


# grids ------------------------------------------------------------------------------------------


def test_grids_that_are_drawn() -> None:
    for name, made in TOPOLOGIES.items():
        grid = made(lans=6, nodes=2, seed=3)
        assert grid == made(lans=6, nodes=2, seed=3), name
        assert grid != made(lans=6, nodes=2, seed=4), name
        built = grid.built()
        assert len(built.machines) == 12
        assert built.hops(2, 2) == 0 and built.hops(1, 4) == built.hops(4, 1) >= 1
    with pytest.raises(NotApplicableError, match="0 LANs of 10"):
        TOPOLOGIES["mesh"](lans=0)
    with pytest.raises(NotApplicableError, match="routers must be positive"):
        TOPOLOGIES["tiers"](routers=0)
    assert TOPOLOGIES["tiers"](lans=2, nodes=1, routers=1).built().hops(0, 1) == 2


def test_the_faster_of_two_ways_is_taken() -> None:
    sites = tuple(LanSite(name, (Node(),)) for name in "abc")
    slow = WanLink(("a", "b"), bandwidth=1)
    wires = (
        slow,
        WanLink(("b", "a"), bandwidth=2),
        slow,
        WanLink(("c", "a"), 10),
        WanLink(("c", "b"), 10),
    )
    built = Grid(sites, wires=wires).built()
    ways = {(link.source, link.target): link.bandwidth for link in built.network.wan_links}
    assert ways == {(0, 1): 5, (0, 2): 10, (1, 2): 10}
    assert built.hops(0, 1) == 2


def test_grids_as_files(tmp_path) -> None:
    grid = TOPOLOGIES["tiers"](lans=3, nodes=2, routers=2)
    write_grid(grid, tmp_path / "g.json")
    assert read_grid(tmp_path / "g.json", exact_numbers=True) == grid
    for text, words in (
        ("[]", "must be a JSON object"),
        ("{}", "grid: is missing"),
        ('{"grid": "lans", "version": 2, "lans": []}', "version: must be 1"),
        ('{"grid": "lans", "version": 1, "lans": [{"id": "a", "nodes": []}]}', r"lans\[0\].nodes"),
        (
            '{"grid": "lans", "version": 1, "bandwidth": 0, "lans": [{"id": "a", "nodes": [{}]}]}',
            "bandwidth: must be positive",
        ),
    ):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InvalidInstanceError, match=words):
            read_grid(tmp_path / "bad.json")
    sites = tuple(LanSite(name, (Node(),)) for name in "ab")
    for changes, words in (
        ({"lans": (sites[0], sites[0])}, "given once"),
        ({"routers": (Router(""),)}, "must not be empty"),
        ({"wires": (WanLink(("a", "z"), 1),)}, "must be the id of a LAN or a router"),
        ({"wires": (WanLink(("a", "a"), 1),)}, "two different"),
        ({"wires": (WanLink(("a", "r"), 1),), "routers": (Router("r"),)}, "must join every LAN"),
    ):
        with pytest.raises(InvalidInstanceError, match=words):
            Grid(**{"lans": sites, **changes})  # type: ignore[arg-type]
