"""What the methods answer on graphs that are known, or worked out by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import io, solve
from dlopt.arithmetic import exact
from dlopt.backends import cpsat
from dlopt.errors import NotApplicableError, SolverError
from dlopt.generation import generate
from dlopt.heuristics.dag import methods as lists
from dlopt.models.dag import methods, search
from dlopt.models.dag.bound_methods import bound_fernandez
from dlopt.models.dag.methods import solve_exact, solve_milp
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule, list_schedule, to_solution
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Machine,
    Network,
    Task,
    allowed_gain,
    violations,
)
from dlopt.result import Limits, Status
from tests.test_battery import FOLDER


def chain(*works, **fields):
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    edges = tuple(Edge(k, k + 1, data=5) for k in range(len(works) - 1))
    return Graph(fields.pop("id", "g"), tasks, edges, **fields)


def fork(width=3, **fields):
    tasks = tuple(Task(f"t{k}", work=2) for k in range(width + 1))
    return Graph("g", tasks, tuple(Edge(0, k, data=1) for k in range(1, width + 1)), **fields)


def pair(*graphs):
    return Instance((Machine("m"), Machine("n")), graphs)


def test_a_chain_stays_on_one_machine():
    found = solve_exact(pair(chain(2, 3)))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 5, 5)
    assert found.reason == "source of the bound: the critical path"
    assert len({placed.machine for placed in found.solution.placements}) == 1


def test_a_fork_sends_one_task_away():
    # two of three stay, 2 + 4, or one goes, 2 + 1 + 2
    found = solve_exact(pair(fork()))
    assert (found.status, found.value) == (Status.OPTIMAL, 6)


def test_late_graphs_come_before_their_response():
    # either graph is in time alone; first of both the short one, or only one is in time
    long, short = chain(6, id="a", absolute_deadline=6), chain(2, id="b", absolute_deadline=9)
    instance = Instance((Machine("m"),), (long, short))
    found = solve_exact(instance, objective="tardy-then-response-time")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (0, 14), (0, 14))
    assert solve_exact(instance, objective="total-response-time").value == 10
    tight = replace(short, absolute_deadline=7)
    found = solve_exact(
        replace(instance, graphs=(long, tight)), objective="tardy-then-response-time"
    )
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (1, 10), (1, 10))
    other = solve_milp(
        replace(instance, graphs=(long, tight)), objective="tardy-then-response-time"
    )
    assert (other.status, other.value, other.bound) == (Status.OPTIMAL, (1, 10), (1, 10))


def test_machines_of_two_kinds_without_transfers_are_pooled():
    machines = tuple(Machine(f"m{k}") for k in range(4))
    rows = [(3, 3, 2, 2), (4, 4, None, None), (None, None, 5, 5), (6, 6, 3, 3), (0, 0, 0, 0)]
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(rows * 2))
    graph = Graph("g", tasks, (Edge(0, 1), Edge(2, 9), Edge(5, 6)))
    instance = Instance(machines, (graph,), Network())
    assert ScaledInstance.from_instance(
        instance
    ).communication_free and ScaledInstance.from_instance(instance).identical_machines == [
        [0, 1],
        [2, 3],
    ]
    found = solve_exact(instance)
    apart = replace(instance, network=Network(latency=0, same_machine="counted"))
    assert (found.status, found.bound) == (Status.OPTIMAL, found.value)
    assert solve_exact(apart).value == found.value
    assert violations(instance, found.solution) == ()


def test_floats_are_rounded_down_for_the_bound_only():
    instance = pair(chain(1 / 3, 0.7), replace(fork(), id="f"))
    found = solve(instance)
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(6)
    assert "times are rounded down to multiples of" in found.reason
    assert isinstance(solve(instance, "bound-fernandez").bound, float)
    assert solve(instance, "milp").value == pytest.approx(6)


def test_a_graph_that_stays_in_one_lan():
    lans = (Lan("a"), Lan("b"))
    machines = (Machine("m", 1, 0), Machine("n", 1, 0), Machine("o", 3, 1))
    graph = replace(fork(4), one_lan=True, lan=0, input=3, output=3)
    instance = Instance(machines, (graph,), Network(lans=lans))
    found = solve_exact(instance)
    assert found.status is Status.OPTIMAL
    assert solve_milp(instance).value == found.value
    free = replace(instance, graphs=(replace(graph, one_lan=False),))
    assert solve_exact(free).value <= found.value


def test_limits_leave_a_plan_and_a_bound():
    instance = generate("dag", "layered", tasks=60, machines=4, seed=1)
    for name in ("makespan", "total-response-time"):
        found = solve_exact(instance, objective=name, limits=Limits(time_s=1e-6))
        assert found.status is Status.FEASIBLE
        assert found.bound < found.value
        assert violations(instance, found.solution) == ()
    smaller = generate("dag", "layered", tasks=30, machines=4, seed=1)
    found = solve_exact(smaller, limits=Limits(work=1))
    assert found.status is Status.FEASIBLE
    assert found.bound < found.value


def test_neighbourhoods_improve_the_plan_they_are_given():
    instance = generate("dag", "layered", tasks=40, machines=3, seed=2)
    hint = lists.heft(instance)
    found = solve_exact(instance, hint=hint.solution, limits=Limits(time_s=3))
    assert found.value < hint.value
    assert violations(instance, found.solution) == ()


def test_what_is_too_large_for_the_solver_gives_a_bound(monkeypatch):
    monkeypatch.setattr(search, "MAX_CONSTRAINTS", 10)
    instance = io.read(FOLDER / "dag" / "fork-join.json")
    found = solve_exact(instance)
    assert (found.status, found.bound) == (Status.FEASIBLE, bound_fernandez(instance).bound)


def test_a_solver_that_denies_the_plan_it_was_given_is_not_believed(monkeypatch):
    outcome = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "1")
    monkeypatch.setattr(cpsat, "optimise", lambda *args, **kwargs: outcome)
    with pytest.raises(SolverError, match="the schedule in its hint is feasible"):
        solve_exact(io.read(FOLDER / "dag" / "fork-join.json"))


def test_the_integer_program_is_for_tiny_instances():
    with pytest.raises(NotApplicableError, match="supports up to 8 tasks, not 9"):
        solve(pair(fork(8)), "milp")
    with pytest.raises(NotApplicableError, match="PuLP knows no solver 'none'"):
        solve_milp(pair(fork()), solver="none")
    found = solve_milp(pair(fork(7)), limits=Limits(time_s=1e-6))
    assert (found.status, found.solution, found.bound) == (Status.LIMIT, None, None)


def test_time_may_be_up_between_two_levels(monkeypatch):
    instance = pair(replace(fork(), absolute_deadline=9), chain(1, id="h"))

    class Spent(methods.Budget):
        def left(self, share=1):
            if self.stop == 0:
                raise TimeoutError
            self.stop = 0
            return self.limits

    monkeypatch.setattr(methods, "Budget", Spent)
    found = solve_milp(instance, objective="tardy-then-response-time")
    assert (found.status, found.bound) == (Status.FEASIBLE, None)
    assert found.value[0] == 0


def test_a_long_chain_needs_no_recursion():
    graph = chain(*[1] * 5_000)
    found = bound_fernandez(pair(graph))
    assert (found.status, found.bound, found.reason) == (
        Status.BOUND,
        5_000,
        "source of the bound: the critical path",
    )


def test_the_first_plan_is_valid_and_timed_with_the_numbers_of_the_instance():
    instance = pair(chain(Fraction(1, 3), Fraction(2, 7)), replace(fork(5), id="f", arrival=1))
    scaled = ScaledInstance.from_instance(instance)
    assert scaled.scale == 21
    plan = list_schedule(scaled, [0] * len(scaled.jobs))
    made = to_solution(scaled, plan)
    assert violations(instance, made) == ()
    assert Schedule.from_solution(scaled, made) == plan


def test_a_bound_of_responses_at_dates_is_lowered_once() -> None:
    """What the check accepts below the exact optimum is taken off it, not off a rounded plan."""
    work, now = 1.23456789, 1.7e9
    graphs = tuple(
        Graph(name, (Task("t", work=work),), arrival=at, absolute_deadline=now + 99)
        for name, at in (("a", now), ("b", now + 0.3))
    )
    instance = Instance((Machine("m"),), graphs)
    result = solve(instance, objective="tardy-then-response-time")
    best = 3 * exact(work) - exact(now + 0.3) + exact(now)
    most = allowed_gain(instance, "total-response-time", best, 1e-9)
    (_, value), (_, bound) = result.value, result.bound
    assert value < best  # ends are rounded down
    assert best - most - Fraction(1, 10**11) < exact(bound) <= best - most
