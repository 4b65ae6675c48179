"""Whether the program of a certificate of `multistage` over spans of chunks holds for all plans."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.reference import fluid_program, span_program
from tests.reference.fluid_instance import Name, Reservation
from tests.reference.load_program import Fact
from tests.reference.numbers import is_exact, number
from tests.reference.vipr import File, RefusedError

OBJECTIVES = (*fluid_program.OBJECTIVES, "accepted-tasks", "accepted-reservations")

NEVER = Fraction(-(10**30))
"""What is more than the left side of any row where there is no plan."""


class SpansAround(span_program.Spans):
    """Plans with a limited number of chunks of a task on a node in each stage."""

    letters = span_program.LETTERS | {"q": 1, "h": 2}

    def is_column(self, letter: str, indices: tuple[int, ...]) -> bool:
        """Whether a variable is of a task, a possible span, or a reservation."""
        if letter not in "qh":
            return super().is_column(letter, indices)
        is_of_group = letter == "q" or indices[1] < len(self.members)
        return indices[0] in self.reservations and is_of_group

    def stages(self, a: int, b: int) -> int:
        """The starts of reservations within some intervals divide their time."""
        first, last = self.t[a], self.t[b + 1]
        return 1 + len({r.start for r in self.reservations.values() if first < r.start < last})

    def begun(self, wanted: Reservation) -> Fraction:
        """When a reservation begins to count."""
        return max(wanted.start, self.scaled(number(self.data.get("now", 0))))

    def holds_for_reservations(self, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        """What holds of the acceptances and nodes of reservations alone."""
        self.groups = self.members
        if terms and all(letter in "qh" for letter, _ in terms):
            alone = {indices[0] for _, indices in terms}
            if len(alone) == 1:
                most = self.most_of_reservation(alone.pop(), terms)
                yield terms, NEVER if most is None else most
            if self.holds_for_conflict(terms, Fraction(1)):
                yield terms, Fraction(1)

    def facts_of_requests(self, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        """What holds of reservations alone, of a stage, and of a full window."""
        yield from self.holds_for_reservations(terms)
        spans = [
            indices for (letter, indices), value in terms.items() if letter == "n" and value > 0
        ]
        if len({span[:2] for span in spans}) == 1:
            (i, g), starts = spans[0][:2], [span[2] for span in spans]
            a, b = min(starts), max(starts)
            some = {("n", s): Fraction(1) for s in self.known[i] if s[1] == g and a <= s[2] <= b}
            yield {**some, ("z", (i,)): Fraction(-self.most_chunks(g, a, b))}, Fraction(0)
        yield from self.full_window(terms)

    def full_window(self, terms: dict[Name, Fraction]) -> Iterator[Fact]:
        """Not all requests are accepted that need all the time of the channel until a due date."""
        chosen = [name for name, value in terms.items() if value > 0 and name[0] in "zq"]
        tasks = [self.tasks[i] for letter, (i,) in chosen if letter == "z"]
        wanted = [self.reservations[r] for letter, (r,) in chosen if letter == "q"]
        if not tasks:
            return
        t, e = min(task.release for task in tasks), max(task.due for task in tasks)
        spare = e - t - sum(self.setup_cm + task.load * min(self.tau) for task in tasks)
        for one in wanted:
            spare -= max(Fraction(0), min(one.io_end, e) - max(self.begun(one), t))
        ends_with_chunk = not any(self.begun(one) < e <= one.io_end for one in wanted)
        takes_time = self.setup_cp > 0 or all(chi > 0 for chi in self.chi)
        if spare < 0 or (spare == 0 and ends_with_chunk and takes_time):
            yield dict.fromkeys(chosen, Fraction(1)), Fraction(len(chosen) - 1)

    def facts_of_interval(self, m: int) -> Iterator[Fact]:
        """What chunks and reservations use in an interval, and who is there at its beginning."""
        plain, found = list(super().facts_of_interval(m)), set(self.names)
        yield from plain
        begin, end = self.t[m], self.t[m + 1]
        for number_of_fact, (terms, side) in enumerate(plain):
            place, is_count = divmod(number_of_fact, 2)
            used = dict(terms)
            for r, one in self.reservations.items():
                last, name, count = one.io_end, ("q", (r,)), 1
                if place:
                    last, (name, count) = one.end, self.least_nodes(r, place - 1, found)
                time = max(Fraction(0), min(end, last) - max(begin, self.begun(one)))
                used[name] = count * (
                    Fraction(self.begun(one) <= begin < last) if is_count else time
                )
            if is_count:  # on the channel one
                nodes = self.members[place - 1] if place else ()
                side = Fraction(sum(self.free[j] <= begin for j in nodes) if place else 1)
            yield used, side

    def least_nodes(self, r: int, g: int, found: set[Name]) -> tuple[Name, int]:
        """A variable, and how many nodes of a group a reservation has for each of it, at least."""
        one, own = self.reservations[r], set(self.members[g])
        if ("h", (r, g)) in found:
            return ("h", (r, g)), 1
        able = len(own.intersection(one.nodes))
        return ("q", (r,)), able if one.named else max(0, one.count - len(one.nodes) + able)


def check(
    data: dict[str, Any],
    objective: str,
    file: File,
    installments: int | None = None,
    accept_all: bool = False,
) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves, see `fluid_program`."""
    if objective not in OBJECTIVES or not is_exact(data):
        raise RefusedError(f"there are no such certificates of {objective}, or of decimals")
    program = SpansAround(data, objective, accept_all, file)
    return span_program.checked(program, file, installments)
