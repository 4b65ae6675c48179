"""Certificates of what small streams accept: branch and bound over the order of chunks.

minimise    -sum_i weight_i z_i
subject to  the rows of `dlopt.problems.admission.certified_sequences`

The columns, with ``a`` for a chunk: ``z_i`` accepts task `i`, ``p_a`` is the presence of a chunk,
``x_a`` its load, ``s_a`` its start, and ``y_a_b`` its being before another one. Only chunks that
can have load have columns, and only pairs whose windows overlap on a resource that both use: these
need an order. It is the program of `dlopt.models.admission.sequencing_milp`, with every ``y_a_b``
at most ``p_a``, which leaves a third of the cases, and nodes of equal costs in a fixed order, which
leaves a half of those.

Source: ours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise, permutations
from math import inf
from typing import NamedTuple

from dlopt.certificates import BoundCertificate
from dlopt.models.admission.proof_remarks import unit_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow
from dlopt.models.common.searched_program import ProofError, SearchedProgram

MAX_COLUMNS = 400
"""Columns up to which it is tried, about the square of the number of chunks. Chosen by hand."""
EFFORT = 250_000
"""Columns times subproblems at the most. Chosen by hand, for some seconds."""


class ProofChunk(NamedTuple):
    """A chunk: its number in the file, its task and its node."""

    number: int
    task: int
    node: int


class SequenceProgram:
    """The columns and rows of the program.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.

    Examples
    --------
    >>> from dlopt.problems.admission.data import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4), Task("b", 1, 1, 2)))
    >>> program = SequenceProgram(ScaledInstance.from_instance(instance), 1)
    >>> " ".join(program.names)
    'z_0 z_1 p_0 x_0 s_0 p_1 x_1 s_1 y_0_1 y_1_0'
    """

    def __init__(self, scaled: ScaledInstance, installments: int) -> None:
        self.scaled, self.installments = scaled, installments
        self.chunks = [
            ProofChunk((task.index * len(scaled.nodes) + j) * installments + n, i, j)
            for i, task in enumerate(scaled.tasks)
            for j in scaled.nodes
            for n in range(installments)
            if scaled.max_load(task, j) > 0
        ]
        pairs = ((a, b) for a, b in permutations(self.chunks, 2) if self._compete(a, b))
        self.orders = {(a, b): f"y_{a.number}_{b.number}" for a, b in pairs}
        tasks = [f"z_{task.index}" for task in scaled.tasks]
        self.names = [*tasks, *(f"{x}_{a.number}" for a in self.chunks for x in "pxs")]
        self.names += self.orders.values()
        self.column = {name: column for column, name in enumerate(self.names)}

    def searched(self) -> SearchedProgram:
        """Return the program with its objective."""
        scaled, tasks = self.scaled, len(self.scaled.tasks)
        weights = [-task.weight for task in scaled.tasks]
        upper = dict.fromkeys(self.names, ONE)
        for a in self.chunks:
            upper[f"x_{a.number}"] = self._most(a)
            upper[f"s_{a.number}"] = scaled.tasks[a.task].due
        first = [*range(tasks), *(self.column[f"p_{a.number}"] for a in self.chunks)]
        return SearchedProgram(
            names=tuple(self.names),
            costs=(*weights, *(ZERO for _ in self.names[tasks:])),
            upper=tuple(upper[name] for name in self.names),
            binaries=(*first, *(self.column[name] for name in self.orders.values())),
            rows=tuple(self.rows()),
            remarks=(
                f"instance: {(scaled.instance.name or 'unnamed')!r}",
                f"chunks: {self.installments}",
                *(f"{key}: {value}" for key, value in unit_remarks(scaled).items()),
                "columns: z_i accepts task i, p_a says that there is chunk a, x_a is its load,",
                "s_a the start of its transmission, y_a_b says that it is before chunk b",
                "objective value: at most the value of finished tasks less the minimum",
            ),
            step=scaled.value_granularity,
            first=tuple(first),
        )

    # -- rows ---------------------------------------------------------------------------------

    def rows(self) -> Iterator[NamedRow]:
        """Yield all rows."""
        for i, task in enumerate(self.scaled.tasks):
            yield self._load_row(i)
            if task.mandatory:
                yield self._row(f"promised_{task.index}", [(f"z_{task.index}", ONE)], ONE)
        for a in self.chunks:
            yield from self._rows_of_chunk(a)
        for a, b in self.orders:
            yield from self._rows_of_pair(a, b)
        yield from self._equal_rows()
        yield from self._window_rows()

    def _load_row(self, i: int) -> NamedRow:
        task = self.scaled.tasks[i]
        sent = [(f"x_{a.number}", ONE) for a in self.chunks if a.task == i]
        return self._row(f"load_{task.index}", [*sent, (f"z_{task.index}", -task.load)])

    def _rows_of_chunk(self, a: ProofChunk) -> Iterator[NamedRow]:
        number, here, begun = a.number, f"p_{a.number}", (f"s_{a.number}", -ONE)
        accepted, due = f"z_{self.scaled.tasks[a.task].index}", self._end(a, on_node=True)
        yield self._row(f"present_{number}", [(accepted, ONE), (here, -ONE)])
        yield self._row(f"chunk_{number}", [(here, self._most(a)), (f"x_{number}", -ONE)])
        yield self._row(f"start_{number}", [(f"s_{number}", ONE), (here, -self._ready(a))])
        yield self._row(f"due_{number}", [begun, *self._spare(a, due, on_node=True)])
        if (number + 1) % self.installments:
            yield self._row(f"next_{number}", [(here, ONE), (f"p_{number + 1}", -ONE)])

    def _rows_of_pair(self, a: ProofChunk, b: ProofChunk) -> Iterator[NamedRow]:
        """Yield that one of two chunks is before the other one, if both are there, and its row."""
        pairs = [pair for pair in ((a, b), (b, a)) if pair in self.orders]
        orders, name = [self.orders[pair] for pair in pairs], f"{a.number}_{b.number}"
        there = [(f"p_{one.number}", -ONE) for one in (a, b)]
        if a < b:
            yield self._row(f"pair_{name}", [*((y, ONE) for y in orders), *there], -ONE)
        first = (f"p_{a.number}", ONE)
        yield self._row(f"both_{name}", [first, *((y, -ONE) for y in orders)])
        if len(orders) == 1:
            last = (f"p_{b.number}", ONE)
            yield self._row(f"both_{b.number}_{a.number}", [last, (orders[0], -ONE)])
        yield self._order_row(a, b)

    def _order_row(self, a: ProofChunk, b: ProofChunk) -> NamedRow:
        """One chunk begins once the other one has left the resource that they share."""
        on_node, ready = a.node == b.node, self._ready(b)
        end = self._end(a, on_node)
        begun = [(f"s_{b.number}", ONE), (f"s_{a.number}", -ONE), (f"p_{b.number}", -ready)]
        terms = [*begun, *self._spare(a, end, on_node), (self.orders[a, b], ready - end)]
        return self._row(f"order_{a.number}_{b.number}", terms)

    def _window_rows(self) -> Iterator[NamedRow]:
        """Yield that the chunks of a window are no longer than it is, where they could be."""
        count, nodes = 0, self.scaled.nodes
        for on_node, chunks in [*((True, self._on(j)) for j in nodes), (False, self._on(None))]:
            for first in sorted({self._ready(a) for a in chunks}):
                later = [a for a in chunks if self._ready(a) >= first]
                for last in sorted({self._end(a, on_node) for a in later}):
                    inside = [a for a in later if self._end(a, on_node) <= last]
                    longest = sum(self._longest(a, on_node) for a in inside)
                    if longest > last - first and on_node == _is_on_node(inside):
                        used = [term for a in inside for term in self._spare(a, ZERO, on_node)]
                        yield self._row(f"window_{count}", used, first - last)
                        count += 1

    def _equal_rows(self) -> Iterator[NamedRow]:
        """Yield that one task uses equal nodes in their order: the one with most orders."""
        counts = Counter(one.task for pair in self.orders for one in pair)
        kinds = defaultdict[object, list[ProofChunk]](list)
        scaled, task = self.scaled, max(counts, key=counts.__getitem__, default=None)
        for a in self.chunks:
            if a.task == task and a.number % self.installments == 0:
                kinds[scaled.tau[a.node], scaled.chi[a.node], scaled.free[a.node]].append(a)
        for a, b in chain.from_iterable(map(pairwise, kinds.values())):
            if (a, b) in self.orders:
                terms = [(self.orders[a, b], ONE), (f"p_{b.number}", -ONE)]
                yield self._row(f"equal_{a.number}_{b.number}", terms)

    def _row(
        self, name: str, terms: Iterable[tuple[str, Fraction]], lower: Fraction = ZERO
    ) -> NamedRow:
        """Return a row of those terms that are not 0."""
        found = ((self.column[x], a) for x, a in terms if a)
        return NamedRow(name, tuple(found), lower, None)

    # -- chunks -------------------------------------------------------------------------------

    def _compete(self, a: ProofChunk, b: ProofChunk) -> bool:
        """Tell whether two chunks may be in each other's way, in this order."""
        on_node = a.node == b.node
        uses = all(any(self._time(one, on_node)) for one in (a, b))
        overlap = all(self._end(x, on_node) > self._ready(y) for x, y in ((a, b), (b, a)))
        return uses and overlap and (a < b or (a.task, a.node) != (b.task, b.node))

    def _on(self, node: int | None) -> list[ProofChunk]:
        """Return the chunks that take time on a node, or of the channel."""
        chunks = (a for a in self.chunks if node is None or a.node == node)
        return [a for a in chunks if any(self._time(a, node is not None))]

    def _ready(self, a: ProofChunk) -> Fraction:
        return self.scaled.earliest_start(self.scaled.tasks[a.task], a.node)

    def _end(self, a: ProofChunk, on_node: bool) -> Fraction:
        """Return until when it has a resource at the latest."""
        return self.scaled.tasks[a.task].due - (ZERO if on_node else self.scaled.theta_cp)

    def _most(self, a: ProofChunk) -> Fraction:
        return self.scaled.max_load(self.scaled.tasks[a.task], a.node)

    def _time(self, a: ProofChunk, on_node: bool) -> tuple[Fraction, Fraction]:
        """Return what its set-ups and a unit of load take of a resource."""
        scaled = self.scaled
        if on_node:
            return scaled.overhead, scaled.unit_time(a.node)
        return scaled.theta_cm, scaled.tau[a.node]

    def _longest(self, a: ProofChunk, on_node: bool) -> Fraction:
        setups, unit_time = self._time(a, on_node)
        return setups + unit_time * self._most(a)

    def _spare(self, a: ProofChunk, time: Fraction, on_node: bool) -> list[tuple[str, Fraction]]:
        """Return the terms of what it leaves of some time, if it is there."""
        setups, unit_time = self._time(a, on_node)
        return [(f"p_{a.number}", time - setups), (f"x_{a.number}", -unit_time)]


