"""The solution checker: decisions and shares against every constraint of the problem."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, Number, exact
from dlopt.problems.checking import Checker
from dlopt.problems.coreservation.checker_times import latest_decisions
from dlopt.problems.coreservation.data import (
    Change,
    Instance,
    Machine,
    Request,
    Share,
    Solution,
)
from dlopt.problems.coreservation.usage_profile import LoadInterval, UsageProfile
from dlopt.result import Violation

KINDS = (
    "unknown-request",
    "undecided",
    "duplicate-decision",
    "wrong-decision-time",
    "unknown-part",
    "part-missing",
    "duplicate-part",
    "rejected-request-allocated",
    "unknown-machine",
    "wrong-machine",
    "share-below-minimum",
    "share-above-maximum",
    "overload",
    "transient-overload",
    "history-mismatch",
)
"""The kinds of violation that `violations` tells apart."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        If positive, shares may exceed the CPU of the part and fall short of its least CPU by a
        factor of `tolerance` and 64 units in the last place; a machine may be overloaded by
        `tolerance` times the least CPU asked for by any part, and 64 units in the last place of
        the most; decisions may be late by `tolerance` times the shortest window, and by 64 units
        in the last place.

    Returns
    -------
    tuple of Violation
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    At every instant the shares on a machine may together hold what its holdings leave of its
    capacity, and no more; where holdings exceed it that is nothing. Windows are half-open. Where
    the plan says by which changes it was made, this holds after each of them, too.
    Complexity: O(n log n) in requests, parts, holdings and changes.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Decision, Machine, Part, Request, Share
    >>> wanted = Request("r", 0, 2, 6, 1, (Part(6), Part(5)))
    >>> instance = Instance((Machine("m", 10),), (wanted,))
    >>> plan = Solution((Decision("r", True, 0),), (Share("r", 0, 0, 6), Share("r", 1, 0, 5)))
    >>> print(*violations(instance, plan))
    overload on machine m in [2, 6] by 1
    """
    return tuple(_Checker(instance, solution, tolerance).violations())


class _Checker(Checker):
    """The checker of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.solution = instance, solution
        self.requests = {request.id: request for request in instance.requests}

    def violations(self) -> Iterator[Violation]:
        yield from self._decision_violations()
        yield from self._share_violations()
        yield from self._load_violations()
        if self.solution.changes:
            yield from self._history_violations()

    def _decision_violations(self) -> Iterator[Violation]:
        """Yield where a request is not decided once, at its arrival or with its batch."""
        decisions = self.solution.decisions
        counts = Counter(decision.request for decision in decisions)
        for name in self.requests:
            if counts[name] == 0:
                yield Violation("undecided", f"request {name}")
            elif counts[name] > 1:
                yield Violation("duplicate-decision", f"request {name}", amount=counts[name])
        latest = dict(zip(self.requests, latest_decisions(self.instance), strict=True))
        for decision in decisions:
            request = self.requests.get(decision.request)
            if request is None:
                yield Violation("unknown-request", f"request {decision.request}")
                continue
            at = exact(decision.at)
            early, late = exact(request.arrival) - at, at - latest[request.id]
            if max(early, late) > self.time_tolerance(at):
                amount = -early if early > 0 else late
                yield Violation("wrong-decision-time", f"request {request.id}", at, amount=amount)

    def _share_violations(self) -> Iterator[Violation]:
        """Yield where an accepted request has not all of its parts, or a rejected one has any."""
        shares_of: dict[str, list[Share]] = defaultdict(list)
        for share in self.solution.shares:
            if share.request not in self.requests:
                yield Violation("unknown-request", f"request {share.request}")
            shares_of[share.request].append(share)
        for request in self.requests.values():
            counts = Counter(share.part for share in shares_of[request.id])
            if request.id not in self._accepted and counts:
                amount = sum((exact(share.cpu) for share in shares_of[request.id]), Fraction(0))
                resource = f"request {request.id}"
                yield Violation(
                    "rejected-request-allocated",
                    resource,
                    exact(request.start),
                    exact(request.end),
                    amount,
                )
            for index in range(len(request.parts)):
                if counts[index] == 0 and request.id in self._accepted:
                    yield Violation("part-missing", _part_name(request.id, index))
                elif counts[index] > 1:
                    amount = Fraction(counts[index])
                    yield Violation("duplicate-part", _part_name(request.id, index), amount=amount)
            for share in shares_of[request.id]:
                yield from self._one_share_violations(request, share)

    def _one_share_violations(self, request: Request, share: Share) -> Iterator[Violation]:
        """Yield where a share is not what its part allows."""
        resource = _part_name(share.request, share.part)
        if not 0 <= share.machine < len(self.instance.machines):
            yield Violation("unknown-machine", resource, amount=share.machine)
        if not 0 <= share.part < len(request.parts):
            yield Violation("unknown-part", resource)
            return
        part = request.parts[share.part]
        if part.machine not in (None, share.machine):
            yield Violation("wrong-machine", resource, amount=share.machine)
        cpu, most = exact(share.cpu), exact(part.cpu)
        least = most if part.cpu_min is None else exact(part.cpu_min)
        if cpu < least * (1 - self._relative_tolerance):
            yield Violation("share-below-minimum", resource, amount=least - cpu)
        if cpu > most * (1 + self._relative_tolerance):
            yield Violation("share-above-maximum", resource, amount=cpu - most)

    def _load_violations(self) -> Iterator[Violation]:
        """Yield where the shares on a machine exceed what is left of its capacity."""
        profiles = self._usage_profiles(self.solution.shares)
        for share in self.solution.shares:
            if self._is_known(share):
                profiles[share.machine].add(*self._load_interval(share))
        for machine, profile in enumerate(profiles):
            resource = f"machine {self.instance.machines[machine].id}"
            for start, end, units in profile.overloads(self._load_tolerance * self._units_per_cpu):
                amount = Fraction(units, self._units_per_cpu)
                yield Violation("overload", resource, start, end, amount)

    def _history_violations(self) -> Iterator[Violation]:
        """Yield where a change overloads a machine, or where they do not make the plan."""
        changes = self.solution.changes
        profiles = self._usage_profiles(changes)
        left: dict[tuple[str, int, int], Fraction] = defaultdict(Fraction)
        for share in self.solution.shares:
            left[share.request, share.part, share.machine] += exact(share.cpu)
        for change in changes:
            left[change.request, change.part, change.machine] -= exact(change.cpu)
            if self._is_known(change):
                yield from self._change_violations(profiles[change.machine], change)
        for (request, part, machine), amount in left.items():
            if abs(amount) > self._load_tolerance:
                resource = f"{_part_name(request, part)}, machine {machine}"
                yield Violation("history-mismatch", resource, amount=amount)

    def _change_violations(self, profile: UsageProfile, change: Change) -> Iterator[Violation]:
        """Make a change, and yield whether the machine is overloaded then."""
        start, end, units = self._load_interval(change)
        profile.add(start, end, units)
        if units > 0:
            amount = Fraction(profile.peak(start, end), self._units_per_cpu)
            if amount > self._load_tolerance:
                resource = f"machine {self.instance.machines[change.machine].id}"
                yield Violation("transient-overload", resource, start, end, amount)

    def _usage_profiles(self, entries: Iterable[Share | Change]) -> list[UsageProfile]:
        """Return the machines before any of the entries."""
        windows: dict[int, list[LoadInterval]] = defaultdict(list)
        for entry in entries:
            if self._is_known(entry):
                windows[entry.machine].append(self._load_interval(entry))
        reserved: dict[int, list[LoadInterval]] = defaultdict(list)
        for holding in self.instance.holdings:
            reserved[holding.machine].append(
                (exact(holding.start), exact(holding.end), self._to_units(holding.cpu))
            )
        return [
            UsageProfile(
                [(exact(instant), self._to_units(value)) for instant, value in _capacity(machine)],
                reserved[index],
                windows[index],
            )
            for index, machine in enumerate(self.instance.machines)
        ]

    def _is_known(self, entry: Share | Change) -> bool:
        """Tell whether the request and the machine of an entry exist."""
        return entry.request in self.requests and 0 <= entry.machine < len(self.instance.machines)

    def _load_interval(self, entry: Share | Change) -> LoadInterval:
        request = self.requests[entry.request]
        return exact(request.start), exact(request.end), self._to_units(entry.cpu)

    @cached_property
    def _units_per_cpu(self) -> int:
        """How many units there are in a CPU of 1, so that whatever is loaded is whole."""
        instance, plan = self.instance, self.solution
        loads = [value for machine in instance.machines for _, value in _capacity(machine)]
        loads += [entry.cpu for entry in instance.holdings]
        loads += [entry.cpu for entry in plan.shares]
        loads += [entry.cpu for entry in plan.changes]
        return math.lcm(*{exact(load).denominator for load in loads})

    def _to_units(self, cpu: Number) -> int:
        return int(exact(cpu) * self._units_per_cpu)

    @cached_property
    def _accepted(self) -> frozenset[str]:
        return frozenset(
            decision.request for decision in self.solution.decisions if decision.accepted
        )

    @cached_property
    def _load_tolerance(self) -> Fraction:
        """By how much a machine may be overloaded."""
        if not self.tolerance:
            return Fraction(0)
        asked = [exact(part.cpu) for request in self.requests.values() for part in request.parts]
        return self.tolerance * min(asked) + ROUNDING * max(asked)

    @property
    def _relative_tolerance(self) -> Fraction:
        """By what factor a share may be off."""
        return self.tolerance + ROUNDING if self.tolerance else Fraction(0)

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest window of a request."""
        return min(exact(request.end) - exact(request.start) for request in self.requests.values())


def _capacity(machine: Machine) -> tuple[tuple[Number, Number], ...]:
    """Return the capacity of a machine: from when on, how much."""
    if isinstance(machine.capacity, int | float | Fraction):
        return ((0, machine.capacity),)
    return tuple((instant, value) for instant, value in machine.capacity)


def _part_name(request: str, part: int) -> str:
    return f"part {part} of request {request}"
