"""With a tolerance, what is allowed does not add up: the exact timeline of a plan."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.problems import iit, validated_record
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit import Chunk, Instance, Solution
from tests.problems.test_earliest_schedule import orders

F = Fraction
TOLERANCE = 1e-3
PART = exact(TOLERANCE)


def squeezed(instance, nodes, loads, gain):
    """Return chunks in order, each of which begins a little before the one before it ends."""
    plan = earliest_plan(instance, nodes, loads)
    return Solution(
        tuple(
            replace(
                chunk,
                transmission_start=chunk.transmission_start - gain * k,
                transmission_end=chunk.transmission_end - gain * k,
                computation_start=chunk.computation_start - gain * k,
                computation_end=chunk.computation_end - gain * k,
            )
            for k, chunk in enumerate(plan.chunks)
        )
    )


@pytest.mark.parametrize("epoch", [0, 10**12, 1_700_000_000])
def test_small_overlaps_do_not_gain_a_chunk(epoch):
    """One transmission after the other, each overlapping the next by what is allowed once."""
    nodes = 30
    instance = Instance(Cluster(nodes, tau=1, chi=0), (epoch,) * nodes, load=30)
    span = 30
    gain = PART * span
    plan = squeezed(instance, range(nodes), [1] * nodes, gain)
    found = iit.violations(instance, plan, TOLERANCE)
    assert {violation.kind for violation in found} == {"earlier-than-possible"}
    # the second chunk gains one tolerance, which is allowed; the others gain more
    assert len(found) >= nodes - 3 and found[0].resource in ("node 2", "node 3")
    assert found[-1].amount == gain * (nodes - 1)


def test_chunks_at_the_same_instant_are_sent_one_after_the_other():
    """At 1.7e9 seconds, 64 units in the last place are longer than these transmissions."""
    start, short = 1.7e9, 1e-5
    cluster = Cluster(20, tau=short, chi=1e-9)
    instance = Instance(cluster, (start,) * 20, load=20.0)
    chunks = tuple(Chunk(k, 1.0, start, start, start, start) for k in range(20))
    found = iit.violations(instance, Solution(chunks), 1e-9)
    assert {violation.kind for violation in found} == {"earlier-than-possible"}
    assert found[-1].amount > F(1, 10_000)


def test_loads_that_are_all_a_little_short_gain_nothing():
    """Loads may miss the whole by the tolerance, durations by it too, but not both in sum."""
    instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1000)
    late = PART * 2000
    load = 1000 * (1 - PART)
    half = load - late / 2
    plan = Solution((Chunk(0, load, 0, half, half, load - late / 2 + half),))
    found = iit.violations(instance, plan, TOLERANCE)
    assert [violation.kind for violation in found] == ["earlier-than-possible"]
    assert iit.violations(instance, Solution(()), TOLERANCE)[0].kind == "load-not-conserved"


def test_a_node_that_is_ready_late_gains_one_tolerance_only():
    """It begins a little too early, and receives in a little less than it takes."""
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 10), load=10)
    late = PART * 20
    for early, kinds in ((late / 2, set()), (late, {"earlier-than-possible"})):
        received = 20 - 2 * early
        plan = Solution((Chunk(1, 10, 10 - early, received, received, received + 10),))
        found = iit.violations(instance, plan, TOLERANCE)
        assert {violation.kind for violation in found} == kinds


def test_transmissions_of_no_length_are_in_nobodys_way():
    instance = Instance(Cluster(2, tau=(0, 1), chi=(1, 1)), (2, 0), load=10.0)
    plan = Solution((Chunk(1, 4, 0, 4, 4, 8), Chunk(0, 6, 2, 2, 2, 8)))
    assert iit.violations(instance, plan, 1e-9) == ()


@given(orders(least=2), st.sampled_from([0, 10**12, 1_700_000_000]), st.data())
def test_plans_in_floats_are_roundings_of_exact_ones(given_order, epoch, data):
    """Valid plans pass in floats; squeezed in their sum by more than is allowed they do not."""
    instance, nodes, loads = given_order
    ready = tuple(time + epoch for time in instance.ready_times)
    instance = replace(instance, ready_times=ready, absolute_deadline=None)
    plan = earliest_plan(instance, nodes, loads)
    floats = validated_record.floating(instance), validated_record.floating(plan)
    assert iit.violations(*floats, 1e-9) == ()
    again = earliest_plan(floats[0], nodes, [float(load) for load in loads])
    assert iit.violations(floats[0], again, 1e-9) == ()
    end = last_result(plan)
    early = data.draw(st.fractions(F(1, 50), F(1, 2)))
    squeeze = {
        name: lambda value: ready[0] + (value - ready[0]) * (1 - early) for name in ("start", "end")
    }
    shorter = Solution(
        tuple(
            replace(
                chunk,
                transmission_start=squeeze["start"](chunk.transmission_start),
                transmission_end=squeeze["end"](chunk.transmission_end),
                computation_start=squeeze["start"](chunk.computation_start),
                computation_end=squeeze["end"](chunk.computation_end),
            )
            for chunk in plan.chunks
        )
    )
    assert last_result(shorter) != end and iit.violations(instance, shorter, 1e-9) != ()
