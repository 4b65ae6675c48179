"""The iterated list search: valid, never worse than where it begins, the same in compiled code."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, Result, generate, io, registry, solve
from dlopt.heuristics.dag import list_moves, list_search
from dlopt.heuristics.dag.flat_arrays import LISTS, FlatInstance
from dlopt.heuristics.dag.heft_family import place_at_earliest_finish
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.lan_assignment import assign_lans
from dlopt.heuristics.dag.list_moves import MAKESPAN, TARDY, TARDY_THEN_RESPONSE
from dlopt.heuristics.dag.list_passes import find_slot
from dlopt.heuristics.dag.list_plus import CRITERIA, TOO_LARGE, list_plus
from dlopt.heuristics.dag.list_search import ListSearch, initial_state
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
from dlopt.incumbents import Offer, wanted
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task, objective, violations
from dlopt.problems.validated_record import floating
from tests import oracles_dag, strategies_dag
from tests.examples import share

TOPCUOGLU = io.read("instances/dag/topcuoglu-10.json")
GOALS = ("makespan", "total-response-time")
LATE_GOALS = ("tardy-graphs", "tardy-then-response-time")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiler is loaded, however many moves there may be."""
    monkeypatch.setattr(list_search, "compiled_functions", lambda: (vars(list_moves), LISTS))


def goals_of(instance: Instance) -> tuple[str, ...]:
    return GOALS + (LATE_GOALS if instance.absolute_deadlines else ())


def no_worse(name: str, one: Any, other: Any) -> bool:
    goal = registry.problem_of(TOPCUOGLU).module.OBJECTIVES[name]
    return not goal.better(other, one)


def random_list(arrays: InstanceArrays, random: Random) -> list[int]:
    """Return the tasks in a random sequence, each after its predecessors."""
    order: list[int] = []
    while len(order) < arrays.task_count:
        left = [task for task in range(arrays.task_count) if task not in order]
        ready = [
            task for task in left if all(source in order for source, _ in arrays.predecessors[task])
        ]
        order.append(random.choice(ready))
    return order


def started(arrays: InstanceArrays, order: Sequence[int]) -> list_moves.Search:
    """Return a search for a short makespan after its first list pass."""
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None
    state = initial_state(flat, order, [-1] * len(order), 0, LISTS)
    list_moves.start(flat, MAKESPAN, state)
    return state


def new_search(arrays: InstanceArrays, name: str, compiled: bool, seed: int = 0) -> ListSearch:
    free = [-1] * arrays.task_count
    return ListSearch(arrays, CRITERIA[name], arrays.topological_order, free, seed, compiled)


@pytest.mark.property
@share(1 / 4)
@given(strategies_dag.dag(tasks=5), st.data())
def test_it_is_valid_and_between_the_optimum_and_its_first_schedules(
    instance: Instance, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(goals_of(instance)))
    found = solve(instance, "list-plus", objective=name, limits=Limits(work=20))
    assert found.solution is not None and violations(instance, found.solution) == ()
    assert found.value == objective(instance, found.solution, name)
    for other in ("heft", "peft", "cpop"):
        assert no_worse(name, found.value, solve(instance, other, objective=name).value)
    if not any(graph.one_lan for graph in instance.graphs):
        assert no_worse(name, oracles_dag.best(instance, name), found.value)


@pytest.mark.property
@share(1 / 10)
@given(strategies_dag.dag(tasks=9, several=3), st.data())
def test_more_moves_are_never_worse(instance: Instance, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(goals_of(instance)))
    seed = data.draw(st.integers(-5, 5))
    values = [
        solve(instance, "list-plus", objective=name, seed=seed, limits=Limits(work=work)).value
        for work in (1, 5, 25)
    ]
    assert no_worse(name, values[1], values[0]) and no_worse(name, values[2], values[1])


def test_worse_schedules_that_are_accepted_are_not_the_answer() -> None:
    arrays = InstanceArrays.from_instance(generate("dag", "out-tree", seed=1))
    search, lengths = new_search(arrays, "makespan", compiled=False), []
    for _ in range(200):
        lengths.append(search.value[1])
        search.run(1)
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < lengths[0]


