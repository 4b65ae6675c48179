"""The exact methods for independent tasks, as a caller names them."""

from __future__ import annotations

from dlopt.arithmetic import Number
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.backends.sizes import too_large
from dlopt.errors import NotApplicableError
from dlopt.models.bag.scaled_instance import Case
from dlopt.models.bag.search import PROVEN, Found, Search, trivial
from dlopt.models.bag.solutions import key_of, orders_of, plan_of, stated
from dlopt.problems.bag.claims import claimed_value
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def exact_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Find the best plan, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any of `dlopt.problems.bag.OBJECTIVES` that the instance has; see `default_objective`.
    limits : Limits, optional
        `work` counts conflicts of each program for CP-SAT.
    hint : Solution, optional
        A plan to start from: who runs where, in which order. Times follow from that.
    seed : int

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; of an objective with levels each level is proven after
        the one before. ``FEASIBLE`` at a limit, with what is proven by then: levels after the
        first that is open are bounded by all that could be in time.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: exact for exact instances whose durations and arrivals have a common unit of which
    the horizon is no more than 2^40 (`dlopt.models.bag.scaled_instance`). Else times are rounded
    down to 2^-40 of the horizon; the bound still holds for all plans, and the plan is timed in
    fractions: numbers of tasks that agree are proven all the same, times in exact numbers remain
    ``FEASIBLE`` with a tiny gap, times in floats are called optimal at 1e-7 of the flowtime, or of
    the makespan. Horizon and makespan count from the first instant at which some task can start, so
    that dates may be as large as they like; so does the makespan to which a gap that is asked for
    is relative.

    Makespans are bounded by weights of the machines; who cannot be where in a plan that is as
    good follows from these, and CP-SAT decides the rest. Numbers of tasks go by rows over
    windows where inputs arrive on each machine together, else by optional intervals. Flowtimes
    are an assignment where inputs arrive together, and CP-SAT's otherwise. Sizes beyond some
    hundred pairs of a task and a machine are first improved in neighbourhoods.

    Plan class ``any``. Complexity: exponential in the worst case; O(n^3) for flowtimes of tasks
    that arrive together. Source: the disjunctive program with alternatives; Horn 1973 for
    flowtimes.

    Examples
    --------
    >>> result = exact_plan(Instance(etc=((3, 4), (2, 2), (2, 3))))
    >>> str(result.status), result.value, result.bound
    ('optimal', 4, 4)
    """
    case = Case.of(instance, objective or default_objective(instance))
    found = Search(case, limits, seed).run(orders_of(case, hint))
    return _answer(case, found, "exact", seed, "CP-SAT+HiGHS")


def milp(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Solve the compact integer program alone: machines of tasks, and no starts.

    Parameters
    ----------
    instance, limits, hint, seed
        As in `exact_plan`; the program itself starts without the hint, and `work` counts its nodes.
    objective : str
        Any but ``flowtime``.
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    Result
        As of `exact_plan`; the bound is the solver's, in floats.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name; if tasks with deadlines arrive on a machine one
        after the other, so that no order is known to be best.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the plan is valid in exact numbers, the bound good to 1e-7 of the
    makespan since the first possible start. Where tasks
    arrive together at r_k and x_ik places task i on machine k,
    ``sum_{i: d_i <= d} p_ik x_ik <= d - r_k`` for every deadline d is enough, by earliest
    deadline first; for the makespan C, ``a_jk x_jk + sum_{i: a_ik >= a_jk} p_ik x_ik <= C`` for
    every task j that arrives at a_jk, first come, first served; without x_jk behind a_jk where C
    is no less anyway. Complexity: exponential in the worst case. Source:
    Jackson 1955; Lenstra, Shmoys and Tardos 1990.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=5) for name in "abc")
    >>> milp(Instance(tasks, (Machine("m"),)), objective="accepted").value
    2
    """
    refuse_unknown(solver)
    goal = objective or default_objective(instance)
    case = Case.of(instance, goal)
    if goal == "flowtime":
        raise NotApplicableError("the program has no ends of tasks: it does not know the flowtime")
    if case.kind == "count" and not case.simple:
        raise NotApplicableError(IN_TURN)
    search = Search(
        case, limits, seed, formulation="milp", solver=solver, relaxed=False, neighbours=False
    )
    return _answer(case, search.run(orders_of(case, hint)), "milp", seed, solver)


def pairs_of(instance: Instance) -> int:
    """Return how many pairs of a task and a machine that can run it there are, at the most."""
    if instance.etc is not None:
        return sum(time is not None for row in instance.etc for time in row)
    return len(instance.tasks) * len(instance.machines)


def not_too_many_pairs(instance: Instance) -> str | None:
    """Return why `bound-lp` does not apply, or None: its program would be too large.

    Examples
    --------
    >>> not_too_many_pairs(Instance(etc=((3, 4), (2, None))))
    """
    unit = "pairs of a task and a machine"
    return too_large("linear program", pairs_of(instance), unit=unit)


IN_TURN = "tasks with deadlines arrive on a machine one after the other: no order is best there"


def in_turn(instance: Instance) -> str | None:
    """Return why `milp` does not apply, or None: see `IN_TURN`; or it would be too large.

    The size is estimated before anything else is computed of the instance.
    """
    reason = too_large("integer program over machines", 3 * pairs_of(instance))
    if reason is not None or not instance.deadlines:
        return reason
    return None if Case.of(instance, "accepted").simple else IN_TURN


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
        As in `exact_plan`. Without a time limit it ends after some neighbourhoods drawn at
        random, and answers the same at every run.

    Returns
    -------
    Result
        ``FEASIBLE`` with the bound of the relaxation; ``OPTIMAL`` if that meets the value.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the bound holds for all plans. A few machines at a time are decided again by
    CP-SAT, more of them when that does not help; of the makespan the machine that ends last is
    always one of them, and a task goes only where the bound does not exclude it. Complexity: a
    program of some hundred binaries each time. Source: ours.

    Examples
    --------
    >>> lns(Instance(etc=((3, 4), (2, 2), (2, 3)))).value
    4
    """
    case = Case.of(instance, objective or default_objective(instance))
    found = Search(case, limits, seed, formulation="none").run(orders_of(case, hint))
    return _answer(case, found, "lns", seed, "CP-SAT+HiGHS")


def _answer(case: Case, found: Found, method: str, seed: int, solver: str) -> Answer:
    """Return what was found as a result."""
    instance, goal, levels = case.instance, case.objective, case.levels
    plan = plan_of(case, found.orders)
    tight = found.proven == len(levels)
    signs = [
        *found.bounds,
        *(trivial(case, level)[0] for level in levels[len(found.bounds) :]),
    ]
    value = claimed_value(instance, plan, goal)
    bounds: tuple[Number, ...] = tuple(stated(case, bound) for bound in signs)
    reason = f"the bound is {'; '.join(dict.fromkeys(found.proofs))}"
    if found.left_out is not None:
        reason += f"; {found.left_out}"
    if not tight:
        apart = float(found.bounds[found.proven] - key_of(case, found.orders)[found.proven])
        reason = f"value and bound have not met, by {apart:.3g}; {reason}"
        if not case.whole:
            reason += "; times have no common unit and are rounded down for it"
    return Result(
        Status.OPTIMAL if tight else Status.FEASIBLE,
        solution=plan,
        objective=goal,
        value=value,
        bound=bounds if len(levels) > 1 else bounds[0],
        reason=reason,
        method=method,
        seed=seed,
        plan_class="any",
        solver=solver,
        proof="exact" if PROVEN.issuperset(found.proofs) else "solver",
    )
