"""The optimum of a single task stage by stage, in floats and with very late ends."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dlopt import check, read, solve
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Instance,
    Reservation,
    Task,
)
from dlopt.result import Status
from tests.models.multistage.sample_instances import BOTH


def test_a_reservation_that_ends_in_a_hundred_years_begins_when_it_says() -> None:
    """In floats it is shorter by its own rounding at either end, not by that of its end."""
    task, end = Task("t", 1.0, 0.75, 4.0), 5e9
    wanted = Reservation("r", 0.0, 2.0, end, io_end=3.0, nodes=(1,))
    instance = Instance(Cluster(2, tau=1.0, chi=1.0), (task,), (wanted,))
    scaled = ScaledInstance.from_instance(instance)
    begins = scaled.tasks_only.unscale_instant(scaled.reservations[0].start)
    assert 0 < begins - 2 < Fraction(1, 10**6)
    for method in ("stage-optimal", "exact"):
        found = solve(instance, method)
        assert (found.status, found.value) == (Status.OPTIMAL, 2)
        assert check(instance, found.solution) == ()


@pytest.mark.parametrize("reading", [{}, {"exact_numbers": True}, {"float_numbers": True}])
@pytest.mark.parametrize("factor", [10**3, 10**6, 10**9, 1e9, 10**12])
def test_structured_with_a_reservation_that_ends_very_late(
    factor: float, reading: dict[str, bool], tmp_path: Path
) -> None:
    """In floats, with an end at 1e9, two chunks once overlapped on the channel by 7e-5."""
    file = Path("instances/multistage/counterexamples/multi-stage-literal-f6.json")
    data = json.loads(file.read_text())
    (wanted,) = data["reservations"]
    wanted["end"] *= factor
    (tmp_path / "late.json").write_text(json.dumps(data))
    instance = read(tmp_path / "late.json", **reading)
    found = solve(instance, "stage-optimal")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 2, 2)
    assert check(instance, found) == () and found.violations == ()


def test_a_task_that_fits_to_the_last_bit_is_accepted() -> None:
    found = solve(BOTH, "stage-optimal")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 2, 2)
    (task,) = BOTH.tasks
    more = replace(BOTH, tasks=(replace(task, load=task.load + Fraction(1, 10**9)),))
    rejected = solve(more, "stage-optimal")
    assert (rejected.status, rejected.value) == (Status.FEASIBLE, 1)


def test_structured_says_in_floats_what_it_says_in_exact_numbers() -> None:
    """Two reservations of one node at a time fit in neither."""
    for number in (int, float):
        both = tuple(
            Reservation(name, number(0), number(1), number(3), io_end=number(1), nodes=(0,))
            for name in "rs"
        )
        task = Task("t", number(0), number(1), number(9))
        found = solve(Instance(Cluster(1, number(1), number(1)), (task,), both), "stage-optimal")
        assert (found.status, found.solution) == (Status.UNKNOWN, None)
