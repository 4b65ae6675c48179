"""How far a plan of task graphs in floats may be off: once, and not once for each task."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import check, solve
from dlopt.arithmetic import exact
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Machine,
    Network,
    Placement,
    Solution,
    Task,
    allowed_gain,
    violations,
)
from dlopt.query import Query
from dlopt.registry import method as registered
from dlopt.result import Result, Status
from dlopt.returned_bounds import covering_accepted_plans

F = Fraction
EPOCH = 1_700_000_000
MILLI = 0.001
OFF = F(EPOCH, 2**46)  # 64 units in the last place: about 24 microseconds
LOOSE = 1e-9


def tasks(count, work=MILLI):
    return tuple(Task(f"t{k}", work=work) for k in range(count))


def packed(count, step, **given):
    """Return tasks of a millisecond on one machine, and a plan that starts one every `step`."""
    graph = Graph("g", tasks(count), arrival=EPOCH, **given)
    starts = tuple(Placement(0, k, 0, EPOCH + k * step) for k in range(count))
    return Instance((Machine("m"),), (graph,)), Solution(starts)


def kinds(instance, plan, tolerance=LOOSE):
    return {violation.kind for violation in violations(instance, plan, tolerance)}


def test_overlaps_that_are_small_do_not_add_up():
    """Each overlaps the next by less than instants at the epoch may be off."""
    step = exact(MILLI) - OFF * F(9, 10)
    two, plan = packed(2, step)
    assert kinds(two, plan) == set() and kinds(two, plan, 0) == {"machine-overlap"}
    for count in (3, 46):
        assert kinds(*packed(count, step)) == {"earlier-than-possible"}
    found = violations(*packed(3, step), LOOSE)
    assert [one.amount for one in found] == [pytest.approx(OFF * F(9, 5))]
    assert str(found[0]).startswith("earlier-than-possible on task 2 of graph 0 in [1700000000.00")
    whole = packed(46, exact(MILLI))
    assert kinds(*whole) == set() == kinds(*whole, 0)


def test_a_chain_does_not_slide_into_the_past():
    """Each starts before the data of the one before is there, by less than that may be off."""
    graph = Graph("g", tasks(3), (Edge(0, 1, 0.001), Edge(1, 2, 0.001)), arrival=EPOCH)
    instance = Instance((Machine("m"), Machine("n")), (graph,))
    step = 2 * exact(MILLI) - OFF * F(9, 10)
    plan = Solution(tuple(Placement(0, k, k % 2, EPOCH + k * step) for k in range(3)))
    assert kinds(instance, plan) == {"earlier-than-possible"}
    slow = Solution((*plan.placements[:2], replace(plan.placements[2], start=EPOCH + 1)))
    assert kinds(instance, slow) == set()


def test_a_task_waits_for_the_last_of_its_data_in_the_exact_plan():
    given = (Task("a", 0.5), Task("b", 1.5), Task("c", 0.5))
    graph = Graph("g", given, (Edge(0, 2, 0.5), Edge(1, 2, 0.5)), arrival=EPOCH)
    instance = Instance((Machine("m"), Machine("n")), (graph,))
    plan = Solution(
        (Placement(0, 0, 0, EPOCH), Placement(0, 1, 1, EPOCH), Placement(0, 2, 0, EPOCH + 2))
    )
    assert kinds(instance, plan) == set()
    early = replace(plan.placements[2], start=EPOCH + 1.75)
    assert kinds(instance, Solution((*plan.placements[:2], early))) == {"precedence"}


def test_what_takes_no_time_waits_for_no_machine_but_for_data():
    """The second and the fourth take no time; the last one needs the data of the second."""
    given = (Task("a", 1.5), Task("b", 0), Task("c", 1.5), Task("d", 0), Task("e", 1.5))
    graph = Graph("g", given, (Edge(1, 4, 1.5),), arrival=EPOCH)
    instance = Instance((Machine("m"),), (graph,), Network(same_machine="counted"))
    starts = (EPOCH, EPOCH + 1, EPOCH + 1.5, EPOCH + 2, EPOCH + 3)
    plan = Solution(tuple(Placement(0, k, 0, start) for k, start in enumerate(starts)))
    assert kinds(instance, plan) == set()
    early = replace(plan.placements[4], start=EPOCH + 2.25)
    assert kinds(instance, Solution((*plan.placements[:4], early))) == {
        "precedence",
        "machine-overlap",
    }


def test_tasks_go_by_their_data_where_stated_starts_say_otherwise():
    """The source is stated a hair after its target: it goes first all the same."""
    graph = Graph("g", (Task("a", 0), Task("b", 0.5)), (Edge(0, 1),), arrival=EPOCH)
    instance = Instance((Machine("m"),), (graph,))
    plan = Solution((Placement(0, 0, 0, EPOCH + OFF / 2), Placement(0, 1, 0, EPOCH)))
    assert kinds(instance, plan) == set()
    assert kinds(instance, plan, 0) == {"precedence"}


def test_input_is_waited_for_in_the_exact_plan_too():
    graph = Graph("g", tasks(3), arrival=EPOCH, lan=0, input=0.001, output=0)
    instance = Instance((Machine("m", lan=0),), (graph,), Network(lans=(Lan(),)))
    late = exact(MILLI)
    step = late - OFF * F(9, 10)
    starts = [Placement(0, k, 0, EPOCH + late + k * step) for k in range(3)]
    assert kinds(instance, Solution(tuple(starts))) == {"earlier-than-possible"}
    good = [Placement(0, k, 0, EPOCH + late + k * exact(MILLI)) for k in range(3)]
    assert kinds(instance, Solution(tuple(good))) == set()


def test_tasks_that_all_take_no_time_are_held_against_the_exact_plan_too():
    graph = Graph("g", tasks(2, 0), (Edge(0, 1, 0.25),), arrival=EPOCH)
    instance = Instance((Machine("m"), Machine("n")), (graph,))
    plan = Solution((Placement(0, 0, 0, EPOCH), Placement(0, 1, 1, EPOCH + 0.25)))
    assert kinds(instance, plan) == set()


@pytest.mark.parametrize("method", ["heft", "cpop", "peft", "heft-lookahead", "exact"])
@pytest.mark.parametrize("work", [0.1, 1 / 3, 0.7, 1e-5])
def test_our_own_plans_do_not_slide_however_long_they_are(method, work):
    """One task after the other at the epoch: to add floats up to dates would lose a little each."""
    graph = Graph("g", tasks(12 if method == "exact" else 600, work), arrival=EPOCH + 0.1)
    instance = Instance((Machine("m"),), (graph,))
    found = solve(instance, method)
    assert check(instance, found.solution, LOOSE) == ()


def test_late_graphs_of_checked_plans_are_no_fewer_than_proven():
    """A millisecond each, due 20 microseconds too soon: only what the check allows saves them."""
    instance, _ = packed(3, MILLI)
    due = exact(EPOCH) + 3 * exact(MILLI) - OFF * F(4, 5)
    graph = replace(instance.graphs[0], absolute_deadline=float(due))
    instance = replace(instance, graphs=(graph,))
    squeezed = tuple(
        Placement(0, k, 0, EPOCH + k * (exact(MILLI) - OFF * F(9, 20))) for k in range(3)
    )
    assert kinds(instance, Solution(squeezed)) == set()
    assert check(instance, Solution(squeezed)) == ()
    for method in ("exact", "milp", "bound-fernandez", "bound-work", "bound-critical-path"):
        found = solve(instance, method, objective="tardy-graphs")
        assert found.bound == 0
    hard = replace(instance, graphs=(replace(graph, absolute_deadline=float(due - 4 * OFF)),))
    assert solve(hard, "exact", objective="tardy-graphs").bound == 1


def test_a_graph_that_ends_as_it_is_due_is_in_time_in_floats_too():
    """Two thirds and a third are 1 in floats that are rounded down, not a hair more."""
    graph = Graph("g", (Task("a", 2 / 3), Task("b", 1 / 3)), (Edge(0, 1),), absolute_deadline=1.0)
    instance = Instance((Machine("m"),), (replace(graph, arrival=0.0),))
    found = solve(instance, "exact", objective="tardy-graphs")
    assert (str(found.status), found.value, found.bound) == ("optimal", 0, 0)


def test_the_grid_of_the_model_is_fine_at_the_epoch():
    """Numbers without a common unit: their grid spans the plan, not the years since 1970."""
    graph = Graph("g", tasks(3, 1 / 3), arrival=EPOCH + 1 / 7)
    found = solve(Instance((Machine("m"), Machine("n", power=0.7)), (graph,)), "exact")
    assert "floats are so coarse at such dates" in found.reason  # 64 units in the last place
    assert F(2, 10**5) < exact(found.value) - exact(found.bound) < F(3, 10**5)


@pytest.mark.parametrize(("name", "least"), [("makespan", 7), ("total-response-time", 0)])
def test_no_plan_is_complete_before_the_last_arrival(name, least):
    """So bounds that are no larger are not lowered by what instants may be off."""
    graphs = tuple(Graph(f"g{t}", tasks(1, 2.0), arrival=t) for t in (4, 7))
    instance = Instance((Machine("m"),), graphs)
    assert allowed_gain(instance, name, F(least), LOOSE) == 0
    assert allowed_gain(instance, name, least + F(1, 10**12), LOOSE) == F(1, 10**12)
    assert allowed_gain(instance, name, F(least + 2), LOOSE) > F(1, 10**9)


@pytest.mark.parametrize("value", [None, 27.0])
def test_a_bound_near_the_origin_is_loose_for_no_fault_of_its_dates(value):
    """Rounding of dates makes no difference to a gap that is as large as the value."""
    instance = Instance((Machine("m"),), (Graph("g", tasks(9, 3.0)),))
    query = Query.of(instance, registered("dag", "exact"), "makespan")
    bound, reason = 1e-9, "source of the bound: the critical path"
    answer = Result(Status.FEASIBLE, value=value, bound=bound, tolerance=1e-6, reason=reason)
    found = covering_accepted_plans(query, answer)
    assert 0 <= found.bound < bound
    assert ("floats are so coarse" in found.reason) is (value is None)
