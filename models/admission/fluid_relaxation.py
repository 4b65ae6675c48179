"""The relaxation in which loads flow: it bounds every plan, with any number of chunks.

Instants divide time into intervals; in interval `k` of length ``L_k`` the nodes of kind `g`
(equal tau and chi) are free for ``C_gk`` in sum. Of task `i` they receive the fraction ``c_igk``
and compute ``w_igk``; ``S_igk`` is what they have received and not computed at the end of it.

maximise    sum_i weight_i z_i
subject to  sum_gk c_igk = z_i                                         all or nothing
            S_igk = S_ig,k-1 + c_igk - w_igk,  S = 0 in the end        compute what was received
            sum_ig load_i tau_g c_igk <= L_k                           one port
            sum_i load_i (tau_g c_igk + chi_g w_igk) <= C_gk           receive or compute
            z_i in {0, 1}

A task needs as many chunks as nodes, the best of them filled until its deadline. Each of them
costs set-up times, which flow like loads: they take time of the port and of nodes, too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram
from dlopt.models.admission.scaled_instance import Case, Job

MOST_CELLS = 20_000
"""Pairs of a task and an interval; beyond, intervals are merged and windows widened to them."""
MOST_KINDS = 6
"""Kinds of nodes; beyond, neighbours are merged, and get the least tau and the least chi."""
_FINE = 64
"""Up to this many nodes, the instants at which they become free divide time."""

_UNIT = (Fraction(0), Fraction(1))


class Kind(NamedTuple):
    """Nodes that cost the same."""

    tau: Fraction
    chi: Fraction
    nodes: tuple[int, ...]


class Flow(NamedTuple):
    """Where a column stands: the job, the kind of nodes and the interval, by their indices."""

    job: int
    kind: int
    interval: int


class FluidModel:
    """The program above, in fractions.

    Parameters
    ----------
    case : Case
    everyone : bool
        Accept all tasks, instead of as many as possible.

    Attributes
    ----------
    accepted : list of int
        The columns ``z``, one a job.
    received, computed : dict of Flow to int
        The columns ``c`` and ``w``.
    """

    def __init__(self, case: Case, everyone: bool = False) -> None:
        self.case, self.everyone = case, everyone
        self.kinds = _kinds(case)
        self.instants = _instants(case)
        self.lengths = [b - a for a, b in zip(self.instants, self.instants[1:], strict=False)]
        self.free = [[self._free(kind, k) for k in range(len(self.lengths))] for kind in self.kinds]
        self.bounds: list[tuple[Fraction, Fraction]] = []
        self.rows: list[tuple[tuple[int, Fraction], ...]] = []
        self.sides: list[tuple[Fraction | None, Fraction | None]] = []
        self.port: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
        self.held: dict[tuple[int, int], list[tuple[int, Fraction]]] = defaultdict(list)
        self.received: dict[Flow, int] = {}
        self.computed: dict[Flow, int] = {}
        self.chunks = [case.least_chunks(job) for job in case.jobs]
        self.accepted = [
            self._column(*self._choice(job, chunks))
            for job, chunks in zip(case.jobs, self.chunks, strict=True)
        ]

    def maximise_weight(self) -> LinearProgram:
        """State the program above, as a minimisation."""
        for i, chunks in enumerate(self.chunks):
            if chunks is None:
                self._add_total(i, {})
            else:
                self.add_flow(i)
                self.add_setups(i, chunks)
        self.add_one_port()
        self.add_node_times()
        costs = [Fraction(0)] * len(self.bounds)
        for job, column in zip(self.case.jobs, self.accepted, strict=True):
            costs[column] = -job.weight
        return LinearProgram(
            len(self.bounds),
            tuple(costs),
            tuple(self.rows),
            tuple(self.sides),
            tuple(self.bounds),
            sense=-1,
        )

    def names(self) -> list[str]:
        """Name the columns: ``z_i``, ``c_i_g_k`` and ``w_i_g_k`` as above, the others ``x_n``.

        Here `i` counts the tasks of the instance.
        """
        tasks = [job.index for job in self.case.jobs]
        names = [f"x_{n}" for n in range(len(self.bounds))]
        for i, column in enumerate(self.accepted):
            names[column] = f"z_{tasks[i]}"
        for letter, columns in (("c", self.received), ("w", self.computed)):
            for (i, g, k), column in columns.items():
                names[column] = f"{letter}_{tasks[i]}_{g}_{k}"
        return names

    def add_flow(self, i: int) -> None:
        """Receive and compute an accepted task, all of it, in its window; first receive."""
        job, case = self.case.jobs[i], self.case
        send = (job.release + case.theta_cm, job.due - case.theta_cp)
        compute = (job.release + case.overhead, job.due)
        received = self._spread(i, *send)
        computed = self._spread(i, *compute)
        self.received |= received
        self.computed |= computed
        for flow, column in received.items():
            self._use(flow, column, job.load * self.kinds[flow.kind].tau, port=True)
        for flow, column in computed.items():
            self._use(flow, column, job.load * self.kinds[flow.kind].chi, port=False)
        for g in range(len(self.kinds)):
            self._add_causality(
                [flow for flow in dict.fromkeys((*received, *computed)) if flow.kind == g]
            )
        self._add_total(i, received)

    def _add_causality(self, flows: list[Flow]) -> None:
        stock: int | None = None
        flows.sort()
        for flow in flows:
            terms = [] if stock is None else [(stock, Fraction(1))]
            if flow in self.received:
                terms.append((self.received[flow], Fraction(1)))
            if flow in self.computed:
                terms.append((self.computed[flow], Fraction(-1)))
            if flow is not flows[-1]:
                stock = self._column(*_UNIT)
                terms.append((stock, Fraction(-1)))
            self._row(terms, Fraction(0), Fraction(0))

    def add_setups(self, i: int, chunks: int) -> None:
        """Take the set-up times of the fewest chunks that an accepted task needs."""
        job, case = self.case.jobs[i], self.case
        for cost, start, end, port in (
            (case.theta_cm, job.release, job.due - case.theta_cp, True),
            (case.theta_cp, job.release + case.theta_cm, job.due, False),
        ):
            if cost:
                spread = self._spread(i, start, end)
                for flow, column in spread.items():
                    self._use(flow, column, chunks * cost, port=port)
                self._add_total(i, spread)

    def add_one_port(self) -> None:
        """Send for no longer than an interval lasts."""
        for k, terms in self.port.items():
            self._row(terms, None, self.lengths[k])

    def add_node_times(self) -> None:
        """Let the nodes of a kind receive or compute for no longer than they are free."""
        for (g, k), terms in self.held.items():
            self._row(terms, None, self.free[g][k])

    def _add_total(self, i: int, spread: dict[Flow, int]) -> None:
        terms = [(column, Fraction(1)) for column in spread.values()]
        self._row([*terms, (self.accepted[i], Fraction(-1))], Fraction(0), Fraction(0))

    def _choice(self, job: Job, chunks: int | None) -> tuple[Fraction, Fraction]:
        needed = Fraction(job.must or self.everyone)
        return needed, max(needed, Fraction(chunks is not None))

    def _spread(self, i: int, start: Fraction, end: Fraction) -> dict[Flow, int]:
        """Return a column for each kind of nodes and each interval of a window."""
        return {
            Flow(i, g, k): self._column(*_UNIT)
            for g in range(len(self.kinds))
            for k in self._within(start, end)
            if self.free[g][k] > 0
        }

    def _within(self, start: Fraction, end: Fraction) -> range:
        first = max(bisect_right(self.instants, start) - 1, 0)
        return range(first, min(bisect_left(self.instants, end), len(self.lengths)))

    def _use(self, flow: Flow, column: int, time: Fraction, *, port: bool) -> None:
        if time:
            self.held[flow.kind, flow.interval].append((column, time))
            if port:
                self.port[flow.interval].append((column, time))

    def _free(self, kind: Kind, k: int) -> Fraction:
        start, end = self.instants[k], self.instants[k + 1]
        free = (end - max(start, self.case.free[node]) for node in kind.nodes)
        return sum((time for time in free if time > 0), Fraction(0))

    def _column(self, lower: Fraction, upper: Fraction) -> int:
        self.bounds.append((lower, upper))
        return len(self.bounds) - 1

    def _row(
        self, terms: list[tuple[int, Fraction]], lower: Fraction | None, upper: Fraction | None
    ) -> None:
        self.rows.append(tuple(terms))
        self.sides.append((lower, upper))


def _kinds(case: Case) -> list[Kind]:
    nodes = defaultdict(list)
    for node in case.nodes:
        nodes[case.tau[node], case.chi[node]].append(node)
    kinds = [Kind(*costs, tuple(nodes[costs])) for costs in sorted(nodes)]
    while len(kinds) > MOST_KINDS:
        kinds = [_merged(kinds[p : p + 2]) for p in range(0, len(kinds), 2)]
    return kinds


def _merged(kinds: list[Kind]) -> Kind:
    together = tuple(node for kind in kinds for node in kind.nodes)
    return Kind(min(kind.tau for kind in kinds), min(kind.chi for kind in kinds), together)


def _instants(case: Case) -> list[Fraction]:
    """Return the instants that divide time, as many as `MOST_CELLS` allows."""
    instants = sorted(set(_moments(case)))
    cells = sum(
        bisect_left(instants, job.due) - bisect_left(instants, job.release) for job in case.jobs
    )
    step = -(-cells * min(len(_kinds(case)), MOST_KINDS) // MOST_CELLS)
    return instants if step <= 1 else [*instants[:-1:step], instants[-1]]


def _moments(case: Case) -> Iterator[Fraction]:
    first = min((job.release for job in case.jobs), default=Fraction(0))
    last = max((job.due for job in case.jobs), default=first)
    for job in case.jobs:
        for shift in {Fraction(0), case.theta_cm, case.overhead}:
            yield min(job.release + shift, last)
        for shift in {Fraction(0), case.theta_cp}:
            yield max(job.due - shift, first)
    if len(case.nodes) <= _FINE:
        yield from (max(first, min(free, last)) for free in case.free)
