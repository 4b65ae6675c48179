"""Violations as text: what a result states is confronted with what its schedule has."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dlopt
from dlopt.presentation.violation_texts import check_texts
from dlopt.problems.iit import Chunk, Cluster, Instance, Solution
from dlopt.result import Result, Status

INSTANCE = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
SCHEDULE = Solution((Chunk(0, 1, 0, 1, 1, 2),))
RIGHT = Result(Status.OPTIMAL, SCHEDULE, objective="completion", value=2, bound=2)


def _texts(result: Result[Solution]) -> list[str]:
    return list(check_texts(INSTANCE, result, dlopt.check(INSTANCE, result)))


def test_of_a_true_result_there_is_nothing_to_say() -> None:
    assert _texts(RIGHT) == []


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"value": 1}, ["value: the result states completion 1, its schedule has 2"]),
        ({"value": None}, ["value: the result states no completion, its schedule has 2"]),
        ({"bound": 3}, ["bound: the result states completion >= 3, its schedule has 2"]),
        (
            {"bound": 1},
            ["status: the result states optimal, but its bound is 1 and its value 2"],
        ),
        ({"bound": None}, ["status: the result states optimal, but it has no bound"]),
        (
            {"status": Status.INFEASIBLE},
            ["status: the result states infeasible, but it has a schedule"],
        ),
        ({"solution": None}, ["status: the result states optimal, but it has no schedule"]),
        (
            {"status": Status.FEASIBLE, "bound": None, "solution": Solution(())},
            [
                "load-not-conserved on load by 1",
                "value: the result states completion 2, its schedule has 0",
            ],
        ),
        ({"objective": "length"}, ["unknown-objective on length"]),
    ],
)
def test_a_false_statement_is_confronted_with_the_schedule(
    changes: dict[str, object], texts: list[str]
) -> None:
    assert _texts(replace(RIGHT, **changes)) == texts


def test_violations_of_a_plan_alone_are_as_the_checker_finds_them() -> None:
    late = Solution((Chunk(0, 1, 0, 1, 1, 3),))
    found = dlopt.check(INSTANCE, late)
    assert list(check_texts(INSTANCE, late, found)) == [str(violation) for violation in found]
