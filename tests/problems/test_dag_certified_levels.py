"""Rows about tardy graphs and totals hold in every schedule they are about; others are refused."""

from dataclasses import replace
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.formats.vipr import Certificate, Constraint
from dlopt.problems.certificate_units import TimeGrid
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Placement,
    Solution,
    Task,
    violations,
)
from dlopt.problems.dag.certified_levels import LevelProgram, Levels
from dlopt.problems.dag.certified_times import DagTimes
from dlopt.problems.dag.objectives import completions
from tests.examples import share

ORIGIN = Fraction(0)


def halves(most):
    return st.integers(0, 2 * most).map(lambda k: Fraction(k, 2))


@st.composite
def instances(draw):
    """Return two or three graphs of one or two tasks on one or two machines."""
    machines = draw(st.integers(1, 2))
    graphs = []
    for name in "abc"[: draw(st.integers(2, 3))]:
        count = draw(st.integers(1, 2))
        tasks = tuple(
            Task(f"t{k}", costs=tuple(draw(halves(2)) for _ in range(machines)))
            for k in range(count)
        )
        edges = (Edge(0, 1, draw(halves(1))),) if count == 2 and draw(st.booleans()) else ()
        arrival = draw(halves(1))
        due = draw(st.one_of(st.none(), halves(3).map(lambda d, a=arrival: a + d)))
        graphs.append(Graph(name, tasks, edges, arrival, due))
    return Instance(tuple(Machine(f"m{k}") for k in range(machines)), tuple(graphs))


@st.composite
def schedules(draw, instance):
    """Return a schedule: the tasks one after another in some order, some with idle time before."""
    free = [Fraction(0)] * len(instance.machines)
    ends, placements = {}, []
    tasks = [(g, t) for g, graph in enumerate(instance.graphs) for t in range(len(graph.tasks))]
    for g in draw(st.permutations(range(len(instance.graphs)))):
        graph = instance.graphs[g]
        for t in (t for h, t in tasks if h == g):
            machine = draw(st.sampled_from(range(len(free))))
            start = max(free[machine], exact(graph.arrival)) + draw(
                st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2)])
            )
            for edge in graph.edges:
                if edge.target == t:
                    sent, place = ends[g, edge.source]
                    start = max(start, sent + (edge.data if place != machine else 0))
            free[machine] = start + exact(graph.tasks[t].costs[machine])
            ends[g, t] = free[machine], machine
            placements.append(Placement(g, t, machine, start))
    plan = Solution(tuple(placements))
    assert violations(instance, plan) == ()
    return plan


class Point:
    """The values of the columns in a schedule."""

    def __init__(self, instance, plan):
        self.done = completions(instance, plan)
        self.starts = {(p.graph, p.task): (p.machine, exact(p.start)) for p in plan.placements}
        self.tasks = [
            (g, t) for g, one in enumerate(instance.graphs) for t in range(len(one.tasks))
        ]
        self.tardy = sum(
            graph.absolute_deadline is not None and end > exact(graph.absolute_deadline)
            for graph, end in zip(instance.graphs, self.done, strict=True)
        )
        self.total = sum(self.done, Fraction(0))

    def is_in(self, levels):
        """Tell whether the program is of this schedule."""
        if levels.tardy is None or self.tardy == levels.tardy:
            return levels.total is None or self.total <= levels.total
        return self.tardy < levels.tardy

    def value(self, key, levels, groups):
        task, group, instant = key
        if task < len(self.tasks):
            machine, start = self.starts[self.tasks[task]]
            return machine == group and floor(start) <= instant
        if group != groups:
            return 0
        if task < len(self.tasks) + len(self.done):
            return floor(self.done[task - len(self.tasks)]) <= instant
        return levels.tardy is not None and self.tardy < levels.tardy


@st.composite
def rows(draw, instance):
    """Return a named row, near to those of a family."""
    tasks = sum(len(graph.tasks) for graph in instance.graphs)
    graphs, group = len(instance.graphs), len(instance.machines)
    instants, small = st.integers(0, 5), st.sampled_from([0, 0, 0, 1, -1])
    family = draw(st.sampled_from(["tardy", "total", "precedence", "release", "assigned"]))
    if family in ("tardy", "total"):
        chosen = [g for g in range(graphs) if draw(st.booleans())]
        place = st.sampled_from([group] * 9 + [0])
        terms = {(tasks + g, draw(place), draw(instants)): 1 for g in chosen}
        if draw(st.booleans()):
            f = draw(st.sampled_from([-1, -1, 1, 1, -2]))
            terms[tasks + graphs, draw(place), draw(st.integers(0, 1))] = f
        if draw(st.integers(0, 9)) == 0:
            terms[draw(st.integers(0, tasks - 1)), 0, 0] = 1
        return family, terms, 1, draw(st.sampled_from([1, 1, len(chosen), len(chosen) - 1]))
    one = draw(st.integers(0, tasks + graphs))
    terms = {(one, draw(st.integers(0, group)), draw(instants)): 1}
    if family == "precedence":
        source = draw(st.integers(0, tasks - 1))
        terms |= {(source, g, draw(instants)): -1 for g in range(group) if draw(st.booleans())}
        return f"precedence_{source}_{one}", terms, -1, draw(small)
    if family == "assigned":
        return f"assigned_{one}", terms, draw(st.sampled_from([1, -1])), 1
    return "release", terms, -1, draw(small)


