"""Bounds that hold for every plan, by linear relaxations, as a caller names them."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from time import monotonic

from dlopt.models.bag.flowtime_assignment import assign
from dlopt.models.bag.makespan_bound import lightest
from dlopt.models.bag.on_time_bound import most_in_time
from dlopt.models.bag.scaled_instance import Case
from dlopt.models.bag.search import ASSIGNMENT, WEIGHTS, WINDOWS, of_ends, trivial
from dlopt.models.bag.solutions import stated
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
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
    """Bound what any plan is worth, by plans that may split tasks.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any of `dlopt.problems.bag.OBJECTIVES` that the instance has; see `default_objective`.
    limits : Limits, optional
        `time_s` is for the solver: what is proven by then is a bound, too.
    hint
        Not used.
    seed : int

    Returns
    -------
    Result
        ``BOUND``; of an objective with levels every level by itself.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    Guarantee: proven in whole numbers or fractions from the solver's multipliers, see
    `dlopt.models.bag.makespan_bound`, `on_time_bound` and `flowtime_assignment`. The makespan of an
    ETC matrix is bounded by the relaxation of R||Cmax, and by the longest task on its fastest
    machine, both rounded up to the common unit of times, if there is one; numbers of tasks by
    windows of machines that are not overfull; the flowtime by the assignment of tasks to places, as
    if all inputs arrived with the first. Complexity: a linear program of n + m rows, its pairs of a
    task and a machine generated as they are needed. Source: Lenstra, Shmoys and Tardos 1990; Horn
    1973.

    Examples
    --------
    >>> result = bound_lp(Instance(etc=((1, 1), (1, 1), (1, 1))))
    >>> str(result.status), result.bound
    ('bound', 2)
    """
    case = Case.of(instance, objective or default_objective(instance))
    stop = inf if limits.time_s is None else monotonic() + limits.time_s
    found = [_of_level(case, level, seed, stop) for level in case.levels]
    bounds = tuple(stated(case, bound) for bound, _ in found)
    return Result(
        Status.BOUND,
        objective=case.objective,
        bound=bounds if len(bounds) > 1 else bounds[0],
        reason=f"the bound is {'; '.join(dict.fromkeys(proof for _, proof in found))}",
        method="bound-lp",
        seed=seed,
        plan_class="any",
        solver="HiGHS",
        proof="exact",
    )


def _of_level(case: Case, level: str, seed: int, stop: float) -> tuple[Fraction, str]:
    if case.kind == "makespan":
        return -case.time(lightest(case, seed, stop).bound), WEIGHTS
    if case.kind == "count":
        return most_in_time(case, level, seed=seed, stop=stop), WINDOWS
    found = assign(case)
    return trivial(case, level) if found is None else (of_ends(case, found.bound), ASSIGNMENT)
