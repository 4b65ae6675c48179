"""The registered exact methods and bounds for streams of divisible loads."""

from __future__ import annotations

from dlopt.arithmetic import ROUNDING, SOLVER, exact, shown
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.models.common.stream_results import StreamResults
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result

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
        See `dlopt.registry`. `work` counts nodes of each branch and bound, and linear programs of
        the local search; a hint that is infeasible or not of the plan class is ignored.
    installments : int
        Chunks that a task may have on a node.
    solver : str
        For the sequencing MILP, see `dlopt.registry`.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; `reason` says where the bound comes from. ``FEASIBLE``
        at a limit. ``INFEASIBLE`` if the promised tasks do not fit, with the minimum of the
        maximum lateness if it is found; ``UNKNOWN`` if that is undecided within the solver's
        tolerance, ``LIMIT`` if time is up.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: the schedule is computed in fractions, exact for exact instances; for floats it is
    good within a relative 1e-6. The bound is that of the fluid relaxation with window cuts and
    branch and bound, each node certified in fractions; where that leaves a gap, that of the
    relaxation over spans of chunks, or of sets of tasks that it proves not to fit together, in
    fractions, too, or the dual bound of the solver for the MILP over sequences of chunks, in
    floating point. An optimum of few chunks is then proven in
    fractions by branch and bound over their orders. Local search finds sequences and proves
    nothing.

    Plan class ``single`` (``k`` with installments). Complexity: exponential in the worst case;
    most streams of up to 48 chunks are solved to optimality, and larger ones where a relaxation is
    tight.
    Source: the programs are those of `dlopt.models.admission`; no paper has them.

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
    scaled = ScaledInstance.from_instance(instance, objective)
    search = AdmissionSearch(scaled, installments, limits, seed, solver)
    return _results(instance, objective, installments).run(search, instance, hint)


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
    """Decide whether all tasks can be accepted, by a schedule or by a proof that there is none.

    Parameters
    ----------
    instance : Instance
        A queue of tasks, and the present state of the cluster.
    objective, limits, hint, seed, installments, solver
        As in `exact_plan`; a hint that accepts all tasks and is feasible is the answer.

    Returns
    -------
    Result
        ``OPTIMAL`` with a schedule that accepts all tasks. ``INFEASIBLE``, with the minimum of
        the maximum lateness if it is found: proven in fractions if even the fluid relaxation is
        infeasible, else by the solver's floating-point bound on the lateness, if that is above 0
        by a margin. ``UNKNOWN`` if it is not; ``LIMIT`` if time is up.

    Notes
    -----
    Guarantee: the sequence of transmissions is not restricted, so that it accepts whatever any
    algorithm with `installments` chunks per node can do from this state on. Lateness is minimised
    because a solver's answer to the question itself is unreliable at tight deadlines. Complexity:
    exponential in the worst case. Source: as for `exact_plan`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
    >>> result = feasible_queue(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> print(result.status, result.reason[:35])
    infeasible minimum maximum lateness Lmax = 1/3
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    scaled = ScaledInstance.from_instance(instance, objective)
    scaled = scaled.restricted_to(range(len(scaled.tasks)))
    search = AdmissionSearch(scaled, installments, limits, seed, solver)
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
        Whether tasks may be accepted partially: one linear program, for thousands of tasks.

    Returns
    -------
    Result
        ``BOUND``; `reason` says how it was proven, and whether there is no feasible schedule at
        all, for the promised tasks do not fit (then the bound is that of accepting nothing).

    Notes
    -----
    Guarantee: valid for every schedule, with set-up costs and for heterogeneous nodes. It is
    certified in fractions, at a limit too, unless `reason` calls it a dual bound in floating point.
    Plan class ``any``. Complexity: one sparse linear program per branch-and-bound node; about ten
    seconds for 2,000 tasks. Source: `dlopt.models.admission.fluid_relaxation`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 3), Task("b", 0, 2, 3))
    >>> bound_fluid(Instance(Cluster(2, tau=1, chi=1), tasks)).bound
    1
    """
    return _bound_result(instance, objective, limits, seed, None, relax)


def bound_window(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    installments: int = 1,
) -> Answer:
    """Bound what schedules with few chunks can accept: `bound_fluid` with window cuts.

    Parameters
    ----------
    instance, objective, limits, seed
        As in `bound_fluid`.
    installments : int
        Chunks that a task may have on a node.

    Returns
    -------
    Result
        ``BOUND``, as in `bound_fluid`.

    Notes
    -----
    Guarantee: valid for all schedules of its class, with set-up costs and for heterogeneous nodes.
    Plan class ``single`` (``k`` with installments). Complexity: exponential in the worst case; a
    second for some tens of tasks. Source: `dlopt.models.admission.window_capacity`.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
    >>> instance = Instance(Cluster(2, tau=1, chi=1), tasks)
    >>> bound_fluid(instance).bound, bound_window(instance).bound
    (2, 1)
    """
    return _bound_result(instance, objective, limits, seed, installments, False)


def _bound_result(
    instance: Instance,
    objective: str | None,
    limits: Limits,
    seed: int,
    installments: int | None,
    relaxation_only: bool,
) -> Answer:
    objective = objective or "accepted"
    scaled = ScaledInstance.from_instance(instance, objective)
    bound = upper_bound(
        scaled, limits, installments=installments, relaxation_only=relaxation_only, seed=seed
    )
    results = _results(instance, objective, installments)
    return results.of_bound(bound, "the promised tasks")


def _results(instance: Instance, objective: str, installments: int | None) -> StreamResults:
    """Return the maker of results on schedules with so many installments, or with any number."""
    return StreamResults(
        instance.exact,
        len(instance.tasks),
        objective,
        "any" if installments is None else "single" if installments == 1 else "k",
        installments or 1,
        _float_warning(instance),
    )


def _float_warning(instance: Instance) -> str | None:
    """Return a warning if the instants in floats are too coarse."""
    spans = [exact(task.deadline) for task in instance.tasks if task.deadline]
    if instance.exact or not spans:
        return None
    error = ROUNDING * max(exact(task.arrival) + exact(task.deadline) for task in instance.tasks)
    if error <= exact(SOLVER) * min(spans):
        return None
    return f"floating-point instants have a resolution of {shown(error, 2)}: use a later origin"
