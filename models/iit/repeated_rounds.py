"""Schedules of several chunks a node: the sequence of one chunk each, sent several times.

Source: the rounds of Yang, van der Raadt and Casanova, Multiround algorithms for scheduling divisible
loads, IEEE Transactions on Parallel and Distributed Systems 16, 2005, with the linear program of
`fixed_sequence_lp` in place of their closed forms.
"""

from __future__ import annotations

from dataclasses import replace

from dlopt.arithmetic import exact
from dlopt.backends.time_budget import Budget
from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit.data import Instance, Solution

ROUNDS = 2, 3, 5, 10, 20
"""Numbers of rounds that are tried, while more of them end earlier: the twenties gain next to
nothing over ten on the shipped instances."""
MAX_CHUNKS = 500
"""Chunks of a sequence: the linear program of so many takes half a second. Chosen by hand."""
SMALL_LOAD = 1e-9
"""Share of the load up to which a chunk in floats is left out, with its set-up costs."""


def repeat_rounds(
    instance: Instance, plan: Solution, installments: int, budget: Budget, solver: str, seed: int
) -> Solution:
    """Return the schedule that ends first among rounds of the nodes of a schedule, or that one.

    Parameters
    ----------
    instance : Instance
    plan : Solution
        Its nodes, in the order of their first chunks, are a round.
    installments : int
        Rounds at most.
    budget : Budget
    solver : str
    seed : int

    Returns
    -------
    Solution
        In the numbers of the instance; optimal for its sequence of chunks.

    Raises
    ------
    TimeoutError
        If the time is up.

    Notes
    -----
    Complexity: at most ten linear programs of at most `MAX_CHUNKS` chunks.

    Examples
    --------
    >>> from dlopt.models.iit.initial_solution import fill_nodes_in_ready_order
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.result import NO_LIMITS
    >>> instance = Instance(Cluster(2, tau=1, chi=2), (0, 0), load=7)
    >>> single = fill_nodes_in_ready_order(instance, 2)
    >>> rounds = repeat_rounds(instance, single, 2, Budget(NO_LIMITS), "HiGHS", 0)
    >>> [round(float(last_result(plan)), 3) for plan in (single, rounds)], len(rounds.chunks)
    ([12.6, 10.862], 4)
    """
    nodes = list(dict.fromkeys(chunk.node for chunk in plan.chunks))
    small = exact(instance.load) * exact(SMALL_LOAD)

    def solved(sequence: list[int], *, proven: bool = False) -> Solution | None:
        model = FixedSequenceLp(instance, sequence).minimise_completion()
        return model.solve(replace(budget.left(), work=None), solver, seed, proven=proven).plan

    def in_rounds(rounds: int) -> Solution | None:
        """Return the schedule of so many rounds, less the chunks that are not needed in them."""
        sequence = nodes * rounds
        while (found := solved(sequence)) is not None:
            needed = [chunk.node for chunk in found.chunks if chunk.load > small]
            if len(needed) == len(sequence):
                break
            sequence = needed
        return found

    best = plan
    for rounds in ROUNDS:
        if rounds > installments or rounds * len(nodes) > MAX_CHUNKS:
            break
        found = in_rounds(rounds)
        if found is None or last_result(found) >= last_result(best):
            break
        best = found
    if best is plan or not instance.exact:
        return best
    rational = solved([chunk.node for chunk in best.chunks], proven=True)
    return plan if rational is None else min(plan, rational, key=last_result)
