"""Lower bounds for task graphs of any size, as registered methods."""

from __future__ import annotations

from dlopt.models.common.objective_levels import bound_reason
from dlopt.models.dag.completion_bounds import scaled_for_objective
from dlopt.models.dag.lower_bounds import (
    CRITICAL_PATH,
    INTERVAL_ENERGY,
    TOTAL_WORK,
    LowerBounds,
    Proof,
    compute_heads_tails,
    compute_lower_bounds,
)
from dlopt.models.dag.objective import LEVELS, to_objective_value
from dlopt.models.dag.proof_search import certificate_of_bound
from dlopt.models.dag.time_blocks import solve_blocks, time_blocks
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Result, Status

Answer = Result[Solution]


def bound_critical_path(instance: Instance, *, objective: str | None = None) -> Answer:
    """Bound every schedule by the longest path through each graph, each task where it is shortest.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``BOUND``.

    Notes
    -----
    Guarantee: holds for every schedule. The machine of a task is chosen for each arc on its own,
    and tasks whose data would arrive too late from other machines run on the machine of their
    successor, one after another (in instances of up to 2000 tasks). Complexity: O(edges x
    machines^2).

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> bound_critical_path(Instance((Machine("m"), Machine("n")), (graph,))).bound
    6
    """
    return _bound_result(instance, objective, CRITICAL_PATH)


def bound_work(instance: Instance, *, objective: str | None = None) -> Answer:
    """Bound every schedule by the work of all machines, and by the critical path.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``BOUND``; `reason` says which of the two it is.

    Notes
    -----
    Guarantee: holds for every schedule. For every head and every tail, the work of the tasks with
    no smaller heads and tails is counted; heads and tails contain the work of all predecessors and
    of all successors (`dlopt.models.dag.energetic_heads`; in instances of up to 1,200 tasks x
    machines). The sum of the responses of several graphs is also bounded by a preemptive relaxation
    to one machine (`dlopt.models.dag.total_completion_bound`). Where costs are not work divided by
    speed, machines have weights that maximise the bound by a subgradient method: any weights give a
    bound. Complexity: that of the critical path, O(tasks^2) up to 400 tasks, linear beyond, and
    that of heads and tails.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=3) for k in range(6)))
    >>> bound_work(Instance((Machine("m"), Machine("n", power=2)), (graph,))).bound
    6
    """
    return _bound_result(instance, objective, TOTAL_WORK)


def bound_fernandez(instance: Instance, *, objective: str | None = None) -> Answer:
    """Bound every schedule by the energy of intervals, by all work, and by the critical path.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``BOUND``; `reason` says which of the three it is.

    Notes
    -----
    Guarantee: holds for every schedule, and is no worse than the other bounds. A completion is
    infeasible if in some interval tasks need more work than machines can do, with the weights of
    `bound_work`; Fernandez and Bussell 1973 add the excess to the critical path instead.
    Complexity: O(tasks x intervals x machines) times the logarithm of the gain; 400 x 400
    intervals at most.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((4, 3, 4, 3)))
    >>> edges = (Edge(0, 1), Edge(0, 2), Edge(0, 3))
    >>> bound_fernandez(Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))).bound
    10
    """
    return _bound_result(instance, objective, INTERVAL_ENERGY)


def _bound_result(instance: Instance, objective: str | None, proof: Proof) -> Answer:
    objective = objective or "makespan"
    blocks = time_blocks(instance, objective, within_horizon=False)
    if blocks:
        return solve_blocks(
            instance,
            objective,
            blocks,
            lambda part, *_: _bound_result(part, objective, proof),
        )
    scaled = scaled_for_objective(instance, objective)
    heads_tails = compute_heads_tails(scaled, proof)
    bounds: LowerBounds = compute_lower_bounds(scaled, heads_tails, proof)
    levels = LEVELS[objective]
    units = [bounds.for_level(scaled, level) for level in levels]
    return Result(
        Status.BOUND,
        objective=objective,
        bound=to_objective_value(scaled, levels, units),
        reason=bound_reason([bounds.proof]),
        plan_class="any",
        proof="exact",
        certificate=certificate_of_bound(scaled, heads_tails, levels, units, cases=False),
    )