@pytest.mark.property
@share(1 / 10)
@given(strategies_dag.dag(tasks=9, several=3), st.data())
def test_every_pass_is_a_valid_schedule_and_its_value_is_that_of_the_checker(
    instance: Instance, data: st.DataObject
) -> None:
    """Numbers are floats here; the search is watched after every few moves."""
    inexact = floating(instance)
    name = data.draw(st.sampled_from(goals_of(instance)))
    arrays = InstanceArrays.from_instance(inexact)
    assign_lans(arrays)
    search = new_search(arrays, name, compiled=False)
    for _ in range(4):
        search.run(5)
        solution = arrays.to_solution(*search.best)
        assert violations(inexact, solution, 1e-9) == ()
        rank, length = search.value
        value = objective(inexact, solution, name)
        if name == "makespan":
            assert float(value - arrays.origin) == pytest.approx(length)
        elif name == "total-response-time":
            assert float(value) == pytest.approx(length)
        elif name == "tardy-graphs":
            assert value == rank
        else:
            assert value[0] == rank and float(value[1]) == pytest.approx(length)


def test_a_task_is_inserted_only_where_it_fits() -> None:
    """The machine is busy from 0 to 2 and from 5 to 7."""
    start, finish = np.array([0.0, 5.0]), np.array([2.0, 7.0])
    previous, tail = np.array([-1, 0]), np.array([1])
    slots = [find_slot(0, 0.0, cost, start, finish, previous, tail) for cost in (3.0, 3.5, 0.0)]
    assert slots == [(2.0, 1), (7.0, -1), (0.0, -1)]


def test_the_ten_tasks_of_topcuoglu_are_solved() -> None:
    assert solve(TOPCUOGLU, "list-plus").value == 73  # the optimum; HEFT 80


def test_a_seed_gives_one_answer_and_others_may_differ() -> None:
    instance = generate("dag", "layered", tasks=20, seed=3)
    limits = Limits(work=60)
    plans = [solve(instance, "list-plus", limits=limits, seed=seed) for seed in (0, 0, 1, 2)]
    assert plans[0] == plans[1]
    assert len({plan.solution for plan in plans}) > 1


@pytest.mark.usefixtures("interpreted")
def test_the_limit_that_ended_it_is_reported() -> None:
    by_work = solve(TOPCUOGLU, "list-plus", limits=Limits(work=3))
    assert by_work.stopped_by == "work"
    by_time = solve(TOPCUOGLU, "list-plus", limits=Limits(time_s=0.02, work=10**9))
    assert by_time.stopped_by == "time"
    assert solve(TOPCUOGLU, "list-plus").stopped_by is None


@pytest.mark.usefixtures("interpreted")
def test_it_ends_at_a_target_or_without_improvement() -> None:
    reached = solve(TOPCUOGLU, "list-plus", limits=Limits(target_value=80, no_improvement_s=60))
    assert reached.stopped_by == "target-value" and reached.value <= 80
    stale = solve(TOPCUOGLU, "list-plus", limits=Limits(no_improvement_s=0.3))
    assert stale.stopped_by == "no-improvement" and stale.solution is not None


@pytest.mark.usefixtures("interpreted")
def test_improvements_are_reported_while_it_searches() -> None:
    found: list[Result[Any]] = []
    stop = threading.Event()

    def report(result: Result[Any]) -> None:
        found.append(result)
        stop.set()

    limits = Limits(no_improvement_s=60)
    last = solve(TOPCUOGLU, "list-plus", limits=limits, progress=report, stop=stop)
    assert found and last.stopped_by == "request" and last.value <= found[0].value
    assert violations(TOPCUOGLU, last.solution) == ()


def test_what_it_offers_before_its_first_move_is_the_first_schedule() -> None:
    place = Offer(TOPCUOGLU, "makespan", "list-plus")
    with wanted(place):
        list_plus(TOPCUOGLU, limits=Limits(work=1))
    assert place.answer is not None and place.answer().value <= 80


def test_numbers_too_large_for_floats_get_the_first_schedule() -> None:
    """Times are scaled to integers: of 301 digits, whose sums might overflow, and of 396 digits."""
    machines = Machine("m"), Machine("n", 10**100)
    tasks = Task("a", work=10**100), Task("b", work=Fraction(1, 10**100))
    for edges in ((), (Edge(0, 1, Fraction(1, 3**200)),)):
        instance = Instance(machines, (Graph("g", tasks, edges),))
        found = list_plus(instance, limits=Limits(work=5))
        assert found.reason == TOO_LARGE and found.value == solve(instance, "heft").value


