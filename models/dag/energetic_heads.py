"""Energetic heads and tails: the work of all predecessors of a job is done before it starts.

Let a job start at `S` on a machine, and let `B` be some of its predecessors, direct or not. A job
of `B` that runs on machine `p` starts there no earlier than its head, and ends no later than `S`
less the longest path from its end to that start. So `B` occupies `p` for ``S - o_p`` at most, where
`o_p` is the least head plus the least such path of `B` on `p`. With any weights ``k_p`` of
machines, and the energy ``e_i`` of a job, its least ``k_p c_ip`` over machines::

    sum of e_i over B  <=  sum over p of k_p max(0, S - o_p)

The right side is the largest, over `r`, of the sum of ``k_p (S - o_p)`` over the `r` machines of
the least `o_p`. So `S` is no less than the least, over `r`, of ::

    (sum of e_i + sum of k_p o_p over r machines) / sum of k_p over r machines

rounded up, as starts are integers. This holds for every `B`; here it ranges over the predecessors
whose heads and paths are no smaller than some thresholds. Tails are the heads of the reversed
graphs. Predecessors count with the heads that were tightened in the same way. Source: ours.
"""

from __future__ import annotations

import numpy as np

from dlopt.models.dag.energetic_bounds import MachineWeights, dual_machine_weights, evenly_spaced
from dlopt.models.dag.heads_and_tails import (
    INFINITE,
    GraphDirection,
    HeadsTails,
    Ints,
    both_directions,
    longest_paths,
)
from dlopt.models.dag.scaled_instance import ScaledInstance

MAX_JOB_MACHINE_PAIRS = 1_200
"""Jobs times different machines up to which heads are tightened. Chosen by hand: beyond, it takes
longer than the sharper bound saves."""
MAX_MACHINES = 64
"""Machines up to which heads are tightened. Chosen by hand, for the same reason."""
MAX_PATH_OPERATIONS = 20_000_000
"""Arcs times jobs times pairs of machines up to which longest paths between all jobs are computed.
Chosen by hand, for the time that it takes.
"""
TOTAL_HEAD_THRESHOLDS = 20_000
"""Thresholds of heads over all jobs and machines. Chosen by hand: it trades time for sharpness."""
MIN_HEAD_THRESHOLDS = 8
"""Thresholds of heads for each job and machine at least. Chosen by hand."""
NOT_A_PREDECESSOR = -(2**50)
"""Length of the path between two jobs of which the second does not wait for the first."""
BEYOND_HORIZON = 2**42
"""An instant beyond every horizon, small enough to be added up over all jobs."""


def energetic_heads_tails(scaled: ScaledInstance, heads_tails: HeadsTails) -> HeadsTails:
    """Tighten heads and tails by the work of all predecessors, and of all successors, together.

    Heads and tails of large instances are returned as they are.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
        By longest paths.

    Notes
    -----
    Complexity: O(arcs x jobs x machines^3), and O(jobs^2 x machines) for each threshold of heads.

    Examples
    --------
    Three predecessors of 2 on two machines take until 4, in units of 2:

    >>> from dlopt.models.dag.heads_and_tails import longest_path_heads_tails
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=2) for k in range(4))
    >>> graph = Graph("g", tasks, tuple(Edge(k, 3) for k in range(3)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> paths = longest_path_heads_tails(scaled)
    >>> energetic = energetic_heads_tails(scaled, paths)
    >>> scaled.scale, paths.heads[3].tolist(), energetic.heads[3].tolist()
    (Fraction(1, 2), [1, 1], [2, 2])
    """
    if scaled.machine_count > MAX_MACHINES or len(scaled.jobs) > MAX_JOB_MACHINE_PAIRS:
        return heads_tails
    groups = (
        scaled.identical_machines
        if scaled.communication_free
        else [[machine] for machine in range(scaled.machine_count)]
    )
    size = len(scaled.jobs) * len(groups)
    operations = size * len(groups) * len(scaled.arcs)
    if size > MAX_JOB_MACHINE_PAIRS or operations > MAX_PATH_OPERATIONS:
        return heads_tails
    weights = dual_machine_weights(heads_tails.costs)
    heads, tails = (
        longest_paths(
            direction,
            initial,
            heads_tails.costs,
            join_bounds=True,
            tighten_head=PredecessorWorkload(direction, heads_tails, weights, groups).tighten_head,
        )
        for direction, initial in zip(
            both_directions(scaled), (heads_tails.heads, heads_tails.tails), strict=True
        )
    )
    return HeadsTails(heads, heads_tails.costs, tails, heads_tails.path_bounds)


