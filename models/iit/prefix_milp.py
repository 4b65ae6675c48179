"""How many identical nodes to use, in the order of their ready times: LPs by bisection, or a MILP.

With identical nodes it is optimal to serve a prefix of the nodes in the order of their ready
times, with and without set-up costs. Its length is found in one of two ways.

*Bisection over linear programs.* Let ``T(n)`` be the optimum of `FixedSequenceLp` over the first
`n` nodes, every one paying its set-up costs, and ``x_n`` the load of the last. Then ``T`` falls
as long as ``x_n > 0`` and never falls afterwards, so that the last `n` with ``x_n > 0`` is the
best. Proof: for a completion `t` let ``X_n(t)`` be the most time that node `n` can spend on its
load when all nodes before it are filled; it grows with `t`, and ``X_{n+1}(t) <= beta X_n(t)``.
The first `n` nodes do the sum of the ``X_i(t)``, uniquely if chi > 0, and no more. If
``X_n > 0`` at ``T(n)``, then leaving node `n` out loses load, so ``T(n-1) > T(n)``. If node `n`
cannot get load, ``T(n)`` is the instant at which ``X_n`` is 0, and that instant grows with `n`.
If chi = 0 the channel is the bottleneck, and the node that is ready first does it all.

*Mixed-integer programming* with a binary ``z_n`` per node; no big M is needed:

minimise    T
subject to  s_n >= r_n z_n                                         the node is ready
            s_{n+1} >= s_n + theta_cm z_n + tau x_n                one port
            T >= s_n + (theta_cm + theta_cp) z_n + (tau + chi) x_n
            x_n <= cap_n z_n,   sum_n x_n = load,   z_n >= z_{n+1}
            z_n = 1                 if the first n - 1 nodes cannot do the load by `upper`
            s, x >= 0,   z in {0, 1}

With `upper` any completion time that is known to be attainable, the last rows cut off no optimum:
the first `n - 1` nodes do no more than the sum of the ``X_i(upper)`` by then.

Source: ours. The recursion for ``X_i`` is also that of `dlopt.heuristics.iit.edf_iit_2`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulp

from dlopt.arithmetic import FLOATING, Number
from dlopt.backends.pulp import UNPROVEN, Outcome, Report, linear, optimise
from dlopt.backends.time_budget import Budget
from dlopt.models.iit.fixed_sequence_lp import CompletionResult, FixedSequenceLp
from dlopt.problems.earliest_schedule import by_ready_time, number_field
from dlopt.problems.iit.data import Instance
from dlopt.result import Limits, Status


class PrefixSearch:
    """The linear programs of all prefixes of one instance, each solved once, on demand.

    For exact instances a program is solved with a proof only where its answer counts: the
    bisection follows floats, and `longest_useful_prefix` then steps until the proven programs
    confirm its end.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 400), load=3)
    >>> prefixes = PrefixSearch(instance, Limits(), "HiGHS", 0)
    >>> prefixes.longest_useful_prefix(), str(prefixes.solve_prefix(2).completion)
    (2, '27/5')
    """

    def __init__(self, instance: Instance, limits: Limits, solver: str, seed: int) -> None:
        self.instance, self.solver, self.seed = instance, solver, seed
        self.order, self.ready = by_ready_time(instance)
        self.solved: dict[tuple[int, bool], CompletionResult] = {}
        self.useful_length: int | None = None
        self.budget = Budget(limits)
        self.best: CompletionResult | None = None

    def solve_prefix(self, n: int, *, proven: bool = True) -> CompletionResult:
        """Return the optimum of the first `n` nodes; for exact instances a proven one, if asked.

        Raises
        ------
        TimeoutError
            If the limits are used up; or, as its text says then, if the program is not solved for
            its numbers, or if loads do not attain the optimum that the solver reports.
        """
        proven = proven and self.instance.exact
        if (n, proven) not in self.solved:
            model = FixedSequenceLp(self.instance, self.order[:n]).minimise_completion()
            result = model.solve(self.budget.left(), self.solver, self.seed, proven)
            if result.outcome.status is Status.UNKNOWN:
                raise TimeoutError(UNPROVEN)
            if result.outcome.status is not Status.OPTIMAL:
                raise TimeoutError
            if self.best is None or result.completion < self.best.completion:
                self.best = result
            if not result.is_attained:
                raise TimeoutError(f"no schedule attains the optimum that {self.solver} reports")
            self.solved[n, proven] = result
        return self.solved[n, proven]

    def longest_useful_prefix(self) -> int:
        """Return the largest number of nodes that all get load when all of them are used."""
        if self.useful_length is None:
            size = self.max_useful_length()
            n = max(
                1,
                _largest_true(lambda n: self.solve_prefix(n, proven=False).last_load > 0, size),
            )
            while n > 1 and not self._last_node_helps(n):
                n -= 1
            while n < size and self._last_node_helps(n + 1):
                n += 1
            self.useful_length = n
        return self.useful_length

    def _last_node_helps(self, n: int) -> bool:
        """Tell whether node `n` makes the load end earlier.

        Floats may lose a load that is tiny compared with the set-up costs, so that optima are
        compared there. Schedules would not do: they leave out a node without load, and its set-up
        costs.
        """
        if self.solve_prefix(n).outcome.proven:
            return bool(self.solve_prefix(n).last_load > 0)
        return bool(self.solve_prefix(n).bound < self.solve_prefix(n - 1).bound)

    def max_useful_length(self) -> int:
        """Return how many nodes can start before the first node alone would have done the load."""
        cluster = self.instance.cluster
        if cluster.chi_of(0) == 0:
            return 1
        overhead = cluster.theta_cm + cluster.theta_cp
        first_alone = self.solve_prefix(1, proven=False).completion
        return max(1, sum(1 for ready in self.ready if ready + overhead < first_alone))

    def maximum_load(self, deadline: Any) -> Any:
        """Return the largest load that can be done by a deadline."""

        def maximise_prefix(n: int) -> CompletionResult:
            model = FixedSequenceLp(self.instance, self.order[:n]).maximise_load(deadline)
            return model.solve(self.budget.left(), self.solver, self.seed, self.instance.exact)

        def last_node_gets_load(n: int) -> bool:
            result = maximise_prefix(n)
            return result.outcome.status is Status.OPTIMAL and result.last_load > 0

        size = 1 if self.instance.cluster.chi_of(0) == 0 else len(self.order)
        length = _largest_true(last_node_gets_load, size)
        return maximise_prefix(length).completion if length else 0


class PrefixMilp:
    """The MILP over prefixes; see the module for the program.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    max_nodes : int
        Use at most so many nodes.
    upper : Number
        A completion time that is known to be attainable. It bounds the loads, leaves out the
        nodes that are ready too late to help, and fixes the nodes that are needed in any case.
    """

    def __init__(self, instance: Instance, max_nodes: int, upper: Any) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        order, ready = by_ready_time(instance)
        self.instance = instance
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = cast(cluster.theta_cm) + cast(cluster.theta_cp)
        self.tau = cast(cluster.tau_of(0))
        self.unit_time = self.tau + cast(cluster.chi_of(0))
        self.total = cast(instance.load)
        self.ready = [cast(r) for r in ready[:max_nodes] if r + self.overhead < upper] or [
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

    def minimise_completion(self) -> PrefixMilp:
        """State the program above."""
        self.problem += self.end
        self.add_ready_times()
        self.add_one_port()
        self.add_completion()
        self.add_loads()
        self.add_prefix()
        self.add_needed_nodes()
        return self

    def add_ready_times(self) -> None:
        """Start a transmission only when its node is ready, if the node is used."""
        for n, ready in enumerate(self.ready):
            self.problem += linear([(1, self.start[n]), (-ready, self.used[n])]) >= 0

    def add_one_port(self) -> None:
        """Start a transmission only when the one before it has ended."""
        for n in range(len(self.nodes) - 1):
            transmission_end = [
                (-1, self.start[n]),
                (-self.theta_cm, self.used[n]),
                (-self.tau, self.load[n]),
            ]
            self.problem += linear([(1, self.start[n + 1]), *transmission_end]) >= 0

    def add_completion(self) -> None:
        """Compute every chunk by T."""
        for n in range(len(self.nodes)):
            computation_end = [
                (-1, self.start[n]),
                (-self.overhead, self.used[n]),
                (-self.unit_time, self.load[n]),
            ]
            self.problem += linear([(1, self.end), *computation_end]) >= 0

    def add_loads(self) -> None:
        """Give load to used nodes only, as much as fits before `upper`; all of it in total."""
        for n, ready in enumerate(self.ready):
            capacity = (self.upper - ready - self.overhead) / self.unit_time
            capacity = min(self.total, max(capacity, 0))
            self.problem += linear([(capacity, self.used[n]), (-1, self.load[n])]) >= 0
        self.problem += linear((1, load) for load in self.load) == self.total

    def add_prefix(self) -> None:
        """Use a node only if all nodes before it are used."""
        for n in range(len(self.nodes) - 1):
            self.problem += linear([(1, self.used[n]), (-1, self.used[n + 1])]) >= 0

    def add_needed_nodes(self) -> None:
        """Use every node without which the nodes before it could not do the load by `upper`."""
        upper, overhead, theta_cm = (float(t) for t in (self.upper, self.overhead, self.theta_cm))
        unit_time, total = float(self.unit_time), float(self.total)
        beta = 1 - float(self.tau) / unit_time
        done, channel = 0.0, float("inf")
        for used, ready in zip(self.used, self.ready, strict=True):
            if done * (1 + FLOATING) >= total:  # the margin covers the rounding of floats
                break
            used.lowBound = 1
            time_left = min(upper - float(ready) - overhead, channel)
            done += max(time_left, 0.0) / unit_time
            channel = beta * time_left - theta_cm

    def chunks(self, outcome: Outcome) -> list[tuple[int, Number]]:
        """Return node and load of each chunk, in order; the loads add up but for rounding."""
        if not outcome.assignment:
            return []
        columns = zip(self.nodes, self.used, self.load, strict=True)
        return [(node, outcome[load]) for node, used, load in columns if outcome[used] > 0.5]

    def solve(
        self, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> tuple[list[int], Outcome]:
        """Return the nodes used, in order, and the outcome of the solver."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, report=report)
        return [node for node, _ in self.chunks(outcome)], outcome


def _largest_true(predicate: Callable[[int], bool], last: int) -> int:
    """Return the largest `n` in 1..last for which a predicate is true, 0 if for none.

    The predicate is true up to some `n` and false beyond. The search doubles first, for small
    programs are much cheaper than large ones.
    """
    low, high = 0, 1
    while high <= last and predicate(high):
        low, high = high, 2 * high
    high = min(high, last + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predicate(middle) else (low, middle)
    return low
