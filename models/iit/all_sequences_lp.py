"""The minimum completion over all sequences of a few nodes, by one linear program a sequence.

minimise    T(i(1), ..., i(n))       the program of `fixed_sequence_lp`
subject to  i(1), ..., i(n) are different nodes

Source: ours. MILP solvers prove bounds within a tolerance only; each of these programs is proven in
rational arithmetic, and so is their minimum.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from dlopt.backends.time_budget import Budget
from dlopt.models.iit.fixed_sequence_lp import CompletionResult, FixedSequenceLp
from dlopt.problems.iit.data import Instance

MAX_NODES = 4
"""Nodes: 64 sequences, which take half a second; five nodes have 325. Chosen by hand."""


def minimise_over_sequences(
    instance: Instance, budget: Budget, solver: str, seed: int
) -> CompletionResult | None:
    """Return the schedule of minimum completion, one chunk a node; None if it is not proven.

    A TimeoutError says that the time is up.
    """
    best = None
    for count in range(1, instance.cluster.nodes + 1):
        for nodes in permutations(range(instance.cluster.nodes), count):
            model = FixedSequenceLp(instance, nodes).minimise_completion()
            result = model.solve(replace(budget.left(), work=None), solver, seed, proven=True)
            if not result.outcome.proven or result.plan is None:
                return None
            if best is None or result.completion < best.completion:
                best = result
    return best
