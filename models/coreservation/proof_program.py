"""Programs of certificates: which requests are accepted, and where their parts are.

The columns and rows are those of `dlopt.problems.coreservation.certified_program`, which a checker
states a second time. Machines are partitioned into groups, and a group is taken as one machine; the
finest partition is the full model. With the symbols of `milp`, and ``y_igq`` for part ``i`` on
group ``g`` and segment ``q``::

    minimise    - sum_k v_k x_k - sum_igq (b_iq y_igq + m_iq r_igq) + sum_j m_j
    subject to  sum_gq y_igq = x_k(i)                                accepted
                r_igq <= (high_iq - low_iq) y_igq                    piece
                sum_{i active at t} (low y + r) <= sum_{j in g} C_jt                 capacity
                sum_{i active at t} floor(low / d) y <= sum_{j in g} floor(C_jt / d)    count

where machines are counted, ``C_jt m_j`` stands for ``C_jt``. Rows ``count`` with ``d = 1`` are the
capacity in whole units, where no share can be raised; those with ``d > 1``, which are
Chvatal-Gomory cuts, and the rows of `proof_knapsack_cuts` are separated.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> program = ProofProgram(scaled, [0], Fraction(1))
>>> program.add_capacity()
>>> program.names, [row.name for row in program.rows]
(['x_0', 'x_1', 'y_0_0_0_1_1', 'y_1_0_0_1_1'], ['accepted_0_0', 'accepted_1_0', 'count_0_1_1'])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow, scaled_relaxation
from dlopt.models.coreservation.objective import segment_coefficients
from dlopt.models.coreservation.proof_knapsack_cuts import knapsack_weights
from dlopt.models.coreservation.requests import Segment
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.window_capacity import permitted_capacity

MAX_CUTS_PER_ROUND = 20
"""Cuts that are added at a point, the most violated ones. Chosen by hand."""
MAX_KNAPSACKS_PER_ROUND = 10
"""Instants and groups of which a knapsack is separated at a point. Chosen by hand, for its time."""
MIN_VIOLATION = 1e-6
"""Cuts that are violated by less of their right-hand side are not added."""


class Place(NamedTuple):
    """A part on a segment and a group, with its columns.

    Parameters
    ----------
    part, group : int
    segment : Segment
    chosen : int
        The column `y`.
    increment : int or None
        The column `r`, if the segment is no point.
    label : str
        The last part of the names of both.
    """

    part: int
    group: int
    segment: Segment
    chosen: int
    increment: int | None
    label: str


class ProofProgram:
    """The program of an instance over some groups of machines.

    Parameters
    ----------
    scaled : ScaledInstance
    groups : sequence of int
        The group of each machine.
    weight : Fraction
        What the first level counts for.
    target : tuple of (Fraction, int), optional
        Of ``benefit-then-rejections``: the benefit, and the rejections that the second level has
        then at least.

    Notes
    -----
    Rows of capacities are added by `add_capacity`: the trivial bound needs none.

    Attributes
    ----------
    names : list of str
        Of the columns.
    costs : list of Fraction
    upper : list of Fraction
        Bounds of columns; the lower ones are 0.
    binaries : list of int
    rows : list of NamedRow
    places : list of Place
    improvement : int or None
        The column of plans that reach the first level of the target, and improve on the second.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        groups: Sequence[int],
        weight: Fraction,
        target: tuple[Fraction, int] | None = None,
    ) -> None:
        self.scaled, self.groups, self.weight = scaled, groups, weight
        self.names: list[str] = []
        self.costs: list[Fraction] = []
        self.upper: list[Fraction] = []
        self.binaries: list[int] = []
        self.rows: list[NamedRow] = []
        self.places: list[Place] = []
        self.free = [
            [free / scaled.unit for free in row] for row in permitted_capacity(scaled.instance)
        ]
        self._knapsacks = 0
        self._with_benefit = "benefit" in scaled.levels
        self.add_acceptance()
        for i in range(len(scaled.parts)):
            self.add_part(i)
        self.used = self.add_machines() if "machines" in scaled.levels else {}
        self.improvement = None if target is None else self.add_levels(*target)

    def add_acceptance(self) -> None:
        """Accepting a request counts by itself, unless only benefits do."""
        level = self.scaled.levels[0]
        for k, request in enumerate(self.scaled.requests):
            gain = ZERO if level == "benefit" else self.weight * self.scaled.weight(level, k)
            self._add_column(f"x_{request.index}", -gain)

    def add_part(self, i: int) -> None:
        """An accepted part is on one group and segment, and has an increment there."""
        part = self.scaled.parts[i]
        request = self.scaled.requests[part.request].index
        rooms: dict[int, Fraction] = {}
        for j in part.machines:
            room = min(self.free[j][part.start : part.end])
            rooms[self.groups[j]] = max(room, rooms.get(self.groups[j], ZERO))
        most = max(rooms.values())
        chosen: list[tuple[int, Fraction]] = []
        for group, room in sorted(rooms.items()):
            for segment in part.segments:
                if segment.low <= room:
                    is_cut = segment.slope > 0 and segment.high == floor(most)  # to whole units
                    end = min(most if is_cut else Fraction(segment.high), room)
                    label = f"{request}_{part.index}_{group}_{segment.low}_{ceil(end)}"
                    chosen.append((self.add_place(i, group, segment, end, label), ONE))
        terms = (*chosen, (part.request, -ONE))
        self.rows.append(NamedRow(f"accepted_{request}_{part.index}", terms, ZERO, ZERO))

    def add_place(self, i: int, group: int, segment: Segment, end: Fraction, label: str) -> int:
        """Add the columns of a part on a group and a segment to its end; return that of `y`."""
        benefit = slope = ZERO
        if self._with_benefit:
            benefit, slope = segment_coefficients(self.scaled, i, segment)
        chosen, increment = self._add_column(f"y_{label}", -benefit), None
        length = end - segment.low
        if length:
            increment = self._add_column(f"r_{label}", -slope, length, is_binary=False)
            terms = (increment, ONE), (chosen, -length)
            self.rows.append(NamedRow(f"piece_{label}", terms, None, ZERO, length))
        self.places.append(Place(i, group, segment, chosen, increment, label))
        return chosen

    def add_machines(self) -> dict[int, int]:
        """Add a column for the use of each machine; return them by machine."""
        machines = sorted({j for part in self.scaled.parts for j in part.machines})
        return {j: self._add_column(f"m_{j}", ONE) for j in machines}

    def add_levels(self, benefit: Fraction, rejections: int) -> int:
        """Add the column of plans with as much benefit and fewer rejections; return it."""
        gains = tuple((c, -cost) for c, cost in enumerate(self.costs) if cost)
        improvement = self._add_column("w", -ONE)
        enough = Fraction(len(self.scaled.instance.requests) - rejections + 1)
        accepted = tuple((k, ONE) for k in range(len(self.scaled.requests)))
        self.rows.append(NamedRow("level_0", (*gains, (improvement, -benefit)), ZERO, None))
        self.rows.append(NamedRow("level_1", (*accepted, (improvement, -enough)), ZERO, None))
        return improvement

    @cached_property
    def loads(self) -> list[tuple[int, int, list[Place]]]:
        """Groups, instants and what may be there, where that may be too much."""
        return list(self._loads())

    def add_capacity(self) -> None:
        """At every instant a group holds what its machines have free, in whole units if it can."""
        for group, instant, places in self.loads:
            if any(place.increment is not None for place in places):
                load = [(place.chosen, Fraction(place.segment.low)) for place in places]
                load += [(p.increment, ONE) for p in places if p.increment is not None]
                least = min(place.segment.low for place in places)
                free = {j: self.free[j][instant] for j in self._members(group)}
                free = {j: room for j, room in free.items() if room >= least}
                self.rows.append(self._limited(f"capacity_{group}_{instant}", load, free))
            else:
                self.rows.append(self.count_row(group, instant, places, 1))

    def count_row(
        self, group: int, instant: int, places: Iterable[Place], divisor: int
    ) -> NamedRow:
        """Return how many multiples of some units a group holds at an instant."""
        load = [
            (place.chosen, Fraction(place.segment.low // divisor))
            for place in places
            if place.segment.low >= divisor
        ]
        free = {j: Fraction(floor(self.free[j][instant] / divisor)) for j in self._members(group)}
        return self._limited(f"count_{group}_{instant}_{divisor}", load, free)

    def knapsack_cuts(self, point: Sequence[float], stop: float = inf) -> list[NamedRow]:
        """Return rows ``knapsack`` that a point violates, of the instants that are fullest."""
        candidates: list[tuple[float, int, int, list[Place], dict[int, int]]] = []
        for group, instant, places in self.loads:
            own = [p for p in places if p.segment.low and point[p.chosen] > MIN_VIOLATION]
            free = {j: floor(self.free[j][instant]) for j in self._members(group)}
            load = sum(place.segment.low * point[place.chosen] for place in own)
            if load:
                candidates.append((load / max(1, sum(free.values())), group, instant, own, free))
        candidates.sort(key=lambda one: -one[0])
        found: list[NamedRow] = []
        for _, group, instant, own, free in candidates[:MAX_KNAPSACKS_PER_ROUND]:
            machines = sum(point[self.used[j]] if j in self.used else 1.0 for j in free)
            amounts = [(place.segment.low, point[place.chosen]) for place in own]
            weights = knapsack_weights(amounts, free, machines, stop=stop)
            if weights is not None:
                self._knapsacks += 1
                of_size, of_machine = weights
                load_terms = [
                    (place.chosen, Fraction(of_size[place.segment.low]))
                    for place in own
                    if of_size[place.segment.low]
                ]
                rooms = {j: Fraction(weight) for j, weight in of_machine.items()}
                name = f"knapsack_{group}_{instant}_{self._knapsacks}"
                found.append(self._limited(name, load_terms, rooms))
        return found

    def separated_cuts(self, point: Sequence[float]) -> list[NamedRow]:
        """Return rows ``count`` that a point violates, the most violated ones."""
        found: list[tuple[float, NamedRow]] = []
        for group, instant, places in self.loads:
            positive = [place for place in places if point[place.chosen] > MIN_VIOLATION]
            for divisor in sorted({place.segment.low for place in positive} - {0, 1}):
                row = self.count_row(group, instant, places, divisor)
                assert row.upper is not None  # of the machines
                left = sum(float(a) * point[j] for j, a in row.terms)
                excess = (left - float(row.upper)) / max(1.0, float(row.scale))
                if excess > MIN_VIOLATION:
                    found.append((-excess, row))
        found.sort(key=lambda one: one[0])
        return [row for _, row in found[:MAX_CUTS_PER_ROUND]]

    def linear_program(self) -> LinearProgram:
        """Return the relaxation, its rows scaled."""
        return scaled_relaxation(self.rows, self.costs, self.upper)

    def _loads(self) -> Iterator[tuple[int, int, list[Place]]]:
        of_group: dict[int, dict[int, list[Place]]] = {}
        for place in self.places:
            of_group.setdefault(place.group, {}).setdefault(place.part, []).append(place)
        for group, of_part in sorted(of_group.items()):
            members = self._members(group)
            cliques = self.scaled.overloadable_cliques(sorted(of_part), members)
            if self.used:  # each of them needs machines
                cliques = self.scaled.maximal_cliques(sorted(of_part), members)
            for clique in cliques:
                yield group, clique.instant, [p for i in clique.parts for p in of_part[i]]

    def _members(self, group: int) -> list[int]:
        return [j for j, own in enumerate(self.groups) if own == group]

    def _limited(
        self, name: str, load: Sequence[tuple[int, Fraction]], free: dict[int, Fraction]
    ) -> NamedRow:
        """Return the row by which a load is at most what is free, on machines that are used.

        A machine without a column counts whether it is used or not, as for who checks the row.
        """
        total = sum(free.values(), ZERO)
        if not self.used:
            return NamedRow(name, tuple(load), None, total, max(total, ONE))
        used = tuple((self.used[j], -room) for j, room in free.items() if room and j in self.used)
        always = sum((room for j, room in free.items() if j not in self.used), ZERO)
        return NamedRow(name, (*load, *used), None, always, max(total, ONE))

    def _add_column(
        self, name: str, cost: Fraction, upper: Fraction = ONE, *, is_binary: bool = True
    ) -> int:
        column = len(self.names)
        self.names.append(name)
        self.costs.append(cost)
        self.upper.append(upper)
        if is_binary:
            self.binaries.append(column)
        return column
