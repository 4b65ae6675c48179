"""Decisions by bid prices, against a simple computation of the prices from their definition."""

from fractions import Fraction
from typing import NamedTuple

import pytest

from dlopt import MultiStage
from dlopt.problems.multistage import Task
from tests.heuristics.multistage.priced_streams import PRICED, arriving, busy_stream, decided

F = Fraction


def overlap(start, end, first, last):
    return max(min(end, last) - max(start, first), 0)


def promised_times(head, start, until, now=None):
    """Return for how long channel and nodes are promised, by the plan and the grants.

    With an instant `now` all counts of what begins then or later, otherwise what is within a time.
    """
    channel = nodes = F(0)
    plan, waiting = head.plan(), set()
    for task in {chunk.task for chunk in plan.chunks} if now is not None else ():
        own = [chunk for chunk in plan.chunks if chunk.task == task]
        if min(chunk.transmission_start for chunk in own) >= now:
            waiting.add(task)
    for chunk in plan.chunks:
        last = chunk.computation_end if chunk.task in waiting else until
        channel += overlap(chunk.transmission_start, chunk.transmission_end, start, last)
        nodes += overlap(chunk.transmission_start, chunk.computation_end, start, last)
    return channel, nodes


def reserved_times(head, wanted, now, until):
    channel = nodes = F(0)
    for grant in head.grants:
        if grant.accepted:
            one = wanted[grant.reservation]
            channel += overlap(one.start, one.channel_end, now, until)
            nodes += overlap(one.start, one.end, now, until) * len(grant.nodes)
    return channel, nodes


class Seen(NamedTuple):
    """What a request asked for: channel and node time; its advance, and for how long it waits."""

    arrival: F
    length: F
    needs: tuple[F, F]
    advance: F
    slack: F


def seen_of(one, cluster):
    if isinstance(one, Task):
        needs = one.load * cluster.tau, one.load * (cluster.tau + cluster.chi) / cluster.nodes
        return Seen(one.arrival, one.deadline, needs, 0, one.deadline - max(needs))
    length, advance = one.end - one.start, one.start - one.arrival
    needs = one.channel_end - one.start, F(length * one.count, cluster.nodes)
    return Seen(one.arrival, length, needs, advance, advance)


def smaller_fit(forecast, new, k, left, horizon):
    """Tell whether what is still to come of the requests that take less of a resource fits."""
    start = new.arrival + new.advance
    total = F(0)
    for one in forecast:
        if one.needs[k] < new.needs[k]:
            first = new.arrival + one.advance  # start of one like it that is requested now
            to_come = overlap(first, start + horizon, start, start + horizon)
            total += one.needs[k] * to_come / horizon
    return total <= left


def blocks_few(forecast, new, span):
    """Tell whether fewer than one of the smaller requests would be lost while it is sent."""
    block, lost, load = new.needs[0], F(0), F(0)
    for one in forecast:
        if 0 < one.needs[0] < block and 0 <= one.slack < block:
            expected = (block - one.slack) / span
            lost += expected
            load += expected * one.needs[0] / block
    return lost / (1 + load) <= 1


@pytest.mark.parametrize(("seed", "large"), [(0, False), (1, False), (4, True), (5, True)])
def test_prices_are_those_of_a_simple_computation(seed, large):
    """From the definition: whether those that take less fit, and few of them are blocked."""
    instance = busy_stream(seed, wanted=25, large=large)
    head, inner = (MultiStage(instance.cluster, name) for name in (PRICED, "multi-stage"))
    wanted = {one.id: one for one in instance.reservations}
    forecast, deciding = [], []
    for one in arriving(instance):
        new, now = seen_of(one, instance.cluster), one.arrival
        fits, tests = inner.ask(one).accepted, [True]
        if len(forecast) >= 10:
            mean = F(sum(each.length for each in forecast), len(forecast))
            horizon, span = F(4, 5) * mean, max(now - forecast[0].arrival, mean)
            start = now + new.advance
            since = now if isinstance(one, Task) else None
            tasks = promised_times(head, start, start + horizon, since)
            reserved = reserved_times(head, wanted, start, start + horizon)
            tests = [blocks_few(forecast, new, span)]
            for k, count in enumerate((1, instance.cluster.nodes)):
                used = min((tasks[k] + reserved[k]) / count, horizon)
                left = span * (F(7, 5) - used / horizon)
                tests.append(smaller_fit(forecast, new, k, left, horizon))
        decision = decided(head, one)
        assert decision.accepted is (fits and all(tests))
        if decision.accepted:
            decided(inner, one)
        forecast.append(new)
        if fits:
            deciding.append(tests)
    by_blocking = deciding.count([False, True, True])
    by_capacity = sum(tests[0] and not all(tests) for tests in deciding)
    assert by_blocking >= 2 if large else by_capacity >= 10
