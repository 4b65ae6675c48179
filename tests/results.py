"""Instances, plans and answers to hold the library against; methods that give a fixed answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt import registry
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Result, Status
from tests.method_table import own_method_table

THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, name="three")
FLOATS = Instance(Cluster(3, tau=1.0, chi=2.0), (0.0, 1.0, 4.0), load=3.0)
LATE = replace(THREE, absolute_deadline=3)
ROOTS = Instance(Cluster(2, tau=1, chi=1, theta_cm=5), (0, 0), load=11, absolute_deadline=26)
BEST = Fraction(39, 8)
ALONE = Solution((Chunk(0, 3, 0, 3, 3, 9),))
"""A valid plan of THREE: all on the first node, done at 9."""
HALF = Solution((Chunk(0, Fraction(3, 2), 0, Fraction(3, 2), Fraction(3, 2), Fraction(9, 2)),))
"""A plan that loses half of the load of THREE."""
DEADLINE = replace(THREE, absolute_deadline=20)
DIFFER = Instance(Cluster(2, tau=1, chi=(1, 2)), (0, 0), load=3)
NAN, INFINITE = float("nan"), float("inf")

Register = Callable[..., None]


def valid(**changes: Any) -> Result[Solution]:
    """Return a good answer to THREE, with changes."""
    return replace(Result(Status.FEASIBLE, solution=ALONE, value=9, plan_class="single"), **changes)


def answers(patch: pytest.MonkeyPatch) -> Register:
    """Return a function that registers a method, named ``own``, that gives a fixed answer."""
    table = own_method_table(patch)

    def register(answer: Result[Solution], **entry: Any) -> None:
        table.pop(("iit", "own"), None)
        registry.register("iit", "own", lambda instance, **_: answer, **entry)

    return register
