"""Ways to corrupt a valid plan of one divisible load, each with what must be found in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance
from dlopt.result import Violation
from tests.problems.chunk_edits import moved, send_of, some_chunk, with_chunk

F = Fraction
amounts = st.fractions(F(1, 60), 5, max_denominator=60)
shares = st.fractions(F(1, 8), 1, max_denominator=8)
shares_but_all = st.fractions(F(1, 8), F(7, 8), max_denominator=8)


@dataclass(frozen=True)
class Corrupted:
    """A plan that was valid, and what must be found in it now.

    `expected` must be among the violations; `alone` says that there must be no other.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    expected: tuple[Violation, ...]
    alone: bool = True


Corrupt = Callable[[Any, Instance, tuple[Chunk, ...]], Corrupted]


@dataclass(frozen=True)
class Corruption:
    name: str
    kinds: tuple[str, ...]
    corrupt: Corrupt


CORRUPTIONS: list[Corruption] = []


def corruption(*kinds: str) -> Callable[[Corrupt], Corrupt]:
    def register(function: Corrupt) -> Corrupt:
        CORRUPTIONS.append(Corruption(function.__name__, kinds, function))
        return function

    return register


def share(draw: Any, most: Fraction) -> Fraction:
    """Return a part of `most`: above 0, at most all of it."""
    return most * draw(shares)


def costs_of(cluster: Cluster, node: int) -> tuple[object, object]:
    return cluster.tau_of(node), cluster.chi_of(node)


def name(chunk: Chunk) -> str:
    return f"node {chunk.node}"