def test_late_graphs_count_before_their_response() -> None:
    """Two graphs on one machine: HEFT takes the longer one first, and the other one is late."""
    long, short = Graph("l", (Task("a", work=9),)), Graph("s", (Task("a", work=2),), (), 0, 4)
    instance = Instance((Machine("m"),), (long, short))
    for name, value in (("tardy-graphs", 0), ("tardy-then-response-time", (0, 13))):
        assert solve(instance, "list-plus", objective=name).value == value
    arrays = InstanceArrays.from_instance(instance)
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None and flat.deadline == [math.inf, 4.0]
    for criterion, late in ((TARDY, (1.0, 7.0)), (TARDY_THEN_RESPONSE, (1.0, 20.0))):
        search = ListSearch(arrays, criterion, (0, 1), (-1, -1), 0, False)
        assert search.value == late


def test_a_chain_at_the_end_of_the_list_is_moved_forward() -> None:
    """A chain and three single tasks, on two machines."""
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((2, 3, 1, 1, 1)))
    arrays = InstanceArrays.from_instance(
        Instance((Machine("m"), Machine("n")), (Graph("g", tasks, (Edge(0, 1),)),))
    )
    search = ListSearch(arrays, MAKESPAN, (2, 3, 0, 4, 1), (-1,) * 5, 0, False)
    assert search.value == (0.0, 6.0)
    search.run(40)
    assert search.value == (0.0, 5.0)


@pytest.mark.property
@share(1 / 4)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_list_is_turned_around_and_sorted_by_ends(ends: list[int], random: Random) -> None:
    """By falling ends; tasks of equal ends keep the sequence of the list that was turned around."""
    graph = Graph("g", tuple(Task(f"t{k}", work=1) for k in range(len(ends))))
    arrays = InstanceArrays.from_instance(Instance((Machine("m"),), (graph,)))
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None
    order = random.sample(range(len(ends)), len(ends))
    search = initial_state(flat, order, [-1] * len(ends), 0, LISTS)
    search.new_order[:] = order
    search.new_plan.finish[:] = map(float, ends)
    list_moves.sort_by_end(search)
    turned = order[::-1]
    assert search.new_order == sorted(turned, key=lambda task: -ends[task])


@pytest.mark.property
@share(1 / 4)
@given(strategies_dag.dag(tasks=9, several=2, plain=True), st.randoms(use_true_random=False))
def test_a_pass_inserts_tasks_as_heft_does(instance: Instance, random: Random) -> None:
    """The same starts as those of timelines in integers, for any list; fixed machines are kept."""
    arrays = InstanceArrays.from_instance(instance)
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None
    order = random_list(arrays, random)
    for share_of_fixed in (0.0, 0.5):
        search = initial_state(flat, order, [-1] * len(order), 0, LISTS)
        partial = PartialSchedule(arrays)
        for task in order:
            runnable = [k for k, cost in enumerate(arrays.costs[task]) if cost is not None]
            if random.random() < share_of_fixed:
                machine = search.fixed[task] = random.choice(runnable)
                ready = partial.ready_times(task)[machine]
                partial.place(task, machine, partial.earliest_slot(task, machine, ready))
            else:
                place_at_earliest_finish(partial, task)
        list_moves.start(flat, MAKESPAN, search)
        assert search.plan.machine == partial.machine
        first = min(arrays.arrival)
        assert search.plan.start == [float(start - first) for start in partial.start]


@pytest.mark.property
@share(1 / 4)
@given(strategies_dag.dag(tasks=9, several=2), st.randoms(use_true_random=False))
def test_a_task_is_shifted_with_those_in_its_way(instance: Instance, random: Random) -> None:
    """It goes where it should, with its predecessors or successors, and nothing else changes."""
    arrays = InstanceArrays.from_instance(instance)
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None
    order = random_list(arrays, random)
    search = initial_state(flat, order, [-1] * len(order), random.randrange(99), LISTS)
    task = random.choice(order)
    search.new_order[:] = order
    for index, other in enumerate(order):
        search.position[other] = index
    at, before = order.index(task), list(search.counts)
    to = list_moves.draw(before, len(order))
    list_moves.pull(flat.forward, task, search)
    graph = networkx.DiGraph()
    graph.add_nodes_from(order)
    for target, pairs in enumerate(arrays.predecessors):
        graph.add_edges_from((source, target) for source, _ in pairs)
    together = (networkx.ancestors if to < at else networkx.descendants)(graph, task) | {task}
    low, high = min(at, to), max(at, to) + 1
    moved = [other for other in order[low:high] if other in together]
    rest = [other for other in order[low:high] if other not in together]
    middle = moved + rest if to < at else rest + moved
    assert search.new_order == order[:low] + middle + order[high:]


