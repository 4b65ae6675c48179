"""Whether every schedule of an instance satisfies the program of a certificate.

The fluid relaxation of `dlopt.models.multistage.fluid_relaxation` is written a second time here,
and every constraint of the certificate must be one of it. Only the division of time and nodes is
taken from there: the relaxation is valid for every division, so that it is verified, not trusted.
Programs over spans of chunks are for `dlopt.problems.multistage.certified_spans`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from dlopt.formats.vipr import Certificate
from dlopt.models.admission.proof_remarks import grid_remarks, misses_remark
from dlopt.models.admission.scaled_instance import ScaledTask
from dlopt.models.multistage.fluid_relaxation import time_grid
from dlopt.models.multistage.reservations import ScaledReservation
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.multistage import certified_spans
from dlopt.problems.multistage.data import Instance, Solution
from dlopt.result import Result, Status

WEIGHTED_OBJECTIVES = (
    "accepted",
    "accepted-tasks",
    "accepted-reservations",
    "accepted-load",
    "accepted-weight",
    "reject-ratio",
)
"""The objectives whose value is a weighted sum of acceptances."""


def proven_value(
    instance: Instance, result: Result[Solution], certificate: Certificate
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        What is to be proven: its objective, and whether everything must be accepted. Its plan
        class does not matter: what is proven of the fluid relaxation holds for every schedule.
    certificate : Certificate
        Its steps are not checked here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        A bound on the objective value of every schedule; None if there is no schedule. And a
        flaw, or None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.multistage.methods import bound_fluid
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), tasks, wanted)
    >>> result = bound_fluid(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> proven_value(instance, result, certificate)
    (Fraction(1, 1), None)
    """
    if any(name.startswith("n_") for name in certificate.names):
        return certified_spans.proven_value(instance, result, certificate)
    if result.objective not in WEIGHTED_OBJECTIVES:
        return None, f"certificates do not support the objective {result.objective}"
    # Whether everything fits is another question than whether there is a schedule.
    asks_for_all = result.method == "feasibility" and result.status is Status.INFEASIBLE
    whole = ScaledInstance.from_instance(instance, result.objective, accept_all=asks_for_all)
    scaled, missing = _restrict_to_named(whole, certificate.names)
    flaw = _find_flaw(scaled, certificate)
    if certificate.claim is None:
        return None, flaw
    if flaw is None and missing:
        flaw = "tasks or reservations of the instance are missing"
    value = scaled.tasks_only.value_of_finished - certificate.claim
    if result.objective == "reject-ratio":
        value = 1 - value / (len(instance.tasks) + len(instance.reservations))
    return value, flaw


def _restrict_to_named(whole: ScaledInstance, names: Sequence[str]) -> tuple[ScaledInstance, int]:
    """Return the instance of the named tasks and reservations, and how many others there are."""
    known = set(names)
    tasks = tuple(task for task in whole.tasks if f"z_{task.index}" in known)
    reservations = tuple(
        reservation for reservation in whole.reservations if f"q_{reservation.index}" in known
    )
    missing = len(whole.tasks) + len(whole.reservations) - len(tasks) - len(reservations)
    tasks_only = replace(whole.tasks_only, tasks=tasks)
    return replace(whole, tasks_only=tasks_only, reservations=reservations), missing


def _find_flaw(scaled: ScaledInstance, certificate: Certificate) -> str | None:
    instants, groups = time_grid(scaled)
    division = _Division.of(scaled, [group.nodes for group in groups], instants)
    if division is None:
        return "the division of time or nodes counts something twice or not at all"
    expected = grid_remarks(scaled.tasks_only, instants, division.groups)
    unstated = misses_remark(certificate.remarks, expected)
    if unstated is not None:
        return f"its remark {unstated!r} is not that of the instance"
    relaxation = _ReferenceRelaxation(scaled, division)
    if list(certificate.names) != relaxation.names:
        return "its columns are not those of the instance"
    acceptances = range(len(scaled.tasks) + len(scaled.reservations))
    if certificate.integers != frozenset(acceptances):
        return "its integer columns are not the acceptances"
    weights = [task.weight for task in scaled.tasks]
    weights += [reservation.weight for reservation in scaled.reservations]
    if certificate.costs != {column: -weight for column, weight in enumerate(weights) if weight}:
        return "its costs are not those of the objective"
    for name, row in certificate.constraints:
        if _Inequality.of(row.terms, row.sign, row.side) not in relaxation.inequalities:
            return f"{name} is not a constraint of the instance"
    return None


class _Inequality(NamedTuple):
    """What all schedules satisfy: terms are at least (sign 1) or at most (sign -1) a side."""

    terms: frozenset[tuple[int, Fraction]]
    sign: int
    side: Fraction

    @classmethod
    def of(cls, terms: Mapping[int, Fraction], sign: int, side: Fraction) -> _Inequality:
        return cls(frozenset((column, a) for column, a in terms.items() if a), sign, side)


