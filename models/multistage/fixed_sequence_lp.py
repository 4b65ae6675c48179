"""The linear program of a fixed order of chunks around reservations, and the plan it leads to.

The starts of reservations divide the window of a task into gaps. A chunk ``a = (task i, node j,
gap)`` starts in its gap ``[b, e]``: after reservations that start by `b`, before the others.

minimise    T
subject to  e >= s_a >= max(release_i, free_j, b, ends of what was before)
            s_a + theta_cm + tau_j x_a <= start of the next reservation's I/O
            s_a + theta + w_j x_a <= start of the node's next reservation     (w = tau + chi)
            T >= s_a + theta + w_j x_a - due_i
            s_b >= s_a + theta_cm + tau_a x_a                  next on the port
            s_b >= s_a + theta + w_a x_a                       next on the node
            sum_a x_a = load_i                                 every accepted task

The order is feasible if ``T <= 0``. Then the loads are sent as early as the order allows, and the
clock is looked at: only a plan that is in time in fractions counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import DEFAULT, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import completed, takes_port
from dlopt.models.multistage.rounded_plans import keeps_clear
from dlopt.models.multistage.scaled_instance import Case
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.data import Grant, Solution
from dlopt.result import Limits

Grants = Mapping[int, tuple[int, ...]]
"""Bookings that are accepted, by their indices in the case, and the nodes that they get."""


class Part(NamedTuple):
    """A chunk without its load: the job and its gap, by their indices in the case, and the node."""

    job: int
    node: int
    gap: int


class Span(NamedTuple):
    """When a chunk may start, when it must be sent, and computed but for its deadline."""

    start: Fraction
    latest: Fraction
    sent: Fraction | None
    done: Fraction | None


class Loaded(NamedTuple):
    """The loads of an order of chunks, and the largest lateness that they lead to."""

    lateness: Fraction
    loads: tuple[Fraction, ...]


def gaps(case: Case, job: int) -> list[tuple[Fraction, Fraction]]:
    """Return the gaps of a job."""
    one = case.jobs[job]
    inside = [mark for mark in case.marks if one.release < mark < one.due]
    return list(pairwise([one.release, *inside, one.due]))


def span(case: Case, part: Part, grants: Grants) -> Span:
    """Return when a chunk may be sent between the reservations that are accepted."""
    begin, end = gaps(case, part.job)[part.gap]
    start = max(begin, case.stream.free[part.node])
    sent: Fraction | None = None
    done: Fraction | None = None
    ported = takes_port(case.stream, part.node)
    for r, nodes in grants.items():
        booking, mine = case.bookings[r], part.node in nodes
        on_port = ported and booking.sent > booking.start
        if booking.start <= begin:
            start = max(start, booking.sent if on_port else start, booking.end if mine else start)
            continue
        if on_port:
            sent = booking.start if sent is None else min(sent, booking.start)
        if mine:
            done = booking.start if done is None else min(done, booking.start)
    return Span(start, end, sent, done)


class SequenceModel:
    """The program above.

    Parameters
    ----------
    case : Case
    parts : sequence of Part
        In the order of their transmissions.
    grants : Grants
    """

    def __init__(self, case: Case, parts: Sequence[Part], grants: Grants) -> None:
        self.case, self.parts = case, list(parts)
        self.spans = [span(case, part, grants) for part in parts]
        self.problem = pulp.LpProblem("sequence", pulp.LpMinimize)
        add = self.problem.add_variable
        self.start = [add(f"s_{p}", lowBound=one.start) for p, one in enumerate(self.spans)]
        self.load = [add(f"x_{p}", 0, case.jobs[q.job].load) for p, q in enumerate(self.parts)]
        self.lateness = add("T")

    def minimise_lateness(self) -> SequenceModel:
        """State the program above."""
        self.problem += self.lateness
        self.add_windows()
        self.add_deadlines()
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_totals()
        return self

    def add_windows(self) -> None:
        """Start a chunk in its gap, and end it before reservations that follow."""
        stream = self.case.stream
        for p, one in enumerate(self.spans):
            node = self.parts[p].node
            start: Term = (1, self.start[p])
            self.problem += linear([start]) <= one.latest
            if one.sent is not None:
                terms = [start, (stream.tau[node], self.load[p])]
                self.problem += linear(terms) <= one.sent - stream.theta_cm
            if one.done is not None:
                terms = [start, (stream.unit(node), self.load[p])]
                self.problem += linear(terms) <= one.done - stream.overhead

    def add_deadlines(self) -> None:
        """Let no chunk be later than the largest lateness."""
        stream = self.case.stream
        for p, part in enumerate(self.parts):
            terms: list[Term] = [(1, self.lateness), (-1, self.start[p])]
            terms.append((-stream.unit(part.node), self.load[p]))
            due = self.case.jobs[part.job].due
            self.problem += linear(terms) >= stream.overhead - due

    def add_one_port(self) -> None:
        """Send a chunk when the one before it has been sent."""
        stream = self.case.stream
        ported = [p for p, part in enumerate(self.parts) if takes_port(stream, part.node)]
        for p, q in pairwise(ported):
            self._after(p, q, stream.theta_cm, stream.tau[self.parts[p].node])

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk when it has computed the one before."""
        latest: dict[int, int] = {}
        for q, part in enumerate(self.parts):
            p = latest.get(part.node)
            if p is not None:
                self._after(p, q, self.case.stream.overhead, self.case.stream.unit(part.node))
            latest[part.node] = q

    def add_totals(self) -> None:
        """Send all of every task."""
        for i in {part.job for part in self.parts}:
            terms = [(1, self.load[p]) for p, part in enumerate(self.parts) if part.job == i]
            self.problem += linear(terms) == self.case.jobs[i].load

    def solve(self, limits: Limits, seed: int) -> Loaded | None:
        """Return the least lateness and its loads; None at a limit or if there is no room."""
        proven = self.case.instance.exact
        outcome = optimise(self.problem, limits, solver=DEFAULT, seed=seed, exact=proven)
        if not outcome.assignment:
            return None
        loads = [max(exact(outcome[variable]), Fraction(0)) for variable in self.load]
        whole = completed([part.job for part in self.parts], loads, self.case.jobs)
        return Loaded(exact(outcome[self.lateness]), whole)

    def _after(self, p: int, q: int, setup: Fraction, unit: Fraction) -> None:
        terms: list[Term] = [(1, self.start[q]), (-1, self.start[p]), (-unit, self.load[p])]
        self.problem += linear(terms) >= setup


