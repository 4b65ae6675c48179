"""Proven optima do not depend on units: times in other units, and dates since another origin.

`heuristics/admission/test_invariance.py` is about algorithms; here it is the exact methods, whose
models have units of their own.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt import api
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Status

INSTANTS = {"arrival", "start", "end", "absolute_deadline", "release", "ready", "ready_times"}
DURATIONS = {"deadline", "tau", "chi", "theta_cm", "theta_cp", "costs", "etc", "data"}
ENDS = {"completion", "makespan"}
"""Objectives whose values are instants; those of `SUMS` are durations, others are numbers."""
SUMS = {"total-response-time", "flowtime"}

CHAIN = dag.Graph(
    "chain",
    tuple(dag.Task(f"t{k}", costs=costs) for k, costs in enumerate(((3, 5), (None, 4), (6, 2)))),
    (dag.Edge(0, 1, data=2), dag.Edge(0, 2, data=4)),
    arrival=1,
    absolute_deadline=12,
)
SECOND = replace(CHAIN, id="second", arrival=3, absolute_deadline=13)
BAG = bag.Instance(
    tuple(
        bag.Task(f"t{k}", release=release, absolute_deadline=due)
        for k, (release, due) in enumerate(((0, 5), (1, 6), (1, 7), (2, 9)))
    ),
    (bag.Machine("m"), bag.Machine("n", ready=1)),
    etc=((3, 4), (4, None), (2, 3), (5, 4)),
)
UNDATED = replace(BAG, tasks=tuple(replace(task, absolute_deadline=None) for task in BAG.tasks))
PARTS = (coreservation.Part(60), coreservation.Part(40, 20, benefit=((0, 0), (1, 1)), machine=0))
SHARES = coreservation.Instance(
    (coreservation.Machine("m", 100), coreservation.Machine("n", 70)),
    tuple(
        coreservation.Request(f"q{k}", k, start, end, 1 + k % 3, PARTS[: 1 + k % 2])
        for k, (start, end) in enumerate(((1, 6), (2, 9), (2, 5), (4, 8), (5, 9)))
    ),
)
STREAM = admission.Instance(
    Cluster(2, tau=1, chi=2),
    tuple(admission.Task(f"t{k}", a, load, d) for k, (a, load, d) in enumerate(
        ((0, 2, 4), (0, 3, 8), (0, 1, 4), (9, 4, 9), (10, 3, 6))
    )),
)  # fmt: skip
AROUND = multistage.Instance(
    STREAM.cluster,
    STREAM.tasks[:3],
    (
        multistage.Reservation("r", 0, 2, 5, io_ratio=Fraction(1, 2)),
        multistage.Reservation("s", 0, 3, 6, nodes=2),
    ),
)
DIFFERENT = iit.Instance(Cluster(3, (1, 2, 3), (3, 1, 2), theta_cm=1), (2, 0, 5), 9)

CASES: tuple[tuple[Any, str], ...] = (
    (iit.Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3), "completion"),
    (DIFFERENT, "completion"),
    (replace(DIFFERENT, absolute_deadline=23), "nodes"),
    (STREAM, "accepted"),
    (STREAM, "accepted-load"),
    (AROUND, "accepted"),
    (SHARES, "benefit"),
    (SHARES, "rejections"),
    (dag.Instance((dag.Machine("m"), dag.Machine("n")), (CHAIN, SECOND)), "makespan"),
    (dag.Instance((dag.Machine("m"), dag.Machine("n")), (CHAIN, SECOND)), "total-response-time"),
    (dag.Instance((dag.Machine("m"), dag.Machine("n")), (CHAIN, SECOND)), "tardy-graphs"),
    (BAG, "accepted"),
    (UNDATED, "makespan"),
    (UNDATED, "flowtime"),
)


def in_units(value: Any, unit: Fraction, origin: int, name: str = "") -> Any:
    """Return a record with times in another unit, and instants since another origin."""
    if is_dataclass(value) and not isinstance(value, type):
        own = (one.name for one in fields(value) if one.init and one.name != "best_known")
        return replace(
            value, **{key: in_units(getattr(value, key), unit, origin, key) for key in own}
        )
    if isinstance(value, tuple):
        return tuple(in_units(one, unit, origin, name) for one in value)
    if value is None or isinstance(value, str) or name not in INSTANTS | DURATIONS:
        return value
    return value * unit + (origin if name in INSTANTS else 0)


def moved(value: Any, objective: str, unit: Fraction, origin: int) -> Any:
    """Return a value of an objective in other units."""
    if objective in ENDS:
        return value * unit + origin
    return value * unit if objective in SUMS else value


@pytest.mark.parametrize(("instance", "objective"), CASES)
def test_the_optimum_is_that_of_the_same_instance_in_other_units(
    instance: Any, objective: str
) -> None:
    def solve(one: Any) -> Any:
        return api.solve(one, objective=objective, limits=Limits(work=10_000))

    best = solve(instance)
    assert best.status is Status.OPTIMAL
    for unit, origin in ((Fraction(1, 10**6), 10**9), (Fraction(7 * 10**12, 3), 10**18)):
        found = solve(in_units(instance, unit, origin))
        expected = moved(best.value, objective, unit, origin)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, expected, expected)
