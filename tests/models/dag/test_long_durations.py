"""Durations of 10^5 units of time and more: large integers, and floats on a fine grid."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, check
from dlopt.backends import cpsat
from dlopt.models.dag import program_steps
from dlopt.models.dag.cpsat_combined import CombinedModel
from dlopt.models.dag.cpsat_cumulative import CumulativeModel
from dlopt.models.dag.heads_and_tails import HeadsTails
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.methods import solve_exact
from dlopt.models.dag.program_steps import LONG_MAKESPAN
from dlopt.models.dag.scaled_instance import ScaledInstance, sequential_horizon
from dlopt.models.dag.search import SHORTEST_REMAINING, ExactSearch
from dlopt.models.dag.total_completion_bound import (
    shortest_remaining_completions,
    total_completion_bound,
)
from dlopt.problems.dag import OBJECTIVES, Edge, Graph, Instance, Machine, Task
from dlopt.problems.validated_record import floating
from dlopt.result import Limits
from tests import oracles_dag as oracle
from tests.examples import share

long_times = st.integers(10**5, 10**6)


def independent(works, machines, **fields):
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    made = tuple(Machine(f"m{k}") for k in range(machines))
    return Instance(made, (Graph("g", tasks, **fields),))


@st.composite
def long_graphs(draw):
    """Return two graphs on machines of one or two speeds, all times long; nothing is sent."""
    graphs = []
    for name, count in (("g", draw(st.integers(1, 2))), ("h", draw(st.integers(1, 2)))):
        tasks = tuple(Task(f"{name}{k}", work=draw(long_times)) for k in range(count))
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
        arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        due = draw(st.integers(2 * 10**5, 3 * 10**6))
        arrival = draw(st.sampled_from([0, 123_457]))
        graphs.append(Graph(name, tasks, tuple(Edge(a, b) for a, b in arcs), arrival, due))
    powers = draw(st.sampled_from([(1, 1), (1, 1), (1, 1, 3)]))
    machines = tuple(Machine(f"m{k}", power=power) for k, power in enumerate(powers))
    return Instance(machines, tuple(graphs))


@pytest.mark.property
@share(1 / 2)
@given(long_graphs(), st.sampled_from(list(OBJECTIVES)))
def test_long_durations_against_brute_force(instance, name):
    best = oracle.best(instance, name)
    found = solve_exact(instance, objective=name)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
    assert check(instance, found.solution) == ()


@pytest.mark.property
@share(1 / 4)
@given(long_graphs(), st.sampled_from(["makespan", "total-response-time"]))
def test_floats_are_solved_to_a_millionth(instance, name):
    best = oracle.best(instance, name)
    found = solve_exact(floating(instance), objective=name)
    assert found.status is Status.OPTIMAL
    best, ulp = float(best), 1e-15  # starts are rounded down to floats
    assert (1 - 1e-6) * best <= found.bound <= best
    assert (1 - ulp) * best <= found.value <= (1 + 1e-6) * best


@pytest.mark.parametrize(("tasks", "machines"), [(4, 2), (8, 2), (8, 3), (7, 4)])
@pytest.mark.parametrize("divisor", [1, 7.0])
def test_independent_tasks_against_enumeration(tasks, machines, divisor):
    """`divisor` is an integer, or makes the durations floats that have no common unit."""
    random = Random(tasks)
    works = [random.randrange(10**5, 10**6) / divisor for _ in range(tasks)]
    works = works if divisor > 1 else [int(work) for work in works]
    best = min(
        max(sum(w for w, p in zip(works, chosen, strict=True) if p == k) for k in range(machines))
        for chosen in product(range(machines), repeat=tasks)
    )
    found = solve_exact(independent(works, machines))
    assert found.status is Status.OPTIMAL
    if divisor == 1:
        assert found.value == found.bound == best
    else:
        assert (1 - 1e-6) * best <= found.bound <= best * (1 + 1e-15)
        assert best * (1 - 1e-15) <= found.value <= (1 + 1e-6) * best


@pytest.mark.parametrize(("pieces", "machines"), [(6, 2), (4, 3), (2, 5)])
def test_machines_cut_into_pieces_are_filled_again(pieces, machines):
    """No schedule is shorter than one that leaves no machine idle."""
    random, end = Random(pieces), 3_000_017
    works = []
    for _ in range(machines):
        cuts = [0, *sorted(random.sample(range(1, end), pieces - 1)), end]
        works += [after - before for before, after in zip(cuts, cuts[1:], strict=False)]
    random.shuffle(works)
    found = solve_exact(independent(works, machines))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, end, end)


@pytest.mark.parametrize("program", [CombinedModel, CumulativeModel])
def test_programs_fill_all_machines_of_two_groups(program):
    """Nothing is known before; one group of the two machines of power 1, one of power 2."""
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((7, 7, 14, 0, 2)))
    machines = (Machine("m"), Machine("n"), Machine("fast", power=2))
    instance = Instance(machines, (Graph("g", tasks, (Edge(3, 4),)),))
    scaled = ScaledInstance.from_instance(instance)
    model = program(scaled, compute_heads_tails(scaled), [sequential_horizon(scaled)])
    model.minimise("makespan", 0)
    outcome = cpsat.optimise(model.model, Limits())
    schedule = model.schedule(outcome.value_of)
    assert outcome.status is Status.OPTIMAL
    assert scaled.to_instance_time(max(schedule.completions(scaled))) == 8
    assert scaled.to_instance_time(outcome.bound) == 8


def steps(instance, makespan):
    scaled = ScaledInstance.from_instance(instance)
    return [
        step.program.__name__ for step in program_steps.program_steps(scaled, makespan, threads=2)
    ]


def test_the_unit_of_time_and_the_number_of_jobs_choose_the_programs():
    few, many = independent([1] * 9, 2), independent([1] * 99, 2)
    assert steps(few, LONG_MAKESPAN) == ["CumulativeModel", "CombinedModel"]
    assert steps(few, LONG_MAKESPAN + 1) == ["CombinedModel"]
    assert steps(many, LONG_MAKESPAN) == ["CumulativeModel"]
    assert steps(many, LONG_MAKESPAN + 1) == ["CombinedModel"]
    assert steps(independent([1] * 1100, 2), LONG_MAKESPAN + 1) == ["CumulativeModel"]


def test_what_the_cumulative_program_leaves_open_is_decided_by_the_next_one(monkeypatch):
    """Of ten tasks on three machines the first one proves nothing but the total work in 1 s."""
    monkeypatch.setattr(program_steps, "CUMULATIVE_EFFORT", 0.01)
    works = [85, 96, 34, 84, 23, 96, 15, 64, 59, 71]
    search = ExactSearch(independent(works, 3), "makespan", Limits(), seed=0)
    search.run(hint=None)
    assert search.result.proven_levels == 1
    assert search.result.bounds[0] == best_of_three(works) > -(-sum(works) // 3)


def best_of_three(works):
    """Return the least makespan on three machines, from all pairs of loads that can be reached."""
    loads = {(0, 0)}
    for work in works:
        loads |= {(a + work, b) for a, b in loads} | {(a, b + work) for a, b in loads}
    return min(max(a, b, sum(works) - a - b) for a, b in loads)


@pytest.mark.parametrize("objective", ["makespan", "total-response-time", "tardy-graphs"])
def test_floats_have_a_tolerance_since_the_arrivals_and_exact_numbers_none(objective):
    instance = independent([3, 4], 2, arrival=10**9, absolute_deadline=2 * 10**9)
    later = replace(instance.graphs[0], arrival=10**9 + 100)
    instance = replace(instance, graphs=(*instance.graphs, replace(later, id="h")))
    assert ExactSearch(instance, objective, Limits(), 0).tolerance(10**7) == 0
    search = ExactSearch(floating(instance), objective, Limits(), 0)
    units = 10**7 + sum(search.scaled.arrivals)
    duration = {"makespan": units, "total-response-time": 10**7, "tardy-graphs": 0}[objective]
    assert search.tolerance(units) == Fraction(duration, 10**7)


times = st.integers(0, 6)


@given(st.lists(st.tuples(times, times), max_size=5))
def test_the_shortest_remaining_time_is_simulated_unit_by_unit(jobs):
    remaining, ends = dict(enumerate(work for _, work in jobs)), []
    for now in range(40):
        ready = [job for job in remaining if jobs[job][0] <= now]
        for job in [job for job in ready if remaining[job] == 0]:
            del remaining[job]
            ends.append(now)
        ready = [job for job in ready if job in remaining]
        if ready:
            remaining[min(ready, key=remaining.__getitem__)] -= 1
    assert shortest_remaining_completions(jobs) == ends


def test_late_bounds_of_single_graphs_raise_the_last_completions():
    """Both k-th completions bound the k-th completion of a schedule, and the larger one counts."""
    zeros, costs = np.zeros((3, 1), dtype=int), np.array([[2], [2], [2]])
    table = HeadsTails(zeros, costs, zeros, costs[:, 0])
    jobs = [[0], [1], [2]]
    assert total_completion_bound(table, jobs, [2, 2, 2]) == 2 + 4 + 6
    assert total_completion_bound(table, jobs, [9, 2, 2]) == 2 + 4 + 9


def test_responses_of_graphs_that_share_machines_are_bounded_together():
    graphs = tuple(Graph(f"g{k}", (Task("t", work=10**6),)) for k in range(6))
    instance = Instance((Machine("m"), Machine("n")), graphs)
    search = ExactSearch(instance, "total-response-time", Limits(work=1), seed=0)
    search.run(hint=None)
    assert search.result.proofs == [SHORTEST_REMAINING]
    assert search.result.bounds[0] == 1 + 1 + 2 + 2 + 3 + 3  # a unit is 10^6