def stated(instance, levels, name, terms, sign, side):
    """Return what is wrong with the program of one row."""
    columns = list(terms)
    names = tuple(f"z_{j}_{g}_{t}" for j, g, t in columns)
    row = Constraint(
        {k: Fraction(terms[key]) for k, key in enumerate(columns)}, sign, Fraction(side)
    )
    groups = tuple((m,) for m in range(len(instance.machines)))
    times = DagTimes(instance, TimeGrid(Fraction(1), ORIGIN), groups)
    program = Certificate(names, frozenset(), {}, ((name, row),), None, ())
    return LevelProgram(times, program, levels).flaw()


@pytest.mark.property
@share(1 / 2)
@given(st.data())
def test_rows_that_are_accepted_hold_in_every_schedule(data):
    instance = data.draw(instances())
    points = [Point(instance, data.draw(schedules(instance))) for _ in range(4)]
    for _ in range(8):
        point = data.draw(st.sampled_from(points))
        tardy = data.draw(st.sampled_from([None, point.tardy, point.tardy, point.tardy + 1]))
        total = data.draw(st.sampled_from([None, floor(point.total), floor(point.total) + 1]))
        levels = Levels(tardy, total)
        name, terms, sign, side = data.draw(rows(instance))
        if stated(instance, levels, name, terms, sign, side) is None:
            groups = len(instance.machines)
            for point in points:
                if point.is_in(levels):
                    left = sum(a * point.value(key, levels, groups) for key, a in terms.items())
                    assert sign * left >= sign * side, (name, levels)


THREE = Instance(
    (Machine("m"),),
    (
        Graph("a", (Task("t", work=2),), absolute_deadline=2),
        Graph("b", (Task("t", work=2),), arrival=1, absolute_deadline=4),
        Graph("c", (Task("t", work=2),)),
    ),
)
"""Tasks are 0 to 2, completions 3 to 5, that fewer are tardy is 6; they are in group 1."""


@pytest.mark.parametrize(
    ("levels", "name", "terms", "sign", "side", "flaw"),
    [
        ((0, None), "tardy", {(3, 1, 2): 1}, 1, 1, None),
        ((1, None), "tardy", {(3, 1, 2): 1, (4, 1, 4): 1}, 1, 1, None),
        ((1, None), "tardy", {(3, 1, 2): 1, (4, 1, 4): 1, (6, 1, 0): -1}, 1, 1, None),
        ((-1, None), "tardy", {}, 1, 1, None),
        ((0, None), "tardy", {(6, 1, 0): -1}, 1, 0, None),
        ((1, None), "tardy", {(3, 1, 2): 1}, 1, 1, "more graphs may be tardy"),
        ((0, None), "tardy", {(3, 1, 1): 1}, 1, 1, "may be complete later"),
        ((0, None), "tardy", {(5, 1, 9): 1}, 1, 1, "may be complete later"),
        ((0, None), "tardy", {(3, 1, 2): 1, (6, 1, 0): -2}, 1, 1, "more graphs may be tardy"),
        ((0, None), "tardy", {(3, 1, 2): 1, (6, 1, 0): 1}, 1, 1, "more graphs may be tardy"),
        ((0, None), "tardy", {(3, 1, 2): 2}, 1, 1, "a coefficient is not 1"),
        ((0, None), "tardy", {(3, 1, 2): 1}, -1, 1, "the wrong direction"),
        ((0, None), "tardy", {(3, 0, 2): 1}, 1, 1, "each once"),
        ((0, None), "tardy", {(3, 1, 2): 1, (6, 0, 0): -1}, 1, 1, "each once"),
        ((1, None), "tardy", {(3, 1, 2): 1, (3, 1, 3): 1}, 1, 1, "each once"),
        ((1, None), "tardy", {(3, 1, 2): 1, (6, 1, 0): -1, (6, 1, 1): -1}, 1, 0, "each once"),
        ((0, None), "tardy", {(0, 0, 2): 1}, 1, 1, "each once"),
        ((None, 9), "tardy", {(3, 1, 2): 1}, 1, 1, "any number"),
        ((None, 9), "total", {(3, 1, 3): 1, (4, 1, 2): 1, (5, 1, 2): 1}, 1, 1, None),
        ((None, 8), "total", {(3, 1, 3): 1, (5, 1, 3): 1}, 1, 1, None),
        ((None, 9), "total", {(3, 1, 3): 1, (5, 1, 3): 1}, 1, 1, "may be complete later"),
        ((None, 0), "total", {}, 1, 1, None),
        ((None, 1), "total", {}, 1, 1, "may be complete later"),
        ((None, 9), "total", {(3, 1, 9): 1}, 1, 2, "may be complete later"),
        ((None, 9), "total", {(3, 1, 9): 1, (6, 1, 0): 1}, 1, 1, "fewer graphs are tardy"),
        ((0, 9), "total", {(3, 1, 9): 1, (6, 1, 0): 1}, 1, 1, None),
        ((0, 9), "total", {(3, 1, 9): 1}, 1, 1, "fewer graphs are tardy"),
        ((0, 9), "total", {(3, 1, 9): 1, (6, 1, 0): -1}, 1, 1, "fewer graphs are tardy"),
        ((0, None), "total", {(3, 1, 9): 1, (6, 1, 0): 1}, 1, 1, "the total may be any"),
        ((None, 9), "precedence_0_3", {(3, 1, 3): 1, (0, 0, 1): -1}, -1, 0, None),
        ((None, 9), "precedence_0_3", {(3, 1, 4): 1, (0, 0, 1): -1}, -1, 0, "may start later"),
        ((None, 9), "precedence_0_4", {(4, 1, 3): 1, (0, 0, 1): -1}, -1, 0, "needs no data"),
        ((None, 9), "precedence_3_6", {(6, 1, 0): 1}, -1, 0, "needs no data"),
        ((None, 9), "release", {(4, 1, 0): 1}, -1, 0, None),
        ((None, 9), "release", {(4, 1, 1): 1}, -1, 0, "may have started"),
        ((None, 9), "release", {(6, 1, 0): 1}, -1, 0, "may have started"),
        ((None, 9), "assigned_3_G", {(3, 1, 9999): 1}, 1, 1, "may not start"),
        ((None, 9), "assigned_0_G", {(0, 0, 9999): 1}, 1, 1, "may not start"),
        ((None, 9), "conflict_0", {(3, 1, 3): 1, (4, 1, 3): 1}, -1, 1, "may run at a time"),
        ((None, 9), "capacity_1_0_3", {(3, 1, 3): 1}, -1, 12, "more than it occupies"),
    ],
)
def test_rows_of_a_small_instance(levels, name, terms, sign, side, flaw):
    found = stated(THREE, Levels(*levels), name, terms, sign, side)
    assert found is None if flaw is None else flaw in (found or "")


