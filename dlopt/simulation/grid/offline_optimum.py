"""Comparison of a simulated schedule with the offline optimum without failures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlopt import aliases, api
from dlopt.arithmetic import PrintableRecord
from dlopt.errors import NotApplicableError
from dlopt.problems import dag
from dlopt.problems.dag import Instance, plan_of
from dlopt.result import NO_LIMITS, Limits, Status, Value
from dlopt.simulation.grid.run import GridRun


@dataclass(frozen=True, slots=True)
class OptimalityComparison(PrintableRecord):
    """A simulated schedule, compared with the optimum or a bound.

    Parameters
    ----------
    objective : str
    simulated : Value
        Objective value of the executed schedule by the rules of `dag`. The time that schedulers
        take to decide is included; that results wait for one another before they are sent home is
        not.
    value : Value, optional
        Objective value of the best schedule found.
    bound : Value, optional
        Bound on the objective value of all schedules.
    status : Status
    method : str
    """

    objective: str
    simulated: Value
    value: Value | None
    bound: Value | None
    status: Status
    method: str


def compare_with_optimum(
    run: GridRun,
    *,
    objective: str = "makespan",
    method: str = "exact",
    limits: Limits = NO_LIMITS,
) -> OptimalityComparison:
    """Solve the tasks of a simulation without failures, and return both objective values.

    Parameters
    ----------
    run : GridRun
        With its trace; all of its tasks were completed.
    objective : str
        Of `dlopt.problems.dag.OBJECTIVES`.
    method : str, default "exact"
        For large instances, a bound method.
    limits : Limits

    Raises
    ------
    NotApplicableError
        If there is no trace, or a task was not completed.

    Notes
    -----
    The optimum keeps each task in one LAN, as the grid does, and knows all tasks in advance. It is
    at least as good as the simulated schedule under every policy, unless runs were faster than
    estimated.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Lan, Machine, Network, Task
    >>> from dlopt.simulation.grid import simulate_grid
    >>> machines = (Machine("slow", 1, 0), Machine("fast", 3, 0))
    >>> network = Network("scheduler", "counted", lans=(Lan("l"),))
    >>> graph = Graph("g", (Task("a", 3), Task("b", 2)), lan=0)
    >>> run = simulate_grid(Instance(machines, (graph,), network), exact_numbers=True)
    >>> comparison = compare_with_optimum(run)
    >>> comparison.bound, comparison.value, comparison.simulated
    (Fraction(5, 3), Fraction(5, 3), Fraction(128, 75))
    """
    objective = aliases.current_objective("dag", objective)
    if run.instance is None or run.trace is None:
        raise NotApplicableError("the trace was not kept")
    incomplete = next((fate for fate in run.outcome.job_outcomes if fate.returned is None), None)
    if incomplete is not None:
        raise NotApplicableError(f"{incomplete.id} was not completed: {incomplete.reason}")
    instance, plan = in_one_lan(run.instance), plan_of(run.trace)
    hint = plan if method == "exact" and not dag.violations(instance, plan) else None
    result = api.solve(instance, method, objective=objective, limits=limits, hint=hint)
    return OptimalityComparison(
        objective,
        dag.objective(instance, plan, objective),
        result.value,
        result.bound,
        result.status,
        method,
    )


def in_one_lan(instance: Instance) -> Instance:
    """Return the instance with every graph confined to one LAN, as a grid runs them."""
    graphs = tuple(replace(graph, one_lan=True) for graph in instance.graphs)
    return replace(instance, graphs=graphs)
