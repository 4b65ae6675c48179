"""One divisible load over nodes that become ready at different times.

The nodes have *inserted idle times*: a node may be ready before the head node can send to it,
or stand idle until the last node of its group is free. A plan is a list of chunks; each is sent
over the one channel of the head node and then computed by its node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from annotated_types import MinLen

from dlopt.arithmetic import ROUNDING, Number, exact, is_exact, least, shown
from dlopt.errors import Fault, NotApplicableError
from dlopt.problems import validated_record
from dlopt.problems.cluster import Cluster
from dlopt.problems.intervals import Overlap, overlaps
from dlopt.problems.stated_order import in_stated_order
from dlopt.problems.validated_record import Header, NonNegative, Positive, Record
from dlopt.result import Objective, Violation

OBJECTIVES: Mapping[str, Objective] = {
    "completion": Objective("completion", "min"),
    "nodes": Objective("nodes", "min", needs="absolute_deadline"),
}

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


@dataclass(frozen=True, slots=True)
class Instance(Header):
    """One divisible load and the cluster as it stands.

    Parameters
    ----------
    cluster : Cluster
    ready_times : tuple of Number, shape (nodes,)
        When each node becomes free.
    load : Number
        What is to be split, in units of load; positive.
    absolute_deadline : Number, optional
        When all of it must be computed. It must lie after the first ready time.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> instance.exact
    True
    """

    problem: ClassVar[str] = "iit"

    cluster: Cluster
    ready_times: Annotated[tuple[NonNegative, ...], MinLen(1)]
    load: Positive
    absolute_deadline: NonNegative | None = None

    @classmethod
    def lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return how long the list of ready times must be."""
        return {"ready_times": known["cluster"].nodes} if "cluster" in known else {}

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: a deadline that nothing can meet."""
        ready, deadline = known.get("ready_times"), known.get("absolute_deadline")
        if ready is not None and deadline is not None and deadline <= min(ready):
            rule = f"must lie after the first ready time, {shown(min(ready), 15)}"
            yield Fault("absolute_deadline", deadline, rule)

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        deadline = () if self.absolute_deadline is None else (self.absolute_deadline,)
        return self.cluster.exact and is_exact((*self.ready_times, self.load, *deadline))


@dataclass(frozen=True, slots=True)
class Chunk(Record):
    """A part of the load: sent to a node, then computed there.

    Parameters
    ----------
    node : int
        0-based.
    load : Number
        Units of load.
    transmission_start, transmission_end : Number
    computation_start, computation_end : Number
    """

    node: int
    load: Number
    transmission_start: Number
    transmission_end: Number
    computation_start: Number
    computation_end: Number


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """A plan: chunks in any order; a node may get several, or none."""

    chunks: tuple[Chunk, ...]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> for fault in faults({"cluster": {"nodes": 0, "tau": 1}, "ready_times": [0], "load": -1}):
    ...     print(fault)
    cluster.nodes: must be at least 1, got 0
    cluster.chi: is missing
    load: must be positive, got -1
    """
    return validated_record.examine(Instance, data)[1]


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named: ``completion``."""
    return "completion"


def objective(instance: Instance, solution: Solution, name: str = "completion") -> Number:
    """Return what a plan is worth, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : {"completion", "nodes"}
        When the last chunk is computed, 0 if there is none; or how many different nodes get a
        chunk.

    Examples
    --------
    >>> one = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> objective(one, Solution((Chunk(0, 1, 0, 1, 1, 2),)))
    Fraction(2, 1)
    """
    if name == "completion":
        return exact(max((chunk.computation_end for chunk in solution.chunks), default=0))
    if name == "nodes":
        return len({chunk.node for chunk in solution.chunks})
    raise NotApplicableError(f"iit has no objective {name!r}: {', '.join(OBJECTIVES)}")


def origin(instance: Instance, name: str) -> Number:
    """Return the instant that an objective counts from if it is a date, else 0.

    Examples
    --------
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (9, 7), load=1)
    >>> origin(instance, "completion"), origin(instance, "nodes")
    (7, 0)
    """
    return least(instance.ready_times) if name == "completion" else 0


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
        late = exact(self.tolerance) * self._span() if self.tolerance else Fraction(0)
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

    def _span(self) -> Fraction:
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
