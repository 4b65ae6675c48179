"""Lists in many orders, forwards and backwards."""

import random
from itertools import islice

import pytest

from dlopt.models.dag.forward_backward import forward_backward_schedules
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.methods import solve_exact
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import list_schedule, to_solution
from dlopt.models.dag.search import ExactSearch
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task, violations
from dlopt.result import Limits, Status


def without_idle_time(machines, each, *, length=600, seed=0):
    """Return a graph that `machines` machines can do by `length` without a pause.

    Every machine's time is cut into `each` tasks, and edges lead from what ends to what starts
    later (Kwok and Ahmad 1999, section 5.3).
    """
    draw = random.Random(seed)
    spans = []
    for _ in range(machines):
        cuts = [0, *sorted(draw.sample(range(1, length), each - 1)), length]
        spans += zip(cuts, cuts[1:], strict=False)
    spans.sort()
    tasks = tuple(Task(f"t{k}", work=end - start) for k, (start, end) in enumerate(spans))
    pairs = [
        (a, b)
        for a, (_, end) in enumerate(spans)
        for b, (start, _) in enumerate(spans)
        if end <= start and draw.random() < 0.05
    ]
    identical = tuple(Machine(f"m{k}") for k in range(machines))
    return Instance(identical, (Graph("g", tasks, tuple(Edge(a, b) for a, b in pairs)),))


@pytest.mark.parametrize("machines", [2, 4, 6])
def test_plans_without_idle_time_are_found(machines):
    found = solve_exact(without_idle_time(machines, 14))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 600, 600)


def test_lists_are_plans_and_the_seed_tells_which():
    graphs = []
    for at in range(2):
        works = [3, 0, 2, 5, 1, 0, 4]
        tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
        edges = tuple(Edge(a, b) for a, b in ((0, 1), (1, 3), (0, 2), (5, 6), (2, 6)))
        graphs.append(Graph(f"g{at}", tasks, edges, arrival=2 * at))
    instance = Instance((Machine("m"), Machine("n")), tuple(graphs))
    scaled = ScaledInstance.from_instance(instance)
    plan, heads_tails = list_schedule(scaled, [0] * len(scaled.jobs)), compute_heads_tails(scaled)
    first, again, other = (
        list(islice(forward_backward_schedules(scaled, heads_tails, plan, random.Random(seed)), 8))
        for seed in (1, 1, 2)
    )
    assert first == again != other
    for one in first + other:
        assert violations(instance, to_solution(scaled, one)) == ()
    assert min(max(one.completions(scaled)) for one in first) == solve_exact(instance).value


def test_lists_stop_when_time_is_up_and_when_nothing_better_is_left():
    instance = without_idle_time(5, 12, seed=1)
    for limits in (Limits(time_s=1e-9), Limits(time_s=60)):
        search = ExactSearch(instance, "makespan", limits, 0)
        search.run(None)
        assert search.result.bounds == [600]
        assert (max(search.result.incumbent.completions(search.scaled)) == 600) == (
            limits.time_s == 60
        )


def test_lists_end_where_the_bound_is_out_of_reach():
    # No half of 42 multiples of 30,000 and one of 1 is a sum of tasks; they are too many to say so.
    tasks = (*(Task(f"t{k}", work=30_000 * k) for k in range(1, 43)), Task("odd", work=1))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    found = solve_exact(instance, limits=Limits(work=1))
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 13_560_000, 13_545_001)
