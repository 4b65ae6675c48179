"""The registered exact methods for CPU shares on several machines at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.backends.time_budget import Budget
from dlopt.errors import NotApplicableError
from dlopt.incumbents import offer
from dlopt.models.common.objective_levels import as_objective_value, bound_reason
from dlopt.models.coreservation.objective import trivial_bound
from dlopt.models.coreservation.portfolio_state import AssignmentResult
from dlopt.models.coreservation.proof_search import GAP_NOT_CLOSED, certified
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import solve_by_components
from dlopt.models.coreservation.solutions import (
    better_of_hint,
    objective_value,
    to_assignment,
    to_feasible_solution,
    to_objective_bound,
    to_solution,
)
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]

CERTIFIED = ("exact", "lns")
"""Methods whose bounds get a certificate, if one is found; others show what one model does."""


def exact_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    formulation: str = "auto",
    solver: str = DEFAULT,
) -> Answer:
    """Find an optimal schedule, knowing all requests, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any of `dlopt.problems.coreservation.OBJECTIVES`; by default ``benefit``.
    limits : Limits, optional
        `work` counts branch-and-bound nodes of the relaxation, and conflicts of CP-SAT or nodes of
        HiGHS.
    hint : Solution, optional
        A schedule to start from; an infeasible one is ignored.
    seed : int
    formulation : {"auto", "cp-sat", "milp"}
        The full model, over all requests and machines. By default CP-SAT, or the MILP where
        capacities have no common integer unit that is usable.
    solver : str
        Of the MILP: any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; of a lexicographic objective each level is proven after
        the one before. ``FEASIBLE`` at a limit, with what is proven by then: levels after the
        first open one have the trivial bound.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name; if CP-SAT is asked for by name and capacities have no
        common integer unit.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: shares are integers in the largest common unit, which loses nothing
    (`dlopt.models.coreservation.scaled_instance` has the proof), so the schedule is exact for exact
    instances. Where that unit is too fine for CP-SAT, as of numbers of 17 digits, the MILP is
    followed by CP-SAT in coarser units, with a bound that adds what rounding may cost and schedules
    that hold in the fine unit (`dlopt.models.coreservation.rounded_units_bound`). The bound of the
    aggregated relaxation is proven in exact arithmetic; that of CP-SAT holds for integer
    coefficients. With more than 30 requests HiGHS solves the relaxation too, and its dual bound in
    floats may be the best one; `reason` says which it is, and `proof` whether a solver is trusted.
    Of an instance with a float the bound holds for all schedules that `check` accepts at its
    default tolerance; of the benefit to the tolerance of the result. Where coefficients have no
    common denominator below 2^53 they are rounded up, and value and bound may differ by a relative
    1e-9. Benefits that rise with a thousand units of CPU or more are first given to the MILP, whose
    bound is 1e-7 above the best benefit; with up to some 20 requests a certificate then proves that
    very benefit. Requests whose windows do not interact are solved separately.

    At last the bounds of all levels are proven again by a certificate, see
    `dlopt.models.coreservation.proof_search`; `reason` says why there is none.

    Plan class ``any``. Complexity: exponential in the worst case. Source: ours; a time-indexed
    model over event points, and a relaxation that aggregates all machines; which steps run when is
    data, see `dlopt.models.coreservation.upper_bounds`. Up to 12 requests that they do not prove
    soon are solved by branch and price, see `dlopt.models.coreservation.branch_and_price.search`.
    Schedules of larger instances are improved by ruin and recreate, see
    `dlopt.models.coreservation.ruin_and_recreate.search`, and by large neighbourhood search; within
    a time limit by a hundred times as many moves if the extra ``fast`` is installed.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> wide, narrow = (Part(4),), (Part(1),)
    >>> asked = [Request("w", 0, 0, 9, 1, wide)]
    >>> asked += [Request(f"n{k}", 0, 0, 9, 1, narrow) for k in range(4)]
    >>> result = exact_plan(Instance((Machine("m", 4),), tuple(asked)), objective="rejections")
    >>> str(result.status), result.value, result.bound
    ('optimal', 1, 1)
    """
    refuse_unknown(solver)
    budget = Budget(limits)
    scaled = ScaledInstance.from_instance(instance, objective or "benefit")
    chosen = formulation
    if formulation == "auto":
        chosen = "milp" if scaled.scaling_failure else "cp-sat"
    elif formulation == "cp-sat":
        _require_integer_unit(scaled, "the CP-SAT model")
    return _search(
        scaled,
        hint,
        budget,
        seed,
        "exact",
        solver if chosen == "milp" else "CP-SAT",
        formulation=chosen,
        solver=solver,
    )


def cp_sat(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    symmetry_breaking: bool = True,
) -> Answer:
    """Solve the full model over all requests by CP-SAT alone.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`.
    symmetry_breaking : bool, default True
        Whether identical machines are used in the order of their first requests.

    Returns
    -------
    Result
        As of `exact_plan`.

    Raises
    ------
    NotApplicableError
        If capacities have no common integer unit; the reason says why.
    SolverError
        If OR-Tools is missing.

    Notes
    -----
    Guarantee, complexity and source: see `exact_plan`. Without relaxation and primal heuristics.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> cp_sat(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    budget = Budget(limits)
    scaled = ScaledInstance.from_instance(instance, objective or "benefit")
    _require_integer_unit(scaled, "the CP-SAT model")
    return _search(
        scaled,
        hint,
        budget,
        seed,
        "cp-sat",
        "CP-SAT",
        relaxation=False,
        primal_heuristics=False,
        symmetric=not symmetry_breaking,
    )


def milp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    symmetry_breaking: bool = True,
    solver: str = DEFAULT,
) -> Answer:
    """Solve the full model over all requests as a MILP alone.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`; the solver itself starts without the hint.
    symmetry_breaking : bool, default True
        Whether identical machines are used in the order of their first requests.
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    Result
        As of `exact_plan`; the bound is the solver's, in floats.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the schedule is exact for exact instances. The solver's bound is raised by 1e-7 of
    the largest value, but to no more than a schedule can attain: it meets the value of a schedule
    in exact numbers only where values differ by larger steps.
    Complexity: exponential in the worst case. Source: the time-indexed model over event points.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> milp(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    refuse_unknown(solver)
    budget = Budget(limits)
    scaled = ScaledInstance.from_instance(instance, objective or "benefit")
    return _search(
        scaled,
        hint,
        budget,
        seed,
        "milp",
        solver,
        formulation="milp",
        solver=solver,
        relaxation=False,
        primal_heuristics=False,
        symmetric=not symmetry_breaking,
    )


def lns(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Large neighbourhood search with a dual bound, for instances too large to solve to optimality.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`. Without a time limit it ends after one systematic pass and some random
        neighbourhoods, and returns the same schedule at every run.

    Returns
    -------
    Result
        ``FEASIBLE`` with the bound of the aggregated relaxation; ``OPTIMAL`` if that meets the
        value.

    Raises
    ------
    NotApplicableError
        If capacities have no common integer unit; the reason says why.
    SolverError
        If a solver is missing.

    Notes
    -----
    Guarantee: the bound is proven in exact arithmetic or, with more than 30 requests, the dual
    bound of HiGHS, as `reason` says. It begins with ruin and recreate, see
    `dlopt.models.coreservation.ruin_and_recreate.search`. Then CP-SAT optimises six requests at a
    time again, all others keep their shares; in every fourth neighbourhood some near them keep
    their machines only. Complexity: a model of some hundred binaries for each neighbourhood.
    Source: ours.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> lns(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    budget = Budget(limits)
    scaled = ScaledInstance.from_instance(instance, objective or "benefit")
    _require_integer_unit(scaled, "large neighbourhood search")
    return _search(scaled, hint, budget, seed, "lns", "CP-SAT+HiGHS", full_model=False)


def _require_integer_unit(scaled: ScaledInstance, user: str) -> None:
    """Refuse an instance whose capacities have no common integer unit."""
    if scaled.scaling_failure:
        raise NotApplicableError(f"{user} needs integers: {scaled.scaling_failure}")


def _search(
    scaled: ScaledInstance,
    hint: Solution | None,
    budget: Budget,
    seed: int,
    method: str,
    solver_name: str,
    **options: object,
) -> Answer:
    """Search, and return schedule and bound as a result.

    Where units are finer than what `check` allows, the best assignment may overload machines by
    more. Then a schedule is searched for among those that observe the capacities.
    """

    def watch(known: Callable[[], AssignmentResult]) -> None:
        def answer() -> Answer:
            found = known()
            solution = to_feasible_solution(scaled, found.incumbent)
            return _to_result(scaled, found, solution, solver_name)

        offer(scaled.instance, scaled.objective, method, answer)

    assignment, left = to_assignment(scaled, hint), budget.left_or_minimum()
    found = solve_by_components(scaled, assignment, left, seed, watch=watch, **options)
    solution = to_feasible_solution(scaled, found.incumbent)
    if solution is None:
        solution = _within_true_capacity(scaled, hint, budget, seed, **options)
        found.proven_levels = min(found.proven_levels, len(scaled.levels) - 1)
    solution = better_of_hint(scaled, solution, assignment)
    result = _to_result(scaled, found, solution, solver_name)
    return certified(scaled, result, seed, budget.stop) if method in CERTIFIED else result


def _to_result(
    scaled: ScaledInstance, found: AssignmentResult, solution: Solution | None, solver_name: str
) -> Answer:
    """Return a schedule, if there is one, and the bounds of a search as a result."""
    instance, goal, levels = scaled.instance, scaled.objective, scaled.levels
    bounds = found.bounds_of_all_levels(trivial_bound(scaled, level) for level in levels)
    bound = as_objective_value(
        to_objective_bound(scaled, level, bound)
        for level, bound in zip(levels, bounds, strict=True)
    )
    value = None if solution is None else objective_value(instance, solution, goal)
    closed = found.proven_levels == len(levels) and (value == bound or not instance.exact)
    reason = bound_reason(found.proofs) if found.proofs else None
    if not closed:
        reason = f"{GAP_NOT_CLOSED}{reason}"
        if found.skipped_reason is not None:
            reason += f"; {found.skipped_reason}"
    status = Status.OPTIMAL if closed else Status.FEASIBLE
    return Result(
        Status.LIMIT if solution is None else status,
        solution=solution,
        objective=goal,
        value=value,
        bound=bound,
        reason=reason,
        plan_class="any",
        solver=solver_name,
        proof=found.proof,
    )


def _within_true_capacity(
    scaled: ScaledInstance, hint: Solution | None, budget: Budget, seed: int, **options: object
) -> Solution:
    """Return the best schedule that is found among those that observe the capacities."""
    plain = ScaledInstance.from_instance(scaled.instance, scaled.objective, widened=False)
    assignment = to_assignment(plain, hint)
    with suppress(TimeoutError):
        assignment = solve_by_components(
            plain, assignment, budget.left(), seed, watch=None, **options
        ).incumbent
    return to_solution(plain, assignment)
