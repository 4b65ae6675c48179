"""Fluid relaxation of a single divisible load: a lower bound on every schedule's completion time.

Loads are sent in infinitesimal chunks, without set-up costs. Between two ready times the set of
available nodes does not change. In interval `k` of length ``L_k``, the ``c_g`` nodes of group `g`
(equal ready time, tau and chi) receive ``a_gk`` and compute ``b_gk``:

minimise    T
subject to  sum_g tau_g a_gk <= L_k                           one port
            tau_g a_gk + chi_g b_gk <= c_g L_k                receive or compute, c_g nodes
            sum_{j<=k} b_gj <= sum_{j<=k} a_gj                compute what was received
            sum_gk b_gk = load,   sum_k a_gk = sum_k b_gk
            a, b >= 0

The last interval ends at T. Which interval that is, is found by bisection: if the optimum leaves
the last interval empty, there is one too many; if T passes the next ready time, one too few.

Source: ours; `dlopt.models.admission.fluid_relaxation` is the same for streams of tasks.
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

MAX_GROUPS = 24
"""Distinct ready times that are kept; the others are replaced by the earliest of their neighbours,
which leaves the bound valid. Chosen by hand: the bound grows with this number, the variables of the
linear programs with its square."""


class FluidRelaxation:
    """The program above over the first `intervals` distinct ready times.

    Parameters
    ----------
    instance : Instance
    intervals : int

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 5), load=3)
    >>> model = FluidRelaxation(instance, intervals=2).minimise_completion()
    >>> optimise(model.problem, Limits(), exact=True).value
    Fraction(11, 2)
    """

    def __init__(self, instance: Instance, intervals: int) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        instants = interval_starts(instance)
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
        # Load that is received and not computed may be left out, so that no variable exceeds the
        # load. The bound tells the solver the magnitude of the variables.
        self.received = {c: self._add_load_variable(f"a_{c[0]}_{c[1]}") for c in cells}
        self.computed = {c: self._add_load_variable(f"b_{c[0]}_{c[1]}") for c in cells}

    def _add_load_variable(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, lowBound=0, upBound=self.total)

    def minimise_completion(self) -> FluidRelaxation:
        """State the program above."""
        self.problem += self.end
        self.add_one_port()
        self.add_node_times()
        self.add_causality()
        self.problem += linear((1, load) for load in self.computed.values()) == self.total
        return self

    def add_one_port(self) -> None:
        """Limit the transmissions in an interval to its length."""
        for k in range(len(self.instants)):
            transmissions = [
                (-tau, self.received[g, k])
                for g, (_, first, tau, _) in enumerate(self.groups)
                if k >= first
            ]
            self.add_interval_capacity(k, 1, transmissions)

    def add_node_times(self) -> None:
        """Limit receiving and computing of a group in an interval to the time of its nodes."""
        for (g, k), received in self.received.items():
            count, _, tau, chi = self.groups[g]
            self.add_interval_capacity(k, count, [(-tau, received), (-chi, self.computed[g, k])])

    def add_interval_capacity(self, k: int, count: int, busy: list[Term]) -> None:
        """Limit busy time, given negated, in interval `k` to `count` times its length."""
        if k + 1 < len(self.instants):
            length = self.instants[k + 1] - self.instants[k]
            self.problem += linear(busy) >= -count * length
        else:
            self.problem += linear([(count, self.end), *busy]) >= count * self.instants[k]

    def add_causality(self) -> None:
        """Let a group compute only what it has received, and all of it by the end."""
        for g, (_, first, _, _) in enumerate(self.groups):
            for k in range(first, len(self.instants)):
                terms = []
                for j in range(first, k + 1):
                    terms += [(1, self.received[g, j]), (-1, self.computed[g, j])]
                self.problem += linear(terms) >= 0


def completion_lower_bound(instance: Instance, limits: Limits, solver: str, seed: int) -> Outcome:
    """Return a lower bound on the completion time of every schedule.

    For exact instances it is a rational proof.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> completion_lower_bound(instance, Limits(), "HiGHS", 0).bound
    Fraction(3, 1)
    """
    instants = interval_starts(instance)
    low, high = 1, len(instants)
    while True:
        middle = (low + high) // 2
        model = FluidRelaxation(instance, middle).minimise_completion()
        outcome = optimise(model.problem, limits, solver=solver, seed=seed, exact=instance.exact)
        if outcome.status is not Status.OPTIMAL or outcome.value is None or low == high:
            return outcome
        if middle < len(instants) and outcome.value > instants[middle]:
            low = middle + 1
        elif outcome.value > instants[middle - 1] * (1 if outcome.proven else 1 + FLOATING):
            return outcome
        else:
            high = max(low, middle - 1)


def interval_starts(instance: Instance) -> list[Any]:
    """Return at most `MAX_GROUPS` of the distinct ready times, the first one among them."""
    instants = sorted(set(instance.ready_times))
    if len(instants) <= MAX_GROUPS:
        return instants
    step = len(instants) / MAX_GROUPS
    return [instants[int(k * step)] for k in range(MAX_GROUPS)]
