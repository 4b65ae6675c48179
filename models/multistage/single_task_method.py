"""A single task around all reservations, one stage after the other: the optimum of the stages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dlopt.arithmetic import Number, exact, shown
from dlopt.backends.pulp import DEFAULT, refuse_unknown
from dlopt.models.multistage.feasibility import placed
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.single_task_capacity import structured_capacity
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.claims import claimed_value
from dlopt.problems.multistage.data import Grant, Instance, Solution
from dlopt.problems.validated_record import as_exact, floating
from dlopt.result import NO_LIMITS, Limits, Result, Status


def one_task(instance: Instance) -> str | None:
    """Return why `structured_plan` does not apply, None if it does."""
    if len(instance.tasks) != 1:
        return "it is for a single task"
    stream = instance.stream
    if stream is not None and not stream.remaining[instance.tasks[0].id]:
        return "nothing remains of the task"
    return None


def structured_plan(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    installments: int = 1,
    solver: str = DEFAULT,
) -> Result[Solution]:
    """Accept all reservations, and the task if the best chunks of each stage can do it.

    Parameters
    ----------
    instance : Instance
        With one task.
    objective : str
        To state the value in; any of the problem.
    limits, seed, installments, solver
        As in `dlopt.models.multistage.single_task_capacity.structured_capacity`.
    hint
        Not used.

    Returns
    -------
    Result
        ``OPTIMAL`` if everything is accepted; else ``FEASIBLE`` without a bound, and `reason`
        says how much can be done, and at most. ``UNKNOWN`` if the reservations do not fit
        together, or the task is promised and does not fit.

    Notes
    -----
    Guarantee: of all plans around these reservations whose chunks end in their stage, with
    `installments` of them a node and stage, none does more of the task. Reservations that name no
    nodes get some, one by one. Plan class ``per-stage`` (``k`` with installments). Complexity: as
    `structured_capacity`. Source: Mamat 2011, section 5.2, with the order of nodes free.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 9, io_end=4, nodes=(1,)),)
    >>> result = structured_plan(Instance(Cluster(2, tau=1, chi=2), (Task("a", 0, 2, 4),), wanted))
    >>> result.value, result.reason
    (1, 'the task wants 2, its stages do 16/9 (at most 16/9, the word of HiGHS, in floats)')
    """
    refuse_unknown(solver)
    objective = objective or "accepted"
    if not instance.exact:
        # It proves no bound, so that nothing has to be wider than stated: in floats a plan of the
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
        plan = floating(rational.solution)
        value = claimed_value(instance, plan, objective)
        bound = None if rational.bound is None else value
        return replace(rational, solution=plan, value=value, bound=bound)
    name = "stage-optimal"

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
            method=name,
            seed=seed,
            plan_class="per-stage" if installments == 1 else "k",
            installments=installments if installments > 1 else None,
            solver=solver,
            proof="exact" if status is Status.OPTIMAL else None,  # no plan accepts more than all
        )

    case = Case.of(instance, "accepted", everyone=True)
    nodes = placed(case)
    if nodes is None:
        return answer(Status.UNKNOWN, case.obstacle or "nodes for all reservations were not found")
    held = {case.bookings[r].index: given for r, given in nodes.items()}
    grants = tuple(
        Grant(one.id, True, one.arrival, held[r]) for r, one in enumerate(instance.reservations)
    )
    found = structured_capacity(
        instance,
        grants=grants,
        installments=installments,
        limits=limits,
        seed=seed,
        solver=solver,
    )
    task = instance.tasks[0]
    wanted = case.jobs[0].load * case.stream.load_unit
    fits = found.load is not None and found.load >= wanted
    promised = instance.stream is not None and task.id in instance.stream.promised
    decisions = (Decision(task.id, fits, task.arrival),)
    if fits:
        chunks = tuple(_trimmed(instance, found.chunks, wanted))
        return answer(Status.OPTIMAL, None, Solution(decisions, grants, chunks))
    most = f"at most {shown(found.bound)}, {found.proof}"
    reason = f"the task wants {shown(wanted)}, its stages do {shown(found.load)} ({most})"
    if promised:
        return answer(Status.UNKNOWN, f"the task is promised: {reason}")
    return answer(Status.FEASIBLE, reason, Solution(decisions, grants, ()))


def _trimmed(instance: Instance, chunks: Iterable[Chunk], wanted: Number) -> Iterable[Chunk]:
    """Yield the first chunks, the last of them cut, until a load is reached."""
    cluster, left = instance.cluster, exact(wanted)
    for chunk in chunks:
        if left <= 0:
            return
        load = min(left, exact(chunk.load))
        left -= exact(chunk.load)
        if load == exact(chunk.load):
            yield chunk
            continue
        sent = exact(chunk.transmission_start) + exact(cluster.theta_cm)
        sent += load * exact(cluster.tau_of(chunk.node))
        done = sent + exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node))
        yield replace(
            chunk, load=load, transmission_end=sent, computation_start=sent, computation_end=done
        )
