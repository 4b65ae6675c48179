"""How few bins hold items: bounds, patterns, and published optima."""

import random
from collections import Counter
from fractions import Fraction
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import bins as drawn_bins
from dlopt.models.coreservation import bin_packing as packing_bins
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.bin_packing import martello_toth_l2, pack
from dlopt.models.coreservation.feasibility import all_or_nothing
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import to_solution
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, violations
from dlopt.result import Limits, Status
from tests.data import data_folder
from tests.models.coreservation.sample_instances import NOW, packed
from tests.oracles_coreservation import is_feasible


@pytest.mark.parametrize(
    ("sizes", "capacity", "count"),
    [([], 5, 0), ([5], 5, 1), ([3, 3, 3], 5, 3), ([2] * 5, 4, 3), ([6, 5, 5, 4, 4, 3, 3], 10, 3)],
)
def test_few_bins(sizes, capacity, count) -> None:
    found = pack(sizes, capacity, Limits())
    assert len(found.bins) == found.bound == count
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)


def test_bins_that_first_fit_misses() -> None:
    for seed in range(6):
        instance = drawn_bins(items=40, seed=seed)
        sizes = [request.parts[0].cpu for request in instance.requests]
        capacity = instance.machines[0].capacity
        found = pack(sizes, capacity, Limits())
        assert martello_toth_l2(sorted(sizes, reverse=True), capacity) <= found.bound
        assert found.bound <= len(found.bins) <= found.bound + 1
        assert sorted(size for one in found.bins for size in one) == sorted(sizes)
        assert max(map(sum, found.bins)) <= capacity


def test_bins_without_time() -> None:
    sizes = [366, 268, 366, 430, 263, 307, 414, 287, 299, 495, 251, 254]
    found = pack(sizes, 1000, NOW)
    assert found.bound <= len(found.bins)


@pytest.mark.parametrize(("file", "count"), [("binpack1.txt", 3), ("binpack5.txt", 3)])
def test_falkenauers_bins_are_packed_at_the_proven_optimum(file, count) -> None:
    folder = data_folder("binpack") / "orlib"
    optima = {}
    for line_ in (folder / "optima.csv").read_text().splitlines()[1:]:
        name, instance, *_, best, _ = line_.split(",")
        optima[name, instance] = int(best)
    words = iter((folder / file).read_text().split())
    next(words)
    for _ in range(count):
        name, capacity = next(words), int(10 * Fraction(next(words)))
        items = int(next(words))
        next(words)
        sizes = [int(10 * Fraction(next(words))) for _ in range(items)]
        found = pack(sizes, capacity, Limits())
        assert len(found.bins) == found.bound == optima[file, name]


def test_prices_bound_where_sizes_do_not() -> None:
    sizes = [44, 34, 30, 30, 30, 30, 27, 27, 27, 21]
    found = pack(sizes, 100, Limits())
    assert martello_toth_l2(sizes, 100) == 3
    assert found.bound == len(found.bins) == 4 and found.proof.startswith("Gilmore-Gomory")
    scaled = ScaledInstance.from_instance(packed(sizes, 100, 4), "rejections-then-machines")
    assert machine_minimisation.minimise_machines(scaled, Limits()).bound == 4
    assert "at least 4 machines" in all_or_nothing(packed(sizes, 100, 3)).reason


def test_enumeration_with_too_many_patterns_and_without_a_packing(monkeypatch) -> None:
    sizes = [495, 474, 473, 475, 472, 444, 439, 430, 268, 266, 263, 254, 253, 252, 251, 299]
    best = pack(sizes, 1000, Limits())
    monkeypatch.setattr(packing_bins, "MAX_PATTERNS", 0)
    again = pack(sizes, 1000, Limits())
    assert best.bound == again.bound <= len(again.bins)
    monkeypatch.setattr(packing_bins.GilmoreGomoryMaster, "dive", lambda _, best, __: best)
    assert len(pack(sizes, 1000, Limits()).bins) >= best.bound
    monkeypatch.undo()
    monkeypatch.setattr(packing_bins.GilmoreGomoryMaster, "dive", lambda _, best, __: best)
    said = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "")
    monkeypatch.setattr(cpsat, "optimise", lambda *_, **__: said)
    assert len(pack(sizes, 1000, Limits()).bins) >= best.bound


