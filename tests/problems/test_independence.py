"""Checkers compute by themselves what plans are made with: an error in one shows in the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.admission import Scenario, Trace, claimed_values, violations_executed
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
    promised_before,
)
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import claimed_values as claims_of_shares
from dlopt.problems.coreservation.checker_times import latest_decisions
from dlopt.problems.multistage import claimed_values as claims_around
from tests.models.multistage.sample_instances import plans
from tests.strategies import admission as streams
from tests.strategies import admission_plans
from tests.strategies_coreservation import planned

COMPUTED: dict[type, tuple[str, ...]] = {
    admission.Task: ("absolute_deadline",),
    admission.Instance: ("free_times", "channel_free", "remaining", "promised"),
    multistage.Reservation: ("channel_end", "count"),
    multistage.Instance: ("free_times", "channel_free", "promised", "stream"),
    coreservation.Machine: ("steps",),
    coreservation.Part: ("least", "hard"),
}
"""What instances work out from their fields, for those that make plans."""


@pytest.fixture
def mute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no data say more than its fields."""

    def refused(_: object) -> None:
        raise AssertionError("a checker asked data for what it computes")

    for kind, names in COMPUTED.items():
        for name in names:
            assert isinstance(getattr(kind, name), property)
            monkeypatch.setattr(kind, name, property(refused))


SENT = admission.Commitment("a", 0, 0, 1, 4)
BUSY: dict[str, Any] = {
    "now": 2,
    "ready_times": (3, 1),
    "channel_ready": 2,
    "committed": (SENT,),
}
TASKS = (admission.Task("a", 0, 3, 12), admission.Task("b", 2, 1, 9))
YES = tuple(admission.Decision(task.id, True, task.arrival) for task in TASKS)
# Node 0 is free at 4, when what was sent is computed; 2 of the load of a remain.
CHUNKS = (
    admission.Chunk("b", 1, 1, 2, 3, 3, 4),
    admission.Chunk("a", 0, 2, 4, 6, 6, 8),
)


@pytest.mark.usefixtures("mute")
@pytest.mark.parametrize("tolerance", [0, 1e-9])
def test_checkers_ask_data_for_its_fields_alone(tolerance: float) -> None:
    cluster = Cluster(2, tau=1, chi=1)
    instance = admission.Instance(cluster, TASKS, **BUSY)
    plan = admission.Solution(YES, CHUNKS)
    assert admission.violations(instance, plan, tolerance) == ()
    assert admission.objective(instance, plan, "utilization") > 0
    chunks = tuple(admission.Executed.from_data(chunk.to_data()) for chunk in CHUNKS)
    trace = Trace(YES, chunks)
    assert violations_executed(instance, Scenario(), trace, tolerance) == ()

    wanted = (multistage.Reservation("r", 2, 8, 10, io_ratio=1, nodes=(1,)),)
    around = multistage.Instance(cluster, TASKS, wanted, **BUSY)
    held = multistage.Solution(YES, (multistage.Grant("r", True, 2, (1,)),), CHUNKS)
    assert multistage.violations(around, held, tolerance) == ()
    assert multistage.objective(around, held, "utilization") > 0
    used = (multistage.ExecutedReservation("r", (1,), 8, 10, 10),)
    done = multistage.Trace(YES, chunks, grants=held.grants, reservations=used)
    assert multistage.violations_executed(around, multistage.Scenario(), done, tolerance) == ()

    part = coreservation.Part(4, 2, coreservation.linear())
    request = coreservation.Request("r", 0, 1, 2, 1, (part,))
    machine = coreservation.Machine("m", ((0, 4), (1, 3)))
    shared = coreservation.Instance((machine,), (request,), coreservation.Batch(1))
    share = coreservation.Share("r", 0, 0, 3)
    said = (coreservation.Decision("r", True, 1),)
    given = coreservation.Solution(said, (share,), (coreservation.Change("r", 0, 0, 3),))
    assert coreservation.violations(shared, given, tolerance) == ()
    assert coreservation.objective(shared, given) == exact(3) / 4


@pytest.mark.property
@given(streams(state=True))
def test_free_times_and_loads_are_those_of_methods(instance: admission.Instance) -> None:
    assert node_free_times(instance) == list(instance.free_times)
    assert channel_free_time(instance) == instance.channel_free
    assert loads_to_plan(instance) == instance.remaining
    assert promised_before(instance) == instance.promised


@pytest.mark.property
@given(admission_plans(unpromised=True, state=True))
def test_claims_on_streams_are_objectives(made: tuple[Any, Any]) -> None:
    for name in admission.OBJECTIVES:
        assert claimed_values.claimed_value(*made, name) == admission.objective(*made, name)


@pytest.mark.property
@given(plans(state=True))
def test_claims_around_reservations_are_objectives(made: tuple[Any, Any]) -> None:
    for name in multistage.OBJECTIVES:
        assert claims_around.claimed_value(*made, name) == multistage.objective(*made, name)


@pytest.mark.property
@given(planned())
def test_claims_on_shares_are_objectives_and_batches_are_the_same(made: tuple[Any, Any]) -> None:
    instance, plan = made
    for name in coreservation.OBJECTIVES:
        claimed = claims_of_shares.claimed_value(instance, plan, name)
        assert claimed == coreservation.objective(instance, plan, name)
    assert latest_decisions(instance) == list(coreservation.batch_times(instance))


@pytest.mark.property
@given(st.data())
def test_what_shares_are_worth_is_the_same(data: st.DataObject) -> None:
    """At jumps, on lines and beyond the ends of any benefit function."""
    instance, _ = data.draw(planned())
    request = data.draw(st.sampled_from(instance.requests))
    part = data.draw(st.sampled_from(request.parts))
    ends = [exact(share) for share, _ in part.benefit]
    share = data.draw(st.sampled_from([*ends, exact(1) / 3, exact(9) / 8]))
    one = coreservation.Request("one", 0, 0, 1, 1, (part,))
    alone = coreservation.Instance(instance.machines, (one,))
    held = coreservation.Share("one", 0, part.machine or 0, exact(part.cpu) * share)
    plan = coreservation.Solution((coreservation.Decision("one", True, 0),), (held,))
    worth = coreservation.benefit_at(part.benefit, share)
    assert coreservation.objective(alone, plan) == worth


def test_what_no_time_passes_in_is_not_used() -> None:
    """The deadline lies before now; and shares below 0 are worth nothing."""
    instance = admission.Instance(Cluster(1, 1, 1), (admission.Task("a", 0, 1, 1),), now=2)
    plan = admission.Solution((admission.Decision("a", True, 0),), ())
    assert claimed_values.claimed_value(instance, plan, "utilization") == 0
    around = multistage.Instance(Cluster(1, 1, 1), instance.tasks, now=2)
    nothing = multistage.Solution(plan.decisions, (), ())
    assert claims_around.claimed_value(around, nothing, "utilization") == 0
    part = coreservation.Part(4, 2, coreservation.linear())
    request = coreservation.Request("r", 0, 1, 2, 1, (part,))
    shared = coreservation.Instance((coreservation.Machine("m", 4),), (request,))
    below = coreservation.Solution(
        (coreservation.Decision("r", True, 0),), (coreservation.Share("r", 0, 0, -1),)
    )
    assert coreservation.objective(shared, below) == 0
