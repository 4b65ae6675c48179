"""The shapes of the benchmark about kinds of numbers are instances, and its gaps are right."""

import random

import pytest

from benchmarks.number_kinds import KINDS, NOW, SHAPES, answered, gap_of, measured
from dlopt.problems.bag import Instance, Machine, Task
from dlopt.result import Result, Status


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_the_same_in_every_kind_of_numbers(name: str) -> None:
    make, first, second, _ = SHAPES[name]
    made = [make(kind, random.Random(1), first, second) for kind in KINDS.values()]
    sizes = {
        tuple(
            len(part)
            for field in ("tasks", "requests", "reservations", "etc", "ready_times")
            if (part := getattr(one, field, None)) is not None
        )
        for one in made
    }
    assert len(sizes) == 1 and len({one.problem for one in made}) == 1
    exact = [one.exact for one in made]
    assert exact[:3] == [True] * 3 and exact[-2:] == [False, True]


def test_gaps_count_from_the_origin() -> None:
    dated = Result[Instance](Status.FEASIBLE, objective="makespan", value=NOW + 10, bound=NOW + 9)
    assert gap_of(dated, NOW) == pytest.approx(0.1)
    both = Result[Instance](Status.FEASIBLE, objective="by-priority", value=(4, 2), bound=(4, 3))
    assert gap_of(both, NOW) == pytest.approx(0.5)
    assert gap_of(Result[Instance](Status.LIMIT), 0) is None


def test_an_answer_and_its_seconds() -> None:
    instance = Instance((Task("a", 4), Task("b", 2, release=1)), (Machine("m"),))
    found, spent = answered(instance, "flowtime", 5.0)
    assert (found.status, found.value) == (Status.OPTIMAL, 9) and spent >= 0


def test_a_cell_of_the_table() -> None:
    gap, spent = measured("bag: 6 late tasks, 3 machines", KINDS["ns dates"], 0, 5.0)
    assert gap == 0.0 and spent >= 0
