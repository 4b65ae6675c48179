"""What hardly ever happens: a solver without an answer, numbers that are 0, odd machines."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import io
from dlopt.backends import cpsat
from dlopt.errors import SolverError
from dlopt.models.dag import milp, program_steps, search
from dlopt.models.dag.bound_methods import bound_fernandez
from dlopt.models.dag.cpsat_alternatives import AlternativesModel
from dlopt.models.dag.cpsat_cumulative import CumulativeModel
from dlopt.models.dag.energetic_bounds import dual_machine_weights, interval_energy_bound
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.methods import reason_against_milp, solve_exact, solve_milp
from dlopt.models.dag.scaled_instance import ScaledInstance, sequential_horizon
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Task,
    violations,
)
from dlopt.result import Limits, Status
from tests import oracles_dag as oracle
from tests.test_battery import FOLDER

FORK_JOIN = io.read(FOLDER / "dag" / "fork-join.json", exact_numbers=True)


def two_kinds(zero=0):
    """Two machines of each of two kinds, tasks that run on one kind only, one that is no work."""
    machines = tuple(Machine(f"m{k}") for k in range(4))
    rows = [(3, 3, 4, 4), (5, 5, None, None), (None, None, 4, 4), (zero,) * 4, (4, 4, 5, 5)]
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(rows * 2))
    pairs = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 6), (3, 7), (4, 8), (4, 9))
    return Instance(machines, (Graph("g", tasks, tuple(Edge(*pair, 3) for pair in pairs)),))


def test_tasks_that_take_no_time_and_machines_for_some_only():
    instance = two_kinds()
    found = solve_exact(instance)
    assert (found.status, found.bound) == (Status.OPTIMAL, found.value)
    assert violations(instance, found.solution) == ()
    graph = replace(two_kinds(0.0).graphs[0], arrival=0.1)
    floating = solve_exact(replace(instance, graphs=(graph,)))
    assert floating.value == pytest.approx(float(found.value) + 0.1)


def test_tasks_that_take_no_time_beside_denominators_without_a_common_unit():
    """Times on a grid give the order; the starts are then computed in fractions."""
    given = two_kinds()
    many = 10**13 + 37
    factors = [Fraction(many + place, many + place + 1) for place in range(4)]
    tasks = tuple(
        replace(
            task,
            costs=tuple(
                None if cost is None else cost * factor
                for cost, factor in zip(task.costs, factors, strict=True)
            ),
        )
        for task in given.graphs[0].tasks
    )
    instance = replace(given, graphs=(replace(given.graphs[0], tasks=tasks),))
    assert not ScaledInstance.from_instance(instance).exactly_scaled
    found = solve_exact(instance)
    assert violations(instance, found.solution) == ()
    assert found.bound <= found.value
    assert found.value == pytest.approx(float(solve_exact(given).value))


@pytest.mark.parametrize("name", ["links-that-differ", "not-everywhere", "costs-nothing", "lans"])
def test_both_programs_solve_odd_instances(name):
    instance = io.read(FOLDER / "dag" / f"{name}.json", exact_numbers=True)
    found = solve_exact(instance)
    assert (found.status, found.bound) == (Status.OPTIMAL, found.value)
    if reason_against_milp(instance) is None:
        assert solve_milp(instance).value == found.value
    quick = solve_exact(instance, objective="total-response-time")
    assert (quick.status, quick.bound) == (Status.OPTIMAL, quick.value)


def test_tasks_that_share_no_machine_and_machines_with_a_single_task():
    tasks = (Task("a", costs=(3, None)), Task("b", costs=(None, 5)), Task("c", costs=(None, 4)))
    for data in (0, 2):
        graph = Graph("g", tasks, (Edge(0, 1, data),))
        instance = Instance((Machine("m"), Machine("n")), (graph,))
        for found in (solve_exact(instance), solve_milp(instance)):
            assert (found.status, found.value) == (Status.OPTIMAL, 9 + (data > 1))


def solved(kind, instance):
    """Return what a program says when nothing is known before."""
    scaled = ScaledInstance.from_instance(instance)
    program = kind(scaled, compute_heads_tails(scaled), [sequential_horizon(scaled)])
    program.minimise("makespan", 0)
    outcome = cpsat.optimise(program.model, Limits())
    assert outcome.status is Status.OPTIMAL
    return scaled.to_instance_time(outcome.value)


def test_programs_without_a_bound_or_a_plan_are_brute_force():
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((3, 0, 2, 4)))
    silent = Graph("g", tasks, (Edge(0, 1), Edge(1, 3)))
    identical = Instance((Machine("m"), Machine("n")), (silent,))
    assert (
        solved(CumulativeModel, identical)
        == solved(AlternativesModel, identical)
        == oracle.best(identical)
    )
    single = Graph("g", tasks[1:3])
    few = Instance(tuple(Machine(f"m{k}") for k in range(3)), (single,))
    assert solved(CumulativeModel, few) == solved(AlternativesModel, few) == 2
    graph = Graph("g", tasks, (Edge(0, 1, 1), Edge(0, 2, 2), Edge(2, 3, 1)))
    machines = tuple(Machine(f"m{k}", power=k + 1, delay=2 * k) for k in range(3))
    for network in (Network(same_machine="counted"), Network(), Network(links=(Link(0, 2, 9),))):
        delayed = Instance(machines, (graph,), network)
        assert solved(AlternativesModel, delayed) == oracle.best(delayed)


def test_neighbourhoods_keep_tasks_that_take_no_time(monkeypatch):
    monkeypatch.setattr(program_steps, "MAX_JOBS_WITHOUT_DECOMPOSITION", 0)
    monkeypatch.setattr(search, "FREE_JOBS", 3)
    instance = two_kinds()
    assert solve_exact(instance).value == solve_exact(instance, limits=Limits(work=10**6)).value


def test_machines_alike_in_two_lans_are_not_exchanged_where_lans_matter():
    machines = tuple(Machine(f"m{k}", lan=k // 2) for k in range(4))
    network = Network(lans=(Lan("a"), Lan("b")))
    tasks = (Task("a", work=1), Task("b", work=1))
    bound, free = Graph("g", tasks, one_lan=True), Graph("h", tasks)
    assert ScaledInstance.from_instance(
        Instance(machines, (free,), network)
    ).identical_machines == [[0, 1, 2, 3]]
    instance = Instance(machines, (bound, free), network)
    assert ScaledInstance.from_instance(instance).identical_machines == [[0, 1], [2, 3]]
    assert solve_exact(instance).value == 1


def test_a_solver_without_an_answer_leaves_the_first_plan(monkeypatch):
    outcome = cpsat.Outcome(Status.LIMIT, None, None, None, "1")
    monkeypatch.setattr(cpsat, "optimise", lambda *args, **kwargs: outcome)
    found = solve_exact(FORK_JOIN)
    assert (found.status, found.bound) == (Status.FEASIBLE, bound_fernandez(FORK_JOIN).bound)


@pytest.mark.parametrize("known", [False, True])
def test_an_integer_program_without_a_proof(monkeypatch, known):
    asked = milp.optimise

    def limited(problem, limits, **options):
        found = asked(problem, limits, **options)
        if known:
            return replace(found, status=Status.FEASIBLE, bound=found.bound - 2)
        return replace(found, status=Status.LIMIT, value=None, bound=None, assignment={})

    monkeypatch.setattr(milp, "optimise", limited)
    found = solve_milp(FORK_JOIN)
    outcome = (Status.FEASIBLE, 12, 10) if known else (Status.LIMIT, None, None)
    assert (found.status, found.value, found.bound) == outcome
    assert found.reason.startswith("gap not closed")


def test_fine_fractions_give_no_false_bound():
    # the denominators make 5 * 10^8 units of the horizon, and 1e-9 of it is what a solver sees
    lans = (Lan("a"), Lan("b"))
    delay = Fraction(3689, 1000)
    machines = (Machine("m", Fraction(37, 100), 0), Machine("n", Fraction(89, 100), 1, delay))
    tasks = (Task("a", work=76), Task("b", work=1))
    graph = Graph("g", tasks, (Edge(0, 1),), lan=0, input=1910)
    instance = Instance(machines, (graph,), Network(bandwidth=10, lans=lans))
    found = solve_milp(instance)
    assert (found.status, found.value) == (Status.FEASIBLE, Fraction(78370, 37))
    assert found.value * (1 - Fraction(1, 10**5)) < found.bound < found.value
    assert "1e-6 of the horizon" in found.reason
    due = replace(instance, graphs=(replace(graph, absolute_deadline=found.value),))
    late = solve_milp(due, objective="tardy-graphs")
    assert (late.status, late.value, late.bound) == (Status.OPTIMAL, 0, 0)


def test_instants_count_from_the_first_arrival():
    # as integers since 1970, all that matters is far beyond what a solver sees
    graph = Graph("g", (Task("a", work=2), Task("b", work=3)), arrival=1_700_000_000)
    instance = Instance((Machine("m"),), (graph, replace(graph, id="h")))
    for name, least in (("makespan", 1_700_000_010), ("total-response-time", 15)):
        found = solve_milp(instance, objective=name)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, least, least)


def test_a_solver_that_loses_its_way_gets_a_longer_horizon(monkeypatch):
    graphs = tuple(Graph(f"g{k}", (Task("t", work=2 * k + 2),)) for k in range(2))
    machines = (Machine("m", power=2, delay=1), Machine("n"))
    instance = Instance(machines, graphs, Network(latency=1))
    found = solve_milp(instance, objective="total-response-time")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 4, 4)
    asked, rooms = milp.DisjunctiveMilp, []

    def failing(scaled, room):
        rooms.append(room)
        if room < 3:
            raise SolverError("lost")
        return asked(scaled, room)

    monkeypatch.setattr(milp, "DisjunctiveMilp", failing)
    found = solve_milp(instance, objective="total-response-time")
    assert (found.status, found.bound, rooms) == (Status.OPTIMAL, 4, [1, 2, 3])
    monkeypatch.setattr(milp, "HORIZON_FACTORS", (1, 2))
    with pytest.raises(SolverError, match="lost"):
        solve_milp(instance)


def test_floats_that_put_a_task_before_its_data_are_put_right():
    scaled = ScaledInstance.from_instance(FORK_JOIN)
    first = scaled.arcs[0]
    keys = [(0, job) for job in range(len(scaled.jobs))]
    keys[first.source] = (7, first.source)
    moved = milp.respect_precedence(scaled, keys)
    assert all(moved[arc.source] < moved[arc.target] for arc in scaled.arcs)


def test_intervals_refute_what_the_critical_path_refutes():
    scaled = ScaledInstance.from_instance(FORK_JOIN)
    heads_tails = compute_heads_tails(scaled)
    found = interval_energy_bound(heads_tails, dual_machine_weights(heads_tails.costs), 0)
    assert scaled.to_instance_time(found) == bound_fernandez(FORK_JOIN).bound


def test_the_milp_is_solved_without_presolve_too():
    """With presolve, HiGHS 1.12 called a makespan of 104/5 optimal where 84/5 is possible."""
    machines = (Machine("m0", lan=0), Machine("m1", lan=1), Machine("m2", lan=0, delay=1))
    costs = ((9, 9, 4), (2, 4, Fraction(11, 3)), (4, 4, 3), (1, None, 6))
    tasks = tuple(Task(f"t{number}", costs=cost) for number, cost in enumerate(costs))
    edges = (Edge(0, 2, 7), Edge(3, 2, Fraction(5, 3)), Edge(0, 3, 3), Edge(3, 1, 9))
    network = Network(
        convention="scheduler",
        same_machine="counted",
        lans=(Lan("l0", 5, 1), Lan("l1", Fraction(1, 2), 1)),
        wan_links=(Link(0, 1, 3, 4), Link(1, 0, 4, 0)),
    )
    instance = Instance(machines, (Graph("g", tasks, edges),), network)
    for objective in ("makespan", "total-response-time"):
        result = solve_milp(instance, objective=objective)
        assert (result.status, result.value) == (Status.OPTIMAL, Fraction(84, 5))


def test_the_milp_is_solved_with_presolve_too():
    """Without presolve, HiGHS 1.12 called a total response time of 35/2 optimal; 17 is possible."""
    machines = tuple(
        Machine(name, delay=delay) for name, delay in (("m0", 0), ("m1", 1), ("m2", 0))
    )
    costs = ((3, Fraction(1, 2), Fraction(2, 7)), (9, 5, None), (4, 1, 7))
    tasks = tuple(Task(f"t{number}", costs=cost) for number, cost in enumerate(costs))
    graph = Graph("g", tasks, (Edge(1, 2, 9),))
    instance = Instance(machines, (graph,), Network(same_machine="counted"))
    result = solve_milp(instance, objective="total-response-time")
    assert (result.status, result.value) == (Status.OPTIMAL, 17)
