"""The registered bounds without schedules.

`bound_knapsack` needs no solver: the others are the aggregated relaxation of
`dlopt.models.coreservation.aggregated_relaxation`, which states it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dlopt.backends.time_budget import Budget
from dlopt.models.common.result_values import as_objective_value
from dlopt.models.coreservation import aggregated_relaxation, machine_minimisation
from dlopt.models.coreservation.objective import trivial_bound
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import to_objective_bound
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def bound_lp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every schedule by the linear aggregated relaxation: requests accepted fractionally.

    Parameters
    ----------
    instance : Instance
    objective : str
        As in `exact_plan`; by default ``benefit``.
    limits : Limits, optional
    hint
        Not used.
    seed : int

    Returns
    -------
    Result
        ``BOUND``. Of an objective with levels, each level by itself.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    Guarantee: proven in exact arithmetic from the duals of a solver. Disaggregating the machines
    gives the same bound where parts float over identical machines. Complexity: one sparse linear
    program. Source: ours, the relaxation of the model over event points.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_lp(Instance((Machine("m", 5),), asked)).bound
    Fraction(1, 2)
    """
    return _relaxation_result(instance, objective, limits, seed, "bound-aggregated-lp", 1)


def bound_pooled(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every schedule by the aggregated relaxation, with requests accepted or rejected.

    Parameters
    ----------
    instance, objective, hint, seed
        As in `bound_lp`.
    limits : Limits, optional
        `work` counts branch-and-bound nodes.

    Returns
    -------
    Result
        ``BOUND``; of an objective with levels, the next levels have trivial bounds, for the one
        before may be out of reach.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    Guarantee: proven in exact arithmetic, at a limit too. Complexity: exponential in the worst
    case; up to some hundred requests mostly a few branch-and-bound nodes. Source: ours.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_pooled(Instance((Machine("m", 5),), asked), objective="rejections").bound
    1
    """
    return _relaxation_result(
        instance, objective, limits, seed, "bound-aggregated", aggregated_relaxation.MAX_NODES
    )


def bound_knapsack(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every schedule by fractional knapsacks at single instants, machines aggregated.

    Parameters
    ----------
    instance : Instance
    objective : str
        ``benefit``, ``rejections`` or ``rejected-priority``.
    limits, hint, seed
        Not used.

    Returns
    -------
    Result
        ``BOUND``.

    Notes
    -----
    Instants are chosen greedily, each time the one with the largest loss; the parts active there
    are removed with it, so losses add up. At an instant parts are accepted fractionally, those of
    the largest benefit per unit of CPU first, on the concave hull of the benefit. Guarantee:
    computed in fractions, without a solver. Complexity: O(k n log n) for n parts and k instants.
    Source: the bound of Dantzig (Operations Research 5, 1957) for a knapsack.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_knapsack(Instance((Machine("m", 5),), asked)).bound
    Fraction(1, 2)
    """
    goal = objective or "benefit"
    scaled = ScaledInstance.from_instance(instance, goal)
    bound = trivial_bound(scaled, goal) - _independent_losses(scaled, goal)
    if goal == "rejections":
        bound = Fraction(bound // 1)
    return _to_result(scaled, [bound], "bound-knapsack", seed, None)


def _independent_losses(scaled: ScaledInstance, level: str) -> Fraction:
    """Return the losses of fractional knapsacks at instants that share no part."""
    instants = [(set(clique.parts), sum(clique.free)) for clique in scaled.maximal_cliques()]
    total = Fraction(0)
    while instants:
        losses = [_knapsack_loss(scaled, level, parts, free) for parts, free in instants]
        worst = max(range(len(instants)), key=losses.__getitem__)
        if not losses[worst]:
            break
        total += losses[worst]
        removed = instants[worst][0]
        instants = [(parts - removed, free) for parts, free in instants if parts - removed]
    return total


def _knapsack_loss(scaled: ScaledInstance, level: str, parts: set[int], free: int) -> Fraction:
    """Return what a fractional knapsack of aggregated machines loses of the largest value.

    It is ``max sum_n s_n u_n`` subject to ``sum_n u_n <= free``, ``0 <= u_n <= length_n``, over the
    segments of the concave hulls with slopes ``s_n``: filled in the order of the slopes.
    """
    segments: list[tuple[Fraction, int]] = []
    largest = Fraction(0)
    for k in {scaled.parts[i].request for i in parts}:
        members = [i for i in scaled.requests[k].parts if i in parts]
        weight = scaled.weight(level, k)
        if level == "benefit":
            for i in members:
                largest += weight * max(segment.max_benefit for segment in scaled.parts[i].segments)
                segments += [(weight * slope, length) for slope, length in _hull(scaled, i)]
        else:
            size = sum(scaled.parts[i].minimum for i in members)
            if size:  # a request that needs nothing is never lost
                largest += weight
                segments.append((weight / size, size))
    value, room = Fraction(0), free
    for slope, length in sorted(segments, reverse=True):
        units = min(length, room)
        value, room = value + slope * units, room - units
    return largest - value


def _hull(scaled: ScaledInstance, i: int) -> list[tuple[Fraction, int]]:
    """Return the slopes and lengths of the concave hull of a benefit, from a share of 0."""
    points = [(0, Fraction(0))]
    for segment in scaled.parts[i].segments:
        points += [(segment.low, segment.benefit), (segment.high, segment.max_benefit)]
    hull: list[tuple[int, Fraction]] = []
    for x, y in points:
        if hull and hull[-1][0] == x:  # a jump: the upper value holds
            hull.pop()
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return [(_slope(a, b), b[0] - a[0]) for a, b in pairwise(hull)]


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])


