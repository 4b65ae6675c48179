"""The relaxation over spans of chunks: an upper bound for schedules of few chunks a node.

Instants ``t_m`` divide time into intervals of lengths ``L_m``. The *span* of a chunk says in which
interval `p` its transmission starts, in which one `q` it is sent, and in which one `r` it ends. For
each task `i`, each group of nodes with equal costs, and each span, `n` chunks have the load `x`
together, and `y` is the time from their starts to the ends of the interval of these:

maximise    sum_i weight_i z_i
subject to  sum x = load_i z_i,   sum n <= K N_g z_i        of task i, of its chunks in group g
            least n <= x <= most n                          the load that the span allows
            y <= L_p n                                      they start in p
            (t_q - t_{p+1}) n <= theta_cm n + tau x - y <= (t_{q+1} - t_{p+1}) n
            (t_r - t_{p+1}) n <= theta n + (tau + chi) x - y <= (t_{r+1} - t_{p+1}) n
            sum of what is sent in interval m <= L_m
            sum of what is occupied in interval m <= free time of the group's nodes
            sum n <= 1 or N_g       of chunks on the port, on nodes of a group, at an instant
            y, n, x >= 0,   z_i in {0, 1}                   n is an integer, which is relaxed

Here theta is ``theta_cm + theta_cp``, and the left sides are not there if `q`, or `r`, is `p`.
Until the end of interval `m` the chunks occupy ``theta n + (tau + chi) x``, if they have ended,
else ``y + n (t_{m+1} - t_{p+1})``; of the port likewise ``theta_cm n + tau x``, if they are sent.

**Occupancy cuts.** Let `B` be the largest ``chi / (tau + chi)``. Any `n` chunks that start in a
window of length `L` occupy their nodes in it for at most

    theta_cp n + L (1 + B + ... + B^(n-1)).

*Proof.* When chunk `k` starts, ``R_k <= L - (port times of those before)`` is left of the window.
In it, it occupies its node for ``o_k <= R_k`` and the port for at least ``(1 - B) (o_k -
theta_cp)``. So ``R_{k+1} <= R_k - (1 - B) (o_k - theta_cp)``, and the sum of ``o_k - theta_cp`` is
largest if each is ``R_k = B^(k-1) L``. The bound is concave in `n`, and may be interpolated.

Certificates are checked by `dlopt.problems.admission.certified_spans`. Source: ours; on interval-
indexed formulations see Hall, Schulz, Shmoys and Wein, Math. Oper. Res. 22 (1997) 513-544.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from dlopt.backends.linear_program import ProgramBuilder, Row
from dlopt.models.admission.fluid_relaxation import NodeGroup, Terms, group_nodes
from dlopt.models.admission.proof_span_grid import Span, halved, instants_of, span_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance, ScaledTask
from dlopt.models.admission.window_capacity import round_up
from dlopt.models.common.named_rows import ONE, ZERO, Expression, difference
from dlopt.models.common.stream_bounds import AcceptanceProgram, UpperBound, relaxation_bound
from dlopt.result import Limits

MAX_NODES = 400
"""Branch-and-bound nodes of one bound. Chosen by hand."""
MAX_CUTS_PER_ROUND = 20
"""Chosen by hand: more cuts save rounds and make each linear program larger."""
MIN_VIOLATION = 1e-5
"""Relative violation from which on a cut is added, above the solver's feasibility tolerance."""
MAX_ROUNDS = 3
"""Rounds of cuts while acceptances are fractional: branching is better than more. Measured."""
ZERO_COUNT = 1e-9
"""Numbers of chunks up to which a span counts as unused where cuts are looked for."""


class OccupancyCut(NamedTuple):
    """A violated cut, interpolated between `m` and ``m + 1`` chunks."""

    violation: float
    first: int
    last: int
    m: int
    spans: list[Span]


