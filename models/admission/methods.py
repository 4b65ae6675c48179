"""The exact methods for streams of divisible loads, as a caller names them."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, Number, exact, shown, simplest
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.interim import offer
from dlopt.models.admission.feasibility import Feasibility
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.admission.search import Search
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, PlanClass, Proof, Result, Status

Answer = Result[Solution]


def exact_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    installments: int = 1,
    solver: str = DEFAULT,
) -> Answer:
    """Find the tasks that are worth most to accept, knowing all arrivals, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : {"accepted", "accepted-load", "reject-ratio"}
        By default ``accepted``.
    limits : Limits, optional
        `work` counts subproblems of each branch and bound, and conflicts of CP-SAT.
    hint : Solution, optional
        A plan to start from. What is no valid plan of the class is not taken.
    seed : int
    installments : int
        Chunks that a task may have on a node.
    solver : str
        For the program over orders of chunks: any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; `reason` says where the bound comes from. ``FEASIBLE``
        at a limit. ``INFEASIBLE`` if what is promised cannot be done, with the least largest
        lateness if it is found; ``UNKNOWN`` if it is too close to tell, ``LIMIT`` if time is up.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the plan is made in fractions, exact for exact instances; for floats it is good
    within a relative 1e-6. The bound is that of loads that flow, cut by the latency of chunks and
    branched on, each subproblem proven in fractions; where that leaves a gap, it is the bound of
    the solver's branch and bound over orders of chunks, in floats. CP-SAT finds orders and proves
    nothing.

    Plan class ``single`` (``k`` with installments). Complexity: exponential in the worst case;
    proven up to about 24 chunks, beyond where loads that flow can do no more. Source: the
    programs are those of `dlopt.models.admission`; no paper has them.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> result = exact_plan(Instance(Cluster(2, 1, 1), (Task("a", 0, 2, 14), Task("b", 0, 10, 15))))
    >>> str(result.status), result.value, result.bound
    ('optimal', 2, 2)
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    search = Search(Case.of(instance, objective), installments, limits, seed, solver)
    offer(
        instance,
        objective,
        "exact",
        lambda: _answer(instance, objective, installments, seed, search.stopped()),
    )
    search.run(hint)
    return _answer(instance, objective, installments, seed, search)


def _answer(
    instance: Instance, objective: str, installments: int, seed: int, search: Search
) -> Answer:
    """Return what a search has found."""
    value = bound = None
    reason = search.proof or "a limit was reached before anything was proven"
    if search.bound is not None:
        bound = _in_units(instance, objective, search.bound)
    if search.plan is None:
        status = search.status or Status.LIMIT
    else:
        value = _in_units(instance, objective, search.worth)
        status = Status.OPTIMAL if search.tight else Status.FEASIBLE
        reason = f"the bound is {reason}"
        if not search.tight:
            reason = f"value and bound have not met; {reason}"
    return Result(
        status,
        solution=search.plan,
        objective=objective,
        value=value,
        bound=bound,
        reason=_with_resolution(instance, reason),
        method="exact",
        seed=seed,
        plan_class=_plan_class(installments),
        installments=installments if installments > 1 else None,
        solver="+".join(search.solvers),
        certificate=search.certificate,
        proof=search.stands_on,
    )


