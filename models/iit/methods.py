"""The exact methods for one divisible load, as a caller names them."""

from __future__ import annotations

from dataclasses import replace

from dlopt.backends.pulp import DEFAULT, UNPROVEN
from dlopt.errors import NotApplicableError
from dlopt.models.iit import fluid_relaxation
from dlopt.models.iit.scaled_instance import Scaled
from dlopt.models.iit.search import Search, believed
from dlopt.models.iit.sequencing_milp import MOST_BINARIES
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def exact_plan(
    instance: Instance,
    *,
    objective: str = "completion",
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    formulation: str = "auto",
    installments: int = 1,
    solver: str = DEFAULT,
) -> Answer:
    """Find the least completion time, or the fewest nodes by the deadline, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : {"completion", "nodes"}
    limits : Limits, optional
    hint : Solution, optional
        A plan; it clamps the models, and is the answer if nothing better is found in time.
    seed : int
    formulation : {"auto", "sequence", "prefix", "order"}
        ``sequence``: linear programs over prefixes in ready order (identical nodes, one chunk
        each). ``prefix``: the same choice as one MILP. ``order``: MILP in free order, for nodes
        that differ and for installments. ``auto``: the first that applies of sequence and order.
    installments : int
        Chunks that a node may get. Only ``order`` takes more than one.
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; in exact numbers ``sequence`` proves both by a rational
        dual solution. The MILPs leave the bound of the solver, less 2.5e-7 of it for what its
        tolerances may have cut off, beside an exact value; the bound of `bound_fluid` takes its
        place where it proves the value exactly. ``FEASIBLE`` or ``LIMIT`` at a limit.
        ``INFEASIBLE`` with the load that can be done by the deadline.

    Raises
    ------
    NotApplicableError
        If the formulation does not fit the instance.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Plan class ``single`` (``k`` with installments). Complexity: O(log N) linear programs; the
    MILPs are exponential in the worst case (free order is proven up to about 12 nodes).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> result = exact_plan(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> str(result.status), result.value, result.bound
    ('optimal', Fraction(39, 8), Fraction(39, 8))
    """
    chosen = _formulation(instance, formulation, installments)
    scaled = Scaled.of(instance)
    search = Search(scaled, limits, hint, seed, chosen, installments, solver)
    try:
        answer = search.fewest_nodes() if objective == "nodes" else search.completion()
    except TimeoutError as stop:
        answer = search.stopped(objective, str(stop))
    if objective == "nodes":
        return replace(answer, solution=scaled.plan_back(answer.solution))
    plan, bound = scaled.plan_back(answer.solution), answer.bound
    return replace(
        answer,
        solution=plan,
        value=None if plan is None else last_result(plan),
        bound=None if bound is None else scaled.instant_back(bound),
    )


def bound_fluid(
    instance: Instance,
    *,
    objective: str = "completion",
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Bound the completion time of every plan, with any number of chunks, by a fluid program.

    Parameters
    ----------
    instance : Instance
    objective : {"completion"}
    limits, seed, solver
        As in `exact_plan`.
    hint
        Not used.

    Returns
    -------
    Result
        ``BOUND``, exact in exact numbers; ``LIMIT`` if the time is up; ``UNKNOWN`` if the numbers
        lie too far apart for a proof.

    Notes
    -----
    Plan class ``any``: set-up costs are left out and chunks may be infinitesimal. Complexity:
    O(log g) linear programs of O(g^2) variables, g <= 24 groups of ready times.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> bound_fluid(Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)).bound
    Fraction(3, 1)
    """
    scaled = Scaled.of(instance)
    outcome = fluid_relaxation.least_completion(scaled.instance, limits, solver, seed)
    bound, status, reason = None, Status.LIMIT, None
    if outcome.status is Status.OPTIMAL:
        bound, status = outcome.bound, Status.BOUND
        if bound is not None and instance.exact:
            bound = believed(bound, outcome)
    elif outcome.status is Status.UNKNOWN:
        status, reason = Status.UNKNOWN, UNPROVEN
    else:
        reason = "the limit was reached before the program was solved"
    return Result(
        status,
        objective=objective,
        bound=None if bound is None else scaled.instant_back(bound),
        reason=reason,
        method="bound-fluid",
        plan_class="any",
        solver=outcome.solver,
        solver_version=outcome.version,
        proof=None if bound is None else "exact" if outcome.proven else "solver",
    )


def not_too_many_different_nodes(instance: Instance) -> str | None:
    """Return why free order cannot be modelled, or None if it can."""
    nodes = instance.cluster.nodes
    if instance.cluster.identical or nodes**2 <= MOST_BINARIES:
        return None
    return f"its {nodes} nodes differ, and are too many for a model of free order"


def _formulation(instance: Instance, formulation: str, installments: int) -> str:
    identical = instance.cluster.identical
    if formulation == "auto":
        return "sequence" if identical and installments == 1 else "order"
    if formulation != "order" and not identical:
        raise NotApplicableError(f"formulation {formulation} needs identical nodes")
    if formulation != "order" and installments > 1:
        raise NotApplicableError(f"formulation {formulation} has one installment a node")
    return formulation
