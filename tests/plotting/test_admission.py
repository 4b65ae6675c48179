"""Pictures of streams: windows, channel and nodes, also of plans that send two chunks at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.methods import stream
from dlopt.plotting import plot
from dlopt.plotting.admission import MAX_TASK_ROWS, MOST_LANES, assign_lanes
from dlopt.problems.admission import Chunk, Decision, Instance, Solution, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Solution as OtherSolution
from dlopt.result import Result, Status
from tests.plotting.figures import (
    boxes,
    bundle,
    extents,
    kinds,
    legend,
    lines,
    row_labels,
    texts,
)

PAIR = Cluster(2, tau=1, chi=1)
TWO = Instance(PAIR, (Task("a", 0, 3, 9), Task("b", 1, 3, 2)), name="two", units="s")


def at_once(count: int) -> tuple[Instance, Solution]:
    """Return a plan that sends so many chunks at one instant."""
    tasks = tuple(Task(f"t{i}", 0, 1, 9) for i in range(count))
    chunks = tuple(Chunk(task.id, i, 1, 0, 1, 1, 2) for i, task in enumerate(tasks))
    decisions = tuple(Decision(task.id, True, 0) for task in tasks)
    return Instance(Cluster(count, 1, 1), tasks), Solution(decisions, chunks)


def test_bars_are_windows_and_times_of_chunks() -> None:
    result = stream("edf-opr-an", TWO)
    figure = plot(TWO, result)
    assert row_labels(figure) == ["task a", "task b", "channel", "node 0", "node 1"]
    assert extents(figure, "window") == [(0, 9)] and extents(figure, "rejected") == [(1, 3)]
    # On the channel and on its node each: loads 2 and 1.
    assert extents(figure, "transmission") == [(0, 2), (0, 2), (2, 3), (2, 3)]
    assert extents(figure, "computation") == [(2, 4), (3, 4)]
    assert "overlap" not in kinds(figure) and "violation" not in kinds(figure)
    assert figure.axes[0].get_xlabel() == "time (s)"
    assert "1 of 2 tasks accepted" in figure.texts[1].get_text()


def test_a_busy_start_is_hatched_up_to_now_and_beyond() -> None:
    state = Instance(PAIR, (Task("a", 0, 3, 19),), now=4, ready_times=(0, 8), channel_ready=5)
    figure = plot(state, stream("edf-opr-an", state))
    assert extents(figure, "busy") == [(0, 4), (0, 5), (0, 8)]
    assert lines(figure)["now 4"] == 4


def test_with_many_tasks_windows_have_no_rows() -> None:
    tasks = tuple(Task(str(i), i, 1, 90) for i in range(MAX_TASK_ROWS + 1))
    many = Instance(PAIR, tasks)
    assert row_labels(plot(many, stream("mcdf", many)))[0] == "channel"


def test_what_is_sent_at_once_has_rows_of_its_own() -> None:
    both = Instance(PAIR, (TWO.tasks[0], Task("b", 0, 3, 9)))
    result = stream("edf-opr-mn:literal", both)
    assert result.solution is not None
    found = violations(both, result.solution)
    figure = plot(both, Result(Status.UNSOUND, result.solution, violations=found))
    assert row_labels(figure)[2:] == ["channel", "at once", "node 0", "node 1"]
    assert {violation.kind for violation in found} == {"channel-overlap"}
    assert extents(figure, "overlap") == [(0, 3)] and extents(figure, "violation") == [(0, 3)]
    assert bundle(figure, "overlap").get_hatch()
    assert "overlapping transmission" in legend(figure)
    ((_, _, low, high),) = boxes(figure, "overlap")
    for _, _, other_low, other_high in boxes(figure, "transmission"):
        assert high <= other_low or other_high <= low


def test_no_names_are_written_over_one_another() -> None:
    for count in (2, MOST_LANES, MOST_LANES + 3):
        figure = plot(*at_once(count))
        assert row_labels(figure).count("at once") == min(count, MOST_LANES) - 1
        placed = [text.get_position() for text in figure.axes[0].texts]
        assert len(set(placed)) == len(placed)
        # One name on the channel and one on its node each, as far as there are rows.
        named = [text for text in texts(figure) if text.startswith("t")]
        assert len(named) == min(count, MOST_LANES) + count


def test_violations_that_overlap_are_one_outline() -> None:
    instance, plan = at_once(4)
    late = Chunk("t0", 0, 1, 5, 6, 6, 7)
    plan = Solution(plan.decisions, (*plan.chunks, late, Chunk("t1", 1, 1, 5.5, 6.5, 6.5, 7.5)))
    found = [v for v in violations(instance, plan) if v.kind == "channel-overlap"]
    assert len(found) > 2
    figure = plot(instance, Result(Status.UNSOUND, plan, violations=tuple(found)))
    assert extents(figure, "violation") == [(0, 1), (5.5, 6)]
    assert f"{len(found)} violations" in figure.texts[1].get_text()


def test_what_ends_as_the_next_begins_overlaps_only_by_rounding() -> None:
    assert assign_lanes([(0, 1.0000001), (1, 2)], 1e-6, 9) == [0, 0]
    assert assign_lanes([(0, 1.0000001), (1, 2)], 0.0, 9) == [0, 1]
    assert assign_lanes([(0, 9)] * 4, 0.0, 2) == [0, 1, 1, 1]
    assert assign_lanes([], 0.0, 2) == []


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="a Solution is no solution of admission"):
        plot(TWO, OtherSolution(()))


def test_weights_are_written_where_they_differ() -> None:
    weighted = replace(TWO, tasks=(TWO.tasks[0], replace(TWO.tasks[1], weight=Fraction(5, 2))))
    figure = plot(weighted, stream("edf-opr-an", weighted))
    assert {"load 3, weight 1", "load 3, weight 5/2"} < set(texts(figure))
    assert "load 3 · weight 1 · utilization" in texts(figure)[1]
    best = dlopt.solve(weighted, objective="accepted-weight")
    assert texts(plot(weighted, best))[1] == (
        "1 of 2 tasks accepted · load 3 · utilization 33.3% · accepted weight 1 · exact, optimal"
    )
    plain = plot(TWO, stream("edf-opr-an", TWO))
    assert not any("weight" in text for text in texts(plain))


def test_a_plan_without_chunks_is_drawn() -> None:
    figure = plot(TWO, Solution((Decision("a", False, 0), Decision("b", False, 1)), ()))
    assert extents(figure, "rejected") == [(0, 9), (1, 3)] and "0 of 2" in texts(figure)[1]


def test_what_is_missing_of_a_task_is_written_and_outlined() -> None:
    decisions = tuple(Decision(task.id, True, task.arrival) for task in TWO.tasks)
    plan = Solution(decisions, (Chunk("a", 0, 4, 0, 4, 4, 8), Chunk("b", 1, 2, 4, 6, 6, 8)))
    wrong = tuple(v for v in violations(TWO, plan) if v.kind == "load-not-conserved")
    figure = plot(TWO, Result(Status.UNSOUND, plan, violations=wrong))
    assert {"load 3, 1 missing", "load 3, 1 too much"} <= set(texts(figure))
    assert sorted(extents(figure, "violation")) == [(0, 9), (1, 3)]
