"""Bounds without plans, and whether everything fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import aggregated_relaxation, machine_minimisation
from dlopt.models.coreservation.objective import trivial
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import bound_of
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status, Value

Answer = Result[Solution]


def bound_lp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by a linear program: requests accepted in part, machines as one.

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
    Guarantee: proven in fractions from the multipliers of a solver. Taking the machines one by
    one gives the same bound where parts float over machines that are alike. Complexity: one
    sparse linear program. Source: the relaxation of the packing over event points.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_lp(Instance((Machine("m", 5),), asked)).bound
    Fraction(1, 2)
    """
    return _bounded(instance, objective, limits, seed, "bound-aggregated-lp", 1)


def bound_pooled(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by accepting requests whole, with all machines as one at every instant.

    Parameters
    ----------
    instance, objective, hint, seed
        As in `bound_lp`.
    limits : Limits, optional
        `work` counts subproblems.

    Returns
    -------
    Result
        ``BOUND``; of an objective with levels, the next level is bounded by all that could be
        accepted, for the one before may be out of reach.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    Guarantee: proven in fractions, at a limit too. Complexity: exponential in the worst case; up
    to some hundred requests mostly a few subproblems. Source: ours.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_pooled(Instance((Machine("m", 5),), asked), objective="rejections").bound
    1
    """
    return _bounded(instance, objective, limits, seed, "bound-aggregated", 2000)


def bound_knapsack(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by knapsacks at single instants: what is there then shares all machines.

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
    Instants are taken one after the other, each time the one that loses most; the requests there
    are taken away with it, so losses add up. At an instant parts may be had in part, dearest
    first, after Dantzig: by what each unit of CPU is worth, on the concave hull of the benefit.
    Guarantee: computed in fractions, without a solver. Complexity: O(k n log n) for n parts and k
    instants. Source: the bound of Dantzig for a knapsack.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> bound_knapsack(Instance((Machine("m", 5),), asked)).bound
    Fraction(1, 2)
    """
    goal = objective or "benefit"
    case = Case.of(instance, goal)
    bound = trivial(case, goal) - _losses(case, goal)
    if goal == "rejections":
        bound = Fraction(bound // 1)
    return _result(case, [bound], "bound-knapsack", seed, None)


def _losses(case: Case, level: str) -> Fraction:
    """Return what knapsacks at instants that share no request lose."""
    rows = [(set(row.jobs), sum(row.free)) for row in case.crowds()]
    total = Fraction(0)
    while rows:
        losses = [_loss(case, level, jobs, free) for jobs, free in rows]
        worst = max(range(len(rows)), key=losses.__getitem__)
        if not losses[worst]:
            break
        total += losses[worst]
        gone = rows[worst][0]
        rows = [(jobs - gone, free) for jobs, free in rows if jobs - gone]
    return total


def _loss(case: Case, level: str, jobs: set[int], free: int) -> Fraction:
    """Return what a fractional knapsack of all machines together loses of the best."""
    lines: list[tuple[Fraction, int]] = []
    best = Fraction(0)
    for k in {case.jobs[i].wish for i in jobs}:
        own = [i for i in case.wishes[k].jobs if i in jobs]
        weight = case.weight(level, k)
        if level == "benefit":
            for i in own:
                best += weight * max(piece.best for piece in case.jobs[i].pieces)
                lines += [(weight * steep, run) for steep, run in _hull(case, i)]
        else:
            size = sum(case.jobs[i].least for i in own)
            if size:  # one that needs nothing is never lost
                best += weight
                lines.append((weight / size, size))
    reached, room = Fraction(0), free
    for steep, run in sorted(lines, reverse=True):
        taken = min(run, room)
        reached, room = reached + steep * taken, room - taken
    return best - reached


def _hull(case: Case, i: int) -> list[tuple[Fraction, int]]:
    """Return the slopes and lengths of the concave hull of a benefit, from a share of 0."""
    points = [(0, Fraction(0))]
    for piece in case.jobs[i].pieces:
        points += [(piece.low, piece.worth), (piece.high, piece.best)]
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


def _bounded(
    instance: Instance, objective: str | None, limits: Limits, seed: int, method: str, most: int
) -> Answer:
    """Bound the first level by the relaxation, span by span, the others by all there is."""
    goal = objective or "benefit"
    case = Case.of(instance, goal)
    levels = [_level(case, case.levels[0], limits, seed, most)]
    levels += [trivial(case, level) for level in case.levels[1:]]
    if case.levels[1:] == ("machines",) and levels[0] == 0:
        levels[1] = -Fraction(machine_minimisation.fewest(case, limits, seed).bound)
    return _result(case, levels, method, seed, "HiGHS")


def _level(case: Case, level: str, limits: Limits, seed: int, most: int) -> Fraction:
    """Return the bound of a level, such that more is better."""
    everything = trivial(case, level)
    budget = Budget(limits)
    lost = Fraction(0)
    waiting = len(case.jobs)
    for span in case.spans():
        part = case.within(span, case.free, {})
        share, waiting = len(part.jobs) / waiting, waiting - len(part.jobs)
        try:
            left = budget.left(share)
        except TimeoutError:
            left = replace(limits, time_s=1e-6)
        found = aggregated_relaxation.upper_bound(part, level, left, most=most, seed=seed)
        assert found.worth is not None  # nothing is pinned: rejecting all is a plan
        lost += max(trivial(part, level) - found.worth, Fraction(0))
    bound = everything - lost
    return Fraction(bound // 1) if level == "rejections" else bound


def _result(
    case: Case, bounds: Sequence[Fraction], method: str, seed: int, solver: str | None
) -> Answer:
    """Return bounds of all levels, each such that more is better, as a result."""
    levels = [bound_of(case, level, one) for level, one in zip(case.levels, bounds, strict=True)]
    bound: Value = levels[0] if len(levels) == 1 else tuple(levels)
    return Result(
        Status.BOUND,
        objective=case.objective,
        bound=bound,
        reason="proven in fractions",
        method=method,
        seed=seed,
        plan_class="any",
        solver=solver,
        proof="exact",
    )
