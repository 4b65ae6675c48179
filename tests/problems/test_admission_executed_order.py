"""Executed traces in floats: no valid one is refused, whatever order its instants suggest.

The traces are made as a dispatcher makes them, one chunk after the other, and every sum is
rounded. Costs span 24 orders of magnitude, so that chunks take no time in floats; instants are
counted from 0 or from 1970. In addition, instants are rounded up or down as others would, so that a
chunk may be stated to start before the one that it follows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dlopt.generation.workload import Workload
from dlopt.problems.admission import (
    Decision,
    Dropped,
    Executed,
    Factor,
    Failure,
    Instance,
    Scenario,
    Task,
    Trace,
    violations_executed,
)
from dlopt.problems.cluster import Cluster
from dlopt.simulation.feedback import FeedbackRun, Policy
from tests.simulation.feedback.test_run import policies, random_case

TOLERANCE = 1e-9
EPOCHS = st.sampled_from([0.0, 1.7e9])
MAGNITUDES = st.integers(-12, 12).map(lambda power: 10.0**power)
COSTS = st.builds(lambda size, digit: size * digit, MAGNITUDES, st.sampled_from([1.0, 0.7, 1 / 3]))
SHARES = st.sampled_from([1.0, 0.5, 1 / 3, 0.1, 1e-9, 1e-17])
FINISHING = Policy(1, 2.0, "last", "refuse", "finish", "requeue", aware=False, least=0.005)
TIMES = ("transmission_start", "transmission_end", "computation_start", "computation_end")


@dataclass(frozen=True)
class Stream:
    """What was executed of a stream, and what it was."""

    instance: Instance
    scenario: Scenario
    trace: Trace

    @property
    def kinds(self) -> set[str]:
        found = violations_executed(self.instance, self.scenario, self.trace, TOLERANCE)
        return {violation.kind for violation in found}

    def counts(self, chunk: Executed) -> bool:
        """Tell whether the load is more than what may be left out of a task."""
        loads = {task.id: float(task.load) for task in self.instance.tasks}
        return float(chunk.load) > 10 * TOLERANCE * loads[chunk.task]

    def changed(self, chunks: list[Executed]) -> Stream:
        return replace(self, trace=replace(self.trace, chunks=tuple(chunks)))


@st.composite
def streams(draw: Any) -> Stream:
    """Draw a trace as a dispatcher makes it, with deadlines that allow nothing."""
    epoch, nodes = draw(EPOCHS), draw(st.integers(1, 3))
    set_up = draw(st.one_of(st.just((0, 0)), st.tuples(MAGNITUDES, MAGNITUDES)))
    cluster = Cluster(nodes, draw(COSTS), draw(COSTS), *set_up)
    tau, chi = float(cluster.tau), float(cluster.chi)  # type: ignore[arg-type]
    tasks, factors, decisions, dropped = [], [], [], []
    chunks: list[Executed] = []
    failures: list[Failure] = []
    channel, free = epoch, [epoch] * nodes
    for number in range(draw(st.integers(1, 4))):
        name, left = f"t{number}", draw(COSTS)
        arrival = max(draw(st.sampled_from([epoch, channel])), tasks[-1].arrival if tasks else 0)
        tasks.append(Task(name, arrival, left, 1e-30))
        decisions.append(Decision(name, True, arrival, promised=False))
        factor = Factor(name, draw(st.sampled_from([1.0, 0.3])), draw(st.sampled_from([1.0, 1.9])))
        factors.append(factor)
        shares = draw(st.lists(SHARES, max_size=3))
        while left > 0:
            load = left * shares.pop() if shares else left
            left -= load
            node = draw(st.integers(0, nodes - 1))
            start = max(channel, free[node], arrival)
            received = start + (set_up[0] + load * (tau * float(factor.tau)))
            end = received + (set_up[1] + load * (chi * float(factor.chi)))
            fails = start + draw(st.sampled_from([0.1, 0.5, 0.9])) * (end - start)
            lost = fails if draw(st.integers(0, 5)) == 0 and start < fails < end else None
            chunks.append(Executed(name, node, load, start, received, received, end, lost))
            channel, free[node] = received, end
            if lost is not None:
                back = lost + draw(st.sampled_from([0.5, 4.0])) * (end - start)
                assume(back > lost)
                failures.append(Failure(node, lost, back))
                dropped.append(Dropped(name, load, lost))
                channel, free[node] = min(received, lost), back
    return Stream(
        Instance(cluster, tuple(tasks)),
        Scenario(tuple(factors), tuple(failures)),
        Trace(tuple(decisions), tuple(chunks), tuple(dropped)),
    )


def off(instant: float, units: int) -> float:
    """Return the float that is so many units in the last place away."""
    for _ in range(abs(units)):
        instant = nextafter(instant, inf if units > 0 else 0.0)
    return instant


@st.composite
def rounded_streams(draw: Any) -> Stream:
    """Draw a trace whose instants were rounded once more, in any order of its chunks."""
    made = draw(streams())
    units = st.integers(-8, 8)
    chunks = [
        replace(chunk, **{name: off(getattr(chunk, name), draw(units)) for name in TIMES})
        for chunk in made.trace.chunks
    ]
    kept = [
        chunk
        for chunk in chunks
        if chunk.lost is None or chunk.transmission_start < chunk.lost < chunk.computation_end
    ]
    assume(len(kept) == len(chunks))
    return made.changed(draw(st.permutations(chunks)))


@pytest.mark.property
@given(streams())
def test_a_trace_added_up_in_floats_can_have_happened(made: Stream) -> None:
    assert made.kinds == set()


@pytest.mark.property
@given(rounded_streams())
def test_a_trace_whose_instants_were_rounded_can_have_happened(made: Stream) -> None:
    assert made.kinds == set()


@pytest.mark.property
@given(st.integers(0, 10**6), st.integers(1, 4), policies(), MAGNITUDES, MAGNITUDES, EPOCHS)
@example(3607, 2, FINISHING, 1.0, 1.0, 0.0)
def test_what_the_simulator_executes_can_have_happened(
    seed: int, nodes: int, policy: Policy, tau: float, chi: float, epoch: float
) -> None:
    """The first example has chunks that were lost long before they would have ended."""
    drawn, scenario = random_case(seed, nodes)
    cluster = Cluster(nodes, drawn.cluster.tau * tau, 8.0 * chi)  # type: ignore[operator]
    scale = max(tau, chi)

    def scaled(values: Any, shift: float = 0.0) -> tuple[float, ...]:
        return tuple(shift + float(value) * scale for value in values)

    workload = Workload(
        cluster,
        scaled(drawn.arrivals, epoch),
        drawn.loads,
        scaled(drawn.deadlines),
        horizon=epoch + 120 * scale,
    )
    failures = []
    for failure in scenario.failures:
        (begin,) = scaled([failure.begin], epoch)
        until = None if failure.until is None else scaled([failure.until], epoch)[0]
        if until is None or begin < until:
            failures.append(Failure(failure.node, begin, until))
    scenario = replace(scenario, failures=tuple(failures))
    run = FeedbackRun(
        workload, scenario, policy=policy, period=float(workload.horizon), bounds=[1.0]
    )
    assert run.violations == ()


# --- what cannot have happened --------------------------------------------------------------


def moved(chunk: Executed, by: float) -> Executed:
    return replace(chunk, **{name: getattr(chunk, name) + by for name in TIMES})


def far(instant: float) -> float:
    """Return more than any rounding: 4096 units in the last place."""
    return instant * 2.0**-40


def length(chunk: Executed) -> float:
    return float(chunk.computation_end) - float(chunk.transmission_start)


@pytest.mark.property
@given(st.data())
def test_a_chunk_that_starts_before_its_node_is_free_is_refused(data: st.DataObject) -> None:
    """It may take no time itself, and lie within the one before."""
    made = data.draw(streams())
    places = []
    for node in range(made.instance.cluster.nodes):
        on_node = [i for i, c in enumerate(made.trace.chunks) if c.node == node]
        for before, after in pairwise(on_node):
            one, other = made.trace.chunks[before], made.trace.chunks[after]
            seamless = one.lost is None and one.computation_end == other.transmission_start
            long = length(one) > 2 * far(float(other.computation_end))
            if seamless and long and other.lost is None and made.counts(other):
                places.append(after)
    assume(places)
    place, chunks = data.draw(st.sampled_from(places)), list(made.trace.chunks)
    chunks[place] = moved(chunks[place], -far(float(chunks[place].computation_end)))
    assert made.changed(chunks).kinds


@pytest.mark.property
@given(st.data())
def test_two_chunks_at_one_instant_are_refused(data: st.DataObject) -> None:
    made = data.draw(streams())
    chunks = list(made.trace.chunks)
    long = [i for i, c in enumerate(chunks) if c.lost is None and made.counts(c)]
    assume(len(long) > 1)
    kept, other = data.draw(st.permutations(long))[:2]
    shift = float(chunks[kept].transmission_start) - float(chunks[other].transmission_start)
    chunks[other] = replace(moved(chunks[other], shift), node=chunks[kept].node)
    shorter = min(length(chunks[kept]), length(chunks[other]))
    assume(shorter > far(float(chunks[kept].computation_end)))
    assert made.changed(chunks).kinds


@pytest.mark.property
@given(st.data())
def test_chunks_that_change_places_are_refused(data: st.DataObject) -> None:
    """Two chunks that take different times exchange their instants."""
    made = data.draw(streams())
    chunks = list(made.trace.chunks)
    done = [i for i, c in enumerate(chunks) if c.lost is None]
    assume(len(done) > 1)
    first, second = data.draw(st.permutations(done))[:2]
    one, other = chunks[first], chunks[second]
    latest = max(float(one.computation_end), float(other.computation_end))
    assume(abs(length(one) - length(other)) > 2 * far(latest))
    chunks[first] = replace(one, **{name: getattr(other, name) for name in TIMES})
    chunks[second] = replace(other, **{name: getattr(one, name) for name in TIMES})
    assert made.changed(chunks).kinds & {"transmission-duration", "computation-duration"}


def test_dropped_load_makes_up_for_what_rounding_leaves() -> None:
    """Of 1 a billionth is done; the rest was dropped, rounded: the sum is off by 1e-17."""
    task = Task("a", 0, 1.0, 1e-30)
    done = Executed("a", 0, 2e-9, 0.0, 0.0, 0.0, 2e-9)
    dropped = Dropped("a", 0.9999999979999999, 1.0)
    made = Stream(
        Instance(Cluster(1, 0, 1), (task,)),
        Scenario(),
        Trace((Decision("a", True, 0, promised=False),), (done,), (dropped,)),
    )
    assert made.kinds == set()
    earlier = replace(done, computation_end=1.9e-9)
    assert made.changed([earlier]).kinds


def test_a_chunk_that_was_lost_early_is_before_the_next_on_its_node() -> None:
    """It would have ended after it; the middle of what it would have taken is later."""
    task = Task("a", 0, 12, 1e-9)
    lost = Executed("a", 0, 10, 0, 0, 0, 10, 1)
    after = Executed("a", 0, 2, 2, 2, 2, 4)
    rest = Executed("a", 0, 10, 4, 4, 4, 14)
    made = Stream(
        Instance(Cluster(1, 0, 1), (task,)),
        Scenario((), (Failure(0, 1, 2),)),
        Trace((Decision("a", True, 0, promised=False),), (after, rest, lost)),
    )
    assert made.kinds == set()
