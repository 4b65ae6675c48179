"""Lower and upper bounds by linear relaxations, as registered methods."""

from __future__ import annotations

from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.bag.flowtime_assignment import FlowtimeAssignment, solve_assignment
from dlopt.models.bag.makespan_bound import bound_makespan
from dlopt.models.bag.on_time_bound import bound_count_on_time
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.search import (
    ASSIGNMENT,
    LP_MACHINE_DUALS,
    LP_WINDOWS,
    certificate_of_bounds,
)
from dlopt.models.bag.solutions import to_objective_bound
from dlopt.models.bag.trivial_bounds import negated_flowtime, trivial_bound
from dlopt.models.common.lexicographic import Bound
from dlopt.models.common.objective_levels import as_objective_value, bound_reason
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def bound_lp(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS, seed: int = 0
) -> Answer:
    """Bound the value of every schedule by a linear relaxation, in which tasks may be split.

    Parameters
    ----------
    instance, objective, limits, seed
        See `dlopt.registry`. What is proven when the time is up is a bound, too.

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
    Guarantee: certified in integers or fractions from the dual solution of the solver, see
    `dlopt.models.bag.makespan_bound`, `on_time_bound` and `flowtime_assignment`. The makespan of an
    ETC matrix is bounded by the relaxation of R||Cmax, and by the longest task on its fastest
    machine, both rounded up to the common unit of times, if there is one; numbers of tasks on time
    by time windows of machines; the flowtime by the assignment of tasks to positions, as if all
    inputs arrived with the first. Complexity: a linear program of n + m rows, whose columns, pairs
    of a task and a machine, are generated as they are needed. Source: Lenstra, Shmoys and Tardos
    1990; Horn 1973.

    Examples
    --------
    >>> result = bound_lp(Instance(etc=((1, 1), (1, 1), (1, 1))))
    >>> str(result.status), result.bound
    ('bound', 2)
    """
    scaled = ScaledInstance.from_instance(instance, objective or default_objective(instance))
    stop = Budget(limits).stop
    dual_bound, assignment = None, None
    if scaled.objective_kind == "makespan":
        dual_bound = bound_makespan(scaled, seed, stop)
        bounds = [Bound(-scaled.to_instance_time(dual_bound.bound), LP_MACHINE_DUALS)]
    elif scaled.objective_kind == "flowtime":
        assignment = solve_assignment(scaled)
        bounds = [_flowtime_bound(scaled, assignment)]
    else:
        counts = [bound_count_on_time(scaled, one, seed=seed, stop=stop) for one in scaled.levels]
        bounds = [Bound(count, LP_WINDOWS) for count in counts]
    values = [bound.value for bound in bounds]
    return Result(
        Status.BOUND,
        objective=scaled.objective,
        bound=as_objective_value(to_objective_bound(scaled, bound.value) for bound in bounds),
        reason=bound_reason(bound.proof for bound in bounds),
        plan_class="any",
        solver="HiGHS",
        proof="exact",
        certificate=certificate_of_bounds(scaled, values, dual_bound, assignment, seed, stop),
    )


def _flowtime_bound(
    scaled: ScaledInstance, assignment: FlowtimeAssignment | None
) -> Bound[Fraction]:
    if assignment is None:
        return trivial_bound(scaled, "flowtime")
    return Bound(negated_flowtime(scaled, assignment.bound), ASSIGNMENT)
