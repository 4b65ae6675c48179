"""The exact methods for divisible loads around reservations, as a caller names them."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, simplest
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.interim import offer
from dlopt.models.multistage.feasibility import Feasibility
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.search import Search
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Instance, Solution
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
    """Find the tasks and reservations that are worth most, knowing all arrivals, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : str
        ``accepted`` (default), ``accepted-tasks``, ``accepted-reservations``, ``accepted-load``
        or ``reject-ratio``.
    limits : Limits, optional
        `work` counts subproblems of each branch and bound.
    hint : Solution, optional
        A plan to start from. What is no valid plan of the class is not taken.
    seed : int
    installments : int
        Chunks that a task may have on a node in a gap. Gaps lie between neighbouring starts of
        reservations, accepted or not.
    solver : str
        For the program over orders of chunks: any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; `reason` says where the bound comes from. ``FEASIBLE``
        at a limit. ``INFEASIBLE`` if what is promised or mandatory does not fit; ``UNKNOWN`` if
        it is too close to tell, ``LIMIT`` if time is up.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the plan is made in fractions, exact for exact instances; for floats it is good
    within a relative 1e-6. Reservations without named nodes get any. The bound is that of loads
    that flow, proven in fractions, where that meets the value (then `plan_class` is ``any``);
    else that of the solver's branch and bound over orders of chunks, in floats. A chunk may be
    computed beyond its gap, so what is done in one stage at a time is included.

    Plan class ``per-stage`` (``single`` without reservations, ``k`` with installments).
    Complexity: exponential in the worst case; proven up to about 30 chunks, beyond where loads
    that flow can do no more. Source: the programs are those of `dlopt.models.multistage`; no
    paper has them.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> tasks = (Task("a", 0, 2, 5), Task("b", 0, 2, 9))
    >>> wanted = (Reservation("r", 0, 2, 5, io_end=3),)
    >>> result = exact_plan(Instance(Cluster(1, tau=1, chi=1), tasks, wanted))
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
        reason=reason,
        method="exact",
        seed=seed,
        plan_class="any" if search.of_all else _plan_class(instance, installments),
        installments=None if search.of_all or installments == 1 else installments,
        solver="+".join(search.solvers),
        certificate=search.certificate,
        proof=search.stands_on,
    )


def feasible_together(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    installments: int = 1,
    solver: str = DEFAULT,
) -> Answer:
    """Decide whether all tasks and reservations can be accepted, by a plan or by a proof.

    Parameters
    ----------
    instance : Instance
    objective : str
        To state value and bound in, as in `exact_plan`.
    limits, seed, installments, solver
        As in `exact_plan`.
    hint : Solution, optional
        A plan; if it accepts everything and is valid, it is the answer.

    Returns
    -------
    Result
        ``OPTIMAL`` with a plan that accepts everything. ``INFEASIBLE``, with the least largest
        lateness of plans with `installments` if it is found: proven in fractions if not even
        loads that flow would be in time (then `plan_class` is ``any``), else by the solver's
        bound on the lateness, in floats, clear of 0 by a margin. ``UNKNOWN`` if it is not;
        ``LIMIT`` if time is up.

    Notes
    -----
    Guarantee: the order of transmissions is free, and so are the nodes of reservations that do
    not name them. Complexity: exponential in the worst case. Source: as for `exact_plan`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 2, io_end=2), Reservation("s", 0, 3, 4))
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),), wanted)
    >>> result = feasible_together(instance)
    >>> print(result.status, result.plan_class, result.reason[:33])
    infeasible any the least largest lateness is 3/4
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    case = Case.of(instance, objective, everyone=True)
    search = Search(case, installments, limits, seed, solver)
    search.start(hint)
    plan, status, reason, certificate, of_all = search.plan, Status.OPTIMAL, None, None, False
    stands_on: Proof = "exact"
    if plan is None or not _accepts_all(instance, plan):
        verdict = Feasibility(case, installments, limits, seed, solver).decide(explain=True)
        plan, status, reason = verdict.plan, verdict.status, verdict.reason
        certificate, of_all = verdict.certificate, verdict.of_all
        stands_on = verdict.stands_on
    value = None if plan is None else _in_units(instance, objective, case.most)
    everyone = plan is not None or of_all
    return Result(
        status,
        solution=plan,
        objective=objective,
        value=value,
        bound=value,
        reason=reason,
        method="feasibility",
        seed=seed,
        plan_class="any" if everyone else _plan_class(instance, installments),
        installments=None if everyone or installments == 1 else installments,
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
    objective : str
        As in `exact_plan`.
    limits : Limits, optional
        `work` counts subproblems.
    hint
        Not used.
    seed : int
    relax : bool, default False
        Whether tasks and reservations may be accepted in part: one linear program.

    Returns
    -------
    Result
        ``BOUND``; `reason` says how it was proven, and whether no plan is valid at all, for what
        is promised or mandatory does not fit (then the bound is that of accepting nothing).

    Notes
    -----
    Guarantee: holds for every plan, with set-up costs and for nodes that differ. Reservations
    that name their nodes exclude each other exactly; of the others, nodes are counted. It is
    proven in fractions, at a limit too, unless `reason` says that it is the solver's word. Plan
    class ``any``. Complexity: one sparse linear program a subproblem; some seconds for 256 nodes
    and 100 reservations. Source: `dlopt.models.multistage.fluid_relaxation`, after the relaxation
    of one task around accepted reservations.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> bound_fluid(Instance(Cluster(1, tau=1, chi=1), tasks, wanted)).bound
    1
    """
    objective = objective or "accepted"
    case = Case.of(instance, objective)
    found = upper_bound(case, limits, relaxed=relax, seed=seed)
    worth, reason = found.worth, found.proof
    if worth is None:
        why = case.obstacle or reason
        worth = Fraction(0)
        reason = f"no plan is valid: what is promised or mandatory does not fit, {why}"
    return Result(
        Status.BOUND,
        objective=objective,
        bound=_in_units(instance, objective, worth),
        reason=reason,
        method="bound-fluid",
        seed=seed,
        plan_class="any",
        solver="HiGHS",
        solver_version=found.version,
        certificate=found.certificate,
        proof=found.stands_on,
    )


def _accepts_all(instance: Instance, plan: Solution) -> bool:
    yes = {decision.task for decision in plan.decisions if decision.accepted}
    held = {grant.reservation for grant in plan.grants if grant.accepted}
    return len(yes) == len(instance.tasks) and len(held) == len(instance.reservations)


def _plan_class(instance: Instance, installments: int) -> PlanClass:
    if installments > 1:
        return "k"
    return "per-stage" if instance.reservations else "single"


def _in_units(instance: Instance, objective: str, worth: Fraction) -> Number:
    """Return a worth as the objective states it."""
    if objective == "reject-ratio":
        return simplest(1 - worth / (len(instance.tasks) + len(instance.reservations)))
    if objective == "accepted-load" and not instance.exact:
        return float(worth)
    return simplest(worth)
