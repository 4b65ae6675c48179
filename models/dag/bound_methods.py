"""The bounds for task graphs of any size, as a caller names them."""

from __future__ import annotations

from dlopt.models.common.result_values import in_kind, stated
from dlopt.models.dag.lower_bounds import Floors, Proof, floors_of, windows_for
from dlopt.models.dag.scaled_instance import Case
from dlopt.models.dag.search import LEVELS
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


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
    as much before and behind them; heads and tails count the work of all predecessors and of all
    successors (`dlopt.models.dag.energetic_heads`; in cases of up to 1,200 tasks x machines). Where
    costs do not follow speeds, machines count with weights that are found by steps in the
    direction of their loads: any weights give a bound.
    Complexity: that of the critical path, O(tasks^2) up to 400 tasks, linear beyond, and that of
    heads and tails.

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
    floors: Floors = floors_of(case, windows_for(case, proof), proof)
    levels = LEVELS[objective]
    bound = stated(case, levels, [floors.of(case, level) for level in levels])
    return Result(
        Status.BOUND,
        objective=objective,
        bound=in_kind(instance, bound),
        reason=f"bound by {floors.proof}",
        method=method,
        seed=seed,
        plan_class="any",
        proof="exact",
    )
