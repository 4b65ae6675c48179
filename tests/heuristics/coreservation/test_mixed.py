"""Floats beside fractions: nothing is refused or overloaded for how numbers are stored."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import api, registry
from dlopt.arithmetic import exact
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.heuristics.coreservation.mixed import is_mixed
from dlopt.heuristics.coreservation.placement import min_share_of_same_benefit
from dlopt.problems.coreservation import (
    Batch,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    linear,
)
from dlopt.problems.validated_record import as_exact

F = Fraction
NAMES = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]


@pytest.mark.parametrize("name", NAMES)
def test_a_fraction_that_is_less_than_its_float(name) -> None:
    """An instant and an amount of CPU whose floats lie on the other side."""
    early = F(5, 7)
    assert F(float(early)) > early and F(1.4) < F(7, 5)
    one = Request("r", early, early, 1.5, 1, (Part(F(7, 5)),))
    found = api.solve(Instance((Machine("m", F(7, 5)),), (one,)), name)
    assert found.value == 1 and not found.violations
    later = Request("s", early, 1.5, 2, 1, (Part(1.4),))
    found = api.solve(Instance((Machine("m", F(7, 5)),), (one, later)), name)
    assert found.value == 1


@pytest.mark.parametrize("name", NAMES)
def test_decimals_fill_a_machine(name) -> None:
    asked = tuple(Request(f"r{k}", 0, 0.1, 0.3, 1, (Part(0.1 * (k + 1)),)) for k in range(2))
    instance = Instance((Machine("m", 0.3),), asked, Batch(0.1))
    found = api.solve(instance, name, objective="rejections")
    assert found.value == 0 and api.check(instance, found.solution) == ()


@pytest.mark.parametrize("algorithm", ["rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr"])
def test_an_engine_in_fractions_fills_a_machine_with_decimals(algorithm) -> None:
    engine = CoReservation([Machine("m", 1)], algorithm)
    asked = [Request(f"r{k}", 0, 0, 1, 1, (Part(0.1, 0.05, linear()),)) for k in range(10)]
    assert all(one.accepted for one in engine.submit(asked))
    assert [share.cpu for share in engine.plan().shares] == [
        0.05 if algorithm == "co-rsbf" else 0.1
    ] * 10


def test_an_exact_twin() -> None:
    held = Holding(0, 0.5, F(2, 3), 0.1)
    one = Request("r", 0, 0.25, 2.0, 1, (Part(0.5, 0.3, ((0, 0), (F(1, 2), 0.1), (1, 1))),))
    instance = Instance((Machine("m", ((0, 1), (0.7, 2))),), (one,), Batch(0.2), (held,), name="n")
    assert is_mixed(instance)
    twin = as_exact(instance)
    assert twin.exact and not is_mixed(twin) and twin.name == "n"
    assert twin.requests[0].parts[0].benefit[1] == (F(1, 2), F(1, 10))
    assert twin.machines[0].steps == ((0, 1), (F(7, 10), 2))
    for huge in (2**53 - 1, 2**53):
        assert is_mixed(replace(instance, machines=(Machine("m", huge),), holdings=())) is (
            huge == 2**53
        )


def test_floats_of_trimmed_shares_are_on_the_safe_side() -> None:
    third = ((0, 0), (F(1, 3), 0), (F(1, 3), 1), (1, 1))
    for cpu in (0.1, 0.2, 0.7, 1.3):
        least = min_share_of_same_benefit(Part(cpu, cpu / 10, third), cpu)
        assert exact(least) >= exact(cpu) / 3