class ChunkSpanRelaxation(ProgramBuilder):
    """The program above, in fractions, and its cuts.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        `K`: chunks that a task may have on a node.
    dividing : collection of Fraction
        Instants that divide the time of the tasks besides their dates.
    most : int, optional
        No more spans are listed.

    Attributes
    ----------
    conflicts : sequence of collection of int
        Requests, by their positions among the binaries, that are not accepted together.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> relaxation = ChunkSpanRelaxation(ScaledInstance.from_instance(instance), 1)
    >>> relaxation.upper_bound(Limits(), known_value=None, seed=0).value
    Fraction(1, 1)
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        dividing: Collection[Fraction] = (),
        most: int | None = None,
    ) -> None:
        super().__init__()
        self.scaled, self.installments = scaled, installments
        self.groups = [  # merged ones may have nodes without tau and others without chi
            group._replace(chi=min(map(scaled.unit_time, group.nodes)) - group.tau)
            for group in self.grouped_nodes()
        ]
        self.instants = instants_of(scaled, dividing, self.more_instants())
        self.use = defaultdict[tuple[int | None, int, bool], Terms](list)
        self.accepted = [
            self.add_column(Fraction(task.mandatory), ONE, cost=-task.weight)
            for task in scaled.tasks
        ]
        spans = (
            (i, g, *intervals)
            for i, task in enumerate(scaled.tasks)
            for g, group in enumerate(self.groups)
            for intervals in self.intervals_of_spans(task, group)
        )
        self.spans = [self._add_span(*span) for span in islice(spans, most)]
        is_sent = all(group.tau for group in self.groups)
        self.share = max(g.chi / (g.tau + g.chi) for g in self.groups) if is_sent else None
        self.binaries, self.has_cuts = self.accepted, is_sent
        self.rounds, self.row_names = 0, list[str]()
        self.conflicts: Sequence[Collection[int]] = ()

    def grouped_nodes(self) -> list[NodeGroup]:
        """Return the groups of nodes."""
        return group_nodes(self.scaled)

    def more_instants(self) -> Collection[Fraction]:
        """Return instants that divide time besides those of tasks and nodes."""
        return ()

    def gap(self, m: int) -> tuple[int, ...]:
        """Return the ends of the gap of an interval, in which nodes have `K` chunks of a task."""
        return ()

    def is_free(self, node: int, instant: Fraction) -> bool:
        """Tell whether a node may be in use at an instant."""
        return self.scaled.free[node] < instant

    def upper_bound(
        self, limits: Limits, known_value: Fraction | None, seed: int, exact_only: bool = False
    ) -> UpperBound:
        """Bound the objective value of schedules, as `relaxation_bound` does."""
        about = limits, known_value, False, exact_only, seed
        return relaxation_bound(self.scaled, self.program, *about)

    def program(self) -> AcceptanceProgram:
        """State the program above, as a minimisation."""
        self.add_rows()
        self._add_resources()
        return AcceptanceProgram(
            self.build(sense=-1),
            self.binaries,
            self.column_names(),
            span_remarks(self.scaled, self.installments, self.instants, self.groups),
            MAX_NODES,
            self.separate if self.has_cuts else None,
            " over spans of chunks",
            self.row_names,
        ).excluding(self.conflicts)

    def add_rows(self) -> None:
        """Add the rows of chunks and tasks, and the uses of port and nodes."""
        for span in self.spans:
            self._add_chunks(span)
            self._add_use(span)
        self._add_tasks()

    def column_names(self) -> list[str]:
        """Return the names of the columns; tasks are counted as in the instance."""
        names = [f"z_{task.index}" for task in self.scaled.tasks]
        for span in self.spans:
            names += (f"{letter}_{self._name_of(span)}" for letter in "nxy")
        return names

    def _name_of(self, span: Span) -> str:
        return "_".join(map(str, (self.scaled.tasks[span.task].index, *span[1:5])))

    def add_named(
        self,
        name: str,
        terms: Iterable[tuple[int, Fraction]],
        lower: Fraction | None,
        upper: Fraction | None,
    ) -> None:
        """Add a row with the name that it has in a certificate."""
        self.row_names.append(name)
        self.add_row(terms, lower, upper)

    def intervals_of_spans(
        self, task: ScaledTask, group: NodeGroup
    ) -> Iterator[tuple[int, int, int, Fraction, Fraction]]:
        """Yield start, sent and end of each span, with the least and the most load of a chunk."""
        scaled, t = self.scaled, self.instants
        unit_time = group.tau + group.chi
        # A chunk from start to end is sent at (1 - share) start + share end + shift.
        share = group.tau / unit_time
        shift = scaled.theta_cm - share * scaled.overhead
        first = bisect_right(t, max(task.release, min(scaled.free[j] for j in group.nodes))) - 1
        last = bisect_left(t, task.due)
        longest = scaled.overhead + unit_time * task.load
        for start in range(first, last):
            for end in range(start, last):
                if t[end] - t[start + 1] > longest:
                    break
                earliest = (1 - share) * t[start] + share * t[end] + shift
                latest = (1 - share) * t[start + 1] + share * t[end + 1] + shift
                sent = max(start, bisect_left(t, earliest) - 1)
                while sent <= end and (sent == start or t[sent] < latest):
                    least, most = self._loads_of_chunk(task, group, start, sent, end)
                    if least <= most and most > 0:
                        yield start, sent, end, least, most
                    sent += 1

    def _loads_of_chunk(
        self, task: ScaledTask, group: NodeGroup, start: int, sent: int, end: int
    ) -> tuple[Fraction, Fraction]:
        """Return the least and the most load of a chunk with a span."""
        scaled, t = self.scaled, self.instants
        least, most = ZERO, task.load
        for setup, unit_time, one, other in (
            (scaled.theta_cm, group.tau, start, sent),
            (scaled.theta_cp, group.chi, sent, end),
            (scaled.overhead, group.tau + group.chi, start, end),
        ):
            if unit_time:
                least = max(least, (t[other] - t[one + 1] - setup) / unit_time)
                most = min(most, (t[other + 1] - t[one] - setup) / unit_time)
        return least, most

    def _add_span(
        self, i: int, g: int, start: int, sent: int, end: int, least: Fraction, most: Fraction
    ) -> Span:
        """Add the columns of a span."""
        count = ONE if sent > start else Fraction(len(self.groups[g].nodes) * self.installments)
        length = self.instants[start + 1] - self.instants[start]
        n, x, y = (self.add_column(ZERO, count * of) for of in (ONE, most, length))
        return Span(i, g, start, sent, end, n, x, y, least, most)

    def used_until(self, span: Span, m: int) -> tuple[Expression, Expression]:
        """Return what chunks use of nodes and of the port up to the end of an interval."""
        group, scaled, t = self.groups[span.group], self.scaled, self.instants
        if m < span.start:
            return {}, {}
        partly = {span.time: ONE, span.chunks: t[m + 1] - t[span.start + 1]}
        occupied = {span.chunks: scaled.overhead, span.load: group.tau + group.chi}
        sent = {span.chunks: scaled.theta_cm, span.load: group.tau}
        return occupied if m >= span.end else partly, sent if m >= span.sent else partly

    def _used_in(self, span: Span, m: int) -> tuple[Expression, Expression]:
        """Return what chunks use of nodes and of the port in an interval."""
        until, before = self.used_until(span, m), self.used_until(span, m - 1)
        return difference(until[0], before[0]), difference(until[1], before[1])

    def _add_chunks(self, span: Span) -> None:
        """Limit the loads, starts and ends of chunks to their span."""
        name, t, (n, x, y) = self._name_of(span), self.instants, span[5:8]
        group, begun = self.groups[span.group], t[span.start + 1]
        self.add_named(f"load_{name}", [(x, ONE), (n, -span.least)], ZERO, None)
        self.add_named(f"load_{name}", [(x, ONE), (n, -span.most)], None, ZERO)
        self.add_named(f"start_{name}", [(y, ONE), (n, t[span.start] - begun)], None, ZERO)
        for kind, setup, unit_time, last in (
            ("sent", self.scaled.theta_cm, group.tau, span.sent),
            ("end", self.scaled.overhead, group.tau + group.chi, span.end),
        ):
            for m, sides in ((last, (ZERO, None)), (last + 1, (None, ZERO))):
                if m > span.start:
                    terms = [(n, setup - t[m] + begun), (x, unit_time), (y, -ONE)]
                    self.add_named(f"{kind}_{name}", terms, *sides)

    def _add_tasks(self) -> None:
        """Send the whole load of an accepted task, in few chunks."""
        loads = defaultdict[int, Terms](list)
        chunks = defaultdict[tuple[int, int, tuple[int, ...]], Terms](list)
        for span in self.spans:
            loads[span.task].append((span.load, ONE))
            chunks[span.task, span.group, self.gap(span.start)].append((span.chunks, ONE))
        for i, (task, z) in enumerate(zip(self.scaled.tasks, self.accepted, strict=True)):
            self.add_named(f"load_{task.index}", [*loads[i], (z, -task.load)], ZERO, ZERO)
        for (i, g, gap), terms in chunks.items():
            most = len(self.groups[g].nodes) * self.installments
            name = "_".join(map(str, ("chunks", self.scaled.tasks[i].index, g, *gap)))
            self.add_named(name, [*terms, (self.accepted[i], Fraction(-most))], None, ZERO)

    def _add_use(self, span: Span) -> None:
        """Use port and nodes in the intervals of a span, and at the instants between them."""
        for m in range(span.start, span.end + 1):
            occupied, sent = self._used_in(span, m)
            self.use[span.group, m, False] += occupied.items()
            self.use[None, m, False] += sent.items()
            if m > span.start:
                self.use[span.group, m, True].append((span.chunks, ONE))
            if span.start < m <= span.sent:
                self.use[None, m, True].append((span.chunks, ONE))

    def _add_resources(self) -> None:
        """Limit what is used of port and nodes in an interval, and chunks on them at its start."""
        for (g, m, at_start), terms in self.use.items():
            start, end = self.instants[m : m + 2]
            nodes = () if g is None else self.groups[g].nodes
            free = [start] if g is None else [self.scaled.free[j] for j in nodes]
            time = sum((max(end - max(start, instant), ZERO) for instant in free), ZERO)
            count = ONE if g is None else Fraction(sum(self.is_free(j, start) for j in nodes))
            name = ("channel", "sending") if g is None else (f"nodes_{g}", f"busy_{g}")
            self.add_named(f"{name[at_start]}_{m}", terms, None, count if at_start else time)

    def finer_instants(self, point: Sequence[float]) -> list[Fraction]:
        """Return instants that also halve the intervals in which most chunks of a point start."""
        started = defaultdict[int, float](float)
        for span in self.spans if len(point) else ():
            started[span.start] += point[span.chunks]
        return halved(self.instants, started)

    # -- cuts ---------------------------------------------------------------------------------

    def separate(self, point: Sequence[float]) -> Iterable[Row]:
        """Return the occupancy cuts that a point violates most; few while it is fractional."""
        fractional = any(ZERO_COUNT < point[z] < 1 - ZERO_COUNT for z in self.binaries)
        self.rounds += 1
        cuts = [] if fractional and self.rounds > MAX_ROUNDS else self._violated(point)
        self.rounds *= bool(cuts)
        cuts.sort(key=attrgetter("violation"), reverse=True)
        unused = [span for span in self.spans if point[span.chunks] <= ZERO_COUNT]
        cuts = cuts[:MAX_CUTS_PER_ROUND]
        for cut in cuts:
            self.row_names.append(f"cut_{cut.first}_{cut.last}_{len(self.row_names)}")
        return [self._row(cut, unused) for cut in cuts]

    def _violated(self, point: Sequence[float]) -> list[OccupancyCut]:
        """Return the cut that a point violates most, of each window with one."""
        import numpy as np

        spans = [span for span in self.spans if point[span.chunks] > ZERO_COUNT]
        share, setup = float(self.share or ZERO), float(self.scaled.theta_cp)
        t, found = np.array(self.instants, float), list[OccupancyCut]()
        start, end = (np.array([span[place] for span in spans], int) for place in (2, 4))
        n = np.array([point[span.chunks] for span in spans])
        times = np.array([point[span.time] for span in spans])
        wholes = [self.used_until(span, span.end)[0].items() for span in spans]
        whole = np.array([sum(float(a) * point[j] for j, a in terms) for terms in wholes])
        for last in range(len(t) - 1):
            occupied = np.where(last >= end, whole, times + n * (t[last + 1] - t[start + 1]))
            occupied -= setup * n
            order = np.argsort(-occupied / n, kind="stable")
            order = order[start[order] <= last]
            for first in {*start[order].tolist()}:
                inside = order[start[order] >= first]
                amounts, counts = occupied[inside].cumsum(), n[inside].cumsum()
                m, length = np.floor(counts + 1e-6), t[last + 1] - t[first]
                slope = length * share**m  # of the limit, from m chunks on
                limit = (length - slope) / (1 - share) + slope * np.maximum(counts - m, 0)
                excess = amounts / np.maximum(limit, ZERO_COUNT * length) - 1
                p = int(excess.argmax())
                if excess[p] > MIN_VIOLATION:
                    chosen = [spans[q] for q in inside[: p + 1]]
                    found.append(OccupancyCut(float(excess[p]), first, last, int(m[p]), chosen))
        return found

    def _row(self, cut: OccupancyCut, unused: Iterable[Span]) -> Row:
        """Return the row of a cut, with other chunks that may occupy as much in its window."""
        t, share, (_, first, last, m, chosen) = self.instants, self.share or ZERO, cut
        length = t[last + 1] - t[first]
        slope = length * share**m
        paid, side = round_up(slope + self.scaled.theta_cp), (length - slope) / (1 - share)
        side -= m * slope
        others = (
            span
            for span in unused
            if first <= span.start <= last and t[min(span.end, last) + 1] - t[span.start] > paid
        )
        terms: Terms = []
        for span in (*chosen, *others):
            occupied, _ = self.used_until(span, last)
            terms += difference(occupied, {span.chunks: paid}).items()
        return tuple(terms), None, round_up(side)
