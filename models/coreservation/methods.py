"""The exact methods for shares of CPU, as a caller names them."""

from __future__ import annotations

from contextlib import suppress

from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.backends.time_budget import Budget
from dlopt.errors import NotApplicableError
from dlopt.models.coreservation.objective import trivial
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.search import by_spans
from dlopt.models.coreservation.solutions import bound_of, held_of, plan_of, valid_plan, worth_of
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status, Value

Answer = Result[Solution]


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
    """Find the plan that is worth most, knowing all requests, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any of `dlopt.problems.coreservation.OBJECTIVES`; by default ``benefit``.
    limits : Limits, optional
        `work` counts subproblems of the relaxation, and conflicts of CP-SAT or nodes of HiGHS.
    hint : Solution, optional
        A plan to start from; one that breaks the rules is not taken.
    seed : int
    formulation : {"auto", "cp-sat", "milp"}
        The program over all requests. By default CP-SAT, or the integer program where the CPU
        cannot be counted in whole numbers.
    solver : str
        Of the integer program: any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; of an objective with levels each level is proven after
        the one before. ``FEASIBLE`` at a limit, with what is proven by then: levels after the
        first that is open are bounded by all that could be accepted.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name; if CP-SAT is asked for by name and the CPU cannot be
        counted in whole numbers.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: shares are whole numbers of the largest common unit, which loses nothing
    (`dlopt.models.coreservation.scaled_instance` has the proof), so the plan is exact for exact
    instances. The bound of the relaxation is proven in fractions; that of CP-SAT holds in whole
    numbers. Of more than 30 requests HiGHS is asked about the relaxation, too, and its word in
    floats may be the bound; `reason` says which it is, and `proof` whether a solver is trusted. Of
    an instance with a float the bound holds for all plans that `check` accepts at its default
    tolerance; of the benefit to the tolerance of the result. Where coefficients have no common
    denominator below 2^53 they are rounded up, and value and bound may differ by a relative 1e-9.
    Requests whose windows do not interact are solved apart.

    Plan class ``any``. Complexity: exponential in the worst case. Source: none printed; a program
    over event points, and a relaxation that takes all machines as one. Up to 12 requests that it
    does not prove soon are branched and priced, see
    `dlopt.models.coreservation.branch_and_price.search`. Larger ones are improved by
    `dlopt.models.coreservation.ruin_and_recreate.search` and neighbourhoods; within a time limit by
    a hundred times as many of its moves if the extra ``fast`` is installed.

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
    case = Case.of(instance, objective or "benefit")
    chosen = formulation
    if formulation == "auto":
        chosen = "milp" if case.too_fine else "cp-sat"
    elif formulation == "cp-sat" and case.too_fine:
        raise NotApplicableError(f"the program is in whole numbers: {case.too_fine}")
    return _answer(
        case,
        hint,
        limits,
        seed,
        "exact",
        solver if chosen == "milp" else "CP-SAT",
        formulation=chosen,
        solver=solver,
        neighbours=case.too_fine is None,
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
    """Solve the program over all requests by CP-SAT alone.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`.
    symmetry_breaking : bool, default True
        Whether machines that are alike stay interchangeable.

    Returns
    -------
    Result
        As of `exact_plan`.

    Raises
    ------
    NotApplicableError
        If the CPU cannot be counted in whole numbers; the reason says why.
    SolverError
        If OR-Tools is missing.

    Notes
    -----
    Guarantee, complexity and source: see `exact_plan`. Without relaxation and neighbourhoods.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> cp_sat(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    case = Case.of(instance, objective or "benefit")
    if case.too_fine:
        raise NotApplicableError(f"the program is in whole numbers: {case.too_fine}")
    return _answer(
        case,
        hint,
        limits,
        seed,
        "cp-sat",
        "CP-SAT",
        relaxed=False,
        neighbours=False,
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
    """Solve the program over all requests as an integer program alone.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`; the program itself starts without the hint.
    symmetry_breaking : bool, default True
        Whether machines that are alike stay interchangeable.
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
    Guarantee: the plan is exact for exact instances. The solver's bound is raised by 1e-7 of all
    there is, but to no more than a plan can attain: it meets the value of a plan in exact numbers
    only where values differ by larger steps.
    Complexity: exponential in the worst case. Source: the packing over event points.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> milp(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    refuse_unknown(solver)
    case = Case.of(instance, objective or "benefit")
    return _answer(
        case,
        hint,
        limits,
        seed,
        "milp",
        solver,
        formulation="milp",
        solver=solver,
        relaxed=False,
        neighbours=False,
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
    """Improve a plan in neighbourhoods, beside a bound: for sizes beyond proof.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `exact_plan`. Without a time limit it ends after one sweep and some neighbourhoods
        drawn at random, and answers the same at every run.

    Returns
    -------
    Result
        ``FEASIBLE`` with the bound of the relaxation that takes all machines as one;
        ``OPTIMAL`` if that meets the value.

    Raises
    ------
    NotApplicableError
        If the CPU cannot be counted in whole numbers; the reason says why.
    SolverError
        If a solver is missing.

    Notes
    -----
    Guarantee: the bound is proven in fractions or, of more than 30 requests, the word of HiGHS, as
    `reason` says. First requests are taken away and put back, see
    `dlopt.models.coreservation.ruin_and_recreate.search`. Then six at a time are decided again by
    CP-SAT, all others keep their shares; in every fourth neighbourhood some near them keep their
    machines only. Complexity: a program of some hundred binaries a neighbourhood. Source: ours.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> lns(Instance((Machine("m", 5),), asked)).value
    Fraction(1, 2)
    """
    case = Case.of(instance, objective or "benefit")
    if case.too_fine:
        raise NotApplicableError(f"neighbourhoods are in whole numbers: {case.too_fine}")
    return _answer(case, hint, limits, seed, "lns", "CP-SAT+HiGHS", whole=False)


def _answer(
    case: Case,
    hint: Solution | None,
    limits: Limits,
    seed: int,
    method: str,
    word: str,
    **options: object,
) -> Answer:
    """Search, and return what was found as a result.

    Where units are finer than what `check` allows, the best plan of the case may overload machines
    by more. Then a plan is looked for among those that keep the capacities.
    """
    instance, goal, levels = case.instance, case.objective, case.levels
    budget = Budget(limits)
    found = by_spans(case, held_of(case, hint), limits, seed, **options)
    plan, tight = valid_plan(case, found.held), found.proven == len(levels)
    if plan is None:
        plan, tight = _within_capacity(case, hint, budget, seed, **options), False
    signs = [
        *found.bounds,
        *(trivial(case, level) for level in levels[len(found.bounds) :]),
    ]
    numbers = [bound_of(case, level, bound) for level, bound in zip(levels, signs, strict=True)]
    bound: Value = numbers[0] if len(levels) == 1 else tuple(numbers)
    value = worth_of(instance, plan, goal)
    tight = tight and (value == bound or not instance.exact)
    reason = f"the bound is {'; '.join(found.proofs)}" if found.proofs else None
    if not tight:
        reason = f"value and bound have not met; {reason}"
        if found.left_out is not None:
            reason += f"; {found.left_out}"
    return Result(
        Status.OPTIMAL if tight else Status.FEASIBLE,
        solution=plan,
        objective=goal,
        value=value,
        bound=bound,
        reason=reason,
        method=method,
        seed=seed,
        plan_class="any",
        solver=word,
        proof=found.proof,
    )


def _within_capacity(
    case: Case, hint: Solution | None, budget: Budget, seed: int, **options: object
) -> Solution:
    """Return the best plan that is found among those that keep the capacities."""
    plain = Case.of(case.instance, case.objective, widened=False)
    held = held_of(plain, hint)
    with suppress(TimeoutError):
        held = by_spans(plain, held, budget.left(), seed, **options).held
    return plan_of(plain, held)