@corruption("node-not-ready")
def sent_before_it_is_ready(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    first, early = chunks[0], draw(amounts)  # the first chunk is sent when its node is ready
    ready = instance.ready_times[first.node]
    expected = Violation("node-not-ready", name(first), ready - early, ready, early)
    return Corrupted(instance, (moved(first, -early), *chunks[1:]), (expected,))


@corruption("channel-overlap")
def two_sends_at_once(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    sends = [index for index, chunk in enumerate(chunks) if send_of(chunk) > 0]
    assume(len(sends) > 1)
    place = draw(st.integers(1, len(sends) - 1))
    before, after = chunks[sends[place - 1]], chunks[sends[place]]
    shared = share(draw, min(send_of(before), send_of(after)))
    end = before.transmission_end
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("channel-overlap", "channel", end - shared, end, shared)
    return Corrupted(instance, with_chunk(chunks, sends[place], early), (expected,), alone=False)


@corruption("node-overlap")
def two_chunks_on_a_node(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    pairs = [
        (i, j)
        for i, j in combinations(range(len(chunks)), 2)
        if chunks[i].node == chunks[j].node
        and all(chunk.node != chunks[i].node for chunk in chunks[i + 1 : j])
    ]
    assume(pairs)
    i, j = draw(st.sampled_from(pairs))
    before, after = chunks[i], chunks[j]
    end = before.computation_end
    most = min(c.computation_end - c.transmission_start for c in (before, after))
    shared = share(draw, most)
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("node-overlap", name(before), end - shared, end, shared)
    return Corrupted(instance, with_chunk(chunks, j, early), (expected,), alone=False)


@corruption("load-not-conserved")
def dropped(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    rest = (*chunks[:index], *chunks[index + 1 :])
    return Corrupted(instance, rest, (Violation("load-not-conserved", "load", amount=chunk.load),))


@corruption("load-not-conserved", "node-overlap", "channel-overlap")
def doubled(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    _, chunk = some_chunk(draw, chunks)
    start, received, done = chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    channel = (Violation("channel-overlap", "channel", start, received, received - start),)
    return Corrupted(
        instance,
        (*chunks, chunk),
        (
            *(channel if received > start else ()),
            Violation("node-overlap", name(chunk), start, done, done - start),
            Violation("load-not-conserved", "load", amount=-chunk.load),
        ),
    )


@corruption("transmission-duration", "computation-duration")
def swapped(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    """Two chunks swap their nodes, which take other times."""
    cluster = instance.cluster
    pairs = [
        (i, j)
        for i, j in combinations(range(len(chunks)), 2)
        if costs_of(cluster, chunks[i].node) != costs_of(cluster, chunks[j].node)
    ]
    assume(pairs)
    i, j = draw(st.sampled_from(pairs))
    one, two = chunks[i], chunks[j]
    sends = abs(cluster.tau_of(one.node) - cluster.tau_of(two.node))
    computes = abs(cluster.chi_of(one.node) - cluster.chi_of(two.node))
    new = (replace(one, node=two.node), replace(two, node=one.node))
    expected = []
    for c in new:
        if sends:
            amount = c.load * sends
            times = (c.transmission_start, c.transmission_end)
            expected.append(Violation("transmission-duration", name(c), *times, amount))
        if computes:
            amount = c.load * computes
            times = (c.computation_start, c.computation_end)
            expected.append(Violation("computation-duration", name(c), *times, amount))
    both = with_chunk(with_chunk(chunks, i, new[0]), j, new[1])
    return Corrupted(instance, both, tuple(expected), alone=False)


@corruption("transmission-duration")
def shorter_send(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, start = draw(amounts), chunk.transmission_start
    short = replace(chunk, transmission_end=chunk.transmission_end - off)
    expected = Violation("transmission-duration", name(chunk), start, short.transmission_end, off)
    return Corrupted(instance, with_chunk(chunks, index, short), (expected,))


@corruption("transmission-duration", "computes-before-received")
def longer_send(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    chunk, off = chunks[-1], draw(amounts)  # the last one, so that no other is in its way
    start, begun = chunk.transmission_start, chunk.computation_start
    end = chunk.transmission_end + off
    # A transmission that took no time may have begun within another.
    alone = all(other.transmission_end <= start for other in chunks[:-1])
    return Corrupted(
        instance,
        (*chunks[:-1], replace(chunk, transmission_end=end)),
        (
            Violation("transmission-duration", name(chunk), start, end, off),
            Violation("computes-before-received", name(chunk), begun, end, off),
        ),
        alone,
    )


@corruption("computation-duration")
def shorter_computation(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, begun = draw(amounts), chunk.computation_start
    short = replace(chunk, computation_end=chunk.computation_end - off)
    expected = Violation("computation-duration", name(chunk), begun, short.computation_end, off)
    return Corrupted(instance, with_chunk(chunks, index, short), (expected,))


@corruption("computation-duration")
def longer_computation(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    chunk, off = chunks[-1], draw(amounts)
    begun, end = chunk.computation_start, chunk.computation_end + off
    expected = Violation("computation-duration", name(chunk), begun, end, off)
    return Corrupted(instance, (*chunks[:-1], replace(chunk, computation_end=end)), (expected,))


@corruption("computes-before-received")
def computed_before_received(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, received = draw(amounts), chunk.transmission_end
    early = replace(
        chunk,
        computation_start=chunk.computation_start - off,
        computation_end=chunk.computation_end - off,
    )
    expected = Violation("computes-before-received", name(chunk), received - off, received, off)
    return Corrupted(instance, with_chunk(chunks, index, early), (expected,))


@corruption("negative-load", "load-not-conserved")
def negative(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    times, owed = (chunk.transmission_start, chunk.transmission_end), draw(amounts)
    expected = (
        Violation("negative-load", name(chunk), *times, owed),
        Violation("load-not-conserved", "load", amount=chunk.load + owed),
    )
    new = with_chunk(chunks, index, replace(chunk, load=-owed))
    return Corrupted(instance, new, expected, alone=False)


@corruption("load-not-conserved", "transmission-duration", "computation-duration")
def leak(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    cluster = instance.cluster
    index, chunk = some_chunk(draw, chunks)
    lost = share(draw, F(chunk.load)) * draw(st.sampled_from([1, -1]))
    send = abs(lost) * cluster.tau_of(chunk.node)
    compute = abs(lost) * cluster.chi_of(chunk.node)
    sent = (chunk.transmission_start, chunk.transmission_end)
    computed = (chunk.computation_start, chunk.computation_end)
    expected = [
        Violation("transmission-duration", name(chunk), *sent, send),
        Violation("computation-duration", name(chunk), *computed, compute),
        Violation("load-not-conserved", "load", amount=lost),
    ]
    new = with_chunk(chunks, index, replace(chunk, load=chunk.load - lost))
    return Corrupted(instance, new, tuple(v for v in expected if v.amount))


@corruption("unknown-node", "load-not-conserved")
def strange_node(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    node = draw(st.sampled_from([-1, instance.cluster.nodes, 10**30]))
    return Corrupted(
        instance,
        with_chunk(chunks, index, replace(chunk, node=node)),
        (
            Violation("unknown-node", f"node {node}", amount=chunk.load),
            Violation("load-not-conserved", "load", amount=chunk.load),
        ),
    )


@corruption("deadline")
def too_late(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    first = min(instance.ready_times)
    end = max(chunk.computation_end for chunk in chunks)
    deadline = first + (end - first) * draw(shares_but_all)
    expected = tuple(
        Violation(
            "deadline", name(chunk), deadline, chunk.computation_end,
            chunk.computation_end - deadline,
        )
        for chunk in chunks
        if chunk.computation_end > deadline
    )  # fmt: skip
    assert expected
    return Corrupted(replace(instance, absolute_deadline=deadline), chunks, expected)
