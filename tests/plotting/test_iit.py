"""Pictures of one divisible load: what is drawn is what the plan says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dlopt import solve
from dlopt.heuristics.iit.methods import edf_iit_2, epr, opr
from dlopt.models.iit.methods import exact_plan
from dlopt.plotting import plot
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution, violations
from dlopt.result import Result, Status
from tests.plotting.figures import (
    FOUR,
    SETUPS,
    boxes,
    extents,
    kinds,
    legend,
    lines,
    plan_of,
    random_ready,
    row_labels,
    texts,
)


@pytest.mark.parametrize("nodes", [1, 4, 128, 600])
def test_bars_are_the_times_of_the_chunks(nodes: int) -> None:
    instance = random_ready(nodes, load=nodes * 3.0)
    plan = plan_of(instance)
    figure = plot(instance, plan)
    sent = sorted((c.transmission_start, c.transmission_end) for c in plan.chunks)
    computed = sorted((c.computation_start, c.computation_end) for c in plan.chunks)
    assert extents(figure, "transmission") == sent
    assert extents(figure, "receive") == sent
    assert extents(figure, "computation") == computed


def test_fractions_are_drawn_where_they_are() -> None:
    plan = plan_of(FOUR)
    assert any(isinstance(c.computation_end, Fraction) for c in plan.chunks)
    expected = sorted((float(c.computation_start), float(c.computation_end)) for c in plan.chunks)
    assert extents(plot(FOUR, plan), "computation") == expected


def test_rows_stand_in_the_order_of_ready_times_under_the_channel() -> None:
    figure = plot(SETUPS, plan_of(SETUPS))
    assert row_labels(figure) == ["channel", "node 1", "node 3", "node 2", "node 0"]
    bottom, top = figure.axes[0].get_ylim()
    assert bottom > top == 0


def test_bars_of_a_node_lie_in_its_row_and_rows_do_not_overlap() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    received, computed = boxes(figure, "receive"), boxes(figure, "computation")
    assert np.array_equal(received[:, 2:], computed[:, 2:])
    assert (np.diff(received[:, 2]) > 0).all()
    assert (received[1:, 2] > received[:-1, 3]).all()
    assert boxes(figure, "transmission")[:, 3].max() < received[:, 2].min()


def test_before_its_ready_time_a_node_is_busy() -> None:
    assert extents(plot(FOUR, plan_of(FOUR)), "busy") == [(0, 2), (0, 5), (0, 9)]


def test_waiting_for_the_last_node_is_inserted_idle_time() -> None:
    result = opr(SETUPS, assignment="all")
    assert result.solution is not None
    figure = plot(SETUPS, result)
    starts = {c.node: float(c.transmission_start) for c in result.solution.chunks}
    waits = ((float(SETUPS.ready_times[node]), start) for node, start in starts.items())
    assert extents(figure, "idle") == sorted(wait for wait in waits if wait[1] > wait[0])


def test_a_gap_between_receiving_and_computing_is_idle_too() -> None:
    instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=2)
    plan = Solution((Chunk(0, 1, 0, 1, 3, 4), Chunk(0, 1, 5, 6, 6, 7)))
    assert extents(plot(instance, plan), "idle") == [(1, 3), (4, 5)]


def test_after_its_end_a_node_is_done() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=4)
    figure = plot(instance, epr(instance))
    assert extents(figure, "done") == [(4, 6)]
    assert "done" in legend(figure)


def test_setups_lead_transmissions_and_computations() -> None:
    plan = plan_of(SETUPS)
    figure = plot(SETUPS, plan)
    cm = sorted(
        (float(c.transmission_start), float(c.transmission_start) + 0.5) for c in plan.chunks
    )
    cp = sorted((float(c.computation_start), float(c.computation_start) + 1) for c in plan.chunks)
    assert extents(figure, "setup-transmission") == sorted(cm * 2)
    assert extents(figure, "setup-computation") == cp
    assert {"transmission set-up", "computation set-up"} <= set(legend(figure))


def test_without_setups_there_are_none() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    assert legend(figure) == [
        "not yet ready",
        "inserted idle time",
        "transmission",
        "computation, with its load",
    ]
    assert kinds(figure) == ["busy", "idle", "transmission", "receive", "computation"]


def test_installments_are_bars_on_the_same_row() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    result = exact_plan(instance, installments=2)
    assert result.solution is not None
    figure = plot(instance, result)
    assert len(extents(figure, "computation")) == len(result.solution.chunks) > 2
    assert len(np.unique(boxes(figure, "computation")[:, 2])) == 2
    assert any(f"in {len(result.solution.chunks)} chunks" in text for text in texts(figure))


def test_completion_and_deadline_are_lines_with_their_values() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    assert lines(figure) == {"completion 10.133": pytest.approx(152 / 15), "deadline 14": 14}
    assert {"completion 10.133", "deadline 14"} <= set(texts(figure))
    assert figure.axes[0].get_xlim()[1] > 14


def test_without_a_deadline_there_is_no_line() -> None:
    plan = plan_of(SETUPS)
    (text,) = lines(plot(SETUPS, plan))
    completion = float(max(c.computation_end for c in plan.chunks))
    assert text == f"completion {completion:.3f}"


def test_a_distant_deadline_is_named_but_does_not_squeeze_the_plan() -> None:
    far = Instance(FOUR.cluster, FOUR.ready_times, load=6, absolute_deadline=10_000)
    figure = plot(far, plan_of(far))
    assert "deadline 10000 \N{RIGHTWARDS ARROW}" in texts(figure)
    assert len(lines(figure)) == 1
    assert figure.axes[0].get_xlim()[1] < 12


def test_time_since_an_epoch_does_not_start_at_zero() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (10**9, 10**9 + 3), load=8)
    left, right = plot(instance, plan_of(instance)).axes[0].get_xlim()
    assert 10**9 - 1 < left < 10**9 < right < 10**9 + 20


def test_titles_tell_name_units_and_exact_values() -> None:
    figure = plot(FOUR, solve(FOUR, "edf-iit-2"))
    title, subtitle = (text.get_text() for text in figure.texts)
    assert title == "four nodes"
    assert subtitle.split(" \N{MIDDLE DOT} ") == [
        "completion 152/15",
        "4 of 4 nodes",
        "load 6",
        "edf-iit-2, optimal",
    ]
    assert figure.axes[0].get_xlabel() == "time (minutes)"
    assert plot(FOUR, plan_of(FOUR), title="another").texts[0].get_text() == "another"


def test_a_result_draws_as_its_solution() -> None:
    result, plan = edf_iit_2(FOUR), plan_of(FOUR)
    drawn, plain = plot(FOUR, result), plot(FOUR, plan)
    for gid in ("busy", "idle", "transmission", "receive", "computation"):
        assert extents(drawn, gid) == extents(plain, gid)


def test_bars_carry_their_load_where_it_fits() -> None:
    found = texts(plot(FOUR, plan_of(FOUR)))
    assert {"2.533", "1.9", "1.283"} <= set(found)
    assert "0.2833" not in found  # its bar is too short
    assert {"0", "1", "2", "3"} <= set(found)  # on the channel: who is served


def test_few_nodes_without_load_are_shown_pale() -> None:
    instance = Instance(Cluster(3, tau=1, chi=1), (0, 5, 50), load=4)
    figure = plot(instance, Solution((Chunk(0, 4, 0, 4, 4, 8),)))
    assert row_labels(figure) == ["channel", "node 0", "node 1", "node 2"]
    assert "unused node" in legend(figure)
    assert extents(figure, "busy-unused") == [(0, 5), (0, 8)]
    assert extents(figure, "unused") == [(5, 8)]
    assert legend(figure).count("not yet ready") == 1
    colours = [label.get_color() for label in figure.axes[0].get_yticklabels()]
    assert colours[1] != colours[2] == colours[3]


def test_many_nodes_without_load_share_one_row() -> None:
    instance = random_ready(128, load=50)
    plan = plan_of(instance)
    used = len({c.node for c in plan.chunks})
    figure = plot(instance, plan)
    assert 0 < used < 128
    assert f"{128 - used} nodes unused" in texts(figure)
    assert (row_labels(figure)[0], row_labels(figure)[-1]) == ("channel", "unused")
    assert len(np.unique(boxes(figure, "computation")[:, 2])) == used
    assert len(boxes(figure, "summary")) == 1


def test_what_an_unsound_plan_breaks_is_outlined() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=4, absolute_deadline=5)
    plan = Solution((Chunk(0, 2, 0, 2, 2, 4), Chunk(1, 2, 1, 3, 4, 6), Chunk(7, 1, 3, 4, 4, 5)))
    found = violations(instance, plan)
    figure = plot(instance, Result(Status.UNSOUND, plan, violations=found, method="x:literal"))
    assert {v.kind for v in found} == {"unknown-node", "channel-overlap", "deadline"}
    assert extents(figure, "violation") == [(1, 2), (5, 6)]
    assert "violation" in legend(figure)
    assert "3 violations" in figure.texts[1].get_text()
    assert row_labels(figure)[-1] == "node 7"
