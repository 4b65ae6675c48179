"""Whether the program of a certificate of `admission` over spans of chunks holds for all plans.

A row is compared with what plans satisfy of the tasks, spans and intervals that are in it, whatever
its name is. All variables are at least 0, so that an upper bound is weaker with smaller
coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.fluid_instance import Name, name_of
from tests.reference.fluid_program import OBJECTIVES, Program
from tests.reference.load_program import Fact, follows
from tests.reference.numbers import words_of
from tests.reference.vipr import WHOLE, File, RefusedError, Row

ONE, NONE = Fraction(1), Fraction(0)
LETTERS = {"z": 1, "n": 5, "x": 5, "y": 5}
"""How many indices each has."""

Span = tuple[int, int, int, int, int]


class Spans(Program):
    """Plans with a limited number of chunks of a task on a node."""

    letters = LETTERS

    def _read_columns(self, file: File) -> None:
        words = file.remarks.get("chunks", "")
        self.most = int(words) if WHOLE.fullmatch(words) else 0
        self.t = words_of(file, "instants")
        self.places = range(len(self.t) - 1)
        self.members: list[list[int]] = []
        numbers = words_of(file, "groups")
        while sum(map(len, self.members)) < len(numbers):
            own = [j for j, number in enumerate(numbers) if number == len(self.members)]
            if not own:
                raise RefusedError("a group has no node")
            self.members.append(own)
        if not self.most or len(numbers) != len(self.nodes) or len(self.t) < 2:
            raise RefusedError("there are no groups, chunks or instants")
        if any(one >= other for one, other in pairwise(self.t)):
            raise RefusedError("the instants are not in ascending order")
        self.costs = []
        for own in self.members:
            tau, whole = min(self.tau[j] for j in own), min(self.tau[j] + self.chi[j] for j in own)
            self.costs.append((tau, whole - tau))
        self.names = [name_of(name, self.letters) for name in file.variables]
        self.known = {i: dict.fromkeys(self.possible(i)) for i in self.tasks}
        if not all(self.is_column(*name) for name in self.names):
            raise RefusedError("a variable is of no task or span of the instance")
        stated = {indices[0] for letter, indices in self.names if letter in "znxy"}
        self.known = {i: spans for i, spans in self.known.items() if i in stated}
        if any(self.tasks[i].release < self.t[0] or self.tasks[i].due > self.t[-1] for i in stated):
            raise RefusedError("the instants are not those of the tasks")

    def is_column(self, letter: str, indices: tuple[int, ...]) -> bool:
        """Whether a variable is of a task or a possible span."""
        spans = self.known.get(indices[0])
        return spans is not None and (letter == "z" or indices in spans)

    def stages(self, a: int, b: int) -> int:
        """In how many parts of the time that are counted apart some intervals are."""
        return 1

    # -- single chunks --------------------------------------------------------------------------

    def possible(self, i: int) -> list[Span]:
        """The spans that chunks of a task can have."""
        t, due, found = self.t, self.tasks[i].due, []
        for g, own in enumerate(self.members):
            ready = max(self.tasks[i].release, min(self.free[j] for j in own))
            for p in self.places:
                if t[p + 1] <= ready or t[p] >= due:
                    continue
                for q in self.places[p:]:
                    for r in self.places[q:]:
                        if t[r] >= due:
                            break
                        span = (i, g, p, q, r)
                        low, high = self.loads(span)
                        if low <= high and high > 0 and self.may_be_sent(span):
                            found.append(span)
        return found

    def loads(self, span: Span) -> tuple[Fraction, Fraction]:
        """The least and the most load of a chunk."""
        i, g, p, q, r = span
        tau, chi = self.costs[g]
        low, high, t = NONE, self.tasks[i].load, self.t
        for first, last, setup, unit in (
            (p, q, self.setup_cm, tau),
            (q, r, self.setup_cp, chi),
            (p, r, self.setup_cm + self.setup_cp, tau + chi),
        ):
            if unit:
                low = max(low, (t[last] - t[first + 1] - setup) / unit)
                high = min(high, (t[last + 1] - t[first] - setup) / unit)
        return low, high

    def may_be_sent(self, span: Span) -> bool:
        """Whether the transmission of such a chunk can end in its interval."""
        _, g, p, q, r = span
        tau, chi = self.costs[g]
        more = chi * self.setup_cm - tau * self.setup_cp
        soonest, latest = (
            chi * self.t[a] + tau * self.t[b] + more for a, b in ((p, r), (p + 1, r + 1))
        )
        is_late = q == p or latest > (tau + chi) * self.t[q]
        return is_late and soonest <= (tau + chi) * self.t[q + 1]

    def on(self, span: Span, channel: bool) -> tuple[int, Fraction, Fraction]:
        """The interval in which it leaves the channel, or its node, and what it takes there."""
        _, g, _, q, r = span
        tau, chi = self.costs[g]
        if channel:
            return q, self.setup_cm, tau
        return r, self.setup_cm + self.setup_cp, tau + chi

    def until(self, span: Span, m: int, channel: bool) -> dict[Name, Fraction]:
        """What the chunks have used by the end of an interval."""
        last, setup, unit = self.on(span, channel)
        if m < span[2]:
            return {}
        if m >= last:
            return {("n", span): setup, ("x", span): unit}
        return {("n", span): self.t[m + 1] - self.t[span[2] + 1], ("y", span): ONE}

    # -- what every plan satisfies --------------------------------------------------------------

    def most_chunks(self, g: int, a: int, b: int) -> int:
        """How many chunks of a task start in intervals a to b on nodes of a group."""
        return self.most * len(self.members[g]) * self.stages(a, b)

    def facts_of_task(self, i: int) -> Iterator[Fact]:
        z = ("z", (i,))
        yield {z: ONE}, ONE
        if self.tasks[i].promised or self.accept_all:
            yield {z: -ONE}, -ONE
        sent = {("x", span): ONE for span in self.known[i]}
        yield {**sent, z: -self.tasks[i].load}, NONE
        yield {z: self.tasks[i].load} | dict.fromkeys(sent, -ONE), NONE
        for g in range(len(self.members)):
            there = {("n", span): ONE for span in self.known[i] if span[1] == g}
            yield {**there, z: Fraction(-self.most_chunks(g, 0, self.places[-1]))}, NONE

    def facts_of_span(self, span: Span) -> Iterator[Fact]:
        n, x, y = (("n", span), ("x", span), ("y", span))
        t, p, (low, high) = self.t, span[2], self.loads(span)
        count = Fraction(1 if span[3] > p else self.most_chunks(span[1], p, p))
        yield {n: ONE}, count
        yield {x: ONE}, count * high
        yield {y: ONE}, count * (t[p + 1] - t[p])
        yield {n: low, x: -ONE}, NONE
        yield {n: -high, x: ONE}, NONE
        yield {n: t[p] - t[p + 1], y: ONE}, NONE
        for channel in (True, False):
            m, setup, unit = self.on(span, channel)
            yield {n: setup + t[p + 1] - t[m + 1], x: unit, y: -ONE}, NONE
            yield {n: t[m] - t[p + 1] - setup, x: -unit, y: ONE}, NONE

    def facts_of_interval(self, m: int) -> Iterator[Fact]:
        everything = [span for spans in self.known.values() for span in spans]
        for g in (None, *range(len(self.members))):
            channel = g is None
            own = [span for span in everything if g in (None, span[1])]
            ready = [self.t[0] if g is None else self.free[j] for j in self.members[g or 0]]
            ready = ready[:1] if channel else ready
            used: dict[Name, Fraction] = {}
            for span in own:
                now, before = (self.until(span, k, channel) for k in (m, m - 1))
                for name in {*now, *before}:
                    used[name] = now.get(name, NONE) - before.get(name, NONE)
            times = (self.t[m + 1] - max(self.t[m], date) for date in ready)
            yield used, sum((time for time in times if time > 0), NONE)
            there = [span for span in own if span[2] < m <= self.on(span, channel)[0]]
            count = sum(date < self.t[m] for date in ready)
            yield {("n", span): ONE for span in there}, Fraction(count)

    def cuts(self, terms: dict[Name, Fraction], name: str) -> Iterator[Fact]:
        """Yield the cut over some spans, with the window that the name says."""
        words = name.split("_")
        spans = {indices for letter, indices in terms if letter in "nxy"}
        if words[0] != "cut" or len(words) < 3 or not all(map(WHOLE.fullmatch, words[1:3])):
            return
        a, b = int(words[1]), int(words[2])
        if not spans or b not in self.places or not all(a <= span[2] <= b for span in spans):
            return
        used = {span: self.until(span, b, False) for span in spans}
        paid = [used[span]["n", span] - terms.get(("n", span), NONE) for span in spans]
        share = max(chi / (tau + chi) for tau, chi in self.costs)
        length, slope = self.t[b + 1] - self.t[a], min(paid) - self.setup_cp
        if length > slope and (slope < 0 or share == 1 or (share and not slope)):
            return  # the sum is not finite, or the power of no chunk is small enough
        side, left = NONE, length
        while left > slope:
            side, left = side + left - slope, left * share
        fact = {name: value for of in used.values() for name, value in of.items()}
        for span in spans:
            fact["n", span] -= min(paid)
        yield fact, side

    def facts_of_requests(self, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        """What else holds of tasks and reservations: nothing."""
        yield {}, NONE

    def check_span_row(self, row: Row) -> None:
        """Raise if a row may fail."""
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        sign = 1 if row.sense == "L" else -1
        terms = {self.names[v]: sign * value for v, value in row.terms.items()}
        spans = {indices for letter, indices in terms if letter in "nxy"}
        facts = [*self.cuts(terms, row.name), *self.facts_of_requests(terms)]
        for i in {indices[0] for letter, indices in terms if letter in "znxy"}:
            facts += self.facts_of_task(i)
        for span in spans:
            facts += self.facts_of_span(span)
        if follows(terms, sign * row.rhs, facts):
            return
        if not any(follows(terms, sign * row.rhs, self.facts_of_interval(m)) for m in self.places):
            raise RefusedError(f"row {row.name} does not hold for every plan")


def check(
    data: dict[str, Any],
    objective: str,
    file: File,
    installments: int | None = None,
    accept_all: bool = False,
) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves, see `fluid_program`."""
    if objective not in OBJECTIVES or data["problem"] != "admission":
        raise RefusedError(f"there are no such certificates of {objective}")
    return checked(Spans(data, objective, accept_all, file), file, installments)


def checked(program: Spans, file: File, installments: int | None) -> tuple[Fraction, ...]:
    """Return the bound of a program, if each of its rows holds for plans with so many chunks."""
    if installments is None or program.most < installments:
        raise RefusedError("it is not about plans with so many chunks a node")
    if any(program.names[variable][0] not in "zq" for variable in file.integral):
        raise RefusedError("numbers, loads and times of chunks need not be integers")
    for row in file.rows:
        program.check_span_row(row)
    return program.bound(file)
