"""Grids: LANs of machines, connected by a WAN; drawn at random, or read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from annotated_types import MinLen

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import Fault
from dlopt.problems.dag import Instance, Lan, Link, Machine, Network
from dlopt.problems.validated_record import NonNegative, Positive, Record

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Node(Record):
    """A machine of a LAN.

    Parameters
    ----------
    power : Number, default 1
        Work per unit of time.
    delay : Number, default 0
        What every transfer to or from it takes beyond the latency of its LAN.
    id : str, optional
        By default the LAN's, a dot, and its place.
    """

    power: Positive = 1
    delay: NonNegative = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class LanSite(Record):
    """A LAN: its nodes, and the network between them and their gateway.

    Parameters
    ----------
    id : str
    nodes : tuple of Node
        At least one.
    bandwidth : Number, default 1
        Data per unit of time.
    latency : Number, default 0
    """

    id: str
    nodes: Annotated[tuple[Node, ...], MinLen(1)]
    bandwidth: Positive = 1
    latency: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Router(Record):
    """A node of the WAN, which computes nothing.

    Parameters
    ----------
    id : str
    delay : Number, default 0
        What passing through it takes.
    """

    id: str
    delay: NonNegative = 0


@dataclass(frozen=True, slots=True)
class WanLink(Record):
    """A bidirectional link of the WAN.

    Parameters
    ----------
    ends : (str, str)
        Two gateways or routers, by the identities of LANs and routers.
    bandwidth : Number
    latency : Number, default 0
    """

    ends: tuple[str, ...]
    bandwidth: Positive
    latency: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Grid(Record):
    """LANs and the WAN that joins their gateways.

    Parameters
    ----------
    lans : tuple of LanSite
    routers : tuple of Router
    wires : tuple of WanLink
        None: every two gateways are joined, by `bandwidth` and `latency`.
    bandwidth, latency : Number
        Of the WAN where there are no wires.
    same_machine : {"counted", "zero"}
        Whether data for a node on which it was made is sent to it, too.
    name : str
        No part of equality.

    Raises
    ------
    InvalidInstanceError
        With every fault; also if wires do not join all LANs.

    Notes
    -----
    Data takes the route that is fastest for 1000 units of it. Its transfer time is, as in equation
    7 of Chen 2001, the sum of the times of the links and of the delays of the routers between.

    Examples
    --------
    >>> sites = tuple(LanSite(name, (Node(),)) for name in "ab")
    >>> wires = (WanLink(("a", "r"), bandwidth=10), WanLink(("r", "b"), bandwidth=10, latency=1))
    >>> grid = Grid(sites, (Router("r", delay=2),), wires)
    >>> built = grid.built()
    >>> link = built.network.wan_links[0]
    >>> link.bandwidth, link.latency, built.hops(0, 1)
    (5, 3, 2)
    """

    grid: ClassVar[str] = "lans"

    lans: Annotated[tuple[LanSite, ...], MinLen(1)]
    routers: tuple[Router, ...] = ()
    wires: tuple[WanLink, ...] = ()
    bandwidth: Positive = 1
    latency: NonNegative = 0
    same_machine: Literal["counted", "zero"] = "counted"
    name: str = field(default="", compare=False)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: identities, wires that lead nowhere, gaps."""
        if not known.keys() >= {"lans", "routers", "wires"}:
            return
        lans, routers, wires = known["lans"], known["routers"], known["wires"]
        seen: set[str] = set()
        for name, items in (("lans", lans), ("routers", routers)):
            for index, item in enumerate(items):
                if not item.id:
                    yield Fault(f"{name}[{index}].id", item.id, "must not be empty")
                elif item.id in seen:
                    yield Fault(f"{name}[{index}].id", item.id, "must be given once only")
                seen.add(item.id)
        whole = True
        for index, wire in enumerate(wires):
            path = f"wires[{index}].ends"
            if len(wire.ends) != 2 or wire.ends[0] == wire.ends[-1]:
                yield Fault(path, wire.ends, "must be two different LANs or routers")
                whole = False
            for end in wire.ends:
                if end not in seen:
                    yield Fault(path, end, "must be the id of a LAN or a router")
                    whole = False
        if whole and wires:
            yield from _disconnected(lans, wires)

    def built(self) -> BuiltGrid:
        """Return machines and network as a `dlopt.problems.dag.Instance` has them."""
        machines = tuple(
            Machine(node.id or f"{site.id}.{place}", node.power, at, node.delay)
            for at, site in enumerate(self.lans)
            for place, node in enumerate(site.nodes)
        )
        routes = _fastest_routes(self)
        links = tuple(
            Link(source, target, simplest(1 / route.unit), simplest(route.latency))
            for (source, target), route in routes.items()
        )
        network = Network(
            "scheduler",
            self.same_machine,
            bandwidth=self.bandwidth,
            latency=self.latency,
            lans=tuple(Lan(site.id, site.bandwidth, site.latency) for site in self.lans),
            wan_links=links,
        )
        wires = {pair: route.wires for pair, route in routes.items()}
        return BuiltGrid(machines, network, wires, self)


