"""The registered methods: an algorithm applied to a whole stream.

The method ``multi-stage`` is the function `multi_stage` of this module, ``multi-stage:literal-F1``
is `multi_stage_literal_f1`; they all submit what arrives to
:class:`dlopt.heuristics.multistage.engine.MultiStage`, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from dlopt.arithmetic import exact, is_less
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage import algorithm_names
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.admission.data import Task
from dlopt.problems.multistage.claimed_values import claimed_value
from dlopt.problems.multistage.data import Instance, Reservation, Solution
from dlopt.problems.multistage.goals import default_objective
from dlopt.result import PlanClass, Result, Status

PLAN_CLASS: PlanClass = "any"
"""Stages end where another task is sent, too, so that a node may have several chunks of a task
between two reservations."""


def stream(algorithm: str, instance: Instance, *, objective: str | None = None) -> Result[Solution]:
    """Decide on tasks and reservations in the order of their arrivals.

    At one instant reservations are decided before tasks.

    Returns
    -------
    Result
        ``FEASIBLE``, or ``UNKNOWN`` if the algorithm finds no plan for what the instance has
        promised already, or for a mandatory reservation together with its own promises.
    """
    goal = objective or default_objective(instance)
    try:
        engine = decide_all(algorithm, instance)
    except PromiseError as error:
        return Result(Status.UNKNOWN, objective=goal, plan_class=PLAN_CLASS, reason=str(error))
    plan = engine.plan()
    rejected = next((d.reason for d in plan.decisions if not d.accepted), None)
    refused = next((grant.reason for grant in plan.grants if not grant.accepted), None)
    messages = [
        text
        for text in (
            None if rejected is None else f"first rejection: {rejected}",
            None if refused is None else f"first refusal: {refused}",
        )
        if text is not None
    ]
    return Result(
        Status.FEASIBLE,
        plan,
        objective=goal,
        value=claimed_value(instance, plan, goal),
        plan_class=PLAN_CLASS,
        reason="; ".join(messages) or None,
    )


def decide_all(algorithm: str, instance: Instance) -> MultiStage:
    """Return an engine that has decided on everything that arrives.

    Raises
    ------
    PromiseError
        See `stream`.
    """
    engine = MultiStage.of(instance, algorithm)
    arriving: list[Task | Reservation] = [
        reservation
        for reservation in instance.reservations
        if not is_less(reservation.arrival, instance.now)
    ]
    arriving += [task for task in instance.tasks if not is_less(task.arrival, instance.now)]
    for request in sorted(arriving, key=_arrival):
        if isinstance(request, Task):
            engine.submit(request)
        else:
            engine.reserve(request)
    return engine


def applies(instance: Instance) -> str | None:
    """Return why an algorithm does not apply: different nodes, or set-up costs."""
    return algorithm_names.reason_against(instance.cluster)


def _arrival(request: Task | Reservation) -> Fraction:
    return exact(request.arrival)


def __getattr__(name: str) -> Callable[..., Result[Solution]]:
    known = {
        text.replace("-", "_").replace(":", "_").lower(): text for text in algorithm_names.NAMES
    }
    if name not in known:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    method = globals()[name] = partial(stream, known[name])
    method.__name__ = name  # type: ignore[attr-defined]
    return method
