"""The registered exact methods for one divisible load."""

from __future__ import annotations

from dataclasses import replace

from dlopt.backends.pulp import DEFAULT, UNPROVEN
from dlopt.backends.time_budget import Budget
from dlopt.errors import NotApplicableError
from dlopt.incumbents import offer
from dlopt.models.iit import fluid_relaxation
from dlopt.models.iit.proof_claims import certified
from dlopt.models.iit.scaled_instance import ScaledInstance
from dlopt.models.iit.search import SingleLoadSearch
from dlopt.models.iit.sequencing_milp import MAX_BINARIES
from dlopt.models.iit.solutions import lower_by_tolerance
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
    """Minimise the completion time, or the nodes that meet the deadline, with a proof.

    Parameters
    ----------
    instance, objective, limits, hint, seed
        See `dlopt.registry`. The hint bounds the models, and is the answer if nothing better is
        found in time.
    formulation : {"auto", "sequence", "prefix", "order"}
        ``sequence``: linear programs over prefixes in ready order (identical nodes, one chunk
        each). ``prefix``: the same choice as one MILP. ``order``: MILP over all sequences, for
        heterogeneous nodes and for installments. ``auto``: the first of sequence and order that
        applies.
    installments : int
        Chunks that a node may get. Only ``order`` supports more than one.
    solver : str
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; for exact instances ``sequence`` proves both by a
        rational dual solution. The MILPs give an exact value and the dual bound of the solver,
        lowered by 2.5e-7 of it for what its tolerances may have cut off; the bound of
        `bound_fluid` replaces it where that is higher. Where a proof is found by
        branching of our own (one chunk a node on few nodes that differ, or several on few nodes),
        the bound has a certificate, and is the optimum itself in exact numbers. ``FEASIBLE`` or
        ``LIMIT`` at a limit. ``INFEASIBLE`` with the load that can be done by the deadline.

    Raises
    ------
    NotApplicableError
        If the formulation does not apply to the instance.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Plan class ``single`` (``k`` with installments). Complexity: O(log N) linear programs; the
    MILPs are exponential in the worst case (``order`` is solved to optimality up to about 12
    nodes).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> result = exact_plan(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> str(result.status), result.value, result.bound
    ('optimal', Fraction(39, 8), Fraction(39, 8))
    """
    formulation = _applicable_formulation(instance, formulation, installments)
    scaled = ScaledInstance.from_instance(instance)
    search = SingleLoadSearch(scaled, limits, hint, seed, formulation, installments, solver)
    offer(
        instance,
        objective,
        "exact",
        lambda: _unscaled(scaled, objective, search.snapshot(objective)),
    )
    try:
        answer = search.minimise_nodes() if objective == "nodes" else search.minimise_completion()
    except TimeoutError as stop:
        answer = search.result_at_limit(objective, str(stop))
    return certified(instance, _unscaled(scaled, objective, answer), objective, search.budget.stop)


def _unscaled(scaled: ScaledInstance, objective: str, answer: Answer) -> Answer:
    """Return an answer in the units of the original."""
    if objective == "nodes":
        return replace(answer, solution=scaled.unscale_solution(answer.solution))
    plan, bound = scaled.unscale_solution(answer.solution), answer.bound
    return replace(
        answer,
        solution=plan,
        value=None if plan is None else last_result(plan),
        bound=None if bound is None else scaled.unscale_instant(bound),
    )


def bound_fluid(
    instance: Instance,
    *,
    objective: str = "completion",
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Bound the completion time of every schedule, with any number of chunks, by fluid relaxation.

    Parameters
    ----------
    instance, objective, limits, hint, seed, solver
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``BOUND``, exact for exact instances, with a certificate; ``LIMIT`` if the time is up;
        ``UNKNOWN`` if the magnitudes of the numbers differ too much for a proof.

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
    scaled = ScaledInstance.from_instance(instance)
    outcome = fluid_relaxation.completion_lower_bound(scaled.instance, limits, solver, seed)
    bound, status, reason = None, Status.LIMIT, None
    if outcome.status is Status.OPTIMAL:
        bound, status = outcome.bound, Status.BOUND
        if bound is not None and instance.exact:
            bound = lower_by_tolerance(bound, outcome)
    elif outcome.status is Status.UNKNOWN:
        status, reason = Status.UNKNOWN, UNPROVEN
    else:
        reason = "the limit was reached before the linear program was solved"
    result = Result[Solution](
        status,
        objective=objective,
        bound=None if bound is None else scaled.unscale_instant(bound),
        reason=reason,
        method="bound-fluid",
        plan_class="any",
        solver=outcome.solver,
        solver_version=outcome.version,
        proof=None if bound is None else "exact" if outcome.proven else "solver",
    )
    return certified(instance, result, objective, Budget(limits).stop)


def reason_against_sequencing_milp(instance: Instance) -> str | None:
    """Return why the MILP over sequences does not apply, or None if it does."""
    nodes = instance.cluster.nodes
    if instance.cluster.identical or nodes**2 <= MAX_BINARIES:
        return None
    return f"sequencing model too large: {nodes} heterogeneous nodes"


def _applicable_formulation(instance: Instance, formulation: str, installments: int) -> str:
    """Return the formulation to use; refuse one that does not apply."""
    identical = instance.cluster.identical
    if formulation == "auto":
        return "sequence" if identical and installments == 1 else "order"
    if formulation != "order" and not identical:
        raise NotApplicableError(f"formulation {formulation} needs identical nodes")
    if formulation != "order" and installments > 1:
        raise NotApplicableError(f"formulation {formulation} supports one installment per node")
    return formulation