def triplets(seed: int) -> list[int]:
    """Return 60 sizes of which three each fill a bin of 1000."""
    draw, sizes = random.Random(seed), list[int]()
    for _ in range(20):
        large = draw.randint(380, 490)
        middle = draw.randint(250, (1000 - large) // 2)
        sizes += [large, middle, 1000 - large - middle]
    return sizes


def test_triplets_need_column_generation() -> None:
    sizes = triplets(11)
    found = pack(sizes, 1000, Limits())
    assert len(found.bins) == found.bound == 20
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)


def test_a_dive_ends_when_all_is_packed_though_the_aim_is_out_of_reach() -> None:
    sizes = triplets(0)
    first = [(size,) for size in sorted(sizes, reverse=True)]
    search = packing_bins.GilmoreGomoryMaster(sizes, 1000, Budget(Limits()), 0, first)
    assert search.generate_patterns() == 20
    best = search.dive(first, target=0)
    assert 20 <= len(best) < 60
    assert sorted(size for one in best for size in one) == sorted(sizes)


def test_prices_that_no_solver_gives_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __init__(self, *given: object) -> None:
            self.status = Status.LIMIT

        def solve(self) -> Self:
            return self

    monkeypatch.setattr(packing_bins, "LinearSolver", Silent)
    sizes = triplets(0)
    search = packing_bins.GilmoreGomoryMaster(
        sizes, 1000, Budget(Limits()), 0, [(size,) for size in sizes]
    )
    assert search.generate_patterns() == 0


@given(
    st.lists(st.integers(5, 12), min_size=1, max_size=3),
    st.lists(st.integers(1, 8), min_size=1, max_size=6),
)
def test_machines_that_differ_are_filled_or_provably_cannot_be(free, shares) -> None:
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(share),)) for k, share in enumerate(shares))
    machines = tuple(Machine(f"m{j}", room) for j, room in enumerate(free))
    instance = Instance(machines, requests, Batch(1))
    scaled = ScaledInstance.from_instance(instance, "rejections")
    cliques = scaled.maximal_cliques()
    if len(scaled.parts) < len(shares) or not cliques:
        return  # one is larger than every machine
    found = machine_minimisation.fill_machines(scaled, cliques[0], Budget(Limits()), 0)
    fits = is_feasible(instance, tuple(range(len(shares))))
    assert found.is_impossible is not fits
    assert (found.assignment is not None) is fits
    if found.assignment is not None:
        assert not violations(instance, to_solution(scaled, found.assignment))


def test_too_many_patterns_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = packed(list(range(20, 50)), 200, 6)
    scaled = ScaledInstance.from_instance(instance, "rejections")
    (clique,) = scaled.maximal_cliques()
    monkeypatch.setattr(packing_bins, "MAX_PATTERN_NODES", 50)
    found = machine_minimisation.fill_machines(scaled, clique, Budget(Limits()), 0)
    assert (found.assignment, found.is_impossible) == (None, False)


def test_the_enumeration_of_patterns_keeps_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_bins, "NODES_BETWEEN_CHECKS", 1)
    with pytest.raises(TimeoutError):
        packing_bins.enumerate_patterns(Counter(range(20, 60)), 1000, 0, Budget(NOW))


def test_capacities_too_large_for_prices_are_filled_by_all_patterns() -> None:
    unit = 10**9 + 7
    sizes = [unit * size + extra for size, extra in ((5, 3), (4, -1), (3, -2), (6, 1), (6, -1))]
    found = pack([*sizes, unit * 12], 12 * unit, Limits())
    assert len(found.bins) == found.bound == 3