def feasible_queue(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    installments: int = 1,
    solver: str = DEFAULT,
) -> Answer:
    """Decide whether all tasks can be accepted, by a plan or by a proof that there is none.

    Parameters
    ----------
    instance : Instance
        A queue of tasks on a cluster as it stands.
    objective : {"accepted", "accepted-load", "reject-ratio"}
        To state value and bound in. By default ``accepted``.
    limits, seed, installments, solver
        As in `exact_plan`.
    hint : Solution, optional
        A plan; if it accepts all tasks and is valid, it is the answer.

    Returns
    -------
    Result
        ``OPTIMAL`` with a plan that accepts all tasks. ``INFEASIBLE``, with the least largest
        lateness if it is found: proven in fractions if not even loads that flow would be in time,
        else by the solver's bound on the lateness, in floats, which is no proof unless it is
        clear of 0. ``UNKNOWN`` if it is not; ``LIMIT`` if time is up.

    Notes
    -----
    Guarantee: the order of transmissions is free, so that it accepts whatever any algorithm with
    `installments` chunks a node can do from this state on. Lateness is minimised because a
    solver's answer to the question itself is worth little at tight deadlines. Complexity:
    exponential in the worst case. Source: as for `exact_plan`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
    >>> result = feasible_queue(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> print(result.status, result.reason[:33])
    infeasible the least largest lateness is 1/3
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    case = Case.of(instance, objective)
    everyone = range(len(case.jobs))
    search = Search(case, installments, limits, seed, solver)
    search.start(hint)
    most = case.worth(everyone)
    plan, status, reason, certificate = search.plan, Status.OPTIMAL, None, None
    stands_on: Proof = "exact"
    if search.worth < most or plan is None:
        question = Feasibility(case.only(everyone), installments, limits, seed, solver)
        verdict = question.decide(explain=True)
        plan, status, reason = verdict.plan, verdict.status, verdict.reason
        certificate, stands_on = verdict.certificate, verdict.stands_on
    value = None if plan is None else _in_units(instance, objective, most)
    return Result(
        status,
        solution=plan,
        objective=objective,
        value=value,
        bound=value,
        reason=_with_resolution(instance, reason),
        method="feasibility",
        seed=seed,
        plan_class=_plan_class(installments),
        installments=installments if installments > 1 else None,
        solver=solver,
        certificate=certificate,
        proof=stands_on,
    )


def bound_fluid(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    relax: bool = False,
) -> Answer:
    """Bound what every plan can accept, with any number of chunks, by loads that flow.

    Parameters
    ----------
    instance : Instance
    objective : {"accepted", "accepted-load", "reject-ratio"}
        By default ``accepted``.
    limits : Limits, optional
        `work` counts subproblems.
    hint
        Not used.
    seed : int
    relax : bool, default False
        Whether tasks may be accepted in part: one linear program, for thousands of tasks.

    Returns
    -------
    Result
        ``BOUND``; `reason` says how it was proven, and whether no plan is valid at all, for what
        is promised does not fit (then the bound is that of accepting nothing).

    Notes
    -----
    Guarantee: holds for every plan, with set-up costs and for nodes that differ. It is proven in
    fractions, at a limit too, unless `reason` says that it is the solver's word. Plan class
    ``any``. Complexity: one sparse linear program a subproblem; about ten seconds for 2,000 tasks.
    Source: `dlopt.models.admission.fluid_relaxation`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 3), Task("b", 0, 2, 3))
    >>> bound_fluid(Instance(Cluster(2, tau=1, chi=1), tasks)).bound
    1
    """
    return _bound(instance, objective, limits, seed, None, relax, "bound-fluid")


def bound_window(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    installments: int = 1,
) -> Answer:
    """Bound what plans with few chunks can accept: as `bound_fluid`, but results wait.

    Parameters
    ----------
    instance : Instance
    objective, limits, hint, seed
        As in `bound_fluid`.
    installments : int
        Chunks that a task may have on a node.

    Returns
    -------
    Result
        ``BOUND``, as in `bound_fluid`.

    Notes
    -----
    Guarantee: holds for all plans of its class, with set-up costs and for nodes that differ. Plan
    class ``single`` (``k`` with installments). Complexity: exponential in the worst case; a second
    for some tens of tasks. Source: `dlopt.models.admission.window_capacity`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
    >>> instance = Instance(Cluster(2, tau=1, chi=1), tasks)
    >>> bound_fluid(instance).bound, bound_window(instance).bound
    (2, 1)
    """
    return _bound(instance, objective, limits, seed, installments, False, "bound-window-cuts")


def _bound(
    instance: Instance,
    objective: str | None,
    limits: Limits,
    seed: int,
    installments: int | None,
    relaxed: bool,
    method: str,
) -> Answer:
    objective = objective or "accepted"
    case = Case.of(instance, objective)
    found = upper_bound(case, limits, installments=installments, relaxed=relaxed, seed=seed)
    worth, reason = found.worth, found.proof
    if worth is None:
        worth, reason = Fraction(0), f"no plan is valid: what is promised does not fit, {reason}"
    return Result(
        Status.BOUND,
        objective=objective,
        bound=_in_units(instance, objective, worth),
        reason=_with_resolution(instance, reason),
        method=method,
        seed=seed,
        plan_class="any" if installments is None else _plan_class(installments),
        installments=installments if (installments or 1) > 1 else None,
        solver="HiGHS",
        solver_version=found.version,
        certificate=found.certificate,
        proof=found.stands_on,
    )


def _with_resolution(instance: Instance, reason: str | None) -> str | None:
    """Return a reason, and that the instants of an instance in floats are too coarse for it."""
    spans = [exact(task.deadline) for task in instance.tasks if task.deadline]
    if instance.exact or not spans:
        return reason
    off = ROUNDING * max(exact(task.arrival) + exact(task.deadline) for task in instance.tasks)
    if off <= exact(SOLVER) * min(spans):
        return reason
    text = f"instants in floats are known to {shown(off, 2)} only: count them from a later origin"
    return text if reason is None else f"{reason}; {text}"


def _plan_class(installments: int) -> PlanClass:
    return "single" if installments == 1 else "k"


def _in_units(instance: Instance, objective: str, worth: Fraction) -> Number:
    """Return a worth as the objective states it."""
    if objective == "reject-ratio":
        return simplest(1 - worth / len(instance.tasks))
    if objective == "accepted-load" and not instance.exact:
        return float(worth)
    return simplest(worth)