def _relaxation_result(
    instance: Instance,
    objective: str | None,
    limits: Limits,
    seed: int,
    method: str,
    max_nodes: int,
) -> Answer:
    """Bound the first level by the relaxation of each component, the others trivially."""
    goal = objective or "benefit"
    scaled = ScaledInstance.from_instance(instance, goal)
    bounds = [_level_bound(scaled, scaled.levels[0], limits, seed, max_nodes)]
    bounds += [trivial_bound(scaled, level) for level in scaled.levels[1:]]
    if scaled.levels[1:] == ("machines",) and bounds[0] == 0:
        machines = machine_minimisation.minimise_machines(scaled, limits, seed)
        bounds[1] = -Fraction(machines.bound)
    return _to_result(scaled, bounds, method, seed, "HiGHS")


def _level_bound(
    scaled: ScaledInstance, level: str, limits: Limits, seed: int, max_nodes: int
) -> Fraction:
    """Return the bound of a maximised level."""
    budget = Budget(limits)
    loss = Fraction(0)
    waiting = len(scaled.parts)
    for members in scaled.time_components():
        component = scaled.subinstance(members, scaled.free, {})
        share, waiting = len(component.parts) / waiting, waiting - len(component.parts)
        try:
            left = budget.left(share)
        except TimeoutError:
            left = replace(limits, time_s=1e-6)
        bound = aggregated_relaxation.upper_bound(
            component, level, left, max_nodes=max_nodes, seed=seed
        )
        assert bound.value is not None  # no level is fixed: rejecting all is feasible
        loss += max(trivial_bound(component, level) - bound.value, Fraction(0))
    total = trivial_bound(scaled, level) - loss
    return Fraction(total // 1) if level == "rejections" else total


def _to_result(
    scaled: ScaledInstance,
    bounds: Sequence[Fraction],
    method: str,
    seed: int,
    solver: str | None,
) -> Answer:
    """Return bounds of all maximised levels as a result."""
    pairs = zip(scaled.levels, bounds, strict=True)
    return Result(
        Status.BOUND,
        objective=scaled.objective,
        bound=as_objective_value(to_objective_bound(scaled, *pair) for pair in pairs),
        reason="certified in exact arithmetic",
        method=method,
        seed=seed,
        plan_class="any",
        solver=solver,
        proof="exact",
    )
