"""The registered method for a single task around all reservations: the optimum stage by stage.

It is model (i) of the package, with `K` installments model (iii).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dlopt.arithmetic import Number, exact, is_less, shown
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.models.multistage.node_assignments import assign_nodes
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.single_task_capacity import stage_capacity
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.claimed_values import claimed_value
from dlopt.problems.multistage.data import Grant, Instance, Solution
from dlopt.problems.validated_record import as_exact, floating
from dlopt.result import NO_LIMITS, Limits, Result, Status


def reason_against_structured(instance: Instance) -> str | None:
    """Return why `structured_plan` does not apply, None if it does."""
    if len(instance.tasks) != 1:
        return "it supports a single task only"
    stream = instance.stream
    if stream is not None and not stream.remaining[instance.tasks[0].id]:
        return "no load of the task remains"
    return None


def structured_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    installments: int = 1,
    solver: str = DEFAULT,
) -> Result[Solution]:
    """Accept all reservations, and the task if the best chunks of each stage can do it.

    Parameters
    ----------
    instance : Instance
        With one task.
    objective, limits, seed
        See `dlopt.registry`; the hint is not used.
    installments, solver
        As in `dlopt.models.multistage.single_task_capacity.stage_capacity`.

    Returns
    -------
    Result
        ``OPTIMAL`` if everything is accepted; else ``FEASIBLE`` without a bound, and `reason`
        states the load that can be done, and a bound on it. ``UNKNOWN`` if the reservations do
        not fit together, or the task is promised and does not fit.

    Notes
    -----
    Guarantee: of all schedules around these reservations whose chunks end in their stage, with
    `installments` of them per node and stage, none does more of the task. Reservations that name no
    nodes get some greedily, one by one. Plan class ``per-stage`` (``k`` with installments).
    Complexity: as `stage_capacity`. Source: Mamat 2011, section 5.2, with an unrestricted order of
    nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 9, io_end=4, nodes=(1,)),)
    >>> result = structured_plan(Instance(Cluster(2, tau=1, chi=2), (Task("a", 0, 2, 4),), wanted))
    >>> result.value, result.reason.partition(" (")[0]
    (1, 'the load of the task is 2, of which 16/9 fits in the stages')
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    if not instance.exact:
        # It proves no bound, so that no window has to be widened: in floats, the schedule of the
        # same instance in exact numbers is rounded.
        rational = structured_plan(
            as_exact(instance),
            objective=objective,
            limits=limits,
            seed=seed,
            installments=installments,
            solver=solver,
        )
        if rational.solution is None:
            return rational
        return _rounded(instance, rational, rational.solution)

    def answer(
        status: Status, reason: str | None, plan: Solution | None = None
    ) -> Result[Solution]:
        value = None if plan is None else claimed_value(instance, plan, objective)
        return Result(
            status,
            solution=plan,
            objective=objective,
            value=value,
            bound=value if status is Status.OPTIMAL else None,
            reason=reason,
            plan_class="per-stage" if installments == 1 else "k",
            installments=installments if installments > 1 else None,
            solver=solver,
            proof="exact" if status is Status.OPTIMAL else None,  # nothing accepts more than all
        )

    scaled = ScaledInstance.from_instance(instance, "accepted", accept_all=True)
    nodes = assign_nodes(scaled)
    if nodes is None:
        reason = scaled.obstacle or "no nodes were found for all reservations"
        return answer(Status.UNKNOWN, reason)
    grants = _grant_all(instance, {scaled.reservations[r].index: nodes[r] for r in nodes})
    capacity = stage_capacity(
        instance, grants=grants, installments=installments, limits=limits, seed=seed, solver=solver
    )
    task = instance.tasks[0]
    load = scaled.tasks[0].load * scaled.tasks_only.load_unit
    fits = capacity.load is not None and capacity.load >= load
    decisions = (Decision(task.id, fits, task.arrival),)
    if fits:
        chunks = tuple(_cut_to_load(instance, capacity.chunks, load))
        return answer(Status.OPTIMAL, None, Solution(decisions, grants, chunks))
    reason = (
        f"the load of the task is {shown(load)}, of which {shown(capacity.load)} fits in the "
        f"stages (bound {shown(capacity.bound)}: {capacity.derivation})"
    )
    if is_less(task.arrival, instance.now):  # promised
        return answer(Status.UNKNOWN, f"the task is promised: {reason}")
    return answer(Status.FEASIBLE, reason, Solution(decisions, grants, ()))


def _rounded(instance: Instance, rational: Result[Solution], plan: Solution) -> Result[Solution]:
    """Return a result in exact numbers, with its schedule, in the floats of an instance."""
    plan = floating(plan)
    value = claimed_value(instance, plan, rational.objective)
    bound = None if rational.bound is None else value
    return replace(rational, solution=plan, value=value, bound=bound)


def _grant_all(instance: Instance, nodes: Mapping[int, tuple[int, ...]]) -> tuple[Grant, ...]:
    """Accept all reservations, on given nodes."""
    return tuple(
        Grant(reservation.id, True, reservation.arrival, nodes[r])
        for r, reservation in enumerate(instance.reservations)
    )


def _cut_to_load(instance: Instance, chunks: Iterable[Chunk], load: Number) -> Iterable[Chunk]:
    """Yield the first chunks, the last of them cut, until a load is reached."""
    cluster, left = instance.cluster, exact(load)
    for chunk in chunks:
        if left <= 0:
            return
        chunk_load = min(left, exact(chunk.load))
        left -= exact(chunk.load)
        if chunk_load == exact(chunk.load):
            yield chunk
            continue
        transmission_end = exact(chunk.transmission_start) + exact(cluster.theta_cm)
        transmission_end += chunk_load * exact(cluster.tau_of(chunk.node))
        computation_end = transmission_end + exact(cluster.theta_cp)
        computation_end += chunk_load * exact(cluster.chi_of(chunk.node))
        yield replace(
            chunk,
            load=chunk_load,
            transmission_end=transmission_end,
            computation_start=transmission_end,
            computation_end=computation_end,
        )
