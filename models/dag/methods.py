"""The exact methods for task graphs, as registered methods."""

from __future__ import annotations

from dlopt.backends import cpsat
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.incumbents import offer
from dlopt.models.common.lexicographic import SearchResult
from dlopt.models.common.objective_levels import bound_reason, with_certificate
from dlopt.models.dag.completion_bounds import scaled_for_objective
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.milp import minimise_levels
from dlopt.models.dag.objective import LEVELS, gap_closed, to_objective_value, to_scaled_units
from dlopt.models.dag.proof_search import certificate_of_bound
from dlopt.models.dag.schedules import Schedule, better_solution, to_solution
from dlopt.models.dag.search import ExactSearch
from dlopt.models.dag.time_blocks import solve_blocks, time_blocks
from dlopt.problems.dag.claimed_values import claimed_value
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import OBJECTIVES
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]

MILP_MAX_TASKS = 8
"""Tasks up to which `milp` applies. Chosen by hand: it takes some seconds for 8 tasks, and grows
exponentially."""
GAP_NOT_CLOSED = "gap not closed; the solver's bound is lowered by 1e-6 of the horizon"


def solve_exact(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Find an optimal schedule and prove it, with CP-SAT.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        See `dlopt.registry`. `work` counts conflicts of each program.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound, or ``FEASIBLE`` with both at a limit; `reason` says
        where the bound comes from.

    Raises
    ------
    SolverError
        If OR-Tools is missing or fails.

    Notes
    -----
    Times are integers by exact scaling. Where no common unit is long enough, as for most floats,
    they are rounded down to a grid: the program is then a relaxation, its bound holds, and its
    schedule is re-evaluated with the original data; a gap of 1e-7 of floats counts as closed.
    Groups of identical machines are modelled by cumulative constraints where nothing is sent, after
    forward-backward list scheduling (`dlopt.models.dag.forward_backward`); with few tasks, or with
    durations of many units of time, also by a choice of machines
    (`dlopt.models.dag.program_steps`). Where data is sent and there are more than 35 tasks,
    time-indexed linear programs bound the makespan before the search
    (`dlopt.models.dag.time_indexed_bound`), if the schedule is no longer than some hundred units of
    time. See `dlopt.models.dag.cpsat_cumulative` and `dlopt.models.dag.cpsat_alternatives` for the
    two constraint programs. Instances too large for them get the schedule of the hint and a bound.

    Plan class ``any``. Complexity: exponential in the worst case. Without communication, 100
    tasks on identical machines are mostly solved to optimality within a second; with it, 20 to 30
    in seconds.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> result = solve_exact(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> str(result.status), result.value, result.bound
    ('optimal', 6, 6)
    """
    objective, budget = objective or "makespan", Budget(limits)
    blocks = time_blocks(instance, objective)
    if not blocks:
        result, search = _solve_whole(instance, objective, limits, hint, seed)
        return with_certificate(result, search.certificate())

    def solve(part: Instance, limits: Limits, hint: Solution | None) -> Answer:
        return _solve_whole(part, objective, limits, hint, seed)[0]

    result = solve_blocks(instance, objective, blocks, solve, limits, hint)
    scaled, levels = scaled_for_objective(instance, objective), LEVELS[objective]
    if result.bound is None or not scaled.exactly_scaled:
        return result
    certificate = certificate_of_bound(
        scaled,
        compute_heads_tails(scaled),
        levels,
        to_scaled_units(scaled, levels, result.bound),
        budget.stop,
        cases=result.status is Status.OPTIMAL,
    )
    return with_certificate(result, certificate)


def _solve_whole(
    instance: Instance, objective: str, limits: Limits, hint: Solution | None, seed: int
) -> tuple[Answer, ExactSearch]:
    """Solve an instance without division into blocks; return the search, too."""
    search = ExactSearch(instance, objective, limits, seed)

    def known(found: SearchResult[Schedule, int]) -> Answer:
        return _to_result(instance, objective, search, found, hint)

    offer(instance, objective, "exact", lambda: known(search.snapshot()))
    search.run(hint)
    return known(search.result), search


def _to_result(
    instance: Instance,
    objective: str,
    search: ExactSearch,
    found: SearchResult[Schedule, int],
    hint: Solution | None,
) -> Answer:
    """Return the incumbent and the bounds of a search as a result."""
    scaled, levels = search.scaled, search.levels
    solution = better_solution(scaled, objective, to_solution(scaled, found.incumbent), hint)
    value = claimed_value(instance, solution, objective)
    trivial = [search.trivial_bound(level) for level in levels]
    bounds = found.bounds_of_all_levels(bound.value for bound in trivial)
    proofs = found.proofs
    proofs = [*proofs, *(bound.proof for bound in trivial[len(proofs) :])]
    reason = bound_reason(proofs)
    if found.skipped_reason is not None:
        reason += f"; {found.skipped_reason}"
    if not scaled.exactly_scaled:
        unit = float(1 / scaled.scale)
        reason += f"; times are rounded down to multiples of {unit:.3g} for the bound"
    bound = to_objective_value(scaled, levels, bounds)
    proven = found.proven_levels == len(levels)
    proven = proven and gap_closed(scaled, levels, value, bound)
    return Result(
        Status.OPTIMAL if proven else Status.FEASIBLE,
        solution=solution,
        objective=objective,
        value=value,
        bound=bound,
        reason=reason,
        plan_class="any",
        solver=cpsat.NAME,
        proof=found.proof,
    )


def solve_milp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Solve a tiny instance by the disjunctive MILP of `dlopt.models.dag.milp`.

    Parameters
    ----------
    instance, objective, limits, hint, seed, solver
        See `dlopt.registry`. `work` counts nodes of each branch and bound. The program starts
        without the hint, which is returned where it is better than the schedule that was found.

    Returns
    -------
    Result
        ``OPTIMAL`` or ``FEASIBLE``, or ``LIMIT`` if no schedule was found in time.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the dual bound of a floating-point solver, not certified. The schedule and its value
    are exact; the bound of a time is the dual bound of the solver less 1e-6 of the horizon (once
    for each graph if responses are added up), rounded up to the next unit of time. With a horizon
    of up to some 10^6 units, as of small integers, that is sharp. For finer numbers, such as
    fractions with large denominators and most floats, the bound is a little below the value, and
    the status is ``FEASIBLE``. ``OPTIMAL`` says that value and bound are equal, or for floats that
    they agree to 1e-6. The method is an independent check of `solve_exact`, with which it shares
    neither program nor solver. Plan class ``any``. Complexity: exponential; some seconds for 8
    tasks.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> solve_milp(Instance((Machine("m"), Machine("n")), (graph,))).value
    6
    """
    objective = objective or "makespan"
    blocks = time_blocks(instance, objective)
    if blocks:

        def solve(part: Instance, limits: Limits, hint: Solution | None) -> Answer:
            return solve_milp(
                part, objective=objective, limits=limits, hint=hint, seed=seed, solver=solver
            )

        return solve_blocks(instance, objective, blocks, solve, limits, hint)
    scaled, budget = scaled_for_objective(instance, objective), Budget(limits)
    levels, better = LEVELS[objective], OBJECTIVES[objective].better
    result = minimise_levels(scaled, levels, budget, seed, solver)
    schedule, bounds = result.schedule, result.bounds
    solution = None
    if schedule is not None:
        solution = better_solution(scaled, objective, to_solution(scaled, schedule), hint)
    value = None if solution is None else claimed_value(instance, solution, objective)
    bound = to_objective_value(scaled, levels, bounds) if len(bounds) == len(levels) else None
    proven = value is not None and bound is not None and gap_closed(scaled, levels, value, bound)
    if value is not None and not proven and bound is not None and better(value, bound):
        bound = None  # pragma: no cover  # the hint refutes what HiGHS claims
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Result(
        Status.LIMIT if solution is None else status,
        solution=solution,
        objective=objective,
        value=value,
        bound=bound,
        reason=None if proven else GAP_NOT_CLOSED,
        plan_class="any",
        solver=solver,
        solver_version=result.version,
        proof=None if bound is None else "solver",
    )


def reason_against_milp(instance: Instance) -> str | None:
    """Return why `milp` does not apply to an instance, or None if it does.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=1) for k in range(9)))
    >>> reason_against_milp(Instance((Machine("m"),), (graph,)))
    'milp supports up to 8 tasks, not 9'
    """
    count = sum(len(graph.tasks) for graph in instance.graphs)
    too_many = f"milp supports up to {MILP_MAX_TASKS} tasks, not {count}"
    return too_many if count > MILP_MAX_TASKS else None
