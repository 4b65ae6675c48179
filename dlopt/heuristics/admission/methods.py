"""The registered methods: an algorithm applied to a whole stream.

The method ``edf-opr-mn`` is the function `edf_opr_mn` of this module, ``mcdf:literal`` is
`mcdf_literal`; they all submit the tasks of an instance to
:class:`dlopt.heuristics.admission.engine.Admission`, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.admission.planner_factory import Policy
from dlopt.heuristics.admission.time_origin import dated, from_origin, origin_of
from dlopt.problems.admission.claimed_values import claimed_value
from dlopt.problems.admission.data import Instance, Solution
from dlopt.problems.admission.goals import default_objective
from dlopt.result import Result, Status


def stream(
    algorithm: str | Policy, instance: Instance, *, objective: str | None = None
) -> Result[Solution]:
    """Decide on the tasks of an instance in the order of their arrivals.

    Returns
    -------
    Result
        ``FEASIBLE``, or ``UNKNOWN`` if the algorithm finds no plan for the tasks that the
        instance has promised already.
    """
    goal = objective or default_objective(instance)
    origin = origin_of(instance)
    moved = from_origin(instance, origin) if origin else instance
    try:
        engine = Admission.of(moved, algorithm)
    except PromiseError as error:
        return Result(Status.UNKNOWN, objective=goal, plan_class="single", reason=str(error))
    promised = instance.promised
    for task in moved.tasks:
        if task.id not in promised:
            engine.submit(task)
    plan = dated(instance, engine.plan(), origin) if origin else engine.plan()
    rejected = next((d.reason for d in plan.decisions if not d.accepted), None)
    return Result(
        Status.FEASIBLE,
        plan,
        objective=goal,
        value=claimed_value(instance, plan, goal),
        plan_class="single",
        reason=None if rejected is None else f"first rejection: {rejected}",
    )


def identical_nodes(instance: Instance) -> str | None:
    """Return why an algorithm does not apply: its formulas are for identical nodes."""
    return None if instance.cluster.identical else "the nodes differ"


def nothing_promised(instance: Instance) -> str | None:
    """Return why an algorithm without admission control does not apply, or None."""
    promises = "the instance has promised tasks, and the algorithm ignores deadlines"
    return identical_nodes(instance) or (promises if instance.promised else None)


def __getattr__(name: str) -> Callable[..., Result[Solution]]:
    text = name.removesuffix("_literal").replace("_", "-")
    try:
        algorithm = Algorithm.parse(text + ":literal" * name.endswith("_literal"))
    except NotApplicableError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error

    method = globals()[name] = partial(stream, algorithm.name)
    method.__name__ = name  # type: ignore[attr-defined]
    return method
