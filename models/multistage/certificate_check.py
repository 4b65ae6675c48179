"""Whether the program of a certificate is one that every plan of an instance satisfies.

The relaxation of `dlopt.models.multistage.fluid_relaxation` is written out here a second time, and
every constraint of the certificate must be one of it. Only how time and nodes are divided is taken
from there: the relaxation holds for every division, so that one is looked at, not trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from dlopt.formats.vipr import Certificate
from dlopt.models.admission.scaled_instance import Job
from dlopt.models.multistage.fluid_relaxation import FluidModel
from dlopt.models.multistage.reservations import Booking
from dlopt.models.multistage.scaled_instance import Case
from dlopt.problems.multistage.data import Instance, Solution
from dlopt.result import Result, Status

_WORTHS = (
    "accepted",
    "accepted-tasks",
    "accepted-reservations",
    "accepted-load",
    "reject-ratio",
)
"""The objectives whose worth is what the acceptances weigh."""


def proven_worth(
    instance: Instance, result: Result[Solution], certificate: Certificate
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        What is to be proven: its objective, and whether everything must be accepted. Its plan
        class does not matter: what is proven of loads that flow holds for every plan.
    certificate : Certificate
        Its steps are not looked at here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        What no plan is better than, as the objective states it; None if there is no plan. And a
        flaw, or None.
    """
    if result.objective not in _WORTHS:
        return None, f"it is no proof for the objective {result.objective}"
    # Whether everything fits is another question than whether there is a plan.
    question = result.method == "feasibility" and result.status is Status.INFEASIBLE
    whole = Case.of(instance, result.objective, everyone=question)
    case, missing = _named_only(whole, certificate.names)
    flaw = _flaw(case, certificate)
    if certificate.claim is None:
        return None, flaw
    if flaw is None and missing:
        flaw = "it leaves tasks or reservations out"
    worth = case.stream.granted - certificate.claim
    if result.objective == "reject-ratio":
        worth = 1 - worth / (len(instance.tasks) + len(instance.reservations))
    return worth, flaw


def _named_only(whole: Case, names: Sequence[str]) -> tuple[Case, int]:
    """Return the case of the tasks and reservations that are named, and how many others are."""
    known = set(names)
    jobs = tuple(job for job in whole.jobs if f"z_{job.index}" in known)
    bookings = tuple(one for one in whole.bookings if f"q_{one.index}" in known)
    missing = len(whole.jobs) + len(whole.bookings) - len(jobs) - len(bookings)
    return replace(whole, stream=replace(whole.stream, jobs=jobs), bookings=bookings), missing


def _flaw(case: Case, certificate: Certificate) -> str | None:
    model = FluidModel(case)
    division = _Division.of(case, [kind.nodes for kind in model.kinds], model.instants)
    if division is None:
        return "time or nodes are not divided, for something would count twice, or not at all"
    twin = _Relaxation(case, division)
    if list(certificate.names) != twin.names:
        return "its columns are not those of the instance"
    if certificate.integers != frozenset(range(len(case.jobs) + len(case.bookings))):
        return "other columns are integral than the acceptances"
    weights = [*(job.weight for job in case.jobs), *(one.weight for one in case.bookings)]
    if certificate.costs != {column: -weight for column, weight in enumerate(weights) if weight}:
        return "its costs are not those of the objective"
    for name, one in certificate.constraints:
        if _Fact.of(one.terms, one.sign, one.side) not in twin.facts:
            return f"{name} is no constraint of the instance"
    return None


class _Fact(NamedTuple):
    """What all plans satisfy: terms are at least (sign 1) or at most (sign -1) a side."""

    terms: frozenset[tuple[int, Fraction]]
    sign: int
    side: Fraction

    @classmethod
    def of(cls, terms: Mapping[int, Fraction], sign: int, side: Fraction) -> _Fact:
        return cls(frozenset((column, a) for column, a in terms.items() if a), sign, side)


