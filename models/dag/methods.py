"""The exact methods for task graphs, as a caller names them."""

from __future__ import annotations

from dlopt.backends import cpsat
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.interim import offer
from dlopt.models.common.result_values import in_kind, meet, stated
from dlopt.models.dag.milp import minimised
from dlopt.models.dag.scaled_instance import Case
from dlopt.models.dag.schedules import solution_of
from dlopt.models.dag.search import CP_SAT, LEVELS, Search, worth_of
from dlopt.problems.dag.claims import claimed_value
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]

_TINY = 8
"""Tasks up to which the integer program is soon solved."""
_APART = "value and bound have not met; the solver's bound counts less 1e-6 of the horizon"


def exact_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Find the best plan and prove it, with CP-SAT.

    Parameters
    ----------
    instance : Instance
    objective : str
        ``makespan`` (default), ``late-graphs``, ``response`` or ``late-then-response``, one level
        after the other.
    limits : Limits, optional
        `work` counts conflicts of each program.
    hint : Solution, optional
        A valid plan to start from.
    seed : int

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
    they are rounded down to a grid: then the program is a relaxation, its bound holds, and its
    plan is timed anew with the numbers of the instance. Machines that are alike are not told
    apart where nothing is sent, and lists in many orders, forwards and backwards, come first there
    (`dlopt.models.dag.forward_backward`); where something is, and there are more than 35 tasks,
    linear programs bound the makespan before the search (`dlopt.models.dag.time_indexed_bound`), if
    no more than some hundred units of time are looked at. See `dlopt.models.dag.cpsat_cumulative`
    and `dlopt.models.dag.cpsat_alternatives` for the two programs. Beyond their size there is the
    plan of the hint and a bound.

    Plan class ``any``. Complexity: exponential in the worst case. Without communication, 100
    tasks on identical machines are mostly proven within a second; with it, 20 to 30 in seconds.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> result = exact_plan(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> str(result.status), result.value, result.bound
    ('optimal', 6, 6)
    """
    objective = objective or "makespan"
    search = Search(instance, objective, limits, seed)
    offer(instance, objective, "exact", lambda: _answer(instance, objective, seed, search))
    search.run(hint)
    return _answer(instance, objective, seed, search)


def _answer(instance: Instance, objective: str, seed: int, search: Search) -> Answer:
    """Return what a search has found."""
    case = search.case
    solution = solution_of(case, search.plan)
    value = claimed_value(instance, solution, objective)
    bounds, proofs = search.known()
    bound = stated(case, search.levels, bounds)
    proven = all(
        worth_of(case, search.plan, level) <= least
        for level, least in zip(search.levels, bounds, strict=True)
    )
    reason = f"bound by {', '.join(dict.fromkeys(proofs))}"
    if search.left_out is not None:
        reason += f"; {search.left_out}"
    if not case.whole:
        reason += f"; times are rounded down to multiples of {float(1 / case.scale):.3g} for it"
    bound = in_kind(instance, bound)
    proven = proven and meet(case, search.levels, value, bound)
    return Result(
        Status.OPTIMAL if proven else Status.FEASIBLE,
        solution=solution,
        objective=objective,
        value=value,
        bound=bound,
        reason=reason,
        method="exact",
        seed=seed,
        plan_class="any",
        solver=cpsat.NAME,
        proof="solver" if CP_SAT in proofs else "exact",
    )


def compact_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Find the best plan of a tiny instance by an integer program.

    Parameters
    ----------
    instance : Instance
    objective : str
        As in `exact_plan`.
    limits : Limits, optional
        `work` counts nodes of each branch and bound.
    hint
        Not used.
    seed : int
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` or ``FEASIBLE``, or ``LIMIT`` if no plan was found in time.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the solver's own word, in floats. The plan and its value are exact; the bound of a
    time is what the solver says less 1e-6 of the horizon (once for each graph if responses are
    added up), and then the next unit of time above. With a horizon of up to some 10^6 units, as
    of small integers, that is sharp. Of finer numbers, such as fractions with large denominators
    and most floats, there is a good plan, a bound a little below it, and the status
    ``FEASIBLE``. ``OPTIMAL`` says that value and bound are the same, or of floats that they
    agree to 1e-6. It is here to be compared with `exact_plan`, which shares neither program nor
    solver with it. Plan class ``any``. Complexity: exponential; some seconds for 8 tasks.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> compact_plan(Instance((Machine("m"), Machine("n")), (graph,))).value
    6
    """
    objective = objective or "makespan"
    case, budget = Case.of(instance), Budget(limits)
    levels = LEVELS[objective]
    found = minimised(case, levels, budget, seed, solver)
    plan, bounds = found.plan, found.bounds
    solution = None if plan is None else solution_of(case, plan)
    value = None if solution is None else claimed_value(instance, solution, objective)
    bound = stated(case, levels, bounds) if len(bounds) == len(levels) else None
    proven = value is not None and bound is not None and meet(case, levels, value, bound)
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Result(
        Status.LIMIT if solution is None else status,
        solution=solution,
        objective=objective,
        value=value,
        bound=None if bound is None else in_kind(instance, bound),
        reason=None if proven else _APART,
        method="milp",
        seed=seed,
        plan_class="any",
        solver=solver,
        solver_version=found.version,
        proof=None if bound is None else "solver",
    )


def tiny(instance: Instance) -> str | None:
    """Return why the integer program is not for an instance, or None if it is."""
    count = sum(len(graph.tasks) for graph in instance.graphs)
    return f"it is for {_TINY} tasks at most, not {count}" if count > _TINY else None
