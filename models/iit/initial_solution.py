"""An incumbent to start from, where the caller has none: its completion time clamps the models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from dlopt.arithmetic import SOLVER, exact, least
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp
from dlopt.problems.earliest_schedule import (
    by_ready_time,
    earliest_plan,
    last_result,
    number_field,
)
from dlopt.problems.iit.data import Instance, Solution

BISECTION_STEPS = 40
"""After so many halvings the completion time is closer than the models' tolerance of 1e-6."""
ROUNDS = 2, 3, 5, 10, 20
"""Numbers of rounds that are tried, as is the largest that is allowed, while more of them end
earlier: twenty gain next to nothing over ten on the shipped instances."""
MAX_CHUNKS = 500
"""Chunks of a sequence: the linear program of so many takes half a second. Chosen by hand."""
MAX_EXCHANGED_CHUNKS = 40
"""Chunks of a sequence in which neighbours are exchanged; of so many, all take about half a second.
Chosen by hand."""
EXCHANGE_TIME_SHARE = 1 / 4
"""Share of the remaining time for exchanges; the model has the rest. Chosen by hand."""
SMALL_LOAD = 1e-9
"""Share of the load up to which a chunk in floats is left out, with its set-up costs."""


def fill_nodes_in_ready_order(instance: Instance, max_nodes: int) -> Solution:
    """Fill nodes in the order of their ready times up to a common end, found by bisection.

    Parameters
    ----------
    instance : Instance
    max_nodes : int
        Use at most so many nodes.

    Returns
    -------
    Solution
        One chunk per node. The bisection runs in floats, but the chunks are scheduled again with
        the instance's numbers, so that the solution is feasible whatever rounding did, and exact
        for exact instances. It proves nothing: the models take its completion time as an upper
        bound, and prove the lower bound themselves.

    Notes
    -----
    Complexity: O(N log N).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0.0, 1.0, 4.0), load=3.0)
    >>> solution = fill_nodes_in_ready_order(instance, max_nodes=3)
    >>> round(max(chunk.computation_end for chunk in solution.chunks), 6)
    4.875
    """
    cluster, total = instance.cluster, float(instance.load)
    theta_cm = float(cluster.theta_cm)
    overhead = theta_cm + float(cluster.theta_cp)
    order, ready_times = by_ready_time(instance)
    ready_and_costs = [
        (float(ready), float(cluster.tau_of(node)), float(cluster.chi_of(node)))
        for node, ready in zip(order[:max_nodes], ready_times, strict=False)
    ]

    def loads_by(end: float) -> list[float]:
        """Return the loads of the nodes up to the first that cannot start before `end`."""
        loads: list[float] = []
        channel = ready_and_costs[0][0]
        for ready, tau, chi in ready_and_costs:
            start = max(channel, ready)
            load = (end - start - overhead) / (tau + chi)
            if load <= 0:
                break
            loads.append(load)
            channel = start + theta_cm + load * tau
        return loads

    first, tau, chi = ready_and_costs[0]
    low, high = first, first + overhead + total * (tau + chi)  # the first node alone ends by then
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(loads_by(middle)) >= total else (middle, high)
    # A load so small, compared with set-up times, that rounding loses it goes to the first node.
    loads = [exact(load) for load in loads_by(high)] or [exact(1)]
    factor = exact(instance.load) / sum(loads)  # at most 1 but for rounding: nothing ends later
    cast = number_field(instance)
    return earliest_plan(instance, order, [cast(load * factor) for load in loads])


def best_single_node(instance: Instance) -> Solution:
    """Return the schedule on the node that alone ends first.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=(5, 2)), (0, 1), load=3)
    >>> [chunk.node for chunk in best_single_node(instance).chunks]
    [1]
    """
    nodes, ready = range(instance.cluster.nodes), instance.ready_times
    candidates = [ready.index(least(ready))] if instance.cluster.identical else nodes
    return min((earliest_plan(instance, [i], [instance.load]) for i in candidates), key=last_result)


