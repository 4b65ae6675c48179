"""Bin packing as requests for CPU."""

from __future__ import annotations

import csv
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.formats import binpack
from dlopt.formats.binpack import BinPacking, Item
from dlopt.generation.bin_packing_requests import bin_packing_instance, first_fit_decreasing
from dlopt.problems.coreservation import (
    Decision,
    Share,
    Solution,
    batch_times,
    batches,
    objective,
    violations,
)
from dlopt.problems.validated_record import Units
from tests.data import data_folder

sizes = st.lists(st.integers(1, 10), min_size=1, max_size=12)
instants = st.integers(0, 9)
windows = st.tuples(instants, st.integers(1, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def problem(*given_sizes: object, capacity: object = 10, best: int | None = None) -> BinPacking:
    items = tuple(Item(str(index), size) for index, size in enumerate(given_sizes))  # type: ignore[arg-type]
    return BinPacking("p", capacity, items, best)  # type: ignore[arg-type]


def test_an_item_is_a_request_and_a_bin_a_machine() -> None:
    made = bin_packing_instance(problem(6, 4, 7), machines=2)
    assert [machine.capacity for machine in made.machines] == [10, 10]
    assert [(one.id, one.start, one.end, one.parts[0].cpu) for one in made.requests] == [
        ("0", 0, 1, 6),
        ("1", 0, 1, 4),
        ("2", 0, 1, 7),
    ]
    assert all(one.parts[0].hard for one in made.requests)
    assert len(batches(made)) == 1
    assert len(batches(bin_packing_instance(problem(6, 4, 7), online=True))) == 3


def test_decimals_become_whole_and_the_unit_is_told() -> None:
    made = bin_packing_instance(problem(Fraction(183, 5), Fraction(1, 2), capacity=100))
    assert (made.machines[0].capacity, made.requests[0].parts[0].cpu) == (1000, 366)
    assert made.units == Units(cpu="1/10 of a unit of the file")
    assert bin_packing_instance(problem(3)).units == Units()


def test_what_the_file_knows_stands_in_best_known() -> None:
    (known,) = bin_packing_instance(problem(6, 4, best=1), machines=3).best_known
    assert (known.objective, known.value, known.bound) == ("rejections-then-machines", (0, 1), None)
    assert bin_packing_instance(problem(6, 6, best=2), machines=1).best_known == ()


def test_items_of_a_time_keep_their_windows() -> None:
    items = (Item("a", 6, 5, 9), Item("b", 6, 2, 5), Item("c", 6, 4, 6))
    temporal = BinPacking("t", 10, items)
    assert [[item.id for item in one] for one in first_fit_decreasing(temporal)] == [
        ["a", "b"],
        ["c"],
    ]
    together, online = bin_packing_instance(temporal), bin_packing_instance(temporal, online=True)
    assert len(together.machines) == 2
    assert [one.id for one in together.requests] == ["a", "b", "c"]
    assert set(batch_times(together)) == {1}
    assert [(one.id, one.arrival) for one in online.requests] == [("b", 2), ("c", 4), ("a", 5)]
    early = BinPacking("t", 10, (Item("a", 6, 0, 9), Item("b", 6, 2, 5)))
    assert len(batches(bin_packing_instance(early))) == 1


@pytest.mark.property
@given(sizes)
def test_first_fit_decreasing_packs_all(sizes: list[int]) -> None:
    bins = first_fit_decreasing(problem(*sizes))
    assert sorted(item.id for one in bins for item in one) == sorted(map(str, range(len(sizes))))
    assert all(sum(item.size for item in one) <= 10 for one in bins)
    # What would fit beside another was put there: no two bins are half empty.
    assert sum(2 * sum(item.size for item in one) <= 10 for one in bins) <= 1


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(1, 10), windows), min_size=1, max_size=12), st.booleans())
def test_the_default_machines_are_enough(
    wanted: list[tuple[int, tuple[int, int]]], online: bool
) -> None:
    """The bins of first fit decreasing are a valid plan without rejections."""
    items = tuple(Item(str(k), size, *window) for k, (size, window) in enumerate(wanted))
    temporal = BinPacking("t", 10, items)
    made = bin_packing_instance(temporal, online=online)
    shares = tuple(
        Share(item.id, 0, index, item.size)
        for index, one in enumerate(first_fit_decreasing(temporal))
        for item in one
    )
    times = zip(made.requests, batch_times(made), strict=True)
    plan = Solution(tuple(Decision(one.id, True, at) for one, at in times), shares)
    assert violations(made, plan) == ()
    assert objective(made, plan, "rejections-then-machines") == (0, len(made.machines))


def test_no_machines() -> None:
    with pytest.raises(NotApplicableError, match="machines must be from 1 to 100000, got 0"):
        bin_packing_instance(problem(1), machines=0)


def test_published_files_need_no_fewer_than_their_optima() -> None:
    folder = data_folder("binpack") / "orlib"
    with (folder / "optima.csv").open() as file:
        optima = {
            row["instance"]: int(row["proven_optimum_bpplib"]) for row in csv.DictReader(file)
        }
    for name in ("binpack1.txt", "binpack5.txt"):
        for one in binpack.read(folder / name, "orlib")[:5]:
            made = bin_packing_instance(one)
            count = len(made.machines)
            assert optima[one.name] <= count <= (11 * optima[one.name] + 6) // 9
            assert made.best_known[0].value == (0, one.best_known)
            assert sum(part.cpu for r in made.requests for part in r.parts) <= (
                count * made.machines[0].capacity  # type: ignore[operator]
            )
