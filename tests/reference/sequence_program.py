"""Whether the program of a certificate of `admission` over sequences of chunks holds for all plans.

A row is compared with what plans satisfy of the tasks and chunks that are in it, whatever its name
is. All variables are at least 0, so that an upper bound is weaker with smaller coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.reference.fluid_instance import Name, name_of
from tests.reference.fluid_program import OBJECTIVES, Program
from tests.reference.load_program import Fact, follows
from tests.reference.vipr import WHOLE, File, RefusedError, Row

ONE, NONE = Fraction(1), Fraction(0)
LETTERS = {"z": 1, "p": 1, "x": 1, "s": 1, "y": 2}
"""How many indices each has."""
MANY = 10**5


class Sequences(Program):
    """Plans with a limited number of chunks of a task on a node."""

    def _read_columns(self, file: File) -> None:
        words = file.remarks.get("chunks", "")
        self.most = int(words) if WHOLE.fullmatch(words) else 0
        if not 0 < self.most * len(self.nodes) * len(self.tasks) < MANY:
            raise RefusedError("there is no number of chunks, or there are too many")
        if any(task.release < 0 for task in self.tasks.values()):
            raise RefusedError("a task is released before the instant 0")
        self.names = [name_of(name, LETTERS) for name in file.variables]
        self.ordered: set[int] = set()
        for letter, indices in self.names:
            tasks = indices if letter == "z" else [self.place(a)[0] for a in indices]
            if not self.tasks.keys() >= {*tasks} or len({*indices}) < len(indices):
                raise RefusedError("a variable is of no task or chunk of the instance")

    def place(self, a: int) -> tuple[int, int, int]:
        """The task of a chunk, its node, and its number among those of both."""
        rest, number = divmod(a, self.most)
        return (*divmod(rest, len(self.nodes)), number)

    def begin(self, a: int) -> Fraction:
        i, j, _ = self.place(a)
        return max(self.tasks[i].release, self.free[j])

    def end(self, a: int, channel: bool) -> Fraction:
        """When a chunk leaves its node, or the channel, at the latest."""
        return self.tasks[self.place(a)[0]].due - (self.setup_cp if channel else 0)

    def costs(self, a: int, channel: bool) -> tuple[Fraction, Fraction]:
        """How long it is there for its set-ups, and for a unit of load."""
        j = self.place(a)[1]
        if channel:
            return self.setup_cm, self.tau[j]
        return self.setup_cm + self.setup_cp, self.tau[j] + self.chi[j]

    def most_load(self, a: int) -> Fraction:  # type: ignore[override]
        setups, unit = self.costs(a, False)
        left, load = self.end(a, False) - self.begin(a) - setups, self.tasks[self.place(a)[0]].load
        if left < 0:
            return NONE
        return min(load, left / unit) if unit else load

    def shared(self, chunks: set[int]) -> bool | None:
        """Whether chunks share the channel, or a node; None if one takes no time of it."""
        channel = len({self.place(a)[1] for a in chunks}) > 1
        return channel if all(any(self.costs(a, channel)) for a in chunks) else None

    # -- what every plan satisfies --------------------------------------------------------------

    def facts_of_task(self, i: int) -> Iterator[Fact]:
        z, size = ("z", (i,)), len(self.nodes) * self.most
        yield {z: ONE}, ONE
        if self.tasks[i].promised or self.accept_all:
            yield {z: -ONE}, -ONE
        sent = {("x", (a,)): -ONE for a in range(i * size, i * size + size) if self.most_load(a)}
        yield {z: self.tasks[i].load, **sent}, NONE

    def facts_of_chunk(self, a: int) -> Iterator[Fact]:
        (i, _, number), p, x, s = self.place(a), ("p", (a,)), ("x", (a,)), ("s", (a,))
        setups, unit = self.costs(a, False)
        yield {p: ONE}, ONE
        yield {x: ONE}, self.most_load(a)
        yield {s: ONE}, max(NONE, self.end(a, False))
        yield {p: ONE, ("z", (i,)): -ONE}, NONE
        yield {x: ONE, p: -self.most_load(a)}, NONE
        yield {p: self.begin(a), s: -ONE}, NONE
        yield {s: ONE, p: setups - self.end(a, False), x: unit}, NONE
        if number:
            yield {p: ONE, ("p", (a - 1,)): -ONE}, NONE

    def facts_of_pair(self, a: int, b: int, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        """Yield what holds of two chunks; the row says how large the number in `order` is."""
        p, q, y, other = ("p", (a,)), ("p", (b,)), ("y", (a, b)), ("y", (b, a))
        same = self.place(a)[:2] == self.place(b)[:2]
        yield {y: ONE}, NONE if same and a > b else ONE
        yield {y: ONE, other: ONE, p: -ONE}, NONE
        yield {y: ONE, other: ONE, q: -ONE}, NONE
        if not same or a < b:
            yield {p: ONE, q: ONE, y: -ONE, **({} if same else {other: -ONE})}, ONE
        channel = self.shared({a, b})
        if channel is not None:
            setups, unit = self.costs(a, channel)
            end = max(self.end(a, channel), terms.get(y, NONE) + self.begin(b))
            left = {("s", (a,)): ONE, p: setups - end, ("x", (a,)): unit}
            yield {**left, ("s", (b,)): -ONE, q: self.begin(b), y: end - self.begin(b)}, NONE

    def window(self, chunks: set[int]) -> Iterator[Fact]:
        channel = self.shared(chunks)
        if chunks and channel is not None:
            used = {}
            for a in chunks:
                used[("p", (a,))], used[("x", (a,))] = self.costs(a, channel)
            last = max(self.end(a, channel) for a in chunks)
            yield used, max(NONE, last - min(map(self.begin, chunks)))

    def facts(self, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        for i in {indices[0] for letter, indices in terms if letter == "z"}:
            yield from self.facts_of_task(i)
        chunks = {a for letter, indices in terms if letter != "z" for a in indices}
        for a in chunks:
            yield from self.facts_of_chunk(a)
        pairs = [indices for letter, indices in terms if letter == "y"]
        for a, b in {*pairs, *((b, a) for a, b in pairs)}:
            yield from self.facts_of_pair(a, b, terms)
        yield from self.window({indices[0] for letter, indices in terms if letter in "px"})

    def has_equal(self, terms: dict[Name, Fraction], side: Fraction) -> bool:
        """Whether the row says that a task is on equal nodes in their order; keep which task."""
        for letter, indices in terms:
            if letter != "y":
                continue
            a, b = indices
            (i, j, number), (task, node, other) = self.place(a), self.place(b)
            kinds = {(self.tau[k], self.chi[k], self.free[k]) for k in (j, node)}
            may_exchange = (i, number, other) == (task, 0, 0) and j < node and len(kinds) == 1
            fact = {("p", (b,)): ONE, ("y", (a, b)): -ONE}, NONE
            if may_exchange and follows(terms, side, [fact]):
                self.ordered.add(i)
                return len(self.ordered) == 1
        return False

    def check_sequence_row(self, row: Row) -> None:
        """Raise if a row may fail."""
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        sign = 1 if row.sense == "L" else -1
        terms = {self.names[v]: sign * value for v, value in row.terms.items()}
        side = sign * row.rhs
        if not follows(terms, side, self.facts(terms)) and not self.has_equal(terms, side):
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
    program = Sequences(data, objective, accept_all, file)
    if installments is None or program.most < installments:
        raise RefusedError("it is not about plans with so many chunks a node")
    if any(program.names[variable][0] not in "zpy" for variable in file.integral):
        raise RefusedError("loads and times need not be integers")
    for row in file.rows:
        program.check_sequence_row(row)
    return program.bound(file)
