"""Brute force: a calendar that is a list of spans, and looks at every instant that may matter."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations
from typing import Any, NamedTuple

from dlopt.arithmetic import exact


class Allocation(NamedTuple):
    machine: int
    start: Any
    end: Any
    amount: Any


class BruteForceCalendar:
    """What `ResourceCalendar` promises, in the plainest way."""

    def __init__(self, capacities: list[list[tuple[Any, Any]]], now: Any = 0) -> None:
        self.capacities = capacities
        self.now = now
        self.spans: dict[int, Allocation] = {}

    def free_at(self, machine: int, instant: Any) -> Any:
        capacity = [value for since, value in self.capacities[machine] if since <= instant][-1]
        return exact(capacity) - sum(
            exact(span.amount)
            for span in self.spans.values()
            if span.machine == machine and span.start <= instant < span.end
        )

    def instants(self, machine: int, start: Any, end: Any) -> list[Any]:
        """Return the begin of a window and the instants in it at which something changes."""
        changes = [since for since, _ in self.capacities[machine]]
        for span in self.spans.values():
            if span.machine == machine:
                changes += [span.start, span.end]
        return sorted({start, *(instant for instant in changes if start < instant < end)})

    def smallest_free(self, machine: int, start: Any, end: Any) -> Any:
        return min(self.free_at(machine, instant) for instant in self.instants(machine, start, end))

    def fits(self, machine: int, start: Any, duration: Any, amount: Any) -> bool:
        return not amount or self.smallest_free(machine, start, start + duration) >= exact(amount)

    def earliest_start(
        self, machine: int, amount: Any, duration: Any, after: Any, latest_end: Any = math.inf
    ) -> Any | None:
        for instant in self.instants(machine, after, math.inf):
            if instant + duration <= latest_end and self.fits(machine, instant, duration, amount):
                return instant
        return None

    def earliest_common_start(
        self, amounts: list[Any], duration: Any, after: Any, latest_end: Any, machines: list[int]
    ) -> Any | None:
        instants = {after}
        for machine in machines:
            instants.update(self.instants(machine, after, math.inf))
        for instant in sorted(instants):
            if instant + duration > latest_end:
                return None
            for chosen in combinations(machines, len(amounts)):
                if any(
                    all(
                        self.fits(machine, instant, duration, amount)
                        for machine, amount in zip(order, amounts, strict=True)
                    )
                    for order in permutations(chosen)
                ):
                    return instant
        return None

    def can_resize(self, number: int, span: Allocation) -> bool:
        """Tell whether a span can become another one: nowhere is more allocated than is free."""
        old = self.spans.pop(number)
        try:
            start = max(span.start, self.now)
            for instant in self.instants(span.machine, start, span.end) + [
                edge for edge in (old.start, old.end) if start < edge < span.end
            ]:
                before = exact(old.amount) if old.start <= instant < old.end else 0
                free = self.free_at(span.machine, instant)
                if exact(span.amount) > before and free < exact(span.amount):
                    return False
            return True
        finally:
            self.spans[number] = old

    def set_capacity(self, machine: int, start: Any, end: Any, amount: Any) -> None:
        steps = self.capacities[machine]
        after = [step for step in steps if step[0] > end]
        if end < math.inf:
            after.insert(0, (end, [value for since, value in steps if since <= end][-1]))
        before = [step for step in steps if step[0] < start]
        self.capacities[machine] = [*before, (start, amount), *after]

    def average_allocated(self, machine: int, start: Any, end: Any) -> Any:
        instants = [*self.instants(machine, start, end), end]
        area = 0
        for since, until in pairwise(instants):
            for span in self.spans.values():
                if span.machine == machine and span.start <= since < span.end:
                    area += exact(span.amount) * (exact(until) - exact(since))
        return area / (exact(end) - exact(start))

    def advance(self, now: Any) -> None:
        self.now = now
        self.spans = {key: span for key, span in self.spans.items() if span.end > now}
