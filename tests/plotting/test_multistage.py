"""Pictures of tasks around reservations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlopt.errors import NotApplicableError
from dlopt.plotting.multistage import MOST_STAGES, draw
from dlopt.problems.admission import Solution as OtherSolution
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Grant, Instance, Reservation, Solution, violations
from tests.plotting.figures import extents, legend, lines, row_labels, texts
from tests.problems.test_multistage import INSTANCE, PLAN, WANTED

TWO = replace(
    INSTANCE, reservations=(WANTED, Reservation("s", 1, 6, 9, nodes=2)), name="two windows"
)
BOTH = replace(PLAN, grants=(*PLAN.grants, Grant("s", False, 1)))


def test_io_is_told_from_the_rest_and_ends_a_stage() -> None:
    figure = draw(TWO, BOTH)
    assert row_labels(figure) == ["task a", "task b", "r", "s", "channel", "node 0", "node 1"]
    # In a row of its own, on its node, and the I/O on the channel.
    assert extents(figure, "reserved-io") == [(4, 5)] * 3
    assert extents(figure, "reserved") == [(5, 8)] * 2
    assert extents(figure, "refused") == [(6, 9)]
    assert "2 nodes" in texts(figure)
    assert "1 of 2 reservations" in " ".join(texts(figure))
    assert {"reserved", "reserved, with the channel", "rejected"} <= set(legend(figure))
    assert len(lines(figure)) == 1


def test_a_reservation_without_io_holds_nodes_only() -> None:
    quiet = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 4, 8, nodes=(0,)),))
    figure = draw(quiet, Solution((), (Grant("r", True, 0, (0,)),), ()))
    assert extents(figure, "reserved") == [(4, 8)] * 2
    assert "0 of 0 tasks accepted" in " ".join(texts(figure))


def test_what_is_broken_is_outlined() -> None:
    wrong = replace(PLAN, grants=(replace(PLAN.grants[0], nodes=(0,)),))
    figure = draw(INSTANCE, wrong, violations=violations(INSTANCE, wrong))
    assert extents(figure, "violation") == [(5, 8)]


def test_many_reservations_have_no_rows_and_no_lines() -> None:
    many = tuple(Reservation(f"r{i}", 0, 2 * i, 2 * i + 1, io_ratio=1) for i in range(40))
    grants = tuple(Grant(one.id, True, 0, (0,)) for one in many)
    instance = Instance(Cluster(1, 1, 1), (), many)
    figure = draw(instance, Solution((), grants, ()))
    assert row_labels(figure) == ["channel", "node 0"]
    assert len(extents(figure, "reserved-io")) == 80
    assert not lines(figure)
    assert len(many) > MOST_STAGES


def test_a_node_that_does_not_exist_has_no_row() -> None:
    strange = replace(PLAN, grants=(replace(PLAN.grants[0], nodes=(7,)),))
    assert extents(draw(INSTANCE, strange), "reserved-io") == [(4, 5)] * 2


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="no plan of multistage"):
        draw(INSTANCE, OtherSolution((), ()))