def repeat_rounds(
    instance: Instance,
    plans: Sequence[Solution],
    installments: int,
    budget: Budget,
    solver: str,
    seed: int,
) -> Solution:
    """Return the schedule that ends first among others and rounds of their nodes.

    Parameters
    ----------
    instance : Instance
    plans : sequence of Solution
        The nodes of each, in the order of their first chunks, are a round.
    installments : int
        Rounds at most.
    budget : Budget
        When the time is up, the best schedule so far is returned.
    solver : str
    seed : int

    Returns
    -------
    Solution
        In the numbers of the instance.

    Notes
    -----
    The rounds are those of Yang, van der Raadt and Casanova, Multiround algorithms for scheduling
    divisible loads, IEEE Transactions on Parallel and Distributed Systems 16, 2005, with the linear
    program of a sequence in place of their closed forms. Complexity: at most seven linear programs
    of at most `MAX_CHUNKS` chunks a schedule, and more where some of the chunks get no load or
    nodes differ (`exchange_neighbours`).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.result import NO_LIMITS
    >>> instance = Instance(Cluster(2, tau=1, chi=2), (0, 0), load=7)
    >>> single = fill_nodes_in_ready_order(instance, 2)
    >>> rounds = repeat_rounds(instance, [single], 2, Budget(NO_LIMITS), "HiGHS", 0)
    >>> [round(float(last_result(plan)), 3) for plan in (single, rounds)], len(rounds.chunks)
    ([12.6, 10.862], 4)
    """
    small = exact(instance.load) * exact(SMALL_LOAD)

    def solved(
        sequence: list[int], *, proven: bool = False, within: Budget = budget
    ) -> Solution | None:
        model = FixedSequenceLp(instance, sequence).minimise_completion()
        return model.solve(replace(within.left(), work=None), solver, seed, proven=proven).plan

    def without_small_chunks(sequence: list[int]) -> Solution | None:
        """Return the schedule of a sequence, less the chunks that are not needed in it."""
        while (found := solved(sequence)) is not None:
            needed = [chunk.node for chunk in found.chunks if chunk.load > small]
            if len(needed) == len(sequence):
                break
            sequence = needed
        return found

    best = single = min(plans, key=last_result)
    orders = {tuple(dict.fromkeys(chunk.node for chunk in plan.chunks)): plan for plan in plans}
    with suppress(TimeoutError, SolverError):
        for order, latest in orders.items():
            for rounds in sorted({*ROUNDS, installments}):
                if rounds > installments or rounds * len(order) > MAX_CHUNKS:
                    break
                found = without_small_chunks(list(order) * rounds)
                if found is None or last_result(found) >= last_result(latest):
                    break
                latest, best = found, min(best, found, key=last_result)
        if installments > 1 and not instance.cluster.identical:
            share = Budget(budget.left(EXCHANGE_TIME_SHARE))
            best = exchange_neighbours(best, lambda sequence: solved(sequence, within=share))
        if best is not single and instance.exact:
            best = solved([chunk.node for chunk in best.chunks], proven=True) or best
    return min(single, best, key=last_result)


def exchange_neighbours(plan: Solution, solve: Callable[[list[int]], Solution | None]) -> Solution:
    """Exchange chunks that are sent one after the other while the schedule then ends earlier.

    Parameters
    ----------
    plan : Solution
        Returned as it is if it has more than `MAX_EXCHANGED_CHUNKS` chunks.
    solve : callable
        Returns the schedule of a sequence of nodes; `TimeoutError` ends the search.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=(3, 1), chi=4), (0, 0), load=5)
    >>> plan = earliest_plan(instance, [0, 1], [2, 3])
    >>> best = exchange_neighbours(plan, lambda nodes: earliest_plan(instance, nodes, [3, 2]))
    >>> [chunk.node for chunk in best.chunks], last_result(plan), last_result(best)
    ([1, 0], Fraction(21, 1), Fraction(17, 1))
    """
    position = failed = 0
    with suppress(TimeoutError):
        while failed < len(plan.chunks) - 1 < MAX_EXCHANGED_CHUNKS:
            sequence = [chunk.node for chunk in plan.chunks]
            position %= len(sequence) - 1
            first, second = sequence[position : position + 2]
            sequence[position : position + 2] = second, first
            found = None if first == second else solve(sequence)
            gain = 0 if found is None else exact(last_result(plan)) - exact(last_result(found))
            if found is not None and gain > exact(SOLVER) * exact(last_result(plan)):
                plan, failed = found, 0
            else:
                failed += 1
            position += 1
    return plan
