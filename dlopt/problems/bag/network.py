"""How long data takes from one site to another."""

from __future__ import annotations

import heapq
from typing import Any

from dlopt.arithmetic import Number, exact, is_exact
from dlopt.problems.bag.data import Instance


def transfer_times(
    instance: Instance, site: int, data: Number, *, exactly: bool = False
) -> tuple[Any, ...]:
    """Return how long data takes from a site to each site, by the fastest path.

    Every link of the path takes its latency, and the data by its bandwidth; one after the other.

    Parameters
    ----------
    instance : Instance
    site : int
        0-based.
    data : Number
    exactly : bool, default False
        Convert floats to the decimals that they print.

    Returns
    -------
    tuple of Number, shape (sites,)
        0 for the site itself. Exact if all numbers are.

    Notes
    -----
    Dijkstra's algorithm: O(links log links). The path depends on the amount of data, and the text
    does not say how data travels between sites that are no neighbours.

    Examples
    --------
    >>> from dlopt.problems.bag import Link, Machine, Site, Task
    >>> links = (Link((0, 1), bandwidth=2), Link((1, 2), bandwidth=4, latency=1))
    >>> sites = tuple(Site(name) for name in "abc")
    >>> instance = Instance((Task("t", 1),), (Machine("m"),), sites, links)
    >>> [str(time) for time in transfer_times(instance, 0, 8)]
    ['0', '4', '7']
    """
    neighbours: list[list[tuple[int, Any]]] = [[] for _ in instance.sites]
    for link in instance.links:
        time: Number
        if exactly or is_exact((data, link.bandwidth, link.latency)):
            time = exact(data) / exact(link.bandwidth) + exact(link.latency)
        else:
            time = float(data) / float(link.bandwidth) + float(link.latency)
        one, other = link.between
        neighbours[one].append((other, time))
        neighbours[other].append((one, time))
    times: list[Any] = [None] * len(instance.sites)
    heap: list[tuple[Any, int]] = [(0, site)]
    while heap:
        time, here = heapq.heappop(heap)
        if times[here] is None:
            times[here] = time
            for there, more in neighbours[here]:
                if times[there] is None:
                    heapq.heappush(heap, (time + more, there))
    return tuple(times)
