"""Random grids: LANs as in the thesis, on several kinds of WAN."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dlopt.arithmetic import Number, simplest
from dlopt.errors import NotApplicableError
from dlopt.simulation.grid.topology import Grid, LanSite, Node, Router, WanLink

MAX_NODES = 100_000
"""Largest number of nodes of a generated grid; chosen by hand, to refuse sizes entered by mistake.
"""


def _sites(draw: random.Random, lans: int, nodes: int) -> tuple[LanSite, ...]:
    """Return LANs as in section 4.2 of the thesis: seconds and KB."""
    if lans < 1 or nodes < 1 or lans * nodes > MAX_NODES:
        raise NotApplicableError(f"a grid has 1 to {MAX_NODES} nodes, got {lans} LANs of {nodes}")
    return tuple(
        LanSite(
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

    As Tiers makes it (Doar, GLOBECOM 1996): routers lie at random in a square, and the shortest
    tree joins them; besides, each that has one neighbour is joined with the nearest other. Each
    LAN hangs on one router. Wires carry 10 KB/s, routers delay by 51 to 5060 ms; data is stored and
    forwarded, see `Grid`.

    Parameters
    ----------
    lans, nodes : int
    routers : int, default 10
    seed : int
    """
    if routers < 1:
        raise NotApplicableError(f"routers must be positive, got {routers}")
    draw = random.Random(f"grid {seed}")
    sites = _sites(draw, lans, nodes)
    names = [f"wan{router}" for router in range(routers)]
    junctions = tuple(
        Router(name, simplest(Fraction(draw.randint(51, 5060), 1000))) for name in names
    )
    pairs = _spanning([(draw.random(), draw.random()) for _ in range(routers)])
    wires = [WanLink((names[one], names[other]), bandwidth=10) for one, other in sorted(pairs)]
    wires += [WanLink((site.id, names[draw.randrange(routers)]), bandwidth=10) for site in sites]
    return Grid(sites, junctions, tuple(wires), name=f"tiers-{lans}x{nodes}-{routers}")


def _spanning(places: list[tuple[float, float]]) -> set[tuple[int, int]]:
    """Return a shortest tree, and a second wire for each end of it."""

    def nearest(near: Iterable[int], far: Iterable[int]) -> tuple[int, int]:
        distances = ((math.dist(places[a], places[b]), a, b) for a in near for b in far)
        _, one, other = min(distances)
        return min(one, other), max(one, other)

    joined, left, pairs = [0], list(range(1, len(places))), set()
    while left:
        pair = nearest(joined, left)
        pairs.add(pair)
        new = pair[0] if pair[0] in left else pair[1]
        left.remove(new)
        joined.append(new)
    for at in range(len(places)):
        mine = {place for pair in pairs if at in pair for place in pair}
        others = set(range(len(places))) - mine
        if len(mine) == 2 and others:
            pairs.add(nearest([at], others))
    return pairs


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
        wires.append(WanLink((sites[one].id, sites[other].id), bandwidth=10, latency=latency))
    return Grid(sites, wires=tuple(wires), bandwidth=10, name=f"waxman-{lans}x{nodes}")


def flat(*, lans: int = 100, nodes: int = 10, seed: int = 0, transfer: Number = 2) -> Grid:
    """Return a grid of section 5.4: every transfer takes 2 s, whatever its size and its route.

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
