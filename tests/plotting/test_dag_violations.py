"""Gantt charts of task graphs: violations, and what is drawn over what."""

from __future__ import annotations

from dlopt.plotting import draw_solution, plot
from dlopt.problems.dag import Placement, Solution, violations
from dlopt.result import Result, Status, Violation
from tests.plotting.figures import bundle, extents, kinds, texts
from tests.plotting.legibility import assert_legible
from tests.plotting.test_dag import DIAMOND, LANS, PLAN, SPREAD, arrows


def test_lines_of_transfers_are_under_the_bars_and_their_heads_over_them() -> None:
    figure = draw_solution(DIAMOND, PLAN)
    over = bundle(figure, "task").get_zorder()
    (line,), (head,) = arrows(figure, "transfer"), arrows(figure, "transfer-head")
    assert line.get_zorder() < over < head.get_zorder()
    (critical,) = arrows(figure, "critical-transfer")
    assert over < critical.get_zorder()


def test_what_is_broken_is_outlined() -> None:
    wrong = Solution(
        (
            *PLAN.placements[:2],
            Placement(0, 2, 1, 3),
            Placement(0, 3, 1, 6),
            Placement(0, 3, 0, 12),
            Placement(4, 0, 0, 0),
            Placement(0, 0, 7, 0),
        )
    )
    found = violations(DIAMOND, wrong)
    assert {v.kind for v in found} == {
        "duplicate-task",
        "unknown-task",
        "unknown-machine",
        "precedence",
        "machine-overlap",
    }
    result = Result(Status.UNSOUND, wrong, method="m", violations=found)
    figure = plot(DIAMOND, result)
    # c starts before its data has come; d runs twice, once while c does.
    assert extents(figure, "violation") == [(3, 7), (6, 7), (12, 13)]
    assert {"a", "b", "c", "d"} <= set(texts(figure))
    assert_legible(figure)  # those of c and d, too, which run at the same time
    assert any(", ...) · m, unsound" in text for text in texts(figure))
    # waits and transfers mean little in a schedule that breaks rules
    assert "critical" not in kinds(figure) and arrows(figure, "critical-transfer") == []
    assert not any("critical path" in text for text in texts(figure))
    nowhere = (
        Violation("graph-in-several-lans", "graph 0", amount=2),
        Violation("task-missing", "task 9 of graph 0"),
        Violation("other", "elsewhere"),
    )
    assert "violation" not in kinds(draw_solution(DIAMOND, PLAN, violations=nowhere))
    assert extents(draw_solution(LANS, SPREAD, violations=nowhere), "violation") == [(0, 7)]
