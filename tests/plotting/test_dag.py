"""Gantt charts of task graphs, and the graphs below them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.plotting import PROBLEMS, draw_solution, plot
from dlopt.plotting.critical_path import critical_path, placed_tasks
from dlopt.plotting.dag import MAX_NAMED, MOST_ARROWS, MOST_GRAPHS
from dlopt.plotting.layered_layout import layered
from dlopt.plotting.task_graph import MOST_TASKS
from dlopt.problems.admission import Solution as OtherSolution
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
    violations,
)
from dlopt.result import Result, Status
from tests.instance_files import ROOT
from tests.plotting.figures import extents, legend, lines, row_labels, texts
from tests.plotting.legibility import assert_legible

DIAMOND = Instance(
    (Machine("m"), Machine("n")),
    (
        Graph(
            "g",
            (Task("a", work=2), Task("b", work=3), Task("c", work=4), Task("d", work=1)),
            (Edge(0, 1, 1), Edge(0, 2, 3), Edge(1, 3, 2), Edge(2, 3, 2)),
            absolute_deadline=14,
        ),
    ),
    name="diamond",
)
PLAN = Solution(
    (Placement(0, 0, 0, 0), Placement(0, 1, 0, 2), Placement(0, 2, 1, 5), Placement(0, 3, 1, 9))
)
LANS = Instance(
    (Machine("far", lan=1), Machine("near", lan=0), Machine("next", lan=0)),
    (
        Graph("x", (Task("a", work=2), Task("b", work=2)), (Edge(0, 1, 1),), lan=0, input=2),
        Graph("y", (Task("c", work=1),), arrival=1, lan=0, output=3, absolute_deadline=4),
        Graph("z", (Task("e", work=1), Task("f", work=0)), arrival=6),
    ),
    network=Network(latency=1, lans=(Lan("home"), Lan("away"))),
    name="three graphs",
    units="hours",
)
SPREAD = Solution(
    (
        Placement(0, 0, 1, 2),
        Placement(0, 1, 2, 5),
        Placement(1, 0, 0, 3),
        Placement(2, 0, 1, 6),
        Placement(2, 1, 1, 7),
    )
)


def chains(count: int, tasks: int) -> tuple[Instance, Solution]:
    """Return chains side by side, each to and fro between two machines of its own."""
    work = tuple(Task(f"t{index}", work=1) for index in range(tasks))
    edges = tuple(Edge(index, index + 1) for index in range(tasks - 1))
    graphs = tuple(Graph(f"g{at}", work, edges, absolute_deadline=at) for at in range(count))
    placed = tuple(
        Placement(at, task, 2 * at + task % 2, task) for at in range(count) for task in range(tasks)
    )
    return Instance(tuple(Machine(f"m{at}") for at in range(2 * count)), graphs), Solution(placed)


def arrows(figure: Figure, gid: str, panel: int = 0) -> list[FancyArrowPatch]:
    return [patch for patch in figure.axes[panel].patches if patch.get_gid() == gid]


def test_tasks_stand_on_their_machines() -> None:
    assert violations(DIAMOND, PLAN) == ()
    figure = draw_solution(DIAMOND, PLAN)
    assert row_labels(figure) == ["machine m", "machine n"]
    assert extents(figure, "task") == [(0, 2), (2, 5), (5, 9), (9, 10)]
    assert {"a", "b", "c", "d"} <= set(texts(figure))
    assert lines(figure) == {"makespan 10": 10, "deadline 14": 14}
    assert "4 tasks · in time · critical path: 7 running, 3 sending" in texts(figure)
    assert_legible(figure)


def test_the_critical_path_is_marked_in_the_chart_and_in_the_graph() -> None:
    figure = draw_solution(DIAMOND, PLAN)
    assert extents(figure, "critical") == [(0, 2), (5, 9), (9, 10)]
    (arrow,) = arrows(figure, "critical-transfer")
    start, end = arrow.get_path().vertices[0], arrow.get_path().vertices[2]
    assert start[0] == pytest.approx(2)
    assert len(arrows(figure, "transfer")) == 1
    assert end[0] == pytest.approx(5, abs=0.5)  # less the tip of the arrow
    panel = figure.axes[1]
    (nodes,) = (c for c in panel.collections if c.get_gid() == "graph-task")
    assert [bool(width > 1) for width in nodes.get_linewidth()] == [True, False, True, True]
    assert len(arrows(figure, "critical-edge", 1)) == 2
    assert len(arrows(figure, "edge", 1)) == 2
    assert {"a", "b", "c", "d", "1", "3", "2"} == {text.get_text() for text in panel.texts}
    # of all edges, also those on which nothing is sent, as both tasks are on one machine
    assert "the graph with the data of its edges" in texts(figure)
    assert legend(figure) == [
        "task",
        "critical path",
        "transfer",
        "transfer on the critical path",
    ]


def test_the_chain_goes_over_data_machines_and_arrivals() -> None:
    later = replace(DIAMOND, graphs=(replace(DIAMOND.graphs[0], arrival=1),))
    plan = Solution(
        (
            Placement(0, 0, 0, 1),
            Placement(0, 2, 0, 3),
            Placement(0, 1, 0, 7),
            Placement(0, 3, 0, 11),
        )
    )
    chain = critical_path(later, placed_tasks(later, plan))
    assert [run.task for run in chain.runs] == [0, 2, 1, 3]
    assert [cause.kind for cause in chain.constraints] == ["arrival", "data", "machine", "data"]
    assert (chain.running, chain.sending, chain.idle, chain.complete) == (10, 0, 1, 12)
    assert chain.edges == {(0, 0, 2), (0, 1, 3)}
    figure = draw_solution(later, plan)
    assert "4 tasks · in time · critical path: from 1 on, 10 running, 1 idle" in texts(figure)


def test_input_and_output_belong_to_the_chain() -> None:
    runs = placed_tasks(LANS, SPREAD)
    chain = critical_path(LANS, [run for run in runs if run.graph == 1])
    # Over the WAN and into the LAN of the machine; and back, with 3 units of data each way.
    assert (chain.constraints[0].left, chain.constraints[0].ready) == (1, 2)
    assert chain.complete == 3 + 1 + (3 + 1 + 3)
    assert (chain.running, chain.sending, chain.idle) == (1, 1 + 7, 1)
    empty = critical_path(LANS, [])
    assert (empty.runs, empty.running, empty.sending, empty.idle) == ((), 0, 0, 0)


def test_what_comes_too_late_holds_nothing_back() -> None:
    early = Solution((*PLAN.placements[:3], Placement(0, 3, 1, 4)))
    chain = critical_path(DIAMOND, placed_tasks(DIAMOND, early))
    assert chain.complete == 9
    # Of what does not run, nothing is waited for.
    chain = critical_path(DIAMOND, placed_tasks(DIAMOND, Solution(PLAN.placements[1:])))
    assert [run.task for run in chain.runs] == [2, 3]
    assert chain.idle == 5
    alone = Solution((Placement(0, 0, 0, -3),))
    chain = critical_path(DIAMOND, placed_tasks(DIAMOND, alone))
    assert chain.constraints == ()
    assert "1 of 4 tasks · in time · critical path: 2 running" in texts(
        draw_solution(DIAMOND, alone)
    )


def test_graphs_have_rows_with_deadlines_and_lans_are_groups() -> None:
    figure = plot(LANS, Result(Status.FEASIBLE, SPREAD, method="by-hand"))
    assert row_labels(figure) == [
        "graph x",
        "graph y",
        "graph z",
        "LAN home: near",
        "LAN home: next",
        "LAN away: far",
    ]
    wide = replace(LANS, machines=(*LANS.machines, Machine("more", lan=1), Machine("m", lan=1)))
    wide = replace(wide, machines=(*wide.machines, Machine("most", lan=0)))
    figure = draw_solution(wide, SPREAD)
    assert row_labels(figure)[3:] == ["near", "next", "most", "far", "more", "m"]
    assert {"LAN home", "LAN away"} <= set(texts(figure))
    assert_legible(figure)
    assert extents(figure, "graph") == [(0, 7), (1, 11), (6, 7)]
    assert {"complete 11, 7 late", "complete 7"} <= set(texts(figure))
    assert figure.axes[0].get_xlabel() == "time (hours)"
    (ticks,) = (c for c in figure.axes[0].collections if c.get_gid() == "deadline")
    assert [float(segment[0][0]) for segment in ticks.get_segments()] == [4]
    # The input of x; in- and output of y.
    (ways,) = (c for c in figure.axes[0].collections if c.get_gid() == "gateway")
    assert sorted(tuple(np.array(way)[:, 0]) for way in ways.get_segments()) == [
        (0, 2),
        (1, 2),
        (4, 11),
    ]
    assert extents(figure, "no-time") == [(7, 7)]
    assert any("1 of 3 graphs late" in text for text in texts(figure))
    assert_legible(figure)


@pytest.mark.parametrize(
    "name", ["topcuoglu-10", "deadlines", "lans", "random-16", "costs-nothing", "fork-join"]
)
def test_shipped_instances_are_legible(name: str) -> None:
    instance = dlopt.read(ROOT / "instances" / "dag" / f"{name}.json")
    figure = plot(instance, dlopt.solve(instance, "heft"))
    assert_legible(figure)
    assert len(figure.axes) == 2


def test_many_transfers_are_left_out_and_that_is_said() -> None:
    half = MOST_ARROWS // 2
    figure = draw_solution(*chains(2, half + 1))
    assert len(arrows(figure, "transfer")) == len(arrows(figure, "critical-transfer")) == half
    instance, plan = chains(3, half + 1)
    figure = draw_solution(instance, plan)
    assert arrows(figure, "transfer") == []
    assert len(arrows(figure, "critical-transfer")) == half
    assert f"transfer on the critical path; {MOST_ARROWS} others not drawn" in legend(figure)
    figure = draw_solution(*chains(1, MOST_ARROWS + 2))
    assert "transfer on the critical path" in legend(figure)
    more, _ = chains(4, half + 1)
    figure = draw_solution(more, Solution((*plan.placements, Placement(3, 0, 7, 100))))
    assert any(f"{3 * half} transfers not drawn" in text for text in texts(figure))


def test_many_graphs_have_no_rows_and_large_ones_are_not_drawn() -> None:
    instance, plan = chains(MOST_GRAPHS, 2)
    assert len(row_labels(draw_solution(instance, plan))) == 3 * MOST_GRAPHS
    instance, plan = chains(MOST_GRAPHS + 1, MOST_TASKS // (MOST_GRAPHS + 1) + 1)
    figure = draw_solution(instance, plan)
    assert row_labels(figure) == [f"machine m{at}" for at in range(2 * MOST_GRAPHS + 2)]
    assert len(figure.axes) == 1
    assert "task, one colour a graph" in legend(figure)
    long, wide = chains(1, 20), chains(2, 1)
    assert len(draw_solution(*long).axes) == 1  # too long, and without an edge: nothing to show
    assert len(draw_solution(*wide).axes) == 1


def test_graphs_that_find_no_room_beside_one_another_stand_below() -> None:
    figure = draw_solution(*chains(3, 5))
    panel = figure.axes[1]
    names = [text for text in panel.texts if text.get_text().startswith("graph")]
    heights = [round(text.get_position()[1], 3) for text in names]
    assert len(set(heights)) == 3
    assert_legible(figure)


def test_edges_without_room_for_it_do_not_tell_their_data() -> None:
    data = 10**11 + 7
    names = ["the first of all", "the second", *("abcdefghijkl")]
    tasks = tuple(Task(name, work=1) for name in names)
    edges = tuple(Edge(at, at + 1, data) for at in range(13))
    crowded = replace(DIAMOND, graphs=(Graph("g", tasks, edges),))
    plan = Solution(tuple(Placement(0, at, 0, at) for at in range(14)))
    figure = draw_solution(crowded, plan)
    assert "100G" not in [text.get_text() for text in figure.axes[1].texts]
    assert_legible(figure)
    every = tuple(Edge(one, other, 5) for one in range(5) for other in range(5, 13))
    dense = replace(DIAMOND, graphs=(Graph("g", tasks, every),))
    figure = draw_solution(dense, plan)
    assert "5" not in [text.get_text() for text in figure.axes[1].texts]
    assert "the graph" in texts(figure)


def test_the_heading_says_on_how_many_edges_the_data_is_written() -> None:
    tasks = tuple(Task(name, work=1) for name in "abcdefghi")
    edges = tuple(Edge(one, other, 123456) for one in range(4) for other in range(4, 9))
    plan = Solution(tuple(Placement(0, at, 0, at) for at in range(9)))
    figure = draw_solution(replace(DIAMOND, graphs=(Graph("g", tasks, edges),)), plan)
    placed = [text.get_text() for text in figure.axes[1].texts].count("123k")
    assert 0 < placed < 20
    assert f"the graph with the data on {placed} of 20 edges" in texts(figure)


def test_names_are_left_out_where_tasks_are_many() -> None:
    instance, plan = chains(1, MAX_NAMED + 1)
    assert "t1" not in texts(draw_solution(instance, plan))


def test_late_and_early_deadlines_of_a_graph_are_marked() -> None:
    (graph,) = DIAMOND.graphs
    for due, mark, word in ((8, "deadline 8", "late"), (100, "deadline 100 →", "in time")):
        moved = replace(DIAMOND, graphs=(replace(graph, absolute_deadline=due),))
        figure = draw_solution(moved, PLAN)
        assert mark in texts(figure)
        assert any(word in text for text in texts(figure))


def test_data_that_stays_on_a_machine_is_drawn_if_it_is_sent() -> None:
    counted = replace(DIAMOND, network=Network(same_machine="counted"))
    plan = Solution((*PLAN.placements[:1], Placement(0, 1, 0, 3), Placement(0, 2, 0, 6)))
    figure = draw_solution(counted, plan)
    assert len(arrows(figure, "critical-transfer")) + len(arrows(figure, "transfer")) == 2


def test_a_task_where_it_cannot_run_is_left_out() -> None:
    tasks = Task("a", costs=(1, None)), Task("b", costs=(None, 1))
    picky = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    with pytest.raises(NotApplicableError, match="it places no task"):
        draw_solution(picky, Solution((Placement(0, 0, 1, 0),)))


def test_the_rows_of_many_machines_are_thin() -> None:
    count = 120
    machines = tuple(Machine(f"m{index}", lan=index % 40) for index in range(count))
    network = Network(lans=tuple(Lan(f"l{index}") for index in range(40)))
    tasks = tuple(Task(f"t{index}", work=1) for index in range(count))
    graph = Graph("g", tasks, tuple(Edge(0, index, 1) for index in range(1, count)))
    instance = Instance(machines, (graph,), network=network)
    figure = plot(instance, dlopt.solve(instance, "heft"))
    assert row_labels(figure)[0] == "LAN l0: m0"
    assert figure.get_size_inches()[1] < 8
    assert_legible(figure)


def test_a_result_is_plotted_to_a_file(tmp_path: Path) -> None:
    assert "dag" in PROBLEMS
    result = Result(Status.FEASIBLE, PLAN, objective="makespan", method="heft")
    figure = plot(DIAMOND, result, tmp_path / "p.svg", title="mine")
    assert "mine" in texts(figure)
    plot(DIAMOND, result, tmp_path / "q.svg", title="mine")
    assert (tmp_path / "q.svg").read_bytes() == (tmp_path / "p.svg").read_bytes()


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="no solution of dag"):
        draw_solution(DIAMOND, OtherSolution((), ()))


def test_long_edges_pass_between_tasks() -> None:
    found = layered(5, [(0, 1), (1, 2), (2, 3), (0, 3), (4, 3)])
    assert [column for column, _ in found.places] == [0, 1, 2, 3, 2]
    long = found.routes[3]
    assert [column for column, _ in long] == [0, 1, 2, 3]
    for column, height in long[1:-1]:
        near = [y for place, y in found.places if place == column]
        assert min(abs(height - y) for y in near) > 0.5
    assert min(y for _, y in found.places) >= 0
    assert found.rows >= 2


def test_columns_are_ordered_so_that_few_edges_cross() -> None:
    found = layered(6, [(0, 5), (1, 4), (2, 3)])
    heights = [y for _, y in found.places]
    assert [heights[one] for one in range(3)] == [heights[6 - 1 - one] for one in range(3)]


def test_names_of_a_workflow_can_be_told_apart() -> None:
    names = [f"FLOW.RNA.{part}" for part in ("ALIGN_1", "SORT_ALL_THE_READS_2", "MERGE_3")]
    graph = Graph("g", [Task(name, work=5) for name in names], [Edge(0, 1, 1)])
    instance = Instance((Machine("m"),), (graph,))
    plan = Solution(tuple(Placement(0, task, 0, 5 * task) for task in range(3)))
    shown = texts(plot(instance, plan))
    for name in ("ALIGN_1", "SORT_ALL_THE_READS_2", "MERGE_3"):  # the bars have room
        assert name in shown
    assert not [text for text in shown if text.startswith("FLOW")]
