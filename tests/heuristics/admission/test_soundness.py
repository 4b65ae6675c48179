"""Every plan of a sound algorithm is valid; a printed one breaks the channel and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given

from dlopt import Status, solve
from dlopt.arithmetic import exact
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Instance, Task, objective, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import (
    LITERAL,
    PROMISING,
    SOUND,
    few,
    random_stream,
    streams,
)

TWO = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
ONE_PORT = Instance(Cluster(2, tau=1, chi=1), TWO)
"""Either task alone keeps channel or nodes busy until its deadline."""
NOTHING_TO_COMPUTE = Instance(Cluster(2, tau=1, chi=0), (Task("a", 0, 1, 1), Task("b", 0, 1, 1)))
"""All nodes that help are one, as with set-up costs that are too large for more."""
SETUP = Instance(Cluster(2, 1, 1, theta_cm=2), (Task("a", 0, 1, 4), Task("b", 0, 1, 4)))


@pytest.mark.property
@pytest.mark.parametrize("name", SOUND)
@few
@given(stream=streams())
def test_sound_algorithms_give_valid_plans(name, stream):
    engine = stream.decided(name)
    plan = engine.plan()
    assert violations(stream.instance, plan) == ()
    assert [decision.task for decision in plan.decisions] == [task.id for task in stream.tasks]
    for decision in plan.decisions:
        assert decision.promised is (not name.endswith("-anna") or not decision.accepted)
        assert decision.accepted or name in PROMISING
    assert engine.now == max([0, *(d.at for d in plan.decisions if d.accepted)])


@pytest.mark.property
@pytest.mark.parametrize("name", LITERAL)
@few
@given(stream=streams())
def test_printed_algorithms_break_the_channel_and_nothing_else(name, stream):
    plan = stream.decided(name).plan()
    kinds = {violation.kind for violation in violations(stream.instance, plan)}
    allowed = {"channel-overlap"}
    if stream.channel_ready:  # what was sent before does not count either
        allowed.add("channel-not-ready")
    assert kinds <= allowed


@pytest.mark.property
@few
@given(stream=streams(most=1, state=False))
def test_one_node_is_a_channel_too(stream):
    """On one node the printed algorithms are sound, and the same as the repaired ones."""
    for name in ("edf-iit-2", "edf-opr-mn", "fifo-epr-an", "mcdf", "mwf-opr-mn"):
        plan = stream.decided(f"{name}:literal").plan()
        assert violations(stream.instance, plan) == ()
        assert plan == stream.decided(name).plan()


@pytest.mark.parametrize("name", LITERAL)
def test_two_tasks_refute_a_printed_algorithm(name):
    """With all nodes, two tasks meet only where one node is all that helps."""
    fewest = "-an:" not in name
    instances = (ONE_PORT, SETUP) if fewest else (NOTHING_TO_COMPUTE, SETUP)
    for instance in instances:
        found = solve(instance, name)
        assert found.status is Status.UNSOUND
        assert {violation.kind for violation in found.violations} == {"channel-overlap"}
        assert found.value == objective(instance, found.solution) == 2
        assert found.bound is None
        mended = solve(instance, name.removesuffix(":literal"))
        assert mended.status is Status.FEASIBLE
        assert mended.value == 1


@pytest.mark.parametrize("name", PROMISING)
def test_why_the_second_task_is_rejected(name):
    """After the first send the second task ends at 3; after the first task on both, at 8/3."""
    _, second = (solve(ONE_PORT, name)).solution.decisions
    assert (second.accepted, second.missed, second.at) == (False, "b", 0)
    if name == "edf-iit-2" or name == "fifo-iit-mn":
        by, reason = 0.5, "1/2 of the load of task b would miss its deadline"
    elif name.endswith("-mn") or name in ("edf-iit-1", "mcdf"):
        by, reason = None, "task b would miss its deadline by "
    elif "-epr-" in name:
        by, reason = 1, "task b would miss its deadline by 1"
    else:
        by, reason = 2 / 3, "task b would miss its deadline by 2/3"
    assert second.reason.startswith(reason)
    assert second.by == pytest.approx(float(second.by) if by is None else by)
    assert second.by > 0


def test_amounts_of_those_that_take_the_fewest_nodes():
    found = {name: solve(ONE_PORT, name).solution.decisions[1] for name in PROMISING}
    assert found["edf-opr-mn"].reason == "task b would miss its deadline by 1"
    assert found["mwf-opr-mn"].reason == "task b would miss its deadline by 1"
    assert found["mcdf"].reason == "task b would miss its deadline by 1/3"
    assert found["edf-iit-1"].by == 1


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("setup", [False, True])
def test_long_streams_in_floats(name, setup):
    stream = random_stream(5, nodes=12, tasks=60, setup=setup)
    found = solve(stream.instance, name)
    assert found.status is Status.FEASIBLE
    assert found.tolerance == 1e-9
    assert violations(stream.instance, found.solution, 1e-9) == ()
    if name in PROMISING:
        assert 0 < found.value < 60
        assert found.reason.startswith("first rejection: ")


@pytest.mark.parametrize("name", ["edf-iit-2", "fifo-iit-an", "edf-iit-1", "mcdf", "edf-opr-mn"])
def test_seconds_since_1970(name):
    """Instants are told to 2e-7 only, which is not little beside loads of 1/100."""
    stream = random_stream(5, nodes=12, tasks=60)
    tasks = tuple(
        replace(
            task,
            arrival=1.7e9 + task.arrival / 9000,
            load=task.load / 9000,
            deadline=0.1 + task.deadline / 9000,
        )
        for task in stream.tasks
    )
    found = solve(Instance(stream.cluster, tasks), name)
    assert found.status is Status.FEASIBLE
    assert found.value > 0


@pytest.mark.parametrize("name", [name for name in PROMISING if "mwf" in name or name == "mcdf"])
def test_queues_that_are_planned_anew(name):
    """All nodes are busy until 400: every task is ordered with all that wait."""
    stream = random_stream(11, nodes=4, tasks=30, load=20, backlog=400, number=exact)
    engine = stream.decided(name)
    assert violations(stream.instance, engine.plan()) == ()
    assert len(engine.waiting) > 5
    keys = [planned.task.key for planned in engine.placements()]
    assert keys != sorted(keys)


def test_a_plan_is_valid_at_all_times_and_not_only_at_the_end():
    stream = random_stream(7, nodes=3, tasks=25, number=exact, setup=True)
    engine = Admission(stream.cluster)
    for count, task in enumerate(stream.tasks, start=1):
        engine.submit(task)
        assert violations(Instance(stream.cluster, stream.tasks[:count]), engine.plan()) == ()
