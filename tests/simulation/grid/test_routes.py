"""Routes of a WAN by hand, and faults in them that are found; data and load as options."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.simulation.grid import (
    ROUTE_KINDS,
    TOPOLOGIES,
    BuiltGrid,
    FailureModel,
    Grid,
    LanSite,
    Node,
    Router,
    WanLink,
    Workload,
    simulate_grid,
    topology,
    violations_routes,
)
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.sweep import GridExperiment

F = Fraction
SITES = tuple(LanSite(name, (Node(),)) for name in "abc")
LINE = Grid(
    SITES,
    (Router("r", delay=2), Router("s", delay=3)),
    (
        WanLink(("a", "r"), bandwidth=10),
        WanLink(("r", "s"), bandwidth=10, latency=1),
        WanLink(("s", "b"), bandwidth=10),
        WanLink(("c", "s"), bandwidth=5),
    ),
)


def kinds(built: BuiltGrid) -> set[str]:
    return {violation.kind for violation in violations_routes(built)}


def test_data_is_stored_and_forwarded() -> None:
    """From a to b: three wires of 10, a latency of 1, and two routers, of 2 and 3."""
    built = LINE.built()
    link = built.network.wan_links[0]
    assert (link.source, link.target, link.latency, link.bandwidth) == (0, 1, 6, F(10, 3))
    assert built.hops(0, 1) == 3 and built.grid is LINE
    assert kinds(built) == set()
    assert violations_routes(TOPOLOGIES["mesh"](lans=2, nodes=1).built()) == ()
    assert violations_routes(BuiltGrid(built.machines, built.network)) == ()


@pytest.mark.parametrize("name", ["tiers", "waxman"])
@pytest.mark.parametrize("seed", range(3))
def test_routes_of_grids_that_are_drawn(name: str, seed: int) -> None:
    assert kinds(TOPOLOGIES[name](lans=9, nodes=1, seed=seed).built()) == set()


def changed(built: BuiltGrid, **changes: Any) -> BuiltGrid:
    links = built.network.wan_links
    first = replace(links[0], **changes)
    return built._replace(network=replace(built.network, wan_links=(first, *links[1:])))


def test_planted_routes_are_found() -> None:
    built = LINE.built()
    found = {
        "no-route": built._replace(network=replace(built.network, wan_links=())),
        "slow-route": changed(built, latency=9),  # a router is counted twice
        "wrong-route": changed(built, bandwidth=10),  # the bottleneck, not the sum
        "wrong-hop-count": built._replace(wires={**built.wires, (0, 1): 2}),
    }
    assert set(found) == set(ROUTE_KINDS)
    for kind, planted in found.items():
        assert kinds(planted) == {kind}
    same = changed(built, latency=206, bandwidth=10)  # 206 + 100 = 6 + 300, but no way is so
    assert kinds(same) == {"wrong-route"}


def test_a_fault_in_the_search_for_routes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routers are forgotten: all data is too early, and the trace agrees with the instance."""
    monkeypatch.setattr(topology, "wan_graph", without_routers(topology.wan_graph))
    built = LINE.built()
    assert kinds(built) == {"wrong-route"}
    run = simulate_grid((built, Workload(tasks=4, interval=100)))
    assert {violation.kind for violation in run.check()} == {"wrong-route"}


def without_routers(graph: Any) -> Any:
    return lambda lans, wires, delays: graph(lans, wires, {})


# tiers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("routers", [1, 2, 3, 10])
def test_a_wan_of_routers(routers: int) -> None:
    grid = TOPOLOGIES["tiers"](lans=12, nodes=1, routers=routers, seed=1)
    wan = [wire.ends for wire in grid.wires if wire.ends[0].startswith("wan")]
    assert len(grid.routers) == routers and len(grid.wires) == len(wan) + 12
    assert len(set(wan)) == len(wan) >= routers - 1
    beside = [sum(router.id in ends for ends in wan) for router in grid.routers]
    assert min(beside) >= min(2, routers - 1)  # no wire of the WAN is alone, if there are enough
    assert kinds(grid.built()) == set()


# load and data ----------------------------------------------------------------------------------

SMALL = GridExperiment(topology="tiers", lans=3, nodes=2, tasks=8, slowdown=(0.3, 1.95))


def test_load_is_drawn_and_checked() -> None:
    run = SMALL.run(keep_trace=True)
    assert run.check() == ()
    faster = replace(run, failure_model=FailureModel(SMALL.failure_rate, slowdown=(1, 1.95)))
    slower = replace(run, failure_model=FailureModel(SMALL.failure_rate, slowdown=(0.3, 1)))
    for planted in (faster, slower):
        assert {violation.kind for violation in planted.check()} >= {"duration"}
    with pytest.raises(InvalidInstanceError, match="slowdown"):
        replace(SMALL, slowdown=(2, 1)).run()


def test_load_beyond_what_is_said_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Machines.start_next

    def planted(self: Machines, node: Any) -> None:
        there = [attempt for attempt in node.queue if attempt.start is None]
        for attempt in there:
            attempt.duration = attempt.estimate * 3
        start(self, node)

    monkeypatch.setattr(Machines, "start_next", planted)
    assert "duration" in {violation.kind for violation in SMALL.run(keep_trace=True).check()}


def test_the_data_of_a_task() -> None:
    """Its subtasks send as much, or each its own; all else is the same."""
    alike, each = (list(Workload(tasks=5, data_per=per).graphs(lans=2)) for per in ("task", "edge"))
    for one, other in zip(alike, each, strict=True):
        assert len({edge.data for edge in one.edges}) == 1 < len({e.data for e in other.edges})
        assert one.edges[0] == other.edges[0]
        assert replace(one, edges=other.edges) == other
    case = replace(SMALL, data_per="edge", subtask_data=7)
    assert max(e.data for g in case.workload.graphs(2) for e in g.edges) <= 7
    assert replace(SMALL, memory=0.5).policy.memory == 0.5
