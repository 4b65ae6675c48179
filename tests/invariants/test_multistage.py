"""No plan that a check accepts is better than a bound, and none is called impossible.

Around reservations, in whole numbers, fractions, decimals, floats and mixtures, near 0, at 1e12
and at POSIX dates; of the plans of `multi-stage`, the exact plan, and plans pushed to what is
allowed.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, note, reject
from hypothesis import strategies as st

import dlopt
from dlopt import registry
from dlopt.arithmetic import ROUNDING, exact
from dlopt.errors import InvalidInstanceError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Chunk,
    Decision,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    objective,
)
from dlopt.problems.validated_record import floating
from dlopt.result import Limits, Status
from tests.models.multistage.sample_instances import mixed, plans
from tests.once import solve

F = Fraction
EPOCHS = (0, 0, 10**12, 1_700_000_000)
LIMITS = Limits(work=40)
PUSHES = (0, F(99, 100), F(1), F(3, 2), F(3))
"""How many allowances a chunk is stated early."""
CHUNK_TIMES = ("transmission_start", "transmission_end", "computation_start", "computation_end")


def shifted(instance, plan, epoch, unit):
    """Return instance and plan on another clock, in another unit of time."""

    def at(instant):
        return epoch + instant * unit

    cluster = instance.cluster
    many = {
        name: tuple(one * unit for one in value) if isinstance(value, tuple) else value * unit
        for name, value in (("tau", cluster.tau), ("chi", cluster.chi))
    }
    moved = replace(
        instance,
        cluster=replace(
            cluster, **many, theta_cm=cluster.theta_cm * unit, theta_cp=cluster.theta_cp * unit
        ),
        tasks=tuple(
            replace(task, arrival=at(task.arrival), deadline=task.deadline * unit)
            for task in instance.tasks
        ),
        reservations=tuple(
            replace(
                one,
                arrival=at(one.arrival),
                start=at(one.start),
                end=at(one.end),
                io_end=None if one.io_end is None else at(one.io_end),
            )
            for one in instance.reservations
        ),
        now=at(instance.now),
        ready_times=tuple(at(instant) for instant in instance.free_times),
        channel_ready=at(instance.channel_free),
    )
    chunks = tuple(
        replace(chunk, **{name: at(getattr(chunk, name)) for name in CHUNK_TIMES})
        for chunk in plan.chunks
    )
    decisions = tuple(replace(said, at=at(said.at)) for said in plan.decisions)
    grants = tuple(replace(said, at=at(said.at)) for said in plan.grants)
    return moved, Solution(decisions, grants, chunks)


@st.composite
def cast(draw, instance):
    """Return an instance all in floats, or with floats among its tasks or reservations only."""
    how = draw(st.sampled_from(["exact", "floats", "floats", "tasks", "reservations"]))
    if how == "floats":
        return floating(instance)
    if how == "tasks":
        return replace(instance, tasks=tuple(map(floating, instance.tasks)))
    if how == "reservations":
        return replace(instance, reservations=tuple(map(floating, instance.reservations)))
    return instance


@st.composite
def pushed(draw, instance, plan):
    """Return a plan whose chunks are stated early, each beside the one before or all alike."""
    spans = [exact(task.deadline) for task in instance.tasks]
    spans += [exact(one.end) - exact(one.start) for one in instance.reservations]
    shortest = min(spans, default=F(0))
    one, adding, early = draw(st.sampled_from(PUSHES)), draw(st.booleans()), F(0)
    chunks = []
    for chunk in sorted(plan.chunks, key=lambda chunk: exact(chunk.transmission_start)):
        off = 0
        if not instance.exact:
            off = F(1, 10**9) * shortest + ROUNDING * exact(chunk.computation_end)
        times = {name: exact(getattr(chunk, name)) - early for name in CHUNK_TIMES}
        early = early * adding + one * off
        chunks.append(replace(chunk, **times))
    made = Solution(plan.decisions, plan.grants, tuple(chunks))
    return floating(made) if draw(st.booleans()) else made


def check_bounds(instance, plan):
    """Assert that no bound excludes a plan that the check accepts; return whether it does."""
    if dlopt.check(instance, plan):
        return False
    value = exact(objective(instance, plan, "accepted"))
    each = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
    most = max(each.values(), default=1)
    asked = [
        ("bound-fluid", {}),
        ("bound-fluid", {"relax": True}),
        ("exact", {"installments": most}),
    ]
    for method, options in asked:
        found = solve(instance, method, limits=LIMITS, **options)
        note(f"{method}: {found.status}, {found.bound}, {found.reason}")
        assert found.status is not Status.INFEASIBLE
        assert found.bound is None or value <= exact(found.bound)
        assert (found.proof is None) == (found.bound is None)
    accepted = [*plan.decisions, *plan.grants]
    if accepted and all(said.accepted for said in accepted):
        whole = solve(instance, "feasibility", limits=LIMITS, installments=most)
        assert whole.status is not Status.INFEASIBLE
    return True


@st.composite
def stated(draw):
    instance, plan = draw(plans(most=2, tasks=2, state=False))
    unit = draw(st.sampled_from([F(1), F(1), F(1, 1000), F(1, 10**6)]))
    moved, there = shifted(instance, plan, draw(st.sampled_from(EPOCHS)), unit)
    return draw(_cast_or_rejected(moved)), there


@st.composite
def _cast_or_rejected(draw, instance):
    """Return the instance in floats, unless a window is shorter there than a date can tell."""
    try:
        return draw(cast(instance))
    except InvalidInstanceError:
        reject()


@pytest.mark.property
@given(st.data(), stated())
def test_no_plan_that_is_pushed_to_the_tolerance_is_beyond_a_bound(data, given_both):
    instance, plan = given_both
    check_bounds(instance, data.draw(pushed(instance, plan)))


@pytest.mark.property
@given(st.data(), mixed(most=2, tasks=2, wanted=2))
def test_plans_of_methods_pass_the_check_and_are_within_every_bound(data, instance):
    nothing = Solution((), (), ())
    unit = data.draw(st.sampled_from([F(1), F(1, 1000)]))
    instance, _ = shifted(instance, nothing, data.draw(st.sampled_from(EPOCHS)), unit)
    instance = data.draw(_cast_or_rejected(instance))
    for method in ("multi-stage", "exact"):
        if registry.method("multistage", method).reason_against(instance, "accepted") is not None:
            continue
        found = solve(instance, method, limits=LIMITS)
        if (
            found.solution is not None
            and dlopt.check(instance, found.solution, found.tolerance) == ()
        ):
            check_bounds(instance, found.solution)
            check_bounds(instance, data.draw(pushed(instance, found.solution)))


def test_tasks_squeezed_before_a_reservation_do_not_gain_another():
    """Each of 46 tasks overlaps the next by a little less than a date can tell."""
    start, short, count = 1_700_000_000, F(1, 1000), 46
    tasks = tuple(Task(f"t{k}", float(start), 1.0, 100.0) for k in range(count))
    free = F(45, 1000)
    one = Reservation("r", start, start + free, start + 50, nodes=(0,))
    instance = Instance(Cluster(1, 0, float(short)), tasks, (one,))
    step = free / count
    chunks = tuple(
        Chunk(f"t{k}", 0, 1.0, *[start + k * step] * 3, start + k * step + short)
        for k in range(count)
    )
    said = tuple(Decision(task.id, True, task.arrival) for task in tasks)
    plan = Solution(said, (Grant("r", True, start, (0,)),), chunks)
    assert {found.kind for found in dlopt.check(instance, plan)} == {"earlier-than-possible"}
    fewer = replace(instance, tasks=tasks[:45])
    fits = tuple(
        replace(
            chunk,
            **dict.fromkeys(CHUNK_TIMES[:3], start + k * short),
            computation_end=start + (k + 1) * short,
        )
        for k, chunk in enumerate(chunks[:45])
    )
    assert dlopt.check(fewer, Solution(said[:45], plan.grants, fits)) == ()