def plan_of(
    case: Case,
    parts: Sequence[Part],
    accepted: Collection[int],
    grants: Grants,
    limits: Limits,
    seed: int,
) -> Solution | None:
    """Return a plan that sends chunks in a given order; None if the order misses a deadline.

    In floats also None if the plan, once its instants are rounded, reaches too far into a
    reservation or beyond a deadline.

    Parameters
    ----------
    case : Case
    parts : sequence of Part
        In the order of their transmissions.
    accepted : collection of int
        The jobs that are accepted, by their indices: all of them have parts.
    grants : Grants
    limits : Limits
    seed : int

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 4, io_end=4),)
    >>> case = Case.of(Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),), wanted))
    >>> plan = plan_of(case, [Part(0, 0, 0), Part(0, 0, 1)], [0], {0: (0,)}, Limits(), 0)
    >>> [(str(chunk.load), str(chunk.computation_end)) for chunk in plan.chunks]
    [('1', '2'), ('1', '6')]
    """
    loads: tuple[Fraction, ...] = ()
    if parts:
        found = SequenceModel(case, parts, grants).minimise_lateness().solve(limits, seed)
        if found is None:
            return None
        loads = found.loads
    return loaded_plan(case, parts, loads, accepted, grants)


def loaded_plan(
    case: Case,
    parts: Sequence[Part],
    loads: Sequence[Fraction],
    accepted: Collection[int],
    grants: Grants,
    stated: Sequence[Fraction] = (),
) -> Solution | None:
    """Return the plan that sends chunks of given loads in a given order, each as early as it can.

    None if one is late, or in floats if what they are rounded to is; see `plan_of`. The loads are
    in the units of the case, and those of each accepted job in sum. Where starts are `stated`, in
    the same units, no chunk is sent before.
    """
    spans = [span(case, part, grants) for part in parts]
    if stated:
        pairs = zip(spans, stated, strict=True)
        spans = [one._replace(start=max(one.start, start)) for one, start in pairs]
    chunks = _replayed(case, parts, spans, loads)
    if chunks is None:
        return None
    held = {case.bookings[r].index: nodes for r, nodes in grants.items()}
    # Rounded to dates, a plan within the wider windows of a model in floats may be late.
    if not case.instance.exact and not keeps_clear(case, chunks, held):
        return None
    chosen = case.stream.settled | {case.jobs[i].index for i in accepted}
    decisions = (
        Decision(task.id, index in chosen, task.arrival)
        for index, task in enumerate(case.instance.tasks)
    )
    answers = (
        Grant(one.id, index in held, one.arrival, held.get(index, ()))
        for index, one in enumerate(case.instance.reservations)
    )
    return Solution(tuple(decisions), tuple(answers), tuple(chunks))


