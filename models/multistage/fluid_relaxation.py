"""The relaxation in which loads flow around reservations: it bounds every plan.

To the program of `dlopt.models.admission.fluid_relaxation` come reservations `r`, accepted or not
by a binary ``q_r``; ``h_rg`` of their nodes are of kind `g`. With ``I_rk`` and ``N_rk`` for how
long the reservation holds the channel and its nodes in interval `k`:

maximise    sum_i weight_i z_i + sum_r weight_r q_r
subject to  sum_ig load_i tau_g c_igk + sum_r I_rk q_r <= L_k            one port
            sum_i load_i (tau_g c_igk + chi_g w_igk) + sum_r N_rk h_rg <= C_gk
            sum_g h_rg = count_r q_r                                     any nodes
            sum of q_r, of those that want one node, or the channel, at an instant <= 1
            z_i, q_r in {0, 1}

Of a reservation that names its nodes ``h_rg`` is ``q_r`` times as many as it names of the kind.
Nodes are of one kind if they cost the same and are named by the same reservations; where these
are too many, neighbours are merged, which relaxes the program.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from dlopt.backends.linear_program import LinearProgram
from dlopt.models.admission import fluid_relaxation
from dlopt.models.admission.fluid_relaxation import Flow, Kind
from dlopt.models.multistage.reservations import Booking
from dlopt.models.multistage.scaled_instance import Case

MOST_CELLS = 20_000
"""Triples of a task, an interval and a kind; beyond, kinds and then intervals are merged."""
MOST_KINDS = 6
"""Kinds of nodes that are kept apart, for their costs or what names them, before intervals are."""
_FINE = 64
"""Up to this many, the instants at which nodes become free divide time, and nodes into kinds."""


class FluidModel(fluid_relaxation.FluidModel):
    """The program above, in fractions.

    Parameters
    ----------
    case : Case

    Attributes
    ----------
    accepted, taken : list of int
        The columns ``z`` and ``q``.
    """

    def __init__(self, case: Case) -> None:
        self.whole, self.case, self.everyone = case, case.stream, False
        self.instants = _instants(case)
        self.kinds = self._merged_kinds()
        self.instants = self._merged_instants()
        self.lengths = [b - a for a, b in zip(self.instants, self.instants[1:], strict=False)]
        self.free = [[self._free(kind, k) for k in range(len(self.lengths))] for kind in self.kinds]
        self.bounds: list[tuple[Fraction, Fraction]] = []
        self.rows: list[tuple[tuple[int, Fraction], ...]] = []
        self.sides: list[tuple[Fraction | None, Fraction | None]] = []
        self.port: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
        self.held: dict[tuple[int, int], list[tuple[int, Fraction]]] = defaultdict(list)
        self.received: dict[Flow, int] = {}
        self.computed: dict[Flow, int] = {}
        self.chunks = [self.case.least_chunks(job) for job in case.jobs]
        self.accepted = [
            self._column(*self._choice(job, chunks))
            for job, chunks in zip(case.jobs, self.chunks, strict=True)
        ]
        self.taken = [self._column(Fraction(one.must), Fraction(1)) for one in case.bookings]

    def maximise_weight(self) -> LinearProgram:
        """State the program above, as a minimisation."""
        for i, chunks in enumerate(self.chunks):
            if chunks is None:
                self._add_total(i, {})
            else:
                self.add_flow(i)
                self.add_setups(i, chunks)
        for r in range(len(self.taken)):
            self.add_booking(r)
        self.add_one_port()
        self.add_node_times()
        self.add_conflicts()
        costs = [Fraction(0)] * len(self.bounds)
        for one, column in zip(self.case.jobs, self.accepted, strict=True):
            costs[column] = -one.weight
        for booking, column in zip(self.whole.bookings, self.taken, strict=True):
            costs[column] = -booking.weight
        return LinearProgram(
            len(self.bounds),
            tuple(costs),
            tuple(self.rows),
            tuple(self.sides),
            tuple(self.bounds),
            sense=-1,
        )

    def names(self) -> list[str]:
        """Name the columns: as in `admission`, and ``q_r`` counts the instance's reservations."""
        names = super().names()
        for booking, column in zip(self.whole.bookings, self.taken, strict=True):
            names[column] = f"q_{booking.index}"
        return names

    def add_booking(self, r: int) -> None:
        """Hold the channel and nodes for a reservation, unless something is in its way."""
        booking, q = self.whole.bookings[r], self.taken[r]
        if booking.obstacle is not None:
            self._row([(q, Fraction(1))], None, Fraction(0))
            return
        for k in self._within(booking.start, booking.sent):
            self.port[k].append((q, self._shared(k, booking.start, booking.sent)))
        start = max(booking.start, self.whole.now)  # before, no node counts as free
        for g, (column, nodes) in self._nodes_of(r).items():
            for k in self._within(start, booking.end) if start < booking.end else ():
                self.held[g, k].append((column, nodes * self._shared(k, start, booking.end)))

    def add_conflicts(self) -> None:
        """Give the channel, and each node, to one reservation at a time."""
        bookings = self.whole.bookings
        cliques: dict[frozenset[int], None] = {}
        for one in bookings:
            sends, holds = list[int](), defaultdict[int, list[int]](list)
            for r, other in enumerate(bookings):
                if other.start <= one.start < other.sent:
                    sends.append(r)
                if other.named and other.start <= one.start < other.end:
                    for node in other.able:
                        holds[node].append(r)
            for together in (sends, *holds.values()):
                if len(together) > 1:
                    cliques[frozenset(together)] = None
        for clique in cliques:
            terms = [(self.taken[r], Fraction(1)) for r in sorted(clique)]
            self._row(terms, None, Fraction(1))

    def _nodes_of(self, r: int) -> dict[int, tuple[int, int]]:
        """Return how many nodes of each kind a reservation holds, as a column times a number."""
        booking, q = self.whole.bookings[r], self.taken[r]
        able = set(booking.able)
        there = {g: len(able.intersection(kind.nodes)) for g, kind in enumerate(self.kinds)}
        there = {g: count for g, count in there.items() if count}
        if booking.named:
            return {g: (q, count) for g, count in there.items()}
        if len(there) == 1:
            return dict.fromkeys(there, (q, booking.count))
        held = {g: (self._column(Fraction(0), Fraction(n)), 1) for g, n in there.items()}
        terms = [(column, Fraction(1)) for column, _ in held.values()]
        self._row([*terms, (q, Fraction(-booking.count))], Fraction(0), Fraction(0))
        return held

    def _shared(self, k: int, start: Fraction, end: Fraction) -> Fraction:
        return min(end, self.instants[k + 1]) - max(start, self.instants[k])

    def _merged_kinds(self) -> list[Kind]:
        """Return the kinds of nodes, as many as `MOST_CELLS` allows."""
        kinds = _kinds(self.whole)
        most = max(MOST_CELLS // max(self._cells(), 1), MOST_KINDS)
        while len(kinds) > most:
            kinds = [_merged(kinds[p : p + 2]) for p in range(0, len(kinds), 2)]
        return kinds

    def _merged_instants(self) -> list[Fraction]:
        step = -(-self._cells() * len(self.kinds) // MOST_CELLS)
        if step <= 1:
            return self.instants
        return [*self.instants[:-1:step], self.instants[-1]]

    def _cells(self) -> int:
        """Return how many pairs of a task and an interval there are."""
        at = self.instants
        return sum(
            bisect_left(at, job.due) - bisect_right(at, job.release) for job in self.case.jobs
        )


def _kinds(case: Case) -> list[Kind]:
    """Return nodes that cost the same, are ready together and named together."""
    stream, named = case.stream, defaultdict[int, list[int]](list)
    for r, booking in enumerate(case.bookings):
        for node in booking.able if booking.named else ():
            named[node].append(r)
    first = min((job.release for job in case.jobs), default=Fraction(0))
    fine = len(set(stream.free)) <= _FINE
    nodes = defaultdict(list)
    for j in stream.nodes:
        free = max(stream.free[j], first) if fine else first
        nodes[stream.tau[j], stream.chi[j], tuple(named[j]), free].append(j)
    return [Kind(key[0], key[1], tuple(nodes[key])) for key in sorted(nodes)]


def _merged(kinds: list[Kind]) -> Kind:
    together = tuple(node for kind in kinds for node in kind.nodes)
    return Kind(min(kind.tau for kind in kinds), min(kind.chi for kind in kinds), together)


def _instants(case: Case) -> list[Fraction]:
    """Return the instants at which something begins or ends."""
    instants = set(_moments(case))
    return sorted(instants) if len(instants) > 1 else [*instants, *(t + 1 for t in instants)]


def _moments(case: Case) -> Iterator[Fraction]:
    stream, jobs = case.stream, case.jobs
    yield case.now
    for booking in case.bookings:
        yield from _window(booking)
    first = min((job.release for job in jobs), default=Fraction(0))
    last = max((job.due for job in jobs), default=first)
    for job in jobs:
        for shift in {Fraction(0), stream.theta_cm, stream.overhead}:
            yield min(job.release + shift, last)
        for shift in {Fraction(0), stream.theta_cp}:
            yield max(job.due - shift, first)
    instants = set(stream.free)
    yield from (max(first, min(t, last)) for t in instants if len(instants) <= _FINE)


def _window(booking: Booking) -> tuple[Fraction, Fraction, Fraction]:
    return booking.start, booking.sent, booking.end
