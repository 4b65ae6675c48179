"""The registered methods: heuristics for one divisible load."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from dlopt.arithmetic import Number, exact, shown
from dlopt.heuristics.iit.edf_iit_1 import heterogeneous_view
from dlopt.heuristics.iit.edf_iit_2 import maximum_loads, minimum_completion, n_min
from dlopt.heuristics.iit.equal_finish import equal_finish as divide_equally
from dlopt.heuristics.iit.equal_finish import service_orders
from dlopt.heuristics.iit.monotone_search import binary_search
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition, PartitionRule
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import (
    by_ready_time,
    earliest_plan,
    last_result,
    number_field,
    slack,
    surely_missed,
)
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

IitResult = Result[Solution]

_SCREENING_TOLERANCE = 1e-6
"""Relative error up to which floats preselect and exact numbers decide afterwards. Chosen by hand:
far above rounding errors; a larger one only evaluates more candidates exactly."""


def identical_nodes(instance: Instance) -> str | None:
    """Return why a rule for identical nodes does not apply, or None if it does."""
    return None if instance.cluster.identical else "its nodes differ"


def no_setup_costs(instance: Instance) -> str | None:
    """Return why a rule for identical nodes without set-up costs does not apply, or None."""
    if instance.cluster.has_setup_costs:
        return "it has set-up costs"
    return identical_nodes(instance)


def opr(
    instance: Instance, *, objective: str = "completion", assignment: str = "best"
) -> IitResult:
    """Divide by the optimal partitioning rule; all nodes wait for the last of them.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    objective : {"completion", "nodes"}
        ``nodes`` takes the fewest that meet the deadline (the papers' MN assignment).
    assignment : {"best", "all"}
        For ``completion``: the number of nodes that ends first, or the papers' AN assignment,
        ``min(N, n_star)``.

    Returns
    -------
    Result
        ``FEASIBLE``, or ``UNKNOWN`` if this rule does not meet the deadline.

    Notes
    -----
    Guarantee: valid plans; no ratio to the optimum. Complexity: O(N log N). Source: Mamat 2011,
    sections 4.2.3 and 4.3.1.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> opr(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)).value
    Fraction(32, 5)
    """
    return _plan_by_rule(OptimalPartition.of(instance.cluster), instance, objective, assignment)


def epr(
    instance: Instance, *, objective: str = "completion", assignment: str = "best"
) -> IitResult:
    """Divide into equal loads; all nodes wait for the last of them.

    Parameters, result and complexity are those of `opr`. Source: Mamat 2011, section 4.3.2.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> epr(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)).value
    Fraction(7, 1)
    """
    return _plan_by_rule(EqualPartition.of(instance.cluster), instance, objective, assignment)


def edf_iit_1(
    instance: Instance, *, objective: str = "completion", limits: Limits = NO_LIMITS
) -> IitResult:
    """Divide in the heterogeneous view of `dlopt.heuristics.iit.edf_iit_1`.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    objective : {"completion", "nodes"}
        ``completion`` takes the prefix with the earliest promise, ``nodes`` the shortest prefix
        whose promise meets the deadline.
    limits : Limits, optional
        The prefixes that are not evaluated within the time limit are skipped.

    Notes
    -----
    Guarantee: valid plans that end no later than promised. Complexity: O(N^2), a promise for
    every prefix. Source: Lin et al. 2007 as cited in Mamat 2011, section 6.4.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> edf_iit_1(Instance(Cluster(2, tau=1, chi=1), (0, 1), load=3)).value
    Fraction(30, 7)
    """
    order, ready = by_ready_time(instance)
    stop = None if limits.time_s is None else time.monotonic() + limits.time_s
    deadline = instance.absolute_deadline if objective == "nodes" else None
    best, reason = None, None
    rough = _rough_promises(instance, ready, stop)
    if len(rough) < len(ready) and stop is not None and time.monotonic() > stop:
        reason = f"the time limit left {len(ready) - len(rough)} of {len(ready)} prefixes untried"
    # Floats exclude hopeless prefixes; the given numbers decide among the others.
    limit = min(rough, default=0.0) if deadline is None else float(deadline)
    for n, guess in enumerate(rough, start=1):
        if guess <= limit * (1 + _SCREENING_TOLERANCE):
            view = heterogeneous_view(instance.cluster, ready, instance.load, n)
            if view is not None and (best is None or view.promise < best.promise):
                best = view
            if best is not None and deadline is not None:
                if best.promise <= deadline + slack(instance):
                    break
                best = None
    if best is None:
        earliest = f"the earliest promise is {shown(min(rough))}" if rough else "nothing was tried"
        return _no_solution(reason or earliest)
    plan = earliest_plan(instance, order, best.loads)
    return _to_result(instance, plan, objective, reason=reason)


def _rough_promises(instance: Instance, ready: Sequence[Number], stop: float | None) -> list[float]:
    """Return the promise of every prefix in floats, until one is useless or the time is up."""
    cluster = instance.cluster
    floating = Cluster(cluster.nodes, *map(float, cluster.costs_of(0)))
    times = [float(exact(instant) - exact(ready[0])) for instant in ready]
    load, origin = float(instance.load), float(ready[0])
    promises: list[float] = []
    least = math.inf
    for n, instant in enumerate(times, start=1):
        if instant >= least * (1 + _SCREENING_TOLERANCE) or (
            stop is not None and time.monotonic() > stop
        ):
            break
        view = heterogeneous_view(floating, times, load, n)
        if view is None:
            break
        promise = float(view.promise)
        promises.append(origin + promise)
        least = min(least, promise)
    return promises


def edf_iit_2(
    instance: Instance, *, objective: str = "completion", limits: Limits = NO_LIMITS
) -> IitResult:
    """Serve a prefix of the nodes in ready order, in closed form: the optimum.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    objective : {"completion", "nodes"}
        Under ``nodes`` the fewest nodes that meet the deadline end as early as they can.
    limits : Limits, optional
        Of exact instances, the time: digits of their fractions grow with the number of nodes.

    Returns
    -------
    Result
        ``OPTIMAL``, or ``INFEASIBLE`` with the load that can be done by the deadline; ``LIMIT`` if
        the time is up.

    Notes
    -----
    Guarantee: optimal among plans with one chunk a node, with and without set-up costs.
    Complexity: O(N log N). Source: Mamat 2011, section 6.4; formulas in
    `dlopt.heuristics.iit.edf_iit_2`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> result = edf_iit_2(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> result.value, [str(chunk.load) for chunk in result.solution.chunks]
    (Fraction(39, 8), ['13/8', '13/12', '7/24'])
    """
    order, ready = by_ready_time(instance)
    cluster, deadline = instance.cluster, instance.absolute_deadline
    timed = instance.exact and limits.time_s is not None
    stop = time.monotonic() + (limits.time_s or 0) if timed else None

    def plan(most: int) -> Solution:
        _, loads = minimum_completion(cluster, ready, instance.load, most, stop)
        return earliest_plan(instance, order, loads)

    try:
        best = plan(len(ready))
    except TimeoutError:
        text = "fractions of so many nodes have too many digits for the time limit"
        return Result(
            Status.LIMIT, reason=f"{text}; floats are faster (--float-numbers)", plan_class="single"
        )
    if deadline is not None and not _meets_deadline(instance, best):
        if not surely_missed(instance, last_result(best)):
            return _no_solution("the deadline is missed by no more than rounding")
        done = sum(maximum_loads(cluster, ready, deadline))
        reason = f"at most {shown(done)} of load {shown(instance.load)} can be done by then"
        return Result(Status.INFEASIBLE, reason=reason, plan_class="single")
    if objective == "nodes" and deadline is not None:
        guess = n_min(cluster, ready, instance.load, deadline)
        n = len(best.chunks) if guess is None else guess
        best = plan(n)
        while not instance.exact and n > 1 and _meets_deadline(instance, fewer := plan(n - 1)):
            n, best = n - 1, fewer  # rounding has cost the guess a node
        if n > 1 and not instance.exact and not surely_missed(instance, last_result(fewer)):
            text = "with fewer nodes the deadline is missed by no more than rounding"
            return _to_result(instance, best, objective, reason=text)
    return _to_result(instance, best, objective, optimal=True)


def equal_finish(instance: Instance, *, objective: str = "completion") -> IitResult:
    """Serve nodes that may differ in a fixed order, so that all used ones end together.

    Of three orders (ready time, link speed, time alone) the best is kept.

    Parameters
    ----------
    instance : Instance
    objective : {"completion", "nodes"}
        ``nodes`` tries the orders cut after 1, 2, 4, ... nodes, then between.

    Notes
    -----
    Guarantee: valid plans; optimal for ``completion`` where nodes are identical without set-up
    costs. Complexity: O(N log N) a step. Source: divisible load theory (Bharadwaj et al. 1996);
    none of the papers treats heterogeneous nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> equal_finish(Instance(Cluster(2, tau=(1, 2), chi=(2, 1)), (0, 0), load=4)).value
    Fraction(36, 5)
    """
    plans = [
        _equal_finish(instance, order, objective) for order in service_orders(instance).values()
    ]
    found = [plan for plan in plans if plan is not None]
    if not found:
        return _no_solution("no order of service meets the deadline")
    plan = min(found, key=lambda plan: (_objective_value(plan, objective), last_result(plan)))
    return _to_result(instance, plan, objective)


def _equal_finish(instance: Instance, order: list[int], objective: str) -> Solution | None:
    def plan(most: int) -> Solution:
        nodes, loads = divide_equally(instance, order[:most])
        return earliest_plan(instance, nodes, loads)

    if objective == "completion":
        return plan(len(order))

    def in_time(most: int) -> bool:
        return _meets_deadline(instance, plan(most))

    for most in _doubling_sizes(len(order)):
        if in_time(most):
            fewest = binary_search(in_time, most // 2 + 1, most)
            return plan(fewest) if in_time(fewest) else plan(most)
    return None


def _doubling_sizes(last: int) -> Iterator[int]:
    count = 1
    while count < last:
        yield count
        count *= 2
    yield last


def _plan_by_rule(
    rule: PartitionRule, instance: Instance, objective: str, assignment: str
) -> IitResult:
    """Apply a partitioning rule for nodes that are all ready at once: they wait for the last."""
    order, ready = by_ready_time(instance)
    load = number_field(instance)(instance.load)
    deadline = instance.absolute_deadline
    usable = rule.n_star(load, len(ready)) or len(ready)

    def end(n: int) -> Number:
        return ready[n - 1] + rule.execution_time(load, n)

    if objective == "nodes" and deadline is not None:
        limit = deadline + slack(instance)
        n = next((n for n in range(1, usable + 1) if end(n) <= limit), 0)
        if n == 0:
            return _no_solution("no number of nodes meets the deadline under this rule")
    else:
        n = usable if assignment == "all" else min(range(1, usable + 1), key=end)
    plan = earliest_plan(instance, order, rule.loads(load, n), not_before=ready[n - 1])
    return _to_result(instance, plan, objective)


def _to_result(
    instance: Instance,
    plan: Solution,
    objective: str,
    *,
    optimal: bool = False,
    reason: str | None = None,
) -> IitResult:
    if not _meets_deadline(instance, plan):
        late = last_result(plan) - (instance.absolute_deadline or 0)
        return _no_solution(f"its schedule misses the deadline by {shown(late)}")
    value = _objective_value(plan, objective)
    return Result(
        Status.OPTIMAL if optimal else Status.FEASIBLE,
        solution=plan,
        objective=objective,
        value=value,
        bound=value if optimal else None,
        reason=reason,
        plan_class="single",
    )


def _objective_value(plan: Solution, objective: str) -> Number:
    """Return the objective value of a schedule with one chunk a node."""
    return last_result(plan) if objective == "completion" else len(plan.chunks)


def _no_solution(reason: str) -> IitResult:
    return Result(Status.UNKNOWN, reason=reason, plan_class="single")


def _meets_deadline(instance: Instance, plan: Solution) -> bool:
    deadline = instance.absolute_deadline
    return deadline is None or bool(last_result(plan) <= deadline + slack(instance))
