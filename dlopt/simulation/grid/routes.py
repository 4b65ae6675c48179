"""Independent check that the network between LANs follows from the links and routers of a grid.

Nothing here depends on how routes were computed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush

from dlopt.arithmetic import exact
from dlopt.problems.dag import Link
from dlopt.result import Violation
from dlopt.simulation.grid.topology import REFERENCE, BuiltGrid, Grid

ROUTE_KINDS = ("no-route", "wrong-route", "slow-route", "wrong-hop-count")
"""The kinds of violation that `violations_routes` tells apart."""


def violations_routes(built: BuiltGrid) -> tuple[Violation, ...]:
    """Return every pair of LANs between which data does not go as it must.

    Data is stored and forwarded, as in equation 7 of Chen 2001: each link of its route takes its
    latency and the data by its bandwidth, each router between, its delay. Of all routes, the
    fastest for `REFERENCE` of data is taken.

    Parameters
    ----------
    built : BuiltGrid

    Returns
    -------
    tuple of Violation
        Empty also if the grid is not known, or has no wires. Kinds: see `ROUTE_KINDS`.

    Notes
    -----
    Complexity: O(LANs x wires x log wires), in rationals.

    Examples
    --------
    >>> from dlopt.simulation.grid import TOPOLOGIES
    >>> built = TOPOLOGIES["tiers"](lans=4, nodes=1).built()
    >>> violations_routes(built)
    ()
    >>> print(violations_routes(built._replace(wires={}))[0])
    wrong-hop-count on the way from LAN 0 to LAN 1 by 5
    """
    grid = built.grid
    if grid is None or not grid.wires:
        return ()
    links = {(link.source, link.target): link for link in built.network.wan_links}
    return tuple(_violations(grid, built, links))


def _violations(
    grid: Grid, built: BuiltGrid, links: dict[tuple[int, int], Link]
) -> Iterator[Violation]:
    names = [site.id for site in grid.lans]
    for source, name in enumerate(names):
        routes = _fastest(grid, name)
        for target in range(source + 1, len(names)):
            text = f"the way from LAN {source} to LAN {target}"
            link = links.get((source, target))
            if link is None:
                yield Violation("no-route", text)
                continue
            latency, unit = exact(link.latency), 1 / exact(link.bandwidth)
            least, fastest = routes[names[target]]
            took = latency + REFERENCE * unit
            if took != least:
                kind = "slow-route" if took > least else "wrong-route"
                yield Violation(kind, text, amount=abs(took - least))
                continue
            counts = {wires for one, other, wires in fastest if (one, other) == (latency, unit)}
            if not counts:
                yield Violation("wrong-route", text)
            elif built.hops(source, target) not in counts:
                off = min(abs(built.hops(source, target) - count) for count in counts)
                yield Violation("wrong-hop-count", text, amount=off)


_RouteCosts = set[tuple[Fraction, Fraction, int]]
"""Latency, time for a unit of data, and number of links, of routes that are equally fast."""


def _fastest(grid: Grid, start: str) -> dict[str, tuple[Fraction, _RouteCosts]]:
    """Return the transfer time of `REFERENCE` data to each place, and the routes that attain it."""
    delays = {router.id: exact(router.delay) for router in grid.routers}
    adjacent: dict[str, list[tuple[str, Fraction, Fraction]]] = defaultdict(list)
    for wire in grid.wires:
        one, other = wire.ends
        latency, unit = exact(wire.latency), 1 / exact(wire.bandwidth)
        adjacent[one].append((other, latency, unit))
        adjacent[other].append((one, latency, unit))
    found: dict[str, tuple[Fraction, _RouteCosts]] = {
        start: (Fraction(0), {(Fraction(0),) * 2 + (0,)})
    }
    left, settled = [(Fraction(0), start)], set()
    while left:
        spent, place = heappop(left)
        if place in settled:
            continue
        settled.add(place)
        through = Fraction(0) if place == start else delays.get(place, Fraction(0))
        for other, latency, unit in adjacent[place]:
            took = spent + through + latency + REFERENCE * unit
            costs = {(a + through + latency, b + unit, n + 1) for a, b, n in found[place][1]}
            if other not in found or took < found[other][0]:
                found[other] = (took, costs)
                heappush(left, (took, other))
            elif took == found[other][0]:
                found[other][1].update(costs)
    return found
