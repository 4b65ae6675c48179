"""What the best plan without failures would have been, beside what was simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlopt import api
from dlopt.errors import NotApplicableError
from dlopt.problems import dag
from dlopt.problems.dag import Instance, plan_of
from dlopt.result import NO_LIMITS, Limits, Status, Value
from dlopt.simulation.grid.run import GridRun


@dataclass(frozen=True, slots=True)
class Standing:
    """A simulated plan beside the optimum, or a bound.

    Parameters
    ----------
    objective : str
    simulated : Value
        What the executed plan is worth by the rules of `dag`. What schedulers took to decide is
        in it; that results wait for one another on their way home is not.
    value : Value, optional
        Of the best plan found.
    bound : Value, optional
        What no plan beats.
    status : Status
    method : str
    """

    objective: str
    simulated: Value
    value: Value | None
    bound: Value | None
    status: Status
    method: str


def beside_optimum(
    run: GridRun,
    *,
    objective: str = "makespan",
    method: str = "exact",
    limits: Limits = NO_LIMITS,
) -> Standing:
    """Solve the tasks of a simulation without failures, and return both values.

    Parameters
    ----------
    run : GridRun
        With its trace; all of its tasks came home.
    objective : str
        Of `dlopt.problems.dag.OBJECTIVES`.
    method : str, default "exact"
        Or a bound, for large ones.
    limits : Limits

    Raises
    ------
    NotApplicableError
        If there is no trace, or a task never came home.

    Notes
    -----
    The optimum keeps each task in one LAN, as the grid does, and knows all tasks beforehand. It is
    no worse than the simulated plan, whatever the policy, unless runs were faster than estimated.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Lan, Machine, Network, Task
    >>> from dlopt.simulation.grid import simulate_grid
    >>> machines = (Machine("slow", 1, 0), Machine("fast", 3, 0))
    >>> network = Network("scheduler", "counted", lans=(Lan("l"),))
    >>> graph = Graph("g", (Task("a", 3), Task("b", 2)), lan=0)
    >>> run = simulate_grid(Instance(machines, (graph,), network), exact_numbers=True)
    >>> standing = beside_optimum(run)
    >>> standing.bound, standing.value, standing.simulated
    (Fraction(5, 3), Fraction(5, 3), Fraction(128, 75))
    """
    if run.instance is None or run.trace is None:
        raise NotApplicableError("the trace was not kept")
    lost = next((fate for fate in run.outcome.fates if fate.returned is None), None)
    if lost is not None:
        raise NotApplicableError(f"{lost.id} never came home: {lost.reason}")
    instance, plan = in_one_lan(run.instance), plan_of(run.trace)
    hint = plan if method == "exact" and not dag.violations(instance, plan) else None
    result = api.solve(instance, method, objective=objective, limits=limits, hint=hint)
    return Standing(
        objective,
        dag.objective(instance, plan, objective),
        result.value,
        result.bound,
        result.status,
        method,
    )


def in_one_lan(instance: Instance) -> Instance:
    """Return an instance each of whose graphs must run in one LAN, as a grid runs them."""
    graphs = tuple(replace(graph, one_lan=True) for graph in instance.graphs)
    return replace(instance, graphs=graphs)
