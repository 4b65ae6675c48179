"""Benefits that rise with many small units of CPU: the size of the numbers changes no status."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, api
from dlopt.models.coreservation import proof_search
from dlopt.problems.coreservation import (
    Instance,
    Machine,
    Part,
    Request,
    affine,
    linear,
    violations,
)
from dlopt.result import levels_of
from tests.examples import share
from tests.oracles_coreservation import optimum

F = Fraction
KINDS = {
    "narrow": lambda q: q // 5000 + 1,
    "wide": lambda q: 10 * q + 1,
    "nanoseconds": lambda q: q * 10**4 + 1,
    "fractions": lambda q: F(q + 1, 7 + q % 5),
}
SHAPES = (linear(), affine(F(1, 2)), ((0, 0), (F(1, 2), F(3, 4)), (1, 1)))
numbers = st.integers(0, 99_999)


@st.composite
def long_slopes(draw):
    """Few requests whose shares may be raised, in numbers of one kind."""
    number = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    requests = []
    for index in range(draw(st.integers(1, 4))):
        start, drawn = draw(st.integers(0, 3)), draw(numbers)
        cpu = number(drawn)
        least = min(number(drawn * draw(st.integers(0, 9)) // 10), cpu)
        part = Part(cpu, least, benefit=draw(st.sampled_from(SHAPES)))
        end = start + draw(st.integers(1, 3))
        requests.append(Request(f"r{index}", 0, start, end, draw(st.integers(1, 9)), (part,)))
    machines = [Machine(f"m{j}", number(draw(numbers))) for j in range(draw(st.integers(1, 2)))]
    return Instance(tuple(machines), tuple(requests))


@pytest.mark.property
@share(1 / 3)
@given(instance=long_slopes())
def test_exact_is_the_optimum_by_brute_force_in_numbers_of_every_size(instance):
    found = api.solve(instance, objective="benefit")
    assert found.value == optimum(instance) == found.bound
    assert found.status is Status.OPTIMAL
    assert violations(instance, found.solution) == ()


def example(requests=10, *, number=lambda q: round(q * 10**5), priority=True):
    """Requests that compete for three machines, with slopes of some hundred thousand units."""
    drawn, asked = random.Random(3), []
    for index in range(requests):
        start = drawn.uniform(1, 15)
        length, wanted, least = drawn.uniform(5, 20), drawn.uniform(1, 20), drawn.uniform(0.2, 0.8)
        part = Part(number(wanted), number(wanted * least), benefit=linear())
        weight = drawn.randint(1, 9) if priority else 1
        asked.append(
            Request(f"r{index}", 0, round(start, 3), round(start + length, 3), weight, (part,))
        )
    asked = [replace(one, start=exact_of(one.start), end=exact_of(one.end)) for one in asked]
    return Instance(tuple(Machine(f"m{j}", number(12)) for j in range(3)), tuple(asked))


def exact_of(decimal):
    return F(str(decimal))


def test_ten_requests_with_long_slopes_are_proven():
    instance = example()
    found = api.solve(instance, objective="benefit")
    assert (found.status, found.proof) == (Status.OPTIMAL, "certificate")
    assert found.value == found.bound
    assert "gap not closed" not in found.reason
    assert violations(instance, found.solution) == ()


def test_what_no_certificate_proves_remains_open_by_the_rounding_of_a_solver(monkeypatch):
    monkeypatch.setattr(proof_search, "VALUE_EFFORT", 1)
    monkeypatch.setattr(proof_search, "SEARCH_EFFORT", 1)
    found = api.solve(example(), objective="benefit")
    assert found.status is Status.FEASIBLE and found.reason.startswith("gap not closed; ")
    assert "HiGHS dual bound" in found.reason  # CP-SAT was not asked
    assert 0 < found.bound - found.value <= F(3, 10**7)


def test_floats_are_optimal_up_to_the_tolerance_of_the_solver():
    instance = example(number=lambda q: round(q, 4))
    found = api.solve(instance, objective="benefit")
    assert found.status is Status.OPTIMAL
    assert 0 <= found.bound - found.value <= 3e-7


def test_a_level_before_keeps_its_value():
    instance = example(6)
    one, other = (
        api.solve(instance, objective=name) for name in ("rejections", "rejections-then-benefit")
    )
    assert levels_of(other.value)[0] == one.value and other.status is Status.OPTIMAL
