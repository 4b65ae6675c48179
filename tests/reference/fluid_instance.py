"""Instances of `admission` and `multistage`, in the units of a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.numbers import grid_slack, is_exact, number, sets_of, stated, words_of
from tests.reference.vipr import WHOLE, File, RefusedError

Name = tuple[str, tuple[int, ...]]
"""The letter and the indices of a variable."""

LETTERS = {"z": 1, "q": 1, "c": 3, "w": 3, "s": 3, "u": 3, "v": 3, "h": 2}
"""How many indices each has."""


@dataclass
class Task:
    """A task of which something remains, in the units of the file."""

    release: Fraction
    due: Fraction
    load: Fraction
    weight: Fraction
    promised: bool
    chunks: int | None
    """The fewest chunks, on nodes that serve it alone; None if it cannot be done."""


@dataclass
class Reservation:
    """Windows in the units of the file; `nodes` are those that it can get."""

    start: Fraction
    io_end: Fraction
    end: Fraction
    nodes: list[int]
    count: int
    named: bool
    weight: Fraction
    mandatory: bool
    possible: bool


class Stream:
    """The instance in the units of the file, with the division of time and nodes that it states."""

    def __init__(self, data: dict[str, Any], objective: str, accept_all: bool, file: File) -> None:
        self.data, self.objective, self.accept_all = data, objective, accept_all
        self.origin, self.time_unit = _scale(file, "time")
        self.load_unit = _scale(file, "load")[1]
        self.nodes = range(int(data["cluster"]["nodes"]))
        self.tau, self.chi = self._costs("tau"), self._costs("chi")
        self.setup_cm = number(data["cluster"].get("theta_cm", 0)) / self.time_unit
        self.setup_cp = number(data["cluster"].get("theta_cp", 0)) / self.time_unit
        self.free = self._free_times()
        self.finished = Fraction(0)
        self.tasks = self._tasks()
        self.reservations = self._reservations()
        self._read_columns(file)
        words = file.remarks.get("chunks", "any")
        self.chunks = (int(words) or None) if WHOLE.fullmatch(words) else None
        self.known_intervals: dict[tuple[Fraction, Fraction, int], list[int]] = {}

    def _read_columns(self, file: File) -> None:
        """Read what the columns are, and the groups and intervals that they are about."""
        self.groups = self._groups(file)
        self.instants = words_of(file, "instants")
        if any(one >= other for one, other in pairwise(self.instants)):
            raise RefusedError("the instants are not in ascending order")
        self.names = [name_of(name, LETTERS) for name in file.variables]
        self._check_span()

    def _costs(self, name: str) -> list[Fraction]:
        given = self.data["cluster"][name]
        costs = given if isinstance(given, list) else [given] * len(self.nodes)
        return [number(cost) * self.load_unit / self.time_unit for cost in costs]

    def scaled(self, instant: Fraction) -> Fraction:
        return (instant - self.origin) / self.time_unit

    def _free_times(self) -> list[Fraction]:
        now = number(self.data.get("now", 0))
        ready = self.data.get("ready_times") or [0 for _ in self.nodes]
        free = [max(now, number(instant)) for instant in ready]
        for chunk in self.data.get("committed", ()):
            free[chunk["node"]] = max(free[chunk["node"]], number(chunk["end"]))
        return [self.scaled(instant) for instant in free]

    def _channel_free(self) -> Fraction:
        """In the units of the instance."""
        cluster = self.data["cluster"]
        found = max(number(self.data.get("now", 0)), number(self.data.get("channel_ready", 0)))
        for chunk in self.data.get("committed", ()):
            tau = cluster["tau"]
            tau = number(tau[chunk["node"]] if isinstance(tau, list) else tau)
            sent = number(cluster.get("theta_cm", 0)) + tau * number(chunk["load"])
            found = max(found, number(chunk["start"]) + sent)
        return found

    def _groups(self, file: File) -> list[list[int]]:
        groups = sets_of(file, "node groups")
        if sorted(node for group in groups for node in group) != list(self.nodes):
            raise RefusedError("the node groups do not have each node once")
        return groups

    def _tasks(self) -> dict[int, Task]:
        found, is_float = {}, not is_exact(self.data)
        for index, task in enumerate(self.data.get("tasks", ())):
            load, left = number(task["load"]), self._remaining(task)
            weight = self._weight(task, load)
            if left <= (load / 10**9 if is_float else 0):
                self.finished += weight
                continue
            arrival, now = number(task["arrival"]), number(self.data.get("now", 0))
            due = arrival + number(task["deadline"])
            due += grid_slack(due, arrival) if is_float else 0
            release = self.scaled(max(arrival, self._channel_free()))
            scaled = Task(
                release, self.scaled(due), left / self.load_unit, weight, arrival < now, 0
            )
            scaled.chunks = self._fewest_chunks(scaled)
            found[index] = scaled
        return found

    def _remaining(self, task: dict[str, Any]) -> Fraction:
        if task.get("remaining") is not None:
            return number(task["remaining"])
        committed = self.data.get("committed", ())
        sent = sum(number(chunk["load"]) for chunk in committed if chunk["task"] == task["id"])
        return max(number(task["load"]) - sent, Fraction(0))

    def _weight(self, task: dict[str, Any], load: Fraction) -> Fraction:
        if self.objective == "accepted-load":
            return load
        if self.objective == "accepted-weight":
            return number(task.get("weight", 1))
        if self.objective == "accepted-reservations":
            return Fraction(0)
        return (
            number(self.data.get("task_weight", 1)) if self.objective == "accepted" else Fraction(1)
        )

    def _fewest_chunks(self, task: Task) -> int | None:
        """More chunks on one node are no more load than one chunk that it has alone."""
        overhead, done = self.setup_cm + self.setup_cp, Fraction(0)
        most = []
        for node in self.nodes:
            time = task.due - max(task.release, self.free[node]) - overhead
            most.append(time / (self.tau[node] + self.chi[node]))
        for count, load in enumerate(sorted(most, reverse=True), 1):
            done += max(load, Fraction(0))
            if done >= task.load:
                return count
        return None

    def _reservations(self) -> dict[int, Reservation]:
        now, channel = number(self.data.get("now", 0)), self._channel_free()
        found = {}
        for index, wanted in enumerate(self.data.get("reservations", ())):
            start, end = number(wanted["start"]), number(wanted["end"])
            io_end = number(wanted["io_end"]) if wanted.get("io_end") is not None else start
            if wanted.get("io_ratio") is not None:
                io_end = start + (end - start) * number(wanted["io_ratio"])
            if not is_exact(self.data):
                slack = grid_slack(end, start)
                start, io_end, end = start + slack, io_end - slack, end - slack
            nodes = wanted.get("nodes", 1)
            named = isinstance(nodes, list)
            first = max(start, now)
            able = [
                node
                for node in (nodes if named else self.nodes)
                if self.scaled(first) >= min(self.scaled(end), self.free[node])
            ]
            count = len(nodes) if named else nodes
            windows = (
                self.scaled(start),
                self.scaled(max(start, io_end)),
                self.scaled(max(start, end)),
            )
            weight = number(self.data.get("reservation_weight", 1))
            if self.objective != "accepted":
                weight = Fraction(self.objective in ("accepted-reservations", "reject-ratio"))
            mandatory = wanted.get("mandatory", False) or number(wanted["arrival"]) < now
            possible = len(able) >= count and not first < min(io_end, channel)
            found[index] = Reservation(*windows, able, count, named, weight, mandatory, possible)
        return found

    def _check_span(self) -> None:
        known = {indices[0] for letter, indices in self.names if letter not in "qh"}
        tasks = [task for i, task in self.tasks.items() if i in known]
        if tasks and (len(self.instants) < 2 or any(t.release < self.instants[0] for t in tasks)):
            raise RefusedError("the instants begin after a task is released")
        slack = 0 if is_exact(self.data) else 2
        if any(t.due - grid_slack(t.due, t.release) * slack > self.instants[-1] for t in tasks):
            raise RefusedError("the instants end before a task is due")
        for letter, (_, *place) in self.names:
            if place and (
                place[0] >= len(self.groups)
                or (letter != "h" and place[1] >= len(self.instants) - 1)
            ):
                raise RefusedError("a variable is of no group or interval")


def _scale(file: File, name: str) -> tuple[Fraction, Fraction]:
    """Read `0 is ORIGIN, 1 is UNIT`, or `1 is UNIT`."""
    pairs = [part.split(" is ") for part in file.remarks.get(name, "").split(", ")]
    parts = {pair[0]: stated(pair[1], name) for pair in pairs if len(pair) == 2}
    if "1" not in parts:
        raise RefusedError(f"there is no remark on the unit of {name}")
    origin, unit = parts.get("0", Fraction(0)), parts["1"]
    if unit <= 0:
        raise RefusedError(f"the unit of {name} is not positive")
    return origin, unit


def name_of(name: str, letters: dict[str, int]) -> Name:
    """Return the letter and the indices of a variable."""
    letter, *words = name.split("_")
    if letters.get(letter) != len(words):
        raise RefusedError(f"the name {name} is not one of the program")
    return letter, tuple(map(int, words))
