"""The rules: every way in which a plan can break them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, Number, exact, least
from dlopt.problems.iit.data import Chunk, Instance, Solution
from dlopt.problems.intervals import Overlap, overlaps
from dlopt.problems.stated_order import in_stated_order
from dlopt.result import Violation

KINDS = (
    "unknown-node",
    "channel-overlap",
    "node-overlap",
    "not-ready",
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
    """Return by how much a plan that `violations` accepts may be better than exact plans.

    Parameters
    ----------
    instance : Instance
    name : {"completion", "nodes"}
    bound : Fraction
        What no exact plan is better than.
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
    return exact(tolerance) * _Rules(instance, tolerance, ()).span() + ROUNDING * bound


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every way in which a plan breaks the rules, decided in rational arithmetic.

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
        channel and node allow. This is looked at where nothing else is wrong.

    Returns
    -------
    tuple of Violation
        Empty if the plan is valid. Kinds: see `KINDS`.

    Notes
    -----
    A node holds one chunk at a time, from the start of its transmission to the end of its
    computation. Complexity: O(n log n) in the number of chunks.
    """
    known = tuple(c for c in solution.chunks if 0 <= c.node < instance.cluster.nodes)
    strange = (
        Violation("unknown-node", f"node {chunk.node}", amount=exact(chunk.load))
        for chunk in solution.chunks
        if not 0 <= chunk.node < instance.cluster.nodes
    )
    return (*strange, *_Rules(instance, tolerance, known).broken())


@dataclass(frozen=True)
class _Rules:
    """The rules of one instance, as exact numbers."""

    instance: Instance
    tolerance: float
    chunks: tuple[Chunk, ...]

    def broken(self) -> Iterator[Violation]:
        late = exact(self.tolerance) * self.span() if self.tolerance else Fraction(0)
        off = exact(self.tolerance) * exact(self.instance.load)
        sound = True
        for violation in self._one_by_one(late, off):
            sound = False
            yield violation
        if sound and self.tolerance:
            yield from self._timeline(late)

    def _one_by_one(self, late: Fraction, off: Fraction) -> Iterator[Violation]:
        """Yield what breaks a rule by itself, each by more than what is allowed."""
        yield from self._channel(late)
        yield from self._nodes(late)
        for chunk in self.chunks:
            yield from self._chunk(chunk, late, off)
        yield from self._load(off)

    def span(self) -> Fraction:
        """Return how long after the first ready time one node could be done with everything."""
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

    def _resolution(self, instant: Fraction) -> Fraction:
        """Return how much an instant may be off for being a float."""
        return abs(instant) * ROUNDING if self.tolerance else Fraction(0)

    def _channel(self, late: Fraction) -> Iterator[Violation]:
        sends = ((c.transmission_start, c.transmission_end) for c in self.chunks)
        for shared in self._overlaps(sends, late):
            yield Violation("channel-overlap", "channel", *shared)

    def _nodes(self, late: Fraction) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, counting from reception to result."""
        busy: dict[int, list[tuple[Number, Number]]] = defaultdict(list)
        for chunk in self.chunks:
            busy[chunk.node].append((chunk.transmission_start, chunk.computation_end))
        for node, intervals in busy.items():
            if len(intervals) > 1:
                for shared in self._overlaps(intervals, late):
                    yield Violation("node-overlap", f"node {node}", *shared)

    def _chunk(self, chunk: Chunk, late: Fraction, off: Fraction) -> Iterator[Violation]:
        cluster, deadline = self.instance.cluster, self.instance.absolute_deadline
        node, ready = f"node {chunk.node}", exact(self.instance.ready_times[chunk.node])
        load = exact(chunk.load)
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(chunk.node))
        compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node))
        late += self._resolution(done)
        if load < -off:
            yield Violation("negative-load", node, sent, received, -load)
        if ready - sent > late:
            yield Violation("not-ready", node, sent, ready, ready - sent)
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

    def _timeline(self, late: Fraction) -> Iterator[Violation]:
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
            if early > late + self._resolution(done):
                yield Violation(
                    "earlier-than-possible",
                    f"node {node}",
                    exact(chunk.computation_end),
                    done,
                    early,
                )

    def _load(self, off: Fraction) -> Iterator[Violation]:
        planned = sum((exact(chunk.load) for chunk in self.chunks), Fraction(0))
        missing = exact(self.instance.load) - planned
        if abs(missing) > off:
            yield Violation("load-not-conserved", "load", amount=missing)

    def _overlaps(
        self, intervals: Iterable[tuple[Number, Number]], late: Fraction
    ) -> Iterator[Overlap]:
        for shared in overlaps((exact(start), exact(end)) for start, end in intervals):
            if shared.amount > late + self._resolution(exact(shared.end)):
                yield shared
