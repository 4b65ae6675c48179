"""Which node gets what, and when."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.chunks import chunks, free_nodes
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.records import Placement, PlannedTask, QueuedTask
from dlopt.problems.admission import Chunk
from tests.heuristics.admission.strategies import SOUND, TWINS, few, streams

F = Fraction
COSTS = (F(1), F(1), F(1), F(2))


def task(name, load):
    return QueuedTask((F(99), 0), name, F(0), F(load), F(99))


def test_nodes_that_wait_for_the_last():
    """Shares 7/3 and 2/3; node 1 is ready first, and waits for node 0."""
    task_planner = OprEprPlanner(Algorithm.parse("edf-opr-an"), COSTS, 2)
    plan = [PlannedTask(task("a", 3), task_planner.placement_on(2, 5, F(3)))]
    assert chunks(task_planner, COSTS, free_nodes((5, 1)), plan) == (
        Chunk("a", 1, F(7, 3), 5, F(25, 3), F(25, 3), F(38, 3)),
        Chunk("a", 0, F(2, 3), F(25, 3), 10, 10, F(38, 3)),
    )


def test_nodes_that_do_not_wait():
    """tau = 1, chi = 2, ready at 4, 0, 1: they end together at 39/8."""
    costs = (F(1), F(2), F(0), F(0))
    task_planner = EdfIit2Planner(Algorithm.parse("edf-iit-2"), costs, 3)
    plan = [PlannedTask(task("a", 3), Placement(3, 0, 0, F(103, 24), F(39, 8)))]
    assert chunks(task_planner, costs, free_nodes((4, 0, 1)), plan) == (
        Chunk("a", 1, F(13, 8), 0, F(13, 8), F(13, 8), F(39, 8)),
        Chunk("a", 2, F(13, 12), F(13, 8), F(65, 24), F(65, 24), F(39, 8)),
        Chunk("a", 0, F(7, 24), 4, F(103, 24), F(103, 24), F(39, 8)),
    )


def test_the_node_that_is_ready_first_is_taken_and_held_to_the_end():
    costs = (F(1), F(1), F(0), F(0))
    task_planner = OprEprPlanner(Algorithm.parse("edf-opr-mn"), costs, 2)
    plan = [
        PlannedTask(task(name, 1), task_planner.placement_on(1, at, F(1)))
        for name, at in zip("abc", (0, 1, 2), strict=True)
    ]
    made = chunks(task_planner, costs, free_nodes((0, 0)), plan)
    assert [(chunk.task, chunk.node, chunk.computation_end) for chunk in made] == [
        ("a", 0, 2),
        ("b", 1, 3),
        ("c", 0, 4),
    ]


def test_no_plan_no_chunks():
    task_planner = OprEprPlanner(Algorithm.parse("edf-opr-mn"), COSTS, 2)
    assert chunks(task_planner, COSTS, free_nodes((0, 0)), []) == ()


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-iit-1", *TWINS[::3]])
@few
@given(stream=streams())
def test_chunks_are_what_placements_say(name, stream):
    """Number of nodes, first start, end of the last send and, for all but EDF-IIT-1, the end."""
    engine = stream.decided(name)
    parts = {}
    for chunk in engine.plan().chunks:
        parts.setdefault(chunk.task, []).append(chunk)
    assert list(parts) == [planned.task.id for planned in engine.placements()]
    for planned in engine.placements():
        mine, place = parts[planned.task.id], planned.placement
        assert len(mine) == len({chunk.node for chunk in mine}) == place.nodes
        assert sum(chunk.load for chunk in mine) == planned.task.load
        assert min(chunk.load for chunk in mine) > 0
        assert mine[0].transmission_start == place.start >= place.not_before
        assert mine[-1].transmission_end == place.sent
        end = max(chunk.computation_end for chunk in mine)
        assert end <= place.end if name == "edf-iit-1" else end == place.end


@pytest.mark.property
@given(stream=streams(), name=st.sampled_from(SOUND))
def test_chunks_are_in_the_order_of_transmission(stream, name):
    starts = [chunk.transmission_start for chunk in stream.decided(name).plan().chunks]
    assert starts == sorted(starts)