def by_deadline(case: Case, jobs: Collection[int], grants: Grants) -> list[Part]:
    """Return chunks in an order that is often feasible: by gap, then deadline, then free node.

    What is too many gets no load; but where set-up costs count, a task has few chunks.
    """
    stream = case.stream
    parts: list[tuple[Fraction, Fraction, Fraction, int, Part]] = []
    for i in jobs:
        job, there = case.jobs[i], []
        for g, (begin, end) in enumerate(gaps(case, i)):
            for node in stream.nodes:
                one = span(case, Part(i, node, g), grants)
                done = job.due if one.done is None else min(one.done, job.due)
                room = one.start <= one.latest and one.start + stream.overhead < done
                if room and (one.sent is None or one.start + stream.theta_cm < one.sent):
                    there.append((begin, end, one.start, node, Part(i, node, g)))
        there.sort()
        parts += there[: stream.least_chunks(job)] if stream.overhead else there
    parts.sort(key=lambda one: (one[0], case.jobs[one[4].job].due, one[2:]))
    return [part for *_, part in parts]


def _replayed(
    case: Case, parts: Sequence[Part], spans: Sequence[Span], loads: Sequence[Fraction]
) -> list[Chunk] | None:
    """Return the chunks with loads as early as the order allows; None if one is late."""
    stream, tasks = case.stream, case.instance.tasks
    port: Fraction | None = None
    free: dict[int, Fraction] = {}
    chunks = []
    for part, one, load in zip(parts, spans, loads, strict=True):
        if not load:
            continue
        node, job = part.node, case.jobs[part.job]
        ported = takes_port(stream, node)
        start = max(one.start, free.get(node, one.start))
        if ported and port is not None:
            start = max(start, port)
        sent = start + stream.theta_cm + load * stream.tau[node]
        done = sent + stream.theta_cp + load * stream.chi[node]
        free[node], port = done, sent if ported else port
        ends = (
            (start, one.latest),
            (sent, one.sent),
            (done, one.done),
            (done, job.due - case.slip),
        )
        if any(limit is not None and instant > limit + case.slip for instant, limit in ends):
            return None
        numbers: list[Number] = [load * stream.load_unit]
        numbers += [stream.instant_back(instant) for instant in (start, sent, sent, done)]
        if not case.instance.exact:
            numbers = [float(number) for number in numbers]
        chunks.append(Chunk(tasks[job.index].id, node, *numbers))
    return chunks
