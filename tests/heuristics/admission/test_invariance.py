"""Units do not matter: time, load and the origin of time can be changed, in exact numbers.

That fewer tasks, or nodes that are ready earlier, help is not asserted: it is not true.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import REGISTERED, Stream, few, streams

F = Fraction
COSTS = ("tau", "chi", "theta_cm", "theta_cp")


def slower(cluster, factor, costs):
    """Return a cluster with some costs multiplied."""
    changed = {cost: getattr(cluster, cost) * (factor if cost in costs else 1) for cost in COSTS}
    return Cluster(cluster.nodes, **changed)


def in_units(plan, instant, load):
    """Return decisions and chunks of a plan in other units."""

    def amount(decision):
        if decision.by is None:
            return None
        return load(decision.by) if decision.of == "load" else instant(decision.by) - instant(0)

    decisions = [
        replace(decision, at=instant(decision.at), by=amount(decision))
        for decision in plan.decisions
    ]
    chunks = [
        (
            chunk.task,
            chunk.node,
            load(chunk.load),
            instant(chunk.transmission_start),
            instant(chunk.transmission_end),
            instant(chunk.computation_end),
        )
        for chunk in plan.chunks
    ]
    return decisions, chunks


def itself(number):
    return number


def time_in_other_units(name, stream, factor):
    def scaled(instant):
        return instant * factor

    tasks = tuple(
        replace(task, arrival=scaled(task.arrival), deadline=scaled(task.deadline))
        for task in stream.tasks
    )
    cluster = slower(stream.cluster, factor, COSTS)
    ready = tuple(map(scaled, stream.ready_times))
    other = Stream(cluster, tasks, ready, scaled(stream.channel_ready))
    return other.decided(name).plan(), scaled, itself


def load_in_other_units(name, stream, factor):
    def scaled(load):
        return load * factor

    tasks = tuple(replace(task, load=scaled(task.load)) for task in stream.tasks)
    cluster = slower(stream.cluster, F(1) / factor, ("tau", "chi"))
    return replace(stream, cluster=cluster, tasks=tasks).decided(name).plan(), itself, scaled


def another_origin_of_time(name, stream, shift):
    def shifted(instant):
        return instant + shift

    engine = Admission(
        stream.cluster,
        name,
        now=shift,
        ready_times=tuple(map(shifted, stream.ready_times or (0,) * stream.cluster.nodes)),
        channel_ready=shifted(stream.channel_ready),
    )
    for task in stream.tasks:
        engine.submit(replace(task, arrival=shifted(task.arrival)))
    return engine.plan(), shifted, itself


@pytest.mark.property
@pytest.mark.parametrize("name", REGISTERED)
@few
@given(
    stream=streams(tasks=6),
    change=st.sampled_from([time_in_other_units, load_in_other_units, another_origin_of_time]),
    amount=st.sampled_from([F(1, 3), F(7, 2), 10, 10**9]),
)
def test_units_do_not_matter(name, stream, change, amount):
    plan, instant, load = change(name, stream, amount)
    here = stream.decided(name).plan()
    assert in_units(plan, itself, itself) == in_units(here, instant, load)
