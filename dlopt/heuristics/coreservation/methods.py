"""The registered heuristics: all batches of an instance, by one algorithm or the best of several.

The method ``co-rspb`` is the function `co_rspb` of this module, ``co-rspb:literal-leak`` is
`co_rspb_literal_leak`; they all submit the requests to
:class:`dlopt.heuristics.coreservation.engine.CoReservation`, batch by batch.

Examples
--------
>>> from dlopt.problems.coreservation import Machine, Part, Request
>>> requests = tuple(Request(name, 0, 0, 5, 1, (Part(4),)) for name in "ab")
>>> portfolio(Instance((Machine("m", 6),), requests)).reason
'first rejection: request b: part 0 needs 4, no machine has more than 2 left in [0, 5)'
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from itertools import product
from typing import Any

from dlopt.heuristics.coreservation import algorithm_names as algorithms
from dlopt.heuristics.coreservation.engine import run_batches
from dlopt.problems.coreservation.claimed_values import claimed_value
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES, default_objective
from dlopt.result import NO_LIMITS, Limits, PlanClass, Result, Status, Value

PLAN_CLASS: PlanClass = "any"
PORTFOLIO_ALGORITHMS = ("best-fit", "co-rsbfr", "first-fit", "worst-fit")
"""The algorithms of `portfolio`, each in every order of requests."""


def stream(
    algorithm: str,
    instance: Instance,
    *,
    objective: str | None = None,
    trim: bool = False,
    **options: Any,
) -> Result[Solution]:
    """Decide on the requests of an instance, batch by batch.

    Parameters
    ----------
    algorithm : str
        One of `dlopt.heuristics.coreservation.algorithm_names.NAMES`.
    instance, objective
        See `dlopt.registry`.
    trim : bool, default False
        Whether to reserve the least CPU of the same benefit.
    **options
        `order` and `allocation`, see `dlopt.heuristics.coreservation.engine.CoReservation`.

    Returns
    -------
    Result
        ``FEASIBLE``; its reason is that of the first rejection, if there is one.
    """
    goal = objective or default_objective(instance)
    plan = run_batches(instance, algorithm, trim=trim, **options).plan()
    return _result(instance, plan, goal)


def portfolio(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS
) -> Result[Solution]:
    """Return the best of first, best and worst fit, and of refined best fit, in every order.

    Shares are trimmed. When the time limit is reached the remaining combinations are skipped, but
    not the first one.

    Returns
    -------
    Result
        ``FEASIBLE``.
    """
    name = objective or default_objective(instance)
    goal, begun = OBJECTIVES[name], time.perf_counter()
    best: Result[Solution] | None = None
    value: Value | None = None
    for order, fit in product(algorithms.ORDERS, PORTFOLIO_ALGORITHMS):
        spent = time.perf_counter() - begun
        if best is not None and limits.time_s is not None and spent > limits.time_s:
            break
        plan = run_batches(instance, fit, order=order, trim=True).plan()
        candidate = claimed_value(instance, plan, name)
        if value is None or goal.better(candidate, value):
            best, value = _result(instance, plan, name), candidate
    assert best is not None
    return best


def _result(instance: Instance, plan: Solution, goal: str) -> Result[Solution]:
    rejected = next((decision for decision in plan.decisions if not decision.accepted), None)
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
    "priced": {"order": "density"},
}
"""The options of each method, with their defaults."""


def __getattr__(name: str) -> Callable[..., Result[Solution]]:
    known = {text.replace("-", "_").replace(":", "_"): text for text in algorithms.NAMES}
    if name not in known:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    method = globals()[name] = partial(stream, known[name])
    method.__name__ = name  # type: ignore[attr-defined]
    declared = signature(stream)
    common = list(declared.parameters.values())[1:3]
    own = [
        Parameter(
            option, Parameter.KEYWORD_ONLY, default=default, annotation=type(default).__name__
        )
        for option, default in _OPTIONS.get(known[name], {}).items()
    ]
    method.__signature__ = declared.replace(parameters=common + own)  # type: ignore[attr-defined]
    return method