class _Division(NamedTuple):
    """Intervals, one after the other, and the nodes of each kind."""

    intervals: tuple[tuple[Fraction, Fraction], ...]
    kinds: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls, case: Case, kinds: Sequence[tuple[int, ...]], instants: Sequence[Fraction]
    ) -> _Division | None:
        """Return the division of all nodes, and of the time of all tasks; None if it is none."""
        intervals = tuple(pairwise(instants))
        ascending = all(start < end for start, end in intervals)
        once = sorted(chain.from_iterable(kinds)) == list(case.stream.nodes)
        covered = all(instants[0] <= job.release and job.due <= instants[-1] for job in case.jobs)
        return cls(intervals, tuple(kinds)) if ascending and once and covered else None


class _Relaxation:
    """The program, as the set of its constraints.

    Columns are numbered as in a certificate: acceptances of tasks, of reservations; task by task
    what each kind receives in each interval, what it computes, what it keeps from each to the
    next, its set-ups; and the nodes of each kind that a reservation holds.

    Attributes
    ----------
    names : list of str
        Of the columns.
    facts : set of _Fact
    """

    def __init__(self, case: Case, division: _Division) -> None:
        self.case, self.stream = case, case.stream
        self.intervals, self.kinds = division
        self.names: list[str] = []
        self.facts: set[_Fact] = set()
        self.port: dict[int, dict[int, Fraction]] = defaultdict(dict)
        self.busy: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(dict)
        fewest = [self._fewest_nodes(job) for job in case.jobs]
        accepted = [
            self._column(f"z_{job.index}", job.must, most=max(job.must, count is not None))
            for job, count in zip(case.jobs, fewest, strict=True)
        ]
        taken = [self._column(f"q_{one.index}", one.must) for one in case.bookings]
        for job, count, column in zip(case.jobs, fewest, accepted, strict=True):
            self._do_all_or_nothing(job, count, column)
        for booking, column in zip(case.bookings, taken, strict=True):
            self._hold(booking, column)
        self._keep_to_capacities()
        self._exclude(taken)

    def _do_all_or_nothing(self, job: Job, fewest: int | None, accepted: int) -> None:
        """What is accepted is received and computed in its window; first received."""
        if fewest is None:
            self._equal({accepted: Fraction(-1)})
            return
        s = self.stream
        first, last = job.release, job.due
        received = self._flow(f"c_{job.index}", first + s.theta_cm, last - s.theta_cp)
        computed = self._flow(f"w_{job.index}", first + s.overhead, last)
        for (g, k), column in received.items():
            tau = min(s.tau[node] for node in self.kinds[g])
            self._take(g, k, column, job.load * tau, port=True)
        for (g, k), column in computed.items():
            chi = min(s.chi[node] for node in self.kinds[g])
            self._take(g, k, column, job.load * chi)
        for g in range(len(self.kinds)):
            self._keep_stock(g, received, computed)
        self._add_up(received, accepted)
        if s.theta_cm:
            setups = self._flow("", first, last - s.theta_cp)
            self._add_up(setups, accepted)
            for (g, k), column in setups.items():
                self._take(g, k, column, fewest * s.theta_cm, port=True)
        if s.theta_cp:
            setups = self._flow("", first + s.theta_cm, last)
            self._add_up(setups, accepted)
            for (g, k), column in setups.items():
                self._take(g, k, column, fewest * s.theta_cp)

    def _keep_stock(
        self,
        g: int,
        received: Mapping[tuple[int, int], int],
        computed: Mapping[tuple[int, int], int],
    ) -> None:
        """What a kind has received and not computed is there in the next interval; none is left."""
        at = sorted({k for kind, k in (*received, *computed) if kind == g})
        kept: dict[int, Fraction] = {}
        for k in at:
            terms = dict(kept)
            if (g, k) in received:
                terms[received[g, k]] = Fraction(1)
            if (g, k) in computed:
                terms[computed[g, k]] = Fraction(-1)
            if k != at[-1]:
                stock = self._column()
                terms[stock], kept = Fraction(-1), {stock: Fraction(1)}
            self._equal(terms)

    def _hold(self, booking: Booking, q: int) -> None:
        """What is reserved is not there for tasks; some reservations cannot be had."""
        if booking.obstacle is not None:
            self._at_most({q: Fraction(1)}, Fraction(0))
            return
        for k, time in self._shares(booking.start, booking.sent):
            self.port[k][q] = time
        able = [len(set(booking.able).intersection(nodes)) for nodes in self.kinds]
        there = [g for g, count in enumerate(able) if count]
        if booking.named:
            held = {g: (q, able[g]) for g in there}
        elif len(there) == 1:
            held = {there[0]: (q, booking.count)}
        else:
            held = {g: (self._column(most=able[g]), 1) for g in there}
            total = {column: Fraction(1) for column, _ in held.values()}
            self._equal(total | {q: Fraction(-booking.count)})
        start = max(booking.start, self.case.now)
        for k, time in self._shares(start, booking.end) if start < booking.end else ():
            for g, (column, nodes) in held.items():
                self.busy[g, k][column] = nodes * time

    def _keep_to_capacities(self) -> None:
        """The channel sends to one node at a time; a node receives, computes or is reserved."""
        for k, terms in self.port.items():
            start, end = self.intervals[k]
            self._at_most(terms, end - start)
        for (g, k), terms in self.busy.items():
            self._at_most(terms, self._free(g, k))

    def _exclude(self, taken: Sequence[int]) -> None:
        """Of reservations that want one thing at one instant, one is accepted."""
        wanted = list(zip(self.case.bookings, taken, strict=True))
        for one in self.case.bookings:
            instant, groups = one.start, defaultdict[object, list[int]](list)
            for other, q in wanted:
                if other.start <= instant < other.sent:
                    groups["channel"].append(q)
                if other.named and other.start <= instant < other.end:
                    for node in other.able:
                        groups[node].append(q)
            for together in groups.values():
                self._at_most(dict.fromkeys(together, Fraction(1)), Fraction(1))

    def _fewest_nodes(self, job: Job) -> int | None:
        """Return how many nodes a task needs if it has them for itself; None if all are too few."""
        s, done = self.stream, []
        for node in s.nodes:
            time = job.due - max(job.release, s.free[node]) - s.theta_cm - s.theta_cp
            done.append(max(time / (s.tau[node] + s.chi[node]), Fraction(0)))
        sums = accumulate(sorted(done, reverse=True))
        return next((count for count, load in enumerate(sums, 1) if load >= job.load), None)

    def _flow(self, name: str, start: Fraction, end: Fraction) -> dict[tuple[int, int], int]:
        """Return a column for each kind and each interval of a window in which some are free."""
        return {
            (g, k): self._column(f"{name}_{g}_{k}" if name else "")
            for g in range(len(self.kinds))
            for k, _ in self._shares(start, end)
            if self._free(g, k) > 0
        }

    def _shares(self, start: Fraction, end: Fraction) -> Iterator[tuple[int, Fraction]]:
        """Yield the intervals that a window meets, and for how long."""
        for k, (begin, stop) in enumerate(self.intervals):
            if begin < end and start < stop:
                yield k, min(end, stop) - max(start, begin)

    def _free(self, g: int, k: int) -> Fraction:
        start, end = self.intervals[k]
        times = (end - max(start, self.stream.free[node]) for node in self.kinds[g])
        return sum((time for time in times if time > 0), Fraction(0))

    def _take(self, g: int, k: int, column: int, time: Fraction, *, port: bool = False) -> None:
        self.busy[g, k][column] = time
        if port:
            self.port[k][column] = time

    def _column(self, name: str = "", least: int = 0, most: int = 1) -> int:
        column = len(self.names)
        self.names.append(name or f"x_{column}")
        self.facts.add(_Fact.of({column: Fraction(1)}, 1, Fraction(least)))
        self._at_most({column: Fraction(1)}, Fraction(most))
        return column

    def _add_up(self, parts: Mapping[tuple[int, int], int], accepted: int) -> None:
        terms = dict.fromkeys(parts.values(), Fraction(1))
        self._equal(terms | {accepted: Fraction(-1)})

    def _equal(self, terms: Mapping[int, Fraction]) -> None:
        """Add up to 0."""
        self.facts.add(_Fact.of(terms, 1, Fraction(0)))
        self._at_most(terms, Fraction(0))

    def _at_most(self, terms: Mapping[int, Fraction], side: Fraction) -> None:
        self.facts.add(_Fact.of(terms, -1, side))
