"""Grids: LANs of machines, joined by a WAN; drawn, or read from a file."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from annotated_types import MinLen

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.files import load_json, replacing, to_text
from dlopt.problems import records
from dlopt.problems.dag import Instance, Lan, Link, Machine, Network
from dlopt.problems.records import NonNegative, Positive, Record

if TYPE_CHECKING:
    import networkx as nx

VERSION = 1
"""Version of the file format."""

MOST_NODES = 100_000


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
class Site(Record):
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
class Wire(Record):
    """A connection of the WAN, both ways.

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
    lans : tuple of Site
    routers : tuple of Router
    wires : tuple of Wire
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
    Data goes the way that is fastest for 1000 units of it, and takes over it, as in equation 7 of
    Chen 2001, the sum of the times of its wires and of the delays of the routers between.

    Examples
    --------
    >>> sites = tuple(Site(name, (Node(),)) for name in "ab")
    >>> wires = (Wire(("a", "r"), bandwidth=10), Wire(("r", "b"), bandwidth=10, latency=1))
    >>> grid = Grid(sites, (Router("r", delay=2),), wires)
    >>> built = grid.built()
    >>> link = built.network.wan_links[0]
    >>> link.bandwidth, link.latency, built.hops(0, 1)
    (5, 3, 2)
    """

    grid: ClassVar[str] = "lans"

    lans: Annotated[tuple[Site, ...], MinLen(1)]
    routers: tuple[Router, ...] = ()
    wires: tuple[Wire, ...] = ()
    bandwidth: Positive = 1
    latency: NonNegative = 0
    same_machine: Literal["counted", "zero"] = "counted"
    name: str = field(default="", compare=False)

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
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
            yield from _gaps(lans, wires)

    def built(self) -> Built:
        """Return machines and network as a `dlopt.problems.dag.Instance` has them."""
        machines = tuple(
            Machine(node.id or f"{site.id}.{place}", node.power, at, node.delay)
            for at, site in enumerate(self.lans)
            for place, node in enumerate(site.nodes)
        )
        ways = _ways(self)
        links = tuple(
            Link(source, target, simplest(1 / way.unit), simplest(way.latency))
            for (source, target), way in ways.items()
        )
        network = Network(
            "scheduler",
            self.same_machine,
            bandwidth=self.bandwidth,
            latency=self.latency,
            lans=tuple(Lan(site.id, site.bandwidth, site.latency) for site in self.lans),
            wan_links=links,
        )
        return Built(machines, network, {pair: way.wires for pair, way in ways.items()})


class Built(NamedTuple):
    """Machines, the network between them, and how many wires there are between two LANs.

    A pair of LANs that `wires` does not name, the lower first, is joined by one.
    """

    machines: tuple[Machine, ...]
    network: Network
    wires: Mapping[tuple[int, int], int] = MappingProxyType({})

    @classmethod
    def of(cls, instance: Instance) -> Built:
        """Return those of an instance."""
        return cls(instance.machines, instance.network)

    def hops(self, source: int, target: int) -> int:
        """Return how many wires data crosses from a LAN to another."""
        pair = (source, target) if source < target else (target, source)
        return 0 if source == target else self.wires.get(pair, 1)


class _Way(NamedTuple):
    latency: Fraction
    unit: Fraction
    wires: int


REFERENCE = 1000
"""Data goes the way that is fastest for so much of it."""


def _graph(
    lans: Iterable[Site], wires: Iterable[Wire], delays: Mapping[str, Number]
) -> nx.Graph[str]:
    """Return the WAN with what each wire takes; half the delay of a router stands on each side."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(site.id for site in lans)
    for wire in wires:
        one, other = wire.ends
        latency, unit = exact(wire.latency), 1 / exact(wire.bandwidth)
        through = (exact(delays.get(one, 0)) + exact(delays.get(other, 0))) / 2
        weight = float(latency + through + REFERENCE * unit)
        if not graph.has_edge(one, other) or weight < graph[one][other]["weight"]:
            graph.add_edge(one, other, weight=weight, way=_Way(latency + through, unit, 1))
    return graph


def _ways(grid: Grid) -> dict[tuple[int, int], _Way]:
    """Return the fastest way between every two LANs, the lower first, if there are wires."""
    if not grid.wires:
        return {}
    import networkx as nx

    places = {site.id: at for at, site in enumerate(grid.lans)}
    graph = _graph(grid.lans, grid.wires, {router.id: router.delay for router in grid.routers})
    ways = {}
    for at, site in enumerate(grid.lans):
        for name, path in nx.single_source_dijkstra_path(graph, site.id).items():
            if places.get(name, -1) > at:
                steps = [graph[one][other]["way"] for one, other in pairwise(path)]
                latency = sum((step.latency for step in steps), Fraction(0))
                unit = sum((step.unit for step in steps), Fraction(0))
                ways[at, places[name]] = _Way(latency, unit, len(steps))
    return ways


def _gaps(lans: tuple[Site, ...], wires: tuple[Wire, ...]) -> Iterable[Fault]:
    import networkx as nx

    reached = nx.node_connected_component(_graph(lans, wires, {}), lans[0].id)
    for site in lans:
        if site.id not in reached:
            yield Fault("wires", site.id, f"must join every LAN with {lans[0].id}")


# drawn ------------------------------------------------------------------------------------------


