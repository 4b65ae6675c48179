"""The registered exact methods and bounds for divisible loads around reservations."""

from __future__ import annotations

from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.models.common.stream_results import StreamResults
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.search import MultistageSearch
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, PlanClass, Result

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
    """Maximise what is accepted, knowing all arrivals in advance, with a proof.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        See `dlopt.registry`. `work` counts nodes of each branch and bound; a hint that is
        infeasible or not of the plan class is ignored.
    installments : int
        Chunks that a task may have on a node in a gap. Gaps lie between neighbouring starts of
        reservations, accepted or not.
    solver : str
        For the sequencing MILP, see `dlopt.registry`.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; `reason` says where the bound comes from. ``FEASIBLE``
        at a limit. ``INFEASIBLE`` if the promised tasks and mandatory reservations do not fit;
        ``UNKNOWN`` if that is undecided within the solver's tolerance, ``LIMIT`` if time is up.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the schedule is computed in fractions, exact for exact instances; for floats it is
    good within a relative 1e-6. Reservations without named nodes get any. The bound is that of the
    fluid relaxation, certified in fractions, where that closes the gap (then `plan_class` is
    ``any``), or that of the relaxation over spans of chunks, or of sets of requests that it proves
    not to fit together, in fractions, too; else the dual bound of the solver for the MILP over
    sequences of chunks, in floating point. Schedules are also looked for by local search over
    sequences of chunks. A chunk may be computed beyond its gap, so
    that schedules stage by stage are included.

    Plan class ``per-stage`` (``single`` without reservations, ``k`` with installments).
    Complexity: exponential in the worst case; most random streams of 8 to 20 tasks and three
    reservations on 4 to 16 nodes are solved to optimality within a minute. Source: the programs are
    those of `dlopt.models.multistage`; no paper has them.

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
    scaled = ScaledInstance.from_instance(instance, objective)
    search = MultistageSearch(scaled, installments, limits, seed, solver)
    return _results(instance, objective, installments).run(search, instance, hint)


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
    """Decide whether all tasks and reservations can be accepted, by a schedule or by a proof.

    Parameters
    ----------
    instance, objective, limits, hint, seed, installments, solver
        As in `exact_plan`; a hint that accepts everything and is feasible is the answer.

    Returns
    -------
    Result
        ``OPTIMAL`` with a schedule that accepts everything. ``INFEASIBLE``, with the minimum of
        the maximum lateness of schedules with `installments` if it is found: proven in fractions
        if even the fluid relaxation is infeasible (then `plan_class` is ``any``), else by the
        solver's floating-point bound on the lateness, if that is above 0 by a margin. ``UNKNOWN``
        if it is not; ``LIMIT`` if time is up.

    Notes
    -----
    Guarantee: the sequence of transmissions is not restricted, nor are the nodes of reservations
    that do not name them. Complexity: exponential in the worst case. Source: as for `exact_plan`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 2, io_end=2), Reservation("s", 0, 3, 4))
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),), wanted)
    >>> result = feasible_together(instance)
    >>> print(result.status, result.plan_class, result.reason[:35])
    infeasible any minimum maximum lateness Lmax = 3/4
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    scaled = ScaledInstance.from_instance(instance, objective, accept_all=True)
    search = MultistageSearch(scaled, installments, limits, seed, solver)
    return _results(instance, objective, installments).decide(search, hint)


def bound_fluid(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    relax: bool = False,
) -> Answer:
    """Bound what every schedule can accept, with any number of chunks, by fluid relaxation.

    Parameters
    ----------
    instance, objective, limits, seed
        See `dlopt.registry`. `work` counts branch-and-bound nodes.
    relax : bool, default False
        Whether tasks and reservations may be accepted partially: one linear program.

    Returns
    -------
    Result
        ``BOUND``; `reason` says how it was proven, and whether there is no feasible schedule at
        all, for the promised tasks and mandatory reservations do not fit (then the bound is that
        of accepting nothing).

    Notes
    -----
    Guarantee: valid for every schedule, with set-up costs and for heterogeneous nodes. Reservations
    that name their nodes exclude each other exactly; of the others, nodes are counted. It is
    certified in fractions, at a limit too, unless `reason` calls it a dual bound in floating point.
    Plan class ``any``. Complexity: one sparse linear program per branch-and-bound node; some
    seconds for 256 nodes and 100 reservations. Source:
    `dlopt.models.multistage.fluid_relaxation`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> bound_fluid(Instance(Cluster(1, tau=1, chi=1), tasks, wanted)).bound
    1
    """
    objective = objective or "accepted"
    scaled = ScaledInstance.from_instance(instance, objective)
    bound = upper_bound(scaled, limits, relaxation_only=relax, seed=seed)
    results = _results(instance, objective, None)
    mandatory = "promised tasks and mandatory reservations"
    return results.of_bound(bound, mandatory, scaled.obstacle)


def _results(instance: Instance, objective: str, installments: int | None) -> StreamResults:
    """Return the maker of results on schedules with so many installments, or with any number."""
    few: PlanClass = "per-stage" if instance.reservations else "single"
    return StreamResults(
        instance.exact,
        len(instance.tasks) + len(instance.reservations),
        objective,
        "any" if installments is None else few if installments == 1 else "k",
        installments or 1,
    )
