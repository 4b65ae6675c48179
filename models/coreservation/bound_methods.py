"""The registered bounds without schedules.

`bound_knapsack` needs no solver: the others are the aggregated relaxation of
`dlopt.models.coreservation.aggregated_relaxation`, which states it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.common.objective_levels import as_objective_value
from dlopt.models.coreservation import (
    aggregated_relaxation,
    knapsack_bound,
    machine_minimisation,
)
from dlopt.models.coreservation.objective import trivial_bound
from dlopt.models.coreservation.requests import time_components
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import to_objective_bound
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def bound_lp(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS, seed: int = 0
) -> Answer:
    """Bound every schedule by the linear aggregated relaxation: requests accepted fractionally.

    Parameters
    ----------
    instance : Instance
    objective : str
        As in `exact_plan`; by default ``benefit``.
    limits : Limits, optional
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
    return _relaxation_result(instance, objective, limits, seed, 1)


def bound_pooled(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS, seed: int = 0
) -> Answer:
    """Bound every schedule by the aggregated relaxation, with requests accepted or rejected.

    Parameters
    ----------
    instance, objective, seed
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
    return _relaxation_result(instance, objective, limits, seed, aggregated_relaxation.MAX_NODES)


def bound_knapsack(instance: Instance, *, objective: str | None = None) -> Answer:
    """Bound every schedule by fractional knapsacks at single instants, machines aggregated.

    Parameters
    ----------
    instance : Instance
    objective : str
        ``benefit``, ``rejections`` or ``rejected-priority``.

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
    bound = knapsack_bound.upper_bound(scaled, goal)
    return _to_result(scaled, [bound], None)


def _relaxation_result(
    instance: Instance,
    objective: str | None,
    limits: Limits,
    seed: int,
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
    return _to_result(scaled, bounds, "HiGHS")


def _level_bound(
    scaled: ScaledInstance, level: str, limits: Limits, seed: int, max_nodes: int
) -> Fraction:
    """Return the bound of a maximised level."""
    budget = Budget(limits)
    loss = Fraction(0)
    waiting = len(scaled.parts)
    for members in time_components(scaled.requests):
        component = scaled.subinstance(members, scaled.free, {})
        share, waiting = len(component.parts) / waiting, waiting - len(component.parts)
        bound = aggregated_relaxation.upper_bound(
            component, level, budget.left_or_minimum(share), max_nodes=max_nodes, seed=seed
        )
        assert bound.value is not None  # no level is fixed: rejecting all is feasible
        loss += max(trivial_bound(component, level) - bound.value, Fraction(0))
    total = trivial_bound(scaled, level) - loss
    return Fraction(total // 1) if level == "rejections" else total


def _to_result(scaled: ScaledInstance, bounds: Sequence[Fraction], solver: str | None) -> Answer:
    """Return bounds of all maximised levels as a result."""
    pairs = zip(scaled.levels, bounds, strict=True)
    return Result(
        Status.BOUND,
        objective=scaled.objective,
        bound=as_objective_value(to_objective_bound(scaled, *pair) for pair in pairs),
        reason="certified in exact arithmetic",
        plan_class="any",
        solver=solver,
        proof="exact",
    )
