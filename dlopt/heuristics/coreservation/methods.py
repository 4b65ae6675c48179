"""The algorithms as registered methods: all batches of an instance.

The method ``co-rspb`` is the function `co_rspb` of this module, ``co-rspb:literal-leak`` is
`co_rspb_literal_leak`; they all tell :class:`dlopt.heuristics.coreservation.engine.CoReservation`
what arrives, batch by batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from itertools import product
from typing import Any

from dlopt.heuristics.coreservation import algorithm_names as algorithms
from dlopt.heuristics.coreservation.engine import decided
from dlopt.problems.coreservation.claims import claimed_value
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES, default_objective
from dlopt.result import NO_LIMITS, Limits, PlanClass, Result, Status, Value

PLAN_CLASS: PlanClass = "any"


def stream(
    algorithm: str,
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    trim: bool = False,
    **options: Any,
) -> Result[Solution]:
    """Decide on the requests of an instance, batch by batch.

    Parameters
    ----------
    algorithm : str
        One of `dlopt.heuristics.coreservation.algorithm_names.NAMES`.
    trim : bool, default False
        Whether to reserve the least CPU of the same benefit.
    **options
        `order` and `allocation`, see `dlopt.heuristics.coreservation.engine.CoReservation`.

    Returns
    -------
    Result
        ``FEASIBLE``; its reason is that of the first rejection.
    """
    goal = objective or default_objective(instance)
    plan = decided(instance, algorithm, trim=trim, **options).plan()
    return _result(instance, plan, goal)


def portfolio(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Result[Solution]:
    """Decide by first, best and worst fit, and by best fit refined, in every order; keep the best.

    Shares are trimmed. Where time runs out, what was not tried is left out; the first is always
    tried.

    Returns
    -------
    Result
        ``FEASIBLE``.
    """
    name = objective or default_objective(instance)
    goal, begun = OBJECTIVES[name], time.perf_counter()
    best: Result[Solution] | None = None
    value: Value | None = None
    for order, fit in product(algorithms.ORDERS, _FITS):
        spent = time.perf_counter() - begun
        if best is not None and limits.time_s is not None and spent > limits.time_s:
            break
        plan = decided(instance, fit, order=order, trim=True).plan()
        found = claimed_value(instance, plan, name)
        if value is None or goal.better(found, value):
            best, value = _result(instance, plan, name), found
    assert best is not None
    return best


_FITS = ("best-fit", "co-rsbfr", "first-fit", "worst-fit")


def _result(instance: Instance, plan: Solution, goal: str) -> Result[Solution]:
    rejected = next((one for one in plan.decisions if not one.accepted), None)
    return Result(
        Status.FEASIBLE,
        plan,
        objective=goal,
        value=claimed_value(instance, plan, goal),
        plan_class=PLAN_CLASS,
        reason=None
        if rejected is None
        else f"first rejection: request {rejected.request}: {rejected.reason}",
    )


_TRIM = {"trim": False}
_FITTING: Mapping[str, Any] = {"order": "arrival", "allocation": "max", **_TRIM}
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "rb": {"order": "arrival"},
    "rb:literal-slots": {"order": "arrival"},
    "rspb": _TRIM,
    "co-rspb": _TRIM,
    "co-rsbfr": _TRIM,
    "first-fit": _FITTING,
    "best-fit": _FITTING,
    "worst-fit": _FITTING,
}
"""The options of each method, with what they are by default."""


def __getattr__(name: str) -> Callable[..., Result[Solution]]:
    known = {text.replace("-", "_").replace(":", "_"): text for text in algorithms.NAMES}
    if name not in known:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def method(
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: Solution | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Result[Solution]:
        return stream(
            known[name],
            instance,
            objective=objective,
            limits=limits,
            hint=hint,
            seed=seed,
            **options,
        )

    method.__name__ = method.__qualname__ = name
    declared = signature(method)
    common = list(declared.parameters.values())[:-1]
    own = [
        Parameter(
            option, Parameter.KEYWORD_ONLY, default=default, annotation=type(default).__name__
        )
        for option, default in _OPTIONS.get(known[name], {}).items()
    ]
    method.__signature__ = declared.replace(parameters=common + own)  # type: ignore[attr-defined]
    globals()[name] = method
    return method
