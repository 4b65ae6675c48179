"""Classes of plans by the number of chunks of a load on a node: of which plans a bound holds."""

from __future__ import annotations

import math
from typing import Literal, Protocol, TypeAlias

PlanClass: TypeAlias = Literal["single", "per-stage", "k", "any"]
"""The plans a method ranges over: one chunk per node, one per node and stage, k, or any."""

PLAN_CLASSES: tuple[PlanClass, ...] = ("single", "per-stage", "k", "any")
"""Plan classes from the narrowest to the widest: a bound of a class holds for those before it."""


def within_class(inner: PlanClass | None, outer: PlanClass | None) -> bool:
    """Tell whether all plans of one class are of the other; of two k it is not known.

    Examples
    --------
    >>> within_class("single", "any"), within_class("any", "single"), within_class("k", "k")
    (True, False, False)
    """
    if inner is None or outer is None or inner == outer == "k":
        return False
    return PLAN_CLASSES.index(inner) <= PLAN_CLASSES.index(outer)


class OfPlanClass(Protocol):
    """What is about the plans of a class, as results are, and records of them."""

    @property
    def plan_class(self) -> PlanClass | None:
        """The class; None if it is not known."""

    @property
    def installments(self) -> int | None:
        """The number of chunks of class k."""


def is_in_class_of(found: OfPlanClass, reference: OfPlanClass) -> bool:
    """Tell whether what a reference has proven holds for the plans of the class of a result.

    Examples
    --------
    >>> from dlopt.result import Result, Status
    >>> two, three = (Result(Status.FEASIBLE, plan_class="k", installments=k) for k in (2, 3))
    >>> is_in_class_of(two, three), is_in_class_of(three, two)
    (True, False)
    """
    if found.plan_class is None or reference.plan_class is None:
        return True
    if found.plan_class == reference.plan_class == "k":
        return (found.installments or math.inf) <= (reference.installments or math.inf)
    return within_class(found.plan_class, reference.plan_class)
