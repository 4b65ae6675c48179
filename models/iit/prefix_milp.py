"""Identical nodes in ready order: how many of them to use.

With identical nodes it is optimal to serve a prefix of the nodes in the order of their ready
times, with and without set-up costs. Two ways to find its length:

*Bisection over linear programs.* Let ``T(n)`` be the optimum of `SequenceModel` over the first
`n` nodes, every one paying its set-up costs, and ``x_n`` the load of the last. Then ``T`` falls
as long as ``x_n > 0`` and never falls afterwards, so that the last `n` with ``x_n > 0`` is the
best. Proof: for a completion `t` let ``X_n(t)`` be the most time that node `n` can spend on its
load when all nodes before it are filled; it grows with `t`, and ``X_{n+1}(t) <= beta X_n(t)``.
The first `n` nodes do the sum of the ``X_i(t)``, uniquely if chi > 0, and no more. If
``X_n > 0`` at ``T(n)``, then leaving node `n` out loses load, so ``T(n-1) > T(n)``. If node `n`
cannot get load, ``T(n)`` is the instant at which ``X_n`` is 0, and that instant grows with `n`.
If chi = 0 the channel is the bottleneck, and the node that is ready first does it all.

*Mixed-integer programming* with a binary ``z_n`` a node, ``z_n >= z_{n+1}``; no big M is needed:

minimise    T
subject to  s_n >= r_n z_n
            s_{n+1} >= s_n + theta_cm z_n + tau x_n
            T >= s_n + (theta_cm + theta_cp) z_n + (tau + chi) x_n
            x_n <= cap_n z_n,   sum_n x_n = load,   z_n >= z_{n+1}
            z_n = 1                 if the first n - 1 nodes cannot do the load by `upper`

With `upper` any completion that is known to be attainable, the last line cuts no optimum off: the
first `n - 1` nodes do no more than the sum of the ``X_i(upper)`` by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulp

from dlopt.arithmetic import FLOATING
from dlopt.backends.pulp import UNPROVEN, Outcome, linear, optimise
from dlopt.backends.time_budget import Budget
from dlopt.models.iit.fixed_sequence_lp import SequenceModel, Timed
from dlopt.problems.earliest_schedule import by_ready_time, number_field
from dlopt.problems.iit.data import Instance
from dlopt.result import Limits, Status


class Prefixes:
    """The linear programs of all prefixes of one instance, each solved once, on demand.

    In exact numbers a program is proven only where its answer counts: the search itself follows
    floats, and `longest_useful` then steps until the proven programs confirm its end.
    """

    def __init__(self, instance: Instance, limits: Limits, solver: str, seed: int) -> None:
        self.instance, self.solver, self.seed = instance, solver, seed
        self.order, self.ready = by_ready_time(instance)
        self.solved: dict[tuple[int, bool], Timed] = {}
        self.useful: int | None = None
        self.budget = Budget(limits)
        self.best: Timed | None = None

    def at(self, n: int, *, proven: bool = True) -> Timed:
        """Return the optimum of the first `n` nodes; in exact numbers a proven one, if wanted.

        Raises
        ------
        TimeoutError
            If the limits are used up; or, as the text says then, if the program is not solved for
            its numbers, or if loads do not attain what the solver says.
        """
        proven = proven and self.instance.exact
        if (n, proven) not in self.solved:
            model = SequenceModel(self.instance, self.order[:n]).minimise_completion()
            timed = model.solve(self.budget.left(), self.solver, self.seed, proven)
            if timed.outcome.status is Status.UNKNOWN:
                raise TimeoutError(UNPROVEN)
            if timed.outcome.status is not Status.OPTIMAL:
                raise TimeoutError
            if self.best is None or timed.completion < self.best.completion:
                self.best = timed
            if not timed.attained:
                raise TimeoutError(f"no plan ends when {self.solver} says that the best one does")
            self.solved[n, proven] = timed
        return self.solved[n, proven]

    def longest_useful(self) -> int:
        """Return the most nodes that all get a load when all of them are used."""
        if self.useful is None:
            size = self._worth_trying()
            n = max(1, _last(lambda n: self.at(n, proven=False).last_load > 0, size))
            while n > 1 and not self._helps(n):
                n -= 1
            while n < size and self._helps(n + 1):
                n += 1
            self.useful = n
        return self.useful

    def _helps(self, n: int) -> bool:
        """Tell whether node `n` makes the load end earlier.

        Floats may hide a load that is tiny beside the set-up costs: they compare optima. Plans
        would not do, for they leave out a node without a load, set-up costs and all.
        """
        if self.at(n).outcome.proven:
            return bool(self.at(n).last_load > 0)
        return bool(self.at(n).bound < self.at(n - 1).bound)

    def _worth_trying(self) -> int:
        """Return how many nodes are ready before the first could be done with all of the load."""
        cluster = self.instance.cluster
        if cluster.chi_of(0) == 0:
            return 1
        overhead = cluster.theta_cm + cluster.theta_cp
        alone = self.at(1, proven=False).completion
        return max(1, sum(1 for ready in self.ready if ready + overhead < alone))

    def most_load(self, deadline: Any) -> Any:
        """Return the most load that is done by a deadline."""

        def by(n: int) -> Timed:
            model = SequenceModel(self.instance, self.order[:n]).maximise_load(deadline)
            return model.solve(self.budget.left(), self.solver, self.seed, self.instance.exact)

        def useful(n: int) -> bool:
            timed = by(n)
            return timed.outcome.status is Status.OPTIMAL and timed.last_load > 0

        size = 1 if self.instance.cluster.chi_of(0) == 0 else len(self.order)
        last = _last(useful, size)
        return by(last).completion if last else 0


class PrefixModel:
    """The MILP over prefixes; see the module for the program.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    most : int
        Use this many nodes at the most.
    upper : Number
        A completion time that is known to be attainable; it clamps the loads, leaves out the
        nodes that are ready too late to help, and tells how many are needed in any case.
    """

    def __init__(self, instance: Instance, most: int, upper: Any) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        order, ready = by_ready_time(instance)
        self.instance = instance
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = cast(cluster.theta_cm) + cast(cluster.theta_cp)
        self.tau = cast(cluster.tau_of(0))
        self.unit = self.tau + cast(cluster.chi_of(0))
        self.total = cast(instance.load)
        self.ready = [cast(r) for r in ready[:most] if r + self.overhead < upper] or [
            cast(ready[0])
        ]
        self.nodes = order[: len(self.ready)]
        self.upper = upper
        self.problem = pulp.LpProblem("prefix", pulp.LpMinimize)
        count = range(len(self.nodes))
        self.start = [self.problem.add_variable(f"s_{n}", lowBound=0) for n in count]
        self.load = [self.problem.add_variable(f"x_{n}", lowBound=0) for n in count]
        self.used = [self.problem.add_variable(f"z_{n}", cat=pulp.LpBinary) for n in count]
        self.end = self.problem.add_variable("T", lowBound=0)

    def minimise_completion(self) -> PrefixModel:
        """State the program above."""
        self.problem += self.end
        self.add_ready_times()
        self.add_one_port()
        self.add_results()
        self.add_loads()
        self.add_prefix()
        self.add_needed_nodes()
        return self

    def add_ready_times(self) -> None:
        """Let a transmission start when its node is ready, if the node is used."""
        for n, ready in enumerate(self.ready):
            self.problem += linear([(1, self.start[n]), (-ready, self.used[n])]) >= 0

    def add_one_port(self) -> None:
        """Let a transmission start when the one before it has ended."""
        for n in range(len(self.nodes) - 1):
            sent = [
                (-1, self.start[n]),
                (-self.theta_cm, self.used[n]),
                (-self.tau, self.load[n]),
            ]
            self.problem += linear([(1, self.start[n + 1]), *sent]) >= 0

    def add_results(self) -> None:
        """Let every chunk be computed by the end."""
        for n in range(len(self.nodes)):
            done = [
                (-1, self.start[n]),
                (-self.overhead, self.used[n]),
                (-self.unit, self.load[n]),
            ]
            self.problem += linear([(1, self.end), *done]) >= 0

    def add_loads(self) -> None:
        """Give load to used nodes only, no more than fits before `upper`; all of it in sum."""
        for n, ready in enumerate(self.ready):
            room = (self.upper - ready - self.overhead) / self.unit
            most = min(self.total, max(room, 0))
            self.problem += linear([(most, self.used[n]), (-1, self.load[n])]) >= 0
        self.problem += linear((1, load) for load in self.load) == self.total

    def add_prefix(self) -> None:
        """Use a node only if all before it are used."""
        for n in range(len(self.nodes) - 1):
            self.problem += linear([(1, self.used[n]), (-1, self.used[n + 1])]) >= 0

    def add_needed_nodes(self) -> None:
        """Use a node without which the others before it could not do the load by `upper`."""
        upper, overhead, theta_cm = (float(t) for t in (self.upper, self.overhead, self.theta_cm))
        unit, total = float(self.unit), float(self.total)
        beta = 1 - float(self.tau) / unit
        done, channel = 0.0, float("inf")
        for used, ready in zip(self.used, self.ready, strict=True):
            if done * (1 + FLOATING) >= total:  # floats tell with a margin, on the safe side
                break
            used.lowBound = 1
            time_left = min(upper - float(ready) - overhead, channel)
            done += max(time_left, 0.0) / unit
            channel = beta * time_left - theta_cm

    def solve(self, limits: Limits, solver: str, seed: int) -> tuple[list[int], Outcome]:
        """Return the nodes used, in order, and what the solver says."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        if not outcome.assignment:
            return [], outcome
        used = [node for node, z in zip(self.nodes, self.used, strict=True) if outcome[z] > 0.5]
        return used, outcome


def _last(holds: Callable[[int], bool], last: int) -> int:
    """Return the largest `n` in 1..last for which `holds`, true up to it; 0 if for none.

    It doubles first, for small programs are much cheaper than large ones.
    """
    low, high = 0, 1
    while high <= last and holds(high):
        low, high = high, 2 * high
    high = min(high, last + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
