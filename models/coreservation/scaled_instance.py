"""An instance in the units of the models: integer CPU, ranks of instants, acceptable requests.

**Lemma (integer shares).** If capacities and the ends of all segments of benefit functions are
integers, some optimal schedule has integer shares. *Proof.* Keep which requests are accepted, on
which machines their parts are, and on which segment of its function each part lies, closed at its
upper end (where a jump follows, the upper value holds, which is no worse). What remains is to
maximise a linear function of the shares between integer bounds, with one row for each instant and
machine. A part is active in consecutive instants: the rows are an interval matrix, which is totally
unimodular, so every vertex is integer.

**Lemma (floats).** Of an instance with a float, `check` accepts shares that fall short of the least
CPU by a factor ``d = FLOATING + ROUNDING``, and machines that are overloaded by ``o``, which is
`FLOATING` times the smallest CPU that any part asks for and `ROUNDING` times the largest. For each
such schedule there is one with true shares, the same requests accepted on the same machines, of no
less value, which loads no machine beyond ``(free + o) / (1 - d)``. *Proof.* Raise every share to
the least CPU of its part, and lower it to what the part asks for: its benefit does not fall. What
is raised grows by a factor of ``1 / (1 - d)`` at the most. So scaled instances of such instances
have that capacity, rounded down to whole units; it equals the free capacity itself unless units
are finer than the allowance.

Minimum shares and the ends of segments are integers, so rounding down loses no choice of machines
and segments, only less than a unit of the increments of shares on their segments. A schedule
observes the rounded capacity again if each share falls by what was rounded off, or to the low end
of its segment: the benefit that this loses at the most is `ScaledInstance.benefit_allowance`.

Examples
--------
>>> from dlopt.problems.coreservation.data import Machine, Request
>>> halves = Part(Fraction(3, 2)), Part(1)
>>> requests = (Request("a", 0, 10, 20, 1, halves), Request("b", 0, 15, 30, 2, halves))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", Fraction(9, 2)),), requests))
>>> scaled.unit, [(part.start, part.end, part.minimum) for part in scaled.parts]
(Fraction(1, 2), [(1, 3, 3), (1, 3, 2), (2, 4, 3), (2, 4, 2)])
>>> [clique.parts for clique in scaled.maximal_cliques()]
[(0, 1, 2, 3)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, pairwise
from math import gcd, lcm
from operator import itemgetter
from typing import TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.models.coreservation.requests import Clique, ScaledPart, ScaledRequest, Segment
from dlopt.models.coreservation.window_capacity import (
    free_capacity,
    permitted_capacity,
    sorted_instants,
)
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Instance, Part
from dlopt.problems.coreservation.goals import OBJECTIVES

LARGEST = 1 << 40
"""Units of CPU: larger capacities are not given to solvers, whose sums would leave 64 bits.