def certify_sequences(
    scaled: ScaledInstance,
    installments: int,
    value: Fraction | None,
    stop: float = inf,
    work: int | None = None,
    seed: int = 0,
) -> BoundCertificate:
    """Return the certificate that no plan accepts more than a value, or that there is none.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
    value : Fraction or None
        With that of the finished tasks; None if no plan accepts what must be accepted.
    stop : float
        Instant of the monotonic clock at which the search ends.
    work : int, optional
        So many subproblems are solved at the most.
    seed : int

    Raises
    ------
    ProofError
        If it is not found within `EFFORT`, or the program has too many columns, or no chunks.

    Examples
    --------
    >>> from dlopt.problems.admission.data import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4), Task("b", 1, 1, 2)))
    >>> certify_sequences(ScaledInstance.from_instance(instance), 1, ONE).bound
    Fraction(-1, 1)
    """
    chunks = len(scaled.tasks) * len(scaled.nodes) * installments
    program = SequenceProgram(scaled, installments) if chunks < MAX_COLUMNS else None
    if program is None or len(program.names) > MAX_COLUMNS:
        raise ProofError(f"its program would have more than {MAX_COLUMNS} columns")
    if not program.chunks:
        raise ProofError("no chunk of any task can be in time")
    bound = None if value is None else scaled.value_of_finished - value
    subproblems = min(EFFORT // len(program.names), work or EFFORT)
    return program.searched().certificate(bound, subproblems, stop, seed)


def _is_on_node(chunks: Sequence[ProofChunk]) -> bool:
    """Tell whether what chunks share is a node."""
    return len({a.node for a in chunks}) == 1


def derivation_of(certificate: BoundCertificate) -> str:
    """Say how a certificate proves its bound."""
    cases = len(certificate.leaves)
    plural = "s" * (cases != 1)
    return f"order of chunks, certified in exact arithmetic, {cases} case{plural}"
