"""Whether the program of a certificate of `iit` holds for every plan.

A row is compared with what plans satisfy of the chunks, or the intervals, that are in it, whatever
its name is. All variables are at least 0, so that an upper bound is weaker with smaller
coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.numbers import is_exact, number, remark, words_of
from tests.reference.vipr import File, RefusedError, Row

Name = tuple[str, tuple[int, ...]]
Fact = tuple[dict[Name, Fraction], Fraction]
"""That the sum of some variables with their coefficients is at most a number."""

ONE = Fraction(1)


class Load:
    """The instance, with dates since the origin; `limit` is that of the plans that count."""

    def __init__(self, data: dict[str, Any], objective: str, file: File) -> None:
        cluster = data["cluster"]
        self.size, self.load = int(cluster["nodes"]), number(data["load"])
        self.setup_cm = number(cluster.get("theta_cm", 0))
        self.setup_cp = number(cluster.get("theta_cp", 0))
        self.tau, self.chi = self._costs(cluster["tau"]), self._costs(cluster["chi"])
        self.origin = remark(file, "origin")
        self.ready = [number(date) - self.origin for date in data["ready_times"]]
        if min(self.ready) < 0:
            raise RefusedError("a node is ready before the origin")
        self.counts = objective == "nodes" and file.claim is not None
        if file.claim is None or self.counts:
            self.limit = self._deadline(data)
        else:
            self.limit = file.claim
        self.names = [_name(name) for name in file.variables]
        self.groups = self._groups(file)

    def _costs(self, given: Any) -> list[Fraction]:
        return [number(c) for c in (given if isinstance(given, list) else [given] * self.size)]

    def _deadline(self, data: dict[str, Any]) -> Fraction:
        if data.get("absolute_deadline") is None:
            raise RefusedError("there is no deadline, so that there is a plan")
        date = number(data["absolute_deadline"])
        if not is_exact(data):
            work = (
                self.ready[i] + self.load * (self.tau[i] + self.chi[i]) for i in range(self.size)
            )
            alone = min(work) - min(self.ready) + self.setup_cm + self.setup_cp
            date += 2 * alone / 10**9 + 3 * date / 2**46
        return date - self.origin

    def _groups(self, file: File) -> list[list[int]]:
        words = file.remarks.get("groups", "").split(" ")
        if len(words) != self.size or not all(w.isascii() and w.isdigit() for w in words):
            raise RefusedError("there is no remark with the group of each node")
        numbers = [int(word) for word in words]
        if set(numbers) != set(range(len(set(numbers)))):
            raise RefusedError("the groups are not numbered from 0")
        groups: list[list[int]] = [[] for _ in set(numbers)]
        for node, group in enumerate(numbers):
            groups[group].append(node)
        return groups

    def check(self, row: Row, facts: Iterable[Fact]) -> None:
        """Raise if a row is not weaker than any of some facts, and may fail."""
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        sign = 1 if row.sense == "L" else -1
        terms = {self.names[v]: sign * value for v, value in row.terms.items()}
        if not follows(terms, sign * row.rhs, facts):
            raise RefusedError(f"row {row.name} does not hold for every plan")


def follows(terms: dict[Name, Fraction], side: Fraction, facts: Iterable[Fact]) -> bool:
    """Whether that terms are at most a side is no more than one of some facts."""
    if side >= 0 and all(value <= 0 for value in terms.values()):
        return True
    return any(
        least <= side and all(terms.get(n, 0) <= most.get(n, 0) for n in {*terms, *most})
        for most, least in facts
    )


class Chunks(Load):
    """Plans with at most `most` chunks a node."""

    def prepare(self, file: File) -> None:
        self.most = _most_chunks(file)
        self.places = self.most * self.size
        free = [self.setup_cm == 0 == tau for tau in self.tau]
        if any(free) and not all(free):
            raise RefusedError("chunks that take no time to send have no place in the order")
        if any(letter not in "tzxyu" for letter, _ in self.names):
            raise RefusedError("a variable is none of chunks")
        if any(self.names[v][0] not in "zu" for v in file.integral):
            raise RefusedError("loads and times need not be integers")
        numbers = (index[-1] for letter, index in self.names if index and letter != "u")
        self.last = min(max(numbers, default=0), self.places - 1)
        if (self.last + 1) * len(self.groups) > len(self.names):
            raise RefusedError("there are more chunks and groups than variables")
        if len(self.groups) > 1 and self.last < self.places - 1:
            raise RefusedError("a chunk stands for later ones on other nodes")

    def per_unit(self, group: int, p: int) -> Fraction:
        """The least time of a unit of load, of a chunk that may stand for the later ones, too."""
        if p == self.last and p < self.places - 1:
            return min(self.tau[node] for node in self.groups[group])
        return min(self.tau[node] + self.chi[node] for node in self.groups[group])

    def begin(self, group: int, p: int) -> Fraction:
        """When the load of a chunk could be sent first, were its set-up times spent by then."""
        dates = sorted(self.ready[node] for node in self.groups[group])
        others = self.most * (self.size - len(dates))
        before = max(p - others, 0)  # so many chunks before are on nodes of the group
        date = dates[min(before // self.most, len(dates) - 1)]
        if p < self.places:  # as many other nodes have a chunk before
            date = max(date, sorted(self.ready)[p // self.most])
        return date + self.setup_cm + self.setup_cp

    def facts(self, places: set[int], side: Fraction) -> Iterator[Fact]:
        """Yield what holds of all chunks, and of some."""
        groups, all_places = range(len(self.groups)), range(self.last + 1)
        earliest = min(self.begin(g, 0) for g in groups)
        yield {("x", (g, p)): -ONE for g in groups for p in all_places}, -self.load
        yield {("z", (g, 0)): -ONE for g in groups}, -ONE
        yield {("t", ()): ONE}, self.limit
        for g in groups:
            size = Fraction(len(self.groups[g]))
            yield {("z", (g, p)): ONE for p in all_places}, self.most * size
            yield {("u", (g,)): ONE}, size
        for p in sorted(places & {*all_places}):
            used = {("z", (g, p)): ONE for g in groups}
            here, there = ("y", (p,)), ("y", (p + 1,))
            following = {("z", (g, p + 1)): ONE for g in groups}
            yield {here: ONE}, max(Fraction(0), self.limit - earliest)
            yield used, ONE
            yield {**following, **dict.fromkeys(used, -ONE)}, Fraction(0)
            loads = {("x", (g, p)): self.per_unit(g, p) for g in groups}
            yield {**loads, here: -ONE}, Fraction(0)
            sent = {("x", (g, p)): min(self.tau[n] for n in self.groups[g]) for g in groups}
            starts = dict.fromkeys(following, self.setup_cm)
            yield {**sent, **starts, here: -ONE, there: ONE}, Fraction(0)
            yield (
                {**{("z", (g, p)): self.begin(g, p) - self.limit for g in groups}, here: ONE},
                0 * ONE,
            )
            begun = {("z", (g, p)): self.begin(g, p) for g in groups}
            yield {**begun, here: ONE, ("t", ()): -ONE}, Fraction(0)
            later = {("x", (g, q)): ONE for g in groups for q in all_places if q >= p}
            yield {**later, **dict.fromkeys(used, -self.load)}, Fraction(0)
            for g in groups:
                most = max(Fraction(0), self.limit - self.begin(g, p))
                yield {("x", (g, p)): self.per_unit(g, p), ("z", (g, p)): -most}, Fraction(0)
                yield {("x", (g, p)): ONE}, self.load
                yield {("z", (g, p)): ONE, ("u", (g,)): -ONE}, Fraction(0)
                if len(self.groups[g]) == 1:
                    yield from self.facts_of_node(g, p, places, side)

    def facts_of_node(self, g: int, p: int, places: set[int], side: Fraction) -> Iterator[Fact]:
        """Yield what holds of the chunks of a node, of which `p` is one."""
        (node,) = self.groups[g]
        setups, chi = self.setup_cm + self.setup_cp, self.chi[node]
        both = self.tau[node] + chi
        spent = {("x", (g, q)): both for q in range(self.last + 1)}
        spent |= {("z", (g, q)): setups for q in range(self.last + 1)}
        spent[("z", (g, p))] += self.ready[node]
        yield {**spent, ("t", ()): -ONE}, Fraction(0)
        load = min(self.load, max(Fraction(0), self.limit - self.begin(g, p)) / both)
        large = max(setups, self.setup_cp + chi * load, side)
        for q in sorted(places):
            if p < q <= self.last:
                chunk = {("x", (g, p)): both, ("z", (g, p)): setups, ("z", (g, q)): large}
                yield {**chunk, ("y", (q,)): ONE, ("y", (p,)): -ONE}, large
        for h, nodes in enumerate(self.groups):
            if len(nodes) == 1 and self.comes_before(node, nodes[0]):
                first = {("z", (g, q)): -ONE for q in range(p)}
                yield {**first, ("z", (h, p)): ONE}, Fraction(0)

    def comes_before(self, one: int, other: int) -> bool:
        """Whether some best plan uses two nodes of equal costs in this order."""
        costs = [(self.tau[node], self.chi[node]) for node in (one, other)]
        dates = [(self.ready[node], node) for node in (one, other)]
        return costs[0] == costs[1] and dates[0] < dates[1]


class Flows(Load):
    """Plans with any chunks, by intervals of which the last one ends at the limit."""

    def prepare(self, file: File) -> None:
        self.instants = words_of(file, "instants")
        if not self.instants:
            raise RefusedError("there are no instants")
        self.instants.append(self.limit)
        if any(one >= other for one, other in pairwise(self.instants)):
            raise RefusedError("the instants are not in ascending order up to the claim")
        if self.instants[0] > min(self.ready):
            raise RefusedError("a node is ready before the first instant")
        if any(letter not in "tab" for letter, _ in self.names) or file.integral:
            raise RefusedError("a variable is none of flows, or an integer")

    def past(self, letter: str, g: int, k: int, value: Fraction) -> dict[Name, Fraction]:
        """What is received or computed in an interval and those before it."""
        able = min(self.ready[node] for node in self.groups[g])
        return {(letter, (g, j)): value for j in range(k + 1) if able < self.instants[j + 1]}

    def facts(self, places: set[int], side: Fraction) -> Iterator[Fact]:
        groups, last, total = range(len(self.groups)), len(self.instants) - 2, {}
        for g in groups:
            total |= self.past("b", g, last, -ONE)
        yield total, -self.load
        yield {("t", ()): ONE}, self.limit
        for k in sorted(places & {*range(last + 1)}):
            start, end = self.instants[k : k + 2]
            tau = [min(self.tau[node] for node in nodes) for nodes in self.groups]
            yield from self._timed({("a", (g, k)): tau[g] for g in groups}, end - start, k)
            for g in groups:
                nodes = self.groups[g]
                free = (max(Fraction(0), end - max(start, self.ready[node])) for node in nodes)
                chi = min(self.chi[node] for node in nodes)
                busy = {("a", (g, k)): tau[g], ("b", (g, k)): chi}
                yield from self._timed(busy, sum(free, Fraction(0)), k)
                yield {**self.past("b", g, k, ONE), **self.past("a", g, k, -ONE)}, Fraction(0)
                yield {("a", (g, k)): ONE}, self.load
                yield {("b", (g, k)): ONE}, self.load

    def _timed(self, terms: dict[Name, Fraction], time: Fraction, k: int) -> Iterator[Fact]:
        """Yield that terms take a time at most; in the last interval no more than up to `t`."""
        yield terms, time
        if k == len(self.instants) - 2:
            share = time / (self.limit - self.instants[0])
            yield {**terms, ("t", ()): -share}, -share * self.instants[0]


def _name(name: str) -> Name:
    letter, *words = name.split("_")
    count = {"t": 0, "u": 1, "y": 1, "z": 2, "x": 2, "a": 2, "b": 2}.get(letter)
    plain = all(w.isascii() and w.isdigit() and w == str(int(w)) for w in words)
    if len(words) != count or not plain:
        raise RefusedError(f"the name {name} is not one of the program")
    return letter, tuple(map(int, words))


def _most_chunks(file: File) -> int:
    """How many chunks a node may have, as the file says."""
    if "chunks" not in file.remarks:
        return 1
    stated = remark(file, "chunks")
    if stated < 1 or stated.denominator != 1:
        raise RefusedError("the remark on chunks is no number of them")
    return int(stated)


def check(
    data: dict[str, Any], objective: str, file: File, chunks: int | None
) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves; empty if there is no plan.

    Parameters
    ----------
    chunks : int, optional
        How many a node has at most in the plans that the claim is about; by default any number.
    """
    has_flows = "instants" in file.remarks
    program = (Flows if has_flows else Chunks)(data, objective, file)
    if has_flows and program.counts:
        raise RefusedError("flows do not say how many nodes there are")
    most = 1 if has_flows else _most_chunks(file)
    if not has_flows and (chunks is None or chunks > most):
        raise RefusedError("it is not about plans with so many chunks a node")
    program.prepare(file)
    counted = "t" if not program.counts else "z" if most == 1 else "u"
    if any(value > (program.names[v][0] == counted) for v, value in file.objective.items()):
        raise RefusedError("the objective counts too much")
    for row in file.rows:
        indices = (program.names[v][1] for v in row.terms)
        places = {q for index in indices if index for q in (index[-1], index[-1] - 1)}
        side = row.rhs if row.sense == "L" else -row.rhs
        program.check(row, program.facts(places, side))
    if file.claim is None:
        return ()
    return (Fraction(math.ceil(file.claim)) if program.counts else program.origin + file.claim,)
