"""What became of a stream, drawn with what was planned."""

from __future__ import annotations

from dlopt.plotting import plot_executed
from dlopt.problems.admission import (
    BrokenPromise,
    Chunk,
    Decision,
    Executed,
    Failure,
    Instance,
    Scenario,
    Solution,
    Task,
    Trace,
    occupancy,
)
from dlopt.problems.cluster import Cluster
from tests.plotting.figures import extents, kinds, legend, texts

STREAM = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 9), Task("b", 0, 2, 9)), units="s")
DECISIONS = (Decision("a", True, 0), Decision("b", True, 0))
PLANNED = Solution(DECISIONS, (Chunk("a", 0, 2, 0, 2, 2, 4), Chunk("b", 1, 2, 2, 4, 4, 6)))
TRACE = Trace(
    DECISIONS,
    (Executed("a", 0, 2, 0, 2, 2, 5), Executed("b", 1, 2, 2, 4, 4, 6, lost=5)),
    broken=(BrokenPromise("b", 5, "failure"),),
)
FAILING = Scenario(failures=(Failure(1, 5, 7), Failure(0, 100)))


def test_the_plan_is_outlined_over_what_happened() -> None:
    figure = plot_executed(STREAM, PLANNED, TRACE, scenario=FAILING, note="edf-iit-2")
    assert extents(figure, "planned") == [(0, 2), (0, 4), (2, 4), (2, 6)]
    assert extents(figure, "computation") == [(2, 5), (4, 5)]
    assert extents(figure, "lost") == [(2, 5)]
    assert extents(figure, "down") == [(5, 7)]
    assert {"planned", "lost or given up", "node down"} <= set(legend(figure))
    assert "1 promise broken" in texts(figure)[1] and texts(figure)[1].endswith("edf-iit-2")
    assert figure.axes[0].get_xlabel() == "time (s)"


def test_the_axis_has_room_for_a_plan_that_was_longer() -> None:
    short = Trace(DECISIONS, TRACE.chunks[:1])
    late = Solution(DECISIONS, (*PLANNED.chunks, Chunk("b", 1, 1, 20, 21, 21, 30)))
    figure = plot_executed(STREAM, late, short)
    assert figure.axes[0].get_xlim()[1] > 30
    assert "lost" not in kinds(figure) and "down" not in kinds(figure)


def test_nodes_that_do_not_exist_are_omitted() -> None:
    beyond = Solution(DECISIONS, (*PLANNED.chunks, Chunk("b", 7, 1, 4, 5, 5, 6)))
    failing = Scenario(failures=(*FAILING.failures, Failure(7, 1, 2)))
    figure = plot_executed(STREAM, beyond, TRACE, scenario=failing)
    assert extents(figure, "planned") == [(0, 2), (0, 4), (2, 4), (2, 6), (4, 5)]
    assert extents(figure, "down") == [(5, 7)]


def test_a_lost_chunk_occupies_its_node_until_then() -> None:
    assert occupancy(TRACE).chunks[1] == Chunk("b", 1, 2, 2, 4, 4, 5)
