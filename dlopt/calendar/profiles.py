"""The availability profiles of the machines of a calendar, and the unit of their amounts.

Amounts are stored as integers, in units of one over a common denominator. Every sum is therefore
exact, also of floats, which stand for the decimals that they print. An amount that needs a larger
denominator causes all profiles to be scaled once. That ends at `MAX_DENOMINATOR`, so that unrelated
fractions do not lengthen all amounts: plain profiles then have fractions of a unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from dlopt.arithmetic import Number, exact, shown, simplest
from dlopt.calendar.profile_nodes import Instant, Units
from dlopt.calendar.profile_tree import ProfileTree
from dlopt.calendar.span_registry import Span
from dlopt.errors import MissingExtraError, NotApplicableError

if TYPE_CHECKING:
    from dlopt.calendar.compiled_profile import CompiledProfile, NodeArrays

LARGEST = 2**57
"""Amounts in units that compiled profiles may reach: 64 bits, less what the product with the number
of levels in `dlopt.calendar.earliest_fit.run_bounds` needs."""

MAX_DENOMINATOR = 2**128
"""Denominator that profiles are scaled to at the most. Chosen by hand: it leaves 38 decimals, which
is enough for floats of magnitudes that are 10^20 apart."""

Steps = Sequence[tuple[Number, Number]]

Window: TypeAlias = tuple[Instant, Instant, Fraction]
"""From when to when an amount is allocated."""


class Profiles:
    """Capacities and free amounts of machines; copies share the profiles until they change.

    Parameters
    ----------
    capacities : sequence of sequence of tuple
        Of each machine, pairs of an instant and the capacity from then on.
    now : Number
        Where the profiles begin.
    compiled : bool
    spans : sequence of Span
        What is allocated from the beginning.

    Notes
    -----
    Complexity: O(n log n) to build for n spans, without a change of the tree for each.

    Examples
    --------
    >>> profiles = Profiles([[(0, 1)]], 0, compiled=False)
    >>> profiles.units(0.25), profiles.change(0, 2, 3, -1), list(profiles[0].steps(0))
    (1, None, [(0, 2, 4), (2, 3, 3), (3, inf, 4)])
    """

    __slots__ = ("_arrays", "_capacities", "_items", "_owned", "denominator")

    def __init__(
        self,
        capacities: Sequence[Steps],
        now: Number,
        *,
        compiled: bool,
        spans: Sequence[Span] = (),
    ) -> None:
        self._arrays = _node_arrays() if compiled else None
        self.denominator = 1
        self._capacities: list[ProfileTree] = []  # shared by copies, and replaced by a change
        self._items: list[ProfileTree | CompiledProfile] = []
        self._owned: set[int] = set()
        of_machine: list[list[Window]] = [[] for _ in capacities]
        for span in spans:
            of_machine[span.machine].append((span.start, span.end, exact(span.amount)))
        self._refine({each[2].denominator for windows in of_machine for each in windows})
        for steps, allocated in zip(capacities, of_machine, strict=True):
            self.add(steps, now, allocated)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, machine: int) -> ProfileTree | CompiledProfile:
        return self._items[machine]

    @property
    def is_compiled(self) -> bool:
        """Whether the profiles are compiled."""
        return self._arrays is not None

    def copy(self) -> Profiles:
        """Return profiles that go on by themselves. Complexity: O(m), a pointer for each."""
        twin = Profiles.__new__(Profiles)
        twin._arrays, twin.denominator = self._arrays, self.denominator
        twin._capacities, twin._items = self._capacities.copy(), self._items.copy()
        self._owned, twin._owned = set(), set()
        return twin

    def add(self, capacity: Steps, now: Instant, allocated: Sequence[Window] = ()) -> None:
        """Add a machine, with what is allocated on it."""
        self._refine({exact(value).denominator for _, value in capacity})
        changes: dict[Instant, Units] = {now: 0}
        before: Units = 0
        for instant, value in capacity:
            units, since = self._kept(value), max(instant, now)
            changes[since] = changes.get(since, 0) + units - before
            before = units
        capacities = _running_totals(changes)
        for start, end, amount in allocated:
            units, since = self._kept(amount), max(start, now)
            changes[since] = changes.get(since, 0) - units
            changes[end] = changes.get(end, 0) + units
        steps = _running_totals(changes)
        self._limit(min([units for _, units in steps]))
        self._capacities.append(ProfileTree(capacities))
        self._owned.add(len(self._items))
        if self._arrays is None:
            self._items.append(ProfileTree(steps))
        else:
            from dlopt.calendar.compiled_profile import CompiledProfile

            self._items.append(CompiledProfile(self._arrays, steps))

    def capacity(self, machine: int) -> Steps:
        """Return the capacity of a machine from now on, and from when on each amount is there."""
        steps = self._capacities[machine].steps(self._items[machine].begin)
        return [(since, self.amount(units)) for since, _, units in steps]

    def set_capacity(self, machine: int, start: Instant, end: Instant, amount: Number) -> None:
        """Give a machine another capacity in a window; spans stay as they are.

        Raises
        ------
        NotApplicableError
            As `units`; also if compiled profiles cannot keep what is overbooked then.
        """
        units = self.units(amount)
        capacity = self._capacities[machine].copy()
        capacity.forget(self._items[machine].begin)
        changes = [(*window, units - before) for *window, before in capacity.steps(start, end)]
        for since, until, change in changes:
            self.refuse_overflow(machine, since, until, -change)
        for since, until, change in changes:
            capacity.change(since, until, change)
            self.change(machine, since, until, change)
        self._capacities[machine] = capacity

    def allocated(
        self, machine: int, start: Instant, end: Instant
    ) -> Iterator[tuple[Instant, Instant, Units]]:
        """Yield from when to when each number of units is allocated; no two in succession equal."""
        since: Instant = start
        before: Units | None = None
        for begin, until, units in self._capacities[machine].steps(start, end):
            for instant, _, free in self._items[machine].steps(begin, until):
                if before is not None and units - free != before:
                    yield since, instant, before
                    since = instant
                before = units - free
        assert before is not None  # a window has one step at least
        yield since, end, before

    def refuse_more_than_free(
        self, machine: int, start: Instant, end: Instant, amount: Number, allocated: Number = 0
    ) -> None:
        """Raise an error if a window has too little free, besides what is allocated already."""
        before = self.enough(allocated)
        more = self.enough(amount) - before
        if more > 0:
            free = self._items[machine].least_free(start, end)
            if free < more:
                window = f"machine {machine} in [{shown(start)}, {shown(end)})"
                asked = shown(simplest(exact(amount)))
                has = shown(self.amount(max(free + before, 0)))
                raise NotApplicableError(f"{window}: {asked} asked for, {has} free")

    def refuse_overflow(self, machine: int, start: Instant, end: Instant, units: Units) -> None:
        """Raise an error if compiled profiles cannot keep so much more in a window."""
        if self.is_compiled:
            self._limit(self._items[machine].least_free(start, end) - units)

    def change(self, machine: int, start: Instant, end: Instant, units: Units) -> None:
        """Add to the free amount of a machine in a window."""
        self._own(machine).change(start, end, units)

    def forget(self, now: Instant) -> None:
        """Drop what was before an instant."""
        for machine in range(len(self._items)):
            if self._items[machine].begin < now:
                self._own(machine).forget(now)

    def enough(self, amount: Number) -> Units:
        """Return how many units must be free for an amount; whole ones in compiled profiles."""
        if type(amount) is int:
            units: Units = amount * self.denominator
        else:
            fraction = exact(amount)
            factor, rest = divmod(self.denominator, fraction.denominator)
            units = _simplest(fraction * self.denominator) if rest else fraction.numerator * factor
        return units if self._arrays is None else min(math.ceil(units), LARGEST)

    def units(self, amount: Number) -> Units:
        """Return how many units an amount is; where it is no whole number, scale all profiles.

        It still is a fraction if that would exceed `MAX_DENOMINATOR`.

        Raises
        ------
        NotApplicableError
            If compiled profiles cannot keep so many.
        """
        if type(amount) is not int:
            self._refine([exact(amount).denominator])
        return self._kept(amount)

    def amount(self, units: Units) -> Number:
        """Return the exact amount of a number of units."""
        if self.denominator == 1:
            return simplest(units)
        if type(units) is int:
            return simplest(Fraction(units, self.denominator))
        return simplest(units / self.denominator)

    def _kept(self, amount: Number) -> Units:
        """Return how many units an amount is, if profiles can keep so many."""
        units = self.enough(amount)
        self._limit(units)
        return units

    def _limit(self, units: Units) -> None:
        if self._arrays is not None and not -LARGEST < units < LARGEST:
            raise NotApplicableError("amounts are too large or too fine for a compiled calendar")

    def _own(self, machine: int) -> ProfileTree | CompiledProfile:
        """Return a profile that may be changed."""
        if machine not in self._owned:
            self._items[machine] = self._items[machine].copy()
            self._owned.add(machine)
        return self._items[machine]

    def _refine(self, denominators: Iterable[int]) -> None:
        """Choose a unit of which all amounts are whole numbers, given by their denominators.

        Amounts whose denominators are too large together are left out.
        """
        denominator = self.denominator
        for one in denominators:
            larger = math.lcm(denominator, one)
            if larger <= MAX_DENOMINATOR or self.is_compiled:
                denominator = larger
        if denominator > self.denominator:
            self._scale(denominator // self.denominator)

    def _scale(self, factor: int) -> None:
        for profile in self._items if self.is_compiled else ():
            for _, _, units in profile.steps(profile.begin):
                self._limit(units * factor)
        for machine in range(len(self._items)):
            self._own(machine).scale(factor)
            self._capacities[machine] = self._capacities[machine].copy()
            self._capacities[machine].scale(factor)
        self.denominator *= factor


def _node_arrays() -> NodeArrays:
    try:
        from dlopt.calendar.compiled_profile import NodeArrays
    except ImportError as error:
        raise MissingExtraError("numba", "fast") from error
    return NodeArrays()


def _simplest(units: Fraction) -> Units:
    """Return units as an integer if they are whole."""
    return units.numerator if units.denominator == 1 else units


def _running_totals(changes: dict[Instant, Units]) -> list[tuple[Instant, Units]]:
    """Return the sum of all changes up to each instant."""
    instants = sorted(changes)
    return list(zip(instants, accumulate(changes[each] for each in instants), strict=True))