Chosen by hand: 2^40 leaves room for sums of thousands of parts and for the objective's factor.
"""

UnscaledSegment: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]
"""Low end, high end, benefit at the low end, slope: in CPU, before it is scaled."""


@dataclass(frozen=True, slots=True)
class ScaledInstance:
    """An instance under one objective, in integers.

    Parameters
    ----------
    instance : Instance
    objective : str
    unit : Fraction
        The CPU that 1 stands for.
    parts : tuple of ScaledPart
    requests : tuple of ScaledRequest
        By start.
    free : tuple of tuple of int, shape (machines, instants)
        What can be reserved of a machine from an instant to the next, in units.
    total_priority : Fraction
        The sum of all priorities.
    capacity_allowance : int, default 0
        Units by which `free` exceeds what can be reserved, because `check` allows it.
    benefit_allowance : Fraction, default 0
        By how much the benefit of a schedule that `check` accepts may exceed the optimum of the
        scaled instance.
    """

    instance: Instance
    objective: str
    unit: Fraction
    parts: tuple[ScaledPart, ...]
    requests: tuple[ScaledRequest, ...]
    free: tuple[tuple[int, ...], ...]
    total_priority: Fraction
    capacity_allowance: int = 0
    benefit_allowance: Fraction = Fraction(0)

    @classmethod
    def from_instance(
        cls, instance: Instance, objective: str = "benefit", *, widened: bool = True
    ) -> ScaledInstance:
        """Scale an instance.

        Parameters
        ----------
        instance : Instance
        objective : str
        widened : bool, default True
            Range over all schedules that `check` accepts by default; else only over those that
            observe the capacities exactly, which is the same if all numbers are exact.
        """
        return _InstanceScaler(instance, objective, widened=widened).scale()

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of the lexicographic objective, the first one first."""
        return OBJECTIVES[self.objective].levels or (self.objective,)

    @property
    def scaling_failure(self) -> str | None:
        """Why the CPU has no usable integer unit, or None if it has one."""
        largest = max(map(max, self.free))
        if largest <= LARGEST:
            return None
        return (
            "shares and capacities have no common integer unit of at least 2^-40 of the largest: "
            f"as integers they need {largest.bit_length()} bits (a float stands for the "
            "decimal that it prints; give fewer digits)"
        )

    def overloadable_cliques(
        self, parts: Iterable[int], machines: Sequence[int]
    ) -> tuple[Clique, ...]:
        """Return the maximal cliques of parts whose largest shares exceed some machine."""
        return tuple(
            clique
            for clique in self.maximal_cliques(parts, machines)
            if sum(self.parts[i].segments[-1].high for i in clique.parts) > min(clique.free)
        )

    def maximal_cliques(
        self, parts: Iterable[int] | None = None, machines: Sequence[int] | None = None
    ) -> tuple[Clique, ...]:
        """Return the cliques that no other one implies, by more parts and no more capacity."""
        parts = range(len(self.parts)) if parts is None else parts
        machines = range(len(self.free)) if machines is None else machines
        starting: dict[int, list[int]] = {}
        for i in parts:
            starting.setdefault(self.parts[i].start, []).append(i)
        cliques: list[tuple[int, frozenset[int], tuple[int, ...]]] = []
        active: frozenset[int] = frozenset()
        for instant in range(len(self.free[0])):
            active = frozenset(
                [*(i for i in active if self.parts[i].end > instant), *starting.get(instant, ())]
            )
            free = tuple(self.free[j][instant] for j in machines)
            while cliques and _is_implied(cliques[-1], active, free):
                cliques.pop()
            if active and not (cliques and _is_implied((0, active, free), *cliques[-1][1:])):
                cliques.append((instant, active, free))
        return tuple(
            Clique(instant, tuple(sorted(active)), free) for instant, active, free in cliques
        )

    def weight(self, level: str, k: int) -> Fraction:
        """Return what accepting request `k` adds to a level; a part's benefit is multiplied by it.

        Of the benefit it is ``w_k / |I_k|``, the normalised priority over the number of parts.
        """
        request = self.requests[k]
        if level == "benefit":
            count = len(self.instance.requests[request.index].parts)
            return request.priority / (count * self.total_priority)
        return request.priority if level == "rejected-priority" else Fraction(1)

    def value(self, level: str, accepted: Fraction) -> Fraction:
        """Return the level of the objective, given the total weight of accepted requests."""
        if level == "rejections":
            return len(self.instance.requests) - accepted
        return self.total_priority - accepted if level == "rejected-priority" else accepted

    def subinstance(
        self, requests: Sequence[int], free: Sequence[Sequence[int]], fixed: Mapping[int, int]
    ) -> ScaledInstance:
        """Return the instance of some requests with other free capacities.

        Parameters
        ----------
        requests : sequence of int
        free : sequence of sequence of int, shape (machines, instants)
        fixed : mapping of int to int
            Machines to which some parts are fixed.

        Notes
        -----
        Instants are counted from the first one of the requests' windows.
        """
        since = min(self.requests[k].start for k in requests)
        until = max(self.requests[k].end for k in requests)
        parts: list[ScaledPart] = []
        chosen: list[ScaledRequest] = []
        for k in requests:
            request = self.requests[k]
            first = len(parts)
            for i in request.parts:
                part = self.parts[i]
                machines = (fixed[i],) if i in fixed else part.machines
                start, end = part.start - since, part.end - since
                own = replace(part, request=len(chosen), start=start, end=end, machines=machines)
                parts.append(own)
            members = tuple(range(first, len(parts)))
            start, end = request.start - since, request.end - since
            chosen.append(ScaledRequest(request.index, start, end, request.priority, members))
        window = tuple(tuple(row[since:until]) for row in free)
        return replace(self, parts=tuple(parts), requests=tuple(chosen), free=window)

    def identical_machines(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the groups of interchangeable machines, and the parts that may be on each.

        Machines that no part may be on are left out.
        """
        groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for j, free in enumerate(self.free):
            parts = tuple(i for i, part in enumerate(self.parts) if j in part.machines)
            if parts:
                groups.setdefault((free, parts), []).append(j)
        return [(tuple(machines), parts) for (_, parts), machines in groups.items()]


def _is_implied(
    weak: tuple[int, frozenset[int], tuple[int, ...]],
    parts: frozenset[int],
    free: tuple[int, ...],
) -> bool:
    """Tell whether a clique follows from a superset of its parts with no more free capacity."""
    return weak[1] <= parts and all(a >= b for a, b in zip(weak[2], free, strict=True))


class _InstanceScaler:
    """Scales an instance to integers."""

    def __init__(self, instance: Instance, objective: str, *, widened: bool) -> None:
        self.instance, self.objective = instance, objective
        self.widened = widened and not instance.exact
        self.with_benefit = "benefit" in (OBJECTIVES[objective].levels or (objective,))
        self.rank = {instant: rank for rank, instant in enumerate(sorted_instants(instance))}

    def scale(self) -> ScaledInstance:
        true_free = free_capacity(self.instance)
        free = permitted_capacity(self.instance) if self.widened else true_free
        candidates = [
            (
                k,
                p,
                self._segments(part),
                self._eligible_machines(request.start, request.end, part, free),
            )
            for k, request in enumerate(self.instance.requests)
            for p, part in enumerate(request.parts)
        ]
        impossible = {k for k, _, _, machines in candidates if not machines}
        candidates = [candidate for candidate in candidates if candidate[0] not in impossible]
        unit = self._common_unit([segments for _, _, segments, _ in candidates], true_free)
        total = sum(int(segments[-1][1] / unit) for _, _, segments, _ in candidates) + 1
        parts: list[ScaledPart] = []
        requests: list[ScaledRequest] = []
        by_request = {k: list(members) for k, members in groupby(candidates, key=itemgetter(0))}
        for k in sorted(
            by_request, key=lambda k: self.rank[exact(self.instance.requests[k].start)]
        ):
            request = self.instance.requests[k]
            start, end = self.rank[exact(request.start)], self.rank[exact(request.end)]
            first = len(parts)
            for _, p, segments, machines in by_request[k]:
                room = int(max(min(free[j][start:end]) for j in machines) // unit)
                scaled_segments = tuple(
                    Segment(int(low / unit), min(int(high / unit), room), benefit, slope * unit)
                    for low, high, benefit, slope in segments
                    if low <= room * unit
                )
                parts.append(ScaledPart(len(requests), p, start, end, scaled_segments, machines))
            indices = tuple(range(first, len(parts)))
            requests.append(ScaledRequest(k, start, end, exact(request.priority), indices))
        scaled = ScaledInstance(
            self.instance,
            self.objective,
            unit,
            tuple(parts),
            tuple(requests),
            tuple(tuple(min(int(value // unit), total) for value in row) for row in free),
            sum((exact(request.priority) for request in self.instance.requests), Fraction(0)),
        )
        return self._with_allowances(scaled, true_free, free) if self.widened else scaled

    def _with_allowances(
        self, scaled: ScaledInstance, true_free: list[list[Fraction]], free: list[list[Fraction]]
    ) -> ScaledInstance:
        """Add what the scaled instance allows beyond the capacities, and what it rounds off."""
        excess, rounded = 0, Fraction(0)
        for true_row, wide_row in zip(true_free, free, strict=True):
            for value, wide in zip(true_row, wide_row, strict=True):
                excess = max(excess, int(wide // scaled.unit) - int(value // scaled.unit))
                rounded = max(rounded, wide / scaled.unit % 1)
        steepest = (
            scaled.weight("benefit", part.request) * max(segment.slope for segment in part.segments)
            for part in scaled.parts
        )
        return replace(
            scaled,
            capacity_allowance=excess,
            benefit_allowance=rounded * sum(steepest, Fraction(0)),
        )

    def _eligible_machines(
        self, start: Number, end: Number, part: Part, free: list[list[Fraction]]
    ) -> tuple[int, ...]:
        """Return the machines on which a part fits while nothing else is allocated there."""
        window = slice(self.rank[exact(start)], self.rank[exact(end)])
        machines = range(len(free)) if part.machine is None else (part.machine,)
        return tuple(j for j in machines if min(free[j][window]) >= exact(part.least))

    def _segments(self, part: Part) -> list[UnscaledSegment]:
        """Return the segments of a part's benefit that are useful, ascending, in CPU."""
        cpu, least = exact(part.cpu), exact(part.least)
        start = benefit_at(part.benefit, least / cpu)
        segments = [(least, least, start, Fraction(0))]
        if not self.with_benefit:
            return segments
        points = [(exact(share) * cpu, exact(benefit)) for share, benefit in part.benefit]
        for (left, low), (right, high) in pairwise(points):
            begin = max(left, least)
            if right > begin and high > low:
                slope = (high - low) / (right - left)
                _append_segment(segments, (begin, right, low + slope * (begin - left), slope))
            elif right == left > least:
                _append_segment(segments, (right, right, high, Fraction(0)))
        return segments

    def _common_unit(
        self, parts: list[list[UnscaledSegment]], free: list[list[Fraction]]
    ) -> Fraction:
        """Return the largest CPU of which all ends of segments, and capacities, are multiples."""
        segments = [segment for part in parts for segment in part]
        numbers = {end for low, high, _, _ in segments for end in (low, high)}
        if any(high > low for low, high, _, _ in segments):
            numbers |= {value for row in free for value in row}
        denominator = lcm(*{number.denominator for number in numbers})
        common = gcd(*(int(number * denominator) for number in numbers))
        return Fraction(common or 1, denominator)


def _append_segment(segments: list[UnscaledSegment], segment: UnscaledSegment) -> None:
    """Add a segment; it replaces the last one if that is a point of no more benefit at its start.

    A point that gives no more benefit than the end of the last segment is left out.
    """
    low, high, benefit, slope = segments[-1]
    if low == high == segment[0] and benefit <= segment[2]:
        segments.pop()
    elif benefit + slope * (high - low) >= segment[2] and segment[0] == segment[1]:
        return
    segments.append(segment)
