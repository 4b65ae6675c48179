"""A bound over every plan: loads that flow in infinitesimal chunks, without set-up costs.

Between two ready times the nodes at hand do not change. In interval `k` of length ``L_k``, the
nodes of group `g` receive ``a_gk`` and compute ``b_gk``:

minimise    T
subject to  sum_g tau_g a_gk <= L_k                           one port
            tau_g a_gk + chi_g b_gk <= c_g L_k                receive or compute, c_g nodes
            sum_{j<=k} b_gj <= sum_{j<=k} a_gj                compute what was received
            sum_gk b_gk = load,   sum_k a_gk = sum_k b_gk

The last interval ends at T. Which interval that is, is found by bisection: if the program makes
its last interval empty, there is one too many; if T passes the next ready time, one too few.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pulp

from dlopt.arithmetic import FLOATING
from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.problems.earliest_schedule import number_field
from dlopt.problems.iit.data import Instance
from dlopt.result import Limits, Status

MOST_GROUPS = 24
"""More ready times than this are merged into the earliest of their neighbours: still a bound."""


class FluidModel:
    """The program above over the first `intervals` distinct ready times."""

    def __init__(self, instance: Instance, intervals: int) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        instants = _instants(instance)
        earlier = {r: max(t for t in instants if t <= r) for r in set(instance.ready_times)}
        groups = Counter(
            (earlier[r], cluster.tau_of(i), cluster.chi_of(i))
            for i, r in enumerate(instance.ready_times)
        )
        self.instance = instance
        self.instants = [cast(t) for t in instants[:intervals]]
        self.groups = [
            (count, self.instants.index(cast(ready)), cast(tau), cast(chi))
            for (ready, tau, chi), count in sorted(groups.items())
            if cast(ready) in self.instants
        ]
        self.total = cast(instance.load)
        self.problem = pulp.LpProblem("fluid", pulp.LpMinimize)
        self.end = self.problem.add_variable("T", lowBound=self.instants[-1])
        cells = [(g, k) for g in range(len(self.groups)) for k in range(intervals)]
        cells = [(g, k) for g, k in cells if k >= self.groups[g][1]]
        # What a node receives and does not compute may be left out, so no part exceeds the load.
        # It tells the solver how large these can be.
        self.received = {c: self._part(f"a_{c[0]}_{c[1]}") for c in cells}
        self.computed = {c: self._part(f"b_{c[0]}_{c[1]}") for c in cells}

    def _part(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, lowBound=0, upBound=self.total)

    def minimise_completion(self) -> FluidModel:
        """State the program above."""
        self.problem += self.end
        self.add_one_port()
        self.add_node_times()
        self.add_causality()
        self.problem += linear((1, load) for load in self.computed.values()) == self.total
        return self

    def add_one_port(self) -> None:
        """Send for no longer than an interval lasts."""
        for k in range(len(self.instants)):
            sent = [
                (-tau, self.received[g, k])
                for g, (_, first, tau, _) in enumerate(self.groups)
                if k >= first
            ]
            self.add_within(k, 1, sent)

    def add_node_times(self) -> None:
        """Let the nodes of a group receive or compute for no longer than an interval lasts."""
        for (g, k), received in self.received.items():
            count, _, tau, chi = self.groups[g]
            self.add_within(k, count, [(-tau, received), (-chi, self.computed[g, k])])

    def add_within(self, k: int, count: int, busy: list[Term]) -> None:
        """Let what is busy in interval `k` fit into `count` times its length."""
        if k + 1 < len(self.instants):
            length = self.instants[k + 1] - self.instants[k]
            self.problem += linear(busy) >= -count * length
        else:
            self.problem += linear([(count, self.end), *busy]) >= count * self.instants[k]

    def add_causality(self) -> None:
        """Let a group compute only what it has received; in the end, all of it."""
        for g, (_, first, _, _) in enumerate(self.groups):
            for k in range(first, len(self.instants)):
                terms = []
                for j in range(first, k + 1):
                    terms += [(1, self.received[g, j]), (-1, self.computed[g, j])]
                self.problem += linear(terms) >= 0


def least_completion(
    instance: Instance, limits: Limits, solver: str, seed: int, *, proven: bool = True
) -> Outcome:
    """Return what no plan of any kind ends before; in exact numbers with a proof, if wanted.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> least_completion(instance, Limits(), "HiGHS", 0).bound
    Fraction(3, 1)
    """
    instants = _instants(instance)
    low, high = 1, len(instants)
    while True:
        middle = (low + high) // 2
        model = FluidModel(instance, middle).minimise_completion()
        exact = proven and instance.exact
        outcome = optimise(model.problem, limits, solver=solver, seed=seed, exact=exact)
        if outcome.status is not Status.OPTIMAL or outcome.value is None or low == high:
            return outcome
        if middle < len(instants) and outcome.value > instants[middle]:
            low = middle + 1
        elif outcome.value > instants[middle - 1] * (1 if outcome.proven else 1 + FLOATING):
            return outcome
        else:
            high = max(low, middle - 1)


def _instants(instance: Instance) -> list[Any]:
    """Return the distinct ready times, thinned out to `MOST_GROUPS`; the first one stays."""
    instants = sorted(set(instance.ready_times))
    if len(instants) <= MOST_GROUPS:
        return instants
    step = len(instants) / MOST_GROUPS
    return [instants[int(k * step)] for k in range(MOST_GROUPS)]