def test_due_dates_of_floats_are_as_late_as_the_checker_of_plans_allows():
    """A plan that is accepted with the tolerance of floats is not tardy by less."""
    graph = Graph("g", (Task("t", work=1.0),), arrival=0.0, absolute_deadline=1.0)
    grid = TimeGrid(Fraction(1, 2**60), ORIGIN)
    (exactly, late) = (
        DagTimes(Instance((Machine("m"),), (one,)), grid, ((0,),)).due(0)
        for one in (Graph("g", (Task("t", work=1),), absolute_deadline=1), graph)
    )
    assert exactly == 2**60
    assert 2e-9 < (late - exactly) / 2**60 < 3e-9
    assert DagTimes(THREE, grid, ((0,),)).due(2) is None


@pytest.mark.parametrize(
    ("change", "pairs"),
    [
        ({}, {(0, 1), (1, 2), (0, 2)}),
        ({"machines": (Machine("m"), Machine("n", power=2), Machine("o"))}, {(0, 2)}),
        ({"network": Network(links=(Link(0, 1, bandwidth=2),))}, {(0, 1)}),
        ({"network": Network(links=(Link(2, 1, bandwidth=2),))}, {(1, 2)}),
        ({"network": Network(links=(Link(2, 1, bandwidth=2), Link(1, 2, 1)))}, set()),
        ({"network": Network(links=(Link(1, 2, bandwidth=2), Link(2, 1, 1)))}, set()),
        ({"network": Network(links=(Link(0, 1, bandwidth=2), Link(1, 0, bandwidth=3)))}, set()),
    ],
)
def test_machines_may_be_exchanged_if_no_time_changes(change, pairs):
    graph = Graph("g", (Task("a", work=2), Task("b", work=2)), (Edge(0, 1, 12),))
    given_machines = {"machines": tuple(Machine(f"m{k}") for k in range(3))}
    instance = Instance(graphs=(graph,), **(given_machines | change))
    times = DagTimes(instance, TimeGrid(Fraction(1), ORIGIN), ((0,), (1,), (2,)))
    found = {(g, h) for g in range(3) for h in range(g + 1, 3) if times.are_exchangeable(g, h)}
    assert found == pairs
    joined = DagTimes(instance, TimeGrid(Fraction(1), ORIGIN), ((0, 1), (2,)))
    assert not joined.are_exchangeable(0, 1)


def test_input_and_output_keep_machines_from_being_exchanged():
    network = Network("scheduler", "counted", 2, 1, (Lan("a", 4), Lan("b", 2)))
    graphs = (Graph("g", (Task("a", work=2),), lan=0, input=8),)
    machines = (Machine("m", lan=0), Machine("n", lan=1), Machine("o", lan=0))
    for graph in (graphs[0], replace(graphs[0], input=0, output=8)):
        times = DagTimes(
            Instance(machines, (graph,), network), TimeGrid(Fraction(1), ORIGIN), ((0,), (1,), (2,))
        )
        assert [times.are_exchangeable(0, 1), times.are_exchangeable(0, 2)] == [False, True]
