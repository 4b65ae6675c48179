"""Published formulas that are wrong, as the papers print them.

They exist to be reproduced and refuted; every one has a counterexample among the instances. No
other code uses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.iit.monotone_search import smallest_satisfying
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition, PartitionRule
from dlopt.problems.earliest_schedule import by_ready_time, earliest_plan, number_field
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import Result, Status

IitResult = Result[Solution]


def opr_logarithm(instance: Instance) -> IitResult:
    """Take ``n_min = ceil(ln gamma / ln beta)``, in floats, without set-up costs.

    What is wrong: at an exact power of beta the rounded logarithm may be one too many (a node is
    wasted) and, with exact data, one too few (the deadline is missed). `n_min` of
    `dlopt.heuristics.iit.partitioning_rules` compares the execution time itself.

    Notes
    -----
    Source: Lin et al. 2005, section 4.1, the formula after (4.6).
    """
    rule = OptimalPartition.of(instance.cluster)

    def formula(slack: Number) -> int | None:
        beta = float(rule.chi) / (float(rule.tau) + float(rule.chi))
        if slack <= 0 or not 0 < beta < 1:
            return None
        gamma = 1.0 - float(instance.load) * float(rule.tau) / float(slack)
        if gamma <= 0:
            return None
        return max(1, math.ceil(math.log(gamma) / math.log(beta)))

    return _plan_with_formula(rule, instance, formula)


def opr_binary_search(instance: Instance) -> IitResult:
    """Search the fewest nodes by halving 1..N, as if the execution time fell all the way.

    What is wrong: beyond `n_star` it does not fall, and the last number of nodes, tried first,
    fails where fewer suffice: feasible tasks are rejected. The schedules that it finds are
    feasible.

    Notes
    -----
    Source: the papers leave the search to the reader ("solved numerically", Mamat 2011, (4.7));
    this is the search that their monotonicity argument without set-up costs suggests.
    """
    rule = OptimalPartition.of(instance.cluster)
    load, most = number_field(instance)(instance.load), instance.cluster.nodes

    def halving(slack: Number) -> int | None:
        return smallest_satisfying(lambda n: bool(rule.execution_time(load, n) <= slack), most)

    return _plan_with_formula(rule, instance, halving)


def epr_roots(instance: Instance) -> IitResult:
    """Take ``n_min`` from the lower root of ``theta_cm n^2 - omega n + load chi``.

    What is wrong: the three printed cases overlook that no integer need lie between the roots.
    Then the number that the lower root rounds up to misses the deadline.

    Notes
    -----
    Source: Mamat 2011, section 4.3.2, the three cases after (4.10).
    """
    rule = EqualPartition.of(instance.cluster)
    work, theta = exact(instance.load) * exact(rule.chi), exact(rule.theta_cm)

    def formula(slack: Number) -> int | None:
        omega = exact(slack) - exact(instance.load) * exact(rule.tau) - exact(rule.theta_cp)
        discriminant = omega**2 - 4 * theta * work
        if discriminant < 0 or omega <= 0:
            return None
        if discriminant == 0:
            middle = omega / (2 * theta)
            return int(middle) if middle.denominator == 1 else None

        def beyond_lower_root(n: int) -> bool:
            left = 2 * theta * n - omega
            return left >= 0 or left**2 <= discriminant

        return smallest_satisfying(beyond_lower_root, max(1, math.ceil(omega / theta)))

    return _plan_with_formula(rule, instance, formula)


def opr_timeline(instance: Instance, *, objective: str = "completion") -> IitResult:
    """Read the completion off the last line of the printed timeline, one set-up time short.

    What is wrong: the line counts ``n - 1`` transmission set-ups for ``n`` transmissions, so that
    the last chunk is sent in less time than it takes and everything is promised ``theta_cm`` too
    early. The lines before it, and the closed form, are right.

    Notes
    -----
    Source: Lin et al. 2005, (4.10).
    """
    rule = OptimalPartition.of(instance.cluster)
    order, ready = by_ready_time(instance)
    load = number_field(instance)(instance.load)
    usable = rule.n_star(load, len(ready)) or len(ready)
    n = min(range(1, usable + 1), key=lambda n: ready[n - 1] + rule.execution_time(load, n))
    plan = earliest_plan(instance, order, rule.loads(load, n), not_before=ready[n - 1])
    *others, last = plan.chunks
    shortened = replace(
        last,
        transmission_end=last.transmission_end - rule.theta_cm,
        computation_start=last.computation_start - rule.theta_cm,
        computation_end=last.computation_end - rule.theta_cm,
    )
    return Result(
        Status.FEASIBLE,
        solution=Solution((*others, shortened)),
        objective=objective,
        value=ready[n - 1] + rule.execution_time(load, n) - rule.theta_cm,
        plan_class="single",
    )


def requires_transmission_setup(instance: Instance) -> str | None:
    """Return why the quadratic formula of EPR does not apply, or None if it does."""
    if not instance.cluster.identical:
        return "its nodes differ"
    return None if instance.cluster.theta_cm > 0 else "its transmissions have no set-up cost"


def _plan_with_formula(
    rule: PartitionRule, instance: Instance, formula: Callable[[Number], int | None]
) -> IitResult:
    """Wait for as many nodes as the formula requires, and rely on it for the deadline."""
    order, ready = by_ready_time(instance)
    load = number_field(instance)(instance.load)
    deadline = instance.absolute_deadline
    assert deadline is not None  # the objective needs it
    for available, instant in enumerate(ready, start=1):
        n = formula(deadline - _comparable(instant, deadline))
        if n is not None and n <= available:
            plan = earliest_plan(instance, order, rule.loads(load, n), not_before=instant)
            return Result(
                Status.FEASIBLE,
                solution=plan,
                objective="nodes",
                value=n,
                plan_class="single",
            )
    return Result(
        Status.UNKNOWN,
        reason="the formula finds no number of nodes",
        plan_class="single",
    )


def _comparable(instant: Number, deadline: Number) -> Number:
    """Return an instant of a type such that its difference to an exact deadline is a fraction."""
    floating = isinstance(deadline, float) or isinstance(instant, float)
    return instant if floating else exact(instant)