class PredecessorWorkload:
    """Energetic head adjustment: all predecessors of a job are done before it starts.

    Parameters
    ----------
    direction : GraphDirection
    heads_tails : HeadsTails
        Only its costs are used.
    weights : MachineWeights
    groups : list of list of int
        Machines in groups that are identical, for transfers too; one of each group is considered.
    """

    def __init__(
        self,
        direction: GraphDirection,
        heads_tails: HeadsTails,
        weights: MachineWeights,
        groups: list[list[int]],
    ) -> None:
        self.groups, self.firsts = groups, [machines[0] for machines in groups]
        self.weights = weights.weights[self.firsts]
        self.group_weights = np.array([weights.weights[machines].sum() for machines in groups])
        self.costs = heads_tails.costs[:, self.firsts]
        energies = np.where(self.costs < INFINITE, self.costs * self.weights, INFINITE)
        self.energies = energies.min(axis=1)
        self.path_lengths = self._longest_paths(direction)
        thresholds = TOTAL_HEAD_THRESHOLDS // max(self.costs.size, 1)
        self.thresholds = max(thresholds, MIN_HEAD_THRESHOLDS)

    def tighten_head(self, job: int, heads: Ints) -> None:
        """Raise the heads of a job; those of all its predecessors are final."""
        row = heads[job]
        for index, machines in enumerate(self.groups):
            if self.costs[job, index] < INFINITE:
                paths = self.path_lengths[:, :, job, index]
                predecessors = np.flatnonzero(paths[:, 0] > NOT_A_PREDECESSOR)
                if len(predecessors) > 1:
                    start = self._earliest_start(
                        predecessors, heads[predecessors][:, self.firsts], paths[predecessors]
                    )
                    row[machines] = np.maximum(row[machines], start)

    def _earliest_start(self, jobs: Ints, heads: Ints, paths: Ints) -> int:
        """Bound the start of a job that follows some jobs, each after a path of some length."""
        eligible = self.costs[jobs] < INFINITE
        heads = np.where(eligible, heads, BEYOND_HORIZON)
        paths = np.where(eligible, paths, BEYOND_HORIZON)
        least_heads, least_paths = heads.min(axis=1), paths.min(axis=1)
        order = np.argsort(-least_paths, kind="stable")
        best = 0
        for threshold in evenly_spaced(np.unique(least_heads), self.thresholds):
            chosen = order[least_heads[order] >= threshold]
            energies = self.energies[jobs[chosen]].cumsum()
            head, path = (np.minimum.accumulate(t[chosen], axis=0) for t in (heads, paths))
            best = max(best, int(self._earliest_by_energy(energies, head + path).max()))
        return best

    def _earliest_by_energy(self, energies: Ints, offsets: Ints) -> Ints:
        """Return the least start after each set of jobs.

        Parameters
        ----------
        energies : array of int, shape (sets,)
        offsets : array of int, shape (sets, groups)
            The `o_p` of the module's proof.
        """
        ranks = np.argsort(offsets, axis=1, kind="stable")
        offsets = np.take_along_axis(np.minimum(offsets, BEYOND_HORIZON), ranks, axis=1)
        weights = self.group_weights[ranks]
        total = weights.cumsum(axis=1)
        needed = energies[:, None] + (weights * offsets).cumsum(axis=1)
        idle = np.where(energies > 0, INFINITE, 0)[:, None]  # machines of weight 0 do no work
        starts = np.where(total > 0, -(-needed // np.maximum(total, 1)), idle)
        least: Ints = starts.min(axis=1)
        return least

    def _longest_paths(self, direction: GraphDirection) -> Ints:
        """Return the longest path from the end of each job to the start of each other.

        Returns
        -------
        array of int, shape (jobs, groups, jobs, groups)
            For the machines of the two jobs. Jobs between them run on the best machines.
        """
        count, machines = self.costs.shape
        lengths = np.full((count, machines, count, machines), NOT_A_PREDECESSOR, dtype=np.int64)
        to_itself = np.full((machines, machines), BEYOND_HORIZON)
        np.fill_diagonal(to_itself, 0)
        link_class = direction.link_class[np.ix_(self.firsts, self.firsts)]
        for job in reversed(direction.order):
            for arc in direction.out_of[job]:
                successor = direction.target(arc)
                cost = np.minimum(self.costs[successor], BEYOND_HORIZON)[:, None, None]
                beyond = np.where(
                    lengths[successor] > NOT_A_PREDECESSOR,
                    lengths[successor] + cost,
                    NOT_A_PREDECESSOR,
                )
                beyond[:, successor] = to_itself
                transfers = np.array(arc.transfer_times, dtype=np.int64)[link_class]
                arriving = (transfers[:, :, None, None] + beyond).min(axis=1)
                np.maximum(
                    lengths[job],
                    np.where(arriving >= 0, arriving, NOT_A_PREDECESSOR),
                    out=lengths[job],
                )
        np.minimum(lengths, BEYOND_HORIZON, out=lengths)
        return lengths