def _sites(draw: random.Random, lans: int, nodes: int) -> tuple[Site, ...]:
    """Return LANs as in section 4.2 of the thesis: seconds and KB."""
    if lans < 1 or nodes < 1 or lans * nodes > MOST_NODES:
        raise NotApplicableError(f"a grid has 1 to {MOST_NODES} nodes, got {lans} LANs of {nodes}")
    return tuple(
        Site(
            f"lan{lan}",
            tuple(
                Node(
                    simplest(Fraction(draw.randint(30, 100), 100)),
                    simplest(Fraction(draw.randint(51, 5060), 1000)),
                )
                for _ in range(nodes)
            ),
            bandwidth=100,
        )
        for lan in range(lans)
    )


def mesh(*, lans: int = 100, nodes: int = 10, seed: int = 0) -> Grid:
    """Return a grid whose LANs are joined two by two, at 10 KB/s.

    Parameters
    ----------
    lans, nodes : int
        100 of 10 as in the thesis.
    seed : int
        Of powers, from .3 to 1, and delays, from 51 to 5060 ms.
    """
    draw = random.Random(f"grid {seed}")
    return Grid(_sites(draw, lans, nodes), bandwidth=10, name=f"mesh-{lans}x{nodes}")


def tiers(*, lans: int = 100, nodes: int = 10, routers: int = 10, seed: int = 0) -> Grid:
    """Return a grid as in chapter 5 of the thesis: LANs on a random WAN of routers.

    A tree of routers as Tiers makes it, with a second way for every other router; each LAN hangs
    on one of them. Wires carry 10 KB/s, routers delay by 51 to 5060 ms.
    """
    if routers < 1:
        raise NotApplicableError(f"routers must be positive, got {routers}")
    draw = random.Random(f"grid {seed}")
    sites = _sites(draw, lans, nodes)
    names = [f"wan{router}" for router in range(routers)]
    made = tuple(Router(name, simplest(Fraction(draw.randint(51, 5060), 1000))) for name in names)
    pairs = {(draw.randrange(at), at) for at in range(1, routers)}
    for at in range(0, routers, 2):
        other = draw.randrange(routers)
        if other != at:
            pairs.add((min(at, other), max(at, other)))
    wires = [Wire((names[one], names[other]), bandwidth=10) for one, other in sorted(pairs)]
    wires += [Wire((site.id, names[draw.randrange(routers)]), bandwidth=10) for site in sites]
    return Grid(sites, made, tuple(wires), name=f"tiers-{lans}x{nodes}-{routers}")


def waxman(*, lans: int = 100, nodes: int = 10, seed: int = 0) -> Grid:
    """Return a grid on Waxman's random graph: near LANs are joined more often than far ones.

    From networkx; the parts of a graph that falls apart are joined by one wire each. The latency
    of a wire is its length, up to 1.4 s; wires carry 10 KB/s.
    """
    import networkx as nx

    draw = random.Random(f"grid {seed}")
    sites = _sites(draw, lans, nodes)
    graph = nx.waxman_graph(lans, beta=0.4, alpha=0.1, seed=draw.randrange(2**32))
    parts = [min(part) for part in nx.connected_components(graph)]
    graph.add_edges_from(pairwise(sorted(parts)))
    where = nx.get_node_attributes(graph, "pos")
    wires = []
    for one, other in sorted(tuple(sorted(pair)) for pair in graph.edges):
        length = round(1000 * math.dist(where[one], where[other]))
        latency = simplest(Fraction(length, 1000))
        wires.append(Wire((sites[one].id, sites[other].id), bandwidth=10, latency=latency))
    return Grid(sites, wires=tuple(wires), bandwidth=10, name=f"waxman-{lans}x{nodes}")


def flat(*, lans: int = 100, nodes: int = 10, seed: int = 0, transfer: Number = 2) -> Grid:
    """Return a grid of section 5.4: every transfer takes 2 s, whatever its size and its way.

    The bandwidths are so large that amounts do not count.
    """
    draw = random.Random(f"grid {seed}")
    sites = _sites(draw, lans, nodes)
    plain = tuple(
        replace(
            site,
            bandwidth=10**12,
            latency=transfer,
            nodes=tuple(replace(node, delay=0) for node in site.nodes),
        )
        for site in sites
    )
    return Grid(plain, bandwidth=10**12, latency=transfer, name=f"flat-{lans}x{nodes}")


TOPOLOGIES: Mapping[str, Callable[..., Grid]] = {
    "mesh": mesh,
    "tiers": tiers,
    "waxman": waxman,
    "flat": flat,
}
"""Grids that are drawn, by name."""


# files ------------------------------------------------------------------------------------------


def read_grid(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> Grid:
    """Read a grid from a JSON file: ``{"grid": "lans", "version": 1, ...}``.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell instead of as floats.

    Raises
    ------
    InvalidInstanceError
        With every fault, by JSON path; also if there is no such file or it is no JSON.
    """
    data, source = load_json(path, exact_numbers=exact_numbers), os.fspath(path)
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be a JSON object")], source)
    faults = []
    for key, wanted in (("grid", Grid.grid), ("version", VERSION)):
        given = data.get(key, MISSING)
        if type(given) is not type(wanted) or given != wanted:
            rule = "is missing" if given is MISSING else f"must be {wanted}"
            faults.append(Fault(key, given, rule))
    content = {key: value for key, value in data.items() if key not in ("grid", "version")}
    content = {"routers": (), "wires": (), **content}
    faults += records.examine(Grid, content)[1]
    if faults:
        raise InvalidInstanceError(faults, source)
    return Grid.from_data(content)


def write_grid(grid: Grid, path: str | os.PathLike[str]) -> None:
    """Write a grid to a file, which is replaced as a whole.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    data = {"grid": Grid.grid, "version": VERSION, **grid.to_data()}
    with replacing(path) as file:
        file.write(to_text(data).encode())
