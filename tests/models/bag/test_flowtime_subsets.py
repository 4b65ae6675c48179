"""The search over sets of tasks is the optimum by brute force, whatever the size of the numbers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.models.bag import flowtime_subsets
from dlopt.models.bag.flowtime_subsets import search_subsets, total_completion
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import list_schedule
from dlopt.problems.bag import Instance, Link, Machine, Site, Task, violations
from tests.examples import share
from tests.oracles_bag import as_tuple, best

KINDS = {
    "narrow": lambda q: q // 1000 + 1,
    "wide": lambda q: q * 50 + 1,
    "nanoseconds": lambda q: q * 10**6 + 1,
    "thirds": lambda q: Fraction(q + 1, 3000),
    "decimals": lambda q: (q + 1) / 1000,
}
ORIGINS = {"nanoseconds": 1_700_000_000 * 10**9}
sizes = st.integers(0, 19_999)


@st.composite
def late_bags(draw, kind=None):
    """Bags without deadlines whose tasks arrive one after another, in numbers of one kind."""
    kind = kind or draw(st.sampled_from(sorted(KINDS)))
    number, origin = KINDS[kind], ORIGINS.get(kind, 0)
    count, machines = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sites = (Site("a"), Site("b")) if draw(st.booleans()) else (Site("a"),)
    tasks = tuple(
        Task(
            f"t{index}",
            number(draw(sizes)),
            release=origin + number(draw(sizes)),
            site=draw(st.integers(0, len(sites) - 1)),
            input=number(draw(sizes)),
        )
        for index in range(count)
    )
    own = tuple(
        Machine(f"m{k}", site=draw(st.integers(0, len(sites) - 1)), power=draw(st.integers(1, 2)))
        for k in range(machines)
    )
    return Instance(tasks, own, sites, (Link((0, 1), 2),) if len(sites) > 1 else ())


def whole_search(instance):
    scaled = ScaledInstance.from_instance(instance, "flowtime")
    incumbent = list_schedule(scaled)
    return scaled, incumbent, search_subsets(scaled, incumbent, Fraction(0))


@pytest.mark.property
@share(1 / 2)
@given(instance=late_bags())
def test_the_search_is_the_optimum_by_brute_force(instance):
    scaled, incumbent, found = whole_search(instance)
    optimum = best(instance, "flowtime")[0]
    least = scaled.to_instance_time(found.bound) - scaled.total_release
    assert abs(least + optimum) <= (0 if scaled.exactly_scaled else Fraction(1, 10**6))
    known = total_completion(scaled, incumbent)
    if found.sequences is None:
        assert found.bound == known
    else:
        assert total_completion(scaled, found.sequences) == found.bound < known
        assert sorted(sum(found.sequences, ())) == list(range(len(scaled.jobs)))


@pytest.mark.property
@share(1 / 4)
@given(instance=late_bags("nanoseconds"))
def test_exact_proves_flowtimes_in_nanoseconds_without_a_solver(instance):
    found = solve(instance, objective="flowtime")
    assert found.status is Status.OPTIMAL and found.proof != "solver"
    assert as_tuple(found.value, "flowtime") == best(instance, "flowtime")
    assert violations(instance, found.solution) == ()


def example(count=9, machines=3, unit=10**9):
    works = [unit * (7 * index % 11 + 3) + index for index in range(count)]
    arrivals = [unit * (5 * index % 13) + 1 for index in range(count)]
    pairs = zip(works, arrivals, strict=True)
    tasks = tuple(Task(f"t{i}", work, release=at) for i, (work, at) in enumerate(pairs))
    return Instance(tasks, tuple(Machine(f"m{k}", power=k + 1) for k in range(machines)))


def test_wide_numbers_take_no_more_sets_than_narrow_ones():
    found = solve(example(), objective="flowtime")
    assert found.status is Status.OPTIMAL and found.proof == "exact"
    assert (
        found.reason == "source of the bound: dynamic programming over sets of tasks, in integers"
    )
    assert violations(example(), found.solution) == ()


@pytest.mark.parametrize(
    ("name", "most"), [("MAX_STATES", 20), ("MAX_STATES", 300), ("MAX_PAIRS", 9), ("MAX_UNIONS", 9)]
)
def test_a_search_that_is_cut_short_has_a_bound(monkeypatch, name, most):
    optimum = whole_search(example())[2].bound
    monkeypatch.setattr(flowtime_subsets, name, most)
    found = whole_search(example())[2]
    assert found.sequences is None and found.bound < optimum


def test_a_search_without_time_has_the_bound_of_each_task_alone():
    scaled = ScaledInstance.from_instance(example(), "flowtime")
    for stop in (0, -math.inf):
        found = search_subsets(scaled, list_schedule(scaled), Fraction(0), stop)
        alone = sum(
            min(at[k] + scaled.processing_time(job, k) for k in scaled.eligible_machines[job])
            for job, at in enumerate(scaled.arrivals)
        )
        assert found.sequences is None and found.bound == alone


def test_more_jobs_than_bits_have_the_bound_that_is_known():
    scaled = ScaledInstance.from_instance(example(63), "flowtime")
    found = search_subsets(scaled, list_schedule(scaled), Fraction(10**15, 3))
    assert found.sequences is None and found.bound == (10**15 + 2) // 3


def test_equal_machines_have_equal_sets():
    """Two tasks a machine, of which the shorter one arrives later."""
    pairs = [(9, 0), (9, 0), (1, 1), (1, 1)]
    tasks = tuple(
        Task(f"t{k}", work * 10**9, release=at * 10**9) for k, (work, at) in enumerate(pairs)
    )
    instance = Instance(tasks, (Machine("m"), Machine("n")))
    found = solve(instance, objective="flowtime")
    assert as_tuple(found.value, "flowtime") == best(instance, "flowtime")
    assert found.status is Status.OPTIMAL
