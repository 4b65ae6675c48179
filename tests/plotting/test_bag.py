"""Gantt charts of independent tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.plotting import PROBLEMS, draw_solution, plot
from dlopt.plotting.bag import MAX_NAMED, MAX_TASK_ROWS
from dlopt.problems.admission import Solution as OtherSolution
from dlopt.problems.bag import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    violations,
)
from dlopt.result import Result, Status, Violation
from tests.instance_files import ROOT
from tests.plotting.figures import boxes, bundle, extents, kinds, legend, lines, row_labels, texts
from tests.plotting.legibility import assert_legible

GRID = Instance(
    (
        Task("a", 2, input=2, priority="critical", absolute_deadline=9),
        Task("b", 4, release=1, absolute_deadline=6),
        Task("c", 6, priority="soft", absolute_deadline=8),
        Task("d", 3, site=1, absolute_deadline=30),
        Task("e", 3, site=1, priority="soft", absolute_deadline=5),
    ),
    (Machine("far", site=1, ready=1), Machine("near", power=2), Machine("next")),
    (Site("home"), Site("away")),
    (Link((0, 1), bandwidth=1, latency=1),),
    name="two sites",
)
PLAN = Solution(
    (
        Placement("a", 0, 4, 6),
        Placement("b", 1, 2, 4),
        Placement("c", 2, 4, 10, late=True),
        Placement("d", 0, 1, 4),
    )
)


def threads(figure: Figure, gid: str) -> list[tuple[float, float]]:
    (found,) = (c for c in figure.axes[0].collections if c.get_gid() == gid)
    return sorted(tuple(np.array(segment)[:, 0].tolist()) for segment in found.get_segments())


def many(count: int, due: int | None = None, machines: int = 1) -> tuple[Instance, Solution]:
    """Return tasks, one after another; every third is dropped if it may be."""
    tasks = tuple(Task(f"t{index}", 1, absolute_deadline=due) for index in range(count))
    placed = tuple(
        Placement(f"t{index}", index % machines, index, index + 1)
        for index in range(count)
        if due is None or index % 3
    )
    names = ["m"] if machines == 1 else [f"m{index}" for index in range(machines)]
    return Instance(tasks, tuple(map(Machine, names))), Solution(placed)


def test_tasks_stand_on_machines_and_in_rows_of_their_own() -> None:
    assert violations(GRID, PLAN) == ()
    figure = draw_solution(GRID, PLAN)
    assert row_labels(figure) == [
        "task a",
        "task b",
        "task c",
        "task d",
        "task e",
        "site home: near",
        "site home: next",
        "site away: far",
    ]
    assert extents(figure, "critical") == [(4, 6), (4, 6)]
    assert extents(figure, "firm") == [(1, 4), (1, 4), (2, 4), (2, 4)]
    assert extents(figure, "soft") == [(4, 10), (4, 10)]
    assert extents(figure, "late") == extents(figure, "soft")
    # The deadline of d lies beyond the axis.
    assert extents(figure, "window") == [(0, 8), (0, 9), (0, 10.25), (1, 6)]
    assert extents(figure, "dropped") == [(0, 5)]
    assert extents(figure, "busy") == [(0, 1)]
    assert threads(figure, "input") == [(0, 3), (0, 3)]
    assert threads(figure, "deadline") == [(5, 5), (6, 6), (8, 8), (9, 9)]
    expected = "3 of 5 in time · 1 of 1 critical · 2 of 2 firm · 0 of 2 soft · 1 late · 1 dropped"
    assert expected in texts(figure)
    assert {"a", "b", "c", "d", "near", "dropped"} <= set(texts(figure))
    assert legend(figure) == [
        "from release to deadline",
        "dropped",
        "not yet ready",
        "critical",
        "firm",
        "soft",
        "late",
        "input transfer",
        "deadline",
    ]
    assert_legible(figure)


def test_sites_with_room_are_named_beside_their_machines() -> None:
    machines = tuple(Machine(f"m{index}", site=index % 2) for index in range(8))
    figure = draw_solution(replace(GRID, machines=machines), replace(PLAN, placements=()))
    assert row_labels(figure)[5:] == ["m0", "m2", "m4", "m6", "m1", "m3", "m5", "m7"]
    assert {"site home", "site away"} <= set(texts(figure))
    assert "critical" not in kinds(figure)
    assert_legible(figure)


@pytest.mark.parametrize("name", ["figure-5", "small-grid", "releases", "small-etc", "braun-24"])
def test_shipped_instances_are_legible(name: str) -> None:
    instance = dlopt.read(ROOT / "instances" / "bag" / f"{name}.json")
    method = "gds" if instance.deadlines else "min-min" if name[0] != "r" else "mct"
    figure = plot(instance, dlopt.solve(instance, method))
    assert_legible(figure)
    assert figure.axes[0].get_xlabel() == "time"


def test_without_deadlines_the_makespan_is_marked() -> None:
    instance = Instance(etc=((2, 3), (4, None), (1, 1)), units="hours")
    plan = Solution((Placement("t0", 1, 0, 3), Placement("t1", 0, 0, 4), Placement("t2", 1, 3, 4)))
    figure = draw_solution(instance, plan)
    assert row_labels(figure) == ["machine m0", "machine m1"]
    assert lines(figure) == {"makespan 4": 4}
    assert "3 tasks · flowtime 11" in texts(figure)
    assert legend(figure) == ["task"]
    assert figure.axes[0].get_xlabel() == "time (hours)"
    part = draw_solution(instance, Solution(plan.placements[:2]))
    assert "2 of 3 tasks · flowtime 7" in texts(part)


def test_releases_without_deadlines_have_rows_to_the_end() -> None:
    tasks = Task("a", 2), Task("b", 2, release=3)
    instance = Instance(tasks, (Machine("m"), Machine("n")))
    plan = Solution((Placement("a", 0, 0, 2), Placement("b", 1, 3, 5)))
    figure = draw_solution(instance, plan)
    assert extents(figure, "window") == [(0, 5.125), (3, 5.125)]
    assert "from release on" in legend(figure)
    assert_legible(figure)


def test_many_tasks_have_no_rows_and_the_dropped_are_listed() -> None:
    assert len(row_labels(draw_solution(*many(MAX_TASK_ROWS, due=99)))) == MAX_TASK_ROWS + 1
    instance, plan = many(MAX_TASK_ROWS + 1, due=99)
    figure = draw_solution(instance, plan)
    assert row_labels(figure) == ["machine m", "dropped"]
    assert "9: t0, t3, t6, t9, t12, t15, t18, t21, t24" in texts(figure)
    late = replace(plan.placements[0], late=True)
    figure = draw_solution(instance, Solution((late, *plan.placements[1:])))
    assert extents(figure, "late") == [(1, 2)]
    figure = draw_solution(*many(MAX_NAMED * 2, due=999, machines=4))
    (listed,) = (text for text in texts(figure) if text.startswith("134: t0, t3"))
    named = listed.partition(" and ")[0].count(",") + 1
    assert listed.endswith(f" and {134 - named} more") and named > 10
    assert "t1" not in texts(figure)
    assert_legible(figure)
    assert row_labels(draw_solution(*many(MAX_TASK_ROWS + 1))) == ["machine m"]


def test_what_is_broken_is_outlined() -> None:
    wrong = Solution(
        (
            *PLAN.placements[:3],
            Placement("d", 0, 5, 8),
            Placement("e", 1, 0, 1),
            Placement("z", 0, 20, 21),
            Placement("b", 9, 20, 21),
        )
    )
    found = violations(GRID, wrong)
    assert {v.kind for v in found} >= {"machine-overlap", "starts-before-input", "unknown-task"}
    figure = plot(GRID, Result(Status.UNSOUND, wrong, method="m", violations=found))
    # a and d overlap; e starts before its input has come; b is placed twice.
    assert extents(figure, "violation") == [(0, 1), (2, 4), (5, 6)]
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert "b" in shown
    # the names stand where only one of the two is
    where = {text.get_text(): text.get_position()[0] for text in figure.axes[0].texts}
    assert where["a"] == 4.5 and where["d"] == 7
    assert any(", ...) · m, unsound" in text for text in texts(figure))
    nowhere = (Violation("task-missing", "task e"), Violation("machine-overlap", "machine x", 0, 1))
    assert "violation" not in kinds(draw_solution(GRID, PLAN, violations=nowhere))


def test_a_task_that_runs_twice_is_drawn_twice() -> None:
    twice = Solution((*PLAN.placements, Placement("b", 0, 6, 10)))
    figure = draw_solution(GRID, twice)
    assert extents(figure, "firm").count((6, 10)) == 2
    machines = [text.get_text() for text in figure.axes[0].texts]
    assert machines.count("b") == 2


def test_a_plan_without_a_task_shows_what_is_dropped() -> None:
    tasks = Task("a", 2, absolute_deadline=4), Task("b", 1, absolute_deadline=8, priority="soft")
    figure = draw_solution(Instance(tasks, (Machine("m"),)), Solution(()))
    assert extents(figure, "dropped") == [(0, 4), (0, 8)]
    assert "0 of 2 in time · 0 of 1 firm · 0 of 1 soft · 2 dropped" in texts(figure)
    assert_legible(figure)


def test_a_large_matrix_is_drawn_without_names(tmp_path: Path) -> None:
    instance, plan = many(512, machines=16)
    figure = plot(instance, plan, tmp_path / "p.svg")
    assert len(boxes(figure, "task")) == 512
    assert len(figure.axes[0].texts) == 1  # the makespan
    assert (tmp_path / "p.svg").stat().st_size < 200_000


def test_the_rows_of_many_machines_are_thin() -> None:
    sites = tuple(Site(f"s{index}") for index in range(17))
    ways = tuple(Link((0, index), 1) for index in range(1, 17))
    machines = tuple(Machine(f"m{index}", site=index % 17) for index in range(600))
    placed = tuple(Placement("a", index, 0, 2) for index in range(0, 600, 7))
    instance = Instance((Task("a", 2, input=1, absolute_deadline=3),), machines, sites, ways)
    figure = draw_solution(instance, Solution(placed))
    assert row_labels(figure)[0] == "task a"
    assert all(label.startswith("site s") for label in row_labels(figure)[1:])
    assert figure.get_size_inches()[1] < 9
    assert bundle(figure, "task").get_paths()
    assert_legible(figure)


def test_a_result_is_plotted_to_a_file(tmp_path: Path) -> None:
    assert "bag" in PROBLEMS
    result = Result(Status.FEASIBLE, PLAN, objective="accepted", method="gds")
    figure = plot(GRID, result, tmp_path / "p.svg", title="mine")
    assert "mine" in texts(figure)
    plot(GRID, result, tmp_path / "q.svg", title="mine")
    assert (tmp_path / "q.svg").read_bytes() == (tmp_path / "p.svg").read_bytes()


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="no solution of bag"):
        draw_solution(GRID, OtherSolution((), ()))