@pytest.mark.property
@share(1 / 4)
@given(strategies_dag.dag(tasks=4))
def test_the_least_makespan_is_a_lower_bound(instance: Instance) -> None:
    arrays = InstanceArrays.from_instance(instance)
    least = started(arrays, arrays.topological_order).values[list_moves.LEAST_LENGTH]
    if not any(graph.one_lan for graph in instance.graphs):
        best = oracles_dag.best(instance, "makespan") * arrays.scale - arrays.origin
        assert least <= float(best - min(arrays.arrival)) * (1 + 1e-9)


def test_the_least_makespan_is_the_longest_path_or_all_work() -> None:
    """Machines of speeds 1 and 3: a chain of 6 and 9 takes 5, and with 9 more all work takes 6."""
    machines = Machine("m"), Machine("n", power=3)
    for more, least in ((0, 5.0), (9, 6.0)):
        tasks = Task("a", work=6), Task("b", work=9), Task("c", work=more)
        graph = Graph("g", tasks, (Edge(0, 1),))
        arrays = InstanceArrays.from_instance(Instance(machines, (graph,)))
        state = started(arrays, (0, 1, 2))
        assert state.values[list_moves.LEAST_LENGTH] == pytest.approx(least * float(arrays.scale))


def test_the_temperature_falls_with_the_distance_to_the_lower_bound() -> None:
    """Eight tasks on two machines: two lists end at 19 and at 18, which is the total work."""
    tasks = tuple(Task(f"t{k}", work=1 + k) for k in range(8))
    graph = Graph("g", tasks)
    arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    for order, length in ((range(8), 20.0), (range(7, -1, -1), 18.0)):
        state = started(arrays, tuple(order))
        assert state.values[list_moves.BEST_LENGTH] == length
        allowed = [list_moves.allowance(state) for _ in range(50)]
        most = list_moves.MAX_TEMPERATURE * (length - 18.0)
        assert most / 2 <= max(allowed) <= most


def test_a_critical_path_leads_over_data_and_machines() -> None:
    """b waits on m for the data of a until 5; c runs there after b, from 7 on; d ends at 1."""
    costs = {"a": (9, 2), "b": (2, 99), "c": (5, 99), "d": (1, 1)}
    tasks = tuple(Task(name, costs=row) for name, row in costs.items())
    graph = Graph("g", tasks, (Edge(0, 1, data=3),))
    arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    flat = FlatInstance.from_arrays(arrays)
    assert flat is not None
    search = initial_state(flat, [3, 0, 1, 2], [1, 0, 0, 0], 0, LISTS)
    list_moves.start(flat, MAKESPAN, search)
    list_moves.find_critical_path(flat, MAKESPAN, search)
    assert search.critical[: search.counts[list_moves.CRITICAL]] == [2, 1, 0]


@pytest.mark.compiles
@pytest.mark.parametrize("family", ["layered", "chen"])
def test_compiled_passes_give_the_same_schedules(family: str) -> None:
    """Bit by bit, with the state of the search: random numbers, counts of moves, temperature."""
    pytest.importorskip("numba")
    instance = generate("dag", family, seed=1)
    arrays = InstanceArrays.from_instance(instance)
    assign_lans(arrays)
    for name in goals_of(instance):
        plain, compiled = (new_search(arrays, name, way, seed=7) for way in (False, True))
        assert compiled.moves_per_call > plain.moves_per_call
        for _ in range(3):
            plain.run(12)
            compiled.run(12)
            assert (plain.value, plain.best) == (compiled.value, compiled.best)


def test_without_the_extra_the_passes_are_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "dlopt.heuristics.dag.list_passes_numba"
    monkeypatch.setitem(sys.modules, name, None)
    arrays = InstanceArrays.from_instance(TOPCUOGLU)
    monkeypatch.delattr("dlopt.heuristics.dag.list_passes_numba", raising=False)
    searches = [new_search(arrays, "makespan", compiled) for compiled in (False, True)]
    assert searches[0].moves_per_call == searches[1].moves_per_call
