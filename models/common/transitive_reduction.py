"""Transitive reduction: precedence constraints without those that follow from others.

Source: Aho, Garey and Ullman 1972; sets of descendants as integers of one bit for each job.
"""

from __future__ import annotations

from collections.abc import Collection

MAX_JOBS = 20_000
"""Jobs of a graph up to which it is reduced. Chosen by hand: sets of descendants take 50 MB."""


def transitive_reduction(arcs: Collection[tuple[int, int]]) -> Collection[tuple[int, int]]:
    """Return the arcs that follow from no others; all arcs of a graph that is too large.

    Parameters
    ----------
    arcs : collection of (int, int)
        Each from a job to a later one.

    Notes
    -----
    Complexity: O(arcs x jobs), in words of a bit for each job.

    Examples
    --------
    >>> sorted(transitive_reduction([(0, 1), (0, 2), (1, 2)]))
    [(0, 1), (1, 2)]
    """
    first = min((source for source, _ in arcs), default=0)
    if max((target for _, target in arcs), default=0) - first > MAX_JOBS:
        return arcs
    descendants: dict[int, int] = {}
    kept = set()
    for source, target in sorted(arcs, key=lambda arc: (-arc[0], arc[1])):
        known, bit = descendants.get(source, 0), 1 << (target - first)
        if not known & bit:
            kept.add((source, target))
            descendants[source] = known | bit | descendants.get(target, 0)
    return kept
