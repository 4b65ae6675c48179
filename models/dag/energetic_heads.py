"""Heads and tails by work: all that a job waits for must be done before it starts."""

from __future__ import annotations

import numpy as np

from dlopt.models.dag.energetic_bounds import Weights, some, weights_of
from dlopt.models.dag.heads_and_tails import NEVER, Direction, Ints, Windows, directions, longest
from dlopt.models.dag.scaled_instance import Case

_LARGE, _MACHINES = 1_200, 64
"""Jobs times machines that differ, and machines, up to which it is worth its time."""
_WORK = 20_000_000
"""Arcs times jobs times pairs of machines, up to which the ways between jobs are soon found."""
_SETS, _FEWEST = 20_000, 8
"""Heads by which sets of jobs are chosen: in all, and for each job and machine at the least."""
_APART = -(2**50)
"""How long the end of a job is before the start of one that does not wait for it."""
_FAR = 2**42
"""Beyond every horizon, and small enough to be added up."""


def gathered(case: Case, windows: Windows) -> Windows:
    """Return windows that count the work of all predecessors, and of all successors, together.

    Windows of large cases are returned as they are.

    Parameters
    ----------
    case : Case
    windows : Windows
        By the longest ways.

    Notes
    -----
    Let a job start at `S` on a machine, and let `B` be some of the jobs that it waits for. A job
    of `B` that runs on machine `p` starts there no earlier than its head, and ends no later than
    `S` less the way from its end to that start. So `B` runs on `p` for ``S - o_p`` at the most,
    where `o_p` is the least head plus the least such way of `B` on `p`. With any weights ``k_p``
    of machines, and the energy ``e_i`` of a job, its least ``k_p x`` time over machines::

        sum of e_i over B  <=  sum over p of k_p max(0, S - o_p)

    The right side is the largest, over `r`, of the sum of ``k_p (S - o_p)`` over the `r` machines
    of the least `o_p`. So `S` is no less than the least, over `r`, of ::

        (sum of e_i + sum of k_p o_p over r machines) / sum of k_p over r machines

    rounded up, as starts are integers. This holds for every `B`; here it has all jobs with heads
    and ways of some length. Tails are the heads of the graph turned round. Predecessors count
    with the heads that were found for them so.

    Complexity: O(arcs x jobs x machines^3), and O(jobs^2 x machines) for each of the heads by
    which sets are chosen.

    Examples
    --------
    >>> from dlopt.models.dag.heads_and_tails import windows_of
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=2) for k in range(4))
    >>> graph = Graph("g", tasks, tuple(Edge(k, 3) for k in range(3)))
    >>> case = Case.of(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> windows = windows_of(case)
    >>> case.scale, windows.heads[3].tolist(), gathered(case, windows).heads[3].tolist()
    (Fraction(1, 2), [1, 1], [2, 2])
    """
    if case.machines > _MACHINES or len(case.jobs) > _LARGE:
        return windows
    groups = case.groups if case.silent else [[place] for place in range(case.machines)]
    size = len(case.jobs) * len(groups)
    if size > _LARGE or size * len(groups) * len(case.arcs) > _WORK:
        return windows
    weights = weights_of(windows.costs)
    found = [
        longest(way, first, windows.costs, joins=True, wait=Crowds(way, windows, weights, groups))
        for way, first in zip(directions(case), (windows.heads, windows.tails), strict=True)
    ]
    return Windows(found[0], windows.costs, found[1], windows.paths)


class Crowds:
    """All that each job waits for.

    Parameters
    ----------
    way : Direction
    windows : Windows
        Their costs.
    weights : Weights
        Of machines.
    groups : list of list of int
        Machines that are alike, also to data; one of each is looked at.
    """

    def __init__(
        self, way: Direction, windows: Windows, weights: Weights, groups: list[list[int]]
    ) -> None:
        self.groups, self.firsts = groups, [members[0] for members in groups]
        self.each = weights.each[self.firsts]
        self.rooms = np.array([weights.each[members].sum() for members in groups])
        self.costs = windows.costs[:, self.firsts]
        energies = np.where(self.costs < NEVER, self.costs * self.each, NEVER)
        self.energies = energies.min(axis=1)
        self.ways = self._ways(way)
        self.many = max(_SETS // max(self.costs.size, 1), _FEWEST)

    def __call__(self, job: int, heads: Ints) -> None:
        """Raise the heads of a job; those of all jobs that it waits for are final."""
        row = heads[job]
        for at, members in enumerate(self.groups):
            if self.costs[job, at] < NEVER:
                ways = self.ways[:, :, job, at]
                before = np.flatnonzero(ways[:, 0] > _APART)
                if len(before) > 1:
                    least = self._start(before, heads[before][:, self.firsts], ways[before])
                    row[members] = np.maximum(row[members], least)

    def _start(self, jobs: Ints, heads: Ints, ways: Ints) -> int:
        """Return when all of some jobs can be done, each so long before."""
        able = self.costs[jobs] < NEVER
        heads, ways = np.where(able, heads, _FAR), np.where(able, ways, _FAR)
        first, last = heads.min(axis=1), ways.min(axis=1)
        order = np.argsort(-last, kind="stable")
        best = 0
        for head in some(np.unique(first), self.many):
            chosen = order[first[order] >= head]
            taken = self.energies[jobs[chosen]].cumsum()
            starts, ends = (np.minimum.accumulate(times[chosen], axis=0) for times in (heads, ways))
            best = max(best, int(self._least(taken, starts + ends).max()))
        return best

    def _least(self, taken: Ints, lost: Ints) -> Ints:
        """Return the least end of each set of jobs, of energies `taken`, by what machines lose."""
        ranks = np.argsort(lost, axis=1, kind="stable")
        lost = np.take_along_axis(np.minimum(lost, _FAR), ranks, axis=1)
        rooms = self.rooms[ranks]
        room = rooms.cumsum(axis=1)
        needed = taken[:, None] + (rooms * lost).cumsum(axis=1)
        nothing = np.where(taken > 0, NEVER, 0)[:, None]  # machines without weight do no work
        ends = np.where(room > 0, -(-needed // np.maximum(room, 1)), nothing)
        least: Ints = ends.min(axis=1)
        return least

    def _ways(self, way: Direction) -> Ints:
        """Return the longest way from the end of each job to the start of each other.

        Of shape (jobs, machines, jobs, machines), for the machines that the two run on. What is
        between them runs where that is best.
        """
        count, places = self.costs.shape
        found = np.full((count, places, count, places), _APART, dtype=np.int64)
        here = np.full((places, places), _FAR)
        np.fill_diagonal(here, 0)
        kinds = way.kinds[np.ix_(self.firsts, self.firsts)]
        for job in reversed(way.order):
            for arc in way.out_of[job]:
                after = way.target(arc)
                cost = np.minimum(self.costs[after], _FAR)[:, None, None]
                beyond = np.where(found[after] > _APART, found[after] + cost, _APART)
                beyond[:, after] = here
                sends = np.array(arc.sends, dtype=np.int64)[kinds]
                arriving = (sends[:, :, None, None] + beyond).min(axis=1)
                np.maximum(found[job], np.where(arriving >= 0, arriving, _APART), out=found[job])
        np.minimum(found, _FAR, out=found)
        return found
