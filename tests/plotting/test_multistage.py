"""Pictures of tasks around reservations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from dlopt.errors import NotApplicableError
from dlopt.models.multistage.single_task_capacity import capacity_by_deadline
from dlopt.plotting import Page, draw_solution, plot
from dlopt.plotting.multistage import HEADING, MOST_CURVES, MOST_STAGES
from dlopt.problems.admission import Solution as OtherSolution
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Decision,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    violations,
)
from tests.plotting.figures import boxes, extents, legend, lines, row_labels, texts
from tests.problems.test_multistage import INSTANCE, PLAN, WANTED

TWO = replace(
    INSTANCE, reservations=(WANTED, Reservation("s", 1, 6, 9, nodes=2)), name="two windows"
)
BOTH = replace(PLAN, grants=(*PLAN.grants, Grant("s", False, 1)))


def test_io_is_told_from_the_rest_and_ends_a_stage() -> None:
    figure = draw_solution(TWO, BOTH)
    assert row_labels(figure) == [
        *("task a", "task b", "reservation r", "reservation s"),
        *("channel", "node 0", "node 1"),
    ]
    # In a row of its own, on its node, and the I/O on the channel.
    assert extents(figure, "reserved-io") == [(4, 5)] * 3
    assert extents(figure, "reserved") == [(5, 8)] * 2
    assert extents(figure, "refused") == [(6, 9)]
    assert "2 nodes" in texts(figure)
    assert "1 of 2 reservations" in " ".join(texts(figure))
    assert {"reserved", "reserved, with the channel", "rejected"} <= set(legend(figure))
    assert len(lines(figure)) == 1
    (handle,) = (
        line for line in figure.legends[0].get_lines() if not line.get_label().startswith("task")
    )
    assert handle.get_linestyle() == "--" and legend(figure).count("end of a stage") == 1


def test_a_reservation_without_io_holds_nodes_only() -> None:
    quiet = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 4, 8, nodes=(0,)),))
    figure = draw_solution(quiet, Solution((), (Grant("r", True, 0, (0,)),), ()))
    assert extents(figure, "reserved") == [(4, 8)] * 2
    assert "0 of 0 tasks accepted" in " ".join(texts(figure))


def test_what_is_broken_is_outlined() -> None:
    wrong = replace(PLAN, grants=(replace(PLAN.grants[0], nodes=(0,)),))
    figure = draw_solution(INSTANCE, wrong, violations=violations(INSTANCE, wrong))
    assert extents(figure, "violation") == [(5, 8)]


def test_many_reservations_have_no_rows_and_no_lines() -> None:
    many = tuple(Reservation(f"r{i}", 0, 2 * i, 2 * i + 1, io_ratio=1) for i in range(40))
    grants = tuple(Grant(one.id, True, 0, (0,)) for one in many)
    instance = Instance(Cluster(1, 1, 1), (), many)
    figure = draw_solution(instance, Solution((), grants, ()))
    assert row_labels(figure) == ["channel", "node 0"]
    assert len(extents(figure, "reserved-io")) == 80
    assert not lines(figure)
    assert len(many) > MOST_STAGES


def test_a_node_that_does_not_exist_has_no_row() -> None:
    strange = replace(PLAN, grants=(replace(PLAN.grants[0], nodes=(7,)),))
    assert extents(draw_solution(INSTANCE, strange), "reserved-io") == [(4, 5)] * 2


def curves(figure: Figure) -> dict[str, list[tuple[float, float]]]:
    """Return the corners of each curve below the chart, then what is wanted."""
    found = {}
    for line in figure.axes[1].lines if len(figure.axes) > 1 else ():
        if line.get_gid():
            xs, ys = (np.asarray(data, dtype=float) for data in line.get_data())
            kept = zip(xs[~np.isnan(xs)].tolist(), ys[~np.isnan(xs)].tolist(), strict=True)
            found[str(line.get_gid())] = list(kept)
    return found


def test_below_stands_what_each_task_could_have_done() -> None:
    figure = draw_solution(TWO, BOTH)
    for task, wanted in zip(TWO.tasks, (5, 9), strict=True):
        corners = capacity_by_deadline(TWO, task.id, BOTH.grants)
        points = [*corners, (task.absolute_deadline, wanted)]
        assert curves(figure)[f"capacity-{task.id}"] == points
    assert legend(figure)[-2:] == [
        "task a: up to 15/2 by 10, load 5",
        "task b: up to 13/2 by 11, load 9",
    ]
    assert HEADING in texts(figure)
    lines_below = {line.get_gid(): line for line in figure.axes[1].lines}
    assert lines_below["capacity-a"].get_markerfacecolor() == lines_below["capacity-a"].get_color()
    assert lines_below["capacity-b"].get_markerfacecolor() == "#FFFFFF"  # it is rejected


def test_chart_and_curves_share_one_time_axis() -> None:
    chart, below = draw_solution(TWO, BOTH).axes
    assert chart.get_xlim() == below.get_xlim()
    assert (chart.get_xlabel(), below.get_xlabel()) == ("", "time")
    (high, low) = (axes.get_position() for axes in (chart, below))
    assert (high.x0, high.x1) == (low.x0, low.x1) and high.y0 > low.y1 > low.y0 > 0
    # The end of the stage goes through both, and in the chart under what it would cross out.
    (end,) = [line for line in below.lines if not line.get_gid()]
    (stage,) = [line for line in chart.lines if line.get_label() == "end of a stage"]
    assert np.asarray(end.get_xdata())[0] == np.asarray(stage.get_xdata())[0] == 5
    assert stage.get_zorder() < chart.collections[0].get_zorder()


def test_no_texts_overlap() -> None:
    figure = draw_solution(
        TWO, replace(BOTH), page=Page("two windows"), note="multi-stage, feasible"
    )
    figure.draw_without_rendering()
    shown = [*figure.texts, *figure.legends[0].get_texts(), figure.axes[1].xaxis.label]
    for axes in figure.axes:
        shown += [*axes.texts, *axes.get_yticklabels()]
    last = figure.axes[1].get_xlim()[1]
    shown += [tick for tick in figure.axes[1].get_xticklabels() if tick.get_position()[0] <= last]
    places = [text.get_window_extent() for text in shown if text.get_text()]
    for index, place in enumerate(places):
        assert place.x0 >= 0 and place.x1 <= figure.bbox.x1 and place.y0 >= 0
        assert not any(place.overlaps(other) for other in places[:index])


def many_tasks(count: int, accepted: int) -> tuple[Instance, Solution]:
    tasks = tuple(Task(f"t{i}", 0, 1, 9) for i in range(count))
    said = tuple(Decision(task.id, i < accepted, 0) for i, task in enumerate(tasks))
    return Instance(Cluster(1, 1, 1), tasks), Solution(said, (), ())


def test_of_many_tasks_the_first_that_are_rejected_have_curves() -> None:
    few = draw_solution(*many_tasks(MOST_CURVES, 2))
    assert len(curves(few)) == MOST_CURVES
    assert list(curves(draw_solution(*many_tasks(10, 8)))) == ["capacity-t8", "capacity-t9"]
    assert len(curves(draw_solution(*many_tasks(20, 2)))) == MOST_CURVES
    assert len(draw_solution(*many_tasks(10, 10)).axes) == 1
    assert len(draw_solution(*many_tasks(40, 2)).axes) == 1  # without rows, no curves


def test_reservations_that_cannot_be_had_leave_no_capacity(tmp_path: Path) -> None:
    """A plan that names a node twice, or one that is not there, is drawn as it is."""
    for nodes in ((1, 1), (7,)):
        figure = draw_solution(
            INSTANCE, replace(PLAN, grants=(replace(PLAN.grants[0], nodes=nodes),))
        )
        assert len(figure.axes) == 1
    plot(INSTANCE, PLAN, tmp_path / "plan.svg")
    assert "capacity-a" in (tmp_path / "plan.svg").read_text()


def test_a_reservation_under_a_chunk_has_no_name_there() -> None:
    """Two names on one place could be read by nobody."""
    wrong = replace(PLAN, grants=(replace(PLAN.grants[0], nodes=(0,)),))
    figure = draw_solution(INSTANCE, wrong)
    assert len(boxes(figure, "reserved-io")) == 3
    # From 4 to 5 the node is not used, from 5 to 8 it is.
    assert texts(figure).count("r") == texts(draw_solution(INSTANCE, PLAN)).count("r") - 1


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="no solution of multistage"):
        draw_solution(INSTANCE, OtherSolution((), ()))
