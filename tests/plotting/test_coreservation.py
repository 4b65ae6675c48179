"""Stack plots of CPU shares."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.plotting import PROBLEMS, draw_solution, plot
from dlopt.plotting.coreservation import MAX_NAMED
from dlopt.plotting.cpu_blocks import CpuBlock, colours_of_windows, stack_blocks
from dlopt.plotting.style import MANY_COLOURS
from dlopt.problems.admission import Solution as OtherSolution
from dlopt.problems.coreservation import (
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    violations,
)
from dlopt.result import Result, Status, Violation
from tests.plotting.figures import boxes, bundle, extents, kinds, legend, row_labels, texts

INSTANCE = Instance(
    (Machine("big", ((0, 10), (4, 5), (6, 10))), Machine("other", 8)),
    (
        Request("a", 0, 0, 4, 2, (Part(6), Part(8))),
        Request("b", 0, 2, 8, 1, (Part(4),)),
        Request("c", 0, 1, 3, 1, (Part(9),)),
    ),
    holdings=(Holding(1, 4, 7, 3),),
    name="three requests",
)
PLAN = Solution(
    (Decision("a", True, 0), Decision("b", True, 0), Decision("c", False, 0, "too much")),
    (Share("a", 0, 0, 6), Share("a", 1, 1, 8), Share("b", 0, 0, 4)),
)


def many(count: int) -> tuple[Instance, Solution]:
    requests = tuple(Request(f"r{k}", 0, k, k + 3, 1, (Part(9),)) for k in range(count))
    decisions = tuple(Decision(one.id, False, 0) for one in requests)
    return Instance((Machine("m", 8),), requests), Solution(decisions, ())


def test_shares_are_stacked_on_their_machines() -> None:
    assert violations(INSTANCE, PLAN) == ()
    figure = draw_solution(INSTANCE, PLAN)
    assert row_labels(figure) == ["machine big", "machine other", "request c"]
    # b stands on a until 4, then on the ground.
    assert extents(figure, "share") == [(0, 4), (0, 4), (2, 4), (4, 8)]
    found = boxes(figure, "share")
    on_a, alone = (found[k] for k in range(4) if found[k][0] in (2, 4))
    (below,) = (box for box in found if box[0] == 0 and box[2] == pytest.approx(on_a[3]))
    assert on_a[3] - on_a[2] == pytest.approx(alone[3] - alone[2])
    assert alone[3] == pytest.approx(below[3])
    assert extents(figure, "holding") == [(4, 7)]
    assert bundle(figure, "holding").get_hatch()
    assert extents(figure, "rejected") == [(1, 3)]
    assert {"a", "b", "10", "8"} <= set(texts(figure))
    assert {"reserved before", "rejected", "capacity"} <= set(legend(figure))
    assert "2 of 3 requests accepted · benefit 0.75" in texts(figure)


def test_the_capacity_is_a_line_of_steps() -> None:
    figure = draw_solution(INSTANCE, PLAN)
    stepped, flat = (
        np.array(line.get_segments()[0])
        for line in figure.axes[0].collections
        if line.get_gid() == "capacity"
    )
    assert stepped[:, 0].tolist() == [0, 4, 4, 6, 6, 8]
    assert len(set(stepped[:, 1].round(9))) == 2
    assert flat[:, 0].tolist() == [0, 8]


@pytest.mark.parametrize(
    ("window", "side"), [((1, 7), "center"), ((1, 2), "left"), ((7, 8), "right")]
)
def test_why_a_request_is_rejected_stands_in_or_beside_its_window(
    window: tuple[int, int], side: str
) -> None:
    moved = replace(INSTANCE.requests[2], start=window[0], end=window[1])
    plan = replace(PLAN, decisions=(*PLAN.decisions[:2], Decision("c", False, 0, "too much, alas")))
    figure = draw_solution(replace(INSTANCE, requests=(*INSTANCE.requests[:2], moved)), plan)
    (text,) = (text for text in figure.axes[0].texts if text.get_text() == "too much, alas")
    assert text.get_ha() == side


def test_many_rejected_requests_share_lines() -> None:
    few, many_more = MAX_NAMED, MAX_NAMED + 1
    assert row_labels(draw_solution(*many(few)))[1:] == [f"request r{k}" for k in range(few)]
    figure = draw_solution(*many(many_more))
    assert row_labels(figure)[1] == "rejected"
    assert len({round(top, 6) for _, _, top, _ in boxes(figure, "rejected")}) == 3
    assert "share" not in kinds(figure)


def test_colours_of_requests_at_one_time_differ() -> None:
    count = 2 * len(MANY_COLOURS) + 1
    requests = tuple(Request(f"r{k}", 0, k, k + 3, 1, (Part(1),)) for k in range(count))
    decisions = tuple(Decision(one.id, True, 0) for one in requests)
    shares = tuple(Share(one.id, 0, 0, 1) for one in requests)
    instance = Instance((Machine("m", 8),), requests)
    figure = draw_solution(instance, Solution(decisions, shares))
    assert "accepted (colours repeat)" in legend(figure)
    faces = {tuple(face) for face in bundle(figure, "share").get_facecolor()}
    assert len(faces) == len(MANY_COLOURS)
    few = replace(instance, requests=requests[:3])
    figure = draw_solution(few, Solution(decisions[:3], shares[:3]))
    assert "accepted, one colour a request" in legend(figure)
    assert len({tuple(face) for face in bundle(figure, "share").get_facecolor()}) == 3
    some = Solution(
        (decisions[0], *(replace(one, accepted=False) for one in decisions[1:])), shares[:1]
    )
    assert "accepted, one colour a request" in legend(draw_solution(instance, some))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=9), st.integers(1, 9))
def test_windows_that_overlap_have_different_colours_while_there_are_enough(
    given_windows: list[tuple[int, int]], colours: int
) -> None:
    windows = {
        k: (float(start), float(start + size)) for k, (start, size) in enumerate(given_windows)
    }
    found = colours_of_windows(windows, colours)
    assert found.keys() == windows.keys()
    assert set(found.values()) <= set(range(colours))
    if len(windows) <= colours:
        assert len(set(found.values())) == len(windows)
    at_once = [
        [k for k, (start, end) in windows.items() if start <= instant < end]
        for instant in range(13)
    ]
    if max(map(len, at_once)) <= colours:
        assert all(len({found[k] for k in some}) == len(some) for some in at_once)


def test_the_value_by_another_objective_is_in_the_subtitle() -> None:
    result = Result(Status.FEASIBLE, PLAN, objective="rejections", value=1, method="m")
    head = "2 of 3 requests accepted · benefit 0.75"
    assert f"{head} · rejections 1 · m, feasible" in texts(plot(INSTANCE, result))
    usual = replace(result, objective="benefit", value=Fraction(3, 4))
    assert f"{head} · m, feasible" in texts(plot(INSTANCE, usual))
    levels = replace(result, objective="rejections-then-benefit", value=(1, Fraction(3, 4)))
    wanted = f"{head} · rejections then benefit 1, 0.75 · m, feasible"
    assert wanted in texts(plot(INSTANCE, levels))


def test_what_is_broken_is_outlined() -> None:
    wrong = replace(PLAN, shares=(*PLAN.shares[:2], Share("b", 0, 1, 8)))
    figure = draw_solution(INSTANCE, wrong, violations=violations(INSTANCE, wrong), note="m")
    # Overload on a machine from 2 to 7, and a share of b that is too large, in its window.
    assert extents(figure, "violation") == [(2, 7), (2, 8)]
    kinds = "share-above-maximum, overload"
    assert any(f"2 violations ({kinds}) · m" in text for text in texts(figure))
    strange = (Violation("overload", "machine x", 0, 1), Violation("undecided", "request c"))
    assert extents(draw_solution(INSTANCE, PLAN, violations=strange * 2), "violation") == [(1, 3)]


def test_a_plan_for_what_does_not_exist_is_drawn_without_it() -> None:
    strange = replace(PLAN, shares=(*PLAN.shares, Share("z", 0, 0, 1), Share("b", 0, 9, 1)))
    assert len(extents(draw_solution(INSTANCE, strange), "share")) == 4


def test_nothing_reserved_and_no_capacity() -> None:
    empty = Instance((Machine("m", 0),), (Request("a", 0, 1, 2, 1, (Part(1),)),))
    figure = draw_solution(empty, Solution((Decision("a", False, 0),), ()))
    assert row_labels(figure) == ["machine m", "request a"]


def test_a_hundred_machines_have_no_numbers_and_few_labels() -> None:
    machines = tuple(Machine(f"m{k}", 8) for k in range(100))
    wanted = Request("a request of a long name", 0, 0, 1, 1, tuple(Part(8) for _ in machines))
    later = Request("b", 0, 5, 100, 1, (Part(8),))
    plan = Solution(
        (Decision(wanted.id, True, 0), Decision("b", True, 0)),
        (*(Share(wanted.id, k, k, 8) for k in range(100)), Share("b", 0, 0, 8)),
    )
    figure = draw_solution(Instance(machines, (wanted, later)), plan)
    assert len(extents(figure, "share")) == 101
    assert row_labels(figure)[:2] == ["m0", "m2"]
    assert not {"8", "a request of a long name"} & set(texts(figure))
    one = Instance(machines[:1], (replace(wanted, parts=(Part(8),)), later))
    shares = (Share(wanted.id, 0, 0, 8), Share("b", 0, 0, 8))
    found = texts(draw_solution(one, replace(plan, shares=shares)))
    assert "b" in found
    assert "8" in found
    assert not any("long name" in text for text in found)


def test_a_result_is_plotted_to_a_file(tmp_path: Path) -> None:
    assert "coreservation" in PROBLEMS
    units = replace(INSTANCE, units="hours")
    result = Result(Status.FEASIBLE, PLAN, objective="benefit", method="co-rspb")
    figure = plot(units, result, tmp_path / "p.svg", title="mine")
    assert figure.axes[0].get_xlabel() == "time (hours)"
    assert "mine" in texts(figure)
    written = (tmp_path / "p.svg").read_bytes()
    plot(units, result, tmp_path / "q.svg", title="mine")
    assert (tmp_path / "q.svg").read_bytes() == written


def test_a_plan_of_another_problem_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="no solution of coreservation"):
        draw_solution(INSTANCE, OtherSolution((), ()))


def test_a_block_is_cut_where_one_below_begins_or_ends() -> None:
    pieces = list(stack_blocks([CpuBlock(2, 4, 3, 0), CpuBlock(0, 6, 1, 1)]))
    assert [(p.start, p.end, p.low, p.high) for p in pieces if p.request == 1] == [
        (0, 2, 0, 1),
        (2, 4, 3, 4),
        (4, 6, 0, 1),
    ]
