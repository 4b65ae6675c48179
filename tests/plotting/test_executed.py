"""What became of a stream, drawn with what was planned."""

from __future__ import annotations

from dlopt.plotting import plot_executed
from dlopt.problems import multistage
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


def test_reservations_are_drawn_as_they_were_executed() -> None:
    """The first is lost at 6, the second is moved and ends late, the third is broken."""
    wanted = tuple(
        multistage.Reservation(name, 0, start, end, io_end=sent)
        for name, start, sent, end in (("r", 4, 5, 8), ("s", 9, 9, 12), ("t", 13, 13, 15))
    )
    stream = multistage.Instance(STREAM.cluster, STREAM.tasks, wanted)
    grants = tuple(multistage.Grant(one.id, True, 0, (1,)) for one in wanted)
    planned = multistage.Solution(DECISIONS, grants, PLANNED.chunks[:1])
    trace = multistage.Trace(
        DECISIONS,
        TRACE.chunks[:1],
        grants=grants,
        reservations=(
            multistage.ExecutedReservation("r", (1,), 4, 5, 8, lost=6),
            multistage.ExecutedReservation("s", (0,), 9, 9, 14),
        ),
        moves=(multistage.Move("s", (0,), 6, "failure"),),
        broken_reservations=(
            multistage.BrokenReservation("r", 6, "failure"),
            multistage.BrokenReservation("t", 12, "overrun"),
        ),
    )
    failing = multistage.Scenario(failures=(Failure(1, 6, 12),))
    figure = plot_executed(stream, planned, trace, scenario=failing, note="multi-stage")
    # The row of the reservation and its node, for the first also the channel.
    assert extents(figure, "reserved-io") == [(4, 5)] * 3
    assert extents(figure, "reserved") == [(5, 6), (5, 6), (9, 14), (9, 14)]
    assert extents(figure, "refused") == [(13, 15)]
    assert extents(figure, "lost") == [(4, 6), (4, 6), (13, 15)]
    assert extents(figure, "down") == [(6, 12)]
    assert extents(figure, "planned") == [(0, 2), (0, 4), (4, 8), (9, 12), (13, 15)]
    assert "2 promises broken" in texts(figure)[1]
