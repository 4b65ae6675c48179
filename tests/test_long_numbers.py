"""Exact methods and their certificates where fractions have hundreds and thousands of digits."""

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

import dlopt
from dlopt import Status
from dlopt.certificate_files import check_own_certificate
from dlopt.models.common.solver_units import short_scale
from dlopt.problems import admission, bag, coreservation, dag
from dlopt.problems.cluster import Cluster

PAIR = (dag.Machine("a"), dag.Machine("b"))


def fractions_of(digits, count):
    """Return fractions of about 1 without a common unit."""
    random, low = Random(digits), 10 ** (digits - 1)
    return [
        Fraction(random.randrange(low, 10 * low), random.randrange(low, 10 * low))
        for _ in range(count)
    ]


def graph_of(works):
    return dag.Graph("g", tuple(dag.Task(f"t{k}", work=work) for k, work in enumerate(works)))


def shares_of(capacity, cpus):
    """Return requests at one time that have CPU shares of a machine."""
    requests = tuple(
        coreservation.Request(f"r{k}", 0, 1, 2, 1, (coreservation.Part(cpu),))
        for k, cpu in enumerate(cpus)
    )
    return coreservation.Instance((coreservation.Machine("m", capacity),), requests)


@pytest.mark.parametrize("digits", [350, 1200])
def test_a_grid_of_times_has_a_short_unit(digits):
    works = fractions_of(digits, 6)
    loads = [sum(part) for n in range(7) for part in combinations(works, n)]
    best = min(max(load, sum(works) - load) for load in loads)
    result = dlopt.solve(dag.Instance(PAIR, (graph_of(works),)))
    assert result.value == best and best * (1 - Fraction(1, 10**6)) <= result.bound <= best
    assert result.proof == "certificate"
    assert check_own_certificate(dag.Instance(PAIR, (graph_of(works),)), result) == ()
    etc = bag.Instance(etc=tuple((work, work) for work in works))
    found = dlopt.solve(etc, "bound-lp")
    assert found.bound <= best and check_own_certificate(etc, found) == ()


@pytest.mark.parametrize("scale", [Fraction(10**500 + 1, 3), *fractions_of(300, 3)])
def test_a_short_scale_is_no_larger(scale):
    short = short_scale(scale)
    assert scale * (1 - Fraction(1, 2**62)) < short <= scale
    mantissa = short
    while mantissa.denominator > 1:
        mantissa *= 2
    while mantissa >= 2**65:
        mantissa /= 2
    assert mantissa.denominator == 1  # of 65 binary digits at most


LONG = Fraction(10**2500 + 1, 10**2500 - 3)
"""Its multiples have a common unit, which has too many digits for a remark."""


@pytest.mark.parametrize(
    "instance",
    [
        dag.Instance(PAIR, (graph_of([LONG, LONG, 2 * LONG]),)),
        bag.Instance(etc=((LONG,), (LONG,), (2 * LONG,))),
        shares_of(3 * LONG, [LONG] * 4),
    ],
    ids=["dag", "bag", "coreservation"],
)
def test_a_unit_that_no_file_states_makes_no_certificate(instance):
    result = dlopt.solve(instance)
    assert (result.status, result.proof, result.certificate) == (Status.OPTIMAL, "exact", None)
    assert dlopt.solve(instance, certified=True).status is Status.FEASIBLE


def test_a_certificate_that_cannot_be_written_is_none(tmp_path):
    loads = fractions_of(1200, 5)
    tasks = tuple(admission.Task(f"t{k}", 0, load, 100) for k, load in enumerate(loads))
    instance = admission.Instance(Cluster(2, 1, 1), tasks)
    result = dlopt.solve(instance, objective="accepted-load")
    assert (result.status, result.value, result.proof) == (Status.OPTIMAL, sum(loads), "exact")
    with pytest.raises(dlopt.NotApplicableError, match="more digits than Python reads"):
        dlopt.write_certificate(result, tmp_path / "p.vipr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("digits", [20, 400])
def test_shares_beyond_the_range_of_floats(digits):
    """In integer units they are; their sums were added in floats."""
    capacity, *cpus = fractions_of(digits, 7)
    fits = [len(part) for n in range(7) for part in combinations(cpus, n) if sum(part) <= capacity]
    result = dlopt.solve(shares_of(capacity, cpus), objective="benefit")
    assert (result.status, result.value) == (Status.OPTIMAL, Fraction(max(fits), 6))
