"""Whether the program of a certificate of `admission` or `multistage` holds for every schedule.

Time and load are in the units of the file. Of task `i`, node group `g` receives the share `c_i_g_k`
of what remains of its load in interval `k`, and computes `w_i_g_k`; `s_i_g_k` is what it has
received and not computed by the end of it. `u_i_g_k` and `v_i_g_k` are shares of the set-up times
of the fewest chunks that the task needs. `z_i` and `q_r` are 1 if task `i` and reservation `r` are
accepted, `h_r_g` nodes of group `g` are given to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.fluid_instance import Name, Reservation, Stream
from tests.reference.numbers import number
from tests.reference.vipr import File, RefusedError, Row

MANY = 10**5
"""After so many chunks nothing is left of the time of the channel."""

OBJECTIVES = ("accepted", "accepted-load", "accepted-weight", "reject-ratio")

FLOWS = ("c", "w", "s", "u", "v")


class Program(Stream):
    """What the rows of a program are checked against."""

    # -- what a task may do -------------------------------------------------------------------

    def intervals(self, start: Fraction, end: Fraction, group: int) -> list[int]:
        """Intervals that a window overlaps, and in which a node of the group is free."""
        key = start, end, group
        if key not in self.known_intervals:
            self.known_intervals[key] = [
                k
                for k, (begin, stop) in enumerate(pairwise(self.instants))
                if begin < end and start < stop and self.free_time(group, k) > 0
            ]
        return self.known_intervals[key]

    def free_time(self, group: int, k: int) -> Fraction:
        """What the nodes of a group are free in an interval, together."""
        start, end = self.instants[k], self.instants[k + 1]
        return sum(
            (max(Fraction(0), end - max(start, self.free[n])) for n in self.groups[group]),
            Fraction(0),
        )

    def flow_values(self, i: int, terms: dict[Name, Fraction]) -> Iterator[Fraction]:
        """Yield values of terms where a task is received in one interval and computed in another.

        Of the intervals in which it may be received, the best until then is kept.
        """
        task = self.tasks[i]
        for g in range(len(self.groups)):
            sent = self.intervals(task.release + self.setup_cm, task.due - self.setup_cp, g)
            done = self.intervals(task.release + self.setup_cm + self.setup_cp, task.due, g)
            best: Fraction | None = None
            for k in range(len(self.instants) - 1):
                if best is not None:
                    best += terms.get(("s", (i, g, k - 1)), Fraction(0))
                if k in sent:
                    received = terms.get(("c", (i, g, k)), Fraction(0))
                    best = received if best is None else max(best, received)
                if k in done and best is not None:
                    yield best + terms.get(("w", (i, g, k)), Fraction(0))

    def setups(self, i: int, letter: str) -> Iterator[Name]:
        """Yield where the set-up times of a task may be spent."""
        task = self.tasks[i]
        window = (task.release, task.due - self.setup_cp)
        if letter == "v":
            window = (task.release + self.setup_cm, task.due)
        for g in range(len(self.groups)):
            for k in self.intervals(*window, g):
                yield letter, (i, g, k)

    def most_of_task(self, i: int, terms: dict[Name, Fraction]) -> Fraction | None:
        """The largest value of terms that one task alone has; None if nothing is possible."""
        task, found = self.tasks[i], []
        if not task.promised and not self.accept_all:
            found.append(Fraction(0))
        if task.chunks is not None:
            flows = list(self.flow_values(i, terms))
            value = terms.get(("z", (i,)), Fraction(0)) + max(flows, default=Fraction(0))
            for letter, cost in (("u", self.setup_cm), ("v", self.setup_cp)):
                if cost:
                    places = (terms.get(name, Fraction(0)) for name in self.setups(i, letter))
                    value += max(places, default=Fraction(0))
            if flows:
                found.append(value)
        return max(found, default=None)

    def most_of_reservation(self, r: int, terms: dict[Name, Fraction]) -> Fraction | None:
        """The largest value of terms that one reservation alone has."""
        wanted, found = self.reservations[r], []
        if not wanted.mandatory and not self.accept_all:
            found.append(Fraction(0))
        if wanted.possible:
            able = [len(set(group) & set(wanted.nodes)) for group in self.groups]
            values = sorted(
                ((terms.get(("h", (r, g)), Fraction(0)), able[g]) for g in range(len(able))),
                reverse=True,
            )
            value, left = terms.get(("q", (r,)), Fraction(0)), wanted.count
            for factor, most in values:
                value += factor * min(left, most)
                left -= min(left, most)
            found.append(value)
        return max(found, default=None)

    # -- rows ---------------------------------------------------------------------------------

    def check_row(self, row: Row, installments: int | None) -> None:
        """Raise where a row might not hold for a schedule."""
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        sign = 1 if row.sense == "L" else -1
        terms = {self.names[v]: sign * value for v, value in row.terms.items()}
        most = sign * row.rhs
        if self.holds_alone(terms, most) or self.holds_for_conflict(terms, most):
            return
        if any(self.holds_for_channel(terms, most, k) for k in range(len(self.instants) - 1)):
            return
        if any(self.holds_for_nodes(terms, most, *place) for place in self._places(terms)):
            return
        if self.reservations or not self.holds_for_window(terms, most, installments):
            raise RefusedError(f"row {row.name} does not hold for every schedule")

    def _places(self, terms: dict[Name, Fraction]) -> set[tuple[int, int]]:
        """The group and interval that a row is about, as far as its flows say."""
        found = {indices[1:] for (_, indices), _ in _flows(terms)}
        if not found:
            intervals = range(len(self.instants) - 1)
            return {(g, k) for g in range(len(self.groups)) for k in intervals}
        return found if len(found) == 1 else set()

    def holds_alone(self, terms: dict[Name, Fraction], most: Fraction) -> bool:
        """By what one task or one reservation may do."""
        if not terms:
            return most >= 0
        kinds = {(letter in "qh", indices[0]) for letter, indices in terms}
        if len(kinds) > 1:
            return False
        [(is_reservation, index)] = kinds
        if not is_reservation:
            value = self.most_of_task(index, terms)
        else:
            value = self.most_of_reservation(index, terms)
        return value is None or value <= most

    def holds_for_conflict(self, terms: dict[Name, Fraction], most: Fraction) -> bool:
        """By reservations of which each two need the channel, or a node, at one time."""
        if any(letter != "q" or value > most for (letter, _), value in terms.items()) or most < 0:
            return False
        wanted = [self.reservations[r] for _, (r,) in terms]
        return all(_conflict(a, b) for p, a in enumerate(wanted) for b in wanted[:p])

    def holds_for_channel(self, terms: dict[Name, Fraction], most: Fraction, k: int) -> bool:
        """By the length of an interval, in which the channel serves one at a time."""
        start, end = self.instants[k], self.instants[k + 1]
        if most < end - start:
            return False
        for (letter, indices), value in terms.items():
            uses = Fraction(0)
            if letter in "cu" and indices[2] == k:
                uses = self._time(letter, *indices)
            if letter == "q":
                wanted = self.reservations[indices[0]]
                uses = _overlap(wanted.start, wanted.io_end, start, end)
            if value > uses:
                return False
        return True

    def holds_for_nodes(
        self, terms: dict[Name, Fraction], most: Fraction, group: int, k: int
    ) -> bool:
        """By the time that the nodes of a group are free in an interval."""
        twice = {i[0] for letter, i in terms if letter == "q"} & {
            i[0] for letter, i in terms if letter == "h"
        }
        if most < self.free_time(group, k) or twice:  # `h` has nodes that `q` counts as well
            return False
        for (letter, indices), value in terms.items():
            uses = Fraction(0)
            if letter in "cwuv" and indices[1:] == (group, k):
                uses = self._time(letter, *indices)
            if letter in "qh":
                uses = self._reserved(letter, indices, group, k)
            if value > uses:
                return False
        return True

    def _time(self, letter: str, i: int, g: int, _: int) -> Fraction:
        """How long all of a flow keeps a node of a group busy."""
        task = self.tasks[i]
        if letter in "uv":
            return (task.chunks or 0) * (self.setup_cm if letter == "u" else self.setup_cp)
        costs = self.tau if letter == "c" else self.chi
        return task.load * min(costs[node] for node in self.groups[g])

    def _reserved(self, letter: str, indices: tuple[int, ...], group: int, k: int) -> Fraction:
        """How long an accepted reservation keeps nodes of a group busy in an interval, at least."""
        wanted = self.reservations[indices[0]]
        able = [len(set(nodes) & set(wanted.nodes)) for nodes in self.groups]
        count = 1
        if letter == "q":
            count = able[group] if wanted.named else max(0, wanted.count - sum(able) + able[group])
        elif indices[1] != group:
            count = 0
        now = self.scaled(number(self.data.get("now", 0)))
        start = max(wanted.start, now)
        return count * _overlap(start, wanted.end, self.instants[k], self.instants[k + 1])

    def holds_for_window(
        self, terms: dict[Name, Fraction], most: Fraction, installments: int | None
    ) -> bool:
        """By what tasks with so many chunks for each node can have done in a window."""
        if self.chunks is None or installments is None or self.chunks < installments:
            return False
        flows, slopes = dict(_flows(terms)), {i[0]: -v for (c, i), v in terms.items() if c == "z"}
        letters = {letter for letter, _ in flows}
        if letters not in ({"c"}, {"w"}) or len(flows) + len(slopes) < len(terms):
            return False
        if any(value > self.tasks[name[1][0]].load for name, value in flows.items()):
            return False
        tasks = {indices[0] for _, indices in flows}
        start, end = self._window(flows, letters.pop(), tasks)
        costs = sorted(slopes.get(i, Fraction(0)) for i in tasks)
        spare = sum((min(cost, Fraction(0)) for i, cost in slopes.items() if i not in tasks), most)
        return all(
            self.most_load(start, end, count * self.chunks)
            <= spare + sum(costs[:count], Fraction(0))
            for count in range(len(tasks) + 1)
        )

    def _window(self, flows: Any, letter: str, tasks: set[int]) -> tuple[Fraction, Fraction]:
        intervals = [indices[2] for _, indices in flows]
        if letter == "c":  # received from then on, computed by the deadline
            return self.instants[min(intervals)], max(self.tasks[i].due for i in tasks)
        return min(self.tasks[i].release for i in tasks), self.instants[max(intervals) + 1]

    def most_load(self, start: Fraction, end: Fraction, chunks: int) -> Fraction:
        """The largest load of so many chunks for each node in a window.

        A chunk that is received while the channel has `t` left takes at most `t / (tau + chi)`, so
        that the rest is at least `t chi / (tau + chi)`. And each node receives or computes.
        """
        if end <= start or not chunks:
            return Fraction(0)
        able = [node for node in self.nodes if self.free[node] < end]
        busy = ((end - max(start, self.free[n])) / (self.tau[n] + self.chi[n]) for n in able)
        most = sum(busy, Fraction(0))
        tau, chi = min(self.tau), min(self.chi)
        if tau:
            rounds = len(able) * chunks
            left = (chi / (tau + chi)) ** rounds if rounds < MANY else Fraction(0)
            most = min(most, (end - start) / tau * (1 - left))
        return most

    # -- claim --------------------------------------------------------------------------------

    def bound(self, file: File) -> tuple[Fraction, ...]:
        """Return the bound on the objective; it is empty if there is no schedule."""
        if file.claim is None:
            return ()
        costs = {self.names[v]: value for v, value in file.objective.items()}
        if any(value > 0 for (letter, _), value in costs.items() if letter not in "zq"):
            raise RefusedError("a column makes the objective worse")
        weights = {("z", (i,)): task.weight for i, task in self.tasks.items()}
        weights |= {("q", (r,)): wanted.weight for r, wanted in self.reservations.items()}
        for name, weight in weights.items():
            if (weight or name in costs) and costs.get(name, 0) > -weight:
                raise RefusedError("a task or a reservation is not in the objective")
        value = self.finished - file.claim
        if self.objective == "reject-ratio":
            count = len(self.data.get("tasks", ())) + len(self.reservations)
            value = 1 - value / count
        return (value,)


def _flows(terms: dict[Name, Fraction]) -> Iterator[tuple[Name, Fraction]]:
    return ((name, value) for name, value in terms.items() if name[0] in FLOWS)


def _overlap(start: Fraction, end: Fraction, begin: Fraction, stop: Fraction) -> Fraction:
    return max(Fraction(0), min(end, stop) - max(start, begin))


def _conflict(one: Reservation, other: Reservation) -> bool:
    channel = max(one.start, other.start) < min(one.io_end, other.io_end)
    node = one.named and other.named and set(one.nodes) & set(other.nodes)
    return channel or bool(node and max(one.start, other.start) < min(one.end, other.end))


def check(
    data: dict[str, Any],
    objective: str,
    file: File,
    installments: int | None = None,
    accept_all: bool = False,
) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    installments : int, optional
        Chunks for each node and task of the schedules that the claim is about; by default any.
    accept_all : bool
        Whether the claim is about schedules that accept everything.
    """
    objectives = {*OBJECTIVES}
    if data["problem"] == "multistage":
        objectives |= {"accepted-tasks", "accepted-reservations"}
    if objective not in objectives:
        raise RefusedError(f"there are no certificates of {objective}")
    program = Program(data, objective, accept_all, file)
    for letter, indices in program.names:
        known = program.reservations if letter in "qh" else program.tasks
        if indices[0] not in known:
            raise RefusedError("a variable is of no task or reservation of the instance")
    if any(program.names[variable][0] not in "zq" for variable in file.integral):
        raise RefusedError("shares need not be integers")
    for row in file.rows:
        program.check_row(row, installments)
    return program.bound(file)
