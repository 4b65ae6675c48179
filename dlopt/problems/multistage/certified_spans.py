"""The program of a certificate over spans of chunks around reservations.

It extends `dlopt.problems.admission.certified_spans`: its columns and rows, of which some have
further terms, and

    q_r      reservation r is accepted
    h_r_g    how many nodes of group g it has; of a group without this column it has at least
             ``least_rg``: those of the group that it names, or as many as it needs beyond all
             nodes of other groups that it can have

A stage is the time from one start of a reservation, accepted or not, to the next one: in the
intervals `a` to `b` are ``S_ab`` stages, one more than there are such starts after ``t_a`` and
before ``t_{b+1}``. A plan has at most `K` chunks of a task on a node in each stage. The most chunks
`v` of a span that are started and sent in one interval are so many times ``S_pp``, those of the row
``chunks_i_g`` so many times all stages.

A reservation occupies nodes from its start, or from `now` if that is later, to its end, and the
channel to the end of its I/O: for ``N_rm`` and ``I_rm`` in interval `m`, and at instant ``t_m`` if
it begins no later and ends after it. It can have the nodes that are free when it begins, of those
that it names if it names any; it is impossible if these are too few, or the channel is busy.
Every plan satisfies::

    q_r               q_r <= 1,  q_r >= 1           the latter if it must be accepted
                      q_r <= 0                      if it is impossible
    h_r_g             h_r_g <= the nodes of group g that it can have
    reserved_r        sum_g h_r_g = count_r q_r     of all groups with such nodes
    conflict_k        sum_r q_r <= 1                of each two of them the I/O overlaps, or they
                                                    overlap, and name one node
    chunks_i_g_a_b    sum_s n_s <= K N_g S_ab z_i   of a <= p <= b
    channel_m         + sum_r I_rm q_r
    sending_m         + sum_r q_r                   of those that occupy the channel at t_m
    nodes_g_m         + sum_r N_rm h_r_g            least_rg q_r where there is no such column
    busy_g_m          + sum_r h_r_g                 of those that occupy nodes at t_m; the side is
                                                    the number of nodes that are free at t_m
    full_k            sum_i z_i + sum_r q_r <= the number of them, less 1

*Full windows.* Let t and e be the first release and the last due date of the tasks of ``full_k``,
with theta_cm + tau load for each with the smallest tau of all nodes, and the parts of the I/O of
its reservations from t to e. If that is more than e - t together, the channel has no time for all
of it. If it is as much, and none of these reservations has the channel just before e, then a
chunk of these tasks is sent until e, which has to be computed after that: chi > 0 of all nodes,
or theta_cp > 0.

*Why.* A chunk that is sent, or on its node, at ``t_m`` in the sense of the rows is there before
and after it, so that it overlaps whatever has the channel or the node from ``t_m`` on. It starts
on a node that is free before ``t_m``, and a reservation begins on one that is free by ``t_m``. What
occupies a node overlaps nothing else there, from now on, and is within the time for which it is
free. In a cut over spans there are no reservations, which leave chunks less time.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from dlopt.arithmetic import exact
from dlopt.certificates import StatedProgram
from dlopt.problems.admission.certified_chunks import StreamChunks, stated_chunks, weight_of_task
from dlopt.problems.admission.certified_spans import SpanProgram, Terms
from dlopt.problems.admission.checker_times import channel_free_time
from dlopt.problems.certificate_division import stated_groups
from dlopt.problems.certified_rows import ONE, ZERO, StrongestRow
from dlopt.problems.multistage.checker_times import channel_end
from dlopt.problems.multistage.data import Instance, Reservation, Solution
from dlopt.result import Result, Status

EACH_TASK = {"accepted-reservations": 0}
"""What an accepted task adds to an objective that asks for no loads or weights; else 1."""
EACH_RESERVATION = {"accepted-reservations": 1, "reject-ratio": 1}
"""What an accepted reservation adds to an objective; else 0."""
OBJECTIVES = (
    *("accepted", "accepted-tasks", "accepted-reservations"),
    *("accepted-load", "accepted-weight", "reject-ratio"),
)
"""The objectives whose value is a weighted sum of acceptances."""


class Wanted(NamedTuple):
    """A reservation in the units of the program, and the nodes that it can have.

    Parameters
    ----------
    start, io_end, end : Fraction
    first : Fraction
        When it begins, from now on.
    nodes : frozenset of int
    needed : int
    names_nodes, must, can : bool
        Whether it names its nodes, has to be accepted, and can be.
    """

    start: Fraction
    io_end: Fraction
    end: Fraction
    first: Fraction
    nodes: frozenset[int]
    needed: int
    names_nodes: bool
    must: bool
    can: bool

    def excludes(self, other: Wanted) -> bool:
        """Tell whether no plan accepts both."""
        begun = max(self.start, other.start)
        names = self.names_nodes and other.names_nodes and self.nodes & other.nodes
        is_on_nodes = bool(names) and begun < min(self.end, other.end)
        return begun < min(self.io_end, other.io_end) or is_on_nodes


class ReservationSpanProgram(SpanProgram):
    """The program that a certificate states.

    Parameters
    ----------
    instance : Instance
        In exact numbers.
    stream : StreamChunks
        Of its tasks.
    program : StatedProgram
    accept_all : bool
        Every plan that it is about accepts everything.
    """

    acceptances = ("z", "q")

    def __init__(
        self, instance: Instance, stream: StreamChunks, program: StatedProgram, accept_all: bool
    ) -> None:
        promised = set(stream.loads) if accept_all else stream.promised
        super().__init__(stream, program, promised)
        self.instance, self.accept_all = instance, accept_all
        self.names = frozenset(program.names)
        self.members = stated_groups(program.remarks, instance.cluster.nodes) or []
        self.wanted = [self._wanted(one) for one in instance.reservations]

    def _wanted(self, one: Reservation) -> Wanted:
        """Return a reservation in the units of the program."""
        instant, free, now = self.stream.instant, self.stream.free, exact(self.instance.now)
        start, io_end, end = map(instant, (exact(one.start), channel_end(one), exact(one.end)))
        first = max(start, instant(now))
        asked = range(len(free)) if isinstance(one.nodes, int) else one.nodes
        count = one.nodes if isinstance(one.nodes, int) else len(one.nodes)
        nodes = frozenset(j for j in asked if first >= min(end, free[j]))
        has_channel = first >= min(io_end, instant(channel_free_time(self.instance)))
        must = one.mandatory or exact(one.arrival) < now or self.accept_all
        names_nodes, can = not isinstance(one.nodes, int), has_channel and len(nodes) >= count
        return Wanted(start, io_end, end, first, nodes, count, names_nodes, must, can)

    def columns_of_reservations(self) -> Sequence[str]:
        """Return the columns that say what is reserved."""
        groups = range(len(self.members))
        names = [f"q_{r}" for r in range(len(self.wanted))]
        return names + [f"h_{r}_{g}" for r in range(len(self.wanted)) for g in groups]

    def gaps(self, first: int, last: int) -> int:
        """Return in how many stages some intervals are."""
        begin, end = self.t[first], self.t[last + 1]
        return 1 + sum(begin < start < end for start in self.starts)

    @cached_property
    def starts(self) -> set[Fraction]:
        """When reservations start."""
        return {one.start for one in self.wanted}

    # -- rows ---------------------------------------------------------------------------------

    def rows(
        self, kind: str, numbers: Sequence[int], terms: Mapping[str, Fraction]
    ) -> Iterator[StrongestRow]:
        """Yield the strongest rows of a kind and its numbers; some are about the given terms."""
        one, last, known = numbers[0], numbers[-1], len(self.wanted)
        match kind, len(numbers):
            case "q", 1 if one < known:
                yield from self._rows_of_acceptance(one)
            case "h", 2 if one < known and last < len(self.members):
                most = len(self.wanted[one].nodes.intersection(self.members[last]))
                yield StrongestRow({f"h_{one}_{last}": ONE}, Fraction(most))
            case "reserved", 1 if one < known:
                yield from self._rows_of_nodes(one)
            case "conflict", 1:
                yield from self._conflict(terms)
            case "full", 1:
                yield from self._full_window(terms)
            case "chunks", 4 if numbers[1] < len(self.groups) and last in self.intervals:
                if numbers[2] in self.intervals:
                    yield self.row_of_chunks(*numbers)
            case _:
                yield from super().rows(kind, numbers, terms)

    def _rows_of_acceptance(self, r: int) -> Iterator[StrongestRow]:
        """Yield whether a reservation can be accepted, and whether it must be."""
        yield StrongestRow({f"q_{r}": ONE}, ONE if self.wanted[r].can else ZERO)
        if self.wanted[r].must:
            yield StrongestRow({f"q_{r}": -ONE}, -ONE)

    def _rows_of_nodes(self, r: int) -> Iterator[StrongestRow]:
        """Yield that a reservation has as many nodes as it needs."""
        nodes = self.wanted[r].nodes
        terms = {f"h_{r}_{g}": ONE for g, own in enumerate(self.members) if nodes.intersection(own)}
        terms[f"q_{r}"] = Fraction(-self.wanted[r].needed)
        yield StrongestRow(terms)
        yield StrongestRow({name: -a for name, a in terms.items()})

    def _conflict(self, terms: Mapping[str, Fraction]) -> Iterator[StrongestRow]:
        """Yield that one of some reservations is accepted, if each two exclude each other."""
        wanted = [self.wanted[r] for r in self._indices(terms, "q")]
        if all(one.excludes(other) for one, other in combinations(wanted, 2)):
            yield StrongestRow({name: ONE for name in terms if name[0] == "q"}, ONE)

    def _full_window(self, terms: Mapping[str, Fraction]) -> Iterator[StrongestRow]:
        """Yield that not all of some tasks and reservations are accepted, if they fill a window."""
        stream, (tau, chi) = self.stream, self.stream.costs
        accepted = {x: ONE for x, a in terms.items() if x[0] in self.acceptances and a > 0}
        tasks = self._indices(accepted, "z")
        wanted = [self.wanted[r] for r in self._indices(accepted, "q")]
        if not tasks:
            return
        start, end = min(map(stream.release, tasks)), max(map(stream.due, tasks))
        needed = sum((self.setup_cm + min(tau) * stream.loads[i] for i in tasks), ZERO)
        times = (min(one.io_end, end) - max(one.first, start) for one in wanted)
        needed += sum((time for time in times if time > 0), ZERO)
        is_reserved = any(one.first < end <= one.io_end for one in wanted)
        is_computed_later = (self.setup_cp > 0 or min(chi) > 0) and not is_reserved
        if needed > end - start or (needed == end - start and is_computed_later):
            yield StrongestRow(accepted, Fraction(len(accepted) - 1))

    def _indices(self, terms: Mapping[str, Fraction], letter: str) -> list[int]:
        """Return which tasks, or reservations, have acceptances among some terms."""
        return [int(name[2:]) for name in terms if name[0] == letter]

    def row_of_interval(self, of_time: bool, m: int, g: int | None) -> StrongestRow:
        """Return the row of the time that is used in an interval, or of what is there at its start.

        It is about the nodes of a group, or about the channel.
        """
        begin, end = self.t[m], self.t[m + 1]
        row, reserved = super().row_of_interval(of_time, m, g), Terms()
        for r, one in enumerate(self.wanted):
            last = one.io_end if g is None else one.end
            time = min(end, last) - max(begin, one.first)
            used = max(time, ZERO) if of_time else Fraction(one.first <= begin < last)
            column, count = (f"q_{r}", 1) if g is None else self._nodes_of(r, g)
            reserved[column] = used * count
        side = row.side
        if g is not None and not of_time:
            side = Fraction(sum(date <= begin for date in self.groups[g].free))
        return StrongestRow({**row.terms, **reserved}, side)

    def _nodes_of(self, r: int, g: int) -> tuple[str, int]:
        """Return a column, and how many nodes of a group a reservation has at least for each."""
        one, name, own = self.wanted[r], f"h_{r}_{g}", self.members[g]
        if name in self.names:
            return name, 1
        inside = len(one.nodes.intersection(own))
        others = 0 if one.names_nodes else len(one.nodes) - inside
        return f"q_{r}", inside if one.names_nodes else max(0, one.needed - others)


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Its objective, the class of the plans, and whether everything must be accepted.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        A bound on the objective value of every plan of the class; None if there is no plan. And a
        flaw, or None.
    """
    claim, goal = certificate.claim, result.objective or ""
    if goal not in OBJECTIVES:
        return None, f"certificates do not support the objective {goal}"
    if not instance.exact:
        return None, "programs over spans around reservations are about exact numbers"
    is_weighted = goal == "accepted"
    each = instance.task_weight if is_weighted else EACH_TASK.get(goal, 1)
    weights = [weight_of_task(task, goal, each) for task in instance.tasks]
    about = result.plan_class, result.installments
    stream = stated_chunks(instance, weights, *about, certificate.remarks)
    if isinstance(stream, str):
        return None, stream
    accept_all = result.method == "feasibility" and result.status is Status.INFEASIBLE
    value = None if claim is None else stream.value_of_finished - claim
    requests = len(instance.tasks) + len(instance.reservations)
    if value is not None and goal == "reject-ratio":
        value = 1 - value / requests
    reserved = instance.reservation_weight if is_weighted else EACH_RESERVATION.get(goal, 0)
    expected = {f"z_{i}": -one for i, one in stream.weights.items() if one}
    expected |= {f"q_{r}": -exact(reserved) for r in range(len(instance.reservations)) if reserved}
    names = certificate.names
    stated = {names[column]: cost for column, cost in certificate.costs.items() if cost}
    if claim is not None and stated != expected:
        return value, "its costs are not those of the objective"
    return value, ReservationSpanProgram(instance, stream, certificate, accept_all).flaw()
