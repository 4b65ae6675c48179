"""The checker of executed traces by mutation: those that can have happened, and corrupted ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.problems.admission import (
    Dropped,
    Executed,
    Factor,
    Failure,
    Instance,
    Scenario,
    Trace,
    violations_executed,
)
from tests.problems.executed_traces import traces

F = Fraction


@pytest.mark.property
@given(traces())
def test_traces_that_are_laid_out_can_have_happened(made: tuple[Any, Any, Trace]) -> None:
    assert violations_executed(*made) == ()


Corrupt = Callable[[Any, Instance, Scenario, Trace], tuple[Scenario, Trace, str]]


def _done(draw: Any, trace: Trace, fits: Callable[[Executed], bool] = lambda c: True) -> int:
    places = [i for i, c in enumerate(trace.chunks) if c.lost is None and fits(c)]
    assume(places)
    return int(draw(st.sampled_from(places)))


def _changed(trace: Trace, index: int, **changes: Any) -> Trace:
    chunks = list(trace.chunks)
    chunks[index] = replace(chunks[index], **changes)
    return replace(trace, chunks=tuple(chunks))


def _moved(trace: Trace, index: int, by: Any) -> Trace:
    times = (
        "transmission_start",
        "transmission_end",
        "computation_start",
        "computation_end",
    )
    chunk = trace.chunks[index]
    return _changed(trace, index, **{name: getattr(chunk, name) + by for name in times})


def left_out(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    kept = trace.chunks[:index] + trace.chunks[index + 1 :]
    return scenario, replace(trace, chunks=kept), "load-not-conserved"


def doubled(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    return scenario, replace(trace, chunks=(*trace.chunks, trace.chunks[index])), "node-overlap"


def overloaded(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    more = trace.chunks[index].load * 2
    return scenario, _changed(trace, index, load=more), "computation-duration"


def hastened(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    sooner = trace.chunks[index].computation_end - F(1, 8)
    return scenario, _changed(trace, index, computation_end=sooner), "computation-duration"


def sent_faster(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    sooner = trace.chunks[index].transmission_end - F(1, 8)
    return scenario, _changed(trace, index, transmission_end=sooner), "transmission-duration"


def too_early(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    arrival = {task.id: task.arrival for task in instance.tasks}[trace.chunks[index].task]
    by = arrival - trace.chunks[index].transmission_start - F(1, 8)
    return scenario, _moved(trace, index, by), "starts-before-arrival"


def onto_the_channel(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    other = draw(st.sampled_from([i for i in range(len(trace.chunks)) if i != index] or [index]))
    assume(other != index)
    by = trace.chunks[other].transmission_start - trace.chunks[index].transmission_start
    return scenario, _moved(trace, index, by), "channel-overlap"


def onto_the_node(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    chunk = trace.chunks[index]
    others = [c for c in trace.chunks if c is not chunk and c.lost is None]
    assume(others)
    other = draw(st.sampled_from(others))
    moved = _moved(trace, index, other.computation_start - chunk.transmission_start)
    return scenario, _changed(moved, index, node=other.node), "node-overlap"


def into_a_failure(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    assume(scenario.failures)
    failure = draw(st.sampled_from(scenario.failures))
    index = _done(draw, trace)
    moved = _moved(trace, index, failure.begin - trace.chunks[index].transmission_start)
    return scenario, _changed(moved, index, node=failure.node), "starts-during-failure"


def through_a_failure(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    places = [i for i, c in enumerate(trace.chunks) if c.lost is not None]
    assume(places)
    index = draw(st.sampled_from(places))
    return scenario, _changed(trace, index, lost=None), "continues-through-failure"


def a_failure_more(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    chunk = trace.chunks[_done(draw, trace)]
    begin = (chunk.transmission_start + chunk.computation_end) / 2
    failures = [f for f in scenario.failures if f.node != chunk.node]
    more = replace(scenario, failures=(*failures, Failure(chunk.node, begin)))
    return more, trace, "continues-through-failure"


def lost_in_peace(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    index = _done(draw, trace)
    chunk = trace.chunks[index]
    middle = (chunk.transmission_start + chunk.computation_end) / 2
    return scenario, _changed(trace, index, lost=middle), "lost-without-failure"


def slower(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    name = trace.chunks[_done(draw, trace)].task
    tau, chi = scenario.costs_of(name)
    others = tuple(f for f in scenario.factors if f.task != name)
    other = replace(scenario, factors=(*others, Factor(name, tau, chi * 2)))
    return other, trace, "computation-duration"


def turned_away(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    name = trace.chunks[_done(draw, trace)].task
    said = tuple(replace(d, accepted=d.accepted and d.task != name) for d in trace.decisions)
    return scenario, replace(trace, decisions=said), "rejected-task-served"


def dropped_too(draw: Any, instance: Instance, scenario: Scenario, trace: Trace) -> Any:
    name = trace.chunks[_done(draw, trace)].task
    more = (*trace.dropped, Dropped(name, F(1, 8), 99))
    return scenario, replace(trace, dropped=more), "load-not-conserved"


CORRUPTIONS: tuple[Corrupt, ...] = (
    left_out,
    doubled,
    overloaded,
    hastened,
    sent_faster,
    too_early,
    onto_the_channel,
    onto_the_node,
    into_a_failure,
    through_a_failure,
    a_failure_more,
    lost_in_peace,
    slower,
    turned_away,
    dropped_too,
)


@pytest.mark.parametrize("corrupt", CORRUPTIONS, ids=lambda corrupt: corrupt.__name__)
@pytest.mark.property
@given(st.data())
def test_a_corrupted_trace_is_caught(corrupt: Corrupt, data: st.DataObject) -> None:
    instance, scenario, trace = data.draw(traces())
    other, broken, kind = corrupt(data.draw, instance, scenario, trace)
    found = violations_executed(instance, other, broken)
    assert kind in {violation.kind for violation in found}


@pytest.mark.property
@given(st.data())
def test_the_order_of_what_happened_does_not_matter(data: st.DataObject) -> None:
    instance, scenario, trace = data.draw(traces())
    corrupt = data.draw(st.sampled_from(CORRUPTIONS))
    other, broken, _ = corrupt(data.draw, instance, scenario, trace)
    shuffled = Trace(
        tuple(data.draw(st.permutations(broken.decisions))),
        tuple(data.draw(st.permutations(broken.chunks))),
        tuple(data.draw(st.permutations(broken.dropped))),
    )
    before, after = (violations_executed(instance, other, t) for t in (broken, shuffled))
    assert Counter(v.kind for v in before) == Counter(v.kind for v in after)
