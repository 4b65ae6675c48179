"""The exact methods for independent tasks, as registered methods."""

from __future__ import annotations

from fractions import Fraction

from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.backends.size_limits import too_large
from dlopt.errors import NotApplicableError
from dlopt.incumbents import offer
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.search import ExactSearch
from dlopt.models.bag.solutions import (
    Sequences,
    objective_key,
    sequences_from_hint,
    to_objective_bound,
    to_solution,
)
from dlopt.models.bag.trivial_bounds import trivial_bound
from dlopt.models.common.lexicographic import SearchResult
from dlopt.models.common.objective_levels import (
    as_objective_value,
    bound_reason,
    with_certificate,
)
from dlopt.problems.bag.claimed_values import claimed_value
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]

SEQUENCE_DEPENDENT = (
    "tasks with deadlines arrive at a machine at different times: "
    "no fixed sequence is optimal there"
)
"""Why `milp` does not apply to some instances."""


def solve_exact(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Find an optimal schedule, and prove it.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        See `dlopt.registry`. `work` counts conflicts of each program for CP-SAT; of the hint the
        machines and sequences are used, from which times follow.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; of an objective with levels each level is proven after
        the one before. ``FEASIBLE`` at a limit, with what is proven by then: levels after the
        first that is open have the trivial bound that all tasks are on time.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: exact for exact instances whose processing times and arrivals have a common unit of
    which the horizon is at most 2^40 (`dlopt.models.bag.scaled_instance`). Otherwise times are
    rounded down to 2^-40 of the horizon; the bound still holds for all schedules, and the schedule
    is re-evaluated in fractions: numbers of tasks that agree are proven all the same, times in
    exact numbers remain ``FEASIBLE`` with a tiny gap, times in floats are optimal at a gap of 1e-7
    of the flowtime, or of the makespan. Horizon and makespan count from the first instant at which
    some task can start, so that dates may be as large as they like; so does the makespan to which
    a requested gap is relative.

    Makespans are bounded by the LP relaxation of R||Cmax; its reduced costs exclude machines of
    tasks, and CP-SAT decides the rest. Numbers of tasks on time are bounded by windows where inputs
    arrive on each machine together, and scheduled by optional intervals elsewhere. Flowtimes are an
    assignment problem where inputs arrive together; elsewhere they are solved by dynamic
    programming over sets of tasks, and what has too many of them by CP-SAT. Instances with
    more than some hundred pairs of a task and a machine are first improved by large neighbourhood
    search.

    Plan class ``any``. Complexity: exponential in the worst case; O(n^3) for flowtimes of tasks
    that arrive together. Source: `dlopt.models.bag.cpsat` has the program; Horn 1973 for flowtimes.

    Examples
    --------
    >>> result = solve_exact(Instance(etc=((3, 4), (2, 2), (2, 3))))
    >>> str(result.status), result.value, result.bound
    ('optimal', 4, 4)
    """
    scaled = ScaledInstance.from_instance(instance, objective or default_objective(instance))
    search = ExactSearch(scaled, limits, seed)
    return _run(search, hint, "exact", "CP-SAT+HiGHS")


def solve_milp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Solve the assignment MILP of `dlopt.models.bag.milp` alone: machines of tasks, no starts.

    Parameters
    ----------
    instance, objective, limits, hint, seed, solver
        See `dlopt.registry`. The objective is any but ``flowtime``; `work` counts nodes, and the
        program itself starts without the hint.

    Returns
    -------
    Result
        As of `solve_exact`; the bound is the dual bound of the solver, not certified.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name; if tasks with deadlines arrive at a machine at
        different times, so that no fixed sequence is optimal.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the schedule is feasible in exact numbers, the bound accurate to 1e-7 of the makespan
    since the first possible start. Complexity: exponential in the worst case. Source: Jackson 1955;
    Lenstra, Shmoys and Tardos 1990.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=5) for name in "abc")
    >>> solve_milp(Instance(tasks, (Machine("m"),)), objective="accepted").value
    2
    """
    refuse_unknown(solver)
    goal = objective or default_objective(instance)
    scaled = ScaledInstance.from_instance(instance, goal)
    if goal == "flowtime":
        raise NotApplicableError("milp has no completion times: it does not support 'flowtime'")
    if scaled.objective_kind == "count" and not scaled.all_arrive_together:
        raise NotApplicableError(SEQUENCE_DEPENDENT)
    search = ExactSearch(
        scaled,
        limits,
        seed,
        formulation="milp",
        solver=solver,
        use_relaxations=False,
        use_neighbourhoods=False,
    )
    return _run(search, hint, "milp", solver)


def count_pairs(instance: Instance) -> int:
    """Return the number of pairs of a task and a machine that can run it, at most."""
    if instance.etc is not None:
        return sum(time is not None for row in instance.etc for time in row)
    return len(instance.tasks) * len(instance.machines)


def reason_against_bound_lp(instance: Instance) -> str | None:
    """Return why `bound-lp` does not apply, its program being too large; None if it does.

    Examples
    --------
    >>> reason_against_bound_lp(Instance(etc=((3, 4), (2, None))))
    """
    unit = "pairs of a task and a machine"
    return too_large("linear program", count_pairs(instance), unit=unit)


def reason_against_milp(instance: Instance) -> str | None:
    """Return why `milp` does not apply, or None if it does.

    Its program may be too large, which is estimated before anything else is computed; or see
    `SEQUENCE_DEPENDENT`.
    """
    reason = too_large("integer program over machines", 3 * count_pairs(instance))
    if reason is not None or not instance.deadlines:
        return reason
    scaled = ScaledInstance.from_instance(instance, "accepted")
    return None if scaled.all_arrive_together else SEQUENCE_DEPENDENT


def solve_lns(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Improve a schedule by large neighbourhood search, with a bound; for large instances.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `solve_exact`. Without a time limit it ends after a fixed number of random
        neighbourhoods, and gives the same result at every run.

    Returns
    -------
    Result
        ``FEASIBLE`` with the bound of the relaxation; ``OPTIMAL`` if that equals the value.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the bound holds for all schedules. The tasks of a few machines at a time are
    reassigned by CP-SAT, of more machines when that does not improve the schedule; of the makespan
    the machine that ends last is always one of them, and a task runs only where reduced costs do
    not exclude it. Complexity: a program of some hundred binaries each time. Source: ours.

    Examples
    --------
    >>> solve_lns(Instance(etc=((3, 4), (2, 2), (2, 3)))).value
    4
    """
    scaled = ScaledInstance.from_instance(instance, objective or default_objective(instance))
    search = ExactSearch(scaled, limits, seed, formulation="none")
    return _run(search, hint, "lns", "CP-SAT+HiGHS")


def _run(search: ExactSearch, hint: Solution | None, method: str, solver: str) -> Answer:
    """Run a search, which offers its result wherever it is, and return its result."""
    scaled = search.scaled
    offer(
        scaled.instance,
        scaled.objective,
        method,
        lambda: _to_result(scaled, search.snapshot(), solver),
    )
    result = _to_result(scaled, search.run(sequences_from_hint(scaled, hint)), solver)
    return result if method == "milp" else with_certificate(result, search.certificate())


def _to_result(
    scaled: ScaledInstance, search_result: SearchResult[Sequences, Fraction], solver: str
) -> Answer:
    """Return the schedule and the bounds of a search as a result."""
    instance, goal, levels = scaled.instance, scaled.objective, scaled.levels
    solution = to_solution(scaled, search_result.incumbent)
    open_level = search_result.proven_levels
    is_closed = open_level == len(levels)
    bounds = search_result.bounds_of_all_levels(
        trivial_bound(scaled, level).value for level in levels
    )
    reason = bound_reason(search_result.proofs)
    if search_result.skipped_reason is not None:
        reason += f"; {search_result.skipped_reason}"
    if not is_closed:
        value = objective_key(scaled, search_result.incumbent)[open_level]
        gap = float(bounds[open_level] - value)
        reason = f"gap not closed ({gap:.3g}); {reason}"
        if not scaled.exactly_scaled:
            reason += "; the horizon is too long for the common unit of times: "
            reason += "they are rounded down for the bound"
    return Result(
        Status.OPTIMAL if is_closed else Status.FEASIBLE,
        solution=solution,
        objective=goal,
        value=claimed_value(instance, solution, goal),
        bound=as_objective_value(to_objective_bound(scaled, bound) for bound in bounds),
        reason=reason,
        plan_class="any",
        solver=solver,
        proof=search_result.proof,
    )