class BuiltGrid(NamedTuple):
    """Machines, the network between them, and the numbers of links between two LANs.

    A pair of LANs that `wires` does not contain, the lower first, is connected by one link. `grid`
    is what they were built from, if it is known.
    """

    machines: tuple[Machine, ...]
    network: Network
    wires: Mapping[tuple[int, int], int] = MappingProxyType({})
    grid: Grid | None = None

    @classmethod
    def of(cls, instance: Instance) -> BuiltGrid:
        """Return the machines and network of an instance."""
        return cls(tuple(instance.machines), instance.network)

    def hops(self, source: int, target: int) -> int:
        """Return the number of links between two LANs."""
        pair = (source, target) if source < target else (target, source)
        return 0 if source == target else self.wires.get(pair, 1)


class _Route(NamedTuple):
    latency: Fraction
    unit: Fraction
    wires: int


REFERENCE = 1000
"""Amount of data for which the fastest route is chosen, in KB; chosen by hand, in the middle of the
10 to 2000 KB that a task of the thesis sends."""


def wan_graph(
    lans: Iterable[LanSite], wires: Iterable[WanLink], delays: Mapping[str, Number]
) -> nx.Graph[str]:
    """Return the WAN with transfer times as weights; half a router's delay counts on each side."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(site.id for site in lans)
    for wire in wires:
        one, other = wire.ends
        latency, unit = exact(wire.latency), 1 / exact(wire.bandwidth)
        through = (exact(delays.get(one, 0)) + exact(delays.get(other, 0))) / 2
        weight = float(latency + through + REFERENCE * unit)
        if not graph.has_edge(one, other) or weight < graph[one][other]["weight"]:
            graph.add_edge(one, other, weight=weight, route=_Route(latency + through, unit, 1))
    return graph


def _fastest_routes(grid: Grid) -> dict[tuple[int, int], _Route]:
    """Return the fastest route between every two LANs, the lower first, if there are links."""
    if not grid.wires:
        return {}
    import networkx as nx

    places = {site.id: at for at, site in enumerate(grid.lans)}
    graph = wan_graph(grid.lans, grid.wires, {router.id: router.delay for router in grid.routers})
    routes = {}
    for at, site in enumerate(grid.lans):
        for name, path in nx.single_source_dijkstra_path(graph, site.id).items():
            if places.get(name, -1) > at:
                steps = [graph[one][other]["route"] for one, other in pairwise(path)]
                latency = sum((step.latency for step in steps), Fraction(0))
                unit = sum((step.unit for step in steps), Fraction(0))
                routes[at, places[name]] = _Route(latency, unit, len(steps))
    return routes


def _disconnected(lans: tuple[LanSite, ...], wires: tuple[WanLink, ...]) -> Iterable[Fault]:
    import networkx as nx

    reached = nx.node_connected_component(wan_graph(lans, wires, {}), lans[0].id)
    for site in lans:
        if site.id not in reached:
            yield Fault("wires", site.id, f"must join every LAN with {lans[0].id}")
