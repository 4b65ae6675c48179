"""The program of a certificate over spans of chunks, for streams with few chunks a node.

Instants ``t_0 < t_1 < ...``, which the remark `instants` states, divide time from the releases to
the due dates of all tasks that have columns, of which alone the rows are; interval `m` is from
``t_m`` to ``t_{m+1}``. The nodes are in groups, as the remark `groups` says; a group has the
smallest tau and the smallest w = tau + chi of its nodes, and the difference as chi.

The span ``s = i_g_p_q_r`` has the chunks of task `i` on nodes of group `g` whose transmissions
start in interval `p` and end in `q`, and whose computations end in `r`. A chunk starts in the
interval that begins at its start or before it, and ends in the interval that ends at its end or
after it; q >= p and r >= q. The columns are

    z_i      task i is accepted
    n_s      how many chunks the span has
    x_s      their load together
    y_s      the times from their starts to t_{p+1}, together

Time and load are in the units that the remarks state. Chunks without load are left out, and the
others are computed as soon as they are received. With theta = theta_cm + theta_cp, and the most
chunks `K` of a task on each node, a chunk has at least the load `least` and at most `most`::

    least    the largest of 0, (t_q - t_{p+1} - theta_cm) / tau, (t_r - t_{q+1} - theta_cp) / chi
             and (t_r - t_{p+1} - theta) / w
    most     the smallest of load_i, (t_{q+1} - t_p - theta_cm) / tau, ...

A span is possible only if least <= most > 0, if the task is due after ``t_r``, if ``t_{p+1}`` is
after the release and after some node of the group is free, and if ``w (t_q, t_{q+1}]`` has a number
from ``chi t_p + tau t_r`` to ``chi t_{p+1} + tau t_{r+1}``, plus ``chi theta_cm - tau theta_cp``:
of a chunk from `a` to `b` the transmission ends at ``(chi a + tau b + chi theta_cm - tau theta_cp)
/ w``. Let `v` be 1 if q > p, else K times the nodes of the group. Every plan satisfies::

    load_i          sum_s x_s = load_i z_i               of the possible spans of task i
    z_i             z_i <= 1,  z_i >= 1                  the latter if task i must be accepted
    chunks_i_g      sum_s n_s <= K N_g z_i               of N_g nodes in group g
    load_s          least n_s <= x_s <= most n_s
    start_s         y_s <= (t_{p+1} - t_p) n_s
    sent_s          (t_q - t_{p+1}) n_s <= theta_cm n_s + tau x_s - y_s <= (t_{q+1} - t_{p+1}) n_s
    end_s           (t_r - t_{p+1}) n_s <= theta n_s + w x_s - y_s <= (t_{r+1} - t_{p+1}) n_s
    channel_m       sum_s c_s_m <= t_{m+1} - t_m         what is sent in interval m
    nodes_g_m       sum_s o_s_m <= sum_j free_j_m        of nodes j of the group, free in m so long
    sending_m       sum_s n_s <= 1                       of p < m <= q
    busy_g_m        sum_s n_s <= nodes free before t_m   of p < m <= r
    cut_a_b_k       sum_s (o_s - e n_s) <= f             of some spans with a <= p <= b
    bounds          n_s <= v,  x_s <= v most,  y_s <= v (t_{p+1} - t_p)

Until the end of interval `m` chunks occupy nodes for ``theta n + w x`` if m >= r, else for ``y + n
(t_{m+1} - t_{p+1})`` if m >= p, else for nothing; the channel likewise for ``theta_cm n + tau x``
if m >= q. Such differences are ``o_s_m`` and ``c_s_m``; in a cut, ``o_s`` is until the end of `b`.
It has any `e`, and `f` is at least the sum over k = 0, 1, ... of what is positive of ``L B^k +
theta_cp - e``, with the length `L` of the window and the largest ``B = chi / (tau + chi)`` of all
groups.

*Why.* The rows of one span say in which intervals its chunks start and end. For a cut let ``R_k``
be what is left of the window when chunk `k` starts in it, from 0 in the order of transmission. It
occupies its node in the window for ``o_k <= R_k``, and the channel for at least ``(1 - B) (o_k -
theta_cp)``; so the first `k` chunks occupy nodes for at most ``theta_cp + L B^j`` each, added up
over j < k, by induction.

Source: ours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice, pairwise
from typing import NamedTuple

from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.admission.certified_chunks import StreamChunks
from dlopt.problems.certificate_division import stated_groups, stated_numbers
from dlopt.problems.certified_rows import (
    ONE,
    ZERO,
    StrongestRow,
    flaw_of_rows,
    kind_and_numbers,
)

MAX_INSTANTS = 1_000
"""With more of them a program is not checked: its possible spans would take long to list."""
MAX_SPANS = 20_000
"""Programs of more possible spans are not checked; a search for a proof has far fewer."""
MAX_POWERS = 1_000
"""Cuts with more positive summands are not checked: their powers have many digits."""

Terms = dict[str, Fraction]


class SpanOfChunks(NamedTuple):
    """A span, the least and the most load of a chunk, and how many chunks it has at the most."""

    task: int
    group: int
    start: int
    sent: int
    end: int
    least: Fraction
    most: Fraction
    chunks: Fraction

    @property
    def name(self) -> str:
        """The end of the names of its columns."""
        return "_".join(map(str, self[:5]))

    def terms(self, chunks: Fraction, load: Fraction, time: Fraction) -> Terms:
        """Return multiples of its columns."""
        return {f"n_{self.name}": chunks, f"x_{self.name}": load, f"y_{self.name}": time}


class NodeGroup(NamedTuple):
    """The least times that a unit of load takes, and the times at which the nodes are free."""

    tau: Fraction
    chi: Fraction
    free: list[Fraction]


class SpanProgram:
    """The program that a certificate states.

    Parameters
    ----------
    stream : StreamChunks
    program : StatedProgram
    promised : set of int
        Tasks that every plan accepts.
    """

    acceptances: tuple[str, ...] = ("z",)
    """Letters of the columns that may be integral."""

    def __init__(self, stream: StreamChunks, program: StatedProgram, promised: set[int]) -> None:
        self.stream, self.program, self.promised = stream, program, promised
        self.setup_cm, self.setup_cp = stream.setups
        self.t = stated_numbers(program.remarks, "instants")
        self.intervals = range(len(self.t) - 1)
        (tau, chi), free = stream.costs, stream.free
        self.groups = [
            NodeGroup(least, min(tau[j] + chi[j] for j in g) - least, [free[j] for j in g])
            for g in stated_groups(program.remarks, len(free)) or []
            for least in [min(tau[j] for j in g)]
        ]
        self.spans: dict[str, SpanOfChunks] = {}

    def flaw(self) -> str | None:
        """Return what some plan may not satisfy, or None if there is nothing."""
        t, stream, names = self.t, self.stream, self.program.names
        if not self.groups:
            return "its remarks do not state the groups of nodes"
        if not 2 <= len(t) <= MAX_INSTANTS or any(one >= other for one, other in pairwise(t)):
            return f"its remarks do not state 2 to {MAX_INSTANTS:,} instants in ascending order"
        words = {tuple(name.split("_")[:2]) for name in names}
        tasks = [i for i in stream.loads if any((x, str(i)) in words for x in "znxy")]
        if not all(t[0] <= stream.release(i) and stream.due(i) <= t[-1] for i in tasks):
            return "its instants do not cover the time between the dates of tasks"
        found = list(islice(self._possible_spans(tasks), MAX_SPANS + 1))
        if len(found) > MAX_SPANS:
            return f"a program of more than {MAX_SPANS:,} spans is not checked"
        self.spans = {span.name: span for span in found}
        columns = {column for span in found for column in span.terms(ONE, ONE, ONE)}
        columns.update((f"z_{i}" for i in tasks), self.columns_of_reservations())
        if not columns.issuperset(names):
            return "its columns are not those of possible spans"
        if any(names[column][0] not in self.acceptances for column in self.program.integers):
            return "a column is integral that need not be"
        return flaw_of_rows(self.program, self._holds)

    def columns_of_reservations(self) -> Sequence[str]:
        """Return the columns that say what is reserved: there are no reservations."""
        return ()

    def gaps(self, first: int, last: int) -> int:
        """Return in how many gaps between starts of reservations some intervals are."""
        return 1

    # -- spans --------------------------------------------------------------------------------

    def _possible_spans(self, tasks: Sequence[int]) -> Iterator[SpanOfChunks]:
        """Yield all spans that a chunk of some tasks may have."""
        for i in tasks:
            for g, group in enumerate(self.groups):
                ready, due = max(self.stream.release(i), min(group.free)), self.stream.due(i)
                inside = [m for m in self.intervals if ready < self.t[m + 1] and self.t[m] < due]
                for p, r in combinations_with_replacement(inside, 2):
                    yield from self._spans_between(i, g, p, r)

    def _spans_between(self, i: int, g: int, p: int, r: int) -> Iterator[SpanOfChunks]:
        """Yield the spans of chunks that start and end in two intervals."""
        t, (tau, chi, _) = self.t, self.groups[g]
        # A chunk from a to b is sent at (chi a + tau b + shift) / (tau + chi).
        shift = chi * self.setup_cm - tau * self.setup_cp
        first, final = (
            bisect_left(t, (chi * t[a] + tau * t[b] + shift) / (tau + chi)) - 1
            for a, b in ((p, r), (p + 1, r + 1))
        )
        whole = [(ZERO, self.stream.loads[i])]
        whole += self._loads(self.setup_cm + self.setup_cp, tau + chi, p, r)
        for q in range(max(p, first), min(r, max(p, final)) + 1):
            limits = [*whole, *self._loads(self.setup_cm, tau, p, q)]
            limits += self._loads(self.setup_cp, chi, q, r)
            least, most = max(low for low, _ in limits), min(high for _, high in limits)
            if least <= most > 0:
                chunks = ONE if q > p else self._most_chunks(g, p, p)
                yield SpanOfChunks(i, g, p, q, r, least, most, chunks)

    def _most_chunks(self, g: int, first: int, last: int) -> Fraction:
        """Return how many chunks of a task on nodes of a group start in some intervals."""
        nodes, chunks = len(self.groups[g].free), self.stream.chunks_a_node
        return Fraction(nodes * chunks * self.gaps(first, last))

    def _loads(
        self, setup: Fraction, unit_time: Fraction, one: int, other: int
    ) -> Iterator[tuple[Fraction, Fraction]]:
        """Yield the least and the most load that takes from one interval to another."""
        if unit_time:
            least = self.t[other] - self.t[one + 1] - setup
            yield least / unit_time, (self.t[other + 1] - self.t[one] - setup) / unit_time

    def _usage(self, span: SpanOfChunks, *, on_nodes: bool) -> tuple[int, Fraction, Fraction]:
        """Return up to which interval chunks use nodes, or the channel, and how long at all."""
        tau, chi, _ = self.groups[span.group]
        if on_nodes:
            return span.end, self.setup_cm + self.setup_cp, tau + chi
        return span.sent, self.setup_cm, tau

    def _used_until(self, span: SpanOfChunks, m: int, *, on_nodes: bool) -> Terms:
        """Return what chunks use of nodes, or of the channel, up to the end of an interval."""
        last, setup, unit_time = self._usage(span, on_nodes=on_nodes)
        if m < span.start:
            return {}
        if m < last:
            return span.terms(self.t[m + 1] - self.t[span.start + 1], ZERO, ONE)
        return span.terms(setup, unit_time, ZERO)

    # -- rows ---------------------------------------------------------------------------------

    def _holds(self, name: str, row: StatedConstraint) -> bool:
        """Tell whether every plan satisfies a row."""
        parts = kind_and_numbers(name)
        if parts is None or not parts[1]:
            return False
        terms = {self.program.names[c]: -row.sign * a for c, a in row.terms.items()}
        return any(of.implies(row, self.program) for of in self.rows(*parts, terms))

    def rows(
        self, kind: str, numbers: Sequence[int], terms: Mapping[str, Fraction]
    ) -> Iterator[StrongestRow]:
        """Yield the strongest rows of a kind and its numbers; a cut is about the given terms."""
        span, one, last = self.spans.get("_".join(map(str, numbers))), numbers[0], numbers[-1]
        match kind, len(numbers):
            case _, 5 if span is not None:
                yield from self._rows_of_span(kind, span)
            case (("z" | "load"), 1) if one in self.stream.loads:
                yield from self._rows_of_task(kind, one)
            case "chunks", 2 if last < len(self.groups):
                yield self.row_of_chunks(one, last, 0, len(self.intervals) - 1)
            case "cut", 3 if numbers[1] in self.intervals:
                yield from self._cut(one, numbers[1], terms)
            case (("channel" | "sending"), 1) if last in self.intervals:
                yield self.row_of_interval(kind == "channel", last, None)
            case (("nodes" | "busy"), 2) if one < len(self.groups) and last in self.intervals:
                yield self.row_of_interval(kind == "nodes", last, one)

    def row_of_chunks(self, i: int, g: int, first: int, last: int) -> StrongestRow:
        """Return the row of the chunks of a task on nodes of a group that start in some intervals.

        These are numbered from the first to the last one.
        """
        own = (s for s in self.spans.values() if (s.task, s.group) == (i, g))
        terms = {f"n_{s.name}": ONE for s in own if first <= s.start <= last}
        return StrongestRow(terms | {f"z_{i}": -self._most_chunks(g, first, last)})

    def _rows_of_task(self, kind: str, i: int) -> Iterator[StrongestRow]:
        """Yield the strongest rows about the acceptance of a task, or about its load."""
        if kind == "load":
            sent = {f"x_{one.name}": ONE for one in self.spans.values() if one.task == i}
            sent[f"z_{i}"] = -self.stream.loads[i]
            yield from (StrongestRow(sent), StrongestRow({name: -a for name, a in sent.items()}))
            return
        yield StrongestRow({f"z_{i}": ONE}, ONE)
        if i in self.promised:
            yield StrongestRow({f"z_{i}": -ONE}, -ONE)

    def _rows_of_span(self, kind: str, span: SpanOfChunks) -> Iterator[StrongestRow]:
        """Yield the strongest rows about one span."""
        t, begun, count = self.t, self.t[span.start + 1], span.chunks
        bounds = {"n": count, "x": count * span.most, "y": count * (begun - t[span.start])}
        events = {
            "start": (span.start, ZERO, ZERO),
            "sent": self._usage(span, on_nodes=False),
            "end": self._usage(span, on_nodes=True),
        }
        if kind in bounds:
            yield StrongestRow({f"{kind}_{span.name}": ONE}, bounds[kind])
        elif kind == "load":
            yield StrongestRow(span.terms(span.least, -ONE, ZERO))
            yield StrongestRow(span.terms(-span.most, ONE, ZERO))
        elif kind in events:
            m, setup, unit_time = events[kind]
            yield StrongestRow(span.terms(setup + begun - t[m + 1], unit_time, -ONE))
            yield StrongestRow(span.terms(t[m] - begun - setup, -unit_time, ONE))

    def row_of_interval(self, of_time: bool, m: int, g: int | None) -> StrongestRow:
        """Return the row of the time that is used in an interval, or of the chunks at its start.

        It is about the nodes of a group, or about the channel.
        """
        on_nodes, terms = g is not None, Terms()
        free = [self.t[m]] if g is None else self.groups[g].free
        for span in self.spans.values():
            if g not in (None, span.group):
                continue
            if of_time:
                before = self._used_until(span, m - 1, on_nodes=on_nodes)
                until = self._used_until(span, m, on_nodes=on_nodes)
                terms |= {name: a - before.get(name, ZERO) for name, a in until.items()}
            elif span.start < m <= self._usage(span, on_nodes=on_nodes)[0]:
                terms[f"n_{span.name}"] = ONE
        if of_time:
            times = (self.t[m + 1] - max(self.t[m], date) for date in free)
            return StrongestRow(terms, sum((time for time in times if time > 0), ZERO))
        return StrongestRow(terms, Fraction(sum(g is None or date < self.t[m] for date in free)))

    def _cut(self, first: int, last: int, terms: Mapping[str, Fraction]) -> Iterator[StrongestRow]:
        """Yield the row of what chunks that start in a window occupy in it, less what is paid."""
        spans = [self.spans[name] for name in {name[2:] for name in terms} & self.spans.keys()]
        if not spans or not all(first <= span.start <= last for span in spans):
            return
        used, counts = Terms(), [f"n_{span.name}" for span in spans]
        for span in spans:
            used |= self._used_until(span, last, on_nodes=True)
        paid = min(used[count] - terms.get(count, ZERO) for count in counts)
        share = max(group.chi / (group.tau + group.chi) for group in self.groups)
        rest, side = self.t[last + 1] - self.t[first], ZERO
        for _ in range(MAX_POWERS):
            if rest + self.setup_cp <= paid:
                yield StrongestRow(used | {count: used[count] - paid for count in counts}, side)
                return
            side += rest + self.setup_cp - paid
            rest *= share
