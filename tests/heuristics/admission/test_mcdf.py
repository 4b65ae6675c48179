"""MCDF: whose turn it is, looked at again only when it can have changed."""

import copy
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission import mcdf as module
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.mcdf import DerivativeRanking, plan_mcdf
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from tests.heuristics.reference.admission_planner import (
    ReferenceOprEprPlanner,
    ReferenceReadyTimes,
    reference_plan_mcdf,
)

F = Fraction
ONE = (F(1), F(1), F(0), F(0))
"""tau = chi = 1: of load 3, OPR needs 6, 4, 24/7 on 1, 2, 3 nodes."""
MCDF = Algorithm.parse("mcdf")

costs = st.tuples(
    st.integers(0, 3), st.integers(1, 9), st.sampled_from([0, 0, 1, F(1, 3)]), st.integers(0, 2)
).map(lambda four: tuple(map(F, four)))
instants = st.builds(F, st.integers(0, 30), st.sampled_from([1, 2, 3]))


@st.composite
def queues(draw):
    """Return tasks whose deadlines leave time for some that go before them."""
    four = draw(costs)
    tau, chi, theta_cm, theta_cp = four
    tasks = []
    for number in range(draw(st.integers(1, 12))):
        load = draw(st.builds(F, st.integers(1, 12), st.sampled_from([1, 2, 3])))
        alone = theta_cm + theta_cp + load * (tau + chi)
        deadline = alone * draw(st.integers(2, 12)) / 4 + draw(st.integers(0, 90))
        tasks.append(QueuedTask((deadline, number), f"t{number}", F(0), load, deadline))
    return four, sorted(tasks)


@pytest.mark.property
@given(queues(), st.lists(instants, min_size=1, max_size=6), instants, instants, st.booleans())
def test_the_plan_is_that_of_ordering_anew_each_time(queue, ready, channel, now, bound):
    four, tasks = queue
    size = len(ready)
    fast = plan_mcdf(OprEprPlanner(MCDF, four, size), ReadyTimes(ready, channel), tasks, now, bound)
    reference = ReferenceOprEprPlanner(MCDF, four, size)
    assert fast == reference_plan_mcdf(
        reference, ReferenceReadyTimes(ready, channel), tasks, now, bound
    )


@pytest.mark.property
@given(queues(), st.integers(1, 6), st.lists(instants, min_size=1, max_size=9), st.data())
def test_whose_turn_it_is_at_any_instant(queue, size, moments, data):
    """Time passes, and tasks are taken out; each time the order is that of all that are left."""
    four, tasks = queue
    task_planner = OprEprPlanner(MCDF, four, size)
    ranking, left = DerivativeRanking(task_planner, tasks), list(tasks)
    for instant in sorted(moments):
        needed = {task: task_planner.fewest(task.load, task.deadline - instant) for task in left}
        late = [task for task in left if needed[task] is None]
        refused = ranking.advance(instant)
        assert (refused.task if refused else None) == (late[0] if late else None)
        if late:
            break
        available = data.draw(st.integers(0, size))
        fit = [
            (-task_planner.rule.cost_derivative(task.load, n), task.key[1], (task, n))
            for task, n in needed.items()
            if n <= available
        ]
        expected = min(fit)[2] if fit else None
        assert ranking.pop(available) == expected
        if expected:
            left.remove(expected[0])


@pytest.mark.parametrize("channel", [True, False])
@pytest.mark.parametrize("theta_cm", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_in_floats_nothing_is_looked_at_too_late(channel, theta_cm, seed, monkeypatch):
    """With a margin beyond all instants, every task is looked at again at each of them."""
    draw = random.Random(seed)
    tasks = []
    for number in range(60):
        load = draw.uniform(1, 30)
        deadline = 400 + draw.uniform(0, 3000) + load * (1 + 20 / draw.randint(1, 8))
        tasks.append(QueuedTask((deadline, number), f"t{number}", 0.0, load, deadline))
    tasks.sort()
    task_planner = OprEprPlanner(MCDF, (1.0, 20.0, theta_cm, 0.5), 16)
    ready = [draw.uniform(0, 50) for _ in range(16)]
    found = plan_mcdf(task_planner, ReadyTimes(ready, 3.0), tasks, 1.0, channel)
    looks = []
    fewest = task_planner.fewest
    monkeypatch.setattr(
        task_planner, "fewest", lambda *slack: looks.append(slack) or fewest(*slack)
    )
    assert plan_mcdf(task_planner, ReadyTimes(ready, 3.0), tasks, 1.0, channel) == found
    seldom = len(looks)
    monkeypatch.setattr(module, "RECHECK_MARGIN", 1e9)
    assert plan_mcdf(task_planner, ReadyTimes(ready, 3.0), tasks, 1.0, channel) == found
    assert len(looks) - seldom > 2 * seldom


def test_a_task_that_needs_more_nodes_moves():
    """Load 3 by 6 needs one node until 0, two until 2, three until 18/7."""
    task = QueuedTask((F(6), 0), "t", F(0), F(3), F(6))
    ranking = DerivativeRanking(OprEprPlanner(MCDF, ONE, 3), [task])
    for instant, needed in ((F(0), 1), (F(1, 9), 2), (F(2), 2), (F(5, 2), 3), (F(18, 7), 3)):
        assert ranking.advance(instant) is None
        assert ranking.pop(needed - 1) is None
        assert copy.deepcopy(ranking).pop(3) == (task, needed)
    late = ranking.advance(F(3))
    assert isinstance(late, Rejection)
    assert (late.task, late.miss.by) == (task, F(3, 7))


def test_what_was_taken_out_is_not_looked_at_again():
    tasks = [QueuedTask((F(6), number), f"t{number}", F(0), F(3), F(6)) for number in range(2)]
    ranking = DerivativeRanking(OprEprPlanner(MCDF, ONE, 3), tasks)
    ranking.advance(F(0))
    assert ranking.pop(3) == (tasks[0], 1)
    assert ranking.advance(F(1)) is None
    assert ranking.pop(3) == (tasks[1], 2)
    assert ranking.advance(F(9)) is None
    assert ranking.pop(3) is None