class _Division(NamedTuple):
    """Consecutive intervals, and the nodes of each group."""

    intervals: tuple[tuple[Fraction, Fraction], ...]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        scaled: ScaledInstance,
        groups: Sequence[tuple[int, ...]],
        instants: Sequence[Fraction],
    ) -> _Division | None:
        """Return the division of all nodes, and of the time of all tasks; None if it is invalid."""
        intervals = tuple(pairwise(instants))
        ascending = all(start < end for start, end in intervals)
        once = sorted(chain.from_iterable(groups)) == list(scaled.tasks_only.nodes)
        first, last = instants[0], instants[-1]
        covered = all(first <= task.release and task.due <= last for task in scaled.tasks)
        return cls(intervals, tuple(groups)) if ascending and once and covered else None


class _ReferenceRelaxation:
    """The program, as the set of its inequalities.

    Columns are numbered as in a certificate: acceptances of tasks, of reservations; task by task
    what each group receives in each interval, what it computes, its stock from each interval to
    the next, its set-up times; and the nodes of each group that a reservation gets.

    Attributes
    ----------
    names : list of str
        Of the columns.
    inequalities : set of _Inequality
    """

    def __init__(self, scaled: ScaledInstance, division: _Division) -> None:
        self.scaled, self.tasks_only = scaled, scaled.tasks_only
        self.intervals, self.groups = division
        self.names: list[str] = []
        self.inequalities: set[_Inequality] = set()
        self.port_use: dict[int, dict[int, Fraction]] = defaultdict(dict)
        self.node_use: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(dict)
        min_nodes = [self._min_nodes(task) for task in scaled.tasks]
        task_columns = [
            self._column(
                f"z_{task.index}", task.mandatory, most=max(task.mandatory, count is not None)
            )
            for task, count in zip(scaled.tasks, min_nodes, strict=True)
        ]
        reservation_columns = [
            self._column(f"q_{reservation.index}", reservation.mandatory)
            for reservation in scaled.reservations
        ]
        for task, count, column in zip(scaled.tasks, min_nodes, task_columns, strict=True):
            self._add_task(task, count, column)
        for reservation, column in zip(scaled.reservations, reservation_columns, strict=True):
            self._add_reservation(reservation, column)
        self._add_capacities()
        self._add_conflicts(reservation_columns)

    def _add_task(self, task: ScaledTask, min_nodes: int | None, accepted: int) -> None:
        """An accepted task is received and computed in its window, in this order."""
        if min_nodes is None:
            self._equal_zero({accepted: Fraction(-1)})
            return
        s = self.tasks_only
        first, last = task.release, task.due
        received = self._flow(f"c_{task.index}", first + s.theta_cm, last - s.theta_cp)
        computed = self._flow(f"w_{task.index}", first + s.overhead, last)
        for (g, k), column in received.items():
            tau = min(s.tau[node] for node in self.groups[g])
            self._use(g, k, column, task.load * tau, port=True)
        for (g, k), column in computed.items():
            chi = min(s.chi[node] for node in self.groups[g])
            self._use(g, k, column, task.load * chi)
        for g in range(len(self.groups)):
            self._add_stock(f"s_{task.index}_{g}", g, received, computed)
        self._add_total(received, accepted)
        if s.theta_cm:
            setups = self._flow(f"u_{task.index}", first, last - s.theta_cp)
            self._add_total(setups, accepted)
            for (g, k), column in setups.items():
                self._use(g, k, column, min_nodes * s.theta_cm, port=True)
        if s.theta_cp:
            setups = self._flow(f"v_{task.index}", first + s.theta_cm, last)
            self._add_total(setups, accepted)
            for (g, k), column in setups.items():
                self._use(g, k, column, min_nodes * s.theta_cp)

    def _add_stock(
        self,
        name: str,
        g: int,
        received: Mapping[tuple[int, int], int],
        computed: Mapping[tuple[int, int], int],
    ) -> None:
        """The stock of a group is received and not computed; none is left in the end."""
        intervals = sorted({k for group, k in (*received, *computed) if group == g})
        previous: dict[int, Fraction] = {}
        for k in intervals:
            terms = dict(previous)
            if (g, k) in received:
                terms[received[g, k]] = Fraction(1)
            if (g, k) in computed:
                terms[computed[g, k]] = Fraction(-1)
            if k != intervals[-1]:
                stock = self._column(f"{name}_{k}")
                terms[stock], previous = Fraction(-1), {stock: Fraction(1)}
            self._equal_zero(terms)

    def _add_reservation(self, reservation: ScaledReservation, q: int) -> None:
        """A reservation takes time of channel and nodes; an impossible one is rejected."""
        if reservation.obstacle is not None:
            self._at_most({q: Fraction(1)}, Fraction(0))
            return
        for k, time in self._overlaps(reservation.start, reservation.io_end):
            self.port_use[k][q] = time
        counts = [len(set(reservation.eligible).intersection(nodes)) for nodes in self.groups]
        groups = [g for g, count in enumerate(counts) if count]
        if reservation.names_nodes:
            reserved = {g: (q, counts[g]) for g in groups}
        elif len(groups) == 1:
            reserved = {groups[0]: (q, reservation.count)}
        else:
            names = {g: f"h_{reservation.index}_{g}" for g in groups}
            reserved = {g: (self._column(names[g], most=counts[g]), 1) for g in groups}
            total = {column: Fraction(1) for column, _ in reserved.values()}
            self._equal_zero(total | {q: Fraction(-reservation.count)})
        start = max(reservation.start, self.scaled.now)
        for k, time in self._overlaps(start, reservation.end) if start < reservation.end else ():
            for g, (column, nodes) in reserved.items():
                self.node_use[g, k][column] = nodes * time

    def _add_capacities(self) -> None:
        """The channel sends to one node at a time; a node receives, computes or is reserved."""
        for k, terms in self.port_use.items():
            start, end = self.intervals[k]
            self._at_most(terms, end - start)
        for (g, k), terms in self.node_use.items():
            self._at_most(terms, self._free_time(g, k))

    def _add_conflicts(self, columns: Sequence[int]) -> None:
        """Of reservations that request one thing at one instant, one is accepted."""
        requests = list(zip(self.scaled.reservations, columns, strict=True))
        for reservation in self.scaled.reservations:
            instant, cliques = reservation.start, defaultdict[object, list[int]](list)
            for other, q in requests:
                if other.start <= instant < other.io_end:
                    cliques["channel"].append(q)
                if other.names_nodes and other.start <= instant < other.end:
                    for node in other.eligible:
                        cliques[node].append(q)
            for clique in cliques.values():
                self._at_most(dict.fromkeys(clique, Fraction(1)), Fraction(1))

    def _min_nodes(self, task: ScaledTask) -> int | None:
        """Return how many nodes a task alone needs at least; None if all are too few."""
        s, loads = self.tasks_only, []
        for node in s.nodes:
            time = task.due - max(task.release, s.free[node]) - s.theta_cm - s.theta_cp
            loads.append(max(time / (s.tau[node] + s.chi[node]), Fraction(0)))
        sums = accumulate(sorted(loads, reverse=True))
        return next((count for count, load in enumerate(sums, 1) if load >= task.load), None)

    def _flow(self, name: str, start: Fraction, end: Fraction) -> dict[tuple[int, int], int]:
        """Return a column for each group and interval of a window in which some node is free."""
        return {
            (g, k): self._column(f"{name}_{g}_{k}")
            for g in range(len(self.groups))
            for k, _ in self._overlaps(start, end)
            if self._free_time(g, k) > 0
        }

    def _overlaps(self, start: Fraction, end: Fraction) -> Iterator[tuple[int, Fraction]]:
        """Yield the intervals that a window overlaps, and for how long."""
        for k, (begin, stop) in enumerate(self.intervals):
            if begin < end and start < stop:
                yield k, min(end, stop) - max(start, begin)

    def _free_time(self, g: int, k: int) -> Fraction:
        start, end = self.intervals[k]
        times = (end - max(start, self.tasks_only.free[node]) for node in self.groups[g])
        return sum((time for time in times if time > 0), Fraction(0))

    def _use(self, g: int, k: int, column: int, time: Fraction, *, port: bool = False) -> None:
        self.node_use[g, k][column] = time
        if port:
            self.port_use[k][column] = time

    def _column(self, name: str, least: int = 0, most: int = 1) -> int:
        column = len(self.names)
        self.names.append(name)
        self.inequalities.add(_Inequality.of({column: Fraction(1)}, 1, Fraction(least)))
        self._at_most({column: Fraction(1)}, Fraction(most))
        return column

    def _add_total(self, columns: Mapping[tuple[int, int], int], accepted: int) -> None:
        terms = dict.fromkeys(columns.values(), Fraction(1))
        self._equal_zero(terms | {accepted: Fraction(-1)})

    def _equal_zero(self, terms: Mapping[int, Fraction]) -> None:
        self.inequalities.add(_Inequality.of(terms, 1, Fraction(0)))
        self._at_most(terms, Fraction(0))

    def _at_most(self, terms: Mapping[int, Fraction], side: Fraction) -> None:
        self.inequalities.add(_Inequality.of(terms, -1, side))
