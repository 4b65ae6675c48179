"""The exact methods and bounds for task graphs, as a caller names them."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import SOLVER, Number, exact, simplest
from dlopt.backends import cpsat
from dlopt.backends.budget import Budget
from dlopt.backends.pulp import DEFAULT
from dlopt.models.dag.bounds import Floors, Proof, floors_of, windows_for
from dlopt.models.dag.case import Case
from dlopt.models.dag.compact import minimised
from dlopt.models.dag.program import Level
from dlopt.models.dag.search import LEVELS, Search, worth_of
from dlopt.models.dag.timing import solution_of
from dlopt.problems.dag import Instance, Solution
from dlopt.problems.dag import objective as objective_of
from dlopt.result import NO_LIMITS, Limits, Result, Status, Value

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
    apart where nothing is sent; see `dlopt.models.dag.pooled` and `dlopt.models.dag.placed` for
    the two programs. Beyond their size there is the plan of the hint and a bound.

    Plan class ``any``. Complexity: exponential in the worst case. Without communication, 100
    tasks on identical machines are mostly proven in seconds; with it, 20 to 30.

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
    search.run(hint)
    case = search.case
    solution = solution_of(case, search.plan)
    value = objective_of(instance, solution, objective)
    bound = _stated(case, search.levels, search.bounds)
    proven = all(
        worth_of(case, search.plan, level) <= least
        for level, least in zip(search.levels, search.bounds, strict=True)
    )
    reason = f"bound by {', '.join(dict.fromkeys(search.proofs))}"
    if not case.whole:
        reason += f"; times are rounded down to multiples of {float(1 / case.scale):.3g} for it"
        proven = proven and _meet(value, bound, 0 if instance.exact else SOLVER)
    return Result(
        Status.OPTIMAL if proven else Status.FEASIBLE,
        solution=solution,
        objective=objective,
        value=value,
        bound=_in_kind(instance, bound),
        reason=reason,
        method="exact",
        seed=seed,
        plan_class="any",
        solver=cpsat.NAME,
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
    value = None if solution is None else objective_of(instance, solution, objective)
    stated = _stated(case, levels, bounds) if len(bounds) == len(levels) else None
    tolerance = 0 if instance.exact else SOLVER
    proven = value is not None and stated is not None and _meet(value, stated, tolerance)
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Result(
        Status.LIMIT if solution is None else status,
        solution=solution,
        objective=objective,
        value=value,
        bound=None if stated is None else _in_kind(instance, stated),
        reason=None if proven else _APART,
        method="milp",
        seed=seed,
        plan_class="any",
        solver=solver,
        solver_version=found.version,
    )


def tiny(instance: Instance) -> str | None:
    """Return why the integer program is not for an instance, or None if it is."""
    count = sum(len(graph.tasks) for graph in instance.graphs)
    return f"it is for {_TINY} tasks at most, not {count}" if count > _TINY else None


def bound_critical_path(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by the longest way through each graph, each task where that is shortest.

    Parameters
    ----------
    instance : Instance
    objective : str
        As in `exact_plan`.
    limits, hint, seed
        Not used.

    Returns
    -------
    Result
        ``BOUND``.

    Notes
    -----
    Guarantee: holds for every plan. The machine of a task is chosen for each arc on its own, and
    data that would come too late from elsewhere comes from tasks on the same machine, one after
    the other (in cases of up to 2000 tasks). Complexity: O(edges x machines^2).

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> bound_critical_path(Instance((Machine("m"), Machine("n")), (graph,))).bound
    6
    """
    return _bounded(instance, objective, seed, "critical path", "bound-critical-path")


def bound_work(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by what all machines can do until then, and by the critical path.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `bound_critical_path`.

    Returns
    -------
    Result
        ``BOUND``; `reason` says which of the two it is.

    Notes
    -----
    Guarantee: holds for every plan. Of every head and every tail, the tasks are counted that have
    as much before and behind them. Where costs do not follow speeds, machines count with weights
    that are found by steps in the direction of their loads: any weights give a bound.
    Complexity: that of the critical path, and O(tasks^2) up to 400 tasks, linear beyond.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=3) for k in range(6)))
    >>> bound_work(Instance((Machine("m"), Machine("n", power=2)), (graph,))).bound
    6
    """
    return _bounded(instance, objective, seed, "work", "bound-work")


def bound_fernandez(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Bound every plan by what must be done within intervals, by all work, and by the path.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        As in `bound_critical_path`.

    Returns
    -------
    Result
        ``BOUND``; `reason` says which of the three it is.

    Notes
    -----
    Guarantee: holds for every plan, and is no worse than the other bounds. A completion is
    refuted if in some interval more must be done than machines can do, with the weights of
    `bound_work`; Fernandez and Bussell 1973 add the excess to the critical path instead.
    Complexity: O(tasks x intervals x machines) times the logarithm of the gain; 400 x 400
    intervals at the most.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((4, 3, 4, 3)))
    >>> edges = (Edge(0, 1), Edge(0, 2), Edge(0, 3))
    >>> bound_fernandez(Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))).bound
    10
    """
    return _bounded(instance, objective, seed, "intervals", "bound-fernandez")


def _bounded(
    instance: Instance, objective: str | None, seed: int, proof: Proof, method: str
) -> Answer:
    objective = objective or "makespan"
    case = Case.of(instance)
    floors: Floors = floors_of(case, windows_for(case), proof)
    levels = LEVELS[objective]
    bound = _stated(case, levels, [floors.of(case, level) for level in levels])
    return Result(
        Status.BOUND,
        objective=objective,
        bound=_in_kind(instance, bound),
        reason=f"bound by {floors.proof}",
        method=method,
        seed=seed,
        plan_class="any",
    )


def _stated(case: Case, levels: tuple[Level, ...], units: list[int]) -> Value:
    """Return bounds as the objective states them."""
    stated = tuple(_level(case, level, unit) for level, unit in zip(levels, units, strict=True))
    return stated if len(stated) > 1 else stated[0]


def _level(case: Case, level: Level, units: int) -> Number:
    if level == "late-graphs":
        return units
    arrivals = sum((exact(graph.arrival) for graph in case.instance.graphs), Fraction(0))
    return simplest(case.time(units) - (arrivals if level == "response" else 0))


def _meet(value: Value, bound: Value, tolerance: float) -> bool:
    pairs = zip(_tuple(value), _tuple(bound), strict=True)
    return all(abs(exact(v) - exact(b)) <= exact(tolerance) * abs(exact(v)) for v, b in pairs)


def _in_kind(instance: Instance, value: Value) -> Value:
    """Return a value in the numbers of the instance: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_one(instance, level) for level in value)
    return _one(instance, value)


def _one(instance: Instance, value: Number) -> Number:
    return value if instance.exact or isinstance(value, int) else float(value)


def _tuple(value: Value) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)
