"""The solution checker: a schedule against every constraint of the problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, exact, least
from dlopt.problems.checking import Checker
from dlopt.problems.iit.data import Chunk, Instance, Solution
from dlopt.problems.intervals import overlaps
from dlopt.problems.transmission_sequence import in_stated_order
from dlopt.result import Violation

KINDS = (
    "unknown-node",
    "channel-overlap",
    "node-overlap",
    "node-not-ready",
    "computes-before-received",
    "transmission-duration",
    "computation-duration",
    "negative-load",
    "load-not-conserved",
    "deadline",
    "earlier-than-possible",
)
"""The kinds of violation that `violations` tells apart."""


def allowed_gain(instance: Instance, name: str, bound: Fraction, tolerance: float) -> Fraction:
    """Return by how much a schedule that `violations` accepts may be better than exact ones.

    Parameters
    ----------
    instance : Instance
    name : {"completion", "nodes"}
    bound : Fraction
        A bound on the value of every exact schedule.
    tolerance : float
        As in `violations`.

    Returns
    -------
    Fraction
        A plan ends no earlier than its exact timeline but for the tolerance, once, and 64 units in
        the last place of its end. 0 for a number of nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=0, chi=1.5), (2**46,), load=1.0)
    >>> gain = allowed_gain(instance, "completion", Fraction(2**46) + Fraction(3, 2), 1e-9)
    >>> round(float(gain), 12), allowed_gain(instance, "nodes", Fraction(1), 1e-9)
    (1.0000000015, Fraction(0, 1))
    """
    if name != "completion":
        return Fraction(0)
    return exact(tolerance) * _Checker(instance, (), tolerance).time_scale + ROUNDING * bound


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        Relative: loads may be off by `tolerance` times the load, times by `tolerance` times the
        span, the time after the first ready time in which one node alone could do it all. The
        span is a matter of the instance; neither a plan nor the epoch of its clock can stretch
        it. If the tolerance is not 0, times may also be off by 64 units in the last place.
        What is allowed does not add up: no chunk may be done earlier, by more than one tolerance,
        than in the *exact timeline* of the plan, in which loads are scaled to sum up exactly and
        all chunks follow one another as in the plan, with their exact durations, each as early as
        channel and node allow. This is checked if nothing else is violated.

    Returns
    -------
    tuple of Violation
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    A node holds one chunk at a time, from the start of its transmission to the end of its
    computation. Complexity: O(n log n) in the number of chunks.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1, absolute_deadline=1)
    >>> print(*violations(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),))))
    deadline on node 0 in [1, 2] by 1
    """
    known = tuple(c for c in solution.chunks if 0 <= c.node < instance.cluster.nodes)
    strange = (
        Violation("unknown-node", f"node {chunk.node}", amount=exact(chunk.load))
        for chunk in solution.chunks
        if not 0 <= chunk.node < instance.cluster.nodes
    )
    return (*strange, *_Checker(instance, known, tolerance).violations())


class _Checker(Checker):
    """The checker of the chunks of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, chunks: tuple[Chunk, ...], tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.chunks = instance, chunks

    def violations(self) -> Iterator[Violation]:
        feasible = True
        for violation in self._local_violations():
            feasible = False
            yield violation
        if feasible and self.tolerance:
            yield from self.timeline_violations()

    def _local_violations(self) -> Iterator[Violation]:
        """Yield what violates a constraint by itself, each by more than the tolerance."""
        yield from self._channel_violations()
        yield from self._node_violations()
        for chunk in self.chunks:
            yield from self._chunk_violations(chunk)
        yield from self._load_violations()

    @cached_property
    def time_scale(self) -> Fraction:
        """The time after the first ready time in which one node alone could do everything."""
        cluster, ready = self.instance.cluster, self.instance.ready_times
        first = least(ready)
        nodes = [ready.index(first)] if cluster.identical else range(cluster.nodes)
        return min(
            exact(ready[node])
            - exact(first)
            + exact(cluster.theta_cm)
            + exact(cluster.theta_cp)
            + exact(self.instance.load)
            * (exact(cluster.tau_of(node)) + exact(cluster.chi_of(node)))
            for node in nodes
        )

    @property
    def load_tolerance(self) -> Fraction:
        """By how much loads may be off."""
        return self.tolerance * exact(self.instance.load)

    def _channel_violations(self) -> Iterator[Violation]:
        sends = [(exact(c.transmission_start), exact(c.transmission_end)) for c in self.chunks]
        yield from self.overlap_violations("channel-overlap", "channel", overlaps(sends))

    def _node_violations(self) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, counting from reception to result."""
        busy: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for chunk in self.chunks:
            occupied = exact(chunk.transmission_start), exact(chunk.computation_end)
            busy[chunk.node].append(occupied)
        for node, intervals in busy.items():
            yield from self.overlap_violations("node-overlap", f"node {node}", overlaps(intervals))

    def _chunk_violations(self, chunk: Chunk) -> Iterator[Violation]:
        cluster, deadline = self.instance.cluster, self.instance.absolute_deadline
        node, ready = f"node {chunk.node}", exact(self.instance.ready_times[chunk.node])
        load = exact(chunk.load)
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(chunk.node))
        compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node))
        late = self.time_tolerance(done)
        if load < -self.load_tolerance:
            yield Violation("negative-load", node, sent, received, -load)
        if ready - sent > late:
            yield Violation("node-not-ready", node, sent, ready, ready - sent)
        if abs(received - sent - send) > late:
            amount = abs(received - sent - send)
            yield Violation("transmission-duration", node, sent, received, amount)
        if abs(done - begun - compute) > late:
            amount = abs(done - begun - compute)
            yield Violation("computation-duration", node, begun, done, amount)
        if received - begun > late:
            yield Violation("computes-before-received", node, begun, received, received - begun)
        if deadline is not None and done - exact(deadline) > late:
            yield Violation("deadline", node, exact(deadline), done, done - exact(deadline))

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield the chunks that are done earlier than their exact durations allow in this order."""
        cluster = self.instance.cluster
        planned = sum((max(exact(chunk.load), Fraction(0)) for chunk in self.chunks), Fraction(0))
        scale = exact(self.instance.load) / planned if planned else Fraction(0)
        channel: Fraction | None = None
        free: dict[int, Fraction] = {}
        loads = ((chunk, max(exact(chunk.load), Fraction(0)) * scale) for chunk in self.chunks)
        for chunk, load in in_stated_order(loads):
            node = chunk.node
            send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(node))
            compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(node))
            start = free.get(node, exact(self.instance.ready_times[node]))
            if send:
                start = start if channel is None else max(start, channel)
                channel = start + send
            free[node] = done = start + send + compute
            early = done - exact(chunk.computation_end)
            if early > self.time_tolerance(done):
                yield Violation(
                    "earlier-than-possible",
                    f"node {node}",
                    exact(chunk.computation_end),
                    done,
                    early,
                )

    def _load_violations(self) -> Iterator[Violation]:
        planned = sum((exact(chunk.load) for chunk in self.chunks), Fraction(0))
        missing = exact(self.instance.load) - planned
        if abs(missing) > self.load_tolerance:
            yield Violation("load-not-conserved", "load", amount=missing)
